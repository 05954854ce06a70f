//! Questions to real repositories.

use super::scratch::{Scratch, git};
use super::*;

#[test]
fn a_repository_is_found_from_any_folder_in_it() {
    let scratch = Scratch::new();
    let repository = scratch.repository();
    assert_eq!(
        (repository.head().unwrap(), repository.branch().unwrap()),
        (None, Some("main".to_owned()))
    );
    let first = scratch.commit("first", &[("a/b/c.txt", "x")]);
    assert_eq!(Repository::find(&scratch.at("a/b")).unwrap(), repository);
    assert_eq!(repository.head().unwrap(), Some(first.clone()));
    assert_eq!(repository.branch().unwrap().as_deref(), Some("main"));
    scratch.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(repository.branch().unwrap(), None);
    assert_eq!(repository.head().unwrap(), Some(first));

    let bare = Scratch::bare();
    assert_eq!(bare.repository().branch().unwrap().as_deref(), Some("main"));

    let nowhere = tempfile::tempdir().unwrap();
    let error = Repository::find(nowhere.path()).unwrap_err().to_string();
    assert!(
        error.contains("is not in a git repository; run infergate in a checkout"),
        "{error}"
    );
    let error = Repository::find(&nowhere.path().join("gone")).unwrap_err();
    assert!(error.to_string().contains("cannot change to"), "{error}");
}

#[test]
fn commits_are_found_and_put_in_order() {
    let scratch = Scratch::new();
    let repository = scratch.repository();
    let first = scratch.commit("first", &[("a.txt", "1")]);
    scratch.git(&["tag", "-a", "v1", "-m", "a release"]);
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    let change = scratch.commit("change", &[("b.txt", "1")]);
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.commit("second", &[("a.txt", "2")]);
    let third = scratch.commit("third: a \"subject\"", &[("a.txt", "3")]);

    assert_eq!(repository.resolve("v1").unwrap(), first, "a tag's commit");
    assert_eq!(repository.resolve("main~2").unwrap(), first);
    for unknown in ["gone", "--all", "", "main:a.txt", &"0".repeat(40)] {
        let error = repository.resolve(unknown).unwrap_err();
        assert!(
            matches!(error, GitError::UnknownRevision { shallow: false, .. }),
            "{unknown}: {error}"
        );
    }
    assert_eq!(
        repository.merge_base(&change, &third).unwrap(),
        Some(first.clone())
    );
    assert!(repository.is_ancestor(&first, &third).unwrap());
    assert!(repository.is_ancestor(&third, &third).unwrap());
    assert!(!repository.is_ancestor(&third, &change).unwrap());
    let distance = |old: &Commit, new: &Commit| repository.distance(old, new).unwrap();
    assert_eq!(distance(&first, &third), Some(2));
    assert_eq!(distance(&third, &third), Some(0));
    assert_eq!(distance(&third, &first), None, "the other way round");
    assert_eq!(distance(&change, &third), None, "of another branch");
    let nowhere: Commit = "ab".repeat(20).parse().unwrap();
    assert_eq!(distance(&nowhere, &third), None, "not in this clone");
    assert!(repository.distance(&third, &nowhere).is_err());

    scratch.git(&["checkout", "--quiet", "--orphan", "other"]);
    let orphan = scratch.commit("orphan", &[]);
    assert_eq!(repository.merge_base(&orphan, &third).unwrap(), None);

    let entry = repository.describe(&third).unwrap();
    assert_eq!(
        (entry.subject.as_str(), entry.author.as_str()),
        ("third: a \"subject\"", "Tester")
    );
    assert!(entry.date.contains('T'), "{}", entry.date);
    let log = repository.log(&third, 2).unwrap();
    let subjects: Vec<&str> = log.iter().map(|entry| entry.subject.as_str()).collect();
    assert_eq!(subjects, ["third: a \"subject\"", "second"]);
}

