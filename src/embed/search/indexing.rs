//! Builds the finder's index, profiles and routes from the actions, for the build script; `catalog_gen` reads vectors with it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

use serde::Deserialize;
use tantivy::directory::{Directory, RamDirectory};
use tantivy::schema::TantivyDocument;
use tantivy::{Index, IndexSettings};

use super::fields::{FieldPlace, PLACES, schema};
use super::normalise::{Stemmer, split};
use super::packed::{File, Table};
use super::profile::{
    DomainProfile, Lines, MAX_USED, Profile, ProfileKind, ProfileRoute, Profiles, Vocabulary, WordId,
    one_word, route, scope,
};
use crate::catalog::language::{Domain, Words};
use crate::catalog::model::{Action, Audience, GraphqlKind, Method, Operation, Piece, Scope, pieces};

type IndexOutcome<T> = Result<T, Box<dyn Error>>;

/// Fixed name of the segment instead of a random one, so that builds are reproducible.
const SEGMENT: &str = "00000000000000000000000000000001";

/// Words of an id for an action on the current user or token.
const OWN: [&str; 2] = ["self", "own"];

/// The sections of `pages.toml`, and the methods of their routes.
const PARTS: [(&str, &str); 3] =
    [("project", route::PROJECT), ("group", route::GROUP), ("instance", route::INSTANCE)];

/// Memory for the writer; tantivy refuses less.
const WRITER_BYTES: usize = 50_000_000;

/// The finder's data as bytes.
pub struct Built {
    /// The table of the index's files, and the files.
    pub table: Vec<u8>,
    pub index: Vec<u8>,
    pub profiles: Vec<u8>,
    pub embeddings: Vec<u8>,
    pub routes: Vec<u8>,
    pub params: Vec<u8>,
}

/// Builds the finder's data from actions sorted by id, `usage.toml`, and the vectors of `learned/actions.bin` and
/// `learned/untrained.bin`.
pub fn build(
    actions: &[Action],
    words: &Words,
    pages: &Pages,
    usage: &Usage,
    learned: &[u8],
    untrained: &[u8],
) -> IndexOutcome<Built> {
    let analyser = Analyser::new(words);
    let texts: Vec<Texts> = actions.iter().map(|action| analyser.texts(action)).collect();
    let (table, index) = write_index(&texts)?;
    let levels = levels(actions, usage)?;
    let profiler = Profiler::new(actions, &texts, &analyser);
    let vocabulary = profiler.vocabulary()?;
    let lines = profiler.lines(&vocabulary);
    let profiles = postcard::to_allocvec(&profiler.profiles(actions, &levels, vocabulary, &lines))?;
    let embeddings = embeddings(learned, untrained, actions)?;
    let routes = postcard::to_allocvec(&routes(actions, pages)?)?;
    let params = postcard::to_allocvec(&rare_params(actions)?)?;
    Ok(Built { table, index, profiles, embeddings, routes, params })
}

/// Usage prior of `catalog/usage.toml`: the ids of each level.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    pub daily: Vec<String>,
    pub common: Vec<String>,
    pub occasional: Vec<String>,
    pub internal: Vec<String>,
}

/// Level of actions that `usage.toml` does not list.
const RARE_USE: u8 = 1;

