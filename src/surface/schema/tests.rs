use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::*;
use crate::catalog::Catalog;
use crate::catalog::Risk;

/// The tool of the milestones, before customization.
fn milestones(params: ParamSchema) -> Source {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    let actions = catalog.actions().map(Result::unwrap);
    let own = actions.filter(|action| action.twin.is_none() && words.family(&action.id) == "milestones");
    let mut source = Source {
        name: "gitlab_milestones".to_owned(),
        title: Some("Milestones".to_owned()),
        description: "Milestones.".to_owned(),
        own: json!({"confirm": {"type": "boolean"}}).as_object().cloned().unwrap(),
        branches: own.map(|action| Branch::new(&action, words)).collect(),
        form: Form::Within(params),
        ..Source::default()
    };
    source.shorten();
    source
}

/// No other spellings.
fn as_written(_: &str, _: &str) -> Option<String> {
    None
}

/// The parameters that a schema names, in either mode.
fn property_names(schema: &Map<String, Value>) -> BTreeSet<String> {
    let params = |schema: &Value| {
        let properties = schema.pointer("/properties/params/properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect::<Vec<_>>()
    };
    let alternatives = schema.get("oneOf").and_then(Value::as_array).cloned().unwrap_or_default();
    alternatives.iter().flat_map(params).chain(params(&json!(schema))).collect()
}

fn of_branches<'a>(branches: impl Iterator<Item = &'a Branch>) -> BTreeSet<String> {
    branches.flat_map(|branch| branch.params.keys().cloned()).collect()
}

#[test]
fn what_is_denied_takes_with_it_exactly_the_parameters_that_only_it_had() {
    for params in [ParamSchema::Compact, ParamSchema::Full] {
        for mode in [SchemaMode::Flat, SchemaMode::Discriminated] {
            let whole = milestones(params);
            let is_create = |branch: &Branch| branch.action == "milestone.create";
            let create = of_branches(whole.branches.iter().filter(|branch| is_create(branch)));
            let others = of_branches(whole.branches.iter().filter(|branch| !is_create(branch)));
            let mut pruned = whole.clone();
            pruned.prune(is_create);
            let (before, after) = (whole.finished(mode), pruned.finished(mode));

            let lost: BTreeSet<String> = property_names(&before.input_schema)
                .difference(&property_names(&after.input_schema))
                .cloned()
                .collect();
            let theirs_alone: BTreeSet<String> = others.difference(&create).cloned().collect();
            assert_eq!(lost, theirs_alone, "{params:?} {mode:?}");
            assert!(lost.contains("milestone_id") && lost.contains("state_event"));
            assert_eq!(property_names(&after.input_schema), create);
            assert!(create.contains("title") && create.contains("fullPath"));
            assert!(after.bytes() < before.bytes() / 2, "{} of {}", after.bytes(), before.bytes());
        }
    }
}

#[test]
fn the_flat_schema_is_one_object_and_the_other_an_alternative_an_action() {
    let source = milestones(ParamSchema::Full);
    let ids: Vec<String> = source.branches.iter().map(|branch| branch.action.clone()).collect();
    let flat = source.clone().finished(SchemaMode::Flat).input_schema;
    assert_eq!(flat["properties"]["action"]["enum"], json!(ids));
    assert!(flat["properties"]["params"].get("required").is_none() && !flat.contains_key("oneOf"));
    let other = source.finished(SchemaMode::Discriminated).input_schema;
    let consts: Vec<&Value> = other["oneOf"].as_array().unwrap().iter().collect();
    let consts: Vec<&Value> = consts.iter().map(|one| &one["properties"]["action"]["const"]).collect();
    assert_eq!(json!(consts), json!(ids));
    for schema in [flat, other] {
        jsonschema::meta::validate(&Value::Object(schema)).unwrap();
    }
}

#[test]
fn an_alternative_takes_its_own_action_with_its_own_parameters() {
    let schema = milestones(ParamSchema::Compact).finished(SchemaMode::Discriminated).input_schema;
    let validator = jsonschema::validator_for(&Value::Object(schema)).unwrap();
    let call = |action: &str, params: Value| json!({"action": action, "params": params});
    assert!(validator.is_valid(&call("milestone.create", json!({"fullPath": "a/b", "title": "1.0"}))));
    assert!(!validator.is_valid(&call("milestone.create", json!({"fullPath": "a/b"}))), "a title is needed");
    assert!(!validator.is_valid(&call("milestone.no_such", json!({}))));
}

#[test]
fn opaque_names_the_actions_alone() {
    let opaque = milestones(ParamSchema::Opaque).finished(SchemaMode::Discriminated);
    assert_eq!(property_names(&opaque.input_schema), BTreeSet::new());
    assert!(opaque.input_schema["properties"]["action"]["enum"].as_array().unwrap().len() > 5);
    let [compact, full] =
        [ParamSchema::Compact, ParamSchema::Full].map(|params| milestones(params).finished(SchemaMode::Flat));
    assert!(opaque.bytes() < compact.bytes() && compact.bytes() < full.bytes());
}

