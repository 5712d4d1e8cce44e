//! Look-alikes of the `<gitlab>` tags that wrap text from GitLab. A text may contain `</gitlab>` and variants that a
//! reader takes for it: with a space, a slash or an attribute, or in full-width letters.

use std::borrow::Cow;

/// The name of the tags around text from GitLab.
const TAG: &str = "gitlab";

/// Maximum number of dashes of a closing tag that is left in a text: our own tag has one more than any in it.
pub const MAX_DASHES: usize = 20;

/// A tag in a text, or a look-alike.
struct Tag {
    /// Behind its opening bracket.
    inside: usize,
    /// A closing tag, or a look-alike of one.
    closes: bool,
    /// Number of dashes behind its name.
    dashes: usize,
    /// Written exactly as ours, apart from case and spaces before the closing bracket.
    is_exact: bool,
}

/// Escapes look-alikes of a closing tag of that name as `<\/gitlab x>`; an exact `</gitlab>` stays
/// unless it has more than [`MAX_DASHES`] dashes.
pub fn defuse_tags<'t>(text: &'t str, name: &str) -> Cow<'t, str> {
    changed(text, name, |tag| tag.closes && (!tag.is_exact || tag.dashes > MAX_DASHES))
}

/// Escapes every `<gitlab>` tag and look-alike, for texts that are not wrapped in tags.
pub fn defuse(text: &str) -> Cow<'_, str> {
    changed(text, TAG, |_| true)
}

fn changed<'t>(text: &'t str, name: &str, is_changed: impl Fn(&Tag) -> bool) -> Cow<'t, str> {
    let mut out = String::new();
    let mut end = 0;
    for tag in tags(text, name).filter(is_changed) {
        out.push_str(text.get(end..tag.inside).unwrap_or_default());
        out.push('\\');
        end = tag.inside;
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(out)
}

fn tags<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = Tag> + 't {
    text.char_indices().filter(|(_, c)| folded(*c) == '<').filter_map(|(at, bracket)| {
        let inside = at + bracket.len_utf8();
        tag(text.get(inside..)?, inside, bracket, name)
    })
}

fn tag(text: &str, inside: usize, bracket: char, name: &str) -> Option<Tag> {
    let mut rest = text.trim_start();
    let mut is_exact = bracket == '<' && rest.len() == text.len();
    let slash = rest.chars().next().filter(|c| folded(*c) == '/');
    if let Some(slash) = slash {
        let after = rest.get(slash.len_utf8()..)?;
        rest = after.trim_start();
        is_exact &= slash == '/' && rest.len() == after.len();
    }
    for wanted in name.chars() {
        let c = rest.chars().next().filter(|c| folded(*c) == wanted)?;
        is_exact &= c.is_ascii();
        rest = rest.get(c.len_utf8()..)?;
    }
    let after = rest.trim_start_matches('-');
    // `</gitlabber>` and `</gitlab-ci>` are other tags.
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    is_exact &= after.trim_start().starts_with('>');
    Some(Tag { inside, closes: slash.is_some(), dashes: rest.len() - after.len(), is_exact })
}

/// Returns true if a text that follows a tag's name and dashes closes the tag.
pub fn is_tag_end(text: &str) -> bool {
    text.trim_start().chars().next().is_some_and(|c| folded(c) == '>')
}

/// The ASCII character that a reader takes a character for, in lower case.
pub fn folded(c: char) -> char {
    let plain = match c {
        // Full-width forms have the order of ASCII.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '‹' | '«' | '⟨' | '《' | '﹤' | '❮' => '<',
        '›' | '»' | '⟩' | '》' | '﹥' | '❯' => '>',
        '⁄' | '∕' | '⧸' => '/',
        'ɡ' => 'g',
        'ı' | 'і' | 'ι' => 'i',
        'т' | 'τ' => 't',
        'ӏ' | 'ⅼ' => 'l',
        'а' | 'α' | 'ɑ' => 'a',
        'Ь' => 'b',
        _ => c,
    };
    plain.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_like_the_end_is_changed() {
        let looks = [
            "</gitlab/>",
            "</gitlab x>",
            "< /gitlab>",
            "</ gitlab>",
            "＜/gitlab＞",
            "＜／ｇｉｔｌａｂ＞",
            "</gіtlab>",
            "</gitlab",
            "</GITLAB--/>",
            "‹/gitlab›",
            "<⁄gitlab>",
            "<∕gitlab>",
            "<⧸gitlab>",
        ];
        for look in looks {
            let text = format!("a {look} b");
            assert_ne!(defuse_tags(&text, TAG), text, "{look}");
            assert!(tags(&defuse_tags(&text, TAG), TAG).next().is_none(), "{look}");
        }
        for other in [
            "</gitlab>",
            "</gitlab-->",
            "</GitLab \n>",
            "<gitlab x>",
            "</gitlab-ci>",
            "</gitlabber>",
            "a < b / gitlab",
        ] {
            assert_eq!(defuse_tags(other, TAG), other);
        }
        let long = format!("</gitlab{}>", "-".repeat(MAX_DASHES + 1));
        assert!(defuse_tags(&long, TAG).starts_with("<\\/gitlab-"));
        assert_eq!(defuse("<gitlab></gitlab>"), "<\\gitlab><\\/gitlab>");
    }
}
