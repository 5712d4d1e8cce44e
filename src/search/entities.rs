//! Entities of a query: quoted text, names, references, paths, files, URLs, numbers, dates, versions. They are masked
//! by typed placeholders, so that an object's name does not affect the search.

use gitlab_mcp_embed::search::normalise::split;

/// The type of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entity {
    Quote,
    Name,
    Path,
    File,
    Url,
    Email,
    Number,
    Date,
    Version,
    Commit,
    User,
    Issue,
    MergeRequest,
    Epic,
    Label,
    Milestone,
    Snippet,
}

impl Entity {
    /// Placeholder token of this type in the encoder's input.
    pub fn placeholder(self) -> &'static str {
        match self {
            Entity::Quote => "[quote]",
            Entity::Name => "[name]",
            Entity::Path => "[path]",
            Entity::File => "[file]",
            Entity::Url => "[url]",
            Entity::Email => "[email]",
            Entity::Number => "[number]",
            Entity::Date => "[date]",
            Entity::Version => "[version]",
            Entity::Commit => "[commit]",
            Entity::User => "[user]",
            Entity::Issue => "[issue]",
            Entity::MergeRequest => "[mr]",
            Entity::Epic => "[epic]",
            Entity::Label => "[label]",
            Entity::Milestone => "[milestone]",
            Entity::Snippet => "[snippet]",
        }
    }

    /// GitLab's noun for an object of this type; `None` if the type does not determine it.
    pub fn noun(self) -> Option<&'static str> {
        match self {
            Entity::File => Some("file"),
            Entity::Commit => Some("commit"),
            Entity::User => Some("user"),
            Entity::Issue => Some("issue"),
            Entity::MergeRequest => Some("merge request"),
            Entity::Epic => Some("epic"),
            Entity::Label => Some("label"),
            Entity::Milestone => Some("milestone"),
            Entity::Snippet => Some("snippet"),
            _ => None,
        }
    }
}

/// A part of a query in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityPart {
    /// A chunk of text without white space, with its punctuation.
    Text(String),
    Entity(Entity),
}

/// Vocabulary that distinguishes GitLab's terms from names.
pub trait Terms {
    /// True if a lower-case word is a term of the field, a synonym, or a conjunction: `CI/CD` and `and/or` are words,
    /// `acme/web` is a path.
    fn is_term(&self, word: &str) -> bool;

    /// True if a lower-case word occurs in the catalog's texts or the language file.
    fn is_known(&self, word: &str) -> bool;

    /// True if a word is the verb of some action id: `mergeRequests.list` is an id, `pom.xml` a file.
    fn is_verb(&self, word: &str) -> bool;
}

/// Splits a query into text and entities. Linear in the query's length, except that each unclosed quotation mark is
/// searched for once.
pub fn parse(query: &str, terms: &dyn Terms) -> Vec<EntityPart> {
    let (masked, quotes) = mask_quotes(query);
    let title_case = is_title_case(&masked, terms);
    let mut parts: Vec<EntityPart> = Vec::new();
    let mut starts_sentence = true;
    for chunk in masked.split_whitespace() {
        let bare = chunk.trim_matches(['(', ')', '[', ']', '{', '}', ',', ';', '?', '"', '`', '<', '>']);
        let bare = bare.strip_suffix(['.', ':', '!']).unwrap_or(bare);
        let is_quote = bare.chars().any(|c| c == QUOTE);
        match if is_quote { Class::Entity(Entity::Quote) } else { classify(bare, terms) } {
            Class::Text => {
                let capital = bare.starts_with(char::is_uppercase) && !starts_sentence && !title_case;
                let follows_name = parts.last() == Some(&EntityPart::Entity(Entity::Name));
                if !is_month(bare) && is_name(bare, capital, terms) {
                    if !follows_name {
                        parts.push(EntityPart::Entity(Entity::Name));
                    }
                } else {
                    parts.push(EntityPart::Text(chunk.to_owned()));
                }
            }
            Class::Page(words) => {
                parts.push(EntityPart::Entity(Entity::Url));
                parts.extend(words.map(EntityPart::Text));
            }
            Class::Entity(entity) => {
                if entity == Entity::Number && parts.last().is_some_and(ends_in_month) {
                    parts.pop();
                    parts.push(EntityPart::Entity(Entity::Date));
                } else if parts.last() != Some(&EntityPart::Entity(entity)) {
                    parts.push(EntityPart::Entity(entity));
                }
                if chunk.ends_with([',', ';', '.']) {
                    parts.push(EntityPart::Text(chunk.chars().next_back().into_iter().collect()));
                }
            }
        }
        starts_sentence = chunk.ends_with(['.', ':', '!', '?', '"']) || is_quote;
    }
    if quotes > 0 && parts.iter().all(|part| *part == EntityPart::Entity(Entity::Quote)) {
        // A query that is a single quotation is parsed without the quotes.
        return query.split_whitespace().map(|chunk| EntityPart::Text(chunk.to_owned())).collect();
    }
    parts
}