/// Usage level of each action. Actions for machines are internal; deprecated ones are at most rare.
fn levels(actions: &[Action], usage: &Usage) -> IndexOutcome<Vec<u8>> {
    let mut named: BTreeMap<&str, u8> = BTreeMap::new();
    let levels = [(&usage.daily, MAX_USED), (&usage.common, 3), (&usage.occasional, 2), (&usage.internal, 0)];
    for (ids, level) in levels {
        for id in ids {
            if named.insert(id, level).is_some() {
                return Err(format!("usage.toml: {id} has two levels").into());
            }
        }
    }
    let own_level = |action: &Action| {
        let level = named.get(action.id.as_str()).copied().unwrap_or(RARE_USE);
        let is_deprecated = action.choices().all(|operation| operation.deprecated);
        match action.audience {
            Audience::Machine => 0,
            Audience::Person if is_deprecated => level.min(RARE_USE),
            Audience::Person => level,
        }
    };
    let by_id: BTreeMap<&str, &Action> = actions.iter().map(|action| (action.id.as_str(), action)).collect();
    // An action that is usually replaced by another gets a lower level than that one.
    let level = |action: &Action| {
        let usual = action.usually.as_ref().and_then(|id| by_id.get(id.as_str()));
        let most = usual.map_or(MAX_USED, |usual| own_level(usual).saturating_sub(1).max(RARE_USE));
        own_level(action).min(most)
    };
    Ok(actions.iter().map(level).collect())
}

/// Name prefix of the out-of-domain topics.
const TOPIC: &str = "nothing.";

/// Vectors by name: scale and 8-bit components.
pub type Vectors<'v> = BTreeMap<&'v str, (&'v [u8], &'v [u8])>;

/// Parses `learned/actions.bin` or `learned/untrained.bin` into the vectors by name, and their width.
pub fn read_vectors(bytes: &[u8]) -> IndexOutcome<(Vectors<'_>, usize)> {
    const SHORT: &str = "a file of vectors in catalog/learned is too short";
    let mut rest = bytes;
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at_checked(count).ok_or(SHORT)?;
        rest = left;
        IndexOutcome::Ok(taken)
    };
    let mut size = || -> IndexOutcome<usize> {
        Ok(usize::try_from(u32::from_le_bytes(*take(4)?.first_chunk::<4>().ok_or(SHORT)?))?)
    };
    let (count, width, text) = (size()?, size()?, size()?);
    let names = std::str::from_utf8(take(text)?)?;
    let (scales, vectors) = (take(count * 4)?, take(count * width)?);
    // A file without vectors has no width.
    let rows = names.lines().zip(scales.chunks_exact(4).zip(vectors.chunks_exact(width.max(1))));
    Ok((rows.collect(), width))
}

/// Serializes the vectors of the actions in order, followed by those of the topics: both counts and the width, a scale
/// for each, and 8-bit components. Actions without a trained vector use that of `untrained`, or zeros.
fn embeddings(learned: &[u8], untrained: &[u8], actions: &[Action]) -> IndexOutcome<Vec<u8>> {
    let (learned, width) = read_vectors(learned)?;
    let (mut rows, _) = read_vectors(untrained)?;
    rows.extend(learned);
    let none = (vec![0; 4], vec![0; width]);
    // A renamed action has its former id among its aliases, and keeps that vector until the next training.
    let row = |action: &Action| {
        let mut names = std::iter::once(&action.id).chain(&action.aliases);
        names.find_map(|name| rows.get(name.as_str()).copied())
    };
    let actions: Vec<_> =
        actions.iter().map(|action| row(action).unwrap_or((none.0.as_slice(), none.1.as_slice()))).collect();
    let topics: Vec<_> =
        rows.iter().filter(|(name, _)| name.starts_with(TOPIC)).map(|(_, row)| *row).collect();
    let mut bytes = Vec::new();
    for size in [actions.len(), topics.len(), width] {
        bytes.extend(u32::try_from(size)?.to_le_bytes());
    }
    let all = || actions.iter().chain(&topics);
    all().for_each(|(scale, _)| bytes.extend(*scale));
    all().for_each(|(_, vector)| bytes.extend(*vector));
    Ok(bytes)
}

/// Words of an action by field, and the short texts that resemble a request.
struct Texts {
    places: Vec<Vec<String>>,
    lines: Vec<Vec<String>>,
}

struct Analyser<'a> {
    stemmer: Stemmer,
    stopwords: BTreeSet<&'a str>,
    prepositions: BTreeSet<&'a str>,
    domains: &'a BTreeMap<String, Domain>,
}

