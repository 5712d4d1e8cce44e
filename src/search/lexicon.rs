//! Vocabulary from `language.toml` for look-up: meanings of words and phrases, verbs, stop words.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use gitlab_mcp_embed::search::normalise::{Stemmer, split};
use gitlab_mcp_embed::search::profile::{Profile, ProfileKind, Profiles, Vocabulary, WordId, scope};

use crate::catalog::{Foreign, Language, Words};

use super::spelling::{Spellings, Term};

/// The generic verbs of ids, with their kinds.
const GENERIC: [(&str, ProfileKind); 5] = [
    ("list", ProfileKind::List),
    ("get", ProfileKind::Get),
    ("create", ProfileKind::Create),
    ("update", ProfileKind::Update),
    ("delete", ProfileKind::Delete),
];

const SCOPES: [(&str, u8); 5] = [
    ("project", scope::PROJECT),
    ("group", scope::GROUP),
    ("instance", scope::INSTANCE),
    ("user", scope::USER),
    ("current", scope::CURRENT),
];

/// One meaning of a word or phrase: its index words with their weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    pub words: Vec<WordId>,
    /// Weight of a match as evidence.
    pub weight: f32,
    /// Weight of a match when an action's texts are compared with the request.
    pub likeness: f32,
}

impl Meaning {
    /// Creates a meaning with the same weight for both.
    pub fn new(words: Vec<WordId>, weight: f32) -> Meaning {
        Meaning { words, weight, likeness: weight }
    }
}

/// Meanings of a verb among the verbs of ids, best first, and the kind of the best.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedWord {
    pub verbs: Vec<WordId>,
    pub kind: ProfileKind,
    /// True for a generic verb, which may also come last: `issue list`.
    pub generic: bool,
}

/// Entry of a word or phrase.
#[derive(Clone, Debug, Default)]
pub struct LexiconEntry {
    pub meanings: Vec<Meaning>,
    pub verb: Option<AskedWord>,
    /// A bit of [`scope`], if it names one.
    pub scope: u8,
}

/// The vocabulary, keyed by stems.
#[derive(Debug)]
pub struct Lexicon {
    pub stemmer: Stemmer,
    entries: HashMap<String, LexiconEntry>,
    /// Number of words of the longest phrase.
    pub(super) longest: usize,
    pub(super) stopwords: HashSet<String>,
    /// Words that end the head of a request: the words after them are not its object.
    pub(super) prepositions: HashSet<String>,
    /// Words after which the object is described instead of located.
    pub(super) attributes: HashSet<String>,
    /// Question words: the request only reads.
    pub(super) questions: HashSet<String>,
    /// Possible verbs that may also be a state.
    pub(super) states: HashSet<String>,
    /// Words after which a participle is a request instead of a state: `be closed`, `want it closed`.
    pub(super) passives: HashSet<String>,
    /// Words for an object of an earlier clause.
    pub(super) pronouns: HashSet<String>,
    /// Verbs of ids, each with the last word of an object that an action with it is of.
    acts: HashSet<(WordId, WordId)>,
    /// Stems of common words unrelated to GitLab, which are not misspellings.
    pub(super) ordinary: HashSet<String>,
    foreign: Foreign,
    /// Spelling correction.
    pub spellings: Spellings,
    many: HashSet<String>,
    one: HashSet<String>,
    generic: Vec<(WordId, ProfileKind)>,
    own_verbs: HashMap<WordId, ProfileKind>,
    /// Pairs of adjacent words that are one GitLab noun, such as `merge request`.
    pub(super) compounds: HashSet<(WordId, WordId)>,
    /// Last words of the domains' names and nouns.
    pub(super) nouns: HashSet<WordId>,
    /// Names and nouns of the domains that are one word.
    things: HashSet<WordId>,
    /// Names and nouns of the domains.
    domains: HashSet<Vec<WordId>>,
    parts: Vec<LexiconParts>,
}

/// Objects that are attached to others: see `PartWord` of the embedded vocabulary.
#[derive(Debug)]
struct LexiconParts {
    parts: Vec<WordId>,
    wholes: Vec<Vec<WordId>>,
    asks: AskedWord,
}

