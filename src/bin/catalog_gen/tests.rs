//! Tests of the rules, each on real data of GitLab's document.

use gitlab_mcp::catalog::{ArrayForm, Base, Method, Names, Operation, Param, ParamKind, Place, Risk, Scope};
use serde_json::{Value, json};

use crate::curation::{Curation, Domain, expand_path, key};
use crate::naming::Namer;
use crate::openapi::{ListStyles, RawOperation};
use crate::paths::{Binding, binding, documented, scope, segments, singular};
use crate::{actions, base_risk, graphql, openapi, shapes};

fn operation(method: Method, path: &str) -> RawOperation {
    RawOperation {
        method,
        path: documented(path),
        params: Vec::new(),
        path_params: Vec::new(),
        body: gitlab_mcp::catalog::BodyForm::None,
        deprecated: false,
        summary: String::new(),
        since: None,
        until: None,
    }
}

fn curation(domains: &[(&str, &[&str])]) -> Curation {
    let described = |paths: &[&str]| Domain {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..Domain::default()
    };
    Curation {
        domains: domains.iter().map(|(name, paths)| ((*name).to_owned(), described(paths))).collect(),
        rules: rules(),
        ..Curation::default()
    }
}

/// The rules of the catalog.
fn rules() -> crate::rules::BuildRules {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog/rules.toml");
    crate::files::load_toml::<crate::rules::Rules>(&path).unwrap().into_build()
}

fn name(method: Method, path: &str, domains: &[(&str, &[&str])]) -> Result<String, String> {
    let curation = curation(domains);
    Namer::new(&curation).name(&operation(method, path)).map(|name| name.id)
}

#[test]
fn paths_are_written_as_the_documentation_writes_them() {
    for (raw, expected) in [
        ("/api/v4/packages/nuget/v2/FindPackagesById()", "/packages/nuget/v2/FindPackagesById()"),
        (
            "/api/v4/packages/nuget/v2/Packages(Id='{package_name}',Version='{version}')",
            "/packages/nuget/v2/Packages(Id=':package_name',Version=':version')",
        ),
        ("/api/v4/projects/{id}/issues/{issue_iid}", "/projects/:id/issues/:issue_iid"),
        ("/api/v4/groups/{id}/(-/)search", "/groups/:id/search"),
        ("/api/v4/projects/{id}/(ref/{ref}/)trigger/pipeline", "/projects/:id/trigger/pipeline"),
        (
            "/api/v4/projects/{id}/releases/permalink/latest(/)(*suffix_path)",
            "/projects/:id/releases/permalink/latest",
        ),
        (
            "/api/v4/vscode/settings_sync(/{settings_context_hash})/v1/manifest",
            "/vscode/settings_sync/v1/manifest",
        ),
        (
            "/api/v4/projects/{id}/packages/generic/{package_name}/*package_version/(*path/){file_name}",
            "/projects/:id/packages/generic/:package_name/*package_version/:file_name",
        ),
        (
            "/api/v4/projects/{project_id}/packages/nuget/v2/Packages\\(\\)",
            "/projects/:project_id/packages/nuget/v2/Packages()",
        ),
        ("/api/scim/v4/groups/{group}/Users", "/api/scim/v4/groups/:group/Users"),
    ] {
        assert_eq!(documented(raw), expected);
    }
}

#[test]
fn old_spellings_and_the_dash_are_the_same_path() {
    assert_eq!(segments("/projects/:id/services/:slug"), segments("/projects/:id/integrations/:slug"));
    assert_eq!(segments("/groups/:id/-/epics"), segments("/groups/:id/epics"));
    assert_ne!(segments("/projects/:id/hooks"), segments("/hooks"));
}

#[test]
fn scope_is_derived_from_the_path() {
    for (path, expected) in [
        ("/projects/:id/issues", Scope::Project),
        ("/security/projects/:id/vulnerability_exports", Scope::Project),
        ("/groups/:id/-/epics", Scope::Group),
        ("/group/:id/-/packages/composer/packages", Scope::Group),
        ("/users/:id/block", Scope::User),
        ("/user/keys", Scope::Current),
        ("/admin/ci/variables", Scope::Instance),
        ("/issues", Scope::Instance),
    ] {
        assert_eq!(scope(path), expected, "{path}");
    }
}

