//! Assigns REST operations to actions: the domain by the path's prefix, the verb by the method and the rest of the
//! path. Curation overrides these rules; an operation without a name is a fault.

use gitlab_mcp::catalog::{Audience, Method};

use crate::curation::{Curation, Domain, Named, expand_path, key};
use crate::openapi::RawOperation;
use crate::paths::{segments, singular};
use crate::rules::NamingRules;

/// Names every operation of a curation's domains.
pub struct Namer<'a> {
    curation: &'a Curation,
    /// Path prefixes, as segments, with their domains; the longest first.
    prefixes: Vec<(Vec<String>, &'a str)>,
}

/// The name of an operation.
pub struct Name {
    pub id: String,
    /// True if curation marks it as an alternative.
    pub alternate: bool,
}

impl<'a> Namer<'a> {
    pub fn new(curation: &'a Curation) -> Self {
        let mut prefixes: Vec<(Vec<String>, &str)> = curation
            .domains
            .iter()
            .flat_map(|(name, domain)| domain.paths.iter().map(move |path| (path, name.as_str())))
            .flat_map(|(pattern, name)| {
                expand_path(pattern).into_iter().map(move |path| (segments(&path), name))
            })
            .collect();
        prefixes.sort_by(|(a, x), (b, y)| b.len().cmp(&a.len()).then(x.cmp(y)));
        Namer { curation, prefixes }
    }

    /// The curated name of the operation, if it has one.
    pub fn curated(&self, operation: &RawOperation) -> Option<&'a Named> {
        self.curation.names.get(&key(operation.method.name(), &operation.path))
    }

    /// Derives the action's id. The error lists the entries to add to curation.
    pub fn name(&self, operation: &RawOperation) -> Result<Name, String> {
        if let Some(named) = self.curated(operation) {
            return Ok(Name { id: named.id.clone(), alternate: named.alternate });
        }
        let path = segments(&operation.path);
        let (prefix, domain) =
            self.prefixes.iter().find(|(prefix, _)| path.starts_with(prefix)).ok_or_else(|| {
                format!(
                    "{} {} belongs to no domain{}",
                    operation.method.name(),
                    operation.path,
                    suggestion(operation.method, &path)
                )
            })?;
        let rest = path.get(prefix.len()..).unwrap_or_default();
        let described = self.curation.domains.get(*domain).cloned().unwrap_or_default();
        Ok(Name {
            id: format!(
                "{domain}.{}",
                verb(operation.method, rest, prefix, &described, &self.curation.rules.naming)
            ),
            alternate: false,
        })
    }
}

/// Suggested domain for a path that no domain covers: named after its first word behind the project or group.
fn suggestion(method: Method, path: &[String]) -> String {
    let (root, rest) = match path {
        [first, one, rest @ ..]
            if is_placeholder(one) && ["projects", "groups"].contains(&first.as_str()) =>
        {
            ("*/", rest)
        }
        whole => ("/", whole),
    };
    let Some(plural) = rest.first() else { return String::new() };
    let domain = singular(plural);
    let on_one = rest.last().is_some_and(|last| is_placeholder(last));
    let verb = plain_verb(method, on_one);
    format!(": `[domain.{domain}]` with `paths = [\"{root}{plural}\"]` makes it {domain}.{verb}")
}

/// The verb, by the method and the path after the domain's own.
fn verb(method: Method, rest: &[String], prefix: &[String], domain: &Domain, rules: &NamingRules) -> String {
    // A domain path that ends in a placeholder is a single object, as `/projects/:id`.
    let begins_with_one = domain.singular || prefix.last().is_some_and(|segment| segment == "{}");
    let on_one = rest.last().map_or(begins_with_one, |last| is_placeholder(last));
    let words: Vec<String> =
        rest.iter().filter(|segment| !is_placeholder(segment)).map(|segment| word(segment)).collect();
    if words.is_empty() {
        return plain_verb(method, on_one).to_owned();
    }
    let words = words.join("_");
    let named = on_one || domain.kinds;
    match method {
        Method::Head => format!("{words}_exists"),
        Method::Delete => format!("delete_{words}"),
        Method::Get if named => format!("get_{words}"),
        Method::Get if rules.is_plural(&words) => format!("list_{words}"),
        // A read begins with a verb; machine endpoints keep their protocol's terms.
        Method::Get if domain.audience == Audience::Person && !rules.begins_with_verb(&words) => {
            format!("get_{words}")
        }
        Method::Put | Method::Patch if named => format!("update_{words}"),
        Method::Get | Method::Post | Method::Put | Method::Patch => words,
    }
}

fn is_placeholder(segment: &str) -> bool {
    segment.contains(['{', ':', '*'])
}

/// A segment as part of a snake_case verb.
fn word(segment: &str) -> String {
    let plain: String = segment
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    plain.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

fn plain_verb(method: Method, on_one: bool) -> &'static str {
    match (method, on_one) {
        (Method::Get, true) => "get",
        (Method::Get, false) => "list",
        (Method::Head, _) => "exists",
        (Method::Post, _) => "create",
        (Method::Put | Method::Patch, _) => "update",
        (Method::Delete, true) => "delete",
        (Method::Delete, false) => "delete_all",
    }
}
