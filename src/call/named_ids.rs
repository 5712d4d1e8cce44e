//! Users, groups and projects that the parameters of a call name by their ids.

use serde_json::{Map, Value};

use crate::catalog::{self, Action, Locates, Names, Param};
use crate::text::{is_digits, plain_text};

/// The ids of objects that a read can show (`shown` of the kind's resolver), each once.
pub fn named_ids(action: &Action, params: &Map<String, Value>) -> Vec<(Names, String)> {
    let kind = |param: &Param| {
        let names = match param.locates {
            Some(Locates::Group) => Some(Names::Group),
            Some(Locates::Namespace) => Some(Names::Namespace),
            _ => param.names,
        };
        names.filter(|names| catalog::resolver(*names).is_some_and(|resolver| resolver.shown.is_some()))
    };
    let mut found = Vec::new();
    for (names, value) in params.iter().filter_map(|(name, value)| Some((kind(action.param(name)?)?, value)))
    {
        let several = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        let texts = several
            .iter()
            .flat_map(|one| plain_text(one).split(',').map(|id| id.trim().to_owned()).collect::<Vec<_>>());
        for id in texts.filter(|id| is_digits(id)) {
            if !found.contains(&(names, id.clone())) {
                found.push((names, id));
            }
        }
    }
    found
}
