use serde_json::{Map, Value, json};

use super::*;
use crate::catalog::{Base, Catalog, Names, Param, ParamKind};

fn param(base: Base, many: bool) -> Param {
    Param { name: "iid".into(), kind: ParamKind { base, many }, ..Param::default() }
}

fn fitted(param: &Param, value: Value) -> Result<Value, Fault> {
    coerce::fitted(param, value, &mut Vec::new())
}

#[test]
fn values_are_converted_only_where_nothing_is_lost() {
    let cases = [
        (Base::Integer, json!("12"), Some(json!(12))),
        (Base::Integer, json!("#12"), Some(json!(12))),
        (Base::Integer, json!(1.5), None),
        (Base::Integer, json!("twelve"), None),
        (Base::Integer, json!(true), None),
        (Base::String, json!(12), Some(json!("12"))),
        (Base::String, json!({"a": 1}), None),
        (Base::Boolean, json!("true"), Some(json!(true))),
        (Base::Boolean, json!("yes"), None),
        (Base::Boolean, json!(1), None),
        (Base::Date, json!("2026-02-28"), Some(json!("2026-02-28"))),
        (Base::Date, json!("2026-02-30"), None),
        (Base::Date, json!("28.02.2026"), None),
        (Base::DateTime, json!("2026-02-28T09:00:00Z"), Some(json!("2026-02-28T09:00:00Z"))),
        (Base::DateTime, json!("2026-02-28"), Some(json!("2026-02-28"))),
        (Base::DateTime, json!("tomorrow"), None),
        (Base::Number, json!("1.5"), Some(json!(1.5))),
        (Base::Object, json!("{\"a\": 1}"), Some(json!({"a": 1}))),
    ];
    for (base, given, expected) in cases {
        assert_eq!(fitted(&param(base, false), given.clone()).ok(), expected, "{given} as {}", base.name());
    }
}

#[test]
fn a_time_in_place_of_a_day_is_offered_as_the_day_that_is_written() {
    let due = Param { name: "due_date".into(), ..param(Base::String, false) };
    for (given, day) in
        [("2026-01-31T23:30:00-05:00", "2026-01-31"), ("2026-02-01T00:30:00+09:00", "2026-02-01")]
    {
        let Err(Fault::NoDate { readings, .. }) = fitted(&due, json!(given)) else { panic!("{given}") };
        assert_eq!(readings, [day], "{given}");
    }
}

#[test]
fn a_hash_is_a_number_only_where_it_is_an_iid() {
    let id = Param { name: "user_id".into(), ..param(Base::Integer, false) };
    assert!(fitted(&id, json!("#12")).is_err());
}

#[test]
fn a_list_may_be_one_value_or_text_with_commas() {
    let labels = param(Base::String, true);
    assert_eq!(fitted(&labels, json!("a, b")).unwrap(), json!(["a", "b"]));
    assert_eq!(fitted(&labels, json!("a")).unwrap(), json!(["a"]));
    assert_eq!(fitted(&labels, json!(["a,b"])).unwrap(), json!(["a,b"]), "a list is not split");
}

#[test]
fn objects_are_checked_to_their_fields() {
    let field = Param { name: "level".into(), required: true, ..param(Base::Integer, false) };
    let object = Param { name: "access".into(), fields: vec![field], ..param(Base::Object, false) };
    assert_eq!(fitted(&object, json!({"level": "30"})).unwrap(), json!({"level": 30}));
    let unknown = fitted(&object, json!({"level": 30, "user": 1})).unwrap_err();
    assert_eq!(unknown.name(), "access.user");
    let missing = fitted(&object, json!({})).unwrap_err();
    assert!(matches!(missing, Fault::Missing { ref name, .. } if name == "access.level"), "{missing}");
}

fn check_action(id: &str, params: Value) -> Result<Checked, Invalid> {
    let catalog = Catalog::embedded().unwrap();
    let params: Map<String, Value> = params.as_object().cloned().unwrap();
    let base = url::Url::parse("https://gitlab.example.com").unwrap();
    let context = Context {
        base: &base,
        words: catalog.words().unwrap(),
        surface: catalog.operations().unwrap(),
        catalog: &catalog,
        quick_actions: Default::default(),
    };
    check(catalog.get(id).unwrap().unwrap(), params, &context)
}

#[test]
fn every_fault_is_found_at_once_and_what_is_right_is_kept() {
    let invalid = check_action(
        "issue.list",
        json!({"fullPath": "acme/widget", "state": "unopened", "nonsense": 1, "per_page": "many"}),
    )
    .unwrap_err();
    let names: Vec<&str> = invalid.faults.iter().map(Fault::name).collect();
    assert_eq!(names, ["state", "per_page", "nonsense"]);
    assert_eq!(Value::Object(invalid.right), json!({"fullPath": "acme/widget"}));
}