impl<'a> Analyser<'a> {
    fn new(words: &'a Words) -> Analyser<'a> {
        Analyser {
            stemmer: Stemmer::new(&words.language.never_stem),
            stopwords: words.language.stopwords.iter().map(String::as_str).collect(),
            prepositions: words.language.prepositions.iter().map(String::as_str).collect(),
            domains: &words.domains,
        }
    }

    /// The stems of a text without stopwords and numbers.
    fn words(&self, text: &str) -> Vec<String> {
        let kept = split(text).into_iter().filter(|word| {
            !self.stopwords.contains(word.as_str()) && !word.bytes().all(|b| b.is_ascii_digit())
        });
        kept.map(|word| self.stemmer.stem(&word).0.into_owned()).collect()
    }

    fn nouns(&self, action: &Action) -> Vec<Vec<String>> {
        self.domain_nouns(action).iter().map(|noun| self.words(noun)).collect()
    }

    /// Nouns without a preposition: not `tag on issues`.
    fn plain_nouns(&self, action: &Action) -> Vec<Vec<String>> {
        let plain =
            |noun: &&String| !split(noun).iter().any(|word| self.prepositions.contains(word.as_str()));
        self.domain_nouns(action).iter().filter(plain).map(|noun| self.words(noun)).collect()
    }

    fn domain_nouns(&self, action: &Action) -> &[String] {
        self.domains.get(action.domain()).map(|domain| domain.nouns.as_slice()).unwrap_or_default()
    }

    /// Returns empty texts for a duplicate, whose original is indexed.
    fn texts(&self, action: &Action) -> Texts {
        if !action.is_offered() {
            return Texts { places: PLACES.iter().map(|_| Vec::new()).collect(), lines: Vec::new() };
        }
        let path_noun = action.operations.first().map(|first| self.path_noun(first)).unwrap_or_default();
        let place = |place: FieldPlace| match place {
            FieldPlace::Id => self.words(&action.id),
            FieldPlace::Object => {
                [self.words(action.domain()).pop().into_iter().collect(), path_noun.clone()].concat()
            }
            FieldPlace::Summary => self.words(&action.summary),
            FieldPlace::Phrases => action.phrases.iter().flat_map(|phrase| self.words(phrase)).collect(),
            FieldPlace::Aliases => action.aliases.iter().flat_map(|alias| self.words(alias)).collect(),
            FieldPlace::Nouns => self.nouns(action).concat(),
            FieldPlace::Path => {
                unique(action.operations.iter().flat_map(|operation| self.path_words(operation)))
            }
            FieldPlace::Params => unique(action.params.iter().flat_map(|param| self.words(&param.name))),
            FieldPlace::Choices => unique(action.params.iter().flat_map(|param| {
                param.choices.iter().filter(|choice| choice.len() > 2).flat_map(|choice| self.words(choice))
            })),
        };
        Texts { places: PLACES.iter().map(|(at, _)| place(*at)).collect(), lines: self.lines(action) }
    }

    /// The id, the verb with each noun of the domain, the summary, the phrases and the aliases.
    fn lines(&self, action: &Action) -> Vec<Vec<String>> {
        let verb = self.words(action.verb());
        let named = self.nouns(action).into_iter().map(|noun| [verb.clone(), noun].concat());
        let written = [&action.id, &action.summary].into_iter().chain(&action.phrases).chain(&action.aliases);
        let lines: BTreeSet<Vec<String>> = written.map(|text| self.words(text)).chain(named).collect();
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }

    fn path_words(&self, operation: &Operation) -> Vec<String> {
        if let Some(graphql) = &operation.graphql {
            return self.words(&graphql.field);
        }
        segments(&operation.path).flat_map(|segment| self.words(segment)).collect()
    }

    fn path_noun(&self, operation: &Operation) -> Vec<String> {
        if operation.graphql.is_some() {
            return Vec::new();
        }
        segments(&operation.path).last().map(|segment| self.words(segment)).unwrap_or_default()
    }
}

/// The literal segments of a path.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    let texts = pieces(path).filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Placeholder { .. } => None,
    });
    texts.flat_map(|text| text.split('/')).filter(|segment| segment.chars().any(char::is_alphabetic))
}