/// True if the query names two revisions, which are then compared: `v1.0 and v1.1`.
pub fn names_two_revisions(parts: &[EntityPart]) -> bool {
    let is_revision =
        |part: &&EntityPart| matches!(part, EntityPart::Entity(Entity::Version | Entity::Commit));
    parts.iter().filter(is_revision).count() == 2
}

/// Placeholder of a quotation while the query is split at white space: a private-use character.
const QUOTE: char = '\u{e000}';

/// Replaces each quotation by [`QUOTE`] and returns their number.
fn mask_quotes(query: &str) -> (String, usize) {
    let mut masked = String::with_capacity(query.len());
    let mut rest = query;
    let mut before = None;
    let mut quotes = 0;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        match closing(c, before, after).and_then(|end| after.get(end..)) {
            Some(tail) => {
                rest = tail.trim_start_matches(['"', '`', '”', '’', '\'']);
                before = Some(c);
                masked.push(' ');
                masked.push(QUOTE);
                if !rest.starts_with([',', ';', '.', '?', '!', ':', ')', ']']) {
                    masked.push(' ');
                }
                quotes += 1;
            }
            None => {
                masked.push(if c == QUOTE { ' ' } else { c });
                (rest, before) = (after, Some(c));
            }
        }
    }
    (masked, quotes)
}

/// Byte offset in `after` of the mark that closes a quotation. A single quote opens one at the start of a word and
/// closes it at the end of another, so that an apostrophe does neither.
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

enum Class {
    Text,
    Entity(Entity),
    /// A web page of GitLab, with the words for the object that its address names.
    Page(Option<String>),
}

fn classify(chunk: &str, terms: &dyn Terms) -> Class {
    if let Some(url) = chunk.strip_prefix("https://").or_else(|| chunk.strip_prefix("http://")) {
        return page(url);
    }
    if let Some(entity) = reference(chunk) {
        return Class::Entity(entity);
    }
    if chunk.contains('@') && chunk.contains('.') {
        return Class::Entity(Entity::Email);
    }
    if is_date(chunk) {
        return Class::Entity(Entity::Date);
    }
    if chunk.contains('/') {
        return slashed(chunk, terms);
    }
    if is_hash(chunk) {
        return Class::Entity(Entity::Commit);
    }
    if is_number(chunk) {
        let is_version = chunk.contains('.') && !chunk.contains(['%', ':', '-']) || chunk.starts_with('v');
        return Class::Entity(if is_version { Entity::Version } else { Entity::Number });
    }
    if is_host(chunk) {
        return Class::Entity(Entity::Url);
    }
    if is_file(chunk, terms) {
        return Class::Entity(Entity::File);
    }
    Class::Text
}

/// Prefixes of GitLab's references and their types.
const MARKS: [(char, Entity); 7] = [
    ('#', Entity::Issue),
    ('!', Entity::MergeRequest),
    ('&', Entity::Epic),
    ('@', Entity::User),
    ('~', Entity::Label),
    ('%', Entity::Milestone),
    ('$', Entity::Snippet),
];