#[test]
fn placeholders_are_filled_by_what_people_know() {
    let of = |name: &str, before: &str, position| binding(name, before, position);
    let plain = |param: &str| Binding { param: param.to_owned(), names: None };
    assert_eq!(of("id", "projects", 1), plain("fullPath"));
    assert_eq!(of("project_id", "projects", 1), plain("fullPath"));
    assert_eq!(of("merge_request_iid", "merge_requests", 3), plain("iid"));
    assert_eq!(of("noteable_id", "issues", 3), plain("iid"));
    assert_eq!(of("eventable_id", "merge_requests", 3), plain("iid"));
    assert_eq!(of("subscribable_id", "labels", 3), plain("label_id"));
    assert_eq!(of("noteable_id", "snippets", 3), plain("snippet_id"));
    assert_eq!(of("noteable_id", "commits", 4), plain("sha"));
    assert_eq!(of("id", "users", 1), plain("user_id"));
    assert_eq!(of("key", "variables", 3), plain("key"));
    assert_eq!(of("noteable_id", "epics", 3).names, Some(Names::EpicIid));
}

#[test]
fn one_of_many_is_named_after_them() {
    for (many, one) in [
        ("branches", "branch"),
        ("policies", "policy"),
        ("issues", "issue"),
        ("boxes", "box"),
        ("license", "license"),
        ("deploy-keys", "deploy_key"),
    ] {
        assert_eq!(singular(many), one);
    }
}

#[test]
fn the_longest_path_of_a_domain_wins() {
    let domains: &[(&str, &[&str])] = &[
        ("issue", &["*/issues"]),
        ("issue_note", &["/projects/:id/issues/:id/notes"]),
        ("webhook", &["/projects/:id/hooks"]),
        ("system_hook", &["/hooks"]),
    ];
    for (method, path, expected) in [
        (Method::Get, "/api/v4/projects/{id}/issues", "issue.list"),
        (Method::Get, "/api/v4/issues", "issue.list"),
        (Method::Post, "/api/v4/projects/{id}/issues", "issue.create"),
        (Method::Put, "/api/v4/projects/{id}/issues/{issue_iid}", "issue.update"),
        (Method::Post, "/api/v4/projects/{id}/issues/{issue_iid}/move", "issue.move"),
        (Method::Get, "/api/v4/projects/{id}/issues/{issue_iid}/participants", "issue.list_participants"),
        (Method::Get, "/api/v4/projects/{id}/issues/{issue_iid}/time_stats", "issue.get_time_stats"),
        (Method::Delete, "/api/v4/projects/{id}/issues/{noteable_id}/notes/{note_id}", "issue_note.delete"),
        (Method::Get, "/api/v4/hooks", "system_hook.list"),
        (Method::Get, "/api/v4/projects/{id}/hooks/{hook_id}", "webhook.get"),
    ] {
        assert_eq!(name(method, path, domains).as_deref(), Ok(expected), "{path}");
    }
}

#[test]
fn an_operation_without_a_rule_is_a_fault() {
    let fault = name(Method::Get, "/api/v4/frobs", &[("issue", &["*/issues"])]).unwrap_err();
    assert_eq!(
        fault,
        "GET /frobs belongs to no domain: `[domain.frob]` with `paths = [\"/frobs\"]` makes it frob.list"
    );
}

#[test]
fn two_operations_at_one_scope_are_a_fault() {
    let curation = curation(&[("issue", &["*/issues"])]);
    let both = [
        operation(Method::Get, "/api/v4/projects/{id}/issues/{a}"),
        operation(Method::Get, "/api/v4/projects/{id}/issues/{a}/{b}"),
    ];
    let error =
        actions::build(&both, graphql::SchemaOperations::default(), &[], &curation).unwrap_err().to_string();
    assert!(error.contains("issue.get is both GET /projects/:id/issues/:a and"), "{error}");
}

#[test]
fn patch_next_to_put_is_an_alternative() {
    let curation = curation(&[("issue", &["*/issues"])]);
    let both = [
        operation(Method::Patch, "/api/v4/projects/{id}/issues/{issue_iid}"),
        operation(Method::Put, "/api/v4/projects/{id}/issues/{issue_iid}"),
    ];
    let built = actions::build(&both, graphql::SchemaOperations::default(), &[], &curation).unwrap();
    let written: Vec<(String, bool)> =
        built[0].operations.iter().map(|operation| (operation.to_string(), operation.alternate)).collect();
    assert_eq!(
        written,
        [
            ("PUT /projects/:id/issues/:issue_iid".to_owned(), false),
            ("PATCH /projects/:id/issues/:issue_iid".to_owned(), true),
        ]
    );
}

