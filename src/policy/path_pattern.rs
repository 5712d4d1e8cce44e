//! Patterns of project and group paths.

use super::wildcard;
use crate::call::{FullPath, Location};

/// A pattern for a project or group and everything below it: `acme`, `acme/tools`, `acme/*-docs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    /// Original text.
    text: String,
    segments: Vec<String>,
}

/// Description of a valid pattern, for errors.
pub const ACCEPTED: &str =
    "a path such as `acme` or `acme/tools/widget`, in which `*` matches any part of one name, and no id";

impl PathPattern {
    /// Parses a pattern. A trailing `/**` has no effect: every pattern covers everything below it.
    pub fn parse(text: &str) -> Option<PathPattern> {
        let bare = text.trim().trim_matches('/');
        let bare = bare.strip_suffix("/**").unwrap_or(bare);
        let segments: Vec<String> = bare.split('/').map(str::to_lowercase).collect();
        let is_name = |segment: &String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*');
            // No name has these (lib/gitlab/path_regex.rs), so that the rule would not hold: `acme/widget/-/issues`.
            let is_unused =
                segment.starts_with('-') || [".git", ".atom", "."].iter().any(|end| segment.ends_with(end));
            // A proxy may resolve dots as a parent directory.
            segment.chars().any(|c| c != '.') && segment.chars().all(plain) && !is_unused
        };
        // An id: no path is like it, so that the rule would not hold.
        let is_id = !text.contains('/') && bare.bytes().all(|byte| byte.is_ascii_digit());
        (segments.iter().all(is_name) && !is_id)
            .then(|| PathPattern { text: text.trim().to_owned(), segments })
    }

    /// True if a path matches the pattern or is below a match.
    pub fn covers(&self, path: &FullPath) -> bool {
        let names: Vec<String> = path.segments().collect();
        self.segments.len() <= names.len() && self.fits_start(&names)
    }

    /// True if the pattern covers something below `ancestor`, which is deleted, moved or exported together with it.
    pub fn is_below(&self, ancestor: &FullPath) -> bool {
        let names: Vec<String> = ancestor.segments().collect();
        names.len() < self.segments.len() && self.fits_start(&names)
    }

    fn fits_start(&self, names: &[String]) -> bool {
        self.segments.iter().zip(names).all(|(pattern, name)| wildcard::matches(pattern, name))
    }

    /// The number of names in the pattern.
    pub fn depth(&self) -> usize {
        self.segments.len()
    }

    /// Original text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// True if a location is known to be covered by one of the patterns.
pub fn covers(patterns: &[PathPattern], location: &Location) -> bool {
    location.path().is_some_and(|path| patterns.iter().any(|pattern| pattern.covers(path)))
}

/// The original texts of the patterns.
pub fn texts(patterns: &[PathPattern]) -> Vec<String> {
    patterns.iter().map(|pattern| pattern.text().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        PathPattern::parse(pattern).unwrap().covers(&FullPath::parse(path).unwrap())
    }

    #[test]
    fn a_pattern_is_below_its_ancestors_only() {
        let is_below = |pattern: &str, path: &str| {
            PathPattern::parse(pattern).unwrap().is_below(&FullPath::parse(path).unwrap())
        };
        assert!(is_below("acme/tools/widget", "acme") && is_below("acme/tools/widget", "ACME/tools"));
        assert!(is_below("*/vault", "acme"));
        for path in ["acme/tools/widget", "acme/tools/widget/x", "acme/other", "acm"] {
            assert!(!is_below("acme/tools/widget", path), "{path}");
        }
    }

    #[test]
    fn a_pattern_covers_itself_and_everything_below() {
        for pattern in
            ["acme/tools", "/acme/tools/", "acme/tools/**", "ACME/Tools", "acme/*", "*/tools", "a*e/t*s"]
        {
            assert!(covers(pattern, "acme/tools"), "{pattern}");
            assert!(covers(pattern, "acme/tools/widget"), "{pattern}");
            assert!(!covers(pattern, "acme"), "{pattern}");
        }
        for path in ["acme/toolsmith", "acme2/tools", "x/acme/tools"] {
            assert!(!covers("acme/tools", path), "{path}");
        }
    }

    #[test]
    fn an_invalid_path_is_an_invalid_pattern() {
        for text in [
            "",
            "/",
            "acme//x",
            "../x",
            "https://gitlab.example/acme",
            "a b",
            "acme/#1",
            "1",
            "42",
            "acme/widget/-/issues",
            "acme/widget.git",
            "acme/.",
            "acme/widget.atom",
            "-acme",
        ] {
            assert_eq!(PathPattern::parse(text), None, "{text}");
        }
    }
}
