//! Quick actions in texts: lines such as `/merge` or `/move group/project` that GitLab executes when it stores a
//! note, a description or a commit message (docs.gitlab.com, "GitLab quick actions").

use serde_json::{Map, Value};

use super::affected_paths::GROUP_OF_PROJECT;
use super::effects::{DerivedPlace, Role, TouchedPlace};
use super::location::{HolderKind, Location};
use super::raised_risk::visit_values;
use super::{Part, request};
use crate::catalog::{
    self, Action, Base, Catalog, CatalogError, LandingPlace, Param, QuickAction, Risk, TRACKED_MARKS,
    Touched, Words,
};

/// Handling of quick actions in texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuickActions {
    /// Policy decides on the call as if it also executed the corresponding actions.
    #[default]
    Check,
    /// A text with a quick action is refused.
    Refuse,
    /// Each quick action is escaped by a backslash, so that GitLab shows it instead of executing it.
    Escape,
}

/// A line that GitLab would execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuickCommand {
    /// Name in lower case, without the slash.
    pub name: String,
    pub argument: String,
    /// Byte position of its slash in the text without carriage returns.
    pub at: usize,
}

/// Finds the commands in a text: lines that a GitLab executes. Its carriage returns are deleted first, as GitLab does.
///
/// GitLab has read texts in two ways (`lib/gitlab/quick_actions/extractor.rb`): up to 16.x by one regular expression over
/// the text, since then in the paragraphs of the rendered text that are in no list, quotation or code
/// (`Banzai::Filter::QuickActionFilter`). A line is a command unless both ways skip it, in every version; see
/// [`fenced_lines`]. Its first word is a slash and letters, `_` or `-`, in any case; `/etc/passwd` is not one. GitLab wants
/// the slash at the start of the line; a line with blanks before it counts here too.
pub fn commands(text: &str) -> Vec<QuickCommand> {
    let text = without_returns(text);
    let fenced = fenced_lines(&text);
    let mut found = Vec::new();
    let mut at = 0;
    for (number, line) in text.split('\n').enumerate() {
        let bare = line.trim_start();
        if let Some((name, argument)) = command(bare)
            && !fenced.contains(&number)
        {
            let at = at + (line.len() - bare.len());
            found.push(QuickCommand { name, argument, at });
        }
        at += line.len() + 1;
    }
    found
}

fn without_returns(text: &str) -> String {
    text.replace('\r', "")
}

fn command(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix('/')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(rest.len());
    let (name, argument) = rest.split_at(end);
    let is_name = name.starts_with(char::is_alphabetic);
    let ends = argument.is_empty() || argument.starts_with(char::is_whitespace);
    // Ruby's case-insensitive match also accepts the Kelvin sign as k and the long s as s.
    (is_name && ends).then(|| (name.to_lowercase().replace('\u{17f}', "s"), argument.trim().to_owned()))
}

/// Size in bytes from which GitLab shortens a text before it looks for paragraphs, and adds lines above it, so that the
/// paragraphs are at other lines (`Banzai::Filter::TruncateSourceFilter`).
const MAX_RENDERED_BYTES: usize = 1 << 20;

/// Marks of other fences, quotations and HTML, anywhere in a line. They could pair the fences of a text in another way.
const OTHER_BLOCKS: [&str; 3] = ["~~~", ">>>", "<"];

/// Beginnings of lines around front matter, which some versions render as a fence (`Banzai::Filter::FrontMatterFilter`).
const FRONT_MATTER: [&str; 3] = ["---", "+++", ";;;"];

/// Returns the numbers of the lines inside fences. Only the plainest form is recognized, ` ``` ` and a word at the start of a
/// line and ` ``` ` alone on another: 16.x takes no blank behind the closing one. If anything else in the text could pair the
/// fences differently, no line is inside.
fn fenced_lines(text: &str) -> Vec<usize> {
    let is_fence = |line: &str| {
        line.strip_prefix("```").is_some_and(|info| info.chars().all(|c| c.is_ascii_alphanumeric()))
    };
    let is_odd = |line: &str| {
        (line.contains("```") && !is_fence(line))
            || OTHER_BLOCKS.iter().any(|mark| line.contains(mark))
            || FRONT_MATTER.iter().any(|mark| line.starts_with(mark))
    };
    if text.len() >= MAX_RENDERED_BYTES || text.split('\n').any(is_odd) {
        return Vec::new();
    }
    // Some versions also skip inline code, from one backtick to the next, even if that is a fence's.
    let is_unpaired = |line: &str| line.contains("``") || !line.matches('`').count().is_multiple_of(2);
    let fences: Vec<(usize, &str)> =
        text.split('\n').enumerate().filter(|(_, line)| is_fence(line)).collect();
    if !fences.len().is_multiple_of(2) {
        return Vec::new();
    }
    let mut fenced = Vec::new();
    for pair in fences.chunks(2) {
        let [(open, _), (close, closing)] = pair else { continue };
        // A closing fence has no language. GitLab's treatment of an empty block depends on its version.
        if *closing != "```" || *close == *open + 1 {
            return Vec::new();
        }
        fenced.extend(*open..=*close);
    }
    let mut outside = text.split('\n').enumerate().filter(|(number, _)| !fenced.contains(number));
    if outside.any(|(_, line)| is_unpaired(line)) {
        return Vec::new();
    }
    fenced
}

