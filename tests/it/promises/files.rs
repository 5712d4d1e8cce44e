//! Reading files of a repository, and telling GitLab's copy from the local one.

use serde_json::json;

use super::Server;

#[test]
fn a_file_that_the_working_copy_has_too_is_shown_with_a_note_that_this_is_gitlabs_copy() {
    let mut server = Server::in_working_copy(&[]);
    server
        .execute(
            "repository_file.get_raw",
            json!({"fullPath": "acme/widget", "file_path": "README.md", "ref": "main"}),
        )
        .ok()
        .says_like("^Note: this is GitLab's copy at main");
    server
        .execute(
            "repository_file.get_raw",
            json!({"fullPath": "acme/widget", "file_path": "src/main.rs", "ref": "main"}),
        )
        .ok()
        .says_not("GitLab's copy");
}

#[test]
fn the_note_is_there_when_the_default_branch_is_read_without_a_ref() {
    let mut server = Server::in_working_copy(&[]);
    server.execute("repository_file.get_raw", json!({"file_path": "README.md"})).ok().says("GitLab's copy");
}

#[test]
fn the_note_is_there_in_repository_read_files_which_finds_mark_as_remote() {
    let mut server = Server::in_working_copy(&[]);
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "ref": "main"}]}),
        )
        .ok()
        .says("GitLab's copy");
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md"}]}),
        )
        .ok()
        .says("GitLab's copy");
    server.find("repository.read_files").ok().equals("/results/0/remote", true);
}

#[test]
fn a_find_for_the_contents_of_a_file_says_that_the_result_is_gitlabs_copy_not_a_local_file() {
    let mut server = Server::sandbox();
    server
        .find("read the contents of main.py")
        .ok()
        .equals("/results/0/remote", true)
        .matches("/notes", "(?i)local|working copy|this machine");
}

#[test]
fn a_request_about_a_local_file_gets_no_confident_result_and_a_note_that_this_server_reads_none() {
    let mut server = Server::sandbox();
    server
        .find("read the local file main.py on my disk")
        .ok()
        .matches("/confidence", "^(low|none)$")
        .matches("/notes", "(?i)local|working copy|this machine");
    server
        .find("edit utils.py in my working directory")
        .ok()
        .matches("/confidence", "^(low|none)$")
        .matches("/notes", "(?i)local|working copy|this machine");
}

#[test]
fn no_tool_of_this_server_is_named_like_a_clients_tools_for_local_files() {
    let mut server = Server::sandbox();
    server
        .method("tools/list", json!({}))
        .ok()
        .equals("/tools/*/name", json!(["gitlab_find_action", "gitlab_execute_action"]));
    server.find("list_dir").ok().equals("/confidence", "none");
}

#[test]
fn the_name_read_file_runs_no_remote_read_without_saying_so() {
    let mut server = Server::sandbox();
    server
        .execute("read_file", json!({"fullPath": "acme/widget", "file_path": "README.md"}))
        .ok()
        .matches("/notes", "GitLab|`repository_file")
        .says("A thing that turns.");
}

#[test]
fn get_repository_file_with_project_id_file_path_and_ref_answers_decoded_text() {
    let mut server = Server::sandbox();
    server
        .execute(
            "get_repository_file",
            json!({"project_id": "acme/widget", "file_path": "README.md", "ref": "main"}),
        )
        .ok()
        .contains("/data/content", "A thing that turns.")
        .equals("/data/encoding", "text");
}

#[test]
fn get_repository_file_without_a_ref_reads_the_default_branch() {
    let mut server = Server::sandbox();
    server
        .execute("get_repository_file", json!({"project_id": "acme/widget", "file_path": "README.md"}))
        .ok()
        .says("A thing that turns.");
}

#[test]
fn a_request_to_edit_local_code_is_not_answered_with_high_confidence() {
    let mut server = Server::sandbox();
    server
        .find("Refactor the utils.py file in my current project.")
        .ok()
        .matches("/confidence", "^(low|none)$")
        .matches("/notes", "(?i)local|working copy|this machine");
}

#[test]
fn read_repository_files_runs_as_an_action_and_as_a_tool_is_answered_with_the_call_that_runs() {
    let mut server = Server::sandbox();
    server
        .execute(
            "read_repository_files",
            json!({"project_path": "acme/widget", "files": [{"path": "README.md"}]}),
        )
        .ok()
        .equals("/action", "repository.read_files")
        .equals("/data/0/status", "ok");
    let shown = server
        .tool(
            "read_repository_files",
            json!({"project_path": "acme/widget", "files": [{"path": "README.md"}]}),
        )
        .code(-32602)
        .equals("/data/call/tool", "gitlab_execute_action");
    server.follow(&shown, "/data/call").ok().equals("/data/0/status", "ok");
}

