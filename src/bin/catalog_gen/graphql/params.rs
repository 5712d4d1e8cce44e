//! Converts arguments and input objects to parameters.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{Base, Json, Param, ParamKind, Place};

use super::reach::GraphqlPath;
use super::sdl::{Input, Sdl, Shape, Status};
use crate::paths::singular;

/// Maximum depth of described input objects; deeper ones take any object.
const DEEPEST: usize = 4;

/// Default page size, as in REST.
const PAGE: u64 = 20;

/// Names of arguments that hold the path of a project, group or namespace.
const PATHS: [&str; 4] = ["fullPath", "projectPath", "groupPath", "namespacePath"];

/// Scalars and the type of their values; any other is a string.
const SCALARS: [(&str, Base); 13] = [
    ("Int", Base::Integer),
    ("BigInt", Base::IntegerOrString),
    ("Float", Base::Number),
    ("Boolean", Base::Boolean),
    ("Date", Base::Date),
    ("ISO8601Date", Base::Date),
    ("Time", Base::DateTime),
    ("ISO8601DateTime", Base::DateTime),
    ("Timestamp", Base::DateTime),
    ("JSON", Base::Any),
    ("JobInputInterpolationValue", Base::Any),
    ("CiInputsValue", Base::Any),
    ("Upload", Base::File),
];

/// Parameters and fields by their path in the request (`not.labels`), with their accepted values; none if it takes any.
pub type KnownParams = BTreeMap<String, BTreeSet<String>>;

/// Parameters of an operation, and which of them are arguments of the path to its field.
pub struct CollectedParams {
    pub params: Vec<Param>,
    /// See [`gitlab_mcp::catalog::Graphql::variables`].
    pub variables: BTreeMap<String, String>,
}

/// The parameters of an operation.
pub fn collect(reached: &GraphqlPath<'_>, sdl: &Sdl) -> CollectedParams {
    let mut taken = CollectedParams { params: Vec::new(), variables: BTreeMap::new() };
    let Some((leaf, way)) = reached.steps.split_last() else { return taken };
    for step in way {
        for argument in step.arguments.iter().filter(|argument| is_required_argument(argument)) {
            let place = format!("{}.{}", step.name, argument.name);
            let name = known_name(&argument.name).unwrap_or(match argument.name.as_str() {
                "id" => "milestone_id",
                other => other,
            });
            taken.variables.insert(place, name.to_owned());
            taken.params.push(Param { name: name.to_owned(), ..way_param(argument, sdl) });
        }
    }
    let inputs =
        if reached.mutation { mutation_inputs(leaf.arguments.as_slice(), sdl) } else { &leaf.arguments };
    for input in inputs.iter().filter(|input| is_taken(input)) {
        let mut param = param(input, sdl, 0);
        param.place = if reached.mutation { Place::Body } else { Place::Query };
        if reached.mutation && param.name != "iid" {
            param.graphql = None;
        }
        if param.name == "first" && param.kind.base == Base::Integer {
            param.default = Some(Json(PAGE.into()));
        }
        rename(&mut param, inputs);
        let leads =
            param.required && param.name == "fullPath" && !taken.variables.values().any(|v| v == "fullPath");
        if leads {
            let step = if reached.mutation { "input" } else { leaf.name.as_str() };
            taken.variables.insert(format!("{step}.{}", input.name), "fullPath".to_owned());
            param.place = Place::Path;
        }
        if taken.params.iter().any(|known| known.name == param.name) {
            // A placeholder of the path has the name already.
            let own = format!("{}_{}", singular(&leaf.name), param.wire.as_deref().unwrap_or(&param.name));
            param.wire.get_or_insert_with(|| input.name.clone());
            param.name = own;
        }
        taken.params.push(param);
    }
    taken
}

/// The arguments of an operation and their fields by path (`developmentWidget.branch`), with the values of enumerations.
/// Unlike the parameters, with deprecated ones.
pub fn arguments(reached: &GraphqlPath<'_>, sdl: &Sdl) -> KnownParams {
    let mut known = KnownParams::new();
    let Some(leaf) = reached.steps.last() else { return known };
    let inputs =
        if reached.mutation { mutation_inputs(leaf.arguments.as_slice(), sdl) } else { &leaf.arguments };
    add_arguments(inputs, "", sdl, 0, &mut known);
    known
}

