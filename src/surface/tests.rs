use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use url::Url;

use super::*;
use crate::catalog::{Action, Catalog};
use crate::tools::{Answer, ExecuteRequest, ToolError, Tools};
use crate::{gitlab, policy, tools};

fn tools(policy: policy::PolicySettings) -> Arc<Tools> {
    let settings = tools::ToolSettings {
        gitlab: gitlab::ClientSettings::new(Url::parse("http://localhost").unwrap()),
        policy,
        quick_actions: Default::default(),
        project: None,
        ssh_host: None,
        audit_file: None,
        audit_user: false,
        max_bytes: usize::MAX,
        audit: tools::Audit::Off,
        files_dir: None,
        capabilities: tools::Capabilities::Full,
        local_hints: true,
        read_tool: false,
        confirm_key: None,
    };
    Arc::new(Tools::new(settings).unwrap())
}

fn surface(kind: SurfaceKind, split: bool) -> Surface {
    let settings = SurfaceSettings { kind, split, ..SurfaceSettings::default() };
    Surface::new(settings, tools(policy::PolicySettings::default()))
}

fn every(surface: &Surface) -> Vec<ToolSpec> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = surface.page(cursor.as_deref(), &|_| true).unwrap();
        found.extend(page.tools);
        cursor = page.next;
        if cursor.is_none() {
            return found;
        }
    }
}

