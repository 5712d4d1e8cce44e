//! Wildcard patterns: `*` matches any text, including none.

/// True if a text matches a pattern.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return left.is_empty() };
    // The leftmost match leaves the most text for the remaining parts.
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = left.get(at + part.len()..).unwrap_or_default();
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text) in [
            ("a", "a"),
            ("*", ""),
            ("*", "x.y"),
            ("a*", "a"),
            ("a*c", "abc"),
            ("*.b", "a.b"),
            ("a*b*c", "axbybc"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*a", "a"), ("*.b", "a.bc"), ("a*b*c", "acb"), ("", "a")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