/// Escapes each command in a text by a backslash. A text with a command loses its carriage returns, as in GitLab.
pub fn escape(text: &str) -> String {
    let found = commands(text);
    if found.is_empty() {
        return text.to_owned();
    }
    let mut escaped = without_returns(text);
    for command in found.iter().rev() {
        escaped.insert(command.at, '\\');
    }
    escaped
}

/// A text parameter with its commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Path of the parameter.
    pub param: String,
    pub commands: Vec<QuickCommand>,
}

/// Finds the commands in a file of rows, each of whose cells is a text. GitLab takes a comma, a semicolon or a tab
/// between them (`app/services/import_csv/base_service.rb`), so each begins a text here, as a quotation mark does. No line
/// is in a fence: those of two cells are no pair.
pub fn commands_in_rows(bytes: &[u8]) -> Vec<QuickCommand> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split([',', ';', '\t', '"', '\n', '\r']).filter_map(|line| command(line.trim_start()));
    lines.map(|(name, argument)| QuickCommand { name, argument, at: 0 }).collect()
}

/// True if GitLab executes quick actions in a file that the action sends.
pub fn takes_rows(action: &Action) -> bool {
    scanned_files(action).next().is_some()
}

/// The parameters with a file in whose rows GitLab executes quick actions.
fn scanned_files(action: &Action) -> impl Iterator<Item = &Param> {
    let is_scanned = |param: &&Param| param.kind.base == Base::File && action.scanned.contains(&param.name);
    action.params.iter().filter(is_scanned)
}

/// Finds the commands in the parameters in which GitLab executes quick actions. A local file is not read yet.
pub fn scan(action: &Action, params: &Map<String, Value>) -> Vec<Scanned> {
    let mut found = Vec::new();
    for param in scanned_files(action) {
        let file = params.get(&param.name).and_then(|value| request::file(param, value).ok());
        let Some(Part::File { bytes, .. }) = file else { continue };
        found.push(Scanned { param: param.name.clone(), commands: commands_in_rows(&bytes) });
    }
    let is_file = |path: &str| scanned_files(action).any(|param| param.name == path);
    for path in action.scanned.iter().filter(|path| !is_file(path)) {
        visit_texts(params, path, |text| {
            found.push(Scanned { param: path.clone(), commands: commands(text) });
        });
    }
    found.retain(|scanned| !scanned.commands.is_empty());
    found
}

/// Finds the commands in all texts of fields that no action describes: GitLab may execute quick actions in them.
pub fn scan_all(fields: &Map<String, Value>) -> Vec<Scanned> {
    let mut found = Vec::new();
    for (name, value) in fields {
        visit_all(value, &mut |text| {
            found.push(Scanned { param: name.clone(), commands: commands(text) });
        });
    }
    found.retain(|scanned| !scanned.commands.is_empty());
    found
}

fn visit_all(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|item| visit_all(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| visit_all(field, see)),
        _ => {}
    }
}

/// Calls `see` with each text at a dotted path; lists are walked.
fn visit_texts(params: &Map<String, Value>, path: &str, mut see: impl FnMut(&str)) {
    visit_values(&Value::Object(params.clone()), path, &mut |value| {
        value.as_str().into_iter().for_each(&mut see);
    });
}

/// Escapes the commands in the parameters in which GitLab executes quick actions.
pub fn escape_all(action: &Action, params: &mut Map<String, Value>) {
    action.scanned.iter().for_each(|path| escape_field(params, path));
}

fn escape_field(fields: &mut Map<String, Value>, path: &str) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    if let Some(value) = fields.get_mut(name) {
        escape_value(value, rest);
    }
}

