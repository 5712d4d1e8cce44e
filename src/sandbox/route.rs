//! A route: a method and a path, the access and the parameters that it needs, and its handler.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::answer::Answer;
use super::args::{Args, text_of};
use super::kinds::Verb;
use super::level::Level;
use super::request::Request;

/// Requirement on a parameter. All rules of a route are checked, and all failures are reported at once.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// The parameter must be there.
    Required(&'static str),
    /// One of these must be there.
    AnyOf(&'static [&'static str]),
    /// Any parameter must be there; the error lists these, as GitLab does.
    AnyParameter(&'static [&'static str]),
    /// The parameter must have one of these values.
    OneOf(&'static str, &'static [&'static str]),
    /// The parameter must be a number.
    Integer(&'static str),
}

/// Implementation of a route.
#[derive(Debug, Clone)]
pub enum Run {
    /// By this function.
    Do(fn(&mut Request<'_>) -> Answer),
    /// As rows of a kind that needs no code.
    Kept(String, Verb),
}

/// One method of one path.
#[derive(Debug, Clone)]
pub struct Route {
    pub method: &'static str,
    pub path: Cow<'static, str>,
    needs: Option<Level>,
    pub rules: &'static [Rule],
    pub run: Run,
}

type Handler = fn(&mut Request<'_>) -> Answer;

/// A `GET` route.
pub const fn get(path: &'static str, run: Handler) -> Route {
    Route::at("GET", path, run)
}
/// A `POST` route.
pub const fn post(path: &'static str, run: Handler) -> Route {
    Route::at("POST", path, run)
}
/// A `PUT` route.
pub const fn put(path: &'static str, run: Handler) -> Route {
    Route::at("PUT", path, run)
}
/// A `PATCH` route.
pub const fn patch(path: &'static str, run: Handler) -> Route {
    Route::at("PATCH", path, run)
}
/// A `DELETE` route.
pub const fn delete(path: &'static str, run: Handler) -> Route {
    Route::at("DELETE", path, run)
}

impl Route {
    const fn at(method: &'static str, path: &'static str, run: Handler) -> Self {
        Self { method, path: Cow::Borrowed(path), needs: None, rules: &[], run: Run::Do(run) }
    }

    /// A route whose path was put together.
    pub fn new(method: &'static str, path: String, run: Run) -> Self {
        Self { method, path: Cow::Owned(path), needs: None, rules: &[], run }
    }

    /// Sets the least access needed. By default, anyone may read; a signed-in user may write and, in a project or
    /// group, a developer.
    pub const fn needs(mut self, level: Level) -> Self {
        self.needs = Some(level);
        self
    }

    /// The same, where it is known only later.
    pub fn needs_maybe(mut self, level: Option<Level>) -> Self {
        self.needs = level;
        self
    }

    /// Sets the rules for its parameters.
    pub const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }

    /// The routes that this one stands for: one for each choice in its path, as in `/(projects|groups)/:id/boards`.
    pub fn expand(&self) -> Vec<Self> {
        let choices =
            self.path.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?)));
        let Some((before, (choices, after))) = choices else { return vec![self.clone()] };
        let route = |choice| Self { path: format!("{before}{choice}{after}").into(), ..self.clone() };
        choices.split('|').flat_map(|choice| route(choice).expand()).collect()
    }

    /// The least access needed.
    pub fn level(&self) -> Level {
        let placed = self.path.starts_with("/projects/:id/") || self.path.starts_with("/groups/:id/");
        match (self.needs, self.method) {
            (Some(level), _) => level,
            (None, "GET") => Level::Anyone,
            (None, _) if placed => Level::Developer,
            (None, _) => Level::User,
        }
    }

    /// Values of the placeholders, and for each part of the path whether it is literal; none if the path does not
    /// match.
    pub fn matches(&self, parts: &[String]) -> Option<(Vec<bool>, BTreeMap<String, String>)> {
        let pattern: Vec<&str> = self.path.trim_start_matches('/').split('/').collect();
        let mut params = BTreeMap::new();
        let mut literal = Vec::new();
        if pattern.len() != parts.len() {
            return None;
        }
        for (wanted, part) in pattern.iter().zip(parts) {
            match wanted.strip_prefix(':') {
                Some(name) => {
                    params.insert(name.to_owned(), part.clone());
                    literal.push(false);
                }
                None if wanted == part => literal.push(true),
                None => return None,
            }
        }
        Some((literal, params))
    }
}

impl Rule {
    /// Problem of the parameter, if it has one.
    pub fn problem(self, args: &Args) -> Option<String> {
        match self {
            Self::Required(name) => (args.peek(name).is_none()).then(|| format!("{name} is missing")),
            Self::AnyOf(names) => (!names.iter().any(|name| args.peek(name).is_some())).then(|| {
                format!("{} are missing, at least one parameter must be provided", names.join(", "))
            }),
            Self::AnyParameter(names) => args.names().next().is_none().then(|| {
                format!("{} are missing, at least one parameter must be provided", names.join(", "))
            }),
            Self::OneOf(name, choices) => args
                .peek(name)
                .and_then(text_of)
                .filter(|given| !choices.contains(&given.as_str()))
                .map(|_| format!("{name} does not have a valid value")),
            Self::Integer(name) => args
                .peek(name)
                .and_then(text_of)
                .filter(|given| given.parse::<i64>().is_err())
                .map(|_| format!("{name} is invalid")),
        }
    }
}
