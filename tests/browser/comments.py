"""Renders comments as GitHub does, and looks at them in Chromium. Called by comments.sh."""

import concurrent.futures
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import cmarkgfm
from cmarkgfm.cmark import Options

HERE = pathlib.Path(__file__).parent
SNAPSHOTS = HERE.parent.parent / "src/report/tests/snapshots"
# The name of a screenshot, the snapshot of a test, and the word that has to be in the first screen.
COMMENTS = [
    ("pass-en", "comparison__pass", "Pass"),
    ("pass-zh", "chinese__pass", "通过"),
    ("fail-en", "comparison__regression", "Regression"),
    ("fail-zh", "chinese__fail", "性能回退"),
    ("undecided-en", "comparison__undecided", "Undecided"),
    ("undecided-zh", "chinese__inconclusive", "无法判定"),
    ("invalid-en", "comparison__invalid", "Invalid"),
    ("incomparable-en", "comparison__incomparable", "Undecided"),
    ("no-baseline-en", "comparison__no_baseline", "Undecided"),
    ("600-cells-en", "comment__six_hundred_cells", "Regression"),
    ("hostile-en", "comment__hostile", "Regression"),
]
WIDTHS = [980, 390]
# All that our templates make of Markdown and HTML.
TAGS = "MAIN P STRONG EM CODE PRE UL LI H3 TABLE THEAD TBODY TR TH TD DETAILS SUMMARY A SPAN".split()
CHECK = """
const seen = document.querySelector('main');
const bold = seen.querySelector('strong').getBoundingClientRect();
const tags = new Set([...seen.querySelectorAll('*')].map(e => e.tagName));
const report = {
  wide: seen.scrollWidth - innerWidth,
  scrolling: [...document.querySelectorAll('main > table')].filter(t => t.scrollWidth > t.clientWidth).length,
  verdict: seen.querySelector('strong').textContent,
  bottom: bold.bottom,
  first: [...document.querySelectorAll('main > table')].slice(0, 1).map(t => t.getBoundingClientRect().top),
  rows: [...document.querySelectorAll('table')].map(t => t.querySelectorAll('tr').length),
  foreign: [...tags].filter(t => !TAGS.includes(t)),
  links: seen.querySelectorAll('a').length,
};
top.postMessage(JSON.stringify(report), '*');
"""


def markdown_of(name):
    text = (SNAPSHOTS / f"infergate__report__tests__{name}.md.snap").read_text()
    return text.split("---\n", 2)[2]


def rows_of(markdown):
    """Rows of each table, heads included, the line of dashes not."""
    tables, inside = [], False
    for line in markdown.splitlines():
        if line.startswith("|"):
            if not inside:
                tables.append(0)
            tables[-1] += not re.fullmatch(r"[|:\- ]+", line)
        inside = line.startswith("|")
    return tables


def browse(chromium, page, width, words):
    with tempfile.TemporaryDirectory() as profile:
        # Its smallest window is 500 wide; a frame makes the width.
        command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
                   "--proxy-server=127.0.0.1:9", "--virtual-time-budget=2000", f"--user-data-dir={profile}",
                   f"--window-size={max(width, 500)},1200", *words, f"file://{page}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def examine(chromium, shots, name, markdown, verdict, width):
    """What is wrong with a comment at a width."""
    frame = shots / f"{name}-{width}.html"
    frame.write_text(f"<!doctype html><meta charset=utf-8><body style='margin:0'><iframe src='{name}.html' "
                     f"style='border:0;width:{width}px;height:1200px'></iframe><pre id=found></pre>"
                     "<script>onmessage = e => found.textContent = e.data</script>")
    dom = browse(chromium, frame, width, ["--dump-dom"])
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)[1]))
    browse(chromium, frame, width, [f"--screenshot={shots / f'{name}-{width}.png'}"])
    checks = {
        "is wider than the screen": found["wide"] <= 0,
        "a table outside of folds scrolls sideways": width < 980 or found["scrolling"] == 0,
        "the verdict is not the first": found["verdict"].startswith(verdict),
        "the verdict is below the first screen": found["bottom"] < 600,
        "the first table is below the first screen": all(top < 800 for top in found["first"]),
        "tables have lost rows": found["rows"] == rows_of(markdown),
        "there is markup of somebody else": found["foreign"] == [] and found["links"] == 0,
    }
    return [f"{name} at {width} px: {what}: {found}" for what, well in checks.items() if not well]


def main(chromium, shots):
    shots = pathlib.Path(shots).absolute()
    shots.mkdir(parents=True, exist_ok=True)
    css = (HERE / "comments.css").read_text()
    jobs = []
    for name, snapshot, verdict in COMMENTS:
        markdown = markdown_of(snapshot)
        body = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
        script = f"const TAGS = {json.dumps(TAGS)};{CHECK}"
        page = f"<!doctype html><meta charset=utf-8><style>{css}</style><main>{body}</main><script>{script}</script>"
        (shots / f"{name}.html").write_text(page)
        jobs += [(chromium, shots, name, markdown, verdict, width) for width in WIDTHS]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        wrong = [line for lines in pool.map(lambda job: examine(*job), jobs) for line in lines]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(COMMENTS)} comments at {len(WIDTHS)} widths, {len(wrong)} complaints; screenshots in {shots}")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
