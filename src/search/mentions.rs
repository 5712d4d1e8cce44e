//! Things that a request names rather than means: `#12`, `!45`, `@alice`, `group/project`, a URL, quoted text,
//! a commit's hash, a number. They are taken out of the words; what kind of thing it was stays as a hint.

use super::normalise::split;

/// What a mention tells of its kind, as a word of GitLab's.
pub type Kind = &'static str;

/// A request without its mentions.
#[derive(Debug, Default, PartialEq)]
pub struct Read {
    /// The words left, in order, with their punctuation.
    pub words: String,
    /// The kinds of what was named, each once.
    pub kinds: Vec<Kind>,
}

/// Marks and the things they name.
const MARKS: [(char, Kind); 7] = [
    ('#', "issue"),
    ('!', "merge request"),
    ('&', "epic"),
    ('@', "user"),
    ('~', "label"),
    ('%', "milestone"),
    ('$', "snippet"),
];

/// What a URL of GitLab's pages shows, by the segment after `/-/`.
const PAGES: [(&str, Kind); 18] = [
    ("merge_requests", "merge request"),
    ("issues", "issue"),
    ("work_items", "work item"),
    ("epics", "epic"),
    ("pipelines", "pipeline"),
    ("jobs", "job"),
    ("commit", "commit"),
    ("commits", "commit"),
    ("blob", "file"),
    ("raw", "file"),
    ("tree", "repository tree"),
    ("branches", "branch"),
    ("tags", "tag"),
    ("releases", "release"),
    ("milestones", "milestone"),
    ("environments", "environment"),
    ("snippets", "snippet"),
    ("wikis", "wiki page"),
];

/// What tells words from names that are made of words.
pub trait Terms {
    /// Whether a word says a thing or a deed of the field, or joins others: `CI/CD` and `and/or` are words,
    /// `acme/web` a name, whatever texts speak of the web.
    fn is_term(&self, word: &str) -> bool;

    /// Whether a word is the verb of some id: `mergeRequests.list` is words, `pom.xml` and `Cargo.lock` are files.
    fn is_verb(&self, word: &str) -> bool;
}

/// Takes the mentions out.
pub fn read(request: &str, terms: &dyn Terms) -> Read {
    let unquoted = without_quotes(request);
    let mut read = Read::default();
    let mut revisions = 0;
    for chunk in unquoted.split_whitespace() {
        let bare = chunk.trim_matches(['(', ')', '[', ']', ',', ';', '?', '"', '`', '<', '>']);
        let bare = bare.strip_suffix(['.', ':', '!']).unwrap_or(bare);
        revisions += usize::from(is_revision(bare));
        match kind_of(bare, terms) {
            Named::Word => push(&mut read.words, chunk),
            Named::Page(words) => push(&mut read.words, &words),
            Named::Thing(kind) => {
                read.kinds.extend(kind.filter(|kind| !read.kinds.contains(kind)));
                push(&mut read.words, if chunk.ends_with([',', ';']) { "," } else { "" });
            }
        }
    }
    if revisions == COMPARED {
        read.kinds.push("compare");
    }
    if read.words.trim_matches([' ', ',']).is_empty() && read.kinds.is_empty() {
        read.words = request.to_owned();
    }
    read
}

fn push(words: &mut String, chunk: &str) {
    words.push(' ');
    words.push_str(chunk);
}

/// The request without quoted text, which is a title, a name or a description.
fn without_quotes(request: &str) -> String {
    let mut left = String::new();
    let mut rest = request;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        match closing(c, before, after).and_then(|end| after.get(end..)) {
            Some(tail) => {
                rest = tail.trim_start_matches(['"', '`', '”', '’', '\'']);
                before = Some(c);
            }
            None => {
                left.push(c);
                (rest, before) = (after, Some(c));
            }
        }
    }
    left
}

/// Where the quotation ends that a character opens, in bytes of what comes after it. A single quote opens one at the
/// start of a word and closes it at the end of another, so that an apostrophe is neither.
fn closing(open: char, before: Option<char>, after: &str) -> Option<usize> {
    let is_letter = |c: char| c.is_alphanumeric();
    match open {
        '"' | '`' => after.find(open),
        '“' => after.find('”'),
        '\'' | '‘' if !before.is_some_and(is_letter) && after.starts_with(|c: char| !c.is_whitespace()) => {
            let close = if open == '‘' { '’' } else { open };
            let ends = |(at, _): &(usize, &str)| {
                let tail = after.get(at + close.len_utf8()..).unwrap_or_default();
                !tail.starts_with(is_letter)
            };
            after.match_indices(close).find(ends).map(|(at, _)| at)
        }
        _ => None,
    }
}

