//! Overrides for finds: the object of each description, independent of the surface.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::entry::{Side, SurfaceEntry};
use super::schema::{Override, ParamSchema, Source, squashed};
use super::settings::SurfaceSettings;
use super::{individual, meta};
use crate::catalog::CatalogError;
use crate::tools::{Tools, Wording};

/// Puts overridden descriptions into the results of finds.
pub fn reword(tools: &Tools, settings: &SurfaceSettings) {
    if settings.overrides.is_empty() {
        return;
    }
    // A catalog that cannot be read fails at the first request.
    if let Ok(wording) = wording(tools, &settings.overrides) {
        tools.reword(wording);
    }
}

/// The tools of every family and of every action, before they are described: all that an override can name.
pub fn sources(
    tools: &Tools,
) -> Result<impl Iterator<Item = Result<Source, CatalogError>> + '_, CatalogError> {
    let entries = meta::entries(tools, false)?.into_iter().chain(individual::entries(tools, &|_| true)?);
    Ok(entries.filter_map(move |entry| match entry {
        SurfaceEntry::Family { family, numbers, .. } => {
            Some(meta::source(tools, (&family, Side::All), &numbers, ParamSchema::Full))
        }
        SurfaceEntry::Action(number) => Some(individual::source(tools, number)),
        SurfaceEntry::Pair(_) | SurfaceEntry::Activate => None,
    }))
}

/// The parameter of an action that another spelling means. A spelling counts where no action of the family has a
/// parameter of that very name.
pub fn spellings(tools: &Tools) -> impl Fn(&str, &str) -> Option<String> + '_ {
    let of_families: RefCell<HashMap<String, BTreeSet<String>>> = RefCell::default();
    move |action: &str, given: &str| {
        let family = tools.catalog().words().ok()?.family(action);
        let mut of_families = of_families.borrow_mut();
        let names = of_families.entry(family.to_owned()).or_insert_with(|| param_names(tools, family));
        if names.contains(&squashed(given)) {
            return None;
        }
        tools.find_param(action, given)
    }
}

/// The parameters of a family's actions, those that may run.
fn param_names(tools: &Tools, family: &str) -> BTreeSet<String> {
    let Ok(words) = tools.catalog().words() else { return BTreeSet::new() };
    let ids = tools.catalog().ids().filter(|id| words.family(id) == family);
    let actions = ids.filter_map(|id| tools.catalog().get(id).ok().flatten());
    let runnable = actions.filter(|action| tools.may_run(action));
    runnable.flat_map(|action| action.params.into_iter().map(|param| squashed(param.name))).collect()
}

/// The overrides by the object that they describe.
pub fn wording(tools: &Tools, overrides: &[Override]) -> Result<Wording, CatalogError> {
    let words = tools.catalog().words()?;
    let spellings = spellings(tools);
    let mut wording = Wording::default();
    for source in sources(tools)? {
        let mut source = source?;
        source.describe(overrides, &spellings);
        let of_one = source.branches.len() == 1 && source.title.is_none();
        if let (true, Some(branch)) = (source.described, source.branches.first()) {
            let text = source.description.clone();
            match of_one {
                true => wording.actions.insert(branch.action.clone(), text),
                false => wording.families.insert(words.family(&branch.action).to_owned(), text),
            };
        }
        for branch in &source.branches {
            if branch.told {
                wording.actions.insert(branch.action.clone(), branch.description.clone());
            }
            for name in &branch.told_params {
                let text = branch.params.get(name).and_then(|schema| schema.get("description")?.as_str());
                let key = (branch.action.clone(), name.clone());
                wording.params.extend(text.map(|text| (key, text.to_owned())));
            }
        }
    }
    Ok(wording)
}