fn escape_value(value: &mut Value, path: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| escape_value(item, path)),
        Value::String(text) if path.is_empty() => *text = escape(text),
        Value::Object(fields) => escape_field(fields, path),
        _ => {}
    }
}

/// Effects of the commands in texts of a domain (`issue_note`) in a project or group: an operation for each, and the places that their
/// arguments name.
///
/// An unknown command is a destructive change, which needs confirmation: a newer GitLab may execute it.
pub fn effects(
    domain: &str,
    own: Option<&Location>,
    scanned: &[Scanned],
    words: &Words,
    catalog: &Catalog,
) -> Result<(Vec<Touched>, Vec<TouchedPlace>), CatalogError> {
    let (mut touches, mut places) = (Vec::new(), Vec::new());
    for (param, command) in
        scanned.iter().flat_map(|scanned| scanned.commands.iter().map(|c| (&scanned.param, c)))
    {
        let operation = format!("quick action /{}", command.name);
        let id = format!("quick_action.{}", command.name);
        let Some(known) = words.quick_actions.get(&command.name) else {
            touches.push(Touched::new(operation, &id, Risk::Destructive));
            continue;
        };
        let mut touched = Touched::new(operation, &id, known.risk.unwrap_or(Risk::Write));
        for stands_for in applicable(known, domain) {
            if let Some(stands_for) = catalog.get(stands_for)? {
                touched.risk = touched.risk.max(stands_for.risk);
                touched.effects.push(stands_for.id.clone());
                touched.effects.extend(stands_for.effects);
            }
        }
        touches.push(touched);
        if known.path {
            places.extend(argument_places(param, &command.argument));
            places.extend(epic_places(domain, own, &command.argument));
        }
        if known.lands == Some(LandingPlace::ParentGroup) {
            places.push(TouchedPlace::derived(GROUP_OF_PROJECT, DerivedPlace::ParentGroup, own));
        }
    }
    Ok((touches, places))
}

/// Kinds of objects with texts.
const KINDS: [&str; 5] = ["merge_request", "epic", "work_item", "issue", "commit"];

fn kind_of(domain: &str) -> Option<&'static str> {
    KINDS.into_iter().find(|kind| domain.starts_with(kind))
}

/// Actions of a command for the kind of object with the text: without those that do to another kind what one of them does to
/// this one. A merge request that is made from an issue stays.
fn applicable<'a>(known: &'a QuickAction, domain: &str) -> Vec<&'a str> {
    let all: Vec<&str> = known.actions.iter().map(String::as_str).collect();
    let Some(kind) = kind_of(domain) else { return all };
    let is_same = |id: &str| match kind_of(id) {
        // An issue is a work item, and so is an epic.
        Some(other) => {
            other == kind || (other == "work_item" && matches!(kind, "issue" | "epic")) || kind == "work_item"
        }
        None => true,
    };
    let verb = |id: &str| id.rsplit_once('.').map(|(_, verb)| verb.to_owned());
    let is_own = |id: &str| kind_of(id).is_some() && is_same(id);
    let is_double = |id: &&str| all.iter().any(|other| is_own(other) && verb(other) == verb(id));
    all.iter().copied().filter(|id| is_same(id) || !is_double(id)).collect()
}

/// The group of the project of an issue or merge request, if an argument names an epic without a path: `&7`.
fn epic_places(domain: &str, own: Option<&Location>, argument: &str) -> Option<TouchedPlace> {
    let is_of_project = matches!(kind_of(domain), Some("issue" | "merge_request" | "commit"));
    let names_epic = argument.split([' ', ',', '"']).any(|word| word.starts_with('&'));
    (is_of_project && names_epic)
        .then(|| TouchedPlace::derived(GROUP_OF_PROJECT, DerivedPlace::ParentGroup, own))
}

/// The projects whose issues a call closes by its commit messages or its description of a merge request: `Closes
/// group/project#12`. None for `#12`, which is the call's own.
pub fn closed_places(action: &Action, params: &Map<String, Value>) -> Vec<TouchedPlace> {
    let mut places = Vec::new();
    let closes = |path: &&String| path.contains("essage") || action.domain() == "merge_request";
    for path in action.scanned.iter().filter(closes) {
        visit_texts(params, path, |text| {
            let mut follows = false;
            for word in text.split_whitespace() {
                let bare = word.trim_matches([',', '.', ':', ';', '(', ')']);
                let lower = bare.to_ascii_lowercase();
                if catalog::kinds().closing_words.contains(&lower) {
                    follows = true;
                } else if follows && bare.contains('/') && (bare.contains('#') || bare.contains("/issues/")) {
                    places.extend(argument_places(path, bare));
                } else if !bare.contains('#') && !matches!(lower.as_str(), "and" | "issue" | "issues" | "") {
                    follows = false;
                }
            }
        });
    }
    places
}