#[test]
fn files_of_a_commit_are_read_without_checking_it_out() {
    let scratch = Scratch::new();
    let repository = scratch.repository();
    let old = scratch.commit(
        "old",
        &[("top.txt", "1"), ("a/b.txt", "old\n"), ("a/c/d.txt", "")],
    );
    scratch.commit("new", &[("a/b.txt", "new\n")]);
    let read = |path: &str| repository.read(&old, path).unwrap();
    assert_eq!(read("a/b.txt").as_deref(), Some("old\n"));
    assert_eq!(read("a/c/d.txt").as_deref(), Some(""));
    for nothing in ["gone.txt", "a", "a/b.txt/x", "", "x\ny"] {
        assert_eq!(read(nothing), None, "{nothing}");
    }
    let several = repository
        .read_all(&old, &["gone", "a/b.txt", "a", "top.txt"])
        .unwrap();
    let several: Vec<(&str, &str)> = several
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    assert_eq!(several, [("a/b.txt", "old\n"), ("top.txt", "1")]);
    let list = |folder: &str| -> Vec<(String, bool)> {
        let entries = repository.list(&old, folder).unwrap().into_iter();
        entries.map(|entry| (entry.name, entry.is_folder)).collect()
    };
    assert_eq!(
        list(""),
        [("a".to_owned(), true), ("top.txt".to_owned(), false)]
    );
    assert_eq!(
        list("a"),
        [("b.txt".to_owned(), false), ("c".to_owned(), true)]
    );
    assert_eq!(list("gone"), []);

    std::fs::write(scratch.at("bytes"), [0xff, 0xfe]).unwrap();
    let bytes = scratch.commit("bytes", &[]);
    let error = repository.read(&bytes, "bytes").unwrap_err().to_string();
    assert!(error.contains("no UTF-8 text"), "{error}");
}

#[test]
fn a_shallow_clone_says_what_it_lacks() {
    let scratch = Scratch::new();
    let first = scratch.commit("first", &[]);
    scratch.commit("second", &[]);
    assert!(!scratch.repository().is_shallow().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}", scratch.path().display());
    git(
        folder.path(),
        &["clone", "--quiet", "--depth", "1", &url, "clone"],
    );
    let clone = Repository::find(&folder.path().join("clone")).unwrap();
    assert!(clone.is_shallow().unwrap());
    let error = clone.resolve(first.as_str()).unwrap_err().to_string();
    assert!(
        error.contains("a shallow clone") && error.contains("fetch-depth: 0"),
        "{error}"
    );
}

#[test]
fn remotes_are_named_with_urls_that_hold_no_secret() {
    let scratch = Scratch::new();
    let repository = scratch.repository();
    assert_eq!(repository.remotes().unwrap(), [""; 0]);
    scratch.git(&["remote", "add", "up", "https://me:secret@example.org/a.git"]);
    scratch.git(&["remote", "add", "origin", "../b.git"]);
    assert_eq!(repository.remotes().unwrap(), ["origin", "up"]);
    let url = |remote: &str| repository.remote_url(remote).unwrap();
    assert_eq!(url("up").as_deref(), Some("https://example.org/a.git"));
    assert_eq!(url("origin").as_deref(), Some("../b.git"));
    assert_eq!(url("gone"), None);
}

/// One file with a new text.
fn edit<'a>(path: &str, text: &'a str) -> FileEdits<'a> {
    FileEdits::from([(path.to_owned(), Some(text))])
}

