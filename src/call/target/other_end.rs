//! The other object of a link, given by a reference or URL: its number and its project or group are two parameters
//! (`target_issue_iid` and `target_project_id`).

use serde_json::{Map, Value};
use url::Url;

use super::parse::parse;
use crate::call::Fault;
use crate::catalog::Action;
use crate::text::plain_text;

/// Refuses a title in another project than the call's, in which it would be looked up.
fn refuse_title_elsewhere(
    params: &Map<String, Value>,
    name: &str,
    place: &str,
    text: &str,
) -> Result<(), Fault> {
    let of = |name: &str| params.get(name).filter(|value| !value.is_null()).map(plain_text);
    let is_elsewhere = match (of(place), of("fullPath")) {
        (Some(other), Some(own)) => !other.eq_ignore_ascii_case(&own),
        (other, _) => other.is_some(),
    };
    if !is_elsewhere || text.trim().parse::<u64>().is_ok() {
        return Ok(());
    }
    let reason =
        format!("a title is looked up in the project of the call: give the number of the one in `{place}`");
    Err(Fault::not_taken(name, reason))
}

/// Divides each reference in place of such a number between the two parameters, and says so in `understood`. A fault if
/// the place is given too and is another, or the URL is of another host.
pub fn divide_references(
    action: &Action,
    params: &mut Map<String, Value>,
    base: &Url,
    understood: &mut Vec<String>,
) -> Result<(), Fault> {
    for param in &action.params {
        let Some(object) = param.name.strip_suffix("_iid") else { continue };
        let Some((end, _)) = object.rsplit_once('_') else { continue };
        let places = ["project_id", "group_id"].map(|place| format!("{end}_{place}"));
        let Some(place) = places.into_iter().find(|place| action.param(place).is_some()) else { continue };
        let named = [param.name.as_str(), object].into_iter().find(|name| params.contains_key(*name));
        let Some(text) = named.and_then(|name| params.get(name)).map(plain_text) else { continue };
        let reference = match parse(&text, base) {
            Ok(reference) => reference,
            Err(fault) if text.contains("://") => return Err(fault),
            Err(_) => {
                refuse_title_elsewhere(params, &param.name, &place, &text)?;
                continue;
            }
        };
        let Ok(number) = reference.value.parse::<u64>() else {
            refuse_title_elsewhere(params, &param.name, &place, &text)?;
            continue;
        };
        if reference.path.is_empty() {
            continue;
        }
        if let Some(given) = params.get(&place).map(plain_text)
            && !given.eq_ignore_ascii_case(&reference.path)
        {
            let (reference, target) = (param.name.clone(), reference.path);
            return Err(Fault::Disagrees { name: place, given, reference, target });
        }
        if let Some(name) = named.map(str::to_owned) {
            params.shift_remove(&name);
        }
        understood.push(format!("`{0}` as {place}: {1}, {0}: {number}", param.name, reference.path));
        params.insert(place, reference.path.into());
        params.insert(param.name.clone(), number.into());
    }
    Ok(())
}