fn unique(words: impl Iterator<Item = String>) -> Vec<String> {
    words.collect::<BTreeSet<_>>().into_iter().collect()
}

fn write_index(texts: &[Texts]) -> IndexOutcome<(Vec<u8>, Vec<u8>)> {
    let directory = RamDirectory::create();
    let (schema, fields) = schema();
    let builder = Index::builder().schema(schema).settings(IndexSettings::default());
    let mut writer =
        builder.single_segment_index_writer::<TantivyDocument>(directory.clone(), WRITER_BYTES)?;
    for text in texts {
        let mut document = TantivyDocument::new();
        for (field, words) in fields.iter().zip(&text.places) {
            document.add_text(*field, words.join(" "));
        }
        writer.add_document(document)?;
    }
    let index = writer.finalize()?;
    let segment = index.searchable_segment_ids()?.pop().ok_or("the index has no segment")?.uuid_string();
    let mut names: Vec<String> =
        index.directory().list_managed_files().iter().map(|p| p.to_string_lossy().into_owned()).collect();
    names.sort();
    pack(&directory, &names, &segment)
}

fn pack(directory: &RamDirectory, names: &[String], segment: &str) -> IndexOutcome<(Vec<u8>, Vec<u8>)> {
    let mut block = Vec::new();
    let mut files: Vec<(String, u32, u32)> = Vec::new();
    for name in names {
        if !directory.exists(Path::new(name))? {
            continue;
        }
        let mut bytes = directory.atomic_read(Path::new(name))?;
        if name == "meta.json" {
            bytes = meta(&String::from_utf8(bytes)?, segment).into_bytes();
        }
        let start = u32::try_from(block.len())?;
        block.extend(bytes);
        files.push((name.replace(segment, SEGMENT), start, u32::try_from(block.len())?));
    }
    files.sort();
    let files = files.iter().map(|(name, start, end)| File { name, start: *start, end: *end }).collect();
    Ok((postcard::to_allocvec(&Table { files })?, block))
}

/// Fixes the segment's name in `meta.json`, with hyphens as tantivy expects.
fn meta(text: &str, segment: &str) -> String {
    let hyphenated = |id: &str| {
        let part = |from: usize, to: usize| id.get(from..to).unwrap_or_default().to_owned();
        [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
    };
    text.replace(&hyphenated(segment), &hyphenated(SEGMENT)).replace(segment, SEGMENT)
}

/// Assigns word ids and builds the profiles.
struct Profiler<'t> {
    words: BTreeMap<&'t str, u16>,
    /// Number of actions in which words were counted.
    counted: usize,
    texts: &'t [Texts],
    analyser: &'t Analyser<'t>,
}

impl<'t> Profiler<'t> {
    fn new(actions: &[Action], texts: &'t [Texts], analyser: &'t Analyser<'t>) -> Profiler<'t> {
        // Document frequencies are counted over REST actions only: the finer GraphQL actions repeat their words.
        let (graphql, rest): (Vec<_>, Vec<_>) =
            texts.iter().zip(actions).partition(|(_, action)| is_graphql(action));
        let mut words = counts(rest.iter().map(|(text, _)| *text));
        for (word, count) in counts(graphql.into_iter().map(|(text, _)| text)) {
            words.entry(word).or_insert(count);
        }
        Profiler { words, counted: rest.len(), texts, analyser }
    }

    fn vocabulary(&self) -> IndexOutcome<Vocabulary<'t>> {
        u16::try_from(self.words.len())?;
        Ok(Vocabulary::new(
            self.words.keys().copied().collect(),
            self.words.values().copied().collect(),
            u16::try_from(self.counted)?,
        ))
    }

