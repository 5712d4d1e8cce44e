//! The GraphQL documents of the catalog against GitLab's own schema, where `GITLAB_API_FILES` says it is.

use std::collections::BTreeSet;

use apollo_compiler::response::serde_json_bytes;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use gitlab_mcp::call::{Body, Call, Lookup, Part, batch, select_fields};
use gitlab_mcp::catalog::{Action, Base, Catalog, Holds, Names, Operation, Param, Place, Scope, Types};
use serde_json::{Map, Value, json};

use crate::catalog::data::{actions, call};
use crate::support::gitlab_files;

fn schema() -> Valid<Schema> {
    let text = std::fs::read_to_string(gitlab_files::folder().join("schema.graphql")).unwrap();
    let kept = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/kept/schema.graphql"));
    let builder = Schema::builder().adopt_orphan_extensions().parse(text, "schema.graphql");
    let parsed = builder.parse(kept, "kept/schema.graphql").build().unwrap();
    // Repetitions and omissions of the published schema are not tested here.
    Valid::assume_valid(parsed)
}

/// Every parameter that the operation takes, each with a value of its type.
fn everything(action: &Action, operation: &Operation) -> Map<String, Value> {
    let taken = |param: &&Param| param.scopes.is_empty() || param.scopes.contains(&operation.scope);
    let mut given: Map<String, Value> = action
        .params
        .iter()
        .filter(taken)
        .filter(|param| param.place != Place::Selector)
        .map(|param| (param.name.clone(), value(&of_scope(param, operation.scope))))
        .collect();
    if let Some(selector) = action.selector_of(operation.scope) {
        given.insert(selector.name.clone(), json!(operation.scope.name()));
    }
    given
}

/// The parameter with the fields that an operation of that scope takes.
fn of_scope(param: &Param, scope: Scope) -> Param {
    let taken = |field: &&Param| field.scopes.is_empty() || field.scopes.contains(&scope);
    Param { fields: param.fields.iter().filter(taken).cloned().collect(), ..param.clone() }
}

fn value(param: &Param) -> Value {
    let one = match (param.choices.first(), param.kind.base) {
        (Some(choice), _) => json!(choice),
        (None, _) if param.names == Some(Names::Issuable) => json!("acme/widget#1"),
        (None, Base::Integer | Base::IntegerOrString) => json!(1),
        (None, Base::Number) => json!(1.5),
        (None, Base::Role) => json!("developer"),
        (None, Base::Boolean) => json!(true),
        (None, Base::Date) => json!("2026-01-31"),
        (None, Base::DateTime) => json!("2026-01-31T09:00:00Z"),
        (None, Base::Object) => {
            Value::Object(param.fields.iter().map(|field| (field.name.clone(), value(field))).collect())
        }
        (None, Base::String) if is_a_day(&param.name) => json!("2026-01-31"),
        (None, Base::String | Base::File | Base::Any) => json!("text"),
    };
    if param.kind.many { json!([one]) } else { one }
}

/// GitLab's inputs write some days as strings, which are checked by their names.
fn is_a_day(name: &str) -> bool {
    name.trim_end_matches("Fixed").to_lowercase().ends_with("date")
}

fn sent(call: &Call) -> (String, Value) {
    let body: Value = match call.body() {
        Body::Json(body) => body.clone(),
        Body::Multipart(parts) => match parts.first() {
            // The placeholder of a file is set where the server reads the parts.
            Some(Part::Text { value, .. }) => {
                serde_json::from_str(&value.replace("null", "\"file\"")).unwrap()
            }
            _ => panic!("{}", call.operation()),
        },
        _ => panic!("{}", call.operation()),
    };
    (body["query"].as_str().unwrap().to_owned(), body["variables"].clone())
}

/// The action with that operation alone.
fn only(action: &Action, operation: &Operation) -> Action {
    Action { operations: vec![operation.clone()], ..action.clone() }
}