fn execute(request: Option<Result<ToolRequest, ToolError>>) -> ExecuteRequest {
    match request {
        Some(Ok(ToolRequest::Execute(checked))) => checked.request,
        other => panic!("{other:?}"),
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn every_action_has_a_name_of_its_own_that_clients_take() {
    let catalog = Catalog::embedded().unwrap();
    let mut seen = BTreeSet::new();
    for (number, id) in catalog.ids().enumerate() {
        let name = names::of_action(id);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        assert!((1..=64).contains(&name.len()) && name.bytes().all(plain), "{name}");
        assert_eq!(individual::number(&catalog, &name), Some(number), "{name}");
        assert!(seen.insert(name.clone()), "{name} is of two actions");
    }
    assert_eq!(names::of_action("merge_request.list"), "merge_request_list");
    // A promise like the ids': it must not change from one release to the next.
    let long = "integration.update_google_cloud_platform_workload_identity_federation";
    assert_eq!(names::of_action(long), "integration_update_google_cloud_platform_workload_ident_b94a1426");
}

#[test]
fn no_argument_of_a_tool_is_two() {
    let catalog = Catalog::embedded().unwrap();
    for action in catalog.actions().map(Result::unwrap) {
        for argument in dynamic::EXECUTE.arguments {
            assert!(action.param(&format!("_{}", argument.name)).is_none(), "{}", action.id);
        }
    }
}

#[test]
fn a_tool_of_an_action_tells_its_parameters_from_what_stands_beside_them() {
    let surface = surface(SurfaceKind::Individual, false);
    let given = json!({"fullPath": "a/b", "iid": 1, "view": "full", "_dry_run": true, "confirm": true});
    let request = execute(surface.parse_call("issue_get", object(given)));
    assert_eq!(request.action, "issue.get");
    assert_eq!(request.params, object(json!({"fullPath": "a/b", "iid": 1})));
    assert_eq!((request.view, request.dry_run), (Some(tools::View::Full), Some(true)));
    assert_eq!(request.confirm, Some(true));

    // An action with a parameter of such a name keeps it.
    let catalog = Catalog::embedded().unwrap();
    let clash = catalog.actions().flatten().find(|action| action.param("dry_run").is_some()).unwrap();
    let tool = names::of_action(&clash.id);
    let request = execute(surface.parse_call(&tool, object(json!({"dry_run": true}))));
    assert_eq!((request.dry_run, &request.params["dry_run"]), (None, &json!(true)));
    let request = execute(surface.parse_call(&tool, object(json!({"_dry_run": true}))));
    assert_eq!((request.dry_run, request.params.is_empty()), (Some(true), true));
    let listed = every(&surface).into_iter().find(|spec| spec.name == tool);
    let properties = listed.map(|spec| spec.input_schema["properties"].clone());
    assert!(properties.is_none_or(|own| own.get("_dry_run").is_some() && own.get("dry_run").is_some()));
}

#[test]
fn a_family_s_tool_knows_its_actions_by_what_they_are_called() {
    let surface = surface(SurfaceKind::Meta, false);
    for action in ["milestone.create", "create", "create_milestone"] {
        let request = execute(surface.parse_call("gitlab_milestones", object(json!({"action": action}))));
        assert_eq!(request.action, "milestone.create", "{action}");
    }
    let error = surface.parse_call("gitlab_milestones", object(json!({"action": "label.create"})));
    let error = error.unwrap().unwrap_err();
    assert_eq!(error.fix.unwrap().tool, "gitlab_labels");
    let error = surface.parse_call("gitlab_milestones", object(json!({"action": "milestone.crate"})));
    let fix = error.unwrap().unwrap_err().fix.unwrap();
    assert_eq!(fix.arguments["action"], "milestone.create");
    assert!(surface.parse_call("browse_milestones", Map::new()).is_none(), "nothing is split");
}

#[test]
fn what_browses_runs_nothing_that_changes() {
    let surface = surface(SurfaceKind::Meta, true);
    let error = surface.parse_call("browse_milestones", object(json!({"action": "milestone.delete"})));
    let error = error.unwrap().unwrap_err();
    assert_eq!(error.fix.unwrap().tool, "manage_milestones");
    assert!(surface.parse_call("manage_milestones", object(json!({"action": "delete"}))).unwrap().is_ok());
    assert!(
        surface
            .parse_call("browse_milestones", object(json!({"action": "delete_milestone"})))
            .unwrap()
            .is_err()
    );
    for spec in every(&surface) {
        assert_eq!(spec.annotations.read_only, !spec.name.starts_with("manage_"), "{}", spec.name);
    }
}

#[test]
fn every_action_is_in_one_tool_of_a_family() {
    for split in [false, true] {
        let tools = every(&surface(SurfaceKind::Meta, split));
        let ids = tools.iter().filter_map(|spec| {
            spec.input_schema["properties"].get("action")?.get("enum")?.as_array().cloned()
        });
        let mut ids: Vec<Value> = ids.flatten().collect();
        ids.sort_by_key(ToString::to_string);
        let catalog = Catalog::embedded().unwrap();
        let listed = catalog.actions().flatten().filter(Action::is_offered);
        let expected: Vec<Value> = listed.map(|action| json!(action.id)).collect();
        assert_eq!(ids.len(), expected.len());
        assert!(expected.iter().all(|id| ids.contains(id)));
        assert!((40..=90).contains(&tools.len()), "{}", tools.len());
    }
}

#[test]
fn pages_hold_every_tool_once_and_no_client_chokes_on_one() {
    let surface = surface(SurfaceKind::Individual, false);
    let first = surface.page(None, &|_| true).unwrap();
    let all = every(&surface);
    // Several clients read the first page alone.
    assert!(first.next.is_none() && first.tools.len() == all.len(), "{}", first.tools.len());
    assert_eq!(surface.page(Some("20"), &|_| true).unwrap().tools.len(), all.len() - 20);
    let names: BTreeSet<&str> = all.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.len() > 1_000 && names.contains("issue_get") && names.contains("gitlab_find_action"));
    for cursor in ["0", "x", "-1", "99999", ""] {
        assert!(matches!(surface.page(Some(cursor), &|_| true), Err(PageError::Cursor(_))), "{cursor}");
    }
    for spec in &all {
        let schema = Value::Object(spec.input_schema.clone());
        assert_eq!(schema["type"], "object");
        let text = schema.to_string();
        for refused in ["\"anyOf\":", "\"oneOf\":", "\"allOf\":", "\"$ref\":", "\"type\":["] {
            assert!(!text.contains(refused), "{refused} in {}", spec.name);
        }
        assert_eq!(unsupported(&schema), None, "{}", spec.name);
    }
}

/// Gemini and OpenAI refuse a list without `items`, and choices that are no texts.
#[test]
fn schemas_of_several_actions_are_those_that_strict_clients_take() {
    for spec in every(&surface(SurfaceKind::Meta, false)) {
        assert_eq!(unsupported(&Value::Object(spec.input_schema.clone())), None, "{}", spec.name);
    }
}

/// The first part of a schema that a strict client refuses.
fn unsupported(schema: &Value) -> Option<String> {
    match schema {
        Value::Array(parts) => parts.iter().find_map(unsupported),
        Value::Object(fields) => {
            let is_bare_list = fields.get("type") == Some(&json!("array")) && !fields.contains_key("items");
            let choices = fields.get("enum").and_then(Value::as_array);
            let is_number = choices.is_some_and(|choices| !choices.iter().all(Value::is_string));
            (is_bare_list || is_number)
                .then(|| schema.to_string())
                .or_else(|| fields.values().find_map(unsupported))
        }
        _ => None,
    }
}

#[test]
fn calls_in_answers_are_those_of_the_surface() {
    let call = json!({"tool": "gitlab_execute_action", "arguments": {
        "action": "issue.list", "params": {"fullPath": "a/b", "page": 2}, "view": "full"}});
    let structured = object(json!({"action": "issue.list", "page": {"next": call}, "data": [call]}));
    let answer = Answer::new(structured, format!("Next: {call}\n"));
    for (kind, tool, arguments) in [
        (SurfaceKind::Meta, "gitlab_issues", call["arguments"].clone()),
        (SurfaceKind::Individual, "issue_list", json!({"fullPath": "a/b", "page": 2, "view": "full"})),
        (SurfaceKind::Dynamic, "gitlab_execute_action", call["arguments"].clone()),
        (SurfaceKind::Toolset, "gitlab_execute_action", call["arguments"].clone()),
    ] {
        let told = surface(kind, false).rewrite_answer(Ok(answer.clone())).unwrap();
        let next = json!({"tool": tool, "arguments": arguments});
        assert_eq!(told.structured["page"]["next"], next, "{kind:?}");
        assert_eq!(told.text, format!("Next: {next}\n"));
        assert_eq!(told.structured["data"], json!([call]), "what GitLab sent is GitLab's");
    }
}

#[test]
fn a_toolset_is_taken_up_in_place_of_another() {
    let surface = surface(SurfaceKind::Toolset, false);
    let names = || every(&surface).into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    let start = names();
    assert_eq!(start, ["activate_toolset", "gitlab_find_action", "gitlab_execute_action"]);
    let take_up = |name: &str| surface.activate(&Activation { toolset_name: name.to_owned() });
    take_up("planning").unwrap();
    assert!(names().contains(&"milestone_list".to_owned()) && !names().contains(&"issue_get".to_owned()));
    let error = surface.parse_call("issue_get", Map::new()).unwrap().unwrap_err();
    let fix = tools::NextCall::new("activate_toolset", json!({"toolset_name": "issues"}));
    assert_eq!(error.fix, Some(fix));
    take_up("issues").unwrap();
    assert!(names().contains(&"issue_get".to_owned()) && !names().contains(&"milestone_list".to_owned()));
    assert!(surface.parse_call("issue_get", Map::new()).unwrap().is_ok());
    assert!(take_up("isues").unwrap_err().fix.unwrap().arguments["toolset_name"] == "issues");
    assert!(names().contains(&"issue_get".to_owned()), "what fails takes nothing away");
}

#[test]
fn what_may_not_run_is_in_no_tool() {
    let denied = policy::PolicySettings {
        denied_actions: vec!["milestone.delete".to_owned()],
        toolsets: vec!["planning".to_owned()],
        ..policy::PolicySettings::default()
    };
    let surface = |kind| {
        let settings = SurfaceSettings { kind, ..SurfaceSettings::default() };
        Surface::new(settings, tools(denied.clone()))
    };
    let names: Vec<String> = every(&surface(SurfaceKind::Meta)).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["gitlab_find_action", "gitlab_boards", "gitlab_labels", "gitlab_milestones"]);
    let all = every(&surface(SurfaceKind::Individual));
    let has = |name: &str| all.iter().any(|spec| spec.name == name);
    assert!(has("milestone_create") && !has("milestone_delete") && !has("issue_get"));
    let toolsets = every(&surface(SurfaceKind::Toolset)).remove(0).input_schema;
    assert_eq!(toolsets["properties"]["toolset_name"]["enum"], json!(["planning", "default"]));
}
