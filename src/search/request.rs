//! Analysis of requests: concepts, the requested verb, its object, and the scope.

use gitlab_mcp_embed::search::normalise::{Endings, split};
use gitlab_mcp_embed::search::profile::{Vocabulary, WordId, scope};
use gitlab_mcp_encoder::Pieces;

use super::entities::{self, Entity, EntityPart, Terms};
use super::lexicon::{AskedWord, Lexicon, LexiconEntry, Meaning};
use super::model::ConceptWeights;

/// A word or phrase of the request with all its meanings.
#[derive(Clone, Debug)]
pub struct Concept {
    /// Original text, for the explanation.
    pub label: String,
    pub meanings: Vec<Meaning>,
    /// True if it is before the first preposition of its clause.
    pub head: bool,
    /// True if it was corrected from a misspelt word.
    pub guessed: bool,
    /// True for several objects, false for one; `None` if the request does not say.
    pub many: Option<bool>,
    pub(super) plural: bool,
    pub(super) verb: Option<AskedWord>,
    /// True if it is literally the verb of an action: `fork`, not `make`.
    pub(super) own_verb: bool,
    /// True for a common word unrelated to GitLab.
    pub(super) ordinary: bool,
    pub(super) past: bool,
    /// True for a requested participle: `should be closed`.
    pub(super) wished: bool,
    /// True for the first concept of a clause.
    pub(super) opens: bool,
    /// True for the last concept before a preposition, a participle or the end.
    pub(super) ends_phrase: bool,
    /// True if the next word is another content word: `commit history`, not `commit a file`.
    pub(super) joined: bool,
    pub(super) clause: usize,
    /// Positions of its first word, and after its last.
    pub(super) at: usize,
    pub(super) end: usize,
}

impl Concept {
    /// Multiplies its weights by a factor.
    fn weaken(&mut self, factor: f32) {
        for meaning in &mut self.meanings {
            meaning.weight *= factor;
            meaning.likeness *= factor;
        }
    }
}

/// An analyzed request.
#[derive(Clone, Debug, Default)]
pub struct ParsedRequest {
    pub concepts: Vec<Concept>,
    /// Bits of [`gitlab_mcp_embed::search::profile::scope`].
    pub scopes: u8,
    /// The encoder's input: words and placeholders, each with its position among the words.
    pub input: Vec<(usize, String)>,
    /// Positions of the pronouns.
    pub(super) pronouns: Vec<usize>,
    pub(super) question: bool,
    /// True if it names GitLab itself, or has a GitLab reference or file name: `!45`.
    pub gitlab: bool,
    /// True if it names an object by a reference, a path or a file.
    pub(super) named: bool,
}

impl ParsedRequest {
    /// True if it has a GitLab verb or noun. Only requests without may have no results.
    pub fn names_gitlab(&self, lexicon: &Lexicon) -> bool {
        let is_verb = |concept: &Concept| {
            let asks = concept.verb.as_ref().is_some_and(|asked| !asked.generic);
            asks && (concept.opens || concept.past) && concept.own_verb
        };
        let is_noun = |concept: &Concept| {
            let mut meanings =
                concept.meanings.iter().filter(|meaning| meaning.likeness >= MIN_SYNONYM_WEIGHT);
            !concept.ordinary && meanings.any(|meaning| lexicon.is_domain(&meaning.words))
        };
        let word = |concept: &Concept| Some(*concept.meanings.first()?.words.last()?);
        let is_pair = |pair: &[Concept]| match pair {
            [one, other] => word(one)
                .zip(word(other))
                .is_some_and(|(one, other)| lexicon.compounds.contains(&(one, other))),
            _ => false,
        };
        self.gitlab
            || self.concepts.iter().any(|concept| is_verb(concept) || is_noun(concept))
            || self.concepts.windows(2).any(is_pair)
    }
}