fn check(schema: &Valid<Schema>, action: &Action, operation: &Operation) -> Option<String> {
    let mut given = everything(action, operation);
    action.selector().map(|selector| given.remove(&selector.name));
    let call = call(&only(action, operation), given);
    let (document, variables) = sent(&call);
    let parsed = match ExecutableDocument::parse_and_validate(schema, &document, "document.graphql") {
        Ok(parsed) => parsed,
        Err(faults) => return Some(format!("{operation}: {document}\n{}", faults.errors)),
    };
    let operation_of = parsed.operations.anonymous.as_ref()?;
    let Value::Object(_) = &variables else { return Some(format!("{operation}: no variables")) };
    let variables = serde_json_bytes::Value::from(variables);
    let coerced =
        apollo_compiler::request::coerce_variable_values(schema, operation_of, variables.as_object()?);
    coerced.err().map(|fault| format!("{operation}: {fault:?}"))
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's schema.graphql")]
fn every_document_is_valid_with_every_argument() {
    let schema = schema();
    let mut faults = Vec::new();
    let mut checked = 0;
    for action in actions() {
        for operation in action.choices().filter(|operation| operation.graphql.is_some()) {
            checked += 1;
            faults.extend(check(&schema, &action, operation));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(checked > 1_100, "{checked}");
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's schema.graphql")]
fn every_mutation_and_field_of_the_root_is_in_the_catalog() {
    let schema = schema();
    let mut missing: BTreeSet<String> = ["query", "mutation"]
        .into_iter()
        .flat_map(|kind| {
            let root = if kind == "query" { "Query" } else { "Mutation" };
            let fields = schema.get_object(root).unwrap().fields.keys().map(ToString::to_string);
            fields.map(move |field| format!("{kind} {field}")).collect::<Vec<_>>()
        })
        .collect();
    for operation in actions().iter().flat_map(|action| &action.operations) {
        missing.remove(&operation.to_string());
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Paths into a type: its first leaves, objects to be named, members of objects and connections, and members that only
/// some of an interface's objects have.
fn paths(types: &Types, name: &str) -> Vec<String> {
    let of = types.get(name).unwrap().unwrap();
    let leaf = |name: &str| {
        let of = types.get(name).unwrap().unwrap();
        of.fields().find(|field| field.holds == Holds::Leaf).map(|field| field.name.to_owned())
    };
    let mut paths: Vec<String> = of.members().filter_map(leaf).collect();
    for field in of.fields() {
        paths.push(field.name.to_owned());
        match field.holds {
            Holds::Leaf => {}
            Holds::Object(inner) => paths.extend(leaf(inner).map(|leaf| format!("{}.{leaf}", field.name))),
            Holds::Connection { of, counted } => {
                paths.extend(leaf(of).map(|leaf| format!("{}.nodes.{leaf}", field.name)));
                paths.extend(counted.then(|| format!("{}.count", field.name)));
            }
        }
    }
    paths.truncate(24);
    paths
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's schema.graphql")]
fn every_document_is_valid_with_the_fields_that_somebody_wants() {
    let schema = schema();
    let catalog = Catalog::embedded().unwrap();
    let mut faults = Vec::new();
    let mut checked = 0;
    for action in actions() {
        for operation in action.choices() {
            let Some(graphql) = &operation.graphql else { continue };
            let Some((_, spread)) = graphql.selection.split_once("...") else { continue };
            let name = spread.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            let paths = paths(catalog.types(), name);
            let (selecting, shown) = select_fields(only(&action, operation), &paths, catalog.types())
                .unwrap_or_else(|error| panic!("{operation}: {error}"));
            assert!(!shown.is_empty(), "{operation}");
            checked += 1;
            faults.extend(check(&schema, &selecting, &selecting.operations[0]));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(checked > 1_000, "{checked}");
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's schema.graphql")]
fn the_query_that_looks_up_many_names_is_valid() {
    let schema = schema();
    let question = |names: Names, name: &str, scope: Option<&'static str>| {
        let place = [("fullPath", "acme/widget".to_owned())];
        let scope = scope.map(|scope| ("scope", scope.to_owned()));
        Lookup::IdOf { names, name: name.to_owned(), within: place.into_iter().chain(scope).collect() }
    };
    let mut questions: Vec<Lookup> = [Names::User, Names::Project, Names::Group]
        .into_iter()
        .map(|names| question(names, "acme", None))
        .collect();
    for names in [Names::Milestone, Names::Label, Names::Iteration] {
        questions.extend([None, Some("project"), Some("group")].map(|scope| question(names, "v1", scope)));
    }
    for (names, reference) in [
        (Names::Issue, "acme/widget#1"),
        (Names::MergeRequest, "acme/widget!1"),
        (Names::Epic, "acme&1"),
        (Names::EpicIid, "acme&1"),
        (Names::WorkItem, "acme&1"),
        (Names::Issuable, "acme/widget#1"),
        (Names::Issuable, "acme/widget!1"),
        (Names::Issuable, "acme&1"),
    ] {
        questions.push(question(names, reference, None));
    }
    let batch = batch(&questions).unwrap();
    let (document, variables) = sent(batch.call());
    let aliases = (0..questions.len()).filter(|at| variables.get(format!("n{at}")).is_some()).count();
    assert_eq!(aliases, questions.len(), "each is asked: {document}");
    let parsed = ExecutableDocument::parse_and_validate(&schema, &document, "document.graphql");
    assert!(parsed.is_ok(), "{document}\n{}", parsed.unwrap_err().errors);
}

/// Cost of a selection by GitLab's count: a field 1, a connection of a hundred twice its content.
fn cost(set: &apollo_compiler::executable::SelectionSet, document: &ExecutableDocument) -> usize {
    use apollo_compiler::executable::Selection;
    set.selections
        .iter()
        .map(|selection| match selection {
            Selection::Field(field) => {
                let inner = 1 + cost(&field.selection_set, document);
                let connection = field.definition.ty.inner_named_type().ends_with("Connection");
                if connection { inner * 2 } else { inner }
            }
            Selection::InlineFragment(inline) => cost(&inline.selection_set, document),
            Selection::FragmentSpread(spread) => document
                .fragments
                .get(&spread.fragment_name)
                .map_or(0, |found| cost(&found.selection_set, document)),
        })
        .sum()
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's schema.graphql")]
fn no_document_costs_what_gitlab_refuses() {
    /// GitLab's limit without a token; with one it is 250. The margin is for `cost`, which estimates its formula.
    const LIMIT: usize = 200;
    let schema = schema();
    for action in actions() {
        for operation in action.choices().filter(|operation| operation.graphql.is_some()) {
            let mut given = everything(&action, operation);
            // Without the selector; a few operations have an argument of that name.
            if action.selector().is_some() {
                given.remove("scope");
            }
            let (document, _) = sent(&call(&only(&action, operation), given));
            let parsed = ExecutableDocument::parse(&schema, &document, "document.graphql")
                .unwrap_or_else(|errors| panic!("{operation}: {}", errors.errors));
            let set = &parsed.operations.anonymous.as_ref().unwrap().selection_set;
            let cost = cost(set, &parsed);
            assert!(cost < LIMIT, "{operation} costs {cost}: {document}");
        }
    }
}

#[test]
fn places_are_named_alike_everywhere() {
    for action in actions() {
        for operation in action.choices().filter(|operation| operation.graphql.is_some()) {
            if matches!(operation.scope, Scope::Project | Scope::Group) {
                let by_path = action.param("fullPath").is_some();
                let names = |param: &Param| matches!(param.names, Some(Names::Project | Names::Group));
                let by_id = action.params.iter().any(names) || action.selector().is_some_and(|s| s.required);
                assert!(
                    by_path || by_id,
                    "{operation} is of a {} that nothing names",
                    operation.scope.name()
                );
            }
        }
    }
}
