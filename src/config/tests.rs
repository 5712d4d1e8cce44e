use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

use super::*;
use crate::credentials::CommandLine;
use crate::gitlab::Token;

fn resolve(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    with_flags(&[], variables)
}

fn with_flags(flags: &[(&'static str, &str)], variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let flags: Flags = flags.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let variables: BTreeMap<String, OsString> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
    Config::resolve(&flags, |name| variables.get(name).cloned())
}

fn refusal(variables: &[(&str, &str)]) -> String {
    let error = resolve(variables).unwrap_err();
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{source}")
}

fn root(url: &str) -> String {
    match resolve(&[("GITLAB_URL", url)]).unwrap().default.instance {
        Instance::At(url) => url.to_string(),
        Instance::Sandbox => "sandbox".to_owned(),
    }
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn nothing_set_is_gitlab_com_without_a_token() {
    let config = resolve(&[]).unwrap();
    assert_eq!(config.default.instance, Instance::At(Url::parse("https://gitlab.com/").unwrap()));
    assert!(
        config.default.credentials.is_none()
            && !config.policy.read_only
            && !config.policy.safe_mode
            && config.project.is_none()
    );
    assert_eq!((config.timeout.as_secs(), config.max_bytes, config.log), (30, 16_000, LevelFilter::WARN));
}

/// A client that starts the server from its JSON has no shell that would expand it.
#[test]
fn a_leading_tilde_is_the_home_folder() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_str().unwrap();
    let config = resolve(&[("HOME", path), ("GITLAB_AUDIT_FILE", "~/a.jsonl")]).unwrap();
    assert_eq!(config.audit_file, Some(home.path().join("a.jsonl")));
    std::fs::write(home.path().join("token"), "glpat-1").unwrap();
    let table =
        "[[instance]]\nname = \"work\"\nurl = \"https://git.example.com\"\ntoken_file = \"~/token\"\n";
    std::fs::write(home.path().join("settings.toml"), table).unwrap();
    resolve(&[("HOME", path), ("GITLAB_MCP_CONFIG", "~/settings.toml")]).unwrap();
    let message = refusal(&[("GITLAB_AUDIT_FILE", "~/a.jsonl")]);
    assert!(message.starts_with("GITLAB_AUDIT_FILE: ~/a.jsonl is in the home folder"), "{message}");
    let variables = [("HOME", path), ("GITLAB_AUDIT_FILE", "~/a.jsonl")];
    let lookup = |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into());
    let written = portable_settings(&Flags::new(), lookup);
    assert_eq!(written["GITLAB_AUDIT_FILE"], format!("{path}/a.jsonl"));
}

#[test]
fn every_default_and_example_is_accepted_by_its_own_setting() {
    for setting in settings().map(AnySetting::row) {
        // Files and directories of the examples do not exist on a test machine, and no example is a secret.
        let is_elsewhere = ["TOKEN", "KEY", "FILE", "DIR"].contains(&setting.value);
        for text in setting.default.iter().chain((!is_elsewhere).then_some(&setting.example)) {
            // The settings of the HTTP server are read where there is one.
            let is_of_oauth = setting.name == "GITLAB_MCP_OAUTH_APPLICATIONS";
            let auth = if is_of_oauth { "oauth" } else { "token" };
            let server = [("GITLAB_MCP_HTTP", "127.0.0.1:0"), ("GITLAB_MCP_AUTH", auth)];
            // So are those of the sandbox.
            let sandbox = setting.name.starts_with("GITLAB_SANDBOX").then_some(("GITLAB_URL", "sandbox"));
            let others = server.into_iter().chain(sandbox).filter(|(name, _)| *name != setting.name);
            let variables: Vec<(&str, &str)> = others.chain([(setting.name, *text)]).collect();
            assert!(resolve(&variables).is_ok(), "{} = {text}", setting.name);
        }
    }
}

#[test]
fn an_address_is_understood_however_it_is_written() {
    for url in [
        "https://git.example.com",
        "https://git.example.com/",
        "https://git.example.com/api/v4",
        "https://git.example.com/api/v4/",
    ] {
        assert_eq!(root(url), "https://git.example.com/");
    }
    assert_eq!(root("http://localhost:8080/gitlab/api/v4//"), "http://localhost:8080/gitlab/");
    assert_eq!(root("Sandbox"), "sandbox");
}

#[test]
fn an_address_that_is_none_is_refused() {
    for url in ["gitlab.example.com", "ftp://example.com", "https://", "https://a.b/?x=1", "https://a.b/#x"] {
        let message = refusal(&[("GITLAB_URL", url)]);
        assert!(message.starts_with("GITLAB_URL: expected an http or https URL") && message.contains(url));
    }
    let message = refusal(&[("GITLAB_URL", "https://me:sesame@gitlab.com")]);
    assert!(message.starts_with("GITLAB_URL: invalid value") && !message.contains("sesame"));
}

#[test]
fn a_wrong_value_names_the_setting_and_what_it_takes() {
    let cases = [
        ("GITLAB_READ_ONLY", "maybe", "true or false (or 1, 0, yes, no, on, off)"),
        ("GITLAB_SAFE_MODE", "2", "true or false (or 1, 0, yes, no, on, off)"),
        ("GITLAB_TIMEOUT", "0", "whole seconds from 1 to 3600"),
        ("GITLAB_TIMEOUT", "ten", "whole seconds from 1 to 3600"),
        ("GITLAB_MAX_BYTES", "-1", "a whole number from 1000 to 10000000"),
        ("GITLAB_MCP_LOG", "loud", "off, error, warn, info, debug or trace"),
        ("GITLAB_PROJECT", "https://gitlab.com/a/b", "a full path such as group/project"),
        ("GITLAB_CA_FILE", "/nowhere/ca.pem", "the path of a readable file"),
    ];
    for (name, given, accepts) in cases {
        assert_eq!(refusal(&[(name, given)]), format!("{name}: expected {accepts}, got {given:?}"));
    }
}

#[test]
fn switches_take_the_usual_words() {
    for (text, expected) in
        [("true", true), ("1", true), ("YES", true), ("on", true), ("false", false), ("0", false)]
    {
        assert_eq!(resolve(&[("GITLAB_READ_ONLY", text)]).unwrap().policy.read_only, expected);
    }
}

/// The token that is sent, by its header, if it does not change.
fn token(config: &Config) -> Option<Token> {
    let connection = config.connection(&config.default, Url::parse("https://gitlab.com/").unwrap());
    config.default.credentials.credential(&connection)?.fixed().cloned()
}

#[test]
fn a_token_comes_from_the_first_source_that_has_one() {
    let held = file("  glpat-1234\n");
    let path = held.path().to_str().unwrap();
    let source = |variables: &[(&str, &str)]| resolve(variables).unwrap().default.credentials.describe();
    // Each takes precedence over all that follow.
    let sources = [
        ("GITLAB_TOKEN_FILE", path, format!("GITLAB_TOKEN_FILE ({path})")),
        ("GITLAB_PERSONAL_ACCESS_TOKEN", " glpat-1234 ", "GITLAB_PERSONAL_ACCESS_TOKEN".to_owned()),
        ("GITLAB_OAUTH_TOKEN", "x", "GITLAB_OAUTH_TOKEN".to_owned()),
        ("GITLAB_JOB_TOKEN", "x", "GITLAB_JOB_TOKEN".to_owned()),
        ("GITLAB_TOKEN_COMMAND", "print-token --sesame", "GITLAB_TOKEN_COMMAND (print-token)".to_owned()),
        ("CI_JOB_TOKEN", "x", "CI_JOB_TOKEN".to_owned()),
        ("GITLAB_CREDENTIALS", "git, glab", "git, then glab for gitlab.com (GITLAB_CREDENTIALS)".to_owned()),
    ];
    for at in 0..sources.len() {
        let mut variables = vec![("CI_SERVER_URL", "https://gitlab.com")];
        variables.extend(sources[at..].iter().map(|(name, value, _)| (*name, *value)));
        assert_eq!(source(&variables), sources[at].2);
    }
    assert_eq!(source(&[]), "none");
    let config = resolve(&[("GITLAB_TOKEN", "glpat-1"), ("GITLAB_TOKEN_FILE", path)]).unwrap();
    assert_eq!(config.default.credentials.unused(), ["GITLAB_TOKEN"]);
}

#[test]
fn a_token_is_of_the_kind_that_its_setting_says() {
    let sent = |name, value| token(&resolve(&[(name, value)]).unwrap());
    assert!(matches!(sent("GITLAB_TOKEN", "glpat-1234"), Some(Token::Private(_))));
    assert!(matches!(sent("GITLAB_OAUTH_TOKEN", "x"), Some(Token::OAuth(_))));
    assert!(matches!(sent("GITLAB_JOB_TOKEN", "x"), Some(Token::Job(_))));
}

#[test]
fn a_token_is_for_the_configured_instance_only() {
    let config = resolve(&[("GITLAB_URL", "https://a.example/x"), ("GITLAB_TOKEN", "glpat-1234")]).unwrap();
    for (url, expected) in [
        ("https://a.example/x/", true),
        ("https://a.example/", false),
        ("http://a.example/x/", false),
        ("https://a.example:8443/x/", false),
        ("https://b.example/x/", false),
    ] {
        let connection = config.connection(&config.default, Url::parse(url).unwrap());
        assert_eq!(config.default.credentials.credential(&connection).is_some(), expected, "{url}");
    }
}

#[test]
fn variables_of_a_job_hold_for_its_own_instance_and_below_every_setting() {
    let authority = file("");
    let job = [
        ("CI_SERVER_URL", "https://git.example.com"),
        ("CI_PROJECT_PATH", "acme/widget"),
        ("CI_SERVER_TLS_CA_FILE", authority.path().to_str().unwrap()),
        ("CI_JOB_TOKEN", "glcbt-1"),
    ];
    let config = resolve(&job).unwrap();
    assert_eq!(config.default.instance, Instance::At(Url::parse("https://git.example.com/").unwrap()));
    assert_eq!(config.project.as_deref(), Some("acme/widget"));
    assert_eq!(config.default.ca_file.as_deref(), Some(authority.path()));
    assert_eq!(config.default.credentials.describe(), "CI_JOB_TOKEN");

    let with = |more: &[(&str, &str)]| resolve(&[&job, more].concat()).unwrap();
    let config = with(&[("GITLAB_PROJECT", "a/b"), ("GITLAB_TOKEN", "glpat-1")]);
    assert_eq!(
        (config.project.as_deref(), config.default.credentials.describe().as_str()),
        (Some("a/b"), "GITLAB_TOKEN")
    );
    assert!(config.default.credentials.unused().is_empty(), "the token of the job is not a setting");
    for url in ["https://gitlab.com", "http://git.example.com", "https://git.example.com:8443", "sandbox"] {
        let config = with(&[("GITLAB_URL", url)]);
        assert!(config.project.is_none() && config.ca_file.is_none(), "{url}");
        assert!(config.default.ca_file.is_none(), "{url}");
        assert_eq!(config.default.credentials.describe(), "none", "{url}");
    }
    let tables = file("[[instance]]\nname = 'work'\nurl = 'https://work.example'\n");
    let config = with(&[("GITLAB_MCP_CONFIG", tables.path().to_str().unwrap())]);
    let ca_file = |of: &InstanceConfig| {
        let Instance::At(base) = &of.instance else { panic!("{} has no root", of.name) };
        config.connection(of, base.clone()).ca_file
    };
    let files: Vec<_> = config.instances().map(|of| (of.name.as_str(), ca_file(of))).collect();
    assert_eq!(files, [("git.example.com", Some(authority.path().to_owned())), ("work", None)]);
    assert!(refusal(&[("CI_SERVER_URL", "git.example.com")]).starts_with("CI_SERVER_URL: expected an http"));
}

#[test]
fn a_command_for_a_token_gets_the_tokens_of_no_instance() {
    let tables = file(
        "[[instance]]\nname = 'a'\nurl = 'https://a.example'\ntoken_env = 'A_TOKEN'\n\
         [[instance]]\nname = 'b'\nurl = 'https://b.example'\ntoken_env = 'B_TOKEN'\n",
    );
    let found = [("GITLAB_MCP_CONFIG", tables.path().to_str().unwrap()), ("A_TOKEN", "a"), ("B_TOKEN", "b")];
    let variables: BTreeMap<&str, &str> = found.into();
    let flags = Flags::default();
    let lookup = |name: &str| variables.get(name).map(OsString::from);
    let mut sources = Sources { flags: &flags, lookup: &lookup, file: None };
    let path = sources.parse(&FILE).unwrap().unwrap();
    sources.file = Some(SettingsFile::load(path).unwrap());
    let line = CommandLine::parse("print-token").unwrap();
    let removed = sources.command("GITLAB_TOKEN_COMMAND".to_owned(), line).unwrap().removed;
    for name in ["A_TOKEN", "B_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN"] {
        assert!(removed.iter().any(|known| known == name), "{name}: {removed:?}");
    }
}

#[test]
fn sign_ins_are_kept_in_the_state_directory_of_the_user() {
    let file = |variables: &[(&str, &str)]| resolve(variables).unwrap().login.file;
    assert_eq!(file(&[]), None);
    assert_eq!(file(&[("HOME", "relative")]), None);
    if cfg!(target_os = "linux") {
        let home = Some(PathBuf::from("/nowhere/.local/state/gitlab-mcp/sign-ins.json"));
        assert_eq!(file(&[("HOME", "/nowhere")]), home);
        let state = Some(PathBuf::from("/nowhere/state/gitlab-mcp/sign-ins.json"));
        assert_eq!(file(&[("HOME", "/nowhere"), ("XDG_STATE_HOME", "/nowhere/state")]), state);
    }
    let own = Some(PathBuf::from("/nowhere/mine"));
    assert_eq!(file(&[("HOME", "/nowhere"), ("GITLAB_LOGIN_FILE", "/nowhere/mine")]), own);
}

#[test]
fn a_sign_in_and_helpers_do_not_make_the_plain_settings_the_default() {
    let tables = file("[[instance]]\nname = 'work'\nurl = 'https://work.example'\n");
    let sign_in = r#"{"kind": "oauth", "client_id": "my-app", "access_token": "sesame"}"#;
    let sign_ins = file(&format!(r#"{{"version": 1, "sign_ins": {{"https://gitlab.com/": {sign_in}}}}}"#));
    let (tables, sign_ins) = (tables.path().to_str().unwrap(), sign_ins.path().to_str().unwrap());
    let names = |variables: &[(&str, &str)]| -> Vec<String> {
        let config = resolve(&[&[("GITLAB_MCP_CONFIG", tables)], variables].concat()).unwrap();
        config.instances().map(|one| one.name.clone()).collect()
    };
    assert_eq!(names(&[("GITLAB_CREDENTIALS", "glab")]), ["work"]);
    assert_eq!(names(&[("GITLAB_LOGIN_FILE", sign_ins)]), ["work"]);
    assert_eq!(names(&[("GITLAB_CREDENTIALS", "glab"), ("GITLAB_LOGIN_FILE", sign_ins)]), ["work"]);
    assert_eq!(names(&[("GITLAB_TOKEN", "glpat-1")]), ["gitlab.com", "work"]);
    assert_eq!(names(&[("GITLAB_URL", "https://gitlab.com")]), ["gitlab.com", "work"]);
}

#[test]
fn a_command_and_names_of_programs_are_checked() {
    assert!(
        refusal(&[("GITLAB_TOKEN_COMMAND", "print 'sesame")]).starts_with("GITLAB_TOKEN_COMMAND: invalid")
    );
    assert!(!refusal(&[("GITLAB_TOKEN_COMMAND", "print 'sesame")]).contains("sesame"));
    assert!(refusal(&[("GITLAB_CREDENTIALS", "hub")]).contains("expected glab and git"));
    assert_eq!(resolve(&[("GITLAB_CREDENTIALS", "none")]).unwrap().default.credentials.describe(), "none");
}

#[test]
fn a_token_that_is_none_is_refused_without_being_shown() {
    for token in ["glpat-12\n34", "glpat-ü", "two words"] {
        let message = refusal(&[("GITLAB_TOKEN", token)]);
        assert_eq!(
            message,
            "GITLAB_TOKEN: invalid value (not shown); expected a token of GitLab's, on one line"
        );
    }
    let empty = file(" \n");
    let message = refusal(&[("GITLAB_TOKEN_FILE", empty.path().to_str().unwrap())]);
    assert!(message.starts_with("GITLAB_TOKEN_FILE: invalid value"), "{message}");
    let message = refusal(&[("GITLAB_TOKEN_FILE", "/nowhere/token")]);
    assert!(message.starts_with("GITLAB_TOKEN_FILE: cannot read /nowhere/token"), "{message}");
    assert!(!refusal(&[("GITLAB_PROJECT", "oh no glpat-1234")]).contains("1234"));
}

#[test]
fn a_token_that_would_travel_in_the_clear_is_noticed() {
    let exposes_token = |variables: &[(&str, &str)]| {
        let config = resolve(variables).unwrap();
        config.exposes_token(&config.default)
    };
    let with_token = |url| [("GITLAB_URL", url), ("GITLAB_TOKEN", "glpat-1"), ("GITLAB_PLAIN_HTTP", "true")];
    let exposes = |url| exposes_token(&with_token(url));
    assert!(exposes("http://gitlab.example.com"));
    let refused = refusal(&with_token("http://gitlab.example.com:8080/git")[..2]);
    assert!(
        refused.contains("set https://gitlab.example.com:8080/git, or GITLAB_PLAIN_HTTP=true"),
        "{refused}"
    );
    let shared = [
        ("GITLAB_URL", "http://gitlab.example.com"),
        ("GITLAB_MCP_HTTP", "127.0.0.1:0"),
        ("GITLAB_MCP_AUTH", "token"),
    ];
    assert!(refusal(&shared).contains("over which no token is sent"), "{}", refusal(&shared));
    for url in ["https://gitlab.example.com", "http://localhost:3000", "http://[::1]/", "sandbox"] {
        assert!(!exposes(url), "{url}");
    }
    assert!(!exposes_token(&[("GITLAB_URL", "http://a.b")]));
}

/// A shell may export the variable for another program.
#[test]
fn a_variable_does_not_switch_off_the_confirmation_that_the_settings_file_asks_for() {
    let settings = file("GITLAB_CONFIRM = \"ask\"\n");
    for name in ["YOLO_MODE", "AUTOPILOT"] {
        let variables = [("GITLAB_MCP_CONFIG", settings.path().to_str().unwrap()), (name, "true")];
        assert!(resolve(&variables).unwrap().policy.confirm.asks(), "{name}");
    }
}

#[test]
fn a_key_of_confirmations_is_long_and_never_shown() {
    let key = "0123456789abcdef".repeat(2);
    assert!(!format!("{:?}", resolve(&[("GITLAB_MCP_CONFIRM_KEY", &key)]).unwrap()).contains("cdef"));
    let kept = file(&format!("{key}\n"));
    let from_file = [("GITLAB_MCP_CONFIRM_KEY_FILE", kept.path().to_str().unwrap())];
    assert!(resolve(&from_file).unwrap().confirm_key.is_some());
    for (short, name) in [
        (&key[1..], "GITLAB_MCP_CONFIRM_KEY"),
        ("two words of 32 characters, abcd", "GITLAB_MCP_CONFIRM_KEY"),
    ] {
        let message = refusal(&[(name, short)]);
        assert!(message.starts_with("GITLAB_MCP_CONFIRM_KEY: invalid value (not shown)"), "{message}");
    }
    let short = file(&key[1..]);
    let message = refusal(&[("GITLAB_MCP_CONFIRM_KEY_FILE", short.path().to_str().unwrap())]);
    assert!(message.starts_with("GITLAB_MCP_CONFIRM_KEY_FILE: invalid value (not shown)"), "{message}");
}

#[test]
fn debug_shows_no_token() {
    for (name, value) in [
        ("GITLAB_TOKEN", "glpat-1234"),
        ("GITLAB_OAUTH_TOKEN", "1234"),
        ("GITLAB_TOKEN_COMMAND", "print-token --key 1234"),
    ] {
        let config = resolve(&[(name, value)]).unwrap();
        assert!(!format!("{config:?}").contains("1234"), "{name}");
    }
}

#[test]
fn what_a_client_left_out_is_not_set_and_what_it_left_unexpanded_is_refused() {
    let config = resolve(&[("GITLAB_TOKEN", ""), ("GITLAB_URL", " "), ("GITLAB_READ_ONLY", "")]).unwrap();
    assert!(config.default.credentials.is_none() && !config.policy.read_only);
    let message = refusal(&[("GITLAB_TOKEN", "${GITLAB_TOKEN}")]);
    assert!(message.starts_with("GITLAB_TOKEN: unexpanded variable \"${GITLAB_TOKEN}\""));
    for literal in ["$GITLAB_TOKEN", "%GITLAB_TOKEN%", "\"$GITLAB_TOKEN\""] {
        assert!(refusal(&[("GITLAB_TOKEN", literal)]).contains("unexpanded variable"), "{literal}");
    }
}

/// `docker run --env-file` and some clients pass the quotes of `GITLAB_URL="https://…"` on.
#[test]
fn quotes_around_a_value_are_not_part_of_it() {
    for url in ["\"https://gitlab.example\"", "'https://gitlab.example'"] {
        let config = resolve(&[("GITLAB_TOKEN", "\"glpat-1\""), ("GITLAB_URL", url)]).unwrap();
        let root = Url::parse("https://gitlab.example/").unwrap();
        assert!(matches!(&config.default.instance, Instance::At(at) if *at == root), "{url}");
    }
    assert!(refusal(&[("GITLAB_TIMEOUT", "\"fast\"")]).contains("got \"fast\""));
}

#[test]
fn the_ssh_host_is_a_host_name() {
    for given in ["SSH.example.com", "git@ssh.example.com:2222", "ssh://git@ssh.example.com/"] {
        let config = resolve(&[("GITLAB_SSH_HOST", given)]).unwrap();
        assert_eq!(config.ssh_host.as_deref(), Some("ssh.example.com"), "{given}");
    }
    assert!(refusal(&[("GITLAB_SSH_HOST", "not a host")]).contains("a host name such as"));
}

#[test]
fn a_flag_beats_a_variable_and_a_variable_the_file() {
    let file = file(
        "GITLAB_TIMEOUT = 10\nGITLAB_READ_ONLY = true\nGITLAB_PROJECT = 'a/b'\nGITLAB_MAX_BYTES = 5000\n",
    );
    let path = file.path().to_str().unwrap();
    let variables = [("GITLAB_MCP_CONFIG", path), ("GITLAB_TIMEOUT", "20"), ("GITLAB_PROJECT", "c/d")];
    let config = with_flags(&[("GITLAB_PROJECT", "e/f")], &variables).unwrap();
    assert_eq!(config.project.as_deref(), Some("e/f"));
    assert_eq!((config.timeout.as_secs(), config.max_bytes, config.policy.read_only), (20, 5000, true));
    let error = with_flags(&[("GITLAB_TIMEOUT", "soon")], &[]).unwrap_err().to_string();
    assert!(error.starts_with("--timeout: expected whole seconds"), "{error}");
}

#[test]
fn a_file_that_cannot_be_used_says_why() {
    let cases = [
        ("GITLAB_TIMEOUT = 3\nGITLAB_TOKEN = 'glpat-1234", "line 2 of "),
        ("GITLAB_TIMEOUTS = 3", "unknown setting GITLAB_TIMEOUTS; expected one of GITLAB_URL, "),
        ("GITLAB_TIMEOUT = [3]", "GITLAB_TIMEOUT in "),
        ("GITLAB_TIMEOUT = 0", "expected whole seconds from 1 to 3600, got \"0\""),
    ];
    for (text, expected) in cases {
        let file = file(text);
        let message = refusal(&[("GITLAB_MCP_CONFIG", file.path().to_str().unwrap())]);
        assert!(message.contains(expected) && !message.contains("1234"), "{message}");
    }
    assert!(
        refusal(&[("GITLAB_MCP_CONFIG", "/nowhere.toml")])
            .contains("GITLAB_MCP_CONFIG: cannot read /nowhere.toml")
    );
}

#[test]
fn a_directory_for_files_has_to_be_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let config = resolve(&[("GITLAB_FILES_DIR", path)]).unwrap();
    assert_eq!(config.files_dir, Some(dir.path().canonicalize().unwrap()));
    assert!(
        refusal(&[("GITLAB_FILES_DIR", "/nowhere")]).contains("expected the path of an existing directory")
    );
}

#[test]
fn descriptions_come_from_a_file_and_stronger_ones_from_variables() {
    let words =
        file("[tools]\nmilestones = \"from the file\"\n[actions]\n\"milestones.create\" = \"make\"\n");
    let path = words.path().to_str().unwrap().to_owned();
    let config = resolve(&[("GITLAB_CUSTOMIZE", &path)]).unwrap();
    let variables = [
        ("GITLAB_TOOL_MILESTONES", "from the variable"),
        ("GITLAB_TOOL_", "names nothing"),
        ("GITLAB_TOOL_SURFACE", "meta"),
        ("GITLAB_TOOLSETS", "issues"),
        ("GITLAB_PARAM_MILESTONES_TITLE", " "),
    ];
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let config = config.customized(variables.into_iter()).unwrap();
    let texts: Vec<&str> = config.surface.overrides.iter().map(|change| change.text.as_str()).collect();
    // The last of two that describe one thing is the stronger.
    assert_eq!(texts, ["make", "from the file", "from the variable"]);
}

#[test]
fn a_file_of_descriptions_has_three_tables() {
    for (text, said) in [
        ("[tool]\na = \"b\"\n", "unknown key tool; expected the tables tools, actions and params"),
        ("tools = \"a\"\n", "unknown key tools; expected the tables"),
        ("[tools]\na = [1]\n", "a in"),
        ("[tools\n", "line 1 of"),
    ] {
        let words = file(text);
        let error = refusal(&[("GITLAB_CUSTOMIZE", words.path().to_str().unwrap())]);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn two_names_of_a_setting_with_different_values_stop_the_start() {
    let differ = |pairs: &[(&str, &str)]| resolve(pairs).unwrap_err().to_string();
    for pairs in [
        [("GITLAB_URL", "https://a.example"), ("GITLAB_API_URL", "https://b.example/api/v4")],
        [("GITLAB_TOKEN", "glpat-a"), ("GITLAB_PERSONAL_ACCESS_TOKEN", "glpat-b")],
    ] {
        let error = differ(&pairs);
        assert!(error.contains(pairs[0].0) && error.contains(pairs[1].0), "{error}");
        assert!(!error.contains("glpat"), "{error}");
    }
    // glab's own variable may be about another GitLab.
    assert!(resolve(&[("GITLAB_URL", "https://a.example"), ("GITLAB_HOST", "b.example")]).is_ok());
    // Two spellings of one address.
    assert!(resolve(&[("GITLAB_URL", "https://a.example/"), ("GITLAB_HOST", "a.example")]).is_ok());
    assert!(
        resolve(&[("GITLAB_URL", "https://a.example"), ("GITLAB_API_URL", "https://a.example/api/v4")])
            .is_ok()
    );
}

/// The second key of a file won, whatever it lifted.
#[test]
fn two_keys_of_a_file_for_one_setting_stop_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    for (text, is_fine) in [
        ("GITLAB_READ_ONLY = true\nGITLAB_READ_ONLY_MODE = false\n", false),
        ("GITLAB_READ_ONLY_MODE = false\nGITLAB_READ_ONLY = true\n", false),
        ("GITLAB_READ_ONLY = true\nGITLAB_READ_ONLY_MODE = true\n", true),
        ("GITLAB_URL = \"https://a.example\"\nGITLAB_HOST = \"a.example\"\n", true),
    ] {
        std::fs::write(&file, text).unwrap();
        let resolved = resolve(&[("GITLAB_MCP_CONFIG", file.to_str().unwrap())]);
        assert_eq!(resolved.is_ok(), is_fine, "{text}");
    }
}

#[test]
fn settings_of_the_http_server_that_would_not_hold_stop_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    let tables = "GITLAB_URL = \"https://a.example\"\n[[instance]]\nname = \"strict\"\nurl = \"https://a.example\"\nread_only = true\n";
    std::fs::write(&file, tables).unwrap();
    let with_file = ("GITLAB_MCP_CONFIG", file.to_str().unwrap());
    let http = ("GITLAB_MCP_HTTP", "127.0.0.1:0");
    let of = |pairs: &[(&str, &str)]| resolve(pairs).map(drop).map_err(|error| error.to_string());
    assert!(of(&[with_file]).is_ok(), "two accounts of one machine");
    let error = of(&[with_file, http]).unwrap_err();
    assert!(error.contains("two [[instance]] tables") && error.contains("a.example"), "{error}");
    let error = of(&[http, ("GITLAB_MCP_OAUTH_APPLICATIONS", "abc")]).unwrap_err();
    assert!(error.contains("GITLAB_MCP_AUTH=oauth"), "{error}");
    let error = with_flags(&[("GITLAB_MCP_AUTH", "token")], &[]).unwrap_err().to_string();
    assert!(error.contains("add --http"), "{error}");
    let none = ("GITLAB_MCP_AUTH", "none");
    let error = of(&[http, none, ("GITLAB_MCP_PUBLIC_URL", "https://mcp.example.com")]).unwrap_err();
    assert!(error.contains("GITLAB_MCP_PUBLIC_URL"), "{error}");
    assert!(of(&[http, none, ("GITLAB_MCP_PUBLIC_URL", "http://localhost:8080")]).is_ok());
    let named = "[[instance]]\nname = \"b.example\"\nurl = \"https://a.example\"\n[[instance]]\nname = \"b\"\nurl = \"https://b.example\"\n";
    std::fs::write(&file, named).unwrap();
    let error = of(&[with_file]).unwrap_err();
    assert!(error.contains("b.example has the name of the host"), "{error}");
}
