//! Looks up several names in one GraphQL query: each is an aliased field, its values are variables. Names that the
//! query does not answer are left to the REST reads of their resolver.

use serde_json::{Map, Value, json};

use super::checked_call::GRAPHQL_PATH;
use super::location::GLOBAL;
use super::{Body, Call, Effects, HolderKind, Location, Lookup, LookupAnswer, TouchedPlace};
use crate::catalog::{Method, Names, Risk, Touched};
use crate::text::is_digits;

/// Values of `scope`, and names of the fields of a project and a group.
const PROJECT: &str = "project";
const GROUP: &str = "group";

/// GraphQL field that finds an object of a kind by its name.
struct LookupField {
    names: Names,
    /// Mark between the path of the project or group and the number; none if the object has a name.
    mark: Option<char>,
    /// Query text, with `$n` for the name or number and `$p` for the path. Of objects with titles, it is the list of them in
    /// a project or group.
    text: &'static str,
}

impl LookupField {
    const fn by_name(names: Names, text: &'static str) -> LookupField {
        LookupField { names, mark: None, text }
    }

    const fn by_number(names: Names, mark: char, text: &'static str) -> LookupField {
        LookupField { names, mark: Some(mark), text }
    }

    /// Name of the list, if it is one.
    fn list(&self) -> Option<&'static str> {
        self.text.split_once('(').filter(|_| self.text.ends_with(')')).map(|(name, _)| name)
    }
}

const ISSUE: &str = "project(fullPath:$p){found:issue(iid:$n){id}}";
const MERGE_REQUEST: &str = "project(fullPath:$p){found:mergeRequest(iid:$n){id}}";
const EPIC: &str = "group(fullPath:$p){found:epic(iid:$n){id}}";
const WORK_ITEM: &str = "namespace(fullPath:$p){found:workItem(iid:$n){id}}";

/// A row for each kind and mark.
const FIELDS: &[LookupField] = &[
    LookupField::by_name(Names::User, "user(username:$n){id}"),
    LookupField::by_name(Names::Project, "project(fullPath:$n){id}"),
    LookupField::by_name(Names::Group, "group(fullPath:$n){id}"),
    LookupField::by_name(Names::Milestone, "milestones(title:$n,includeAncestors:true)"),
    LookupField::by_name(Names::Label, "labels(title:$n,includeAncestorGroups:true)"),
    LookupField::by_name(Names::Iteration, "iterations(search:$n,in:[TITLE],includeAncestors:true)"),
    LookupField::by_number(Names::Issue, '#', ISSUE),
    LookupField::by_number(Names::MergeRequest, '!', MERGE_REQUEST),
    LookupField::by_number(Names::Epic, '&', EPIC),
    LookupField::by_number(Names::EpicIid, '&', EPIC),
    LookupField::by_number(Names::WorkItem, '#', WORK_ITEM),
    LookupField::by_number(Names::WorkItem, '&', WORK_ITEM),
    LookupField::by_number(Names::Issuable, '#', ISSUE),
    LookupField::by_number(Names::Issuable, '!', MERGE_REQUEST),
    LookupField::by_number(Names::Issuable, '&', EPIC),
];

/// Maximum names in one query, because of GitLab's limit of complexity. More names are looked up one by one.
const MAX_NAMES_PER_QUERY: usize = 20;

/// One query for several questions.
#[derive(Debug)]
pub struct Batch {
    call: Call,
    questions: Vec<Lookup>,
}

/// The field and variables of one look-up.
struct AskedField {
    declared: String,
    fields: String,
    variables: Vec<(String, String)>,
}

