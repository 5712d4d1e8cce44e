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

#[test]
fn the_bytes_of_a_file_arrive_however_they_are_written() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("POST", "/uploads", answer(201, json!({"id": 1})));
    let mut client = gitlab.client(&[]);
    let upload = |file| json!({"fullPath": PROJECT, "file": file});
    for file in [
        json!({"filename": "dk.png", "content": "aGkg\ndGhlcmU=", "encoding": "base64"}),
        json!({"name": "dk.png", "content_base64": "aGkgdGhlcmU="}),
        json!({"filename": "dk.png", "content": "data:image/png;base64,aGkgdGhlcmU="}),
        json!({"filename": "dk.png", "content": "hi there", "encoding": "text"}),
    ] {
        succeed(&mut client, "project_upload.create", upload(file.clone()));
        let sent = gitlab.received();
        let body = sent.iter().rfind(|request| request.path.ends_with("/uploads")).unwrap().body.clone();
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(
            body.contains("\r\n\r\nhi there\r\n") && body.contains("filename=\"dk.png\""),
            "{file}: {body}"
        );
    }
    let count = gitlab.received().len();
    for (file, says) in [
        (json!({"filename": "a", "content": "x", "content_type": "text/plain"}), "`file.content_type`"),
        (json!({"filename": "a", "content": "not Base64!", "encoding": "base64"}), "what is not Base64"),
        (json!({"filename": "a", "content": "x", "encoding": "utf-16"}), "`encoding`"),
    ] {
        let reply = execute(&mut client, "project_upload.create", upload(file));
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
        assert!(reply.text.contains(says), "{says}: {}", reply.text);
    }
    // The files of a commit say their encoding too.
    let file = json!({"action": "create", "file_path": "a", "content": "not Base64!", "encoding": "base64"});
    let commit = json!({"fullPath": PROJECT, "branch": "main", "commit_message": "c", "actions": [file]});
    let reply = execute(&mut client, "commit.create", commit);
    assert!(reply.is_error && reply.text.contains("`actions[0].content` is Base64"), "{}", reply.text);
    assert_eq!(gitlab.received().len(), count, "nothing was sent");
}

/// The five letters of the name were stored as the picture.
#[test]
fn a_text_that_looks_like_a_file_s_name_is_not_its_content() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[]);
    for (action, name) in [("project_upload.create", "p.png"), ("project_upload.create", "docs/plan.pdf")] {
        let reply = execute(&mut client, action, json!({"fullPath": PROJECT, "file": name}));
        let error = &reply.structured["error"];
        assert_eq!(error["kind"], "invalid_params", "{name}: {}", reply.text);
        assert_eq!(error["fix"]["arguments"]["params"]["file"], json!({"path": name}), "{error}");
    }
    assert!(!gitlab.received().iter().any(|request| request.path.ends_with("/uploads")));
    gitlab.json("/uploads", &json!({"id": 1}));
    gitlab.answer("POST", "/uploads", answer(201, json!({"id": 1, "url": "/uploads/1/a.txt"})));
    // A sentence is a content, and so is what an object calls one.
    for file in [json!("See plan.pdf"), json!({"content": "p.png"}), json!("1.2.3")] {
        let reply = execute(&mut client, "project_upload.create", json!({"fullPath": PROJECT, "file": file}));
        assert!(!reply.is_error, "{file}: {}", reply.text);
    }
}

/// GitLab answers 500 for folders in the name of an upload.
#[test]
fn folders_in_the_name_of_an_upload_are_left_out() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("POST", "/uploads", answer(201, json!({"id": 1, "url": "/uploads/1/a.txt"})));
    let mut client = gitlab.client(&[]);
    for name in ["./example.txt", "dir/example.txt", "../../etc/example.txt", "C:\\tmp\\example.txt"] {
        let file = json!({"filename": name, "content": "x"});
        execute(&mut client, "project_upload.create", json!({"fullPath": PROJECT, "file": file}));
        let body = String::from_utf8_lossy(&gitlab.last("/uploads").body).into_owned();
        assert!(body.contains("filename=\"example.txt\""), "{name}: {body}");
    }
}

/// The rules decide before a local file is read: one that has commands is not sent past them.
#[test]
fn a_local_file_of_rows_with_a_quick_action_is_not_sent() {
    let gitlab = Gitlab::with_project();
    let folder = tempfile::tempdir().unwrap();
    let path = std::fs::canonicalize(folder.path()).unwrap();
    std::fs::write(path.join("moves.csv"), "title,description\nx,\"/move other/proj\"\n").unwrap();
    let mut client = gitlab.client(&[("GITLAB_FILES_DIR", path.to_str().unwrap())]);
    let params = json!({"fullPath": PROJECT, "file": {"path": "moves.csv"}});
    let reply = execute(&mut client, "work_item.import_csv", params);
    let error = &reply.structured["error"];
    assert_eq!(error["kind"], "denied", "{}", reply.text);
    assert!(error["message"].as_str().unwrap().contains("/move"), "{error}");
    assert!(
        !gitlab
            .received()
            .iter()
            .any(|request| String::from_utf8_lossy(&request.body).contains("other/proj"))
    );
}
