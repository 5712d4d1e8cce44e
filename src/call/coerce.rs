//! Coercion of a value to the type of a parameter where that loses nothing; otherwise a fault.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

use super::encoded::list_in_text;
use super::location::{ACCEPTED_PATHS, HolderKind, Location};
use super::noun::{folded, nouns_of, own_marks, tracked_kinds};
use super::param_names::field_named;
use super::{Fault, relative_date, taken_away};
use crate::catalog::{
    self, Action, Base, Json, Locates, Names, Param, ParamKind, ROLES, TRACKED_MARKS, is_called_a_date,
    is_called_a_day,
};
use crate::text::{is_digits, plain_text};

/// Coerces a value to the type of a parameter. Adds a note to `understood` for each value that it reinterprets.
pub fn fitted(param: &Param, value: Value, understood: &mut Vec<String>) -> Result<Value, Fault> {
    if !param.kind.many {
        return coerce_one(param, value, understood);
    }
    let items = match value {
        Value::Array(items) => items,
        Value::Object(pairs) => match pair_key(param, &pairs) {
            Some(name) => {
                let pair = |(key, value): (String, Value)| json!({name: key, VALUE: value});
                pairs.into_iter().map(pair).collect()
            }
            None => vec![Value::Object(pairs)],
        },
        Value::String(text) => items_of_text(param, text)?,
        single => vec![single],
    };
    let items = names_of_lists(param, pairs_of_texts(param, items, understood), understood);
    let fitted = |item: &Value| coerce_one(param, item.clone(), understood);
    items.iter().map(fitted).collect::<Result<Vec<_>, _>>().map(Value::Array).map_err(|fault| match fault {
        Fault::NotAChoice { name, given, accepted, .. } => Fault::NotAChoice { name, given, accepted, items },
        fault => fault,
    })
}

/// Splits items with several names where no name has a comma: GitLab does the same
/// (`lib/api/validations/types/labels_list.rb`).
fn names_of_lists(param: &Param, items: Vec<Value>, understood: &mut Vec<String>) -> Vec<Value> {
    let without_commas = &catalog::kinds().names_without_commas;
    let is_list = |item: &Value| item.as_str().is_some_and(|text| text.contains(','));
    if !without_commas.contains(&param.name) || !items.iter().any(is_list) {
        return items;
    }
    let names = |item: &Value| -> Vec<Value> {
        match item.as_str() {
            Some(text) => text.split(',').map(|name| json!(name.trim())).collect(),
            None => vec![item.clone()],
        }
    };
    let split: Vec<Value> = items.iter().flat_map(names).collect();
    understood.push(format!("`{}` as {} names, which have commas between them", param.name, split.len()));
    split
}

/// The items of a list that came as a text: a JSON list, or names with commas between them.
fn items_of_text(param: &Param, text: String) -> Result<Vec<Value>, Fault> {
    let is_scalar = !matches!(param.kind.base, Base::Any | Base::File | Base::Object);
    if is_scalar && text.trim().is_empty() {
        return Ok(Vec::new());
    }
    match list_in_text(&text) {
        // The content of a file may be a list.
        Some(Ok(items)) if param.kind.base != Base::File || items.iter().all(Value::is_object) => Ok(items),
        Some(Err(())) if param.kind.base != Base::File => Err(unfit(param, &Value::String(text))),
        _ if is_scalar && are_mentions(&text) => {
            Ok(text.split_whitespace().map(|item| json!(item)).collect())
        }
        _ if is_scalar && text.contains(',') => Ok(text.split(',').map(|item| json!(item.trim())).collect()),
        _ => Ok(vec![Value::String(text)]),
    }
}

/// True for several users with their marks and blanks between them: `@alice @bob`.
fn are_mentions(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.clone().count() > 1
        && words.all(|word| word.len() > 1 && word.starts_with('@') && !word.contains(','))
}

/// Fields of the objects in a list of pairs: `key` in variables of a pipeline, `name` in inputs of a schedule.
const KEYS: [&str; 2] = ["key", "name"];
const VALUE: &str = "value";

/// The field of the keys, if an object has the pairs that the parameter takes as a list of objects with that and `value`.
fn pair_key(param: &Param, given: &Map<String, Value>) -> Option<&'static str> {
    let field = |name: &str| param.fields.iter().find(|field| field.name == name);
    let takes_lists = field(VALUE)?.kind.many;
    let is_value = |value: &Value| !value.is_object() && (takes_lists || !value.is_array());
    let is_item = given.keys().all(|name| field(name).is_some());
    if given.is_empty() || is_item || !given.values().all(is_value) {
        return None;
    }
    KEYS.into_iter().find(|name| field(name).is_some())
}

