//! What is asked for against what an action does: the verb, one or several, and where.

use super::lexicon::Asked;
use super::profile::{Kind, Profile, WordId, scope};
use super::weights::agreement;

/// How well an action's verb, and what it does, answers the verb asked for: 1 for the very verb.
pub fn verb(asked: Option<&Asked>, states: &[WordId], profile: &Profile) -> f32 {
    let is_asked = asked.is_some_and(|asked| asked.verbs.contains(&profile.verb));
    if !is_asked && states.contains(&profile.verb) && !matches!(profile.kind, Kind::List | Kind::Get) {
        return -1.0;
    }
    let Some(asked) = asked else { return agreement(None, profile.kind) };
    match asked.verbs.iter().position(|verb| *verb == profile.verb) {
        Some(at) => 1.0 - 0.1 * (at.min(5) as f32),
        None => agreement(Some(asked.kind), profile.kind),
    }
}

/// How likely the deed of an action is by all words, from those of each deed. Where a verb asks to read, that is known,
/// and whether one or several is for [`number`] to tell.
pub fn deed(asked: Option<&Asked>, deeds: &[f32], profile: &Profile) -> f32 {
    let is_read = |kind: Kind| matches!(kind, Kind::List | Kind::Get);
    let told = asked.is_some_and(|asked| is_read(asked.kind) && !asked.verbs.is_empty());
    if told && is_read(profile.kind) {
        return 0.0;
    }
    deeds.get(usize::from(profile.deed)).copied().unwrap_or_default()
}

/// Where a change is wished for, whether the action makes one.
pub fn change(wished: bool, profile: &Profile) -> f32 {
    match (wished, profile.kind) {
        (false, _) => 0.0,
        (true, Kind::List | Kind::Get) => -1.0,
        (true, _) => 1.0,
    }
}

/// Several want a list or what is done to all at once; one wants one.
pub fn number(asked: Option<&Asked>, many: Option<bool>, profile: &Profile) -> f32 {
    let is_read = |kind: Kind| matches!(kind, Kind::List | Kind::Get);
    // `comment on an issue` reads none.
    if is_read(profile.kind) && asked.is_some_and(|asked| !is_read(asked.kind)) {
        return 0.0;
    }
    let several = profile.bulk || profile.kind == Kind::List;
    match (many, profile.kind) {
        (Some(many), _) if several => {
            if many {
                1.0
            } else {
                -1.0
            }
        }
        (Some(many), Kind::Get) => {
            if many {
                -0.5
            } else {
                1.0
            }
        }
        (None, _) if profile.bulk => -0.5,
        _ => 0.0,
    }
}

/// How well an action's scopes answer where the request said.
pub fn scope(asked: u8, profile: &Profile) -> f32 {
    let only = |bit: u8| profile.scopes == bit;
    let works = |bit: u8| profile.scopes & bit != 0;
    if asked & scope::CURRENT != 0 {
        return if works(scope::CURRENT) { 1.0 } else { 0.0 };
    }
    let mut agreement = if only(scope::CURRENT) { -1.0 } else { 0.0 };
    let named = asked & (scope::PROJECT | scope::GROUP | scope::INSTANCE);
    if named != 0 {
        agreement += if profile.scopes & named != 0 { 0.5 } else { -0.5 };
    }
    agreement
}
