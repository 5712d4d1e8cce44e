//! Settings that switch confirmation off, or leave it to the model: never silent, and weaker than GITLAB_CONFIRM.

use serde_json::{Value, json};

use crate::support::client::{Client, LATEST_HANDSHAKE, program};

const NAMES: [&str; 4] = ["GITLAB_YOLO_MODE", "GITLAB_AUTOPILOT", "YOLO_MODE", "AUTOPILOT"];

/// The instructions of a server, whether it deletes an issue without a question, and its standard error.
fn session(variables: &[(&str, &str)]) -> (String, bool, String) {
    let mut client = Client::start(&["--sandbox"], variables);
    let answer = client.initialize(LATEST_HANDSHAKE);
    let instructions = answer["result"]["instructions"].as_str().unwrap().to_owned();
    let delete = json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}});
    let deleted = !client.call("gitlab_execute_action", delete).is_error;
    let ended = client.close();
    ended.well();
    (instructions, deleted, ended.stderr)
}

#[test]
fn each_name_is_warned_of_and_told_in_the_instructions() {
    for name in NAMES {
        let (instructions, deleted, stderr) = session(&[(name, "true")]);
        assert!(deleted, "{name}");
        assert!(instructions.contains("Confirmation is off"), "{instructions}");
        assert!(!instructions.contains("the user's consent"), "{instructions}");
        let warning = format!("confirmation is off ({name})");
        assert!(stderr.contains(&warning) && stderr.contains("GITLAB_CONFIRM=ask"), "{stderr}");
    }
    let (instructions, deleted, stderr) = session(&[]);
    assert!(!deleted && instructions.contains("the user's consent"), "{instructions}");
    assert!(
        !instructions.contains("Confirmation is off") && !stderr.contains("confirmation is off"),
        "{stderr}"
    );
}

#[test]
fn gitlab_confirm_is_stronger() {
    for confirm in ["ask", "plan"] {
        let (instructions, deleted, stderr) = session(&[("YOLO_MODE", "1"), ("GITLAB_CONFIRM", confirm)]);
        assert!(!deleted && !instructions.contains("Confirmation is off"), "{confirm}: {instructions}");
        assert!(stderr.contains("YOLO_MODE has no effect: GITLAB_CONFIRM is set"), "{stderr}");
    }
    let (instructions, deleted, _) = session(&[("GITLAB_CONFIRM", "never")]);
    assert!(deleted && instructions.contains("Confirmation is off"), "{instructions}");
}

#[test]
fn the_doctor_warns_of_it() {
    for (name, value) in [("YOLO_MODE", "true"), ("GITLAB_AUTOPILOT", "yes"), ("GITLAB_CONFIRM", "never")] {
        let output = program(&["--sandbox", "doctor", "--json"], &[(name, value)]).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let first = &found["checks"][0];
        assert_eq!(
            (&first["check"], &first["state"]),
            (&json!("confirmation"), &json!("warning")),
            "{found}"
        );
        assert!(first["says"].as_str().unwrap().contains(name), "{first}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn the_start_and_the_doctor_warn_of_consent_by_the_model() {
    let by_model = [("GITLAB_CONFIRM_BY", "model")];
    let (_, _, stderr) = session(&by_model);
    assert!(stderr.contains("the model confirms (GITLAB_CONFIRM_BY=model)"), "{stderr}");
    let output = program(&["--sandbox", "doctor", "--json"], &by_model).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["checks"][0]["says"].as_str().unwrap().contains("GITLAB_CONFIRM_BY=model"), "{found}");
}

#[test]
fn a_settings_file_may_have_the_name_that_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.toml");
    for name in ["YOLO_MODE", "GITLAB_YOLO_MODE"] {
        std::fs::write(&file, format!("{name} = true\n")).unwrap();
        let (_, deleted, stderr) = session(&[("GITLAB_MCP_CONFIG", file.to_str().unwrap())]);
        assert!(deleted && stderr.contains("confirmation is off"), "{stderr}");
    }
}