struct QueryToken {
    word: String,
    /// The corrected spelling, if it was misspelt.
    corrected: Option<String>,
    stem: String,
    endings: Endings,
    stop: bool,
    guessed: bool,
    /// True for a requested participle: `should be closed`, `have it removed`.
    wished: bool,
    opens: bool,
    /// True at the start of a sentence after the first.
    sentence: bool,
    /// True inside brackets.
    aside: bool,
    /// True if it looks like a name: `nanoGPT-fr`, `Gemma`.
    name: bool,
}

/// Builds the encoder's input: corrected words, and the placeholders of entities before the words that follow them.
fn input(tokens: &[QueryToken], placed: &[(usize, Entity)]) -> Vec<(usize, String)> {
    let mut placed = placed.iter().peekable();
    let mut input = Vec::new();
    let mut last: Option<&str> = None;
    for (at, token) in tokens.iter().enumerate() {
        while let Some((_, entity)) = placed.next_if(|(place, _)| *place <= at) {
            input.push((at.saturating_sub(1), entity.placeholder().to_owned()));
        }
        let mut word = token.corrected.as_deref().unwrap_or(&token.word).to_owned();
        if token.corrected.is_some() && token.endings.plural && !word.ends_with('s') {
            word.push('s');
        }
        // Two words run together are two tokens with the same original word.
        if token.corrected.is_some() || last != Some(&token.word) || !token.guessed {
            input.push((at, word));
        }
        last = Some(&token.word);
    }
    input.extend(placed.map(|(at, entity)| (at.saturating_sub(1), entity.placeholder().to_owned())));
    input
}

/// Maximum number of words between a state and its object: `open merge requests`.
const STATED: usize = 3;

/// Minimum weight of a synonym that names a GitLab object: `ticket` does, `team` is too general.
const MIN_SYNONYM_WEIGHT: f32 = 0.8;

/// Names of the product.
const OURS: [&str; 2] = ["gitlab", "git"];

/// Vocabulary of the catalog and the language file, which distinguishes terms from names. It includes no learned data.
#[derive(Clone, Copy)]
pub struct QueryWords<'a> {
    pub lexicon: &'a Lexicon,
    pub vocabulary: &'a Vocabulary<'a>,
}

impl QueryWords<'_> {
    /// The encoder's input for a text without corrections, as in training.
    pub fn encoder_tokens(&self, text: &str) -> Vec<String> {
        entities::tokens(&entities::parse(&self.lexicon.without_products(text), self))
    }
}

impl Terms for QueryWords<'_> {
    fn is_term(&self, word: &str) -> bool {
        let stem = self.lexicon.stemmer.stem(word).0;
        let is_of_ids = |id: WordId| self.lexicon.nouns.contains(&id) || self.lexicon.own_verb(id).is_some();
        self.lexicon.stopwords.contains(word)
            || self.lexicon.entry(&stem).is_some()
            || self.vocabulary.id(&stem).is_some_and(is_of_ids)
    }

    fn is_known(&self, word: &str) -> bool {
        let stem = self.lexicon.stemmer.stem(word).0;
        self.lexicon.stopwords.contains(word)
            || self.lexicon.ordinary.contains(&*stem)
            || self.lexicon.entry(&stem).is_some()
            || self.vocabulary.id(&stem).is_some()
    }

    fn is_verb(&self, word: &str) -> bool {
        let id = self.vocabulary.id(&self.lexicon.stemmer.stem(word).0);
        id.is_some_and(|id| self.lexicon.own_verb(id).is_some())
    }
}

/// Analyzes queries.
pub struct Reader<'a> {
    pub lexicon: &'a Lexicon,
    pub vocabulary: &'a Vocabulary<'a>,
    pub weights: &'a ConceptWeights,
    /// The encoder's vocabulary: a word that is a single piece is a common word.
    pub common: &'a Pieces<'a>,
}

/// Verb for a query with two revisions.
const COMPARE: &str = "compare";

