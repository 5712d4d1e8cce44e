//! The project, group or namespace that a parameter names, parsed once: policy decides on the parsed value, and
//! the request is written from it.

use std::fmt;

use crate::text::is_digits;

/// Prefix of global ids.
pub const GLOBAL: &str = "gid://gitlab/";

/// The longest path that GitLab stores (`routes.path`, 255 characters a segment), with room for deep nesting.
const MAX_BYTES: usize = 2_048;
/// GitLab nests groups 20 deep; a project and some headroom on top.
const MAX_SEGMENTS: usize = 30;

/// The path of a project, group or user namespace, such as `acme/tools/widget`: one or more names of ASCII letters,
/// digits, `_`, `-` and `.`, without slashes at either end.
///
/// GitLab compares paths without regard to case (docs.gitlab.com, "Reserved project and group names"); so does
/// [`FullPath::matches`]. The text keeps the case it was written in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FullPath(String);

/// The accepted spellings of a project, group or namespace, for errors.
pub const ACCEPTED_LOCATIONS: &str =
    "a full path such as `group/project` (ASCII letters, digits, `_`, `-` and `.`) or a numeric id";

/// The accepted spellings where GitLab takes no id, for errors.
pub const ACCEPTED_PATHS: &str =
    "the full path of a project or group such as `group/project`, as GitLab takes no id there";

impl FullPath {
    /// Parses a path. Surrounding white space and slashes are dropped, and `%2F` is read as a slash.
    pub fn parse(text: &str) -> Option<FullPath> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return None;
        }
        let decoded =
            if text.contains('%') { text.replace("%2F", "/").replace("%2f", "/") } else { text.to_owned() };
        let path = decoded.trim_matches('/');
        let segments = path.split('/').count();
        // GitLab could read `5.0` or `0_5` as the id 5.
        let is_numeric = segments == 1
            && path.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'))
            && path.chars().all(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | '-' | 'e' | 'E'));
        let is_path = segments <= MAX_SEGMENTS && !is_numeric && path.split('/').all(is_segment);
        is_path.then(|| FullPath(path.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The group around it; none at the top level.
    pub fn parent(&self) -> Option<FullPath> {
        self.0.rsplit_once('/').map(|(parent, _)| FullPath(parent.to_owned()))
    }

    /// The names from the outermost group inwards, in lower case.
    pub fn segments(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').map(str::to_ascii_lowercase)
    }

    /// True if GitLab takes both for the same path.
    pub fn matches(&self, other: &FullPath) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl fmt::Display for FullPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One name of a path. Names made of dots alone are refused: servers on the way may resolve them.
fn is_segment(segment: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !segment.is_empty() && segment.chars().all(is_plain) && !segment.chars().all(|c| c == '.')
}

/// Kind of an id. GitLab numbers projects and groups separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HolderKind {
    Project,
    Group,
    /// A group or a user's namespace: a namespace id.
    Namespace,
    /// A project or a group, depending on the operation.
    Either,
}

/// A project, group or namespace in a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    Path(FullPath),
    Id {
        kind: HolderKind,
        id: u64,
    },
    /// GitLab's place for a project without a namespace: that of the token's user.
    OwnNamespace,
    /// GitLab's place for a group without a parent.
    TopLevel,
    /// The whole instance, by the value of a parameter.
    Instance,
    /// The value names something whose location only GitLab knows (an id of another kind), or no location at all.
    Unknown,
}

impl Location {
    /// Parses a path, a number, or a global id of a project, group or namespace. None for any other text.
    pub fn parse(text: &str, kind: HolderKind) -> Option<Location> {
        let text = text.trim();
        if let Some(global) = text.strip_prefix(GLOBAL) {
            let (class, number) = global.rsplit_once('/')?;
            let id = parse_id(number)?;
            let kind = match class {
                "Project" => HolderKind::Project,
                "Group" => HolderKind::Group,
                "Namespace" | "Namespaces::UserNamespace" => HolderKind::Namespace,
                _ => return None,
            };
            return Some(Location::Id { kind, id });
        }
        let bare = text.trim_matches('/');
        if let Some(id) = parse_id(bare) {
            return Some(Location::Id { kind, id });
        }
        FullPath::parse(text).map(Location::Path)
    }

    /// The text that goes into a request: the path, or the id in plain digits.
    pub fn wire(&self) -> Option<String> {
        match self {
            Location::Path(path) => Some(path.as_str().to_owned()),
            Location::Id { id, .. } => Some(id.to_string()),
            Location::OwnNamespace | Location::TopLevel | Location::Instance | Location::Unknown => None,
        }
    }

    pub fn path(&self) -> Option<&FullPath> {
        match self {
            Location::Path(path) => Some(path),
            _ => None,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Path(path) => path.fmt(f),
            Location::Id { id, .. } => write!(f, "id {id}"),
            Location::OwnNamespace => f.write_str("your own namespace"),
            Location::TopLevel => f.write_str("the top level"),
            Location::Instance => f.write_str("the whole instance"),
            Location::Unknown => f.write_str("an unknown location"),
        }
    }
}

/// Digits and nothing else, as GitLab reads an id (`/\A\d+\z/`).
fn parse_id(text: &str) -> Option<u64> {
    is_digits(text).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<Location> {
        Location::parse(text, HolderKind::Either)
    }

    #[test]
    fn spellings_of_one_location_parse_to_one_value() {
        let path = Location::Path(FullPath::parse("acme/widget").unwrap());
        for text in [
            "acme/widget",
            "/acme/widget",
            "acme/widget/",
            " //acme/widget/ ",
            "acme%2Fwidget",
            "acme%2fwidget",
        ] {
            assert_eq!(parse(text), Some(path.clone()), "{text}");
        }
        let id = Location::Id { kind: HolderKind::Either, id: 5 };
        for text in ["5", "5/", "/5", " 5 ", "005"] {
            assert_eq!(parse(text), Some(id.clone()), "{text}");
        }
        let project = Location::Id { kind: HolderKind::Project, id: 5 };
        assert_eq!(parse("gid://gitlab/Project/5"), Some(project));
    }

    #[test]
    fn what_gitlab_could_read_otherwise_is_refused() {
        for text in [
            "",
            "/",
            "acme//widget",
            "acme/../admin",
            "..",
            "acme\\widget",
            "acme/wid get",
            "5\nx",
            "acme/x\0",
            "acme/PRODUCT\u{130}ON",
            "acme%252Fwidget",
            "acme/widget?x=1",
            "acme/widget#1",
            "-12/..",
            "5.0",
            "0_5",
            "5e0",
            "-5",
            "gid://gitlab/Issue/5",
            "gid://gitlab/Project/x",
            "99999999999999999999999999/\u{660}",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn parsing_the_wire_text_gives_the_same_location(text in ".{0,40}") {
            if let Some(location) = parse(&text) {
                let wire = location.wire().unwrap();
                prop_assert_eq!(parse(&wire).map(|again| again.wire()), Some(Some(wire)));
            }
        }
    }
}