impl Lexicon {
    pub fn new(words: &Words, profiles: &Profiles<'_>) -> Lexicon {
        let language = &words.language;
        let set = |words: &[String]| words.iter().cloned().collect::<HashSet<_>>();
        let stemmer = Stemmer::new(&language.never_stem);
        let generic = generic(&stemmer, &profiles.vocabulary);
        let own_verbs = profiles.actions.iter().rev().map(|action| (action.verb, action.kind)).collect();
        let mut lexicon = Lexicon {
            stemmer,
            entries: HashMap::new(),
            longest: 1,
            stopwords: set(&language.stopwords),
            prepositions: set(&language.prepositions),
            attributes: set(&language.attributes),
            questions: set(&language.questions),
            states: set(&language.states),
            passives: set(&language.passives),
            pronouns: set(&language.pronouns),
            acts: acts(profiles),
            ordinary: HashSet::new(),
            foreign: language.foreign.clone(),
            spellings: Spellings::default(),
            many: set(&language.many),
            one: set(&language.one),
            generic,
            own_verbs,
            compounds: HashSet::new(),
            nouns: nouns(profiles).filter_map(|noun| noun.last().copied()).collect(),
            things: HashSet::new(),
            parts: Vec::new(),
            domains: nouns(profiles).filter(|noun| !noun.is_empty()).cloned().collect(),
        };
        lexicon.things = lexicon.things(words, &profiles.vocabulary);
        lexicon.compounds = lexicon.compounds(words, &profiles.vocabulary);
        lexicon.add_synonyms(language, &profiles.vocabulary);
        lexicon.add_verbs(language, &profiles.vocabulary);
        lexicon.add_scopes(language);
        lexicon.add_parts(language, &profiles.vocabulary);
        let ordinary = language.ordinary.iter().map(|word| lexicon.stemmer.stem(word).0.into_owned());
        lexicon.ordinary = ordinary.collect();
        lexicon.spellings = Spellings::new(
            &profiles.vocabulary,
            lexicon.terms(words, &profiles.vocabulary),
            lexicon.compounds.iter().copied(),
        );
        lexicon
    }

    /// The entry of a phrase, given by its stems joined with spaces.
    pub fn entry(&self, stems: &str) -> Option<&LexiconEntry> {
        self.entries.get(stems)
    }