impl Reader<'_> {
    /// Analyzes a query.
    pub fn analyze(&self, text: &str) -> ParsedRequest {
        let words = QueryWords { lexicon: self.lexicon, vocabulary: self.vocabulary };
        let parts = entities::parse(&self.lexicon.without_products(text), &words);
        let mut nouns: Vec<&'static str> = Vec::new();
        for part in &parts {
            let noun = if let EntityPart::Entity(entity) = part { entity.noun() } else { None };
            nouns.extend(noun.filter(|noun| !nouns.contains(noun)));
        }
        if entities::names_two_revisions(&parts) {
            nouns.push(COMPARE);
        }
        let (mut tokens, placed) = self.tokens(&parts);
        self.correct(&mut tokens, !nouns.is_empty());
        let mut request = ParsedRequest {
            question: tokens.first().is_some_and(|token| self.lexicon.questions.contains(&token.word)),
            named: !nouns.is_empty(),
            gitlab: !nouns.is_empty() || tokens.iter().any(|token| OURS.contains(&token.word.as_str())),
            input: input(&tokens, &placed),
            pronouns: self.pronouns(&tokens),
            ..ParsedRequest::default()
        };
        self.add_concepts(&tokens, &mut request);
        for noun in nouns {
            self.add_mention(noun, &mut request);
        }
        request
    }

    fn pronouns(&self, tokens: &[QueryToken]) -> Vec<usize> {
        let is_pronoun =
            |at: &usize| tokens.get(*at).is_some_and(|token| self.lexicon.pronouns.contains(&token.word));
        (0..tokens.len()).filter(is_pronoun).collect()
    }

    /// GitLab's noun for a text that is only a reference: `!5`, `group/project#7`.
    pub fn reference(&self, text: &str) -> Option<&'static str> {
        let words = QueryWords { lexicon: self.lexicon, vocabulary: self.vocabulary };
        match entities::parse(text, &words).as_slice() {
            [EntityPart::Entity(entity)] => entity.noun(),
            _ => None,
        }
    }

    fn is_known_stem(&self, stem: &str) -> bool {
        self.vocabulary.id(stem).is_some()
            || self.lexicon.entry(stem).is_some()
            || self.lexicon.ordinary.contains(stem)
    }

    /// The words of a query, and each entity with the position of the next word.
    fn tokens(&self, parts: &[EntityPart]) -> (Vec<QueryToken>, Vec<(usize, Entity)>) {
        let mut tokens: Vec<QueryToken> = Vec::new();
        let mut placed = Vec::new();
        let (mut opens, mut sentence, mut brackets, mut passive) = (true, false, 0_usize, false);
        for part in parts {
            let chunk = match part {
                EntityPart::Entity(entity) => {
                    placed.push((tokens.len(), *entity));
                    continue;
                }
                EntityPart::Text(chunk) => chunk,
            };
            brackets += chunk.matches(['(', '[']).count();
            let name = chunk.contains(|c: char| c.is_uppercase() || "-_".contains(c));
            for word in split(chunk) {
                let joins = matches!(word.as_str(), "and" | "then");
                let stop = self.lexicon.stopwords.contains(&word);
                let leads_passive = self.lexicon.passives.contains(&word);
                let aside = brackets > 0;
                let found = self.token(word, stop);
                let wished = passive;
                tokens.extend(found.into_iter().map(|token| QueryToken {
                    opens,
                    sentence,
                    aside,
                    wished,
                    name,
                    ..token
                }));
                sentence = false;
                passive = leads_passive;
                opens = joins || (opens && stop);
            }
            brackets = brackets.saturating_sub(chunk.matches([')', ']']).count());
            opens |= chunk.ends_with([',', ';', '.', ':', '?', '!']);
            sentence |= chunk.ends_with('.');
        }
        (tokens, placed)
    }

    /// Corrects a possible noun or verb with more edits than usual, if the request has only one of the two, or neither
    /// and the edit is small.
    fn correct(&self, tokens: &mut [QueryToken], mentions: bool) {
        for _ in 0..2 {
            let verb = tokens.iter().position(|token| self.is_verb(token));
            let mut nouns = tokens.iter().enumerate().filter(|(_, token)| self.is_noun(token));
            let has_noun = mentions || nouns.any(|(at, _)| Some(at) != verb);
            let is_corrected = match (verb.is_some(), has_noun) {
                (true, true) => return,
                (true, false) => self.correct_one(tokens, false, 2),
                (false, true) => self.correct_one(tokens, true, 2),
                (false, false) => self.correct_one(tokens, true, 1) || self.correct_one(tokens, false, 1),
            };
            if !is_corrected {
                return;
            }
        }
    }

    /// Corrects the first word that may be a misspelt noun or verb. Common words are less likely to be one.
    fn correct_one(&self, tokens: &mut [QueryToken], verb: bool, most: usize) -> bool {
        for token in tokens.iter_mut() {
            let is_name = token.name && !token.opens;
            let is_known =
                self.vocabulary.id(&token.stem).is_some() || self.lexicon.entry(&token.stem).is_some();
            if token.stop || token.guessed || token.aside || is_name || is_known {
                continue;
            }
            let is_common = self.common.contains(&token.word);
            if self.lexicon.ordinary.contains(&token.stem) || (is_common && most < 2) {
                continue;
            }
            let most = if is_common { 1 } else { most };
            if let Some(term) = self.lexicon.spellings.guess_term(&token.word, verb, most) {
                term.stem.clone_into(&mut token.stem);
                token.corrected = Some(term.spelt.clone());
                token.endings.plural |= token.word.ends_with('s');
                token.guessed = true;
                return true;
            }
        }
        false
    }

    fn is_noun(&self, token: &QueryToken) -> bool {
        let said = self.vocabulary.id(&token.stem).is_some_and(|id| self.lexicon.nouns.contains(&id));
        let names = |entry: &LexiconEntry| !entry.meanings.is_empty() && entry.verb.is_none();
        let meant = self.lexicon.entry(&token.stem).is_some_and(names);
        !token.stop && (said || meant)
    }

    fn is_verb(&self, token: &QueryToken) -> bool {
        let own = self.vocabulary.id(&token.stem).is_some_and(|id| self.lexicon.own_verb(id).is_some());
        own || self.lexicon.entry(&token.stem).is_some_and(|entry| entry.verb.is_some())
    }

    /// The word as a token, or as two tokens if it is two words run together.
    fn token(&self, word: String, stop: bool) -> Vec<QueryToken> {
        let (stem, endings) = self.lexicon.stemmer.stem(&word);
        let stem = stem.into_owned();
        let guesses = if stop || self.is_word(&word, &stem) { Vec::new() } else { self.guesses(&word) };
        let guessed = !guesses.is_empty();
        let endings = Endings { plural: endings.plural || (guessed && word.ends_with('s')), ..endings };
        let stems = if guessed { guesses } else { vec![(stem, None)] };
        let token = |(stem, corrected)| QueryToken {
            word: word.clone(),
            corrected,
            stem,
            endings,
            stop,
            guessed,
            wished: false,
            opens: false,
            sentence: false,
            aside: false,
            name: false,
        };
        stems.into_iter().map(token).collect()
    }

    /// The most likely stems of a misspelt word, with the correct spelling.
    fn guesses(&self, word: &str) -> Vec<(String, Option<String>)> {
        let spellings = &self.lexicon.spellings;
        if let Some((first, second)) = spellings.run_together(word) {
            return vec![(first.clone(), None), (second.clone(), None)];
        }
        spellings.guess(word).map(|term| (term.stem.clone(), Some(term.spelt.clone()))).into_iter().collect()
    }

    /// True if a word is in the catalog, or so common that it is not misspelt.
    fn is_word(&self, word: &str, stem: &str) -> bool {
        self.is_known_stem(stem) || self.common.contains(word)
    }

    fn add_concepts(&self, tokens: &[QueryToken], request: &mut ParsedRequest) {
        let mut at = 0;
        let mut head = true;
        let mut many = None;
        let mut clause = 0;
        let (mut begins, mut background, mut attribute) = (false, false, false);
        while let Some(token) = tokens.get(at) {
            begins |= token.sentence;
            let (length, entry) = self.longest(tokens, at);
            request.scopes |= entry.map_or(0, |entry| entry.scope);
            many = self.lexicon.number(&token.word).or(many);
            if length == 1 && self.lexicon.prepositions.contains(&token.word) {
                many = None;
                attribute = self.lexicon.attributes.contains(&token.word);
                head &= request.concepts.last().is_none_or(|last| last.clause != clause);
            }
            // `new label` requests one; `show the new label` does not.
            let leads =
                token.opens && entry.is_some_and(|entry| entry.verb.is_some()) && at + 1 < tokens.len();
            if length > 1 || !token.stop || leads {
                let span = tokens.get(at..at + length).unwrap_or_default();
                let mut concept = self.concept(span, entry, self.is_state(tokens, at));
                if std::mem::take(&mut begins) {
                    background = concept.verb.is_none();
                }
                if length == 1 && self.lexicon.ordinary.contains(&token.stem) {
                    concept.weaken(self.weights.ordinary);
                }
                if background || token.aside {
                    concept.weaken(self.weights.background);
                } else if attribute {
                    concept.weaken(self.weights.attribute);
                }
                let whose = entry.is_some_and(|entry| entry.scope & scope::CURRENT != 0);
                let next = tokens.get(at + length);
                let joined = next.is_some_and(|next| !next.stop && !next.opens);
                let ends_phrase = next.is_none_or(|next| {
                    next.endings.past || next.opens || self.lexicon.prepositions.contains(&next.word)
                });
                let many = concept.plural.then_some(true).or(many);
                if concept.opens && concept.verb.is_some() && !request.concepts.is_empty() {
                    clause += 1;
                    attribute = false;
                    head = true;
                }
                if !whose || (head && ends_phrase) {
                    let end = at + length;
                    request.concepts.push(Concept {
                        head,
                        clause,
                        many,
                        ends_phrase,
                        joined,
                        at,
                        end,
                        ..concept
                    });
                }
            }
            at += length;
        }
    }

    /// The longest known phrase from a position on, and its entry.
    fn longest(&self, tokens: &[QueryToken], at: usize) -> (usize, Option<&LexiconEntry>) {
        let mut key = String::new();
        let mut best = (1, None);
        for (length, token) in tokens.iter().skip(at).take(self.lexicon.longest).enumerate() {
            if length > 0 {
                if token.opens && !token.stop {
                    break;
                }
                key.push(' ');
            }
            key.push_str(&token.stem);
            if let Some(entry) = self.lexicon.entry(&key) {
                best = (length + 1, Some(entry));
            }
        }
        best
    }

    /// True if a possible verb is the state of several objects: `open issues`, not `open an issue`.
    fn is_state(&self, tokens: &[QueryToken], at: usize) -> bool {
        let mut behind = tokens.iter().skip(at);
        behind.next().is_some_and(|token| self.lexicon.states.contains(&token.word))
            && behind.take(STATED).take_while(|token| !token.stop).any(|token| token.endings.plural)
    }

    fn concept(&self, span: &[QueryToken], entry: Option<&LexiconEntry>, state: bool) -> Concept {
        let own: Vec<WordId> = span
            .iter()
            .filter(|token| span.len() == 1 || !token.stop)
            .filter_map(|token| self.vocabulary.id(&token.stem))
            .collect();
        let single = own.first().copied().filter(|_| span.len() == 1);
        let verb = if state { self.lexicon.listing() } else { self.verb(single, entry) };
        let participle = span.iter().find(|token| token.endings.past);
        let wished = participle.is_some_and(|token| token.wished);
        let past = span.last().is_some_and(|last| last.endings.past && !last.wished);
        let guess = if span.iter().any(|token| token.guessed) { self.weights.corrected } else { 1.0 };
        let mut meanings = Vec::new();
        if !own.is_empty() {
            let generic = verb.as_ref().is_some_and(|asked| asked.generic);
            let weight = if generic { self.capped(&own) } else { 1.0 };
            meanings.push(Meaning { words: own, weight: weight * guess, likeness: guess });
        }
        for meaning in entry.map(|entry| entry.meanings.as_slice()).unwrap_or_default() {
            meanings.push(Meaning::new(meaning.words.clone(), meaning.weight * guess));
        }
        for (at, meaning) in verb.iter().filter(|_| !past).flat_map(|asked| &asked.verbs).enumerate() {
            let weight = self.weights.verb_meaning * self.capped(&[*meaning]);
            let likeness = 1.0 / (1.0 + self.weights.verb_order * at as f32);
            meanings.push(Meaning {
                words: vec![*meaning],
                weight: weight * guess,
                likeness: likeness * guess,
            });
        }
        let shown = |token: &QueryToken| match token.guessed {
            true => format!("{} (read as {})", token.word, token.stem),
            false => token.word.clone(),
        };
        let words: Vec<String> = span.iter().map(shown).collect();
        Concept {
            label: words.join(" "),
            meanings,
            head: true,
            guessed: span.iter().any(|token| token.guessed),
            plural: span.last().is_some_and(|last| last.endings.plural),
            past,
            wished,
            own_verb: single.is_some_and(|word| self.lexicon.own_verb(word).is_some()),
            ordinary: span.len() == 1 && span.iter().all(|token| self.lexicon.ordinary.contains(&token.stem)),
            verb,
            opens: span.first().is_some_and(|first| first.opens),
            many: None,
            ends_phrase: false,
            joined: false,
            clause: 0,
            at: 0,
            end: 0,
        }
    }

    /// The verb of a word or phrase; the literal verb comes first if an id has it.
    fn verb(&self, single: Option<WordId>, entry: Option<&LexiconEntry>) -> Option<AskedWord> {
        let own = single.and_then(|word| self.lexicon.own_verb(word));
        let Some(mut asked) = entry.and_then(|entry| entry.verb.clone()) else { return own };
        for verb in own.into_iter().flat_map(|own| own.verbs) {
            asked.verbs.retain(|known| *known != verb);
            asked.verbs.insert(0, verb);
        }
        Some(asked)
    }

    /// Caps the weight of a verb, so that a rare one does not outweigh its noun.
    fn capped(&self, words: &[WordId]) -> f32 {
        let idf: f32 = words.iter().map(|word| self.vocabulary.idf(*word)).sum();
        (self.weights.verb_idf / idf.max(f32::MIN_POSITIVE)).min(1.0)
    }

    /// Adds the noun of a mentioned object as a concept outside the head, unless the request has it already.
    fn add_mention(&self, kind: &str, request: &mut ParsedRequest) {
        let words: Vec<WordId> =
            self.lexicon.stemmer.words(kind).iter().filter_map(|word| self.vocabulary.id(word)).collect();
        let said = |concept: &Concept| {
            concept.meanings.iter().any(|meaning| words.iter().all(|word| meaning.words.contains(word)))
        };
        let each_said = words.iter().all(|word| {
            request
                .concepts
                .iter()
                .any(|concept| concept.meanings.iter().any(|meaning| meaning.words.contains(word)))
        });
        if words.is_empty() || each_said || request.concepts.iter().any(said) {
            return;
        }
        let alone = request.concepts.iter().all(|concept| concept.verb.is_some());
        request.concepts.push(Concept {
            label: format!("({kind})"),
            meanings: vec![Meaning::new(words, self.weights.entity)],
            head: alone,
            guessed: false,
            plural: false,
            verb: None,
            own_verb: false,
            ordinary: false,
            past: false,
            wished: false,
            opens: false,
            many: Some(false),
            ends_phrase: true,
            joined: false,
            clause: request.concepts.last().map_or(0, |last| last.clause),
            at: usize::MAX,
            end: usize::MAX,
        });
    }
}
