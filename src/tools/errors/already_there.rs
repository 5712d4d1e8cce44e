//! Objects that are there already: GitLab refuses to create a second one ("has already been taken", "already exists").
//! The object is read, so that the error shows it and has the call that changes it.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::{Action, Param, Place, Risk};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::present;
use crate::text::{pick_fields, plain_text};
use crate::tools::action_lookup::suggestions;
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;

/// Detail of the error: the object that is there.
pub const EXISTING: &str = "existing";

/// The word of GitLab's messages.
const ALREADY: &str = "already";

/// Fields that name an object, in the order in which one may hold the name of a new one.
const NAMES: [&str; 7] = ["name", "title", "key", "tag_name", "slug", "path", "branch"];

/// The parameter with a user, who may be given by another name where one is added.
const USER: &str = "user_id";
const USERNAME: &str = "username";

/// The parameter with the whole path of a project or group, and those with the place of a new one.
const PLACE: &str = "fullPath";
const PARENTS: [&str; 2] = ["parent_id", "namespace_id"];

/// Fields of the object that are shown beside those that the call sets.
const SHOWN: [&str; 5] = ["iid", "id", "state", "name", "web_url"];

/// Maximum number of fields, and of bytes of a value.
const MAX_FIELDS: usize = 10;
const MAX_VALUE_BYTES: usize = 200;

/// The error with the existing object and the call that changes it; unchanged if there is none that can be read.
pub async fn show_existing(tools: &Tools, checked: &Checked, refused: ToolError) -> ToolError {
    let action = checked.action();
    let is_refusal = matches!(refused.kind, ErrorKind::InvalidParams | ErrorKind::Conflict)
        && ["create", "add"].contains(&action.verb());
    if !is_refusal || action.risk == Risk::Read || !refused.message.contains(ALREADY) {
        return refused;
    }
    let by_id = |verb: &str| tools.catalog.get(&format!("{}.{verb}", action.domain())).ok().flatten();
    let Some((read, params)) = by_id("get").and_then(|read| {
        let params = read_params(&read, checked.params(), &refused.message)?;
        Some((read, params))
    }) else {
        return refused;
    };
    let read_given = params.clone();
    let object = lookups::read_json(tools, &read.id, params.clone(), Purpose::Diagnosis).await;
    let Some(Value::Object(object)) = object else { return refused };
    let existing = existing_fields(&read, object, checked.params());
    let refused = refused.detail(EXISTING, existing);
    // Whoever wants a new group or project wants no other one changed.
    let is_place = params.contains_key(PLACE) && !checked.params().contains_key(PLACE);
    let update = by_id("update").filter(|update| !is_place && tools.may_run(update));
    if let Some(update) = update {
        let is_taken = |name: &String| update.param(name).is_some();
        let mut params = pick_fields(checked.params(), is_taken);
        let by_name = params_by_name(&read, &update, &params, checked.params());
        params.extend(pick_fields(&by_name, is_taken));
        let names_it = |param: &Param| param.name == USERNAME && params.contains_key(USER);
        let is_set = |param: &Param| {
            param.place == Place::Body && checked.params().contains_key(&param.name) && !names_it(param)
        };
        let loses = action.params.iter().any(|param| is_set(param) && update.param(&param.name).is_none());
        if !loses && suggestions::is_callable(tools, &update, &params) {
            return refused
                .hint(format!("It is there: `fix` changes it by {}.", update.id))
                .fix(NextCall::execute(&update.id, &params));
        }
        let hint = format!("It is there; {} changes it.", update.id);
        return refused.hint(hint).fix(NextCall::execute(&read.id, &read_given));
    }
    refused.hint("It is there.").fix(NextCall::execute(&read.id, &params))
}

/// The parameters of a read of the object that a call would create.
fn read_params(read: &Action, given: &Map<String, Value>, message: &str) -> Option<Map<String, Value>> {
    let mut params = Map::new();
    for param in &read.params {
        let value = match given.get(&param.name) {
            Some(value) if param.place != Place::Query => Some(value.clone()),
            Some(value) if param.required => Some(value.clone()),
            // A file is read on the branch of its commit.
            None if param.name == "ref" => given.get("branch").cloned(),
            None if param.required => object_name(&param.name, given, message),
            _ => None,
        };
        match value {
            Some(value) => drop(params.insert(param.name.clone(), value)),
            None if param.required => return None,
            None => {}
        }
    }
    Some(params)
}

/// The number in GitLab's message (`already exists for this source branch: !5`), else the name of the new object.
fn object_name(param: &str, given: &Map<String, Value>, message: &str) -> Option<Value> {
    if param == "iid" {
        let (_, rest) = message.rsplit_once('!')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return digits.parse::<u64>().ok().map(|iid| json!(iid));
    }
    if param == USER {
        return given.get(USERNAME).cloned();
    }
    if param == PLACE {
        // Another group may be called like the path that is taken, and a path alone is one of the top level.
        return given.get("path").filter(|_| !PARENTS.iter().any(|name| given.contains_key(*name))).cloned();
    }
    NAMES.iter().find_map(|name| given.get(*name)).cloned()
}

/// The parameters of the path of a change that the creation did not have: those of the read, by their place.
fn params_by_name(
    read: &Action,
    update: &Action,
    shared: &Map<String, Value>,
    given: &Map<String, Value>,
) -> Map<String, Value> {
    let missing = update.params.iter().filter(|param| param.required && !shared.contains_key(&param.name));
    let named = missing.filter_map(|param| {
        read.param(&param.name)?;
        Some((param.name.clone(), object_name(&param.name, given, "")?))
    });
    named.collect()
}

/// The fields that identify the object and those that the call would have set, short and without secrets.
fn existing_fields(read: &Action, object: Map<String, Value>, given: &Map<String, Value>) -> Value {
    let is_given = |name: &str| {
        // GitLab lists the levels of `push_access_level` as `push_access_levels`.
        given.contains_key(name) || name.strip_suffix('s').is_some_and(|one| given.contains_key(one))
    };
    let is_shown = |name: &str| SHOWN.contains(&name) || (is_given(name) && name != "content");
    let is_short = |value: &Value| !value.is_null() && plain_text(value).len() <= MAX_VALUE_BYTES;
    let shown = object.into_iter().filter(|(name, value)| is_shown(name) && is_short(value));
    let mut shown = Value::Object(shown.take(MAX_FIELDS).collect());
    present::mask(&mut shown, present::ContentKind::of([read], false), &[], None);
    shown
}
