//! Files that are uploaded: their names and sizes.

use serde_json::json;

use crate::support::client::{execute, succeed};
use crate::support::fixtures::PROJECT;
use crate::support::scripted_gitlab::{Gitlab, answer};

#[test]
fn a_name_with_a_line_end_is_refused() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("POST", "/uploads", answer(201, json!({"id": 1})));
    let mut client = gitlab.client(&[]);
    for name in ["x\r\nX-Evil: 1", "x\\\r\n", "x\n", "x\u{0}y"] {
        let file = json!({"content": "x", "filename": name});
        let reply = execute(&mut client, "project_upload.create", json!({"fullPath": PROJECT, "file": file}));
        let error = &reply.structured["error"];
        assert_eq!(error["kind"], "invalid_params", "{name:?}: {}", reply.text);
        assert!(error["message"].as_str().unwrap().contains("control character"), "{error}");
    }
    assert!(!gitlab.received().iter().any(|request| request.path.ends_with("/uploads")));
    let file = json!({"content": "figures", "filename": "q \"1\".txt"});
    succeed(&mut client, "project_upload.create", json!({"fullPath": PROJECT, "file": file}));
    let sent = gitlab.received();
    let upload = sent.iter().find(|request| request.path.ends_with("/uploads")).unwrap();
    assert!(String::from_utf8_lossy(&upload.body).contains("figures"));
    assert!(upload.head.contains("content-length: "), "it is not sent in chunks");
}

#[test]
fn a_file_that_is_too_large_is_named_with_its_size() {
    let gitlab = Gitlab::with_project();
    let folder = tempfile::tempdir().unwrap();
    let path = std::fs::canonicalize(folder.path()).unwrap();
    std::fs::File::create(path.join("large.bin")).unwrap().set_len(100_000_000).unwrap();
    let mut client = gitlab.client(&[("GITLAB_FILES_DIR", path.to_str().unwrap())]);
    let params = json!({"fullPath": PROJECT, "file": {"path": "large.bin"}});
    let error = execute(&mut client, "project_upload.create", params).structured["error"].clone();
    assert_eq!(error["kind"], "too_large", "{error}");
    assert!(error["message"].as_str().unwrap().contains("has 100000000 bytes"), "{error}");
}