/// `#12`, `acme/widget!45`, `@alice`, `~bug`, `%v1`.
fn reference(chunk: &str) -> Option<Entity> {
    MARKS.iter().find(|(mark, _)| is_reference(chunk, *mark)).map(|(_, entity)| *entity)
}

fn is_reference(chunk: &str, mark: char) -> bool {
    let Some((before, after)) = chunk.rsplit_once(mark) else { return false };
    let is_path = before.is_empty() || before.contains('/');
    match mark {
        '@' | '~' | '%' => before.is_empty() && after.starts_with(char::is_alphanumeric),
        _ => is_path && !after.is_empty() && after.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// Objects of GitLab's web pages, by the segment after `/-/`.
const PAGES: [(&str, &str); 18] = [
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

/// Class of a web page: the object it shows, or the words of its address.
fn page(url: &str) -> Class {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let owned = path.split_once("/-/").map(|(_, page)| page);
    let Some(page) = owned.or_else(|| path.split_once("/admin/").map(|(_, page)| page)) else {
        return Class::Page(None);
    };
    let mut segments = page.split('/').filter(|segment| !segment.is_empty());
    let first = segments.clone().next().unwrap_or_default();
    match (first, PAGES.iter().find(|(name, _)| *name == first)) {
        ("issues", Some(_)) if segments.nth(1).is_some() => Class::Entity(Entity::Issue),
        ("merge_requests", Some(_)) if segments.nth(1).is_some() => Class::Entity(Entity::MergeRequest),
        ("commit", Some(_)) => Class::Entity(Entity::Commit),
        ("blob" | "raw", Some(_)) => Class::Entity(Entity::File),
        (_, Some((_, noun))) => Class::Page(Some((*noun).to_owned())),
        (_, None) => {
            let is_word = |segment: &&str| segment.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            let words: Vec<&str> = page.split('/').filter(is_word).collect();
            Class::Page(Some(words.join(" ")))
        }
    }
}

/// Classifies text with slashes: a path of a project, branch or file, unless it is two terms of the field, or several
/// verbs: `CI/CD`, `creates/updates/deletes`.
fn slashed(chunk: &str, terms: &dyn Terms) -> Class {
    let words = || chunk.split('/').map(str::to_lowercase);
    let is_abbreviation = !chunk.contains(char::is_lowercase);
    let is_pair = words().count() == 2 && words().all(|word| is_abbreviation || terms.is_term(&word));
    if is_pair || words().all(|word| terms.is_verb(&word)) {
        return Class::Text;
    }
    let is_file = chunk.rsplit('/').next().is_some_and(|last| is_file(last, terms));
    Class::Entity(if is_file { Entity::File } else { Entity::Path })
}

/// True for a commit hash: seven to forty hexadecimal digits with at least one digit and one letter, or `abc123`.
fn is_hash(chunk: &str) -> bool {
    let is_hexadecimal = chunk.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (6..=40).contains(&chunk.len())
        && is_hexadecimal
        && chunk.bytes().any(|b| b.is_ascii_digit())
        && chunk.bytes().any(|b| b.is_ascii_lowercase())
}

/// True for numbers: `42`, `v1.2.3`, `10%`, `1,000`, `17:30`, `3rd`.
fn is_number(chunk: &str) -> bool {
    let digits = chunk.strip_prefix('v').unwrap_or(chunk);
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| digits.strip_suffix(end)).unwrap_or(digits);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b':' | b'%' | b','))
}

