//! Checked calls of actions, with every look-up answered.

use std::sync::LazyLock;

use gitlab_mcp::call::{Call, Context, FullPath, Invalid, Lookup, LookupAnswer, LookupCache, Step, check};
use gitlab_mcp::catalog::{Action, Catalog, Scope};
use serde_json::{Map, Value};
use url::Url;

pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());
static BASE: LazyLock<Url> = LazyLock::new(|| Url::parse("https://gitlab.example").unwrap());

/// The projects of the GitLab that answers look-ups, with their ids.
pub const PROJECTS: [(u64, &str); 3] = [(1, "acme/widget"), (5, "acme/vault"), (9, "other/secret")];

/// Maximum rounds of look-ups of one call.
const MAX_ROUNDS: usize = 5;

/// The context of a check, with the default handling of quick actions.
pub fn context() -> Context<'static> {
    Context {
        base: &BASE,
        words: CATALOG.words().unwrap(),
        surface: CATALOG.operations().unwrap(),
        catalog: &CATALOG,
        quick_actions: Default::default(),
    }
}

/// Builds a call. Every path is a project, and every name has the id `found`. None for a composite action.
pub fn build_call(action: &Action, params: Map<String, Value>, found: u64) -> Result<Option<Call>, Invalid> {
    let checked = check(action.clone(), params, &context())?;
    let mut known = LookupCache::default();
    for _ in 0..MAX_ROUNDS {
        match checked.step(&known)? {
            Step::Ready(call) => return Ok(Some(call)),
            Step::Params(_) => return Ok(None),
            Step::Ask(questions) => questions.into_iter().for_each(|question| {
                let answer = match question {
                    Lookup::KindOf { .. } => LookupAnswer::Kind(Scope::Project),
                    Lookup::PathOf { ref id, .. } => LookupAnswer::Path(path_of(id)),
                    Lookup::IdOf { .. } => LookupAnswer::Id(found),
                };
                known.learn(question, answer);
            }),
        }
    }
    panic!("{} has open look-ups after {MAX_ROUNDS} rounds", action.id)
}

/// The path of the project or group with an id.
fn path_of(id: &str) -> FullPath {
    let known = PROJECTS.iter().find(|(known, _)| known.to_string() == id).map(|(_, path)| *path);
    FullPath::parse(known.unwrap_or("acme/unknown")).unwrap()
}