#[test]
fn a_star_matches_project_group_and_instance() {
    assert_eq!(
        expand_path("*/labels"),
        ["/projects/:id/labels", "/groups/:id/labels", "/admin/labels", "/labels"]
    );
    assert_eq!(key("GET", "/groups/:id/-/epics/:epic_iid"), "GET /groups/{}/-/epics/{}");
}

fn shape(name: &str, schema: Value) -> Param {
    shapes::param(name, &schema)
}

#[test]
fn types_are_read_as_the_document_means_them() {
    let one = |base| ParamKind { base, many: false };
    let list = |base| ParamKind { base, many: true };
    for (schema, expected) in [
        (json!({"type": "string", "format": "date-time"}), one(Base::DateTime)),
        (json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}), one(Base::IntegerOrString)),
        (json!({"oneOf": [{"type": "string"}]}), list(Base::String)),
        (json!({"oneOf": [{"type": "string"}, {"type": "Array"}]}), list(Base::String)),
        (json!({"type": "array", "items": {"type": "integer"}}), list(Base::Integer)),
        (json!({"type": "API::Validations::Types::WorkhorseFile"}), one(Base::File)),
        (json!({"type": "Gitlab::Color"}), one(Base::String)),
        (json!({"type": "BigDecimal"}), one(Base::Number)),
    ] {
        assert_eq!(shape("x", schema.clone()).kind, expected, "{schema}");
    }
}

#[test]
fn lists_are_written_with_commas_or_brackets() {
    assert_eq!(shape("labels", json!({"oneOf": [{"type": "string"}]})).array, ArrayForm::Comma);
    let iids = shape("iids", json!({"oneOf": [{"type": "integer"}]}));
    assert_eq!((iids.kind.many, iids.array), (true, ArrayForm::Brackets));
    let named = shape("domains[]", json!({"type": "string"}));
    assert_eq!((named.name.as_str(), named.kind.many, named.array), ("domains", true, ArrayForm::Brackets));
}

#[test]
fn a_document_that_gives_styles_tells_how_a_list_is_written() {
    let listed = |explode: Option<bool>, of: &str| {
        let mut param = json!({"name": "x", "schema": {"type": "array", "items": {"type": of}}});
        param.as_object_mut().unwrap().extend(explode.map(|explode| ("explode".to_owned(), json!(explode))));
        openapi::listed_param(&param, Place::Query, ListStyles::Explode).unwrap().array
    };
    assert_eq!(listed(Some(false), "string"), ArrayForm::Comma);
    assert_eq!(listed(Some(false), "integer"), ArrayForm::Comma);
    assert_eq!(listed(None, "string"), ArrayForm::Brackets);
}

#[test]
fn a_value_or_a_list_of_it_is_a_list() {
    let param = shape(
        "scope",
        json!({"oneOf": [{"type": "string", "enum": ["failed"]}, {"type": "array", "items": {"type": "string"}}]}),
    );
    assert_eq!(
        (param.kind, param.choices),
        (ParamKind { base: Base::String, many: true }, vec!["failed".to_owned()])
    );
}

#[test]
fn not_in_brackets_is_an_object_with_fields() {
    let flat = ["not", "not[labels]", "not[author_id]", "state"];
    let nested =
        shapes::nested(flat.iter().map(|name| Param { name: (*name).to_owned(), ..Param::default() }));
    let names: Vec<&str> = nested.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["not", "state"]);
    let fields: Vec<&str> = nested[0].fields.iter().map(|param| param.name.as_str()).collect();
    assert_eq!((nested[0].kind.base, fields), (Base::Object, vec!["labels", "author_id"]));
}

#[test]
fn enums_lose_colons_empty_values_and_old_spellings() {
    let choices = |listed: Value| shape("x", json!({"type": "string", "enum": listed})).choices;
    assert_eq!(choices(json!([":csv", ":json"])), ["csv", "json"]);
    assert_eq!(choices(json!(["0", "any", ""])), ["0", "any"]);
    assert_eq!(choices(json!(["created-by-me", "created_by_me", "all"])), ["created_by_me", "all"]);
}