#[test]
fn a_commit_is_made_without_working_tree_or_index() {
    let scratch = Scratch::new();
    let repository = scratch.repository();
    let parent = scratch.commit(
        "first",
        &[("a/b.txt", "old"), ("a/c.txt", "stays"), ("gone.txt", "x")],
    );
    std::fs::write(scratch.at("a/b.txt"), "dirty").unwrap();
    std::fs::write(scratch.at("new.txt"), "untracked").unwrap();
    scratch.git(&["add", "new.txt"]);
    let seen = || {
        (
            scratch.git(&["status", "--porcelain"]),
            std::fs::read(scratch.at(".git/index")).unwrap(),
        )
    };
    let before = seen();

    let mut edits = edit("a/b.txt", "new");
    edits.insert("gone.txt".to_owned(), None);
    edits.insert("never-there.txt".to_owned(), None);
    edits.insert("d/e/f.txt".to_owned(), Some("added"));
    let made = repository
        .commit_files(Some(&parent), &edits, "second\n\nwhy\n")
        .unwrap()
        .unwrap();
    assert_eq!(seen(), before);
    assert_eq!(
        repository.head().unwrap(),
        Some(parent.clone()),
        "nothing refers to it yet"
    );
    assert!(repository.is_ancestor(&parent, &made).unwrap());
    let names = scratch.git(&["ls-tree", "-r", "--name-only", made.as_str()]);
    assert_eq!(names, "a/b.txt\na/c.txt\nd/e/f.txt");
    assert_eq!(
        repository.read(&made, "a/b.txt").unwrap().as_deref(),
        Some("new")
    );
    assert_eq!(repository.describe(&made).unwrap().subject, "second");

    let again = repository
        .commit_files(Some(&made), &edit("a/b.txt", "new"), "third")
        .unwrap();
    assert_eq!(again, None, "nothing would change");
    let orphan = repository
        .commit_files(None, &edit("x.txt", "x"), "alone")
        .unwrap()
        .unwrap();
    assert_eq!(repository.merge_base(&parent, &orphan).unwrap(), None);
    assert!(!scratch.at(".git/infergate/index").exists());

    let scratch = Scratch::bare();
    let bare = scratch.repository();
    let first = bare
        .commit_files(None, &edit("x.txt", "x"), "first")
        .unwrap()
        .unwrap();
    assert_eq!(bare.read(&first, "x.txt").unwrap().as_deref(), Some("x"));
}

#[test]
fn a_branch_moves_from_where_it_was_only() {
    let scratch = Scratch::new();
    let repository = scratch.repository();
    let [one, two] = ["1", "2"].map(|text| {
        repository
            .commit_files(None, &edit("x.txt", text), text)
            .unwrap()
            .unwrap()
    });
    assert!(repository.move_branch("data", None, &one).unwrap());
    assert!(
        !repository.move_branch("data", None, &two).unwrap(),
        "it is there already"
    );
    assert!(
        !repository.move_branch("data", Some(&two), &two).unwrap(),
        "it is elsewhere"
    );
    assert_eq!(repository.tip("data").unwrap(), Some(one.clone()));
    assert!(repository.move_branch("data", Some(&one), &two).unwrap());
    assert_eq!(repository.checked_out_in("data").unwrap(), None);
    scratch.git(&["checkout", "--quiet", "data"]);
    let folder = repository.checked_out_in("data").unwrap().unwrap();
    assert_eq!(
        folder.canonicalize().unwrap(),
        scratch.path().canonicalize().unwrap()
    );
}

#[test]
fn a_push_goes_forward_or_not_at_all() {
    let (scratch, remote) = (Scratch::new(), Scratch::bare());
    let repository = scratch.repository();
    let address = remote.path().to_str().unwrap();
    let copy = "refs/remotes/x/data";
    let fetched = || repository.fetch_branch(address, "data", copy).unwrap();
    assert_eq!(fetched(), Fetched::NoBranch);
    let commit = |parent: Option<&Commit>, text: &str| {
        repository
            .commit_files(parent, &edit("x.txt", text), text)
            .unwrap()
            .unwrap()
    };
    let push = |commit: &Commit| repository.push_branch(address, "data", commit).unwrap();
    let first = commit(None, "1");
    assert_eq!(push(&first), Pushed::Done);
    assert_eq!(fetched(), Fetched::Tip(first.clone()));
    let second = commit(Some(&first), "2");
    assert_eq!(push(&second), Pushed::Done);
    assert_eq!(push(&commit(Some(&first), "3")), Pushed::Behind);
    assert_eq!(push(&commit(None, "4")), Pushed::Behind);
    assert_eq!(fetched(), Fetched::Tip(second));

    let gone = remote.at("gone").to_str().unwrap().to_owned();
    let nowhere = repository.fetch_branch(&gone, "data", copy).unwrap();
    assert!(
        matches!(nowhere, Fetched::Unreachable(why) if why.contains("does not appear to be a git repository"))
    );
    let nowhere = repository.push_branch(&gone, "data", &first).unwrap();
    assert!(matches!(nowhere, Pushed::Unreachable(_)));
}
