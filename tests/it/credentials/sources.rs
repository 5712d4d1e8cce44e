//! Each source of a token, and the failures of those that are programs.

use crate::credentials::{Machine, ask_for_user, credential, credentials_of, gitlab, seconds_from_now, text};
use crate::support::client::{Client, program};

pub const PRIVATE: &str = "private-token: glpat-sesame";

fn sent(variables: &[(&str, &str)]) -> Vec<Option<String>> {
    let gitlab = gitlab();
    let output = ask_for_user(&gitlab, variables);
    assert!(output.status.success(), "{}", text(&output));
    assert!(!text(&output).contains("sesame"), "{}", text(&output));
    credentials_of(&gitlab)
}

#[test]
fn a_file_and_variables_have_the_token() {
    let machine = Machine::new();
    let file = machine.write("token", "glpat-sesame\n");
    assert_eq!(sent(&[("GITLAB_TOKEN_FILE", &file)]), [Some(PRIVATE.to_owned())]);
    assert_eq!(sent(&[("GITLAB_TOKEN", "glpat-sesame")]), [Some(PRIVATE.to_owned())]);
    assert_eq!(sent(&[("GITLAB_OAUTH_TOKEN", "sesame")]), [Some("authorization: bearer sesame".to_owned())]);
    assert_eq!(sent(&[("GITLAB_JOB_TOKEN", "sesame")]), [Some("job-token: sesame".to_owned())]);
    assert_eq!(sent(&[]), [None]);
}

#[test]
fn a_command_prints_the_token_without_a_shell() {
    let machine = Machine::new();
    let command = machine.install("print-token", "printf '%s|' \"$@\" > \"$0.arguments\"; echo glpat-sesame");
    let line = format!("{command} 'two words' $HOME ;");
    assert_eq!(sent(&[("GITLAB_TOKEN_COMMAND", &line)]), [Some(PRIVATE.to_owned())]);
    assert_eq!(machine.read("print-token.arguments"), "two words|$HOME|;|");
}

#[test]
fn a_command_that_fails_is_an_error_that_says_what_to_do() {
    let machine = Machine::new();
    let cases = [
        ("echo glpat-sesame >&2; exit 3", "failed with exit status: 3", "in a terminal"),
        ("echo glpat-sesame; echo glpat-sesame", "is not a token", "on one line"),
        ("echo '{\"token\": \"glpat-sesame\"'", "is not a token", "`expires_in`"),
        ("echo '{\"token\": \"glpat-sesame\", \"expires_in\": \"soon\"}'", "is not a token", "`expires_at`"),
        ("exec sleep 600", "did not end within 1 s", "GITLAB_TIMEOUT"),
    ];
    for (script, problem, advice) in cases {
        let command = machine.install("print-token", script);
        let gitlab = gitlab();
        let variables = [("GITLAB_TOKEN_COMMAND", command.as_str()), ("GITLAB_TIMEOUT", "1")];
        let said = text(&ask_for_user(&gitlab, &variables));
        assert!(
            said.starts_with("Error (unauthorized): no token: GITLAB_TOKEN_COMMAND: "),
            "{script}: {said}"
        );
        assert!(said.contains(problem) && said.contains(advice), "{script}: {said}");
        assert!(!said.contains("sesame"), "{script}: {said}");
        assert!(gitlab.received().is_empty(), "nothing is sent: {:?}", gitlab.seen());
    }
    let said = text(&ask_for_user(&gitlab(), &[("GITLAB_TOKEN_COMMAND", "/nowhere/print-token")]));
    assert!(said.contains("there is no program /nowhere/print-token"), "{said}");
}