/// Collects the projects and groups in an argument: `group/project`, `group/project#12`, URLs. None for `#12`.
fn argument_places(param: &str, argument: &str) -> Vec<TouchedPlace> {
    let words = argument.split_whitespace().map(|word| word.trim_matches(['"', '\'', ',']));
    let other =
        words.filter(|word| !word.is_empty() && !word.starts_with(TRACKED_MARKS) && !word.starts_with("--"));
    let places = other.map(|word| {
        let path = word.split(TRACKED_MARKS).next().unwrap_or(word);
        let location = Location::parse(path, HolderKind::Either).unwrap_or(Location::Unknown);
        TouchedPlace::new(param, location).with_role(Role::Named)
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        commands(text).into_iter().map(|command| command.name).collect()
    }

    #[test]
    fn a_line_that_begins_with_a_slash_word_is_a_command() {
        assert_eq!(names("/merge"), ["merge"]);
        assert_eq!(names("Thanks!\n\n/Close\r\n  /label ~bug ~\"to do\"\n"), ["close", "label"]);
        assert_eq!(names("/move other/secret\n/close"), ["move", "close"]);
        assert_eq!(names("/mer\rge"), ["merge"]);
        assert_eq!(names("/loc\u{212a}"), ["lock"]);
        for text in ["see /merge", "/etc/passwd", "//merge", "/", "a/merge", "/2024 plan", "`/merge`"] {
            assert!(names(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn only_a_plain_fence_hides_a_command() {
        assert!(names("```\n/merge\n```").is_empty());
        assert!(names("```sh\n/merge\n```\nbye").is_empty());
        assert!(names("`a` and `b`\n```sh\n`x\n/merge\n```\nsee `c`").is_empty());
        for text in [
            "```\n/merge",
            "```\n```\n/merge",
            "~~~\n/merge\n~~~",
            "````\n```\n/merge\n```\n````",
            "> /x\n/merge",
            "```\nx\n```a\n/merge\n```",
            "```\n```\u{a0}\n```\n/merge\n```",
            "```\n```\nx\n/merge\n```\n```",
            "<p>\n```\n/merge\n```",
            "`\n```\n/merge`\n/merge\n```",
            "``x``\n```\n`\n/merge\n```",
        ] {
            assert_eq!(names(text), ["merge"], "{text}");
        }
    }

    #[test]
    fn an_escaped_text_holds_no_command() {
        for text in ["/merge", "a\n  /close now\n/move x/y", "\u{e9}\r\n/assign @me"] {
            let escaped = escape(text);
            assert!(commands(&escaped).is_empty(), "{escaped}");
            assert_eq!(escaped.replace('\\', ""), text.replace('\r', ""));
        }
    }

    #[test]
    fn an_argument_may_name_a_place() {
        let locations = |argument: &str| -> Vec<String> {
            argument_places("body", argument).iter().map(|place| place.location.to_string()).collect()
        };
        assert_eq!(locations("other/secret"), ["other/secret"]);
        assert_eq!(locations("#1 other/secret#12, acme/x"), ["other/secret", "acme/x"]);
        assert!(locations("#12 !3").is_empty());
        assert_eq!(locations("https://elsewhere/x"), ["an unknown location"]);
    }

    /// <https://docs.gitlab.com/user/project/issues/managing_issues/#default-closing-pattern>
    #[test]
    fn an_issue_of_another_project_is_closed_by_its_reference_or_its_url() {
        let action = Catalog::embedded().unwrap().get("commit.create").unwrap().unwrap();
        let closed = |message: &str| -> Vec<String> {
            let params = Map::from_iter([("commit_message".to_owned(), Value::from(message))]);
            closed_places(&action, &params).iter().map(|place| place.location.to_string()).collect()
        };
        const URL: &str = "https://gitlab.example.com/acme/gear/-/issues/1";
        assert_eq!(closed("Oil\n\nCloses acme/gear#1"), ["acme/gear"]);
        for message in [format!("Closes {URL}"), format!("Fixes: #4 and {URL}.")] {
            assert_eq!(closed(&message), ["an unknown location"], "{message}");
        }
        for message in [format!("See {URL}"), "Closes #1".to_owned()] {
            assert!(closed(&message).is_empty(), "{message}");
        }
    }
}