#[test]
fn null_is_not_given() {
    let checked =
        check_action("issue.list", json!({"fullPath": "acme/widget", "state": null, "nonsense": null}));
    assert_eq!(checked.unwrap().params().len(), 1);
}

#[test]
fn a_spelling_never_takes_what_has_a_name_of_its_own() {
    // `id` is a spelling of fullPath; where fullPath is given, it is not given twice.
    let checked = check_action("job.get", json!({"fullPath": "acme/widget", "id": 7}));
    assert!(checked.is_err() || checked.unwrap().params().get("job_id") == Some(&json!(7)));
    let checked = check_action("issue.get", json!({"id": "acme/widget", "issue_iid": 7})).unwrap();
    assert_eq!(checked.params(), json!({"fullPath": "acme/widget", "iid": 7}).as_object().unwrap());
    assert_eq!(checked.understood(), ["`id` as `fullPath`", "`issue_iid` as `iid`"]);
}

#[test]
fn a_bare_id_is_the_object_where_gitlab_has_it_without_a_place() {
    for (given, wanted) in [
        (json!({"id": "My aliases"}), json!({"snippet_id": "My aliases"})),
        (json!({"id": 2}), json!({"snippet_id": 2})),
        (json!({"id": "acme/widget", "snippet_id": 2}), json!({"fullPath": "acme/widget", "snippet_id": 2})),
        (json!({"snippet_id": 2, "id": 7}), json!({"snippet_id": 2, "fullPath": "7"})),
    ] {
        let checked = check_action("snippet.get", given.clone()).unwrap();
        assert_eq!(checked.params(), wanted.as_object().unwrap(), "{given}");
    }
}

#[test]
fn a_parameter_of_another_scope_is_told() {
    let checked =
        check_action("issue.list", json!({"fullPath": "acme", "scope": "group", "cursor": "x"})).unwrap();
    let invalid = checked.step(&LookupCache::default()).unwrap_err();
    assert!(
        invalid.to_string().contains("`cursor` is not accepted for scope `group`, only for `project`"),
        "{invalid}"
    );
}

#[test]
fn a_question_is_asked_once_and_remembered() {
    let checked = check_action("ci_variable.list", json!({"fullPath": "acme"})).unwrap();
    let mut known = LookupCache::default();
    let question = Lookup::KindOf { full_path: "acme".into() };
    assert_eq!(checked.step(&known).unwrap(), Step::Ask(vec![question.clone()]));
    known.learn(question.clone(), LookupAnswer::Kind(crate::catalog::Scope::Group));
    let Step::Ready(call) = checked.step(&known).unwrap() else { panic!("it should know") };
    assert_eq!(call.path(), "/api/v4/groups/acme/variables");
    known.forget(&question);
    assert!(matches!(checked.step(&known).unwrap(), Step::Ask(_)));
}

#[test]
fn an_epic_without_a_path_is_of_the_own_group_of_the_project() {
    let params = json!({"fullPath": "acme/tools/cli", "iid": 1, "epic_id": "&7"});
    let checked = check_action("issue.update", params).unwrap();
    let Step::Ask(questions) = checked.step(&LookupCache::default()).unwrap() else {
        panic!("it should ask")
    };
    let asked: Vec<&str> = questions.iter().filter_map(Lookup::given_name).collect();
    assert_eq!(asked, ["acme/tools&7"]);
}

/// Everybody can change the own display name: another user may have it at the next call.
#[test]
fn a_user_who_is_named_by_the_display_name_is_looked_up_each_time() {
    let user = |name: &str| Lookup::IdOf {
        names: Names::User,
        name: name.to_owned(),
        within: std::collections::BTreeMap::new(),
    };
    assert!(user("Alice Ambler").is_passing());
    assert!(!user("alice").is_passing());
}

/// GraphQL takes the first rows before the last ones of them, where it is given both (Cursor Connections, 4.4).
#[test]
fn the_last_rows_are_those_of_the_whole_list() {
    let params = json!({"fullPath": "acme/widget", "last": 5});
    let checked = check_action("terraform_state.list", params.clone()).unwrap();
    let Step::Ready(call) = checked.step(&LookupCache::default()).unwrap() else {
        panic!("it needs no look-up")
    };
    let Body::Json(body) = call.body() else { panic!("{:?}", call.body()) };
    assert_eq!(body["variables"], params);
}