/// The processes that have this mark in their environment.
#[cfg(target_os = "linux")]
fn marked(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let is_marked = |path: &std::path::PathBuf| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == format!("MARK={mark}").as_bytes())
    };
    let marked = processes.filter(is_marked);
    marked.map(|path| std::fs::read_to_string(path.join("cmdline")).unwrap_or_default()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_command_has_started_ends_with_it() {
    let machine = Machine::new();
    let command = machine.install("print-token", "sleep 600 &\nsleep 600");
    let mark = machine.text_path("mark");
    let variables =
        [("GITLAB_TOKEN_COMMAND", command.as_str()), ("GITLAB_TIMEOUT", "1"), ("MARK", mark.as_str())];
    let said = text(&ask_for_user(&gitlab(), &variables));
    assert!(said.contains("did not end within 1 s"), "{said}");
    crate::support::client::wait_until("its processes have ended", || marked(&mark).is_empty());
    // A signal that ends the program ends them too.
    let gitlab = gitlab();
    let url = gitlab.url();
    let variables = [&[("GITLAB_URL", url.as_str()), ("MARK", mark.as_str())], &variables[..1]].concat();
    let mut child = program(&["execute", "current_user.get"], &variables).spawn().unwrap();
    crate::support::client::wait_until("they run", || marked(&mark).len() == 4);
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    crate::support::client::wait_until("they have ended", || marked(&mark).is_empty());
}

#[test]
fn a_command_gets_no_token_and_starts_no_command_in_turn() {
    let machine = Machine::new();
    let command = machine.install("print-token", "env > \"$0.env\"; echo glpat-sesame");
    let settings = machine.write("settings.toml", "");
    let variables = [
        ("GITLAB_TOKEN_COMMAND", command.as_str()),
        ("GITLAB_MCP_CONFIG", &settings),
        ("GITLAB_EXTRA_HEADERS", "X-Key: sesame"),
        ("GITLAB_MCP_CONFIRM_KEY", "sesame-sesame-sesame-sesame-sesame"),
        ("CI_JOB_TOKEN", "glcbt-sesame"),
        ("OWN_SETTING", "stays"),
    ];
    assert_eq!(sent(&variables), [Some(PRIVATE.to_owned())]);
    let environment = machine.read("print-token.env");
    assert!(environment.contains("OWN_SETTING=stays"), "{environment}");
    for name in ["sesame", "GITLAB_TOKEN_COMMAND=", "GITLAB_MCP_CONFIG="] {
        assert!(!environment.contains(name), "{name}: {environment}");
    }
    // A command that calls the program again, with the command in a file of its own.
    let settings = machine.text_path("again.toml");
    let script = format!(
        "echo run >> \"$0.runs\"\nexec {} --config {settings} execute current_user.get",
        program(&[], &[]).get_program().to_str().unwrap()
    );
    let again = machine.install("again", &script);
    machine.write("again.toml", &format!("GITLAB_TOKEN_COMMAND = \"{again}\"\n"));
    let said = text(&ask_for_user(&gitlab(), &[("GITLAB_TOKEN_COMMAND", &again)]));
    assert!(said.contains("failed with exit status: 2"), "{said}");
    assert_eq!(machine.read("again.runs").lines().count(), 1);
}

#[test]
fn a_token_of_a_command_is_fetched_again_before_it_expires() {
    let machine = Machine::new();
    // The first token has expired, the second never does.
    let old = seconds_from_now(-5);
    let script = format!(
        "echo run >> \"$0.runs\"
         case $(wc -l < \"$0.runs\") in
           *1) echo '{{\"token\": \"glpat-first\", \"expires_at\": {old}}}';;
           *) echo '{{\"token\": \"glpat-second\"}}';;
         esac"
    );
    let command = machine.install("print-token", &script);
    let gitlab = gitlab();
    let mut client = Client::connect(
        &[],
        &[
            ("GITLAB_URL", &gitlab.url()),
            ("GITLAB_TOKEN_COMMAND", &command),
            ("PATH", &machine.search_path()),
        ],
    );
    for _ in 0..3 {
        crate::support::client::succeed(&mut client, "current_user.get", serde_json::json!({}));
    }
    let sent = credentials_of(&gitlab);
    assert_eq!(sent.last().unwrap().as_deref(), Some("private-token: glpat-second"), "{sent:?}");
    assert_eq!(machine.read("print-token.runs").lines().count(), 2, "the second is kept");
}

/// A substitute for glab or git: it records what it is asked, and answers for one host.
pub fn helper(machine: &Machine, name: &str, host: &str) {
    let script = format!(
        "echo \"$@\" >> \"$(dirname \"$0\")/{name}.asked\"
         cat > \"$(dirname \"$0\")/{name}.input\"
         env > \"$(dirname \"$0\")/{name}.env\"
         grep -qx 'host={host}' \"$(dirname \"$0\")/{name}.input\" || exit 1
         echo username=oauth2
         echo password=glpat-sesame"
    );
    machine.install(name, &script);
}