#[test]
fn risk_goes_by_method_and_the_verbs_first_word() {
    let with = |method| {
        let raw = operation(method, "/api/v4/projects/{id}/x");
        vec![Operation {
            method: raw.method,
            path: raw.path,
            scope: Scope::Project,
            bind: Default::default(),
            body: raw.body,
            alternate: false,
            deprecated: false,
            since: None,
            until: None,
            graphql: None,
            any: None,
        }]
    };
    for (verb, method, expected) in [
        ("list", Method::Get, Risk::Read),
        ("merge", Method::Put, Risk::Destructive),
        ("merge_ref", Method::Get, Risk::Read),
        ("cancel_auto_merge", Method::Post, Risk::Write),
        ("create", Method::Post, Risk::Write),
        ("unsubscribe", Method::Delete, Risk::Destructive),
        ("rotate", Method::Post, Risk::Destructive),
    ] {
        assert_eq!(base_risk::risk(verb, &with(method), &rules().naming), expected, "{verb}");
    }
}

mod rules {
    use gitlab_mcp::catalog::{Action, Locates, Risk};
    use serde_json::json;

    use crate::rules::Rules;

    fn actions() -> Vec<Action> {
        let rest = |id: &str, risk: &str, params: serde_json::Value| {
            let operation = json!({"method": "POST", "path": format!("/{id}"), "scope": "instance"});
            json!({"action": id, "summary": "x", "risk": risk, "operations": [operation], "params": params})
        };
        let param = |name: &str, kind: &str| json!({"name": name, "type": kind, "in": "body"});
        [
            rest(
                "thing.create",
                "write",
                json!([param("level", "integer"), param("kube_namespace", "string")]),
            ),
            rest("thing.delete", "destructive", json!([param("project_id", "integer")])),
            rest("thing.list", "read", json!([])),
        ]
        .into_iter()
        .map(|action| serde_json::from_value(action).unwrap())
        .collect()
    }

    fn applied(text: &str) -> Result<Vec<Action>, String> {
        let rules: Rules = toml::from_str(text).map_err(|e| e.to_string())?;
        let mut actions = actions();
        rules.apply(&mut actions).map_err(|e| e.to_string())?;
        Ok(actions)
    }

    #[test]
    fn rows_are_written_into_the_actions() {
        let actions = applied(
            r#"
            [effects]
            "thing.*e" = []
            "thing.create" = ["thing.delete"]
            [risk]
            grant = ["thing.*"]
            raise = [{ action = "thing.create", param = "level", at_least = 40, risk = "destructive" }]
            [places]
            not_places = [{ reason = "of Kubernetes", params = ["kube_namespace"] }]
            "#,
        )
        .unwrap();
        let risks: Vec<Risk> = actions.iter().map(|action| action.risk).collect();
        assert_eq!(risks, [Risk::Grant, Risk::Destructive, Risk::Read]);
        assert_eq!(actions[0].effects, ["thing.delete"]);
        assert_eq!(actions[0].raises.len(), 1);
        let locates: Vec<Option<Locates>> =
            actions.iter().flat_map(|action| &action.params).map(|param| param.locates).collect();
        assert_eq!(locates, [None, None, Some(Locates::Project)]);
    }

    #[test]
    fn a_read_that_hands_out_access_is_a_grant_if_its_verb_is_named() {
        let listed = |text: &str| applied(text).unwrap().pop().unwrap().risk;
        assert_eq!(listed("[risk]\ngrant = [\"*.list\"]"), Risk::Grant);
        assert_eq!(listed("[risk]\ngrant = [\"thing.*\"]"), Risk::Read);
    }

    #[test]
    fn a_raise_of_an_action_is_one_of_its_twin_by_the_parameter_of_the_same_name() {
        let rules: Rules = toml::from_str(
            r#"
            [risk]
            raise = [{ action = "thing.create", param = "*_level", given = true, risk = "grant" }]
            "#,
        )
        .unwrap();
        let action = |id: &str, twin: Option<&str>, params: &[&str]| -> Action {
            let params = params.iter().map(|name| json!({"name": name, "type": "integer", "in": "body"}));
            let params: Vec<serde_json::Value> = params.collect();
            let operation = json!({"method": "POST", "path": format!("/{id}"), "scope": "instance"});
            let action = json!({"action": id, "summary": "x", "risk": "write", "operations": [operation], "params": params, "twin": twin});
            serde_json::from_value(action).unwrap()
        };
        let mut actions = vec![
            action("thing.create", None, &["push_level", "note"]),
            action("graphql.thing_create", Some("thing.create"), &["pushLevel", "deleteLevel"]),
        ];
        rules.apply(&mut actions).unwrap();
        let raised: Vec<(&str, Risk)> =
            actions[1].raises.iter().map(|raise| (raise.param.as_str(), raise.risk)).collect();
        assert_eq!(raised, [("pushLevel", Risk::Grant)]);
    }

