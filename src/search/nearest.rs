//! Suggests the intended name for a misspelt one.

/// Minimum similarity of two names, from 0 to 1.
const ALIKE: f64 = 0.82;

/// Least similarity of two names that differ by two swapped letters.
const SWAPPED: f64 = 0.95;

/// Maximum length in bytes of a name that is looked up.
const MAX_NAME_BYTES: usize = 100;

/// The most similar known name, if it is similar enough. Names with the same words in another order, or in another
/// number, are similar.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > MAX_NAME_BYTES {
        return None;
    }
    let given = folded(given);
    let known: Vec<&str> = known.collect();
    // The name negates a known one, which is therefore not a correction of it.
    if known.iter().any(|name| is_opposite(&given, &folded(name))) {
        return None;
    }
    known
        .into_iter()
        .map(|name| (likeness(&given, &folded(name)), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, a), (other, b)| one.total_cmp(other).then(b.cmp(a)))
        .map(|(_, name)| name)
}

/// Endings of the names of numbers; the word before says of what.
const NUMBERS: [&str; 2] = ["id", "iid"];

/// Words of parameters that change a part of a list.
const CHANGES: [&str; 4] = ["add", "remove", "delete", "clear"];

/// True if two names of several words share some and the others are quite different: `remove_assignees` is no
/// misspelling of `remove_labels`. So have names of which one adds or removes.
pub fn names_other_thing(one: &str, other: &str) -> bool {
    const ALIKE_WORDS: f64 = 0.75;
    let (one, other) = (folded(one), folded(other));
    let is_alike = |one: &str, other: &str| {
        let is_part = one.contains(other) || other.contains(one);
        is_part || strsim::jaro_winkler(one, other) >= ALIKE_WORDS
    };
    // A change of a part is neither the whole nor the reverse.
    let changes = |name: &[String]| CHANGES.into_iter().find(|word| name.iter().any(|known| known == word));
    if changes(&one) != changes(&other) {
        return true;
    }
    let left = |of: &[String], than: &[String]| -> Vec<String> {
        of.iter().filter(|word| !than.contains(word)).cloned().collect()
    };
    // `package_file_id` is the id of a file.
    let head = |name: &[String]| {
        let (last, before) = name.split_last()?;
        before.last().filter(|_| NUMBERS.contains(&last.as_str())).cloned()
    };
    if let (Some(one), Some(other)) = (head(&one), head(&other))
        && !is_alike(&one, &other)
    {
        return true;
    }
    let (left_one, left_other) = (left(&one, &other), left(&other, &one));
    let is_meant = |word: &String| left_other.iter().any(|known| is_alike(word, known));
    let shares = left_one.len() < one.len();
    if shares || one.len() == 1 || other.len() == 1 {
        return shares && !left_one.is_empty() && !left_other.is_empty() && !left_one.iter().any(is_meant);
    }
    // `related_to` is spelt like `created_at`; a slip in each word leaves each alike.
    !left_one.iter().all(is_meant)
}

/// True if one of two names negates the other.
pub fn is_negation(one: &str, other: &str) -> bool {
    is_opposite(&folded(one), &folded(other))
}

/// True if one word turns one of two names into the other: `not[labels]` and `labels`, `unapprove` and `approve`.
fn is_opposite(one: &[String], other: &[String]) -> bool {
    const WORDS: [&str; 10] =
        ["not", "no", "non", "without", "except", "exclude", "excluded", "excluding", "skip", "never"];
    const BEGINNINGS: [&str; 5] = ["un", "in", "dis", "de", "non"];
    let plain = |words: &[String]| -> Vec<String> {
        words.iter().filter(|word| !WORDS.contains(&word.as_str())).cloned().collect()
    };
    let turns =
        |one: &str, other: &str| BEGINNINGS.iter().any(|start| one.strip_prefix(start) == Some(other));
    let directions = |one: &str, other: &str| one.starts_with("asc") && other.starts_with("desc");
    let opposed = |one: &str, other: &str| {
        turns(one, other) || turns(other, one) || directions(one, other) || directions(other, one)
    };
    if one.len() != other.len() {
        return one != other && plain(one) == plain(other);
    }
    let mut differing = one.iter().zip(other).filter(|(one, other)| one != other);
    matches!((differing.next(), differing.next()), (Some((one, other)), None) if opposed(one, other))
}

