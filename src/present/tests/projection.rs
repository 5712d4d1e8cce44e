//! The rules of the compact view, each with a sample that comes out otherwise without it.

use super::*;
use crate::catalog::{Catalog, PRESENTATION};

/// Keys that no answer needs, and those among them that are not even named as left out.
const NOISE: [(&str, bool); 36] = [
    ("_links", false),
    ("avatar_url", false),
    ("avatar_path", false),
    ("links", false),
    ("has_tasks", false),
    ("task_status", false),
    ("container_expiration_policy", true),
    ("blocking_discussions_resolved", false),
    ("squash_on_merge", true),
    ("discussion_locked", true),
    ("moved_to_id", true),
    ("service_desk_reply_to", true),
    ("imported", false),
    ("imported_from", false),
    ("is_custom_color", false),
    ("text_color", false),
    ("commit_path", false),
    ("noteable_id", false),
    ("project_id", false),
    ("source_project_id", false),
    ("target_project_id", false),
    ("detailed_status", false),
    ("before_sha", false),
    ("first_contribution", true),
    ("prepared_at", false),
    ("diff_refs", false),
    ("allow_collaboration", true),
    ("allow_maintainer_to_push", true),
    ("should_remove_source_branch", true),
    ("force_remove_source_branch", true),
    ("awardable_type", false),
    ("awardable_id", false),
    ("position_type", false),
    ("base_sha", false),
    ("start_sha", false),
    ("head_sha", false),
];

#[test]
fn keys_that_no_answer_needs_are_left_out() {
    for (key, is_named) in NOISE {
        let shown = compact(json!({"name": "gear", key: {"self": "x"}}));
        assert_eq!(shown.data, json!({"name": "gear"}), "{key}");
        assert_eq!(shown.dropped.contains(&key.to_owned()), is_named, "{key}");
        let asked = [key.to_owned()];
        let value = json!({"name": "gear", key: {"self": "x"}});
        assert_eq!(
            present(GivenContent::Json(value), &options(&asked)).data,
            json!({key: {"self": "x"}}),
            "{key}"
        );
    }
    assert_eq!(
        NOISE.iter().filter(|(_, is_named)| *is_named).map(|(key, _)| *key).collect::<Vec<_>>(),
        PRESENTATION.noise,
        "each rule has a sample"
    );
    assert_eq!(
        NOISE.iter().filter(|(_, is_named)| !is_named).map(|(key, _)| *key).collect::<Vec<_>>(),
        PRESENTATION.silent_noise,
        "each rule has a sample"
    );
}

#[test]
fn a_key_is_left_out_next_to_a_better_one() {
    let rules = [
        ("name_with_namespace", "path_with_namespace"),
        ("full_name", "full_path"),
        ("last_activity_on", "last_activity_at"),
        ("assignee", "assignees"),
        ("reviewer", "reviewers"),
        ("pipeline", "head_pipeline"),
        ("work_in_progress", "draft"),
        ("merge_status", "detailed_merge_status"),
        ("merged_by", "merge_user"),
        ("type", "issue_type"),
        ("user", "head_pipeline"),
        ("access_level", "access_level_description"),
    ];
    for (less, more) in rules {
        assert_eq!(compact(json!({less: "a", more: "b"})).data, json!({more: "b"}), "{less}");
        assert_eq!(compact(json!({less: "a", more: null})).data, json!({less: "a"}), "{less} alone");
    }
    assert_eq!(PRESENTATION.said_better, rules, "each rule has a sample");
    // No status says that a merge is set to happen by itself.
    let waits = |is_set: bool| json!({"merge_when_pipeline_succeeds": is_set, "detailed_merge_status": "ci_still_running"});
    assert_eq!(compact(waits(true)).data, waits(true));
    assert_eq!(compact(waits(false)).data, json!({"detailed_merge_status": "ci_still_running"}));
}

#[test]
fn a_key_next_to_a_better_one_is_not_named_as_left_out() {
    let shown = compact(
        json!({"name_with_namespace": "A / B", "path_with_namespace": "a/b", "squash_on_merge": true}),
    );
    assert_eq!(shown.dropped, ["squash_on_merge"]);
}

#[test]
fn a_position_is_its_file_and_line() {
    let position = json!({
        "base_sha": "a1", "start_sha": "b2", "head_sha": "c3", "position_type": "text", "old_path": "gear.rs",
        "new_path": "gear.rs", "old_line": null, "new_line": 7, "line_range": null,
    });
    let shown = compact(json!({"id": 1, "body": "Oil?", "position": position}));
    assert_eq!(shown.data["position"], json!({"new_path": "gear.rs", "new_line": 7}));
    assert_eq!(shown.dropped, [""; 0]);
}

#[test]
fn the_page_of_a_part_is_shown_where_the_action_is_for_it() {
    let bridge = json!({"id": 8, "downstream_pipeline": {"id": 5, "status": "failed", "web_url": "https://x/other/-/pipelines/5"}});
    let shows = ["downstream_pipeline".to_owned()];
    let kept = Options { kept: Kept { shows: &shows, ..Kept::default() }, ..options(&[]) };
    let shown = present(GivenContent::Json(bridge), &kept);
    assert_eq!(shown.data["downstream_pipeline"]["web_url"], "https://x/other/-/pipelines/5");
}