    fn lines(&self, vocabulary: &Vocabulary<'_>) -> Vec<Vec<u8>> {
        let of = |texts: &Texts| texts.lines.iter().map(|line| ids(line, vocabulary)).collect::<Vec<_>>();
        self.texts.iter().map(|texts| Lines::pack(&of(texts))).collect()
    }

    fn profiles<'p>(
        &self,
        actions: &[Action],
        levels: &[u8],
        vocabulary: Vocabulary<'p>,
        lines: &'p [Vec<u8>],
    ) -> Profiles<'p> {
        let of_domains = || actions.chunk_by(|one, other| one.domain() == other.domain());
        let domains = of_domains().filter_map(|of_domain| of_domain.first());
        let domains = domains.map(|action| self.domain(action, &vocabulary)).collect();
        let numbers =
            of_domains().zip(0..).flat_map(|(of_domain, number)| of_domain.iter().map(move |_| number));
        let profiles = actions.iter().zip(numbers).zip(levels);
        let profiles = profiles
            .map(|((action, domain), usage)| self.profile(action, domain, *usage, &vocabulary))
            .collect();
        let lines = lines.iter().map(|bytes| Lines(bytes)).collect();
        Profiles { vocabulary, actions: profiles, lines, domains }
    }

    fn domain(&self, action: &Action, vocabulary: &Vocabulary) -> DomainProfile {
        DomainProfile {
            name: ids(&self.analyser.words(action.domain()), vocabulary),
            nouns: self.analyser.plain_nouns(action).iter().map(|noun| ids(noun, vocabulary)).collect(),
        }
    }

    fn profile(&self, action: &Action, domain: u16, usage: u8, vocabulary: &Vocabulary) -> Profile {
        // A duplicate's id ends in a field name instead of a verb.
        let verb = if action.twin.is_some() { "" } else { action.verb() };
        let verb = ids(&self.analyser.words(verb), vocabulary);
        Profile {
            domain,
            verb: verb.first().copied().unwrap_or(WordId::MAX),
            kind: kind(action),
            usage,
            scopes: scopes(action),
        }
    }
}

