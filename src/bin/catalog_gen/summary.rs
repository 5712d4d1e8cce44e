//! Generates summaries of actions that have none in curation.

use gitlab_mcp::catalog::{Operation, Scope};

/// Verbs whose object is the domain's noun, with the start of their sentence.
const OPENINGS: [(&str, &str, Number); 6] = [
    ("list", "List", Number::Many),
    ("get", "Show one", Number::One),
    ("create", "Create a new", Number::One),
    ("update", "Change a", Number::One),
    ("delete", "Delete a", Number::One),
    ("exists", "Tell whether there is a", Number::One),
];

#[derive(Clone, Copy, PartialEq)]
enum Number {
    One,
    Many,
}

/// `List the deploy keys of a project or the instance`.
pub fn generate_summary(domain_noun: &str, verb: &str, operations: &[Operation]) -> String {
    let place = scope_phrase(operations);
    let opening = OPENINGS.iter().find(|(known, _, _)| *known == verb);
    match opening {
        Some((_, words, Number::Many)) => format!("{words} {}{place}", plural(domain_noun)),
        Some((_, words, Number::One)) => format!("{words} {domain_noun}{place}"),
        None => format!("{}: {}{place}", capitalize(domain_noun), verb.replace('_', " ")),
    }
}

fn scope_phrase(operations: &[Operation]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for operation in operations.iter().filter(|operation| !operation.alternate) {
        let name = match operation.scope {
            Scope::Project => "a project",
            Scope::Group => "a group",
            Scope::Instance => "the instance",
            Scope::Namespace => "a project or group",
            Scope::User => "a user",
            Scope::Current => "the current user",
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { String::new() } else { format!(" of {}", names.join(" or ")) }
}

/// Plural of a noun.
pub fn plural(noun: &str) -> String {
    let vowel_before_y = noun.len() > 1 && noun.ends_with('y') && {
        let before = noun.chars().rev().nth(1).unwrap_or('b');
        "aeiou".contains(before)
    };
    match noun {
        _ if noun.ends_with('y') && !vowel_before_y => format!("{}ies", noun.trim_end_matches('y')),
        _ if noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with('x') => format!("{noun}es"),
        _ if noun.ends_with('s') => noun.to_owned(),
        _ => format!("{noun}s"),
    }
}

fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
