//! The cost of the tools in a client's context, and measures of the finder.

use serde_json::json;

use super::{Folder, Server, command, maintain, page};

#[test]
fn the_tools_of_the_default_surface_take_at_most_4_000_bytes() {
    let mut server = Server::sandbox();
    server.method("tools/list", json!({})).ok().at_most("/tools", 2.0).has_bytes(0..=4000);
}

#[test]
fn a_setting_leaves_out_the_parts_of_gitlab_that_are_not_needed() {
    let mut server = Server::with(&[("GITLAB_TOOLSETS", "issues,planning")], &[]);
    server
        .execute("pipeline.list", json!({"fullPath": "acme/widget"}))
        .fails("denied")
        .says("GITLAB_TOOLSETS");
    server
        .execute("issue.get", json!({"fullPath": "acme/widget", "iid": 1}))
        .ok()
        .equals("/data/iid", json!(1));
    server.read("gitlab://tools?domain=pipeline").ok().says_not("`pipeline.list`");
}

#[test]
fn what_more_actions_cost_in_quality_and_speed_is_measured_and_published() {
    page("docs/internals/benchmarks.md")
        .says("GITLAB_MCP_CATALOG_TIMES=10")
        .says_like(r"\| actions \| [^|]*>[2-9],\d{3}<[^|]*\|")
        .says_like(r"\| test \| \d+ \| \d+");
}

#[test]
fn surface_tokens_shows_what_each_surface_costs() {
    command(&["--sandbox", "surface", "--surface", "meta", "--domains", "milestone", "--tokens"], &[])
        .ok()
        .says_like(r"(?m)^bytes in all +\d+ +\d+$")
        .says_like(r"(?m)^tokens, about +\d+ +\d+$")
        .says_like(r"(?m)^gitlab_merge_requests +[1-9]\d* +0$");
    command(&["surface", "--surface", "banana", "--tokens"], &[])
        .exits(2)
        .says("dynamic, meta, individual, toolset");
}

/// Nothing is hard-coded: tools are listed by the server, actions come from GitLab's own interface files.
#[test]
fn nothing_is_hard_coded_tools_are_listed_by_the_server_actions_come_from_gitlabs_own() {
    let mut server = Server::sandbox();
    server
        .method("tools/list", json!({}))
        .ok()
        .equals("/tools/*/inputSchema/type", json!(["object", "object"]));
    page("catalog/SOURCE.toml").says("sha256");
}

#[test]
fn every_tool_has_a_name_a_description_and_an_input_schema() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .method("tools/list", json!({}))
        .ok()
        .present("/tools/*/name")
        .matches("/tools/*/description", ".")
        .matches("/tools/*/inputSchema/type", "^object$");
}

#[test]
fn one_server_has_all_of_gitlab_rest_and_graphql() {
    let mut server = Server::sandbox();
    server.find("GET /projects/:id/issues").ok().equals("/results/0/action", "issue.list");
    server.find("mutation createNote").ok().contains("/results/0/operations", "mutation createNote");
    server
        .execute("api.graphql", json!({"document": "{ currentUser { username } }"}))
        .ok()
        .equals("/data/currentUser/username", "sandbox");
}

#[test]
fn catalog_gen_eval_measures_the_finder_on_written_cases() {
    let folder =
        Folder::with(&[("cases.tsv", "list issues\tissue.list\nbranches of a project\tbranch.list\n")]);
    maintain(&["eval", "--cases", &folder.path("cases.tsv"), "--json"])
        .ok()
        .equals("/sets/0/requests", json!(2))
        .equals("/sets/0/name", "cases");
}

#[test]
fn it_measures_how_often_the_right_action_is_first_in_three_in_five_and_in_ten() {
    let folder = Folder::with(&[("cases.tsv", "list issues\tissue.list\nlist issues\tbranch.delete\n")]);
    maintain(&["eval", "--cases", &folder.path("cases.tsv"), "--json"])
        .ok()
        .equals("/sets/0/first", json!(0.5))
        .equals("/sets/0/in_ten", json!(0.5))
        .equals("/sets/0/reciprocal_rank", json!(0.5));
}

#[test]
fn it_measures_latency() {
    let folder = Folder::with(&[("cases.tsv", "list issues\tissue.list\n")]);
    maintain(&["eval", "--cases", &folder.path("cases.tsv")])
        .ok()
        .says_like(r"p50 +[1-9]\d* µs +p99 +[1-9]\d* µs");
}

#[test]
fn it_measures_the_size_of_answers() {
    let folder = Folder::with(&[("cases.tsv", "list issues\tissue.list\n")]);
    maintain(&["eval", "--cases", &folder.path("cases.tsv")])
        .ok()
        .says_like(r"half at most [1-9]\d+ bytes, none over [1-9]\d+");
}

#[test]
fn the_size_of_each_surface_is_documented_beside_what_it_is_for() {
    page("docs/concepts/surfaces.md")
        .says_like(r"(?m)^\| `dynamic` \| 2 \| [\d,]+ \| [\d,]+ \|$")
        .says_like(r"(?m)^\| `meta` \(`opaque`\) \| \d+ \| [\d,]+ \| [\d,]+ \|$");
}

#[test]
fn the_weights_of_the_ranking_are_no_settings() {
    command(&["help", "settings"], &[])
        .ok()
        .says("--tool-surface")
        .says_not("weight")
        .says_not("threshold")
        .says_not("boost");
    page("docs/reference/configuration.md").says_not("weight").says_not("threshold");
}