#[test]
fn glab_and_git_are_asked_only_where_they_are_named_and_for_the_exact_host() {
    let machine = Machine::new();
    let gitlab = gitlab();
    let host = gitlab.address.to_string();
    for name in ["glab", "git"] {
        helper(&machine, name, &host);
    }
    let ask = |credentials: &str| {
        let path = machine.search_path();
        let variables = [
            ("PATH", path.as_str()),
            ("GITLAB_CREDENTIALS", credentials),
            ("GL_HOST", "other.example.com"),
            ("GITLAB_URL", &gitlab.url()),
            ("GIT_DIR", "/elsewhere/.git"),
        ];
        let output = ask_for_user(&gitlab, &variables);
        assert!(output.status.success(), "{}", text(&output));
        credential(&gitlab.last("/user"))
    };
    assert_eq!(ask(""), None);
    assert_eq!((machine.read("glab.asked"), machine.read("git.asked")), (String::new(), String::new()));

    assert_eq!(ask("glab"), Some(PRIVATE.to_owned()));
    assert_eq!(machine.read("glab.asked"), "auth git-credential get\n");
    assert_eq!(machine.read("glab.input"), format!("protocol=http\nhost={host}\n\n"));
    assert_eq!(machine.read("git.asked"), "", "git is asked only if glab has nothing");

    assert_eq!(ask("git"), Some(PRIVATE.to_owned()));
    assert_eq!(machine.read("git.asked"), "credential fill\n");
    let environment = machine.read("git.env");
    for line in ["GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "GIT_ASKPASS="] {
        assert!(environment.lines().any(|known| known == line), "{line} in {environment}");
    }
    for name in ["GL_HOST=", "GIT_DIR=", "GITLAB_TOKEN="] {
        assert!(!environment.lines().any(|line| line.starts_with(name)), "{name} in {environment}");
    }

    // Both have a credential for another host only.
    for name in ["glab", "git"] {
        helper(&machine, name, "127.0.0.1");
    }
    assert_eq!(ask("glab,git"), None);
    assert_eq!(machine.read("git.input"), format!("protocol=http\nhost={host}\n\n"));
}

#[test]
fn a_program_that_answers_for_another_host_or_waits_is_an_error() {
    let machine = Machine::new();
    let path = machine.search_path();
    for (script, problem) in [
        (
            "echo host=other.example.com; echo password=glpat-sesame",
            "glab answered for another host than 127.0.0.1",
        ),
        ("exec sleep 600", "glab did not end within 1 s"),
    ] {
        machine.install("glab", script);
        let gitlab = gitlab();
        let variables = [("PATH", path.as_str()), ("GITLAB_CREDENTIALS", "glab"), ("GITLAB_TIMEOUT", "1")];
        let said = text(&ask_for_user(&gitlab, &variables));
        assert!(said.contains(problem) && !said.contains("sesame"), "{said}");
        assert!(gitlab.received().is_empty());
    }
}

#[test]
fn git_is_asked_after_a_glab_that_fails() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    machine.install("glab", "echo host=other.example.com; echo password=glpat-other");
    helper(&machine, "git", &gitlab.address.to_string());
    let path = machine.search_path();
    let output = ask_for_user(&gitlab, &[("PATH", path.as_str()), ("GITLAB_CREDENTIALS", "glab,git")]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(credentials_of(&gitlab), [Some(PRIVATE.to_owned())]);
}

#[test]
fn a_sign_in_is_used_for_its_whole_address_only() {
    let machine = Machine::new();
    let gitlab = gitlab();
    let file = machine.signed_in(&gitlab, "sesame-access", "sesame-refresh", seconds_from_now(7000));
    let ask = |url: &str| {
        let output = ask_for_user(&gitlab, &[("GITLAB_LOGIN_FILE", file.as_str()), ("GITLAB_URL", url)]);
        assert!(!text(&output).contains("sesame"), "{}", text(&output));
        credentials_of(&gitlab).pop()
    };
    assert_eq!(ask(&gitlab.url()), Some(Some("authorization: bearer sesame-access".to_owned())));
    // The same machine under another name and another path are other instances.
    assert_eq!(ask(&gitlab.url().replace("127.0.0.1", "localhost")), Some(None));
    ask(&format!("{}/sub", gitlab.url()));
    let below = gitlab.received().pop().unwrap();
    assert!(below.path.starts_with("/sub/") && credential(&below).is_none(), "{below:?}");
}

/// With the git of this machine, and its helper that reads a file.
#[test]
fn git_s_own_helpers_are_used() {
    if std::process::Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let (machine, gitlab) = (Machine::new(), gitlab());
    machine.write(".gitconfig", "[credential]\n\thelper = store\n");
    let entry = |host: &str| format!("http://oauth2:glpat-sesame@{host}\n");
    let (home, path) = (machine.text_path(""), machine.search_path());
    let ask = || {
        let variables = [("HOME", home.as_str()), ("PATH", path.as_str()), ("GITLAB_CREDENTIALS", "git")];
        let output = ask_for_user(&gitlab, &variables);
        assert!(output.status.success(), "{}", text(&output));
        credentials_of(&gitlab).pop().unwrap()
    };
    machine.write(".git-credentials", &entry("127.0.0.1"));
    assert_eq!(ask(), None, "the port is another");
    machine.write(".git-credentials", &entry(&gitlab.address.to_string()));
    assert_eq!(ask(), Some(PRIVATE.to_owned()));
}