#[test]
fn opaque_says_what_somebody_wrote_all_the_same() {
    let mut source = milestones(ParamSchema::Opaque);
    source.describe(
        &[change(Level::Action, "MILESTONES_CREATE"), change(Level::Param, "MILESTONES_TITLE")],
        &as_written,
    );
    let schema = Value::Object(source.finished(SchemaMode::Flat).input_schema);
    let properties = &schema["properties"];
    assert_eq!(
        properties["action"]["description"],
        "milestone.create(fullPath, title): about MILESTONES_CREATE"
    );
    let params = properties["params"]["properties"].as_object().unwrap();
    assert_eq!(params.keys().collect::<Vec<_>>(), ["title"]);
}

fn change(level: Level, name: &str) -> Override {
    let (_, prefix, _) = Level::ALL.into_iter().find(|(of, ..)| *of == level).unwrap();
    Override::new(level, name, format!("about {name}"), prefix, "")
}

#[test]
fn descriptions_are_overridden_at_three_levels() {
    let all = [
        change(Level::Tool, "MILESTONES"),
        change(Level::Action, "GITLAB_MILESTONES_CREATE"),
        change(Level::Action, "MANAGE_MILESTONE_UPDATE"),
        change(Level::Param, "MILESTONES_FULL_PATH"),
        change(Level::Param, "MILESTONE_TITLE"),
        change(Level::Param, "MILESTONES_CONFIRM"),
    ];
    let mut source = milestones(ParamSchema::Compact);
    source.describe(&all, &as_written);
    let tool = source.finished(SchemaMode::Flat);
    assert_eq!(tool.description, "about MILESTONES");
    let schema = Value::Object(tool.input_schema);
    let lines = schema["properties"]["action"]["description"].as_str().unwrap();
    assert!(lines.contains("milestone.create(fullPath, title): about GITLAB_MILESTONES_CREATE"), "{lines}");
    assert!(lines.contains("about MANAGE_MILESTONE_UPDATE"));
    let params = &schema["properties"]["params"]["properties"];
    assert!(params["fullPath"]["description"].as_str().unwrap().starts_with("about MILESTONES_FULL_PATH"));
    assert!(params["title"]["description"].as_str().unwrap().starts_with("about MILESTONE_TITLE"));
    assert!(
        params["due_date"].get("description").is_none(),
        "compact has no description if the catalog has none"
    );
    assert_eq!(schema["properties"]["confirm"]["description"], "about MILESTONES_CONFIRM");
}

#[test]
fn a_tool_that_reads_is_not_meant_by_the_name_of_one_that_changes() {
    let mut source = Source { name: "browse_milestones".to_owned(), ..milestones(ParamSchema::Full) };
    let before = source.description.clone();
    source.describe(&[change(Level::Tool, "MANAGE_MILESTONES"), change(Level::Tool, "LABELS")], &as_written);
    assert_eq!(source.description, before);
    source.describe(&[change(Level::Tool, "BROWSE_MILESTONE")], &as_written);
    assert_eq!(source.description, "about BROWSE_MILESTONE");
}

#[test]
fn what_describes_nothing_is_told_with_the_nearest_name() {
    let all = [
        change(Level::Action, "MILESTONES_CRATE"),
        change(Level::Action, "MILESTONES_CREATE"),
        change(Level::Param, "MILESTONES_TITEL"),
        change(Level::Tool, "SOMETHING_ELSE"),
        change(Level::Param, "MANAGE_MILESTONE_TITEL"),
    ];
    let mut unmatched = Unmatched::new(&all);
    unmatched.look_at(&milestones(ParamSchema::Full), &as_written);
    let warnings = unmatched.warnings("meta");
    let [action, param, tool, of_side] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(action.starts_with("GITLAB_ACTION_MILESTONES_CRATE describes nothing that the meta surface has"));
    assert!(action.contains("CREATE"), "{action}");
    assert!(param.ends_with("the nearest is GITLAB_PARAM_MILESTONES_TITLE"), "{param}");
    assert!(tool.ends_with("surface has"), "{tool}");
    assert!(of_side.ends_with("the nearest is GITLAB_PARAM_MILESTONES_TITLE"), "{of_side}");
}

#[test]
fn of_parameters_that_differ_what_either_takes_is_kept() {
    let branch = |action: &str, schema: Value| Branch {
        action: action.to_owned(),
        risk: Risk::Read,
        description: String::new(),
        told: false,
        told_params: BTreeSet::new(),
        params: Map::from_iter([("p".to_owned(), schema)]),
        required: Vec::new(),
    };
    let merged = |one: Value, two: Value| {
        let branches = vec![branch("a.one", one), branch("a.two", two)];
        let source = Source { branches, ..milestones(ParamSchema::Full) };
        source.finished(SchemaMode::Flat).input_schema["properties"]["params"]["properties"]["p"].clone()
    };
    let choice = |choices: Value| json!({"type": "string", "enum": choices});
    assert_eq!(merged(choice(json!(["a", "b"])), choice(json!(["b", "c"]))), choice(json!(["a", "b", "c"])));
    assert_eq!(merged(choice(json!(["a"])), json!({"type": "string"})), json!({"type": "string"}));
    assert_eq!(merged(json!({"type": "string"}), json!({"type": "integer"})), json!({}));
    let with_default = json!({"type": "integer", "default": 1});
    assert_eq!(merged(with_default, json!({"type": "integer"})), json!({"type": "integer"}));
}