#[test]
fn a_value_that_another_field_has_is_left_out() {
    let rules = [
        ("short_id", "ab12", "id", "ab12cd34"),
        ("message", "Turn left\n", "title", "Turn left"),
        ("committer_name", "Ada", "author_name", "Ada"),
        ("committer_email", "ada@example.org", "author_email", "ada@example.org"),
        ("authored_date", "2026-02-01T09:00:00Z", "committed_date", "2026-02-01T09:00:00Z"),
        ("created_at", "2026-02-01T09:00:00Z", "committed_date", "2026-02-01T09:00:00Z"),
        ("start_commit_sha", "ab12", "base_commit_sha", "ab12"),
        ("old_path", "gear.rs", "new_path", "gear.rs"),
        ("a_mode", "100644", "b_mode", "100644"),
        ("file_name", "gear.rs", "file_path", "src/gear.rs"),
        ("path", "widget", "path_with_namespace", "acme/widget"),
        ("path", "tools", "full_path", "acme/tools"),
        ("human_import_status_name", "started", "import_status", "started"),
        ("rendered_image_url", "https://x/a.svg", "image_url", "https://x/a.svg"),
    ];
    for (less, value, more, longer) in rules {
        assert_eq!(compact(json!({less: value, more: longer})).data, json!({more: longer}), "{less}");
        let both = json!({less: "other", more: longer});
        assert_eq!(compact(both.clone()).data, both, "{less} of its own");
    }
    let names = rules.map(|(less, _, more, _)| (less, more));
    assert_eq!(
        PRESENTATION.repeated.iter().map(|(less, more, _)| (*less, *more)).collect::<Vec<_>>(),
        names,
        "each has a sample"
    );
}

#[test]
fn what_repeats_another_field_by_its_name_is_left_out() {
    let value = json!({
        "author": "ada", "author_id": 3, "text": "a", "text_html": "<p>a</p>", "web_url": "https://x/1", "api_url": "https://x/2",
        "moved_id": 4, "note_html": "<p>b</p>",
    });
    let shown = compact(value);
    let kept = json!({
        "author": "ada", "text": "a", "web_url": "https://x/1", "moved_id": 4, "note_html": "<p>b</p>",
    });
    assert_eq!(shown.data, kept);
    assert_eq!(shown.dropped, ["api_url"]);
}

#[test]
fn a_second_number_is_left_out_where_the_page_has_the_first() {
    let of = |page: u64| json!({"iid": 7, "id": 9_001, "title": "Oil", "web_url": format!("https://x/-/issues/{page}")});
    assert_eq!(compact(of(7)).data["id"], Value::Null);
    assert_eq!(compact(of(9_001)).data["id"], 9_001);
}

#[test]
fn flags_that_are_off_are_left_out_unless_that_is_news_or_was_set() {
    for flag in ["draft", "confidential", "locked", "archived", "system", "individual_note", "forked"] {
        assert_eq!(compact(json!({"name": "gear", flag: false})).data, json!({"name": "gear"}), "{flag}");
        assert_eq!(compact(json!({"name": "gear", flag: true})).data[flag], true, "{flag}");
    }
    let told = [
        "active",
        "issues_enabled",
        "available",
        "online",
        "visible",
        "approved",
        "valid",
        "email_verified",
        "success",
        "resolved",
        "has_finished",
        "user_can_merge",
        "can_be_merged",
        "mergeable",
        "canPush",
        "allow_force_push",
        "masked",
        "protected",
        "allow_failure",
        "merged",
    ];
    for flag in told {
        assert_eq!(compact(json!({"name": "gear", flag: false})).data[flag], false, "{flag}");
    }
    assert_eq!(PRESENTATION.told_off.len(), told.len(), "each rule has a sample");
    let beside = ["scopes", "fingerprint"];
    for beside in beside {
        let key =
            compact(json!({"name": "ci", "expires_at": null, "last_used_at": null, beside: ["x"]})).data;
        assert_eq!(key.get("expires_at"), Some(&Value::Null), "{beside}: {key}");
        assert_eq!(key.get("last_used_at"), None, "{key}");
    }
    assert_eq!(compact(json!({"username": "alice", "expires_at": null})).data, json!({"username": "alice"}));
    let rules: Vec<(&str, &str)> = beside.map(|beside| ("expires_at", beside)).to_vec();
    assert_eq!(PRESENTATION.told_null, rules, "each rule has a sample");
    let given = ["archived".to_owned()];
    let set = Options { kept: Kept { given: &given, ..Kept::default() }, ..options(&[]) };
    let value = json!({"name": "gear", "archived": false, "locked": false});
    assert_eq!(present(GivenContent::Json(value), &set).data, json!({"name": "gear", "archived": false}));
}

