#!/usr/bin/env python3
"""Makes tests/fixtures/github/api.schema.json: what GitHub says of the calls that infergate makes.

    npm install @octokit/openapi@23.0.2
    python3 tests/github/trim.py node_modules/@octokit/openapi tests/fixtures/github/api.schema.json

Prose, examples and everything that no kept call reaches are left out. One call or schema a line, so
that a newer version can be read as a diff.
"""

import json
import pathlib
import sys

REPO = "/repos/{owner}/{repo}"
CALLS = {
    f"{REPO}/check-runs": ["post"],
    f"{REPO}/check-runs/{{check_run_id}}": ["get", "patch"],
    f"{REPO}/commits/{{commit_sha}}/pulls": ["get"],
    f"{REPO}/commits/{{ref}}/check-runs": ["get"],
    f"{REPO}/issues": ["get", "post"],
    f"{REPO}/issues/comments/{{comment_id}}": ["get", "patch"],
    f"{REPO}/issues/{{issue_number}}": ["patch"],
    f"{REPO}/issues/{{issue_number}}/comments": ["get", "post"],
    f"{REPO}/pulls/{{pull_number}}": ["get"],
    f"{REPO}/statuses/{{sha}}": ["post"],
    "/user": ["get"],
}
PROSE = {"description", "summary", "example", "examples", "externalDocs", "tags", "deprecated", "title"}


def bare(node, names=False):
    """The node without prose; `names` where its keys are names of fields and not words of the format."""
    if isinstance(node, list):
        return [bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        if not names and (key in PROSE or key.startswith("x-")):
            continue
        # What a server sends beyond what is said of it is its own affair, headers and hints too.
        if not names and key == "headers":
            continue
        kept[key] = bare(value, names=not names and key in ("properties", "schemas", "parameters", "responses"))
    return kept


def references(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def main(package, out):
    package = pathlib.Path(package)
    version = json.loads((package / "package.json").read_text())["version"]
    whole = json.loads((package / "generated" / "api.github.com.json").read_text())
    paths = {}
    for path, methods in CALLS.items():
        paths[path] = {}
        for method in methods:
            call = bare(whole["paths"][path][method])
            # What an error says is read as text, whatever it is.
            call["responses"] = {code: said for code, said in call["responses"].items() if code.startswith("2")}
            paths[path][method] = {key: call[key] for key in ("parameters", "requestBody", "responses") if key in call}
    components = {}
    todo = list(references(paths))
    while todo:
        _, _, kind, name = todo.pop().split("/")
        if name in components.setdefault(kind, {}):
            continue
        components[kind][name] = bare(whole["components"][kind][name])
        todo.extend(references(components[kind][name]))

    def lines(entries):
        dump = lambda value: json.dumps(value, sort_keys=True, separators=(",", ":"))
        return ",\n".join(f"{dump(name)}:{dump(entries[name])}" for name in sorted(entries))

    kinds = ",\n".join(f'"{kind}":{{\n{lines(components[kind])}\n}}' for kind in sorted(components))
    info = {"title": "GitHub v3 REST API, the calls of infergate", "version": f"@octokit/openapi@{version}"}
    pathlib.Path(out).write_text(
        f'{{"openapi":"{whole["openapi"]}","info":{json.dumps(info)},"servers":[{{"url":"/"}}],\n'
        f'"paths":{{\n{lines(paths)}\n}},\n"components":{{\n{kinds}\n}}}}\n'
    )
    print(f"{out}: {len(paths)} paths, " + ", ".join(f"{len(components[k])} {k}" for k in sorted(components)))


if __name__ == "__main__":
    main(*sys.argv[1:])
