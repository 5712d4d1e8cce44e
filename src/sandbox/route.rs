//! A route: a method and a path, the access and the parameters that it needs, and its handler.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::answer::Answer;
use super::args::{Args, text_of};
use super::errors::Fault;
use super::kinds::Verb;
use super::level::Level;
use super::request::Request;
use serde_json::Value;

/// Requirement on a parameter. All rules of a route are checked, and all failures are reported at once.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// The parameter must be there.
    Required(&'static str),
    /// One of these, which are separated by spaces, must be there.
    AnyOf(&'static str),
    /// Any parameter must be there; the error lists these, as GitLab does.
    AnyParameter(&'static str),
    /// The parameter must have one of these values, which are separated by spaces.
    OneOf(&'static str, &'static str),
    /// The parameter must be a number.
    Integer(&'static str),
    /// No two of these, which are separated by spaces, may be there.
    Exclusive(&'static str),
    /// The same, refused with this text.
    Apart(&'static str, &'static str),
    /// Exactly one of these must be there.
    ExactlyOne(&'static str),
    /// The parameter must not be blank.
    NotBlank(&'static str),
    /// A value that the form refuses is a fault with this text.
    Declared(&'static str, Form, &'static str),
    /// The same of a model: the text is one of the parameter's errors.
    Model(&'static str, Form, &'static str),
    /// The same of a service, which answers with this status and the text alone.
    Service(&'static str, Form, u16, &'static str),
}

/// True for a value that is taken.
pub type Form = fn(&Value) -> bool;

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
    in_groups: Option<Level>,
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
        Self {
            method,
            path: Cow::Borrowed(path),
            needs: None,
            in_groups: None,
            rules: &[],
            run: Run::Do(run),
        }
    }

    /// The route of a kind that needs no code.
    pub fn kept(method: &'static str, path: String, needs: Option<Level>, kind: String, verb: Verb) -> Self {
        Self {
            method,
            path: Cow::Owned(path),
            needs,
            in_groups: None,
            rules: &[],
            run: Run::Kept(kind, verb),
        }
    }

    /// Sets the least access needed. By default, anyone may read; a signed-in user may write and, in a project or
    /// group, a developer.
    pub const fn needs(mut self, level: Level) -> Self {
        self.needs = Some(level);
        self
    }

    /// Sets the least access needed to that of those who manage members: maintainers of a project, owners of a group.
    pub const fn needs_manager(mut self) -> Self {
        self.needs = Some(Level::Maintainer);
        self.in_groups = Some(Level::Owner);
        self
    }

    /// Sets the rules for its parameters.
    pub const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }

    /// The same route below another path.
    pub fn below(&self, path: &str) -> Self {
        Self { path: format!("{path}{}", self.path).into(), ..self.clone() }
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
        let in_group = self.in_groups.filter(|_| self.path.starts_with("/groups/"));
        match (in_group.or(self.needs), self.method) {
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
        // The last one of a pattern may be the path of a file.
        let file = pattern.last().and_then(|last| last.strip_prefix('*'));
        let is_long = file.is_some() && parts.len() >= pattern.len();
        if pattern.len() != parts.len() && !is_long {
            return None;
        }
        if let Some(name) = file {
            let path = parts.get(pattern.len() - 1..).unwrap_or_default().join("/");
            params.insert(name.to_owned(), path);
        }
        for (wanted, part) in pattern.iter().filter(|wanted| !wanted.starts_with('*')).zip(parts) {
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
        let given = |names: &str| names.split(' ').filter(|name| args.peek(name).is_some()).count();
        match self {
            Self::Exclusive(names) => Self::Apart(names, "are mutually exclusive").problem(args),
            Self::Apart(names, text) => {
                (given(names) > 1).then(|| format!("{} {text}", names.replace(' ', ", ")))
            }
            Self::ExactlyOne(names) => {
                let names_listed = names.replace(' ', ", ");
                match given(names) {
                    0 => Some(format!("{names_listed} are missing, exactly one parameter must be provided")),
                    1 => None,
                    _ => Some(format!("{names_listed} are mutually exclusive")),
                }
            }
            Self::NotBlank(name) => {
                let is_blank = |value: &Value| {
                    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
                };
                args.peek(name).filter(|value| is_blank(value)).map(|_| format!("{name} is empty"))
            }
            Self::Declared(name, form, text) => args
                .peek(name)
                .filter(|value| !form(value))
                .map(|_| format!("{name} {text}").trim_start().to_owned()),
            Self::Model(..) | Self::Service(..) => None,
            Self::Required(name) => (args.peek(name).is_none()).then(|| format!("{name} is missing")),
            // GraphQL has fields of its own, whose parameters begin with `_`.
            Self::AnyOf(_) if args.names().any(|name| name.starts_with('_')) => None,
            Self::AnyOf(names) if names.split(' ').any(|name| args.peek(name).is_some()) => None,
            Self::AnyParameter(_) if args.names().next().is_some() => None,
            Self::AnyOf(names) | Self::AnyParameter(names) => {
                let names = names.replace(' ', ", ");
                Some(format!("{names} are missing, at least one parameter must be provided"))
            }
            Self::OneOf(name, choices) => args
                .peek(name)
                .and_then(text_of)
                .filter(|given| !choices.split(' ').any(|choice| choice == given))
                .map(|_| format!("{name} does not have a valid value")),
            Self::Integer(name) => args
                .peek(name)
                .and_then(text_of)
                .filter(|given| given.parse::<i64>().is_err())
                .map(|_| format!("{name} is invalid")),
        }
    }

    /// The refusal of a model or service for the arguments.
    pub fn refusal(self, args: &Args) -> Option<Fault> {
        let refused = |name: &str, form: Form| args.peek(name).is_some_and(|value| !form(value));
        match self {
            Self::Model(name, form, text) => refused(name, form).then(|| Fault::invalid(name, text)),
            Self::Service(name, form, status, text) => {
                refused(name, form).then(|| Fault::refused(status, text))
            }
            _ => None,
        }
    }
}
