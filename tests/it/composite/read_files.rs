//! `repository.read_files`.

use serde_json::{Value, json};

use super::{rows, statuses};
use crate::support::client::{Client, EXECUTE, Reply, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer};

const LFS: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab\nsize 12345\n";

fn read_files(client: &mut Client, params: Value) -> Reply {
    let mut whole = json!({"fullPath": "acme/widget"});
    whole.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    execute(client, "repository.read_files", whole)
}

fn write(client: &mut Client, path: &str, content: &str, encoding: &str) {
    let params = json!({
        "fullPath": "acme/widget", "file_path": path, "branch": "main", "commit_message": "For reading",
        "content": content, "encoding": encoding,
    });
    succeed(client, "repository_file.create", params);
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|at| format!("line {at}\n")).collect()
}

#[test]
fn a_wrong_item_leaves_the_other_files() {
    let mut client = Client::sandbox();
    let files = json!(["README.md", {"path": "src/main.rs", "lines": "1-2"}, 42]);
    let reply = read_files(&mut client, json!({"files": files}));
    assert_eq!(statuses(&rows(&reply)), ["ok", "error", "error"], "{}", reply.text);
    assert!(reply.text.contains("A thing that turns."), "{}", reply.text);
    assert!(reply.text.contains("there is no parameter `files.lines`"), "{}", reply.text);
    refused(&read_files(&mut client, json!({"files": [42]})), "invalid_params");
}

/// `fetch_mr_file_content {"fullPath", "iid", "path"}`: the head of that merge request.
#[test]
fn the_number_of_a_merge_request_and_fields_beside_the_files_are_of_each_file() {
    let mut client = Client::sandbox();
    let head = |reply: &Reply| -> Vec<Value> {
        rows(reply).iter().map(|row| json!([row["path"], row["ref"], row["lines_returned"]])).collect()
    };
    let of = json!("refs/merge-requests/5/head");
    let one = json!({"fullPath": "acme/widget", "iid": 5, "path": "README.md"});
    let reply = execute(&mut client, "fetch_mr_file_content", one);
    assert_eq!(head(&reply), [json!(["README.md", of, 5])], "{}", reply.text);
    let several = json!({"files": ["README.md", {"path": "src/main.rs", "ref": "main"}], "mr_iid": "!5", "max_lines": 1});
    let reply = read_files(&mut client, several);
    assert_eq!(
        head(&reply),
        [json!(["README.md", of, 1]), json!(["src/main.rs", "main", 1])],
        "{}",
        reply.text
    );
    let target = json!({"target": "acme/widget!5", "files": ["README.md"]});
    let reply = execute(&mut client, "repository.read_files", target);
    assert_eq!(head(&reply), [json!(["README.md", of, 5])], "{}", reply.text);
    let two = json!({"target": "acme/widget!5", "ref": "main", "path": "README.md"});
    refused(&execute(&mut client, "repository.read_files", two), "invalid_params");
    // A change is of what it names alone.
    let items = json!([{"itemType": "issue", "fullPath": "acme/widget", "iid": 3}]);
    let update = execute(&mut client, "resource.update", json!({"items": items, "title": "x"}));
    assert!(refused(&update, "invalid_params").to_string().contains("`title`"), "{}", update.text);
}

#[test]
fn windows_go_on_exactly_where_they_ended() {
    let mut client = Client::sandbox();
    write(&mut client, "long.txt", &numbered(250), "text");
    let mut reply = read_files(
        &mut client,
        json!({"files": [{"path": "long.txt"}, {"path": "README.md", "max_lines": 1}]}),
    );
    let first = rows(&reply);
    assert_eq!(
        (&first[0]["total_lines"], &first[0]["lines_returned"], &first[0]["truncated"], &first[0]["next"]),
        (&json!(250), &json!(100), &json!(true), &json!({"line_start": 101, "line_end": 200}))
    );
    assert_eq!(first[0]["size"], numbered(250).len());
    assert!(first[0]["metadata"]["blob_id"].is_string(), "{}", first[0]);
    let mut whole = String::new();
    for _ in 0..10 {
        let row = rows(&reply).into_iter().find(|row| row["path"] == "long.txt");
        whole.extend(row.iter().filter_map(|row| row["data"].as_str()).map(str::to_owned));
        match reply.structured["page"]["next"].clone() {
            Value::Null => break,
            next => reply = client.call(EXECUTE, next["arguments"].clone()),
        }
    }
    assert_eq!(whole, numbered(250));
    let last = &rows(&reply)[0];
    assert_eq!((&last["truncated"], &last["next"]), (&json!(false), &Value::Null));
    let named = read_files(
        &mut client,
        json!({"files": [{"path": "long.txt", "line_start": 40, "line_end": 42}], "include_metadata": false}),
    );
    let row = &rows(&named)[0];
    assert_eq!((&row["data"], &row["truncated"]), (&json!("line 40\nline 41\nline 42\n"), &json!(false)));
    assert_eq!(row["next"], json!({"line_start": 43, "line_end": 142}), "what follows what was asked for");
    assert!(row["metadata"].is_null());
}