/// Texts such as `KEY=value`, as shells and other clients take them, as the pairs that the parameter takes. The note does
/// not repeat them: a value may be a secret.
fn pairs_of_texts(param: &Param, items: Vec<Value>, understood: &mut Vec<String>) -> Vec<Value> {
    let has = |name: &str| param.fields.iter().any(|field| field.name == name && !field.kind.many);
    let Some(name) = KEYS.into_iter().find(|name| has(name) && has(VALUE)) else { return items };
    if items.is_empty() || !items.iter().all(|item| pair_of_text(item).is_some()) {
        return items;
    }
    understood.push(format!("the texts of `{}` as pairs of `{name}` and `{VALUE}`", param.name));
    items.iter().filter_map(pair_of_text).map(|(key, value)| json!({name: key, VALUE: value})).collect()
}

/// Key and value of a text such as `KEY=value`.
fn pair_of_text(item: &Value) -> Option<(&str, &str)> {
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    item.as_str()?.split_once('=').filter(|(key, _)| is_name(key))
}

/// Coerces one value of a parameter, also one item of a list.
pub fn coerce_one(param: &Param, value: Value, understood: &mut Vec<String>) -> Result<Value, Fault> {
    let value = match strip_current_folder(param, &value) {
        Some(path) => {
            understood.push(format!("`{}: {}` as `{path}`", param.name, render_value(&value)));
            Value::String(path)
        }
        None => value,
    };
    let converted =
        converted(param, &value).or_else(|| title(param, &value)).ok_or_else(|| unfit(param, &value))?;
    if let Some(fault) = stray_date(param, &converted).or_else(|| stray_id(param, &converted)) {
        return Err(fault);
    }
    if let Some(note) = retyped(param, &value, &converted) {
        understood.push(note);
    }
    let converted = match converted {
        Value::Object(fields) if param.kind.base == Base::Object && !param.fields.is_empty() => {
            object(param, fields, understood)?
        }
        other => other,
    };
    choice(param, converted, understood)
}

/// The path of a file without a leading `./`, which a shell completes and GitLab does not know. The path of a place stays.
fn strip_current_folder(param: &Param, value: &Value) -> Option<String> {
    let name = param.name.rsplit('.').next()?;
    let is_file = (name == "path" || name.ends_with("_path")) && param.locates.is_none();
    let path = value.as_str().filter(|_| is_file && param.kind.base == Base::String)?.strip_prefix("./")?;
    (!path.is_empty()).then(|| path.trim_start_matches('/').to_owned())
}

/// Converts a value to the base type. None if that would lose something.
fn converted(param: &Param, value: &Value) -> Option<Value> {
    match (param.kind.base, value) {
        // `!9` in place of a pipeline is the merge request that it ran for.
        (Base::IntegerOrString, Value::String(text))
            if param.name.ends_with("iid") && !text.starts_with('!') =>
        {
            Some(integer(param, text).unwrap_or_else(|| value.clone()))
        }
        (Base::Any, _)
        | (Base::String | Base::IntegerOrString, Value::String(_))
        | (Base::Boolean, Value::Bool(_))
        | (Base::Object, Value::Object(_)) => Some(value.clone()),
        (Base::Integer | Base::IntegerOrString, Value::Number(number))
            if number.is_i64() || number.is_u64() =>
        {
            Some(value.clone())
        }
        (Base::Integer, Value::Number(number)) => whole(number.as_f64()?),
        (Base::Role, Value::Number(number)) if number.is_u64() => Some(value.clone()),
        (Base::Role, Value::String(text)) => role(text),
        (Base::Number, Value::Number(_)) => Some(value.clone()),
        (Base::Integer, Value::String(text)) => integer(param, text),
        (Base::Number, Value::String(text)) => number(text),
        (Base::String, Value::Number(number)) => Some(json!(number.to_string())),
        (Base::String, Value::Bool(truth)) => Some(json!(truth.to_string())),
        (Base::Boolean, Value::String(text)) => truth(text).map(|truth| json!(truth)),
        (Base::Date, Value::String(text)) => is_date(text).then(|| value.clone()),
        (Base::DateTime, Value::String(text)) => (is_date(text) || is_time(text)).then(|| value.clone()),
        (Base::Object, Value::String(text)) => {
            serde_json::from_str::<Map<String, Value>>(text).ok().map(Value::Object)
        }
        (Base::File, Value::Object(_) | Value::String(_)) => Some(value.clone()),
        _ => None,
    }
}