#[test]
fn defaults_are_left_out_unless_they_were_set() {
    let rules = [("severity", "UNKNOWN"), ("issue_type", "issue"), ("variable_type", "env_var")];
    for (name, value) in rules {
        assert_eq!(compact(json!({"name": "gear", name: value})).data, json!({"name": "gear"}), "{name}");
        assert_eq!(compact(json!({"name": "gear", name: "other"})).data[name], "other", "{name}");
    }
    assert_eq!(PRESENTATION.defaults, rules, "each rule has a sample");
    let given = ["issue_type".to_owned()];
    let set = Options { kept: Kept { given: &given, ..Kept::default() }, ..options(&[]) };
    let shown = present(GivenContent::Json(json!({"name": "gear", "issue_type": "issue"})), &set);
    assert_eq!(shown.data["issue_type"], "issue");
}

#[test]
fn counts_of_nothing_are_left_out_next_to_other_things() {
    for count in ["upvotes", "downvotes", "user_notes_count", "forks_count"] {
        assert_eq!(compact(json!({"name": "gear", count: 0})).data, json!({"name": "gear"}), "{count}");
        assert_eq!(compact(json!({"open_count": 2, count: 0})).data[count], 0, "{count} among counts");
    }
    for counts in ["time_stats", "task_completion_status"] {
        let value = json!({"name": "gear", counts: {"a": 0, "b": null}});
        assert_eq!(compact(value).data, json!({"name": "gear"}), "{counts}");
    }
    assert_eq!(compact(json!({"name": "gear", "weight": 0})).data["weight"], 0, "0 is a weight");
}

#[test]
fn what_is_mentioned_is_reduced_to_what_it_is_mentioned_for() {
    let commit = json!({"short_id": "ab12", "title": "Turn", "author_name": "Ada", "message": "Turn\n", "parent_ids": ["c"]});
    let job =
        json!({"id": 4, "name": "unit", "status": "failed", "web_url": "https://x/4", "user": {"id": 1}});
    let issue = json!({"id": 90, "iid": 4, "title": "Oil", "web_url": "https://x/-/issues/4"});
    let iteration = json!({"id": 9, "iid": 4, "start_date": "2026-02-01", "due_date": "2026-02-14"});
    let untitled = json!({"id": 9, "iid": 4, "state": 2, "web_url": "https://x/-/iterations/4"});
    let shown = compact(json!({
        "commit": commit, "job": job, "issue": issue, "iteration": iteration, "next": untitled,
    }));
    let expected = json!({
        "commit": {"short_id": "ab12", "title": "Turn", "author_name": "Ada"},
        "job": {"id": 4, "name": "unit", "status": "failed"},
        "issue": "#4 Oil", "iteration": "2026-02-01 to 2026-02-14", "next": "iteration 4",
    });
    assert_eq!(shown.data, expected);
}

/// An answer of each action that is for a certain field, with the field as the compact view must show it.
fn samples_of_shows() -> Vec<(&'static str, Value, Value)> {
    let strategy = || json!([{"id": 1, "name": "gradual", "parameters": {"percentage": "5"}}]);
    let flag = || json!({"name": "brakes", "strategies": strategy()});
    let rules = json!([{"id": 3, "name": "Two eyes", "approvals_required": 1, "approved": false}]);
    let assets = json!({"links": [{"id": 2, "name": "gear.zip", "url": "https://x/gear.zip"}]});
    let release = || json!({"tag_name": "v1", "assets": assets});
    let bridge =
        json!({"id": 8, "name": "deploy", "downstream_pipeline": {"id": 5, "name": "down", "sha": "ab"}});
    let link = json!({"iid": 4, "title": "Oil", "web_url": "https://x/-/issues/4", "issue_link_id": 6, "link_type": "blocks"});
    let downstream = json!({"downstream_pipeline": {"id": 5, "name": "down", "sha": "ab"}});
    vec![
        ("feature_flag.get", flag(), json!({"strategies": strategy()})),
        ("merge_request.get_approval_state", json!({"id": 1, "rules": rules}), json!({"rules": rules})),
        ("release.get", release(), json!({"assets": assets})),
        ("pipeline.list_bridges", json!([bridge]), downstream),
        ("issue_link.list", json!([link]), json!({"issue_link_id": 6, "link_type": "blocks"})),
    ]
}

#[test]
fn fields_that_an_action_is_for_are_shown_whole() {
    let catalog = Catalog::embedded().unwrap();
    for (id, answer, fields) in samples_of_shows() {
        let action = catalog.get(id).unwrap().unwrap();
        let kept = Kept { shows: &action.shows, ..Kept::default() };
        let shown = present(GivenContent::Json(answer), &Options { kept, ..options(&[]) });
        let row = if shown.data.is_array() { &shown.data[0] } else { &shown.data };
        for (name, value) in fields.as_object().unwrap() {
            assert!(action.shows.contains(name), "{id} {name}");
            assert_eq!(&row[name], value, "{id} {name}");
        }
    }
}