/// The default branch may have another file of that path, or none.
#[test]
fn the_rest_of_a_file_of_a_branch_is_read_from_that_branch() {
    let mut client = Client::sandbox();
    let params = json!({
        "fullPath": "acme/widget", "file_path": "long.txt", "branch": "quiet-gears", "commit_message": "For reading",
        "content": numbered(150),
    });
    succeed(&mut client, "repository_file.create", params);
    let reply = read_files(&mut client, json!({"files": [{"path": "long.txt", "ref": "quiet-gears"}]}));
    let rest = follow(&mut client, &reply.structured["page"]["next"]);
    let row = &rows(&rest)[0];
    assert_eq!((&row["ref"], &row["first_line"]), (&json!("quiet-gears"), &json!(101)), "{}", rest.text);
}

#[test]
fn what_is_no_text_is_told_as_what_it_is() {
    let mut client = Client::sandbox();
    write(&mut client, "empty.txt", "", "text");
    write(&mut client, "assets/large.bin", LFS, "text");
    write(&mut client, "assets/raw.bin", "AAECAwA=", "base64");
    let files = json!([{"path": "empty.txt"}, {"path": "assets/large.bin"}, {"path": "assets/raw.bin"}, {"path": "assets"}]);
    let reply = read_files(&mut client, json!({"files": files}));
    let rows = rows(&reply);
    let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["empty", "lfs_pointer", "binary", "directory"], "{}", reply.text);
    assert_eq!(rows[1]["lfs"], json!({"oid": "sha256:4d7a214614ab", "size": 12345}));
    assert_eq!(rows[2]["size"], 5);
    let listed = client.call(EXECUTE, rows[3]["list"]["arguments"].clone());
    assert!(listed.text.contains("large.bin"), "{}", listed.text);
}

#[test]
fn a_link_and_a_submodule_are_told_by_the_tree() {
    let gitlab = Gitlab::with_project();
    let tree = json!([
        {"id": "a", "name": "latest", "type": "blob", "path": "latest", "mode": "120000"},
        {"id": "5eadbeef", "name": "gears", "type": "commit", "path": "gears", "mode": "160000"},
        {"id": "c", "name": "one-line", "type": "blob", "path": "one-line", "mode": "100644"},
    ]);
    gitlab.json("/repository/tree", &tree);
    gitlab.body("/repository/files/latest/raw", "text/plain", b"docs/v2");
    gitlab.body("/repository/files/one-line/raw", "text/plain", b"docs/v2");
    gitlab.answer(
        "GET",
        "/repository/files/gears/raw",
        answer(404, json!({"message": "404 File Not Found"})),
    );
    let mut client = gitlab.client(&[]);
    let reply = read_files(
        &mut client,
        json!({"files": [{"path": "latest"}, {"path": "gears"}, {"path": "one-line"}]}),
    );
    let rows = rows(&reply);
    assert_eq!(
        (&rows[0]["kind"], &rows[0]["link_target"]),
        (&json!("symlink"), &json!("docs/v2")),
        "{}",
        reply.text
    );
    assert_eq!((&rows[1]["kind"], &rows[1]["commit"]), (&json!("submodule"), &json!("5eadbeef")));
    assert_eq!((&rows[2]["kind"], &rows[2]["data"]), (&json!("text"), &json!("docs/v2\n")));
}

#[test]
fn a_missing_file_comes_with_names_that_are_near() {
    let mut client = Client::sandbox();
    write(&mut client, "tools/gearbox.md", "x\n", "text");
    let files = json!([{"path": "READM.md"}, {"path": "docs/gearbox.md"}, {"path": "README.md"}]);
    let reply = read_files(&mut client, json!({"files": files}));
    let rows = rows(&reply);
    assert_eq!(statuses(&rows), ["error", "error", "ok"]);
    assert_eq!(rows[0]["error"]["kind"], "not_found");
    assert_eq!(rows[0]["error"]["near"][0], "README.md", "{}", rows[0]);
    assert_eq!(rows[1]["error"]["near"][0], "tools/gearbox.md", "{}", rows[1]);
    let fixed = client.call(EXECUTE, rows[0]["error"]["fix"]["arguments"].clone());
    assert!(!fixed.is_error, "{}", fixed.text);
}