fn add_arguments(inputs: &[Input], within: &str, sdl: &Sdl, depth: usize, known: &mut KnownParams) {
    for input in inputs {
        let path = format!("{within}{}", input.name);
        let shape = sdl.shape(&input.ty.name);
        if let Some(Shape::Input(fields)) = shape.filter(|_| depth < DEEPEST) {
            add_arguments(fields, &format!("{path}."), sdl, depth + 1, known);
        }
        let choices = match shape {
            Some(Shape::Enum(values)) => values.iter().cloned().collect(),
            _ => BTreeSet::new(),
        };
        known.insert(path, choices);
    }
}

/// The fields of a mutation's `input`.
fn mutation_inputs<'a>(arguments: &'a [Input], sdl: &'a Sdl) -> &'a [Input] {
    let input = arguments.iter().find(|argument| argument.name == "input");
    match input.and_then(|input| sdl.shape(&input.ty.name)) {
        Some(Shape::Input(inputs)) => inputs,
        _ => &[],
    }
}

/// Arguments of an intermediate field that are required or identify its object.
fn is_required_argument(argument: &Input) -> bool {
    argument.ty.required || argument.name == "iid"
}

fn is_taken(input: &Input) -> bool {
    input.status != Status::Deprecated && input.name != "clientMutationId"
}

/// Path to the field.
fn way_param(argument: &Input, sdl: &Sdl) -> Param {
    Param { place: Place::Path, required: true, ..param(argument, sdl, 0) }
}

/// Our own name of an argument for a place or an object with an iid.
fn known_name(name: &str) -> Option<&'static str> {
    match name {
        "iid" => Some("iid"),
        _ if PATHS.contains(&name) => Some("fullPath"),
        _ => None,
    }
}

/// `projectPath` becomes `fullPath` unless another argument is a path too.
fn rename(param: &mut Param, inputs: &[Input]) {
    let paths = inputs.iter().filter(|input| is_taken(input) && PATHS.contains(&input.name.as_str())).count();
    if PATHS.contains(&param.name.as_str()) && paths == 1 && param.name != "fullPath" && !param.kind.many {
        param.wire = Some(std::mem::replace(&mut param.name, "fullPath".to_owned()));
    }
}

fn param(input: &Input, sdl: &Sdl, depth: usize) -> Param {
    let shape = sdl.shape(&input.ty.name);
    let mut param = Param {
        name: input.name.clone(),
        kind: ParamKind { base: base(input, sdl, depth), many: input.ty.many },
        default: input.default.clone().filter(|default| !default.is_array()).map(Json),
        required: input.ty.required && input.default.is_none(),
        graphql: Some(strict(input)),
        since: match &input.status {
            Status::Experiment(version) => version.parse().ok(),
            Status::Stable | Status::Deprecated => None,
        },
        ..Param::default()
    };
    match shape {
        Some(Shape::Scalar(gid)) => param.gid = gid.clone(),
        Some(Shape::Enum(values)) => param.choices = values.clone(),
        Some(Shape::Input(fields)) if depth < DEEPEST => {
            param.fields = fields
                .iter()
                .filter(|field| is_taken(field))
                .map(|field| Param { graphql: None, ..self::param(field, sdl, depth + 1) })
                .collect();
        }
        _ => {}
    }
    param
}

/// Type of an optional variable.
fn strict(input: &Input) -> String {
    let text = &input.ty.text;
    if text.ends_with('!') { text.clone() } else { format!("{text}!") }
}

fn base(input: &Input, sdl: &Sdl, depth: usize) -> Base {
    let name = input.ty.name.as_str();
    match sdl.shape(name) {
        Some(Shape::Input(_)) => Base::Object,
        Some(Shape::Scalar(Some(_))) => Base::IntegerOrString,
        Some(Shape::Enum(_)) => Base::String,
        _ if input.name == "iid" && !input.ty.many && depth == 0 => Base::Integer,
        _ if name == "ID" && is_id(&input.name) => Base::IntegerOrString,
        _ => SCALARS.iter().find(|(scalar, _)| *scalar == name).map_or(Base::String, |(_, base)| *base),
    }
}

fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("Id") || name.ends_with("Ids")
}