/// True for dates: `2026-02-28`, `2026-02-28T10:00:00Z`, `10/2022`, `1/16/2023`.
fn is_date(chunk: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit();
    let day = chunk.split_once('T').map_or(chunk, |(day, _)| day);
    let parts = || day.split(['-', '/']);
    let is_numeric = parts().all(|part| !part.is_empty() && part.len() <= 4 && part.bytes().all(is_digit));
    let has_year = parts().any(|part| part.len() == 4);
    is_numeric && (2..=3).contains(&parts().count()) && (has_year || parts().count() == 3)
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// True for month names: `March`, `Sept.`.
fn is_month(word: &str) -> bool {
    let lower = word.trim_end_matches([',', '.']).to_lowercase();
    word.starts_with(char::is_uppercase)
        && (3..=9).contains(&lower.len())
        && MONTHS.iter().any(|month| lower.starts_with(month))
}

fn ends_in_month(part: &EntityPart) -> bool {
    matches!(part, EntityPart::Text(text) if is_month(text))
}

/// Top-level domains that are not file extensions.
const HOSTS: [&str; 7] = ["com", "org", "net", "io", "dev", "local", "cloud"];

/// True for a host name: `ci.example.com`.
fn is_host(chunk: &str) -> bool {
    chunk.rsplit_once('.').is_some_and(|(_, last)| HOSTS.contains(&last))
}

/// True for a file name: `README.md`, `.gitlab-ci.yml`; not `issue.list`, which ends in a verb, nor `e.g`.
fn is_file(chunk: &str, terms: &dyn Terms) -> bool {
    let Some((stem, extension)) = chunk.rsplit_once('.') else { return false };
    let is_plausible =
        (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let are_terms = || split(stem).iter().all(|word| terms.is_term(word));
    let is_id = terms.is_verb(&extension.to_lowercase()) && are_terms();
    is_plausible
        && !is_id
        && !HOSTS.contains(&extension)
        && (stem.len() > 1 || stem.is_empty())
        && extension.bytes().any(|b| b.is_ascii_lowercase())
}

/// True if a chunk looks like a name and is not a known word: `nanoGPT-fr`, `cloud-notes`, `bot7`, and a capitalized
/// unknown word within a sentence.
fn is_name(chunk: &str, is_capital: bool, terms: &dyn Terms) -> bool {
    let chunk = chunk.strip_suffix("'s").or_else(|| chunk.strip_suffix("’s")).unwrap_or(chunk);
    if chunk.len() < 2
        || !chunk.chars().any(char::is_alphabetic)
        || chunk.contains(['.', '(', '=', ':', '\'', '’'])
    {
        return false;
    }
    let is_all_capitals = !chunk.contains(char::is_lowercase);
    if is_all_capitals {
        return false;
    }
    if terms.is_known(&chunk.to_lowercase()) {
        return false;
    }
    let words = split(chunk);
    let are_known = || words.iter().all(|word| terms.is_known(word) || word.len() < 2);
    let has_separator = chunk.trim_matches(['-', '_']).contains(['-', '_']);
    let has_hump = chunk.chars().skip(1).any(char::is_uppercase);
    let has_digit = chunk.contains(|c: char| c.is_ascii_digit());
    if has_separator || has_hump || has_digit {
        return !are_known();
    }
    is_capital
}

/// True if most of a query's words that are neither known terms nor short begin with a capital, as in a title.
fn is_title_case(query: &str, terms: &dyn Terms) -> bool {
    let words =
        query.split_whitespace().filter(|word| word.len() > 3 && word.starts_with(char::is_alphabetic));
    let (mut capitals, mut small) = (0, 0);
    for word in words {
        let is_known = terms.is_known(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        match word.starts_with(char::is_uppercase) {
            true if is_known => capitals += 1,
            true => {}
            false => small += 1,
        }
    }
    capitals >= 2 && capitals > small
}

/// The encoder's input: lower-case words without punctuation, and the placeholders of entities, in order.
pub fn tokens(parts: &[EntityPart]) -> Vec<String> {
    let mut tokens = Vec::new();
    for part in parts {
        match part {
            EntityPart::Entity(entity) => tokens.push(entity.placeholder().to_owned()),
            EntityPart::Text(text) => tokens.extend(split(text)),
        }
    }
    tokens
}