/// Parses `12`; for an iid also `#12`, `!45` and `&7`, and `issue 12`.
fn integer(param: &Param, text: &str) -> Option<Value> {
    let mut text = text.trim();
    if param.name.ends_with("iid") {
        let number = catalog::without_state(text);
        text = without_noun(param, number).unwrap_or(number).trim_start_matches(TRACKED_MARKS);
    }
    text.parse::<i64>().ok().map(|number| json!(number))
}

/// The number after the name of its kind: `12` of `Issue 12`, `!5` of `MR !5`.
fn without_noun<'t>(param: &Param, text: &'t str) -> Option<&'t str> {
    let at = text.find(|c: char| c.is_ascii_digit() || TRACKED_MARKS.contains(&c))?;
    let (noun, number) = text.split_at_checked(at)?;
    let marks = own_marks(None, param)?;
    let mut nouns =
        tracked_kinds().filter(|(_, mark)| marks.contains(mark)).flat_map(|(kind, _)| nouns_of(kind));
    nouns.any(|known| folded(known) == folded(noun)).then_some(number)
}

/// A title in place of a number: text with a letter that is neither a misspelt number (`12abc`) nor a reference or URL.
fn title(param: &Param, value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|_| param.names.is_some_and(Names::is_titled))?.trim();
    let has_space = text.contains(char::is_whitespace);
    let is_number =
        !has_space && text.trim_start_matches(TRACKED_MARKS).starts_with(|c: char| c.is_ascii_digit());
    let is_reference =
        !has_space && text.rsplit_once(TRACKED_MARKS).is_some_and(|(_, digits)| is_digits(digits));
    let is_title = text.contains(char::is_alphabetic) && !is_number && !is_reference && !text.contains("://");
    is_title.then(|| json!(text))
}

/// The level of nobody (lib/gitlab/access.rb).
const NO_ACCESS: &str = "no_access";

/// Parses a role by its name or number (`Developer`, `30`).
fn role(text: &str) -> Option<Value> {
    // GitLab's own pages write `No one` for the level without access.
    let text = if ["no one", "none", "nobody"].contains(&text.trim().to_lowercase().as_str()) {
        NO_ACCESS
    } else {
        text
    };
    let named = ROLES.iter().find(|(name, _)| folded(name) == folded(text)).map(|(_, level)| *level);
    named.or_else(|| text.trim().parse().ok()).map(|level| json!(level))
}

/// Converts `5.0` to 5. Larger floats than `EXACT` are refused: they may have been rounded.
fn whole(number: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() < EXACT).then(|| json!(number as i64))
}

/// Parses a number in digits. Rust's other forms (`inf`, `1e3`) are refused.
fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    text.parse::<f64>().ok().filter(|_| text.chars().all(digits)).map(|number| json!(number))
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Note on a value of another type than the parameter's. The note does not repeat the value: it may be a secret. A
/// number in place of a text needs no note.
fn retyped(param: &Param, given: &Value, taken: &Value) -> Option<String> {
    let kind = |value: &Value| match value {
        Value::Bool(_) => Some("true or false"),
        Value::Number(_) => Some("a number"),
        Value::String(_) => Some("text"),
        _ => None,
    };
    let (came, taken) = (kind(given)?, kind(taken)?);
    let is_role = param.kind.base == Base::Role;
    // A number may have lost the zeros at its end: `1.10` of a version came as 1.1.
    let is_digits =
        given.is_number() && given.as_f64().is_none_or(|number| number.fract() == 0.0) && taken == "text";
    (came != taken && !is_role && !is_digits)
        .then(|| format!("`{}`, which came as {came}, as {taken}", param.name))
}

/// Fault of what is no date in GitLab's form, in a parameter of type string that holds a date: GitLab would make nothing
/// of it, or take the date away.
fn stray_date(param: &Param, value: &Value) -> Option<Fault> {
    let text = value.as_str().filter(|_| param.kind.base == Base::String && is_called_a_date(&param.name))?;
    let is_choice = param.choices.iter().any(|choice| folded(choice) == folded(text));
    let takes_time = !is_called_a_day(&param.name);
    // An empty text takes the date away.
    let is_right = text.is_empty() || is_choice || is_date(text) || (takes_time && is_time(text));
    let (name, given) = (param.name.clone(), render_value(value));
    let expected = expected_day().to_owned();
    (!is_right).then(|| Fault::NoDate { name, given, expected, readings: days(text, takes_time) })
}