    #[test]
    fn a_row_without_a_match_is_a_fault_with_the_nearest() {
        for (text, fault) in [
            (
                "[effects]\n\"thing.crate\" = []",
                "there is no action thing.crate; the nearest is thing.create",
            ),
            ("[effects]\n\"thing.create\" = [\"thing.create\"]", "thing.create is an effect of itself"),
            ("[risk]\ngrant = [\"thing.delete\"]", "risk.grant: thing.delete changes no risk"),
            ("[risk]\ndestructive = [\"thing.delete\"]", "risk.destructive: thing.delete changes no risk"),
            (
                "[[risk.raise]]\naction = \"thing.create\"\nparam = \"levels\"\nat_least = 1\nrisk = \"grant\"",
                "thing.create has no parameter levels; the nearest is level",
            ),
            (
                "[[risk.raise]]\naction = \"thing.create\"\nparam = \"level\"\nis = 1\ngiven = true\nrisk = \"grant\"",
                "wants one of any_of, at_least, is, given",
            ),
            ("[places.located]\nforeign = [\"thing.create:id\"]", "thing.create has no parameter id"),
            (
                "[[places.not_places]]\nreason = \"x\"\nparams = [\"nowhere\"]",
                "no parameter is called nowhere",
            ),
            (
                "[[places.not_places]]\nreason = \" \"\nparams = [\"kube_namespace\"]",
                "kube_namespace have no reason",
            ),
            (
                "[[plain_widgets]]\nreason = \"x\"\nparams = [\"thing.create:w\"]",
                "thing.create has no parameter w",
            ),
            ("[quick_actions]\ntexts = [\"thing.create\"]", "wants `action:param`"),
            ("[quick_actions.commands.x]\nactions = [\"thing.close\"]", "there is no action thing.close"),
        ] {
            let error = applied(text).unwrap_err();
            assert!(error.contains(fault), "{error}");
        }
    }
}

#[test]
fn bodies_that_are_references_and_paths_that_are_complex_keys_are_read() {
    let document = r##"
info:
  version: '19.5'
paths:
  "/api/v4/projects/{id}/service_accounts":
    post:
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer } }
      requestBody:
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/RequestBody_1'
  ? "/api/v4/groups/{id}/-/packages/debian/{distribution}/Release"
  : get:
      parameters:
        - { name: page, in: query, schema: { type: integer, nullable: true } }
components:
  schemas:
    RequestBody_1:
      type: object
      required: [name]
      properties:
        name: { type: string }
        owner: { $ref: '#/components/schemas/Owner' }
    Owner:
      type: object
      properties:
        username: { type: string, nullable: true }
        manager: { $ref: '#/components/schemas/Owner' }
"##;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openapi.yaml");
    std::fs::write(&path, document).unwrap();
    let read = openapi::load(&path).unwrap();
    let [post, get] = &read.operations[..] else { panic!("{:?}", read.operations) };
    assert_eq!(post.path, "/projects/:id/service_accounts");
    let body: Vec<(&str, bool)> =
        post.params.iter().map(|param| (param.name.as_str(), param.required)).collect();
    assert_eq!(body, [("name", true), ("owner", false)]);
    assert_eq!(post.params[1].fields[0].name, "username");
    assert_eq!(get.path, "/groups/:id/-/packages/debian/:distribution/Release");
    assert_eq!(get.params[0].name, "page");
    assert_eq!(read.version.as_deref(), Some("19.5"));
}

#[test]
fn the_version_of_a_description_is_read_in_each_of_its_forms() {
    let introduced =
        |text: &str| shapes::introduced(&json!({"description": text})).map(|found| found.to_string());
    for text in [
        "This feature was introduced in GitLab 17.1.",
        "Introduced in 17.1, for administrators",
        "since 17.1",
        "since 17.1, experiment; answers 202",
    ] {
        assert_eq!(introduced(text).as_deref(), Some("17.1"), "{text}");
    }
    for text in ["Rows since 17.1 are kept", "introduced in GitLab Premium", "since last week"] {
        assert_eq!(introduced(text), None, "{text}");
    }
}