/// Builds one query for the look-ups, if GraphQL can answer at least two of them.
pub fn batch(questions: &[Lookup]) -> Option<Batch> {
    let asked: Vec<AskedField> = questions
        .iter()
        .enumerate()
        .filter_map(|(at, question)| lookup_of(at, question))
        .take(MAX_NAMES_PER_QUERY)
        .collect();
    if asked.len() < 2 {
        return None;
    }
    let declared: String = asked.iter().map(|part| part.declared.as_str()).collect();
    let fields: String = asked.iter().map(|part| part.fields.as_str()).collect();
    let variables: Map<String, Value> = asked
        .iter()
        .flat_map(|part| part.variables.iter().map(|(name, value)| (name.clone(), json!(value))))
        .collect();
    let query = format!("query({}){{{}}}", declared.trim_end(), fields.trim_end());
    let effects = lookup_effects(questions);
    let body = Body::Json(json!({"query": query, "variables": variables}));
    let call = Call::new(effects, GRAPHQL_PATH.to_owned(), Vec::new(), body);
    // All look-ups, as each keeps its number.
    Some(Batch { call, questions: questions.to_vec() })
}

/// Effects of the query: those of the REST reads of each look-up, at the same places.
fn lookup_effects(questions: &[Lookup]) -> Effects {
    let operation = "query lookup".to_owned();
    let (mut touches, mut places) = (Vec::new(), Vec::new());
    for reading in questions.iter().flat_map(Lookup::reads) {
        touches.push(Touched::new(operation.clone(), reading.action, Risk::Read));
        if let Some(path) = reading.params.get("fullPath").and_then(Value::as_str) {
            let location = Location::parse(path, HolderKind::Either).unwrap_or(Location::Unknown);
            places.push(TouchedPlace::new("fullPath", location));
        }
    }
    Effects::new("graphql.lookup", Method::Post, operation, touches, places)
}

impl Batch {
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Returns the look-ups that the response answers. A name without a match, or with several, is not answered.
    pub fn answers(&self, reply: &Value) -> Vec<(Lookup, LookupAnswer)> {
        let Some(data) = reply.get("data").filter(|data| data.is_object()) else { return Vec::new() };
        let found = self.questions.iter().enumerate().filter_map(|(at, question)| {
            Some((question.clone(), LookupAnswer::Id(parse_id(data, at, question)?)))
        });
        found.collect()
    }
}

fn field(question: &Lookup) -> Option<(&'static LookupField, Option<(&str, &str)>)> {
    let Lookup::IdOf { names, name, .. } = question else { return None };
    FIELDS.iter().filter(|field| field.names == *names).find_map(|field| match field.mark {
        Some(mark) => name.rsplit_once(mark).filter(|(_, n)| is_digits(n)).map(|parts| (field, Some(parts))),
        // A number as the title of a milestone is its iid.
        None => (!is_digits(name)).then_some((field, None)),
    })
}

fn lookup_of(at: usize, question: &Lookup) -> Option<AskedField> {
    let Lookup::IdOf { name, within, .. } = question else { return None };
    if question.is_own_user() {
        return None;
    }
    let (field, parts) = field(question)?;
    let (path, name) = match (parts, field.list()) {
        (Some((path, number)), _) => (Some(path), number),
        (None, Some(_)) => (Some(within.get("fullPath")?.as_str()), name.as_str()),
        (None, None) => (None, name.as_str()),
    };
    let aliased = |place: &str, text: &str| {
        let text = text.replace("$n", &format!("$n{at}")).replace("$p", &format!("$p{at}"));
        format!("{place}{at}:{text} ")
    };
    let fields: String = match field.list() {
        None => aliased(PROJECT, field.text),
        Some(_) => [PROJECT, GROUP]
            .into_iter()
            .filter(|place| within.get("scope").is_none_or(|scope| scope == place))
            .map(|place| {
                aliased(place, &format!("{place}(fullPath:$p){{{}{{nodes{{id title}}}}}}", field.text))
            })
            .collect(),
    };
    let is_id = field.text.contains("(fullPath:$n)") || field.text == EPIC;
    let mut declared = format!("$n{at}:{} ", if is_id { "ID!" } else { "String!" });
    let mut variables = vec![(format!("n{at}"), name.to_owned())];
    // GraphQL would take the id of a project or group for a path.
    if path.is_some_and(is_digits) {
        return None;
    }
    if let Some(path) = path {
        declared.push_str(&format!("$p{at}:ID! "));
        variables.push((format!("p{at}"), path.trim_matches('/').to_owned()));
    }
    (!fields.is_empty()).then_some(AskedField { declared, fields, variables })
}