/// Document frequency of each word.
fn counts<'t>(texts: impl Iterator<Item = &'t Texts>) -> BTreeMap<&'t str, u16> {
    let mut words: BTreeMap<&str, u16> = BTreeMap::new();
    for text in texts {
        for word in text.places.iter().flatten() {
            words.entry(word).or_default();
        }
        // Names of parameters and values are weak evidence of an action's purpose.
        let telling = text.places.iter().take(FieldPlace::Path as usize + 1);
        let own: BTreeSet<&str> = telling.flatten().map(String::as_str).collect();
        for word in own {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

/// True if an action has only GraphQL operations.
fn is_graphql(action: &Action) -> bool {
    action.choices().all(|operation| operation.graphql.is_some())
}

fn ids(words: &[String], vocabulary: &Vocabulary) -> Vec<WordId> {
    let mut ids: Vec<WordId> = Vec::new();
    for id in words.iter().filter_map(|word| vocabulary.id(word)) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn kind(action: &Action) -> ProfileKind {
    let method = action.operations.first().map_or(Method::Get, |first| match &first.graphql {
        Some(graphql) if graphql.kind == GraphqlKind::Query => Method::Get,
        _ => first.method,
    });
    match (action.verb().split('_').next().unwrap_or_default(), method) {
        ("list" | "search", _) => ProfileKind::List,
        ("get", _) | (_, Method::Get | Method::Head) => ProfileKind::Get,
        ("create" | "add", _) => ProfileKind::Create,
        ("update" | "set", _) => ProfileKind::Update,
        ("delete" | "remove", _) | (_, Method::Delete) => ProfileKind::Delete,
        _ => ProfileKind::Act,
    }
}

/// Scope bits of an action. An action on the current user works in no other scope.
fn scopes(action: &Action) -> u8 {
    if action.verb().split('_').any(|word| OWN.contains(&word)) {
        return scope::CURRENT;
    }
    action.choices().map(|operation| scope_bit(operation.scope)).fold(0, |all, bit| all | bit)
}

fn scope_bit(of: Scope) -> u8 {
    match of {
        Scope::Project => scope::PROJECT,
        Scope::Group => scope::GROUP,
        Scope::Instance => scope::INSTANCE,
        Scope::Namespace => scope::PROJECT | scope::GROUP,
        Scope::User => scope::USER,
        Scope::Current => scope::CURRENT,
    }
}

/// Maximum number of actions with a parameter name or value that still leads to them.
const RARE: usize = 12;

/// Minimum length of a parameter name that leads to actions.
const SHORTEST_PARAM: usize = 4;

/// Rare parameter names and values, each joined into one word, with the sorted numbers of the actions that have them.
fn rare_params(actions: &[Action]) -> IndexOutcome<Vec<(String, Vec<u16>)>> {
    let mut named: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
    // A domain's name ("label") refers to that domain rather than to a parameter's value.
    let domains: BTreeSet<String> =
        actions.iter().filter_map(|action| Some(one_word(action.id.split_once('.')?.0))).collect();
    for (number, action) in actions.iter().enumerate().filter(|(_, action)| action.is_offered()) {
        let number = u16::try_from(number)?;
        for param in &action.params {
            for name in param.choices.iter().chain([&param.name]) {
                named.entry(one_word(name)).or_default().insert(number);
            }
        }
    }
    let rare = |(name, actions): &(String, BTreeSet<u16>)| {
        (1..=RARE).contains(&actions.len())
            && name.len() >= SHORTEST_PARAM
            && !domains.contains(name)
            && name.contains(char::is_alphabetic)
    };
    let rare = named.into_iter().filter(rare);
    Ok(rare.map(|(name, actions)| (name, actions.into_iter().collect())).collect())
}

/// GitLab's web pages from `catalog/pages.toml`: for each section, the action of each address.
pub type Pages = BTreeMap<String, BTreeMap<String, String>>;

fn routes<'a>(actions: &'a [Action], pages: &'a Pages) -> IndexOutcome<Vec<ProfileRoute<'a>>> {
    let mut routes = Vec::new();
    let by_id = |id: &str| actions.iter().position(|action| action.id == id);
    for (part, addresses) in pages {
        let method = PARTS.iter().find(|(name, _)| name == part).ok_or("pages.toml has another part")?.1;
        for (path, id) in addresses {
            // Ids may be missing between a renaming and the next `generate`; the generator reports them.
            let Some(action) = by_id(id) else { continue };
            let action = u16::try_from(action)?;
            routes.push(ProfileRoute { method, path, action });
            let groups = pages.get("group").is_some_and(|groups| !groups.contains_key(path));
            if part == "project" && groups {
                routes.push(ProfileRoute { method: route::GROUP, path, action });
            }
        }
    }
    for (number, action) in actions.iter().enumerate() {
        let rest = |operation: &&Operation| operation.graphql.is_none() && action.plan.is_none();
        for operation in action.operations.iter().filter(rest) {
            let action = u16::try_from(number)?;
            routes.push(ProfileRoute { method: operation.method.name(), path: &operation.path, action });
        }
        let found = action.twin.as_deref().and_then(by_id).unwrap_or(number);
        for graphql in action.operations.iter().filter_map(|operation| operation.graphql.as_ref()) {
            routes.push(ProfileRoute {
                method: route::FIELD,
                path: &graphql.field,
                action: u16::try_from(found)?,
            });
        }
    }
    Ok(routes)
}

#[cfg(test)]
mod tests {
    use super::read_vectors;

    /// A training that knows every action leaves `untrained.bin` so.
    #[test]
    fn a_file_without_vectors_is_read() {
        let (vectors, width) = read_vectors(&[0; 12]).unwrap();
        assert_eq!((vectors.len(), width), (0, 0));
    }
}
