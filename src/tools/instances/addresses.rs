//! Addresses in a request: the URLs that say which GitLab it is for, and the project or group that it names.

use serde_json::{Map, Value};

use crate::call::{self, TARGET};
use crate::catalog::{Action, Locates, Param};
use crate::messages::request::ExecuteRequest;
use crate::tools::action_lookup;
use crate::tools::state::Tools;

/// The parameter that names a project or group.
const FULL_PATH: &str = "fullPath";

/// Maximum depth of calls within calls.
const DEPTH: usize = 3;

/// The addresses of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Web URLs, URLs without a scheme, short references and git remotes, where an action takes an address.
    pub targets: Vec<String>,
    /// Projects and groups by their paths.
    pub paths: Vec<String>,
}

impl Addresses {
    /// Collects the addresses of a request; those of a batch are those of its calls.
    pub fn of_request(tools: &Tools, request: &ExecuteRequest) -> Addresses {
        let mut found = Addresses::default();
        found.add_call(tools, &request.action, &request.params, DEPTH);
        found
    }

    fn add_call(&mut self, tools: &Tools, name: &str, params: &Map<String, Value>, depth: usize) {
        // The URL of a page is a name of the action that reads it.
        let (_, path) = call::split_request_line(name.trim());
        if call::is_web_url(path) {
            self.targets.push(path.to_owned());
        }
        let request =
            ExecuteRequest { action: name.to_owned(), params: params.clone(), ..ExecuteRequest::default() };
        // A call that cannot be resolved is refused by whichever instance gets it.
        match action_lookup::resolve(tools, &request) {
            Ok(resolved) => {
                self.add_params(tools, Some(&resolved.action), &resolved.request.params, depth);
            }
            Err(_) => self.add_params(tools, None, params, depth),
        }
    }

    fn add_params(
        &mut self,
        tools: &Tools,
        action: Option<&Action>,
        params: &Map<String, Value>,
        depth: usize,
    ) {
        let is_composite = action.is_none_or(|action| action.plan.is_some());
        let is_raw = action.is_some_and(|action| action.direct().is_some());
        for (name, value) in params {
            let param = action.and_then(|action| find_param(tools, action, name));
            let is_target = name == TARGET
                || match param {
                    Some(param) => param.locates == Some(Locates::Address),
                    None => action.is_some() && call::is_target_spelling(name),
                };
            if is_target {
                self.targets.extend(texts(value));
            } else if is_raw && name == "path" {
                self.targets.extend(texts(value).filter(|text| call::is_web_url(text)));
            } else if name == FULL_PATH || param.is_some_and(|param| param.name == FULL_PATH) {
                let (urls, paths) = texts(value).partition::<Vec<_>, _>(|text| call::is_web_url(text));
                self.targets.extend(urls);
                self.paths.extend(paths);
            } else if is_composite && let (Value::Array(items), Some(depth)) = (value, depth.checked_sub(1)) {
                items.iter().filter_map(Value::as_object).for_each(|item| self.add_item(tools, item, depth));
            }
        }
    }

    /// Adds a call of a batch, or an item of another composite action.
    fn add_item(&mut self, tools: &Tools, item: &Map<String, Value>, depth: usize) {
        match (item.get("action").and_then(Value::as_str), item.get("params").and_then(Value::as_object)) {
            (Some(action), Some(params)) => self.add_call(tools, action, params, depth),
            _ => self.add_params(tools, None, item, depth),
        }
    }
}

/// The parameter of an action of that name or spelling.
fn find_param<'a>(tools: &Tools, action: &'a Action, name: &str) -> Option<&'a Param> {
    let words = tools.catalog().words().ok()?;
    call::param_named(action, name, words)
}

/// A text, or the texts of a list.
fn texts(value: &Value) -> impl Iterator<Item = String> + '_ {
    let listed = value.as_array().into_iter().flatten();
    value.as_str().into_iter().chain(listed.filter_map(Value::as_str)).map(|text| text.trim().to_owned())
}