#[test]
fn what_is_looked_for_comes_with_its_lines() {
    let mut client = Client::sandbox();
    write(&mut client, "long.txt", &numbered(250), "text");
    let reply = read_files(
        &mut client,
        json!({"files": [{"path": "long.txt"}, {"path": "README.md"}], "grep": "^LINE 1?42$|line 7$", "context": 1}),
    );
    let row = &rows(&reply)[0];
    assert_eq!((&row["matches"], &row["data"]), (&json!(1), &json!("6: line 6\n7: line 7\n8: line 8\n")));
    let reply = read_files(
        &mut client,
        json!({"files": [{"path": "long.txt", "max_lines": 3}], "grep": "(?i)LINE \\d42$", "context": 1}),
    );
    let row = &rows(&reply)[0];
    assert_eq!(
        (&row["matches"], &row["total_lines"], &row["truncated"]),
        (&json!(2), &json!(250), &json!(true)),
        "{row}"
    );
    let next = client.call(EXECUTE, reply.structured["page"]["next"]["arguments"].clone());
    assert!(rows(&next)[0]["data"].as_str().unwrap().contains("242: line 242"), "{}", next.text);
    let wrong = read_files(&mut client, json!({"files": [{"path": "long.txt"}], "grep": "("}));
    refused(&wrong, "invalid_params");
}

#[test]
fn one_too_large_leaves_the_others_whole() {
    let mut client = Client::sandbox_with(&[("GITLAB_MAX_BYTES", "6000")]);
    write(&mut client, "long.txt", &numbered(5_000), "text");
    let files = json!([{"path": "long.txt", "max_lines": 5000}, {"path": "README.md"}]);
    let reply = read_files(&mut client, json!({"files": files}));
    let rows = rows(&reply);
    assert!(reply.structured["data"].to_string().len() < 8_000);
    let shown = rows[0]["last_line"].as_u64().unwrap();
    assert!(shown > 100 && shown < 5_000, "{shown}");
    assert_eq!(rows[0]["next"]["line_start"], shown + 1);
    assert_eq!((&rows[0]["total_lines"], &rows[1]["truncated"]), (&json!(5_000), &json!(false)));
}

/// Far more than an answer holds goes by, and the count is of all of it.
#[test]
fn a_large_file_goes_by() {
    let gitlab = Gitlab::with_project();
    let large = "0123456789abcdef\n".repeat(600_000);
    gitlab.body("/repository/files/large.txt/raw", "text/plain", large.as_bytes());
    let mut client = gitlab.client(&[]);
    let reply = read_files(&mut client, json!({"files": [{"path": "large.txt", "line_start": 599_999}]}));
    let row = &rows(&reply)[0];
    assert_eq!((&row["total_lines"], &row["size"]), (&json!(600_000), &json!(large.len())), "{}", reply.text);
    assert_eq!((&row["lines_returned"], &row["truncated"]), (&json!(2), &json!(false)));
}

#[test]
fn files_of_a_merge_request_are_read_at_its_head() {
    let mut client = Client::sandbox();
    let request = succeed(&mut client, "merge_request.get", json!({"fullPath": "acme/widget", "iid": 5}));
    let branch = request["data"]["source_branch"].as_str().unwrap().to_owned();
    let file = "src/widget/gear.rs";
    let whole = |reply: &Reply| rows(reply)[0]["data"].as_str().unwrap_or_default().to_owned();
    let head = read_files(&mut client, json!({"files": [{"path": file, "ref": "!5"}]}));
    assert!(!head.is_error, "{}", head.text);
    let by_branch = read_files(&mut client, json!({"files": [{"path": file, "ref": branch}]}));
    assert_eq!(whole(&head), whole(&by_branch));
    let main = read_files(&mut client, json!({"files": [{"path": file, "ref": "main"}]}));
    assert_ne!(whole(&head), whole(&main));
    let found = client.call("gitlab_find_action", json!({"query": "files of a merge request at its head"}));
    assert!(found.text.contains("repository.read_files"), "{}", found.text);
}

#[test]
fn a_wrong_window_leaves_the_other_files() {
    let mut client = Client::sandbox();
    let files = json!(["README.md", {"path": "src/main.rs", "line_start": 5, "line_end": 2}]);
    let read =
        execute(&mut client, "repository.read_files", json!({"fullPath": "acme/widget", "files": files}));
    assert!(!read.is_error && read.text.contains("A thing that turns."), "{}", read.text);
    assert!(read.text.contains("`line_end` 2 is before `line_start` 5"), "{}", read.text);
    let wrong = json!([{"path": "src/main.rs", "line_start": 5, "line_end": 2}]);
    let read =
        execute(&mut client, "repository.read_files", json!({"fullPath": "acme/widget", "files": wrong}));
    assert!(read.is_error, "{}", read.text);
}