#[test]
fn project_path_is_understood() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"project_path": "acme/widget", "files": [{"path": "README.md"}]}),
        )
        .ok()
        .equals("/data/0/status", "ok")
        .contains("/notes", "understood `project_path` as `fullPath`");
}

#[test]
fn each_file_has_a_path() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "src/main.rs"}]}),
        )
        .ok()
        .equals("/data/0/path", "src/main.rs")
        .contains("/data/0/data", "fn main()");
}

#[test]
fn each_file_has_a_ref_of_its_own() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "src/widget/gear.rs", "ref": "main"}, {"path": "src/widget/gear.rs", "ref": "quiet-gears"}, {"path": "README.md", "ref": "no-such-branch"}]})).ok().equals("/data/*/status", json!(["ok", "ok", "error"])).lacks("/data/0/data", "oil: true").contains("/data/1/data", "oil: true");
}

#[test]
fn each_file_names_its_ref_the_default_branch_too() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md"}, {"path": "README.md", "ref": "quiet-gears"}]})).ok().equals("/data/*/ref", json!(["main", "quiet-gears"])).says(r#"ref="main""#);
}

#[test]
fn line_start_and_line_end_are_exact() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "line_start": 3, "line_end": 4}]})).ok().equals("/data/0/data", "A thing that turns.\n\n").equals("/data/0/lines_returned", json!(2));
}

#[test]
fn max_lines_bounds_the_window_and_is_at_least_1() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "line_start": 3, "max_lines": "2"}]})).ok().equals("/data/0/first_line", json!(3)).equals("/data/0/last_line", json!(4));
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 0}]}),
        )
        .fails("invalid_params")
        .says("max_lines")
        .says("from 1");
}

#[test]
fn windows_that_cannot_be_are_refused_one_past_the_end_shows_nothing_and_the_length() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "line_start": 4, "line_end": 2}]})).fails("invalid_params").says("`line_end`");
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "line_start": 0}]}),
        )
        .fails("invalid_params")
        .says("line_start");
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "line_start": 50}]}),
        )
        .ok()
        .equals("/data/0/lines_returned", json!(0))
        .says("of 5 lines");
}

/// Differs: docs/internals/differences.md#include_metadata-is-about-ids
#[test]
fn include_metadata_leaves_out_ids_of_blob_and_commits_the_counts_stay() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md"}]}),
        )
        .ok()
        .present("/data/0/metadata/blob_id");
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md"}], "include_metadata": false}),
        )
        .ok()
        .absent("/data/0/metadata")
        .equals("/data/0/total_lines", json!(5));
}

#[test]
fn each_file_has_its_number_of_lines() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 1}]}),
        )
        .ok()
        .equals("/data/0/total_lines", json!(5));
}

#[test]
fn each_file_has_its_first_and_last_returned_line_and_their_number() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "line_start": 2, "line_end": 4}]})).ok().equals("/data/0/first_line", json!(2)).equals("/data/0/last_line", json!(4)).equals("/data/0/lines_returned", json!(3));
}

#[test]
fn each_file_says_whether_it_is_truncated() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 2}, {"path": "README.md"}]})).ok().equals("/data/*/truncated", json!([true, false]));
}

#[test]
fn each_file_has_its_size_in_bytes() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 1}, {"path": "assets/logo.png"}]})).ok().equals("/data/*/size", json!([56, 68]));
}

#[test]
fn in_text_each_file_is_an_xml_element_with_its_path_and_ref() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "ref": "main"}]}),
        )
        .ok()
        .says(r#"<file path="README.md" ref="main" kind="text" status="ok">"#)
        .says("</file>");
}

#[test]
fn a_truncated_file_names_its_next_lines_and_one_call_continues_all_of_them() {
    let mut server = Server::sandbox();
    let shown = server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 2}, {"path": "src/main.rs", "max_lines": 3}]})).ok().says("Next: lines 3-4.").equals("/data/1/next/line_start", json!(4));
    server
        .follow(&shown, "/page/next")
        .ok()
        .equals("/data/*/first_line", json!([3, 4]))
        .equals("/data/*/path", json!(["README.md", "src/main.rs"]));
}

#[test]
fn a_truncated_file_says_how_to_read_the_lines_around_a_place() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 2}]}),
        )
        .ok()
        .says("grep");
}

/// Differs: docs/internals/differences.md#the-total-instead-of-the-rest
#[test]
fn a_truncated_file_says_how_many_lines_it_has_in_all() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 2}]}),
        )
        .ok()
        .says("lines 1-2 of 5");
}

