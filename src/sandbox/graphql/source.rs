//! Source of a field's value: a member of the row, or the answer to a request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use url::Url;

use super::super::args::{list_of, text_of};
use super::super::pipeline;
use super::super::row::{Fields, Row};
use super::connection;
use super::node::{NoValue, Node, TYPE, gid_argument};
use super::row_path::{row_walk, walk};
use super::session::Refusal;
use super::table::Source;
use super::template::{Filled, request, snake, text};

/// Arguments whose parameter has another name.
const PARAMETERS: &[(&str, &str)] = &[
    ("assigneeUsernames", "assignee_username"),
    ("labelName", "labels"),
    ("milestoneTitle", "milestone"),
    ("searchTerm", "search"),
    ("searchTitle", "search"),
    ("ownedOnly", "owned"),
];

impl Node<'_, '_> {
    /// The value of a field.
    pub fn value(&self, field: &str, args: &Row) -> Result<Value, NoValue> {
        let Some(source) = self.engine.table.source(&self.name, field) else {
            return Ok(if field == "id" { self.gid() } else { self.at(&snake(field), args) });
        };
        let value = match &source.get {
            Some(template) => self.fetch(source, template, args)?,
            None if args.flag("full") && source.full.is_some() => {
                self.at(source.full.as_deref().unwrap_or_default(), args)
            }
            None => self.at(source.key.as_deref().unwrap_or(&snake(field)), args),
        };
        let value = match &source.pluck {
            Some(path) => walk(&value, &path.split('.').collect::<Vec<_>>()),
            None => value,
        };
        Ok(self.typed(source, self.listed(source, value, args), args))
    }

    fn gid(&self) -> Value {
        let id = self.at("id", &Row::new());
        match (choose(self.engine.table.gid(&self.name), &self.row), text_of(&id)) {
            (Some(name), Some(id)) => Value::from(format!("gid://gitlab/{name}/{id}")),
            _ => id,
        }
    }

    /// Value of a key of the table for this row; see [`table`](super::table).
    fn at(&self, key: &str, args: &Row) -> Value {
        key.split(" | ").map(|key| self.one(key, args)).find(|value| !value.is_null()).unwrap_or_default()
    }

    fn one(&self, key: &str, args: &Row) -> Value {
        if key == "." {
            let given = args.iter().map(|(name, value)| (format!("${name}"), value.clone()));
            return Value::Object(self.row.clone().into_iter().chain(given).collect());
        }
        if let Some(template) = key.strip_prefix('=') {
            return text(template, &|name| self.known(name, args)).map_or(Value::Null, Value::from);
        }
        if let Some(rows) = key.strip_prefix("rows:") {
            return serde_json::from_str(rows).unwrap_or_default();
        }
        if let Some(key) = key.strip_prefix('?') {
            return Value::Bool(!self.member(key).is_null());
        }
        if let Some(key) = key.strip_prefix('~') {
            let url = text_of(&self.member(key)).and_then(|url| Url::parse(&url).ok());
            return url.map_or(Value::Null, |url| Value::from(url.path()));
        }
        if let Some(key) = key.strip_prefix("base64:") {
            let bytes = text_of(&self.member(key)).and_then(|text| STANDARD.decode(text).ok());
            return bytes
                .map_or(Value::Null, |bytes| Value::from(String::from_utf8_lossy(&bytes).into_owned()));
        }
        if let Some(wanted) = key.strip_prefix("diff_stats:") {
            let id = self.member("id").as_u64().unwrap_or_default();
            let stats = self.session.diff_stats(id, self.member("sha").as_str().unwrap_or_default());
            return if wanted == "sum" { summary(&stats) } else { Value::Array(stats) };
        }
        match key.split_once("==") {
            Some((key, wanted)) => {
                let other = wanted.strip_prefix('@').map(|member| text_of(&self.member(member)));
                Value::Bool(text_of(&self.member(key)) == other.unwrap_or_else(|| Some(wanted.to_owned())))
            }
            None => self.member(key),
        }
    }

