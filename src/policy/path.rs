//! Patterns of project and group paths.

use super::stars::fits;

/// A project or group, with everything beneath it: `acme`, `acme/tools`, `acme/*-docs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    /// As it was written.
    text: String,
    segments: Vec<String>,
}

/// What a pattern may look like, as an error says it.
pub const ACCEPTED: &str =
    "a path such as `acme` or `acme/tools/widget`, in which `*` stands for any part of one name";

impl PathPattern {
    /// Reads a pattern. `**` and `/*` at its end say what every pattern means: all that is beneath.
    pub fn read(text: &str) -> Option<PathPattern> {
        let bare = text.trim().trim_matches('/');
        let bare = bare.strip_suffix("/**").unwrap_or(bare);
        let segments: Vec<String> = bare.split('/').map(str::to_lowercase).collect();
        let is_name = |segment: &String| {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '*');
            !segment.is_empty() && segment.chars().all(plain) && !is_dots(segment)
        };
        segments.iter().all(is_name).then(|| PathPattern { text: text.trim().to_owned(), segments })
    }

    /// Whether a full path is the pattern's or beneath it. GitLab tells no upper from lower case in paths.
    pub fn covers(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        let names: Vec<&str> = lower.split('/').collect();
        let begins = self.segments.len() <= names.len();
        let sound = names.iter().all(|name| !name.is_empty() && !is_dots(name));
        begins && sound && self.segments.iter().zip(&names).all(|(pattern, name)| fits(pattern, name))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What some server on the way may take for a way up.
fn is_dots(segment: &str) -> bool {
    segment.chars().all(|c| c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        PathPattern::read(pattern).unwrap().covers(path)
    }

    #[test]
    fn a_pattern_covers_itself_and_what_is_beneath() {
        for pattern in
            ["acme/tools", "/acme/tools/", "acme/tools/**", "ACME/Tools", "acme/*", "*/tools", "a*e/t*s"]
        {
            assert!(covers(pattern, "acme/tools"), "{pattern}");
            assert!(covers(pattern, "acme/tools/widget"), "{pattern}");
            assert!(!covers(pattern, "acme"), "{pattern}");
        }
        for path in
            ["acme/toolsmith", "acme2/tools", "x/acme/tools", "acme/tools/../../other", "acme//tools", ""]
        {
            assert!(!covers("acme/tools", path), "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_no_pattern() {
        for text in ["", "/", "acme//x", "../x", "https://gitlab.example/acme", "a b", "acme/#1"] {
            assert_eq!(PathPattern::read(text), None, "{text}");
        }
    }
}