#[test]
fn several_files_come_in_one_call_1_to_20() {
    let mut server = Server::sandbox();
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "README.md"}, {"path": "src/main.rs"}, {"path": "docs/CHANGELOG.md"}]})).ok().equals("/data/*/status", json!(["ok", "ok", "ok"]));
    server
        .execute("repository.read_files", json!({"fullPath": "acme/widget", "files": []}))
        .fails("invalid_params")
        .says("1 to 20");
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "1"}, {"path": "2"}, {"path": "3"}, {"path": "4"}, {"path": "5"}, {"path": "6"}, {"path": "7"}, {"path": "8"}, {"path": "9"}, {"path": "10"}, {"path": "11"}, {"path": "12"}, {"path": "13"}, {"path": "14"}, {"path": "15"}, {"path": "16"}, {"path": "17"}, {"path": "18"}, {"path": "19"}, {"path": "20"}, {"path": "21"}]})).fails("invalid_params").says("21");
}

#[test]
fn a_file_that_is_not_there_fails_alone() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "CHANGELOG.md"}, {"path": "README.md"}]}),
        )
        .ok()
        .equals("/data/*/status", json!(["error", "ok"]))
        .contains("/data/0/error/near", "docs/CHANGELOG.md");
}

/// A missing file or ref is repaired: the near name keeps its window, an unknown ref leads to the branches.
#[test]
fn a_missing_file_or_ref_is_repaired_the_near_name_keeps_its_window_an_unknown_ref_leads() {
    let mut server = Server::sandbox();
    let shown = server.execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "READM.md", "line_start": 3, "line_end": 3}]})).ok();
    server.follow(&shown, "/data/0/error/fix").ok().says("A thing that turns.").says_not("# Widget");
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "ref": "no-such-branch"}]}),
        )
        .ok()
        .contains("/data/0/error", "no-such-branch")
        .equals("/data/0/error/fix/arguments/action", "branch.list");
}

#[test]
fn files_are_answered_as_text_with_a_window_never_as_base64_of_the_whole() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "README.md", "max_lines": 1}]}),
        )
        .ok()
        .equals("/data/0/data", "# Widget\n")
        .says_not("IyBXaWRnZXQ");
}

#[test]
fn a_binary_file_is_named_as_one_with_its_size_and_the_call_that_downloads_it() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "assets/logo.png"}]}),
        )
        .ok()
        .equals("/data/0/kind", "binary")
        .equals("/data/0/size", json!(68))
        .absent("/data/0/data")
        .equals("/data/0/whole/arguments/action", "repository_file.get_raw");
}

#[test]
fn a_directory_comes_with_the_call_that_lists_it_an_empty_file_is_named_as_empty() {
    let mut server = Server::sandbox();
    let shown = server
        .execute("repository.read_files", json!({"fullPath": "acme/widget", "files": [{"path": "docs"}]}))
        .ok()
        .equals("/data/0/kind", "directory");
    server
        .follow(&shown, "/data/0/list")
        .ok()
        .equals("/action", "repository.list_tree")
        .contains("/data/*/name", "CHANGELOG.md");
}

#[test]
fn beside_the_composite_reader_there_are_the_plain_actions_of_gitlabs_api() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository_file.get",
            json!({"fullPath": "acme/widget", "file_path": "README.md", "ref": "main"}),
        )
        .ok()
        .equals("/data/size", json!(56));
    server
        .execute("repository_file.get_raw", json!({"fullPath": "acme/widget", "file_path": "README.md"}))
        .ok()
        .says("A thing that turns.");
}

#[test]
fn the_text_of_several_files_keeps_within_gitlab_max_bytes() {
    let mut server = Server::with(&[("GITLAB_MAX_BYTES", "4000")], &[]);
    server.execute("repository.read_files", json!({"fullPath": "acme/widget", "include_metadata": false, "files": [{"path": "src/widget/gear.rs", "ref": "main"}, {"path": "docs/CHANGELOG.md", "ref": "main"}, {"path": "src/widget/mod.rs", "ref": "main"}, {"path": "src/main.rs", "ref": "main"}, {"path": "README.md", "ref": "main"}, {"path": ".gitlab-ci.yml", "ref": "main"}, {"path": "src/widget/gear.rs", "ref": "quiet-gears"}, {"path": "docs/CHANGELOG.md", "ref": "quiet-gears"}, {"path": "src/widget/mod.rs", "ref": "quiet-gears"}, {"path": "src/main.rs", "ref": "quiet-gears"}, {"path": "README.md", "ref": "quiet-gears"}, {"path": ".gitlab-ci.yml", "ref": "quiet-gears"}]})).ok().has_bytes(0..=4000).says("pub struct Gear");
}