    /// A member of the row, or of all of the row where a list left it out.
    fn member(&self, path: &str) -> Value {
        let parts: Vec<&str> = path.split('.').collect();
        let held = parts.first().is_some_and(|first| self.row.contains_key(*first));
        let row = if held { &self.row } else { self.whole() };
        row_walk(row, &parts)
    }

    /// Value of a placeholder in a template.
    fn known(&self, name: &str, args: &Row) -> Option<String> {
        match name.strip_prefix('$') {
            Some(argument) => args.get(argument).or_else(|| self.row.get(name)).and_then(text_of),
            None => text_of(&self.member(name)),
        }
    }

    /// The answer to the first of the requests that can be filled in and finds something.
    fn fetch(&self, source: &Source, template: &str, args: &Row) -> Result<Value, NoValue> {
        if let Some(name) = template.strip_prefix("gid:$") {
            let path = self.session.path_of(args.text(&gid_argument(name)));
            return path
                .map_or(Ok(Value::Null), |path| self.ask(&Filled { path, query: Vec::new() }, &Row::new()));
        }
        if let Some(each) = source.each.as_deref().and_then(|each| each.strip_prefix('$')) {
            let elements = args.get(each).map(list_of).unwrap_or_default();
            let ask = |element: String| {
                let known =
                    |name: &str| if name == "$each" { Some(element.clone()) } else { self.known(name, args) };
                request(template, &known).map_or(Ok(Value::Null), |filled| self.ask(&filled, &Row::new()))
            };
            let found: Result<Vec<Value>, NoValue> = elements.into_iter().map(ask).collect();
            return Ok(found?.into_iter().filter(|row| !row.is_null()).collect());
        }
        let parameters = parameters(source, template, args);
        for template in template.split(" | ") {
            let Some(filled) = request(template, &|name| self.known(name, args)) else { continue };
            let found = self.ask(&filled, &parameters)?;
            if !found.is_null() {
                return Ok(found);
            }
        }
        Ok(Value::Null)
    }

    /// The answer to a request; null if the object is missing or may not be seen.
    fn ask(&self, filled: &Filled, parameters: &Row) -> Result<Value, NoValue> {
        match self.session.read(filled, parameters) {
            Err(Refusal { status: 401 | 403 | 404, .. }) => Ok(Value::Null),
            answer => answer.map_err(NoValue::Refused),
        }
    }