/// Fault of an id where GitLab takes a path alone. The path for that of `fullPath` is looked up.
fn stray_id(param: &Param, value: &Value) -> Option<Fault> {
    let takes_path = param.locates == Some(Locates::Path) && param.name != "fullPath";
    let text = value.as_str().filter(|_| takes_path)?;
    let is_id = matches!(Location::parse(text, HolderKind::Either), Some(Location::Id { .. }));
    let (name, given) = (param.name.clone(), text.to_owned());
    is_id.then(|| Fault::NotALocation { name, given, expected: ACCEPTED_PATHS })
}

/// Parses a date, relative to the current day in UTC. Returns every day that the text may mean, or the time in UTC that
/// lacks its zone: GitLab's own clock.
fn days(text: &str, takes_time: bool) -> Vec<String> {
    let zoned = format!("{}Z", text.trim().replacen(' ', "T", 1));
    if takes_time && is_time(&zoned) {
        return vec![zoned];
    }
    if let Ok(moment) = time::OffsetDateTime::parse(text, &Rfc3339) {
        return vec![moment.date().to_string()];
    }
    let today = time::OffsetDateTime::now_utc().date();
    relative_date::parse_days(text, today).iter().map(ToString::to_string).collect()
}

fn is_date(text: &str) -> bool {
    time::Date::parse(text, format_description!("[year]-[month]-[day]")).is_ok()
}

fn is_time(text: &str) -> bool {
    time::OffsetDateTime::parse(text, &Rfc3339).is_ok()
}

fn object(param: &Param, fields: Map<String, Value>, understood: &mut Vec<String>) -> Result<Value, Fault> {
    let mut fitted_fields = Map::new();
    for (name, value) in fields {
        // `filePath` and `path` are `file_path`, unless that is given too.
        let field = field_named(param, &name);
        let Some(field) = field.filter(|field| !fitted_fields.contains_key(&field.name)) else {
            if value.is_null() {
                continue;
            }
            let accepted =
                param.fields.iter().map(|field| format!("{}.{}", param.name, field.name)).collect();
            return Err(Fault::Unknown { given: format!("{}.{name}", param.name), value, accepted });
        };
        let inner = Param { name: format!("{}.{}", param.name, field.name), ..field.clone() };
        if let Some(empty) = taken_away::field_value(&inner, &value) {
            if value != empty {
                let given = plain_text(&value);
                understood.push(format!("`{}: {given}` as {empty}, which takes it away", inner.name));
            }
            fitted_fields.insert(field.name.clone(), empty);
        } else if !value.is_null() && !is_blank(&inner, &value) {
            fitted_fields.insert(field.name.clone(), fitted(&inner, value, understood)?);
        }
    }
    for field in param.fields.iter().filter(|field| field.sends_default) {
        let Some(Json(default)) = field.default.as_ref().filter(|_| !fitted_fields.contains_key(&field.name))
        else {
            continue;
        };
        understood.push(format!("`{}.{}` as {default}, as none is given", param.name, field.name));
        fitted_fields.insert(field.name.clone(), default.clone());
    }
    let missing = |field: &&Param| field.required && !fitted_fields.contains_key(&field.name);
    let missing: Vec<&Param> = param.fields.iter().filter(missing).collect();
    match missing.as_slice() {
        [] => Ok(Value::Object(fitted_fields)),
        [field, others @ ..] => {
            let others: Vec<String> =
                others.iter().map(|field| format!("`{}.{}`", param.name, field.name)).collect();
            let also_missing = match others.as_slice() {
                [] => String::new(),
                [only] => format!("; so is {only}"),
                several => format!("; so are {}", several.join(", ")),
            };
            let expected = format!("{}{also_missing}", expected(field));
            Err(Fault::Missing { name: format!("{}.{}", param.name, field.name), expected })
        }
    }
}

/// True for an empty text in place of an optional number, date, choice or the like, which a client's form leaves blank.
fn is_blank(field: &Param, value: &Value) -> bool {
    let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    let is_cleared =
        field.name.rsplit_once('.').is_some_and(|(object, name)| taken_away::is_by_null(object, name));
    is_blank && !field.required && !field.kind.many && !may_be_empty(field) && !is_cleared
}

/// True if an empty text can be a value of the parameter.
pub fn may_be_empty(param: &Param) -> bool {
    matches!(param.kind.base, Base::String | Base::Any | Base::File | Base::Object)
        && param.choices.is_empty()
}