/// Parses the id of a look-up from the response. None if it has several.
fn parse_id(data: &Value, at: usize, question: &Lookup) -> Option<u64> {
    let Lookup::IdOf { name, .. } = question else { return None };
    let (field, parts) = field(question)?;
    let found = [PROJECT, GROUP].into_iter().filter_map(|place| data.get(format!("{place}{at}")));
    let found = found.filter(|value| !value.is_null());
    let ids: Vec<u64> = match field.list() {
        Some(list) => {
            let rows: Vec<&Value> =
                found.filter_map(|value| value.get(list)?.get("nodes")?.as_array()).flatten().collect();
            let folded = name.to_lowercase();
            let ids = |is_same: &dyn Fn(&str) -> bool| -> Vec<u64> {
                let is_it = |row: &&&Value| row.get("title").and_then(Value::as_str).is_some_and(is_same);
                rows.iter().filter(is_it).filter_map(|row| id(row)).collect()
            };
            let exact = ids(&|text| text == name);
            if exact.is_empty() { ids(&|text| text.to_lowercase() == folded) } else { exact }
        }
        None if parts.is_some() => found.filter_map(|value| id(value.get("found")?)).collect(),
        None => found.filter_map(id).collect(),
    };
    match ids.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

fn id(row: &Value) -> Option<u64> {
    row.get("id")?.as_str()?.strip_prefix(GLOBAL)?.rsplit_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn question(names: Names, name: &str, within: &[(&'static str, &str)]) -> Lookup {
        let within: BTreeMap<&'static str, String> =
            within.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Lookup::IdOf { names, name: name.to_owned(), within }
    }

    #[test]
    fn several_names_are_one_query_with_their_values_as_variables() {
        let here = [("fullPath", "acme/widget"), ("scope", "project")];
        let asked = [
            question(Names::User, "alice", &[]),
            question(Names::Webhook, "x", &here),
            question(Names::Milestone, "v1\"", &here),
        ];
        let batch = batch(&asked).unwrap();
        let Body::Json(body) = batch.call().body() else { panic!() };
        assert_eq!(
            body["query"],
            "query($n0:String! $n2:String! $p2:ID!){project0:user(username:$n0){id} \
             project2:project(fullPath:$p2){milestones(title:$n2,includeAncestors:true){nodes{id title}}}}"
        );
        assert_eq!(body["variables"], json!({"n0": "alice", "n2": "v1\"", "p2": "acme/widget"}));
        let reply = json!({"data": {"project0": {"id": "gid://gitlab/User/3"}, "project2": null}});
        assert_eq!(batch.answers(&reply), [(asked[0].clone(), LookupAnswer::Id(3))]);
        assert!(super::batch(&asked[..2]).is_none(), "one name is one request as it is");
    }

    #[test]
    fn a_title_that_several_have_is_left_to_whoever_lists_them() {
        let asked = [question(Names::User, "a", &[]), question(Names::Label, "bug", &[("fullPath", "acme")])];
        let batch = batch(&asked).unwrap();
        let label = |id: u64| json!({"id": format!("gid://gitlab/GroupLabel/{id}"), "title": "bug"});
        let reply = |rows: Value| json!({"data": {"group1": {"labels": {"nodes": rows}}}});
        assert!(batch.answers(&reply(json!([label(1), label(2)]))).is_empty());
        assert_eq!(batch.answers(&reply(json!([label(2)]))), [(asked[1].clone(), LookupAnswer::Id(2))]);
    }
}