    /// The rows of a list that the source and the arguments keep.
    fn listed(&self, source: &Source, value: Value, args: &Row) -> Value {
        let Value::Array(mut rows) = value else { return value };
        for (member, wanted) in &source.keep {
            let wanted = match wanted.split_at_checked(1) {
                Some(("$", argument)) => args.get(argument).filter(|given| !given.is_null()).map(list_of),
                Some(("@", member)) => Some(list_of(&self.member(member))),
                Some((_, text)) => Some(vec![text.to_owned()]),
                None => None,
            };
            let Some(wanted) = wanted else { continue };
            let is = |text: &str| wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(text));
            let path: Vec<&str> = member.split('.').collect();
            rows.retain(|row| text_of(&walk(row, &path)).is_some_and(|text| is(&text)));
        }
        let pattern = source.glob.as_deref().and_then(|name| match name.strip_prefix('$') {
            Some(argument) => args.get(argument).and_then(text_of),
            None => text_of(&self.member(name.trim_start_matches('@'))),
        });
        if let Some(pattern) = pattern {
            rows.retain(|name| matches(&pattern, name.as_str().unwrap_or_default()));
            let number =
                |name: &str| args.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
            let (offset, limit) =
                (number("offset").unwrap_or_default(), number("limit").unwrap_or(usize::MAX));
            rows = rows.into_iter().skip(offset).take(limit).collect();
        }
        if source.count {
            return Value::from(rows.len());
        }
        if source.stages {
            return pipeline::stages(&rows);
        }
        for row in rows.iter_mut().filter_map(Value::as_object_mut) {
            row.extend(source.with.iter().map(|(name, member)| (name.clone(), self.member(member))));
        }
        Value::Array(rows)
    }

    /// The value with the types that the schema leaves open, and the words that it uses.
    fn typed(&self, source: &Source, value: Value, args: &Row) -> Value {
        let mapped = text_of(&value).and_then(|text| source.map.get(&text));
        if let Some(text) = mapped {
            return Value::from(text.as_str());
        }
        let shown_as = |row: &Value, name: &str| {
            let mut row = row.clone();
            if let Value::Object(members) = &mut row {
                members.set(TYPE, name);
            }
            row
        };
        match (value, source.types.as_slice()) {
            (Value::Object(row), []) => match choose(&source.by, &row) {
                Some(name) => shown_as(&Value::Object(row), name),
                None => Value::Object(row),
            },
            (Value::Array(rows), [one]) => rows.iter().map(|row| shown_as(row, one)).collect(),
            (value @ Value::Object(_), types) => {
                let wanted = source.only.as_deref().and_then(|name| args.get(name.trim_start_matches('$')));
                let wanted = wanted.map(list_of).unwrap_or_default();
                let is_wanted = |name: &&String| {
                    let kind =
                        self.engine.table.source(name, "type").and_then(|source| source.key.as_deref());
                    let kind = kind.unwrap_or_default().trim_start_matches('=').to_lowercase();
                    wanted.is_empty() || wanted.contains(&kind)
                };
                types.iter().filter(is_wanted).map(|name| shown_as(&value, name)).collect()
            }
            (value, _) => value,
        }
    }
}

/// The sums of the changed lines of files.
fn summary(stats: &[Value]) -> Value {
    let sum = |name: &str| stats.iter().filter_map(|file| file.get(name)?.as_u64()).sum::<u64>();
    let (additions, deletions) = (sum("additions"), sum("deletions"));
    json!({
        "additions": additions, "deletions": deletions, "changes": additions + deletions, "file_count": stats.len()
    })
}

/// The first of `member:Name` whose member the row has, or the first `Name` alone.
pub fn choose<'n>(names: &'n [String], row: &Row) -> Option<&'n str> {
    let has =
        |member: &str| row.get(member).is_some_and(|value| !value.is_null() && value != &Value::Bool(false));
    // A name may hold `::` itself, and is then never behind a member of one word.
    names.iter().find_map(|name| match name.split_once(':') {
        Some((member, name)) if !name.starts_with(':') => has(member).then_some(name),
        _ => Some(name.as_str()),
    })
}

/// The arguments that go along with a request, those aside that the source uses itself.
fn parameters(source: &Source, template: &str, args: &Row) -> Row {
    let mut sent = Row::new();
    let used = |name: &str| {
        let name = format!("${name}");
        let own = [&source.each, &source.glob, &source.only];
        template.contains(&format!("{{{name}"))
            || source.keep.values().any(|kept| *kept == name)
            || own.into_iter().any(|used| used.as_ref() == Some(&name))
    };
    let given = args.iter().filter(|(name, value)| !value.is_null() && !used(name));
    for (name, value) in given.filter(|(name, _)| !connection::ARGUMENTS.contains(&name.as_str())) {
        let value = if value.is_array() { Value::from(list_of(value).join(",")) } else { value.clone() };
        if name == "sort"
            && let Some((field, order)) = value.as_str().and_then(|sort| sort.rsplit_once('_'))
        {
            let timed = matches!(field, "created" | "updated");
            sent.set("order_by", if timed { format!("{field}_at") } else { field.to_owned() });
            sent.set("sort", order);
            continue;
        }
        let parameter = PARAMETERS.iter().find(|(argument, _)| argument == name);
        sent.set(&parameter.map_or_else(|| snake(name), |(_, to)| (*to).to_owned()), value);
    }
    sent
}

/// True if a name matches a pattern with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    true
}
