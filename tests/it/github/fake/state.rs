//! What is on this GitHub, and what its calls do.

use serde_json::{Value, json};

use super::description::{Call, Description};
use super::strict;

/// The one repository.
pub(crate) const REPOSITORY: &str = "acme/engine";
/// The repository of a fork.
pub(crate) const FORK: &str = "mallory/engine";
/// The commit that is judged.
pub(crate) const HEAD: &str = "ec26c3e57ca3a959ca5aad62de7213c562f8c821";
/// The token that it knows.
pub(crate) const TOKEN: &str = "ghs_0123456789abcdef";

/// Who a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// The app of a job of Actions.
    Job,
    /// A person.
    Person,
}

impl Viewer {
    fn login(self) -> &'static str {
        match self {
            Self::Job => "github-actions[bot]",
            Self::Person => "renovator",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Job => "Bot",
            Self::Person => "User",
        }
    }
}

/// What is on it.
pub(crate) struct State {
    pub(crate) viewer: Viewer,
    /// What the token may write: `pulls`, `checks`, `statuses`, `issues`.
    pub(crate) may: Vec<&'static str>,
    /// Whether it answers questions of GraphQL.
    pub(crate) graphql: bool,
    pub(crate) pulls: Vec<Value>,
    pub(crate) comments: Vec<Value>,
    pub(crate) checks: Vec<Value>,
    pub(crate) statuses: Vec<Value>,
    pub(crate) issues: Vec<Value>,
    /// A limit of bodies that is lower than GitHub's.
    pub(crate) longest: Option<usize>,
    last: u64,
}

/// What a call gives.
pub(super) struct Given {
    pub(super) status: u16,
    pub(super) body: Value,
    /// Whether there is a page after this one, and which.
    pub(super) next: Option<u64>,
}

impl Given {
    fn new(status: u16, body: Value) -> Self {
        Self {
            status,
            body,
            next: None,
        }
    }

    fn refusal(status: u16, message: &str) -> Self {
        Self::new(
            status,
            json!({"message": message, "documentation_url": "https://docs.github.com/rest"}),
        )
    }
}

impl State {
    /// One open pull request, number 7, whose head is [`HEAD`].
    pub(super) fn new() -> Self {
        let mut state = Self {
            viewer: Viewer::Job,
            may: vec!["pulls", "checks", "statuses", "issues"],
            graphql: true,
            pulls: Vec::new(),
            comments: Vec::new(),
            checks: Vec::new(),
            statuses: Vec::new(),
            issues: Vec::new(),
            longest: None,
            last: 1000,
        };
        state.open(7, HEAD, REPOSITORY);
        state
    }

    /// Opens a pull request from a repository.
    pub(crate) fn open(&mut self, number: u64, sha: &str, from: &str) {
        let github = Description::github();
        let side = |full_name: &str, sha: &str| {
            let repository = github.example("repository", json!({"full_name": full_name}));
            json!({"sha": sha, "repo": repository})
        };
        let base = side(REPOSITORY, "0d1e2f3a4b5c6d7e8f900d1e2f3a4b5c6d7e8f90");
        self.pulls.push(
            json!({"number": number, "state": "open", "head": side(from, sha), "base": base}),
        );
    }