/// Matches a value with the choices, ignoring case and separators.
fn choice(param: &Param, value: Value, understood: &mut Vec<String>) -> Result<Value, Fault> {
    if param.choices.is_empty() {
        return Ok(value);
    }
    let given = plain_text(&value);
    if param.choices.contains(&given) {
        return Ok(value);
    }
    let given = yes_or_no(param, &given).unwrap_or(given);
    match param.choices.iter().find(|choice| folded(choice) == folded(&given)) {
        Some(choice) => {
            understood.push(format!("`{}: {given}` as `{choice}`", param.name));
            Ok(json!(choice))
        }
        None => {
            let accepted = param.choices.iter().map(|choice| param.choice_name(choice).to_owned()).collect();
            Err(Fault::NotAChoice { name: param.name.clone(), given, accepted, items: Vec::new() })
        }
    }
}

/// `yes` or `no` for a flag, if these are the choices.
fn yes_or_no(param: &Param, given: &str) -> Option<String> {
    let takes = |choice: &str| param.choices.iter().any(|known| known == choice);
    let choice = if truth(given)? { "yes" } else { "no" };
    (takes("yes") && takes("no")).then(|| choice.to_owned())
}

/// The fault of a number with the mark of another kind: `!3` is no issue. Other systems number all alike with `#`.
pub fn other_mark(action: &Action, param: &Param, value: &Value) -> Option<Fault> {
    let text = value.as_str().filter(|_| param.name.ends_with("iid"))?.trim();
    let own = own_marks(Some(action), param)?;
    let is_meant = |mark: char| mark != '#' && !own.contains(&mark) && text.starts_with(mark);
    let (kind, _) = tracked_kinds().find(|(_, mark)| is_meant(*mark))?;
    let given = format!("{} ({})", render_value(value), kind.noun);
    Some(Fault::WrongType { name: param.name.clone(), given, expected: expected(param) })
}

/// Fault of a value of the wrong type. For a date it lists the days that the text may mean.
fn unfit(param: &Param, value: &Value) -> Fault {
    let (name, given, expected) = (param.name.clone(), render_value(value), expected(param));
    match (param.kind.base, value) {
        (Base::Date | Base::DateTime, Value::String(text)) => {
            let readings = days(text, param.kind.base == Base::DateTime);
            Fault::NoDate { name, given, expected, readings }
        }
        (Base::Role, Value::String(text)) => Fault::NotAChoice {
            name,
            given: text.clone(),
            accepted: match param.choices.as_slice() {
                [] => ROLES.iter().map(|(name, _)| (*name).to_owned()).collect(),
                choices => choices.iter().map(|choice| param.choice_name(choice).to_owned()).collect(),
            },
            items: Vec::new(),
        },
        _ => Fault::WrongType { name, given, expected },
    }
}

/// Renders the beginning of a value for a message.
pub fn render_value(value: &Value) -> String {
    const SHOWN: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn expected_day() -> &'static str {
    "a date such as \"2026-01-31\""
}

/// Describes the accepted roles: names or numbers.
fn expected_role() -> &'static str {
    static EXPECTED: LazyLock<String> = LazyLock::new(|| {
        let names = ROLES.map(|(name, _)| format!("`{name}`"));
        format!("a role, one of {}, or its number", names.join(", "))
    });
    &EXPECTED
}

/// Maximum number of choices in a message.
const NAMED_CHOICES: usize = 12;

/// Describes the type of a parameter for messages.
pub fn expected(param: &Param) -> String {
    let ParamKind { base, many } = param.kind;
    let one = match base {
        Base::String => "a string",
        Base::Integer => "an integer",
        Base::Number => "a number",
        Base::Boolean => "true or false",
        Base::Date => expected_day(),
        Base::DateTime => "a time such as \"2026-01-31T09:00:00Z\", or a date",
        Base::IntegerOrString => "an integer or a string",
        Base::Role => expected_role(),
        Base::Object => "an object",
        Base::File => {
            "a file: {\"filename\": …, \"content\": …} or {\"filename\": …, \"content_base64\": …}, or {\"path\": …}"
        }
        Base::Any => "any value",
    };
    let choices: Vec<&str> = param.choices.iter().map(|choice| param.choice_name(choice)).collect();
    let one = if choices.is_empty() || choices.len() > NAMED_CHOICES {
        one.to_owned()
    } else {
        format!("one of `{}`", choices.join("`, `"))
    };
    if many { format!("a list, each {one}") } else { one }
}