    /// Removes names of other products before nouns for GitLab objects: `create a jira ticket` requests an issue.
    pub fn without_products<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Foreign { products, nouns, unless } = &self.foreign;
        let words: Vec<&str> = text.split(' ').collect();
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is = |list: &[String], word: &str| list.contains(&bare(word));
        if !words.iter().any(|word| is(products, word)) || words.iter().any(|word| is(unless, word)) {
            return Cow::Borrowed(text);
        }
        let following = words.iter().skip(1).map(Some).chain([None]);
        let says = |(word, next): &(&&str, Option<&&str>)| {
            !(is(products, word) && next.is_some_and(|next| is(nouns, next)))
        };
        let kept: Vec<&str> = words.iter().zip(following).filter(says).map(|(word, _)| *word).collect();
        Cow::Owned(kept.join(" "))
    }

    /// True for a quantifier of several objects, false for one of a single object.
    pub fn number(&self, word: &str) -> Option<bool> {
        if self.many.contains(word) { Some(true) } else { self.one.contains(word).then_some(false) }
    }

    /// True if the first meaning of a word is the full name of a domain object, even if it may be a verb: `label`.
    pub fn is_noun(&self, meanings: &[Meaning]) -> bool {
        let word = meanings.first().and_then(|meaning| meaning.words.first());
        word.is_some_and(|word| self.things.contains(word) && !self.is_generic(*word))
    }

    /// True if words are the full name of a domain's object, other than a generic verb.
    pub fn is_domain(&self, words: &[WordId]) -> bool {
        self.domains.contains(words) && !words.iter().all(|word| self.is_generic(*word))
    }

    /// The verb for attaching one object to another, if it can be a part of the other: a label of an issue.
    pub fn asked_of_whole(&self, part: &[WordId], whole: &[WordId]) -> Option<&AskedWord> {
        let [part] = part else { return None };
        let holds = |parts: &&LexiconParts| {
            parts.parts.contains(part) && parts.wholes.iter().any(|known| known == whole)
        };
        self.parts.iter().find(holds).map(|parts| &parts.asks)
    }

    /// True for a generic verb, which says little as a word.
    pub fn is_generic(&self, verb: WordId) -> bool {
        self.generic.iter().any(|(known, _)| *known == verb)
    }

    /// The request for a word that is the verb of some id: `approve`, `rebase`.
    pub fn own_verb(&self, word: WordId) -> Option<AskedWord> {
        let kind = *self.own_verbs.get(&word)?;
        Some(AskedWord { verbs: vec![word], kind, generic: self.is_generic(word) })
    }

    /// True if an action with this verb is of objects whose name ends with this word; of any for a generic verb.
    pub fn acts_on(&self, verb: WordId, noun: WordId) -> bool {
        self.is_generic(verb) || self.acts.contains(&(verb, noun))
    }

    /// The request for a plural noun without a verb: listing.
    pub fn listing(&self) -> Option<AskedWord> {
        let (list, kind) = *self.generic.iter().find(|(_, kind)| *kind == ProfileKind::List)?;
        Some(AskedWord { verbs: vec![list], kind, generic: true })
    }

    /// The request for several objects: getting them is listing them.
    pub fn of_several(&self, mut asked: AskedWord) -> AskedWord {
        let list = self.generic.iter().find(|(_, kind)| *kind == ProfileKind::List);
        if let (ProfileKind::Get, Some((list, kind))) = (asked.kind, list) {
            asked.verbs.retain(|verb| verb != list);
            asked.verbs.insert(0, *list);
            asked.kind = *kind;
        }
        asked
    }

    /// Words of the domains' names and nouns, and verbs of one word.
    fn terms(&self, words: &Words, vocabulary: &Vocabulary<'_>) -> Vec<Term> {
        let names = words.domains.keys().flat_map(|name| name.split('_'));
        let nouns = words.domains.values().flat_map(|domain| &domain.nouns).flat_map(|noun| noun.split(' '));
        let nouns: BTreeSet<&str> = names.chain(nouns).collect();
        let verbs = words.language.verbs.iter().flat_map(|verb| &verb.say);
        let verbs: BTreeSet<&str> = verbs.map(String::as_str).filter(|verb| !verb.contains(' ')).collect();
        let term = |verb: bool| {
            move |word: &str| {
                let stem = self.stemmer.stem(word).0.into_owned();
                let count = vocabulary.id(&stem).map_or(0, |id| vocabulary.count(id));
                let known = !self.stopwords.contains(word) && !self.ordinary.contains(&stem);
                (known && word.len() > 2).then(|| Term::new(word, stem, verb, count))
            }
        };
        nouns.into_iter().filter_map(term(false)).chain(verbs.into_iter().filter_map(term(true))).collect()
    }

    fn key(&self, phrase: &str) -> String {
        self.stemmer.words(phrase).join(" ")
    }

    fn enter(&mut self, phrase: &str) -> &mut LexiconEntry {
        let key = self.key(phrase);
        self.longest = self.longest.max(key.split(' ').count());
        self.entries.entry(key).or_default()
    }

    fn add_synonyms(&mut self, language: &Language, vocabulary: &Vocabulary<'_>) {
        for synonym in &language.synonyms {
            let meanings: Vec<Meaning> = synonym
                .mean
                .iter()
                .map(|meaning| Meaning::new(self.known(meaning, vocabulary), synonym.weight))
                .filter(|meaning| !meaning.words.is_empty())
                .collect();
            for phrase in &synonym.say {
                let known = &mut self.enter(phrase).meanings;
                known.reserve_exact(meanings.len());
                known.extend(meanings.iter().cloned());
            }
        }
    }

    fn add_verbs(&mut self, language: &Language, vocabulary: &Vocabulary<'_>) {
        for verb in &language.verbs {
            let verbs: Vec<WordId> =
                verb.mean.iter().filter_map(|meaning| vocabulary.id(&self.key(meaning))).collect();
            let Some(first) = verbs.first() else { continue };
            let kind = self.kind(*first);
            let generic = self.is_generic(*first);
            for phrase in &verb.say {
                self.enter(phrase).verb = Some(AskedWord { verbs: verbs.clone(), kind, generic });
            }
        }
    }

    fn add_scopes(&mut self, language: &Language) {
        for named in &language.scopes {
            let bit = SCOPES.iter().find(|(name, _)| *name == named.mean).map_or(0, |(_, bit)| *bit);
            for phrase in &named.say {
                self.enter(phrase).scope |= bit;
            }
        }
    }

    fn add_parts(&mut self, language: &Language, vocabulary: &Vocabulary<'_>) {
        for part in &language.parts {
            let Some(verb) = vocabulary.id(&self.key(&part.asks)) else { continue };
            let parts = part.say.iter().filter_map(|noun| vocabulary.id(&self.key(noun))).collect();
            let wholes = part.of.iter().map(|noun| self.known(noun, vocabulary)).collect();
            let asks = AskedWord { verbs: vec![verb], kind: self.kind(verb), generic: self.is_generic(verb) };
            self.parts.push(LexiconParts { parts, wholes, asks });
        }
    }

    fn kind(&self, verb: WordId) -> ProfileKind {
        let generic = self.generic.iter().find(|(known, _)| *known == verb).map(|(_, kind)| *kind);
        generic.or_else(|| self.own_verbs.get(&verb).copied()).unwrap_or(ProfileKind::Act)
    }

    /// Names and nouns of the domains that are one word. An `add-on` is two, though one of them is a stop word.
    fn things(&self, words: &Words, vocabulary: &Vocabulary<'_>) -> HashSet<WordId> {
        let nouns = words.domains.values().flat_map(|domain| &domain.nouns);
        let single = words.domains.keys().chain(nouns).map(|noun| self.stemmer.words(noun));
        let single = single.filter_map(|noun| <[String; 1]>::try_from(noun).ok());
        single.filter_map(|[noun]| vocabulary.id(&noun)).collect()
    }

    /// Adjacent words in the domains' names and nouns. A participle does not begin a request: `protect a branch` is not
    /// about a `protected branch`.
    fn compounds(&self, words: &Words, vocabulary: &Vocabulary<'_>) -> HashSet<(WordId, WordId)> {
        let names = words.domains.keys().map(|name| name.replace('_', " "));
        let nouns = words.domains.values().flat_map(|domain| domain.nouns.iter().cloned());
        let mut compounds = HashSet::new();
        for noun in names.chain(nouns) {
            let stems: Vec<_> = split(&noun)
                .into_iter()
                .map(|word| {
                    let (stem, endings) = self.stemmer.stem(&word);
                    (stem.into_owned(), endings)
                })
                .collect();
            for (first, second) in stems.iter().zip(stems.iter().skip(1)).filter(|(first, _)| !first.1.past) {
                compounds.extend(vocabulary.id(&first.0).zip(vocabulary.id(&second.0)));
            }
        }
        compounds
    }

    fn known(&self, text: &str, vocabulary: &Vocabulary<'_>) -> Vec<WordId> {
        self.stemmer.words(text).iter().filter_map(|word| vocabulary.id(word)).collect()
    }
}

fn generic(stemmer: &Stemmer, vocabulary: &Vocabulary<'_>) -> Vec<(WordId, ProfileKind)> {
    let known = |verb: &str| vocabulary.id(&stemmer.stem(verb).0);
    GENERIC.iter().filter_map(|(verb, kind)| Some((known(verb)?, *kind))).collect()
}

fn acts(profiles: &Profiles<'_>) -> HashSet<(WordId, WordId)> {
    let of_action = |action: &Profile| {
        let domain = profiles.domains.get(usize::from(action.domain));
        let nouns = domain.into_iter().flat_map(|domain| domain.nouns.iter().chain([&domain.name]));
        let verb = action.verb;
        nouns.filter_map(move |noun| Some((verb, *noun.last()?))).collect::<Vec<_>>()
    };
    profiles.actions.iter().flat_map(of_action).collect()
}

fn nouns<'p>(profiles: &'p Profiles<'_>) -> impl Iterator<Item = &'p Vec<WordId>> {
    profiles.domains.iter().flat_map(|domain| domain.nouns.iter().chain([&domain.name]))
}
