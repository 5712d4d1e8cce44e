//! In a CI/CD job: its variables are understood without settings, for the instance of the job only.

use std::process::Stdio;

use serde_json::json;

use crate::credentials::{credential, gitlab, run, text};
use crate::support::client::program;
use crate::support::scripted_gitlab::Gitlab;
use crate::support::tls::{Authority, serve};

#[test]
fn a_job_needs_no_settings() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/repository/branches", &json!([{"name": "squeaks"}]));
    let variables = [
        ("CI_SERVER_URL", gitlab.url()),
        ("CI_JOB_TOKEN", "glcbt-sesame".to_owned()),
        ("CI_PROJECT_PATH", "acme/widget".to_owned()),
    ];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let output = program(&["execute", "branch.list"], &variables).stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success() && text(&output).contains("squeaks"),
        "{} {:?}",
        text(&output),
        gitlab.seen()
    );
    let branches = gitlab.last("/branches");
    assert!(branches.path.contains("acme%2Fwidget"), "{}", branches.path);
    assert_eq!(credential(&branches).as_deref(), Some("job-token: glcbt-sesame"));
    assert!(!text(&output).contains("sesame"));
}

#[test]
fn the_token_of_a_job_is_sent_to_no_other_instance() {
    let gitlab = gitlab();
    let job = [("CI_SERVER_URL", "https://gitlab.example.com"), ("CI_JOB_TOKEN", "glcbt-sesame")];
    let output = run(&["execute", "current_user.get"], &gitlab, &job);
    assert!(output.status.success(), "{}", text(&output));
    assert!(gitlab.received().iter().all(|request| credential(request).is_none()), "{:?}", gitlab.seen());
}

#[test]
fn the_authority_of_a_job_s_server_is_trusted() {
    let authority = Authority::new();
    let url = serve(&authority.vouch("localhost", 2099), None);
    let file = authority.file();
    let path = file.path().to_str().unwrap();
    let ask = |variables: &[(&str, &str)]| {
        program(&["execute", "instance.get_version"], variables).stdin(Stdio::null()).output().unwrap()
    };
    let output = ask(&[("CI_SERVER_URL", &url), ("CI_SERVER_TLS_CA_FILE", path)]);
    assert!(output.status.success(), "{}", text(&output));
    let output =
        ask(&[("GITLAB_URL", &url), ("CI_SERVER_URL", "https://x.example"), ("CI_SERVER_TLS_CA_FILE", path)]);
    assert!(!output.status.success(), "the file is of another server: {}", text(&output));
}
