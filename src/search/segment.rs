//! Segments of a query: the whole and its clauses, each with its verb and object.

use std::borrow::Cow;
use std::ops::Range;

use gitlab_mcp_embed::search::profile::{ProfileKind, WordId};

use super::lexicon::{AskedWord, Lexicon};
use super::request::{Concept, ParsedRequest};

/// A whole query or one clause of it.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Indices of its concepts.
    pub concepts: Vec<usize>,
    /// Indices of those that an earlier clause names: `open a merge request and merge it`.
    pub earlier: Vec<usize>,
    pub asked: Option<AskedWord>,
    /// Index of the concept that is the object.
    pub object: Option<usize>,
    /// Participles that name a state rather than a request: `assigned to me`.
    pub states: Vec<WordId>,
    /// Positions of its words.
    pub range: Range<usize>,
}

/// A noun of a request: the index of its last concept, and each domain noun that it may be.
struct Noun<'r> {
    at: usize,
    head: bool,
    meanings: Vec<Cow<'r, [WordId]>>,
}

impl ParsedRequest {
    /// The whole request as one segment.
    pub fn whole(&self, lexicon: &Lexicon) -> Segment {
        self.segment((0..self.concepts.len()).collect(), lexicon)
    }

    /// The encoder's input for a segment: the words and placeholders in its range, without concepts of other segments.
    /// An object that an earlier clause names is in the place of its pronoun, or else after the verb.
    pub fn tokens(&self, segment: &Segment) -> Vec<String> {
        let others =
            self.concepts.iter().enumerate().filter(|(number, _)| !segment.concepts.contains(number));
        let others: Vec<usize> = others.map(|(_, concept)| concept.at).collect();
        let is_within = |at: &usize| segment.range.contains(at) && !others.contains(at);
        let mut tokens = Vec::new();
        let mut earlier: Vec<String> =
            segment.earlier.iter().flat_map(|number| self.words_of(*number)).collect();
        for (at, token) in self.input.iter().filter(|(at, _)| is_within(at)) {
            if earlier.is_empty() || !self.pronouns.contains(at) {
                tokens.push(token.clone());
            } else {
                tokens.append(&mut earlier);
            }
        }
        let behind_verb = tokens.len().min(1);
        tokens.splice(behind_verb..behind_verb, earlier);
        tokens
    }

    /// The words of a concept.
    fn words_of(&self, number: usize) -> impl Iterator<Item = String> {
        let range = self.concepts.get(number).map_or(0..0, |concept| concept.at..concept.end);
        self.input.iter().filter(move |(at, _)| range.contains(at)).map(|(_, token)| token.clone())
    }

    /// True if a segment begins with a verb in the imperative: `list them`, not `they were deleted`.
    pub fn is_order(&self, segment: &Segment) -> bool {
        let first = segment.concepts.first().and_then(|first| self.concepts.get(*first));
        first.is_some_and(|first| first.opens && first.verb.is_some() && !first.past)
    }

    /// The clauses of a request with several intents.
    pub fn intents(&self, lexicon: &Lexicon) -> Vec<Segment> {
        let clauses = self.clauses(lexicon);
        let several = clauses.len() > 1;
        clauses.into_iter().filter(|_| several).map(|clause| self.segment(clause, lexicon)).collect()
    }

    /// The concepts of each clause with an intent of its own. A verb alone, or with a pronoun, takes the object before
    /// it; a verb without one before it takes what follows the next verb: `create, rotate and revoke access tokens`.
    fn clauses(&self, lexicon: &Lexicon) -> Vec<Vec<usize>> {
        let mut clauses: Vec<Vec<usize>> = Vec::new();
        for (number, concept) in self.concepts.iter().enumerate() {
            let begins = concept.opens && concept.verb.is_some() && !concept.past;
            match clauses.last_mut() {
                Some(clause) if !begins => clause.push(number),
                _ => clauses.push(vec![number]),
            }
        }
        // The objects that are named so far, the last of a clause being its own.
        let mut named: Vec<Vec<usize>> = Vec::new();
        for clause in &mut clauses {
            let refers = self.has_pronoun(clause);
            let own: Vec<usize> = clause.clone();
            if let Some(object) = self.referred(&named, clause, lexicon).filter(|_| own.len() == 1 || refers)
            {
                clause.extend(object);
            }
            if !refers || named.is_empty() {
                let verb = own.first().copied();
                let nouns = self.nouns(&own, verb, lexicon).into_iter().map(|noun| noun.at);
                let objects = nouns.chain(self.object(clause, verb));
                named.extend(objects.map(|object| self.noun_phrase(object, lexicon)));
            }
        }
        let leading = clauses.iter().take_while(|clause| clause.len() == 1).count();
        let rest = clauses.get(leading).map(|clause| clause.iter().skip(1).copied().collect::<Vec<_>>());
        match (rest, clauses.as_mut_slice()) {
            _ if self.named => {}
            (Some(rest), clauses) => {
                clauses.iter_mut().take(leading).for_each(|clause| clause.extend(&rest));
            }
            // Both words may be verbs: `new label` is one noun phrase.
            (None, [first, second]) => {
                first.append(second);
                clauses.truncate(1);
            }
            (None, _) => {}
        }
        clauses
    }