/// True if one letter more, less, other or swapped makes one text of the other.
pub fn is_one_slip(one: &str, other: &str) -> bool {
    strsim::osa_distance(one, other) <= 1
}

/// True if two neighbouring letters are swapped, which leaves little of a short name to compare: `bbo` for `bob`.
fn is_swap(one: &str, other: &str) -> bool {
    one.len() == other.len() && strsim::osa_distance(one, other) == 1 && strsim::levenshtein(one, other) == 2
}

/// Similarity of two texts from 0 to 1, by the pairs of characters that they share.
pub fn similarity(one: &str, other: &str) -> f64 {
    strsim::sorensen_dice(one, other)
}

fn likeness(given: &[String], known: &[String]) -> f64 {
    let (one, other) = (given.join("_"), known.join("_"));
    let swapped = if is_swap(&one, &other) { SWAPPED } else { 0.0 };
    let plain = strsim::jaro_winkler(&one, &other).max(swapped);
    plain.max(strsim::jaro_winkler(&sorted(given), &sorted(known)) * 0.98)
}

fn sorted(words: &[String]) -> String {
    let mut words = words.to_vec();
    words.sort();
    words.join("_")
}

fn folded(name: &str) -> Vec<String> {
    name.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{names_other_thing, nearest};

    #[test]
    fn two_swapped_letters_of_a_short_name_are_a_slip() {
        assert_eq!(nearest("bbo", ["alice", "bob", "rob"].into_iter()), Some("bob"));
        assert_eq!(nearest("bgu", ["big", "bug", "feature"].into_iter()), Some("bug"));
        // Another letter makes another name of it.
        assert_eq!(nearest("get", ["set", "let"].into_iter()), None);
    }

    #[test]
    fn a_name_with_quite_another_word_is_no_misspelling() {
        for (one, other) in [
            ("remove_assignees", "remove_labels"),
            ("remove_reviewers", "remove_source_branch"),
            ("remove_assignees", "assignee_id"),
            ("add_label", "remove_labels"),
            ("issue_iid", "issue_type"),
            ("closed_by_id", "closed_at_id"),
            ("related_to", "created_at"),
            ("package_file_id", "package_id"),
        ] {
            assert!(names_other_thing(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("remove_lables", "remove_labels"),
            ("assignee_name", "assignee_username"),
            ("labls", "labels"),
            ("descripton_frmat", "description_format"),
            ("target_project_id", "project_id"),
            ("assigne_ids", "assignee_ids"),
            ("label_name", "name"),
        ] {
            assert!(!names_other_thing(one, other), "{one} {other}");
        }
    }

    fn suggestion(given: &str) -> Option<&'static str> {
        nearest(
            given,
            ["issue.list", "issue.get", "label.list", "merge_request.list", "merge_request.merge"]
                .into_iter(),
        )
    }

    #[test]
    fn finds_what_was_meant() {
        assert_eq!(suggestion("issues.list"), Some("issue.list"));
        assert_eq!(suggestion("list_issues"), Some("issue.list"));
        assert_eq!(suggestion("merge_requst.list"), Some("merge_request.list"));
    }

    #[test]
    fn an_opposite_is_never_near() {
        let of = |given: &str, known: &[&'static str]| nearest(given, known.iter().copied());
        assert_eq!(of("not[labels]", &["labels", "label_name"]), None);
        assert_eq!(of("inactive", &["active", "all"]), None);
        assert_eq!(of("merge_request.unapprove", &["merge_request.approve"]), None);
        assert_eq!(of("not_main", &["main", "mains"]), None);
        assert_eq!(of("ascending", &["desc"]), None);
        // A word that only begins so is a word like any other.
        assert_eq!(of("incidnt", &["incident"]), Some("incident"));
        assert_eq!(of("not_set", &["not_sett"]), Some("not_sett"));
    }

    #[test]
    fn finds_nothing_where_nothing_is_near() {
        assert_eq!(suggestion("kubernetes"), None);
    }
}
