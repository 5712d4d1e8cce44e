//! Agreement of a query's verb and scope with an action's.

use gitlab_mcp_embed::search::profile::{Profile, ProfileKind, WordId, scope};

use super::lexicon::AskedWord;

/// Agreement of an action's kind (row) with the requested kind (column): list, get, create, update, delete, act.
const KINDS: [[f32; 6]; 6] = [
    [0.7, 0.5, -0.9, -0.9, -0.9, -0.9],
    [0.5, 0.7, -0.9, -0.9, -0.9, -0.7],
    [-0.9, -0.9, 0.7, -0.4, -0.9, -0.2],
    [-0.9, -0.9, -0.3, 0.7, -0.7, 0.0],
    [-1.0, -1.0, -1.0, -0.8, 0.7, -0.5],
    [-0.8, -0.8, 0.0, 0.0, -0.3, -0.2],
];

/// Agreement of an action's kind with a query without a verb.
const NO_VERB: [f32; 6] = [0.3, 0.25, -0.5, -0.5, -0.7, -0.4];

/// Penalty of each further meaning of a verb relative to the one before.
const NEXT_MEANING: f32 = 0.1;

/// Agreement of an action's verb and kind with the requested verb: 1 for the same verb. A participle in the query
/// (`revoked tokens`) names a state, and counts against the action that causes it.
pub fn verb(asked: Option<&AskedWord>, states: &[WordId], profile: &Profile) -> f32 {
    let place = asked.and_then(|asked| asked.verbs.iter().position(|verb| *verb == profile.verb));
    match (asked, place) {
        (_, Some(place)) => 1.0 - NEXT_MEANING * (place.min(5) as f32),
        _ if states.contains(&profile.verb) && !is_read(profile.kind) => -1.0,
        (Some(asked), None) => kind_agreement(profile.kind, asked.kind),
        (None, None) => NO_VERB.get(profile.kind as usize).copied().unwrap_or_default(),
    }
}

fn kind_agreement(kind: ProfileKind, asked: ProfileKind) -> f32 {
    KINDS.get(kind as usize).and_then(|row| row.get(asked as usize)).copied().unwrap_or_default()
}

fn is_read(kind: ProfileKind) -> bool {
    matches!(kind, ProfileKind::List | ProfileKind::Get)
}

/// Agreement of an action's scopes with those that the query names.
pub fn scope(asked: u8, profile: &Profile) -> f32 {
    let works_in = |bits: u8| profile.scopes & bits != 0;
    let is_own_alone = profile.scopes == scope::CURRENT;
    if asked & scope::CURRENT != 0 {
        return if works_in(scope::CURRENT) { 1.0 } else { 0.0 };
    }
    let own = if is_own_alone { -1.0 } else { 0.0 };
    match asked & (scope::PROJECT | scope::GROUP | scope::INSTANCE) {
        0 => own,
        named if works_in(named) => own + 0.5,
        _ => own - 0.5,
    }
}