    /// The object of those named before that a clause without one is about: the last that its verb can be done to, such as
    /// the merge request of `assign a reviewer and merge it`; else the last.
    fn referred<'n>(
        &self,
        named: &'n [Vec<usize>],
        clause: &[usize],
        lexicon: &Lexicon,
    ) -> Option<&'n Vec<usize>> {
        let verb =
            clause.first().and_then(|at| self.asks(*at)).and_then(|asked| asked.verbs.first().copied());
        let word = |object: &[usize]| {
            let concept = object.last().and_then(|at| self.concepts.get(*at))?;
            concept.meanings.first().and_then(|meaning| meaning.words.last().copied())
        };
        let is_done_to = |object: &&Vec<usize>| {
            verb.zip(word(object)).is_some_and(|(verb, noun)| lexicon.acts_on(verb, noun))
        };
        named.iter().rev().find(is_done_to).or_else(|| named.last())
    }

    /// True if a clause has a pronoun for what an earlier one names.
    fn has_pronoun(&self, clause: &[usize]) -> bool {
        let range = self.range(clause);
        self.pronouns.iter().any(|at| range.contains(at))
    }

    /// An object with the concept before it, if both are one noun, such as `merge request`.
    fn noun_phrase(&self, object: usize, lexicon: &Lexicon) -> Vec<usize> {
        let before = object.checked_sub(1).filter(|before| self.is_compound(*before, lexicon));
        before.into_iter().chain([object]).collect()
    }

    fn segment(&self, concepts: Vec<usize>, lexicon: &Lexicon) -> Segment {
        let verb = self.verb(&concepts, lexicon);
        let asked = verb.and_then(|at| self.concepts.get(at)).and_then(|concept| concept.verb.clone());
        let question = AskedWord { verbs: Vec::new(), kind: ProfileKind::Get, generic: true };
        let asked = asked.or_else(|| self.question.then_some(question));
        let object = self.object(&concepts, verb);
        let part = self.part(&concepts, verb, lexicon);
        let (asked, object) = match part {
            Some((update, whole)) => (Some(update.clone()), Some(whole)),
            None => (asked, object),
        };
        let many =
            object.and_then(|at| self.concepts.get(at)).is_some_and(|object| object.many == Some(true));
        Segment {
            asked: asked.map(|asked| if many { lexicon.of_several(asked) } else { asked }),
            object,
            states: self.states(&concepts),
            range: self.range(&concepts),
            earlier: concepts.iter().copied().filter(|at| Some(at) < concepts.first()).collect(),
            concepts,
        }
    }

    /// From the first concept's words to the start of the concept after the last. Words without a concept belong to
    /// their neighbors.
    fn range(&self, concepts: &[usize]) -> Range<usize> {
        let position = |at: usize| self.concepts.get(at).map(|concept| concept.at);
        let first = concepts.first().filter(|first| **first > 0).and_then(|first| position(*first));
        let last = concepts.iter().max().and_then(|last| position(last + 1));
        first.unwrap_or_default()..last.unwrap_or(usize::MAX)
    }

    /// The concept that is the verb: the first, if it can be one; else one at the end of its phrase: `issue list`; else
    /// a requested participle: `should be locked`.
    fn verb(&self, concepts: &[usize], lexicon: &Lexicon) -> Option<usize> {
        let first = concepts.iter().copied().find(|at| self.concepts.get(*at).is_some_and(|c| c.opens));
        let leading = first.or(concepts.first().copied()).filter(|at| self.leads(*at, lexicon));
        let trailing =
            concepts.iter().copied().filter(|at| Some(*at) != leading).find(|at| self.trails(*at, lexicon));
        let reads =
            |at: &usize, wanted: ProfileKind| self.asks(*at).is_some_and(|asked| asked.kind == wanted);
        match (leading, trailing) {
            (Some(get), Some(list)) if reads(&get, ProfileKind::Get) && reads(&list, ProfileKind::List) => {
                Some(list)
            }
            (leading, trailing) => leading.or(trailing).or_else(|| self.wished(concepts)),
        }
    }

    fn wished(&self, concepts: &[usize]) -> Option<usize> {
        let wished = |at: &usize| self.concepts.get(*at).is_some_and(|concept| concept.wished);
        concepts.iter().copied().find(|at| wished(at) && self.asks(*at).is_some())
    }

    /// The verb for attaching or detaching a part, and the object it is attached to: `add label to issue`, `set issue
    /// milestone`. `None` if another noun is in the head, or if the part is created: `create a label for issues`.
    fn part<'l>(
        &self,
        concepts: &[usize],
        verb: Option<usize>,
        lexicon: &'l Lexicon,
    ) -> Option<(&'l AskedWord, usize)> {
        let asked = self.asks(verb?)?;
        let makes =
            asked.kind == ProfileKind::Create && asked.verbs.first().is_some_and(|v| lexicon.is_generic(*v));
        if makes || matches!(asked.kind, ProfileKind::List | ProfileKind::Get) {
            return None;
        }
        let nouns = self.nouns(concepts, verb, lexicon);
        let asks = |part: &Noun<'_>, whole: &Noun<'_>| {
            let mut pairs =
                part.meanings.iter().flat_map(|part| whole.meanings.iter().map(move |w| (part, w)));
            pairs.find_map(|(part, whole)| lexicon.asked_of_whole(part, whole))
        };
        let of = |part: &Noun<'_>| {
            // The last matching noun is the object: `put the bug label on the issue`.
            let whole = nouns.iter().rev().find_map(|whole| Some((asks(part, whole)?, whole.at)))?;
            let fits = |other: &Noun<'_>| other.at == part.at || !other.head || asks(part, other).is_some();
            nouns.iter().all(fits).then_some(whole)
        };
        nouns.iter().find_map(of)
    }

    /// The nouns of a segment other than its verb.
    fn nouns(&self, concepts: &[usize], verb: Option<usize>, lexicon: &Lexicon) -> Vec<Noun<'_>> {
        let mut nouns: Vec<Noun<'_>> = Vec::new();
        let mut before: Option<WordId> = None;
        for at in concepts.iter().copied().filter(|at| Some(*at) != verb) {
            let Some(concept) = self.concepts.get(at) else { continue };
            let word = concept.meanings.first().and_then(|meaning| meaning.words.last().copied());
            if let Some(pair) = before.zip(word).map(|(one, other)| vec![one, other])
                && lexicon.is_domain(&pair)
            {
                nouns.pop_if(|noun| noun.at + 1 == at);
                nouns.push(Noun { at, head: concept.head, meanings: vec![Cow::Owned(pair)] });
                before = None;
                continue;
            }
            let meanings = concept.meanings.iter().map(|meaning| meaning.words.as_slice());
            let meanings: Vec<_> =
                meanings.filter(|words| lexicon.is_domain(words)).map(Cow::Borrowed).collect();
            if !meanings.is_empty() {
                nouns.push(Noun { at, head: concept.head, meanings });
            }
            before = word;
        }
        nouns
    }

    fn asks(&self, at: usize) -> Option<&AskedWord> {
        self.concepts.get(at).filter(|concept| !concept.past)?.verb.as_ref()
    }

    /// True if the first word is the verb: `fork a project`, not `forks of a project`, nor `commit history`.
    fn leads(&self, at: usize, lexicon: &Lexicon) -> bool {
        let is_noun = |concept: &Concept| {
            (concept.plural && concept.ends_phrase) || (concept.joined && lexicon.is_noun(&concept.meanings))
        };
        self.asks(at).is_some()
            && !self.concepts.get(at).is_some_and(is_noun)
            && !self.is_compound(at, lexicon)
    }

    fn trails(&self, at: usize, lexicon: &Lexicon) -> bool {
        let ends =
            |concept: &Concept| concept.ends_phrase && !concept.plural && !lexicon.is_noun(&concept.meanings);
        self.asks(at).is_some_and(|asked| asked.generic) && self.concepts.get(at).is_some_and(ends)
    }

    fn states(&self, concepts: &[usize]) -> Vec<WordId> {
        let past = concepts.iter().filter_map(|at| self.concepts.get(*at)).filter(|concept| concept.past);
        past.filter_map(|concept| concept.meanings.first()?.words.first().copied()).collect()
    }

    /// True if a concept and the next are one noun, such as `merge request`.
    fn is_compound(&self, at: usize, lexicon: &Lexicon) -> bool {
        let word = |at: usize| self.concepts.get(at)?.meanings.first()?.words.first().copied();
        word(at).zip(word(at + 1)).is_some_and(|(first, second)| lexicon.compounds.contains(&(first, second)))
    }

    /// The last concept of the head: the object of the verb.
    fn object(&self, concepts: &[usize], verb: Option<usize>) -> Option<usize> {
        let clause = concepts.first().and_then(|at| self.concepts.get(*at)).map(|first| first.clause);
        let of_head = |at: &usize| {
            self.concepts.get(*at).is_some_and(|c| c.head && !c.past && Some(c.clause) == clause)
        };
        let mut others = concepts.iter().rev().copied().filter(|at| Some(*at) != verb);
        let alone = concepts.len() == 2;
        others.clone().find(of_head).or_else(|| others.next().filter(|_| alone))
    }
}
