use super::*;
use crate::files::git_remote::config::remotes;

fn base(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// glab#350: an instance takes SSH at a host of another name.
#[test]
fn the_configured_ssh_host_is_of_this_gitlab() {
    let web = base("https://gitlab.example.com/");
    let ssh = Some("ssh.example.net");
    for given in ["git@ssh.example.net:a/b.git", "ssh://git@SSH.example.net:2222/a/b.git"] {
        assert_eq!(paths(given, &web, ssh), Ok(vec!["a/b".to_owned()]), "{given}");
        assert!(
            matches!(paths(given, &web, None), Err(RemoteError::OtherHost { is_ssh: true, .. })),
            "{given}"
        );
    }
    assert!(paths("https://ssh.example.net/a/b", &web, ssh).is_err(), "the setting is for SSH alone");
}

#[test]
fn every_form_of_an_address_is_the_projects_path() {
    let plain = base("https://gitlab.example.com/");
    let cases = [
        "https://gitlab.example.com/group/sub/project.git",
        "https://gitlab.example.com/group/sub/project",
        "https://gitlab.example.com/group/sub/project/",
        "HTTPS://GitLab.Example.com:443/group/sub/project.git",
        "https://oauth2:glpat-secret@gitlab.example.com/group/sub/project.git",
        "https://gitlab.example.com/group/sub/project/-/merge_requests/5?tab=diffs#note_1",
        "ssh://git@gitlab.example.com/group/sub/project.git",
        "ssh://git@gitlab.example.com:2222/group/sub/project.git",
        "git+ssh://git@gitlab.example.com/group/sub/project.git",
        "git://gitlab.example.com/group/sub/project.git",
        "git@gitlab.example.com:group/sub/project.git",
        "git@gitlab.example.com:/group/sub/project.git",
        "gitlab.example.com:group/sub/project",
        "git@[gitlab.example.com:2222]:group/sub/project.git",
        "  git@gitlab.example.com:group/sub/project.git\n",
    ];
    for given in cases {
        assert_eq!(paths(given, &plain, None), Ok(vec!["group/sub/project".to_owned()]), "{given}");
    }
    assert_eq!(
        paths("git@altssh.gitlab.com:a/b.git", &base("https://gitlab.com/"), None),
        Ok(vec!["a/b".to_owned()])
    );
}

#[test]
fn below_a_relative_root_the_root_is_no_part_of_the_path() {
    let below = base("https://example.com:8443/gitlab/");
    assert_eq!(paths("https://example.com:8443/gitlab/a/b.git", &below, None), Ok(vec!["a/b".to_owned()]));
    assert_eq!(paths("git@example.com:a/b.git", &below, None), Ok(vec!["a/b".to_owned()]));
    let both = paths("ssh://git@example.com/gitlab/a/b.git", &below, None).unwrap();
    assert_eq!(both, ["gitlab/a/b", "a/b"]);
    assert!(matches!(
        paths("https://example.com:8443/a/b.git", &below, None),
        Err(RemoteError::OtherRoot { .. })
    ));
}

#[test]
fn another_host_or_port_is_told_with_the_one_that_is_configured() {
    let plain = base("https://gitlab.example.com/");
    let told = |given: &str| match paths(given, &plain, None) {
        Err(RemoteError::OtherHost { host, configured, .. }) => (host, configured),
        other => panic!("{given}: {other:?}"),
    };
    let example = "gitlab.example.com".to_owned();
    assert_eq!(told("git@github.com:a/b.git"), ("github.com".to_owned(), example.clone()));
    assert_eq!(told("https://github.com/a/b"), ("github.com".to_owned(), example.clone()));
    let ports = (format!("{example}:8443"), format!("{example}:443"));
    assert_eq!(told("https://gitlab.example.com:8443/a/b"), ports);
    for given in [
        "",
        "a/b",
        "C:\\work\\project",
        "/srv/git/project.git",
        "file:///srv/a/b.git",
        "git@gitlab.example.com:alone",
        "git@gitlab.example.com:a/../b",
        "ssh://",
    ] {
        assert!(matches!(paths(given, &plain, None), Err(RemoteError::Unread { .. })), "{given}");
    }
}

#[test]
fn a_token_in_an_address_is_never_told() {
    let cases = [
        ("https://oauth2:glpat-secret@gitlab.example.com/a/b.git", "https://***@gitlab.example.com/a/b.git"),
        ("https://glpat-secret@gitlab.example.com/a/b.git", "https://***@gitlab.example.com/a/b.git"),
        ("https://me:p/glpat-secret@x@gitlab.example.com/a/b", "https://***@gitlab.example.com/a/b"),
        ("https://gitlab.example.com/a/b?private_token=glpat-secret", "https://gitlab.example.com/a/b"),
        ("glpat-secret@gitlab.example.com:a/b.git", "***@gitlab.example.com:a/b.git"),
        ("user:glpat-secret@gitlab.example.com:a/b.git", "***@gitlab.example.com:a/b.git"),
        ("git@gitlab.example.com:a/b.git", "git@gitlab.example.com:a/b.git"),
        ("ssh://git@gitlab.example.com/a/b.git", "ssh://git@gitlab.example.com/a/b.git"),
    ];
    for (given, expected) in cases {
        assert_eq!(redacted(given), expected);
    }
    for given in ["https://u:glpat-secret@other.example/a/b", "glpat-secret@@", "https://u:glpat-secret@[/a"]
    {
        let told = paths(given, &base("https://gitlab.example.com/"), None).unwrap_err().to_string();
        assert!(!told.contains("glpat-secret"), "{told}");
    }
}

const CONFIG: &str = r#"
[core]
	bare = false ; a remark
[remote "origin"]
	url = gl:group/project.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "fork"] url = "git@gitlab.example.com:me/project.git" # mine
