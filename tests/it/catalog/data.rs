//! The catalog as data: ids, words, parameters, and that every action can be called as it says.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::call::{Body, Call, LookupCache, Part, check};
use gitlab_mcp::catalog::{
    Action, ArrayForm, Audience, Base, Catalog, GraphqlKind, Method, Names, Operation, Param, Place, Risk,
    Scope, Words, example, input_schema, pieces, signature,
};
use serde_json::{Map, Value, json};

use crate::support::calls::{build_call, context};

pub fn actions() -> Vec<Action> {
    Catalog::embedded().unwrap().actions().collect::<Result<_, _>>().unwrap()
}

pub fn action(id: &str) -> Action {
    Catalog::embedded().unwrap().get(id).unwrap().unwrap_or_else(|| panic!("there is no {id}"))
}

fn words() -> Words {
    Catalog::embedded().unwrap().words().unwrap().clone()
}

/// The call that these parameters make, every look-up answered.
pub fn call(action: &Action, params: Map<String, Value>) -> Call {
    let built = build_call(action, params, 4711).unwrap_or_else(|invalid| panic!("{invalid}"));
    built.unwrap_or_else(|| panic!("{} is a composite action", action.id))
}

fn params(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The whole request as text, to compare.
fn written(id: &str, given: Value) -> String {
    let call = call(&action(id), params(given));
    let query: Vec<String> = call.query().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let body = match call.body() {
        Body::Empty => String::new(),
        Body::Json(body) => format!(" {body}"),
        Body::Multipart(parts) => format!(" {parts:?}"),
        Body::Raw(bytes) => format!(" {} bytes", bytes.len()),
        Body::Local(path) => format!(" {path}"),
    };
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{} {}{query}{body}", call.method().name(), call.path())
}

#[test]
fn ids_are_sorted_unique_and_well_formed() {
    let ids: Vec<&str> = Catalog::embedded().unwrap().ids().collect();
    let sorted: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids, sorted.into_iter().collect::<Vec<_>>());
    let form = regex::Regex::new("^[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*$").unwrap();
    let bad: Vec<&&str> = ids.iter().filter(|id| !form.is_match(id)).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn the_ids_are_the_promised_ones() {
    let ids: Vec<&str> = Catalog::embedded().unwrap().ids().collect();
    insta::assert_snapshot!("ids", ids.join("\n"));
}

#[test]
fn what_destroys_is_the_list_that_was_read() {
    let ids: Vec<String> = actions()
        .into_iter()
        .filter(|action| action.risk == Risk::Destructive)
        .map(|action| action.id)
        .collect();
    insta::assert_snapshot!("destructive", ids.join("\n"));
}

#[test]
fn every_operation_is_in_exactly_one_action() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut rest = 0;
    for action in actions() {
        for operation in &action.operations {
            rest += usize::from(operation.graphql.is_none() && operation.any.is_none());
            let twice = seen.insert(operation.to_string(), action.id.clone());
            assert_eq!(twice, None, "{operation} is also in {}", action.id);
        }
    }
    // GitLab's files have 1,864 operations, 713 mutations and 176 queries; the others are those of `catalog/kept`.
    let kept = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/kept/openapi.json"));
    let kept: Value = serde_json::from_str(kept).unwrap();
    let kept = kept["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len());
    assert_eq!(rest, 1_864 + kept.sum::<usize>());
    let roots = |kind: &str| seen.keys().filter(|key| key.starts_with(kind) && !key.contains('.')).count();
    assert_eq!((roots("mutation "), roots("query ")), (713 + 7, 176 + 1));
}

#[test]
fn a_twin_stands_behind_an_action_that_is_none() {
    let twins: Vec<Action> = actions().into_iter().filter(|action| action.twin.is_some()).collect();
    assert!(twins.len() > 100, "{} twins", twins.len());
    for twin in twins {
        let stands = action(twin.twin.as_deref().unwrap());
        assert!(twin.operations.iter().all(|operation| operation.graphql.is_some()), "{}", twin.id);
        assert_eq!(stands.twin, None, "{} stands for {}", stands.id, twin.id);
    }
}

#[test]
fn a_graphql_action_sends_one_document_with_what_was_given() {
    let given = json!({"fullPath": "acme/widget", "after": "c1"});
    let written = written("branch_rule.list", given);
    let (document, _) = written.split_once("\\n").unwrap();
    assert_eq!(
        document,
        "POST /api/graphql {\"query\":\"query($fullPath:ID!,$after:String!,$first:Int!)\
         {project(fullPath:$fullPath){branchRules(after:$after,first:$first)\
         {nodes{...BranchRule}edges{cursor}pageInfo{endCursor hasNextPage}}}}"
    );
    assert!(
        written.ends_with("\"variables\":{\"fullPath\":\"acme/widget\",\"after\":\"c1\",\"first\":20}}"),
        "{written}"
    );
}

#[test]
fn graphql_takes_plain_numbers_for_ids_and_iids() {
    let update = written("work_item.update", json!({"id": 7, "title": "New"}));
    assert!(
        update.ends_with("\"variables\":{\"input\":{\"id\":\"gid://gitlab/WorkItem/7\",\"title\":\"New\"}}}"),
        "{update}"
    );
    let read = written("merge_request.list_assignees", json!({"fullPath": "acme/widget", "iid": 7}));
    assert!(read.contains("\"iid\":\"7\""), "{read}");
    let global = written("timelog.delete", json!({"id": "gid://gitlab/Timelog/3"}));
    assert!(global.contains("gid://gitlab/Timelog/3"), "{global}");
}

/// GitLab describes the scalar `GlobalID` with a user's id as its example.
#[test]
fn a_global_id_of_any_type_is_not_taken_for_a_users() {
    for (id, param, field) in [
        ("work_item_lifecycle.create", "statuses", "id"),
        ("personal_access_token.create_granular", "granularScopes", "resourceIds"),
    ] {
        let action = action(id);
        let field = action.param(param).unwrap().fields.iter().find(|known| known.name == field).unwrap();
        assert_eq!((field.gid.as_deref(), field.names), (None, None), "{id}: {}", field.name);
    }
}

#[test]
fn files_go_beside_a_graphql_document() {
    let file = json!({"filename": "a.png", "content_base64": "AP8="});
    let given = json!({"fullPath": "acme/widget", "iid": 3, "files": [file, {"filename": "b.txt", "content": "a,b"}]});
    let call = call(&action("design.upload"), params(given));
    let Body::Multipart(parts) = call.body() else { panic!("{:?}", call.body()) };
    let [Part::Text { value: operations, .. }, Part::Text { name, value: map }, one, other] =
        parts.as_slice()
    else {
        panic!("{parts:?}")
    };
    let operations: Value = serde_json::from_str(operations).unwrap();
    let input = json!({"projectPath": "acme/widget", "iid": "3", "files": [null, null]});
    assert_eq!(operations["variables"]["input"], input);
    assert!(
        operations["query"].as_str().unwrap().starts_with("mutation($input:DesignManagementUploadInput!)")
    );
    assert_eq!(name, "map");
    assert_eq!(map, "{\"0\":[\"variables.input.files.0\"],\"1\":[\"variables.input.files.1\"]}");
    assert_eq!(*one, Part::File { name: "0".into(), filename: "a.png".into(), bytes: vec![0, 255].into() });
    assert_eq!(
        *other,
        Part::File { name: "1".into(), filename: "b.txt".into(), bytes: b"a,b".to_vec().into() }
    );
}

#[test]
fn every_action_has_words_of_its_own() {
    let mut summaries: BTreeMap<String, String> = BTreeMap::new();
    for action in actions() {
        assert!(action.summary.len() > 8, "{}: {:?}", action.id, action.summary);
        assert!(action.summary.len() <= 140, "{}: {:?}", action.id, action.summary);
        if action.curated {
            let other = summaries.insert(action.summary.clone(), action.id.clone());
            assert_eq!(other, None, "{} says the same", action.id);
        }
    }
}

#[test]
fn what_people_use_most_is_written_by_hand() {
    let curated =
        actions().iter().filter(|action| action.curated && action.audience == Audience::Person).count();
    assert!(curated >= 300, "{curated} actions have curated words");
}

#[test]
fn aliases_are_no_ids_and_lead_to_their_action() {
    let catalog = Catalog::embedded().unwrap();
    for (number, action) in actions().iter().enumerate() {
        for alias in &action.aliases {
            assert_eq!(catalog.number(alias), None, "{alias} of {} is an id", action.id);
            assert!(catalog.by_alias(alias).contains(&number), "{alias} of {}", action.id);
        }
        for related in &action.related {
            assert!(catalog.number(related).is_some(), "{} is related to {related}", action.id);
        }
    }
}

#[test]
fn every_placeholder_is_fed_by_a_required_parameter() {
    for action in actions() {
        for operation in action.choices() {
            for (placeholder, _) in operation.placeholders() {
                let name = operation.filled_by(placeholder);
                let param =
                    action.param(name).unwrap_or_else(|| panic!("{operation}: nothing feeds {placeholder}"));
                assert_eq!(param.place, Place::Path, "{} {name}", action.id);
                // A plan's path is never requested; the plan itself may find the missing values.
                let is_fed = param.required || param.sends_default || action.plan.is_some();
                assert!(is_fed, "{} {name}", action.id);
                assert!(!param.kind.many, "{} {name}", action.id);
            }
        }
    }
}

#[test]
fn operations_of_an_action_differ_in_scope() {
    for action in actions() {
        let scopes: Vec<Scope> = action.choices().map(|operation| operation.scope).collect();
        let distinct: BTreeSet<Scope> = scopes.iter().copied().collect();
        assert_eq!(scopes.len(), distinct.len(), "{}", action.id);
        assert!(!scopes.is_empty(), "{} has nothing to choose", action.id);
    }
}

#[test]
fn every_example_validates_and_builds_a_request() {
    let words = words();
    for action in actions() {
        let example = example(&action, &words);
        let schema = input_schema(&action, &words);
        let validator = jsonschema::validator_for(&schema).unwrap_or_else(|e| panic!("{}: {e}", action.id));
        let faults: Vec<String> =
            validator.iter_errors(&Value::Object(example.clone())).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{}: {faults:?}", action.id);
        if action.plan.is_some() {
            check(action, example, &context()).unwrap_or_else(|invalid| panic!("{invalid}"));
            continue;
        }
        let call = call(&action, example);
        assert!(!call.path().contains([':', '*', ' ']) || call.path().contains('@'), "{}", call.path());
        assert!(pieces(call.path()).count() == 1 || call.path().contains('@'), "{}", call.path());
    }
}

#[test]
fn schemas_have_no_combinators_at_their_top() {
    let words = words();
    for action in actions() {
        let schema = input_schema(&action, &words);
        let top = schema.as_object().unwrap();
        assert!(!["anyOf", "oneOf", "allOf"].iter().any(|key| top.contains_key(*key)), "{}", action.id);
        assert_eq!(top["type"], "object");
    }
}

#[test]
fn a_signature_says_types_choices_defaults_and_what_is_required() {
    let line = signature(&action("issue.list"), 10_000, "");
    assert!(line.starts_with("issue.list(fullPath?, "), "{line}");
    assert!(line.contains("state?: \"opened\"|\"closed\"|\"all\""), "{line}");
    assert!(line.contains("labels?: string[]"), "{line}");
    assert!(line.contains("per_page?: integer = 20"), "{line}");
    let line = signature(&action("issue.get"), 10_000, "");
    assert_eq!(line, "issue.get(fullPath, iid: integer)");
}

#[test]
fn a_signature_that_folds_counts_what_it_folds() {
    let action = action("issue.list");
    let line = signature(&action, 200, "");
    let shown = line.matches("?").count();
    assert!(line.len() <= 200, "{line}");
    let folded = action.params.len() - shown;
    assert!(line.contains(&format!("… {folded} more: detail: \"schema\"")), "{line}");
}

#[test]
fn a_signature_shows_what_the_request_mentions() {
    let action = action("issue.list");
    assert!(!signature(&action, 400, "list issues").contains("iteration_title?"));
    let line = signature(&action, 400, "issues by iteration title and without labels");
    assert!(line.contains("iteration_title?"), "{line}");
    assert!(line.starts_with("issue.list(fullPath?, labels?: string[], iteration_id?"), "{line}");
}

#[test]
fn a_signature_names_roles_and_what_one_of_is_needed() {
    let line = signature(&action("member.add"), 400, "");
    assert!(line.starts_with("member.add(fullPath, access_level: role, "), "{line}");
    assert!(line.ends_with(") with user_id or username"), "{line}");
}

#[test]
fn the_signatures_that_a_find_shows_fit_into_400_bytes_beside_what_is_required() {
    for action in actions().iter().filter(|action| action.twin.is_none()) {
        let required = Action {
            params: action.params.iter().filter(|p| p.required && p.scopes.is_empty()).cloned().collect(),
            ..action.clone()
        };
        let bound = 400.max(signature(&required, 400, "").len() + 40);
        let line = signature(action, 400, "");
        assert!(line.len() <= bound, "{} of {bound}: {line}", line.len());
    }
}

// Known content of GitLab's document, each item from a real line of it.

#[test]
fn path_parameters_come_from_the_path() {
    // PUT /projects/{id}/merge_requests/{merge_request_iid} lists only `id`.
    let written =
        written("merge_request.update", json!({"fullPath": "acme/widget", "iid": 7, "title": "New"}));
    assert_eq!(written, "PUT /api/v4/projects/acme%2Fwidget/merge_requests/7 {\"title\":\"New\"}");
}

#[test]
fn optional_parts_of_paths_are_left_out() {
    // /groups/{id}/(-/)search, /releases/permalink/latest(/)(*suffix_path), /settings_sync(/{hash})/v1/manifest
    let search = written("search.run", json!({"fullPath": "acme", "scope": "issues", "search": "x"}));
    assert!(search.starts_with("GET /api/v4/projects/acme/search?"), "{search}");
    let latest = written("release.get_latest", json!({"fullPath": "acme/widget"}));
    assert_eq!(latest, "GET /api/v4/projects/acme%2Fwidget/releases/permalink/latest");
    assert_eq!(
        action("vscode_settings_sync.get_manifest").operations[0].to_string(),
        "GET /vscode/settings_sync/v1/manifest"
    );
}

#[test]
fn globs_keep_their_slashes_and_placeholders_encode_them() {
    // /projects/{id}/jobs/{job_id}/artifacts/*artifact_path and /projects/{id}/repository/files/{file_path}
    let artifact = action("job_artifact.get_file");
    let mut given = example(&artifact, &words());
    given.insert("artifact_path".into(), json!("/coverage/lcov report.info"));
    let call = call(&artifact, given);
    assert!(call.path().ends_with("/coverage/lcov%20report.info"), "{}", call.path());
    let file = written(
        "repository_file.get",
        json!({"fullPath": "acme/widget", "file_path": "/docs/résumé #1 100%.md", "ref": "main"}),
    );
    assert_eq!(
        file,
        "GET /api/v4/projects/acme%2Fwidget/repository/files/docs%2Fr%C3%A9sum%C3%A9%20%231%20100%25.md?ref=main"
    );
}

#[test]
fn a_path_cannot_lead_elsewhere() {
    for bad in ["..", ".", "../..", "a/../../b"] {
        let action = action("job_artifact.get_file");
        let mut given = example(&action, &words());
        given.insert("artifact_path".into(), json!(bad));
        let checked = check(action, given, &context()).unwrap();
        assert!(checked.step(&LookupCache::default()).is_err(), "{bad}");
    }
    let checked =
        check(action("branch.get"), params(json!({"fullPath": "a/b", "branch": ".."})), &context()).unwrap();
    assert!(checked.step(&LookupCache::default()).is_err());
}

#[test]
fn noteables_are_iids_below_issues_and_merge_requests_and_looked_up_below_epics() {
    // {noteable_id}, {eventable_id}, {subscribable_id}
    for (id, names) in [
        ("issue_note.list", Names::IssueTitle),
        ("merge_request_discussion.list", Names::MergeRequestTitle),
        ("issue_label_event.list", Names::IssueTitle),
        ("issue.subscribe", Names::IssueTitle),
    ] {
        let iid = action(id).param("iid").cloned().unwrap();
        assert_eq!((iid.place, iid.names, iid.kind.base), (Place::Path, Some(names), Base::Integer), "{id}");
    }
    let note = action("epic_note.create");
    assert_eq!(note.param("iid").unwrap().names, Some(Names::EpicIid));
    let written = written("epic_note.create", json!({"fullPath": "acme", "iid": 1, "body": "Hi"}));
    assert_eq!(written, "POST /api/v4/groups/acme/epics/4711/notes {\"body\":\"Hi\"}");
    assert!(action("snippet_note.list").param("snippet_id").is_some(), "a snippet has no iid");
}

#[test]
fn projects_groups_and_issuables_are_never_asked_for_by_id() {
    for action in actions().iter().filter(|action| action.audience == Audience::Person) {
        for operation in action.choices() {
            let segments: Vec<&str> = operation.path.split('/').collect();
            for pair in segments.windows(2) {
                let [noun, placeholder] = pair else { continue };
                let Some(placeholder) = placeholder.strip_prefix(':') else { continue };
                let filled = operation.filled_by(placeholder);
                match *noun {
                    "projects" | "groups" if segments[1] == *noun => {
                        assert_eq!(filled, "fullPath", "{operation}")
                    }
                    "issues" | "merge_requests" | "epics"
                        if segments.len() > 3 && operation.scope != Scope::Instance =>
                    {
                        let ours = matches!(filled, "iid" | "issue_id" | "epic_issue_id" | "child_epic_id");
                        assert!(ours, "{operation}: {filled}");
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn lists_in_queries_are_written_as_gitlab_reads_them() {
    // `iids` is `iids[]`, `labels` is split at commas, `not[labels]` is a field.
    let written = written(
        "issue.list",
        json!({"fullPath": "acme/widget", "scope": "project", "iids": [1, 2], "labels": ["a", "b"],
               "not": {"labels": ["c"]}, "confidential": true}),
    );
    let (_, query) = written.split_once('?').unwrap();
    let pairs: BTreeSet<&str> = query.split('&').collect();
    let expected = ["iids[]=1", "iids[]=2", "labels=a,b", "not[labels]=c", "confidential=true"];
    assert_eq!(pairs, expected.into_iter().collect());
    assert_eq!(action("issue.list").param("iids").unwrap().array, ArrayForm::Brackets);
    assert!(actions().iter().all(|action| action.params.iter().all(|param| !param.name.contains('['))));
}

#[test]
fn files_travel_in_parts_and_everything_else_as_json() {
    let upload = action("project_upload.create");
    let given = json!({"fullPath": "acme/widget", "file": {"filename": "a.bin", "content_base64": "AP8="}});
    let call = call(&upload, params(given));
    let file = Part::File { name: "file".into(), filename: "a.bin".into(), bytes: vec![0, 255].into() };
    assert_eq!(call.body(), &Body::Multipart(vec![file]));
    // PUT /projects/{id} is multipart in the document because of `avatar`.
    let update = written("project.update", json!({"fullPath": "acme/widget", "topics": ["a"]}));
    assert_eq!(update, "PUT /api/v4/projects/acme%2Fwidget {\"topics\":[\"a\"]}");
}

#[test]
fn scim_begins_at_the_instances_root() {
    let scim = actions()
        .into_iter()
        .flat_map(|action| action.operations)
        .filter(|o| o.path.starts_with("/api/scim/v4/"));
    assert_eq!(scim.count(), 16);
    let path = call(&action("scim_protocol.get_group_user"), params(json!({"group": "acme", "user_id": 1})));
    assert!(path.path().starts_with("/api/scim/v4/groups/acme/"), "{}", path.path());
}

#[test]
fn machine_protocols_are_marked() {
    let machine: usize = actions()
        .iter()
        .filter(|action| action.audience == Audience::Machine)
        .map(|action| action.operations.len())
        .sum();
    assert!((300..480).contains(&machine), "{machine} operations");
    for id in [
        "npm_protocol.publish",
        "conan_v1_protocol.search",
        "job_protocol.request",
        "repository_file.authorize_create",
    ] {
        assert_eq!(action(id).audience, Audience::Machine, "{id}");
    }
    assert_eq!(action("package.list").audience, Audience::Person);
}

#[test]
fn old_spellings_are_accounted_for_and_never_chosen() {
    // /services and /integrations, /groups/{id}/(-/)epics and /-/epics, PATCH and PUT, NuGet's two.
    for action in actions() {
        for operation in action.choices() {
            assert!(!operation.path.contains("/services"), "{operation}");
        }
    }
    let slack = action("integration.update_slack");
    let alternates: Vec<String> =
        slack.operations.iter().filter(|operation| operation.alternate).map(ToString::to_string).collect();
    assert_eq!(alternates, ["PUT /projects/:id/services/slack"]);
    let epics = action("epic.list");
    assert_eq!(epics.choices().map(ToString::to_string).collect::<Vec<_>>(), ["GET /groups/:id/epics"]);
    assert_eq!(epics.operations[1].to_string(), "GET /groups/:id/-/epics");
}

#[test]
fn one_meaning_at_several_scopes_is_one_action() {
    let operations: Vec<String> = action("ci_variable.list").choices().map(ToString::to_string).collect();
    assert_eq!(
        operations,
        ["GET /projects/:id/variables", "GET /groups/:id/variables", "GET /admin/ci/variables"]
    );
    // The instance's hooks are another thing than a project's.
    assert_eq!(action("system_hook.list").operations[0].to_string(), "GET /hooks");
    let hooks: Vec<String> = action("webhook.list").choices().map(ToString::to_string).collect();
    assert_eq!(hooks, ["GET /projects/:id/hooks", "GET /groups/:id/hooks"]);
}

#[test]
fn a_write_never_goes_to_the_instance_because_a_path_was_forgotten() {
    let given = params(json!({"key": "A", "value": "b"}));
    let checked = check(action("ci_variable.create"), given, &context()).unwrap();
    let invalid = checked.step(&LookupCache::default()).unwrap_err();
    assert!(invalid.to_string().contains("`scope` is needed"), "{invalid}");
    let said = written("ci_variable.create", json!({"key": "A", "value": "b", "scope": "instance"}));
    assert_eq!(said, "POST /api/v4/admin/ci/variables {\"key\":\"A\",\"value\":\"b\"}");
}

#[test]
fn gitlabs_own_scope_and_ours_are_one_parameter() {
    let mine = written("issue.list", json!({"scope": "assigned_to_me"}));
    assert_eq!(mine, "GET /api/v4/issues?scope=assigned_to_me");
    let group = written("issue.list", json!({"scope": "group", "fullPath": "acme"}));
    assert_eq!(group, "GET /api/v4/groups/acme/issues");
}

#[test]
fn risks_follow_what_an_action_does() {
    for (id, risk) in [
        ("issue.list", Risk::Read),
        ("issue.update", Risk::Write),
        ("issue.delete", Risk::Destructive),
        ("merge_request.merge", Risk::Destructive),
        ("project.transfer", Risk::Destructive),
        ("user.block", Risk::Destructive),
        ("job.erase", Risk::Destructive),
        ("project_access_token.rotate", Risk::Destructive),
        ("pipeline.retry", Risk::Write),
        ("markdown.render", Risk::Read),
    ] {
        assert_eq!(action(id).risk, risk, "{id}");
    }
    for action in actions().iter().filter(|action| action.risk == Risk::Read) {
        assert!(action.choices().all(|operation| operation.method != Method::Delete), "{}", action.id);
        let mutates = |operation: &Operation| {
            operation.graphql.as_ref().is_some_and(|graphql| graphql.kind == GraphqlKind::Mutation)
        };
        assert!(!action.choices().any(mutates), "{}", action.id);
    }
}

/// The values in backticks of a parameter's description, compared with its enum without regard to case. A description
/// may also quote other parameters of the action.
#[test]
fn a_described_value_is_one_of_the_enum() {
    fn check(action: &Action, params: &[Param], words: &Words, faults: &mut Vec<String>) -> usize {
        let mut compared = 0;
        for param in params {
            compared += check(action, &param.fields, words, faults);
            let own = param.note.as_deref();
            let note = own.or_else(|| words.glossary.get(&param.name).map(|entry| entry.note.as_str()));
            let (Some(note), false) = (note, param.choices.is_empty()) else { continue };
            for value in note.split('`').skip(1).step_by(2) {
                compared += 1;
                let is_choice = param.choices.iter().any(|choice| choice.eq_ignore_ascii_case(value));
                if !is_choice && action.param(value).is_none() {
                    faults.push(format!("{} {}: `{value}` in {note:?}", action.id, param.name));
                }
            }
        }
        compared
    }
    let (words, mut faults) = (words(), Vec::new());
    let compared: usize =
        actions().iter().map(|action| check(action, &action.params, &words, &mut faults)).sum();
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(compared > 50, "{compared} values compared");
}
