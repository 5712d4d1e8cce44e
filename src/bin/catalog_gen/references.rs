//! Reference kinds of parameters: which accept a name or path where GitLab expects an id.

use gitlab_mcp::catalog::{Base, Names, Param, ParamKind, Place};

use crate::curation::{CuratedAction, CuratedNames};
use crate::graphql;
use crate::rules::ReferenceRules;

/// Sets the reference kind of each parameter; curation overrides it.
pub fn assign<'a>(
    domain: &str,
    params: impl Iterator<Item = &'a mut Param>,
    written: &CuratedAction,
    rules: &ReferenceRules,
) {
    for param in params {
        match written.params.get(&param.name).and_then(|curated| curated.names) {
            Some(CuratedNames::None) => param.names = None,
            Some(CuratedNames::Some(names)) => set(param, names),
            None => apply_rule(domain, param, rules),
        }
    }
}

/// Adds `fullPath` if names are looked up within a project or group that the operation has no parameter for, and `iid`
/// if both together identify its object.
pub fn add_place(params: &mut Vec<Param>) {
    let has = |params: &[Param], name: &str| params.iter().any(|param| param.name == name);
    if has(params, "fullPath") || !params.iter().any(needs_place) {
        return;
    }
    let at = params.iter().take_while(|param| param.required).count();
    let selector = |name: &str, base: Base, note: &str| Param {
        name: name.to_owned(),
        place: Place::Selector,
        kind: ParamKind { base, many: false },
        note: Some(note.to_owned()),
        ..Param::default()
    };
    if let Some(param) = addressed(params) {
        let one_mark = param.names != Some(Names::Issuable);
        let alternative = if one_mark { "its id; or say `fullPath` and `iid`" } else { "its global id" };
        param
            .note
            .get_or_insert_with(|| format!("A reference such as {}, or {alternative}.", forms(param.names)));
        if one_mark && !has(params, "iid") {
            params.insert(at, selector("iid", Base::Integer, "With `fullPath`: the number people see."));
        }
    }
    params.insert(
        at,
        selector("fullPath", Base::String, "Project or group in which the names in this call are looked up."),
    );
}

/// Example references of a kind.
fn forms(names: Option<Names>) -> &'static str {
    match names {
        Some(Names::Issue) => "`group/project#12`",
        Some(Names::MergeRequest) => "`group/project!45`",
        Some(Names::Epic) => "`group&7`",
        Some(Names::WorkItem) => "`group/project#12` or `group&7`",
        _ => "`group/project#12`, `group/project!45` or `group&7`",
    }
}

/// True if references of the parameter are resolved within a project or group.
fn needs_place(param: &Param) -> bool {
    param.names.is_some_and(|names| !names.is_global()) || param.fields.iter().any(needs_place)
}

/// The parameter with the iid of the object that an action works on.
fn addressed(params: &mut [Param]) -> Option<&mut Param> {
    params
        .iter_mut()
        .find(|param| param.required && !param.kind.many && param.names.is_some_and(Names::is_tracked))
}

fn apply_rule(domain: &str, param: &mut Param, rules: &ReferenceRules) {
    for field in &mut param.fields {
        apply_rule(domain, field, rules);
    }
    if let Some(kind) = &param.gid {
        if let Some(names) = rules.global_ids.get(kind) {
            set(param, *names);
        }
        return;
    }
    if param.kind.base == Base::Integer && rules.roles.contains(&graphql::snake(&param.name).join("_")) {
        param.kind.base = Base::Role;
        return;
    }
    // GraphQL's spelling is `milestoneId`; a single text is compared literally, and texts in a list are ids that remain
    // texts.
    let name = graphql::snake(&param.name).join("_");
    let is_text = name != param.name && !matches!(param.kind.base, Base::Integer | Base::IntegerOrString);
    if is_text && !param.kind.many {
        return;
    }
    let is_foreign = rules.foreign_domains.iter().any(|foreign| foreign == domain);
    match rules.params.iter().find(|rule| rule.fits(&name, domain)) {
        Some(rule) if is_text => param.names = Some(rule.names),
        Some(rule) if !is_foreign => set(param, rule.names),
        _ => {}
    }
}

fn set(param: &mut Param, names: Names) {
    param.names = Some(names);
    if matches!(param.kind.base, Base::Integer | Base::String | Base::Any) && !names.is_titled() {
        param.kind = ParamKind { base: Base::IntegerOrString, ..param.kind };
    }
}