[url "git@gitlab.example.com:"]
	insteadOf = gl:
[branch "topic/a \"b\""]
	remote = fork
	merge = refs/heads/topic
"#;

#[test]
fn the_remotes_of_a_configuration_are_read_with_what_they_shorten_written_out() {
    let origin = ("origin".to_owned(), "git@gitlab.example.com:group/project.git".to_owned());
    let fork = ("fork".to_owned(), "git@gitlab.example.com:me/project.git".to_owned());
    assert_eq!(remotes(CONFIG), [origin.clone(), fork.clone()]);
    assert_eq!(upstream(CONFIG, Some("topic/a \"b\"")), Some(fork));
    assert_eq!(upstream(CONFIG, Some("main")), Some(origin.clone()));
    assert_eq!(upstream(CONFIG, None), Some(origin));
    assert_eq!(upstream("[remote \"a\"]\nurl = x:y/z\n[remote \"b\"]\nurl = x:y/z\n", None), None);
    assert_eq!(upstream("[remote \"upstream\"]\nurl = x:y/z\n", None).unwrap().0, "upstream");
}

/// git-config(1): "When more than one insteadOf strings match a given URL, the longest match is used."
#[test]
fn of_two_short_forms_that_fit_an_address_the_longer_one_is_written_out() {
    let remote = "[remote \"origin\"]\n\turl = w:g/project.git\n";
    let short = "[url \"git@github.com:\"]\n\tinsteadOf = w:\n";
    let long = "[url \"git@gitlab.example.com:group/\"]\n\tinsteadOf = w:g/\n";
    let origin = ("origin".to_owned(), "git@gitlab.example.com:group/project.git".to_owned());
    for config in [format!("{remote}{short}{long}"), format!("{remote}{long}{short}")] {
        assert_eq!(remotes(&config), std::slice::from_ref(&origin), "{config}");
    }
}

#[test]
fn the_branch_of_a_head_is_read() {
    assert_eq!(branch("ref: refs/heads/topic/a\n"), Some("topic/a"));
    assert_eq!(branch("6a9c1750b37d513a43987b574953fceb50b03ce7\n"), None);
}