    /// Puts a comment of somebody on pull request 7, and gives its number; nobody is an account that is gone.
    pub(crate) fn comment(&mut self, who: Option<(&str, &str)>, body: &str) -> u64 {
        let github = Description::github();
        let id = self.next();
        let user = who.map(|(login, kind)| {
            github.example("simple-user", json!({"login": login, "type": kind}))
        });
        self.comments.push(github.example(
            "issue-comment",
            json!({
                "id": id,
                "node_id": format!("IC_{id}"),
                "body": body,
                "user": user,
                "minimized": null,
                "issue_url": format!("https://github.example/repos/{REPOSITORY}/issues/7"),
            }),
        ));
        id
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn allows(&self, what: &str) -> bool {
        self.may.contains(&what)
    }

    fn us(&self) -> Value {
        let fields = json!({"login": self.viewer.login(), "type": self.viewer.kind()});
        Description::github().example("simple-user", fields)
    }

    /// Answers GraphQL.
    pub(super) fn graphql(&mut self, body: &Value) -> Given {
        if !self.graphql {
            return Given::refusal(403, "Resource not accessible by integration");
        }
        let query = body["query"].as_str().unwrap_or_default();
        if query.contains("viewer") {
            return Given::new(
                200,
                json!({"data": {"viewer": {"login": self.viewer.login()}}}),
            );
        }
        let id = &body["variables"]["id"];
        match self
            .comments
            .iter_mut()
            .find(|comment| comment["node_id"] == *id)
        {
            Some(comment) => {
                comment["minimized"] = json!({"reason": "outdated"});
                let done = json!({"minimizeComment": {"minimizedComment": {"isMinimized": true}}});
                Given::new(200, json!({"data": done}))
            }
            None => Given::new(
                200,
                json!({"data": null, "errors": [{"message": "Could not resolve to a node"}]}),
            ),
        }
    }

    /// Does what a call asks for.
    pub(super) fn call(&mut self, call: &Call, query: &[(String, String)], body: &Value) -> Given {
        if call.path.contains_key("owner") {
            let name = format!("{}/{}", call.path["owner"], call.path["repo"]);
            let known = name == REPOSITORY || (name == FORK && call.template.contains("/commits/"));
            if !known {
                return Given::refusal(404, "Not Found");
            }
        }
        if call.is("get", "/user") {
            return match self.viewer {
                Viewer::Job => Given::refusal(403, "Resource not accessible by integration"),
                Viewer::Person => {
                    let fields = json!({"login": self.viewer.login(), "type": "User"});
                    Given::new(200, Description::github().example("private-user", fields))
                }
            };
        }
        if call.is("get", "/pulls/{pull_number}") {
            return self.pull(call.number("pull_number"));
        }
        if call.is("get", "/commits/{commit_sha}/pulls") {
            let github = Description::github();
            let of = |pull: &&Value| pull["head"]["sha"] == call.path["commit_sha"].as_str();
            let pulls = self.pulls.iter().filter(of);
            let pulls: Vec<Value> = pulls
                .map(|pull| github.example("pull-request-simple", pull.clone()))
                .collect();
            return page(&pulls, query, None);
        }
        if call.template.contains("/issues/{issue_number}/comments")
            || call.template.contains("/issues/comments/")
        {
            return self.comments(call, query, body);
        }
        if call.template.contains("/check-runs") {
            return self.checks(call, query, body);
        }
        if call.is("post", "/statuses/{sha}") {
            if !self.allows("statuses") {
                return Given::refusal(403, "Resource not accessible by integration");
            }
            let mut fields = body.clone();
            fields["creator"] = self.us();
            self.statuses.push(fields.clone());
            return Given::new(201, Description::github().example("status", fields));
        }
        self.issues(call, query, body)
    }

    fn pull(&self, number: u64) -> Given {
        match self.pulls.iter().find(|pull| pull["number"] == number) {
            Some(pull) => Given::new(
                200,
                Description::github().example("pull-request", pull.clone()),
            ),
            None => Given::refusal(404, "Not Found"),
        }
    }

    fn comments(&mut self, call: &Call, query: &[(String, String)], body: &Value) -> Given {
        if call.is("get", "/comments") {
            let all = &self.comments;
            return match self.pull(call.number("issue_number")).status {
                200 => page(all, query, None),
                _ => Given::refusal(404, "Not Found"),
            };
        }
        if !self.allows("pulls") {
            return Given::refusal(403, "Resource not accessible by integration");
        }
        if strict::is_too_long(body, self.longest) {
            return too_long();
        }
        if call.is("post", "/comments") {
            if self.pull(call.number("issue_number")).status != 200 {
                return Given::refusal(404, "Not Found");
            }
            let (login, kind) = (self.viewer.login(), self.viewer.kind());
            self.comment(Some((login, kind)), body["body"].as_str().unwrap());
            return Given::new(201, self.comments.last().unwrap().clone());
        }
        let id = call.number("comment_id");
        match self.comments.iter_mut().find(|comment| comment["id"] == id) {
            Some(comment) => {
                comment["body"] = body["body"].clone();
                Given::new(200, comment.clone())
            }
            None => Given::refusal(404, "Not Found"),
        }
    }

    fn checks(&mut self, call: &Call, query: &[(String, String)], body: &Value) -> Given {
        let github = Description::github();
        if call.is("get", "/commits/{ref}/check-runs") {
            let name = query
                .iter()
                .find(|(name, _)| name == "check_name")
                .map(|(_, value)| value);
            let of = |check: &&Value| {
                check["head_sha"] == call.path["ref"].as_str()
                    && name.is_none_or(|name| check["name"] == name.as_str())
            };
            let checks: Vec<Value> = self.checks.iter().filter(of).map(shown).collect();
            return page(&checks, query, Some("check_runs"));
        }
        let id = call
            .path
            .get("check_run_id")
            .and_then(|id| id.parse::<u64>().ok());
        if call.method != "get" {
            if self.viewer == Viewer::Person {
                return Given::refusal(403, "You must authenticate via a GitHub App.");
            }
            if !self.allows("checks") {
                return Given::refusal(403, "Resource not accessible by integration");
            }
        }
        if call.is("post", "/check-runs") {
            let id = self.next();
            let mut fields = body.clone();
            fields["id"] = json!(id);
            let noted = fields["output"]["annotations"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            fields["annotations"] = json!(noted);
            // A commit of a pull request names it, with fields that are not those of pull requests elsewhere.
            fields["pull_requests"] =
                json!([github.example("pull-request-minimal", json!({"number": 7}))]);
            self.checks.push(fields);
            return Given::new(201, shown(self.checks.last().unwrap()));
        }
        match self
            .checks
            .iter_mut()
            .find(|check| check["id"].as_u64() == id)
        {
            Some(check) => {
                if call.method == "patch" {
                    let mut noted = check["annotations"].as_array().cloned().unwrap_or_default();
                    noted.extend(
                        body["output"]["annotations"]
                            .as_array()
                            .cloned()
                            .unwrap_or_default(),
                    );
                    for (name, value) in body.as_object().unwrap() {
                        check[name] = value.clone();
                    }
                    check["annotations"] = json!(noted);
                }
                Given::new(200, shown(check))
            }
            None => Given::refusal(404, "Not Found"),
        }
    }

    fn issues(&mut self, call: &Call, query: &[(String, String)], body: &Value) -> Given {
        let github = Description::github();
        if call.is("get", "/issues") {
            let value = |name: &str| {
                query
                    .iter()
                    .find(|(own, _)| own == name)
                    .map(|(_, value)| value.as_str())
            };
            let of = |issue: &&Value| {
                let labels = issue["labels"].as_array().unwrap();
                value("state").is_none_or(|state| issue["state"] == state)
                    && value("labels").is_none_or(|label| labels.iter().any(|own| own == label))
            };
            let issues: Vec<Value> = self.issues.iter().filter(of).cloned().collect();
            return page(&issues, query, None);
        }
        if !self.allows("issues") {
            return Given::refusal(403, "Resource not accessible by integration");
        }
        if strict::is_too_long(body, self.longest) {
            return too_long();
        }
        if call.is("post", "/issues") {
            let number = self.next();
            let mut fields = body.clone();
            fields["number"] = json!(number);
            fields["state"] = json!("open");
            fields["user"] = self.us();
            self.issues.push(github.example("issue", fields));
            return Given::new(201, self.issues.last().unwrap().clone());
        }
        let number = call.number("issue_number");
        match self
            .issues
            .iter_mut()
            .find(|issue| issue["number"] == number)
        {
            Some(issue) => {
                for (name, value) in body.as_object().unwrap() {
                    issue[name] = value.clone();
                }
                Given::new(200, issue.clone())
            }
            None => Given::refusal(404, "Not Found"),
        }
    }
}

fn too_long() -> Given {
    Given::new(
        422,
        json!({
            "message": "Validation Failed",
            "errors": [{"resource": "IssueComment", "code": "unprocessable", "field": "data",
                        "message": "Body is too long (maximum is 65536 characters)"}],
        }),
    )
}

/// A check run as GitHub shows it.
fn shown(check: &Value) -> Value {
    let mut fields = check.clone();
    let noted = fields["annotations"].as_array().map_or(0, Vec::len);
    let (title, summary) = (
        fields["output"]["title"].clone(),
        fields["output"]["summary"].clone(),
    );
    fields["output"] = json!({
        "title": title,
        "summary": summary,
        "text": null,
        "annotations_count": noted,
        "annotations_url": "https://github.example/x",
    });
    fields.as_object_mut().unwrap().remove("annotations");
    Description::github().example("check-run", fields)
}

/// A page of a list.
fn page(all: &[Value], query: &[(String, String)], inside: Option<&str>) -> Given {
    let number = |name: &str, default: usize| {
        let found = query.iter().find(|(own, _)| own == name);
        found
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(default)
    };
    let (size, page) = (number("per_page", 30).min(100), number("page", 1));
    let start = ((page - 1) * size).min(all.len());
    let end = (start + size).min(all.len());
    let items = all[start..end].to_vec();
    let body = match inside {
        Some(name) => json!({"total_count": all.len(), name: items}),
        None => json!(items),
    };
    let next = (end < all.len()).then_some(page as u64 + 1);
    Given {
        status: 200,
        body,
        next,
    }
}
