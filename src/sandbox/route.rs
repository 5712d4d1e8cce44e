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
    /// One of these, which are separated by spaces, must be there.
    AnyOf(&'static str),
    /// Any parameter must be there; the error lists these, as GitLab does.
    AnyParameter(&'static str),
    /// The parameter must have one of these values, which are separated by spaces.
    OneOf(&'static str, &'static str),
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
}