enum Named {
    Word,
    Thing(Option<Kind>),
    /// A page, in the words of its address.
    Page(String),
}

/// Two of which are compared.
const COMPARED: usize = 2;

/// A version or a commit's hash: `v1.2`, `2.0.1`, `a1b2c3d`.
fn is_revision(chunk: &str) -> bool {
    is_hash(chunk) || (is_number(chunk) && !chunk.contains([':', '%', '-']) && chunk.contains('.'))
}

fn kind_of(chunk: &str, terms: &dyn Terms) -> Named {
    if let Some(url) = chunk.strip_prefix("https://").or_else(|| chunk.strip_prefix("http://")) {
        return page(url);
    }
    if let Some(kind) = marked(chunk) {
        return Named::Thing(Some(kind));
    }
    if chunk.contains('@') && chunk.contains('.') {
        return Named::Thing(None);
    }
    if chunk.contains('/') {
        return slashed(chunk, terms);
    }
    if is_hash(chunk) {
        return Named::Thing(Some("commit"));
    }
    if is_number(chunk) || is_host(chunk) {
        return Named::Thing(None);
    }
    if is_file(chunk, terms) {
        return Named::Thing(Some("file"));
    }
    Named::Word
}

/// The kind of thing that a page shows; of other pages of GitLab, what their addresses say.
fn page(url: &str) -> Named {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let owned = path.split_once("/-/").map(|(_, page)| page);
    let Some(page) = owned.or_else(|| path.split_once("/admin/").map(|(_, page)| page)) else {
        return Named::Thing(None);
    };
    let segment = page.split('/').next().unwrap_or_default();
    if let Some((_, kind)) = PAGES.iter().find(|(name, _)| *name == segment) {
        return Named::Thing(Some(kind));
    }
    let is_word = |segment: &&str| segment.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    Named::Page(page.split('/').filter(is_word).collect::<Vec<_>>().join(" "))
}

/// `#12`, `acme/widget!45`, `@alice`, `~bug`, `%v1`.
fn marked(chunk: &str) -> Option<Kind> {
    MARKS.iter().find(|(mark, _)| names(chunk, *mark)).map(|(_, kind)| *kind)
}

fn names(chunk: &str, mark: char) -> bool {
    let Some((before, after)) = chunk.rsplit_once(mark) else { return false };
    let path = before.is_empty() || before.contains('/');
    match mark {
        '@' | '~' | '%' => before.is_empty() && after.starts_with(char::is_alphanumeric),
        _ => path && !after.is_empty() && after.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// A path of a project, a branch or a file, unless it is two words of the field.
fn slashed(chunk: &str, terms: &dyn Terms) -> Named {
    let is_pair = chunk.split('/').count() == 2;
    let is_abbreviation = !chunk.contains(char::is_lowercase);
    if is_pair && chunk.split('/').all(|part| is_abbreviation || terms.is_term(&part.to_lowercase())) {
        return Named::Word;
    }
    let file = chunk.rsplit('/').next().is_some_and(|last| is_file(last, terms));
    Named::Thing(file.then_some("file"))
}

/// Seven to forty hexadecimal digits with at least one digit and one letter among them, or `abc123`.
fn is_hash(chunk: &str) -> bool {
    let hexadecimal = chunk.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (6..=40).contains(&chunk.len())
        && hexadecimal
        && chunk.bytes().any(|b| b.is_ascii_digit())
        && chunk.bytes().any(|b| b.is_ascii_lowercase())
}

/// `42`, `v1.2.3`, `2026-02-28`, `10%`.
fn is_number(chunk: &str) -> bool {
    let digits = chunk.strip_prefix('v').unwrap_or(chunk);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b':' | b'%'))
}

/// What ends the name of a host, and no file's.
const HOSTS: [&str; 7] = ["com", "org", "net", "io", "dev", "local", "cloud"];

/// Whether it is the name of a host: `ci.example.com`.
fn is_host(chunk: &str) -> bool {
    chunk.rsplit_once('.').is_some_and(|(_, last)| HOSTS.contains(&last))
}

/// `README.md`, `.gitlab-ci.yml`; not `issue.list`, which ends in a verb, nor `e.g`.
fn is_file(chunk: &str, terms: &dyn Terms) -> bool {
    let Some((stem, extension)) = chunk.rsplit_once('.') else { return false };
    let plausible =
        (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let are_terms = || split(stem).iter().all(|word| terms.is_term(word));
    let words = terms.is_verb(&extension.to_lowercase()) && are_terms();
    plausible
        && !words
        && !HOSTS.contains(&extension)
        && (stem.len() > 1 || stem.is_empty())
        && extension.bytes().any(|b| b.is_ascii_lowercase())
}
