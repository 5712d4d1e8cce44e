//! Groups operations into actions: merges their parameters and adds risk and texts.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{
    Action, Audience, Base, GlossaryEntry, Interface, Method, Names, Operation, Param, ParamKind, Piece,
    Place, Plan, Scope, pieces,
};

use crate::base_risk::risk;
use crate::curation::{CuratedAction, CuratedParam, CuratedPlan, CuratedScope, Curation, Domain, Named, key};
use crate::duplicate_risk::share_risks;
use crate::error::GeneratorError;
use crate::graphql;
use crate::member::Member;
use crate::naming::Namer;
use crate::openapi::RawOperation;
use crate::paths::{self, binding};
use crate::references;
use crate::summary::generate_summary;

/// Builds the actions: every operation in exactly one action, sorted by id. Fails with all faults at once.
pub fn build(
    operations: &[RawOperation],
    graphql: graphql::SchemaOperations,
    used_names: &[&str],
    curation: &Curation,
) -> Result<Vec<Action>, GeneratorError> {
    let namer = Namer::new(curation);
    let mut faults = unused_names(operations, used_names, curation, &namer);
    faults.extend(graphql.faults);
    let mut groups: BTreeMap<String, Vec<Member>> = BTreeMap::new();
    for raw in operations {
        match namer.name(raw) {
            Ok(name) => {
                let raw =
                    namer.curated(raw).map_or_else(|| raw.clone(), |named| renamed_placeholders(raw, named));
                let path = curation.rules.naming.with_globs(raw.method, &raw.path);
                let raw = RawOperation { path, ..raw };
                groups.entry(name.id).or_default().push(member(&raw, name.alternate, curation));
            }
            Err(fault) => faults.push(fault),
        }
    }
    for (id, member) in own_members(curation) {
        groups.entry(id).or_default().push(member);
    }
    let rest: BTreeSet<String> = groups.keys().cloned().collect();
    let mut actions = Vec::new();
    for (id, members) in groups {
        actions.push(build_action(&id, members, curation, &mut faults));
    }
    for (id, members) in graphql.groups {
        let stands = rest.contains(&id).then(|| id.clone());
        let id = if stands.is_some() { twin_id(&members) } else { id };
        let made = build_action(&id, members, curation, &mut faults);
        actions.push(Action { twin: stands.or(made.twin.clone()), ..made });
    }
    share_risks(&mut actions);
    actions.sort_by(|a, b| a.id.cmp(&b.id));
    let twice = actions.windows(2).filter_map(|pair| match pair {
        [a, b] if a.id == b.id => Some(format!("two actions are called {}", a.id)),
        _ => None,
    });
    faults.extend(twice);
    faults.extend(unknown_actions(&actions, curation));
    if faults.is_empty() { Ok(actions) } else { Err(GeneratorError::Faults(faults)) }
}

/// Operations described by curation only: passthrough requests and composite actions, by action.
fn own_members(curation: &Curation) -> impl Iterator<Item = (String, Member)> {
    let direct = curation
        .direct
        .iter()
        .map(|(id, operation)| (id.clone(), Member { operation: operation.clone(), params: Vec::new() }));
    direct.chain(curation.plans.iter().map(|(id, plan)| (id.clone(), plan_member(plan))))
}

/// Actions that need no file of GitLab's, before rules are applied.
pub fn of_curation(curation: &Curation, faults: &mut Vec<String>) -> Vec<Action> {
    own_members(curation).map(|(id, member)| build_action(&id, vec![member], curation, faults)).collect()
}

/// Applies parameter notes from curation to an action. A note on a missing parameter is a fault.
pub fn curate_notes(action: &mut Action, written: &CuratedAction, faults: &mut Vec<String>) {
    for (name, curated) in &written.params {
        match action.params.iter_mut().find(|param| param.name == *name) {
            Some(param) => param.note = curated.note.clone().or(param.note.take()),
            None => {
                faults.push(format!("{} has no parameter {name}: only `generate` can add one", action.id))
            }
        }
    }
}

/// Id of a GraphQL duplicate of a REST action: `graphql.` and its preferred field.
fn twin_id(members: &[Member]) -> String {
    let preferred = members.iter().map(|member| &member.operation).min_by_key(|o| preference(o));
    let field =
        preferred.and_then(|operation| operation.graphql.as_ref()).map(|graphql| graphql.field.as_str());
    let words = field.unwrap_or_default().split('.').flat_map(graphql::snake).collect::<Vec<_>>();
    format!("graphql.{}", words.join("_"))
}

fn build_action(id: &str, mut members: Vec<Member>, curation: &Curation, faults: &mut Vec<String>) -> Action {
    mark_alternates(&mut members);
    faults.extend(collisions(id, &members));
    action(id, members, curation, faults)
}

fn unused_names(
    operations: &[RawOperation],
    used_names: &[&str],
    curation: &Curation,
    namer: &Namer,
) -> Vec<String> {
    let mut used: BTreeSet<&str> =
        operations.iter().filter_map(|raw| namer.curated(raw)).map(|named| named.written.as_str()).collect();
    let scopes = operations.iter().filter_map(|raw| curated_scope(raw, curation));
    used.extend(scopes.map(|curated| curated.written.as_str()));
    used.extend(used_names);
    let mut written: BTreeSet<&str> = curation.names.values().map(|named| named.written.as_str()).collect();
    written.extend(curation.scopes.values().map(|curated| curated.written.as_str()));
    written.difference(&used).map(|written| format!("{written} names no operation")).collect()
}

/// Faults of curation that names absent actions, each with its file.
pub fn unknown_actions(actions: &[Action], curation: &Curation) -> Vec<String> {
    let ids: BTreeSet<&str> = actions.iter().map(|action| action.id.as_str()).collect();
    let mut faults: Vec<String> = Vec::new();
    for (id, curated) in &curation.actions {
        let place = format!("{}.toml: {id}", curated.family);
        if !ids.contains(id.as_str()) {
            faults.push(format!("{place} has a table, but no operation makes it"));
        }
        let one = |relation: &'static str, other: &Option<String>| {
            other.iter().map(|other| (relation, other.clone())).collect::<Vec<_>>()
        };
        let related = curated.related.iter().map(|related| ("is related to", related.clone()));
        let companions = curated.companions.iter().map(|other| ("has the companion", other.action.clone()));
        let plan = curation.plans.get(id).into_iter().flat_map(|plan| plan.needs.iter().chain(&plan.picks));
        let named = related
            .chain(companions)
            .chain(one("is a twin of", &curated.twin))
            .chain(one("is usually", &curated.usually))
            .chain(plan.map(|part| ("is made of", part.clone())));
        let absent = named.filter(|(_, other)| !ids.contains(other.as_str()));
        faults.extend(
            absent.map(|(relation, other)| format!("{place} {relation} {other}, which there is not")),
        );
        let aliases = curated.aliases.iter().filter(|alias| ids.contains(alias.as_str()));
        faults.extend(aliases.map(|alias| format!("{place} has the alias {alias}, which is an action")));
    }
    for (file, id) in &curation.named_elsewhere {
        if !ids.contains(id.as_str()) {
            faults.push(format!("{file}: there is no action {id}"));
        }
    }
    for (former, current) in &curation.renamed {
        if !ids.contains(current.as_str()) {
            faults.push(format!("renamed.toml: {former} is called {current}, which no operation makes"));
        }
        if ids.contains(former.as_str()) {
            faults.push(format!("renamed.toml: {former} is called {current} and is still an action"));
        }
    }
    faults
}

/// Curated scope of a REST operation.
fn curated_scope<'a>(raw: &RawOperation, curation: &'a Curation) -> Option<&'a CuratedScope> {
    curation.scopes.get(&key(raw.method.name(), &raw.path))
}

/// The operation with the placeholders of its name in curation. The document gives a path one name for each placeholder,
/// even where a method reads another thing there: an issue, and not its place in an epic.
fn renamed_placeholders(raw: &RawOperation, named: &Named) -> RawOperation {
    let written: Vec<&str> = named.written.split_once(' ').map_or("", |(_, path)| path).split('/').collect();
    let segments: Vec<&str> = raw.path.split('/').collect();
    if written.len() != segments.len() {
        return raw.clone();
    }
    let renames: Vec<(&str, &str)> = (segments.iter().zip(&written))
        .filter_map(|(is, wanted)| Some((is.strip_prefix(':')?, wanted.strip_prefix(':')?)))
        .filter(|(is, wanted)| is != wanted && *wanted != "id")
        .collect();
    let mut raw = raw.clone();
    for (is, wanted) in renames {
        raw.path = raw.path.replace(&format!("/:{is}"), &format!("/:{wanted}"));
        for param in raw.path_params.iter_mut().filter(|param| param.name == is) {
            param.name = wanted.to_owned();
        }
    }
    raw
}

fn member(raw: &RawOperation, alternate: bool, curation: &Curation) -> Member {
    let (bind, mut params) = path_params(raw);
    params.extend(raw.params.iter().filter(|param| !bind.contains_key(&param.name)).cloned());
    let operation = Operation {
        method: raw.method,
        path: raw.path.clone(),
        scope: curated_scope(raw, curation).map_or_else(|| paths::scope(&raw.path), |curated| curated.scope),
        bind: bind.into_iter().filter(|(placeholder, param)| placeholder != param).collect(),
        body: raw.body,
        alternate,
        deprecated: raw.deprecated,
        since: raw.since,
        until: raw.until,
        ..Operation::default()
    };
    Member { operation, params: deduplicate(params) }
}

/// The operation of a plan, which is not one of GitLab's. Its parameters are in curation only.
fn plan_member(plan: &CuratedPlan) -> Member {
    let operation = Operation {
        path: plan.path.clone(),
        scope: plan.scope,
        bind: plan.bind.clone(),
        any: Some(Interface::Plan),
        ..Operation::default()
    };
    Member { operation, params: Vec::new() }
}

/// Bindings of the path's placeholders to parameters, and those parameters.
fn path_params(raw: &RawOperation) -> (BTreeMap<String, String>, Vec<Param>) {
    let mut bind = BTreeMap::new();
    let mut params = Vec::new();
    let mut before = String::new();
    let mut position = 0;
    for piece in pieces(&raw.path) {
        match piece {
            Piece::Text(text) => {
                let words: Vec<&str> =
                    text.split('/').filter(|word| !word.is_empty() && *word != "-").collect();
                position += words.len();
                before = words.last().map_or(before, |word| (*word).to_owned());
            }
            Piece::Placeholder { name, .. } => {
                let bound = binding(name, &before, position);
                params.push(path_param(raw, name, &before, &bound));
                bind.insert(name.to_owned(), bound.param);
                position += 1;
            }
        }
    }
    (bind, params)
}

fn path_param(raw: &RawOperation, placeholder: &str, before: &str, bound: &paths::Binding) -> Param {
    let listed = raw.path_params.iter().find(|param| param.name == placeholder);
    // GitLab responds "id is invalid" to a path if it accepts only a number (`requires :id, type: Integer`).
    let is_number = bound.param == "fullPath" && listed.is_some_and(|param| param.kind.base == Base::Integer);
    let names = match before {
        "projects" if is_number => Some(Names::Project),
        "groups" if is_number => Some(Names::Group),
        _ => bound.names,
    };
    let kind = match bound.param.as_str() {
        "fullPath" => ParamKind { base: Base::String, many: false },
        "iid" => ParamKind { base: Base::Integer, many: false },
        _ => listed.map_or(ParamKind::default(), |param| ParamKind { many: false, ..param.kind }),
    };
    Param {
        name: bound.param.clone(),
        place: Place::Path,
        kind,
        choices: listed.map(|param| param.choices.clone()).unwrap_or_default(),
        required: true,
        names,
        ..Param::default()
    }
}

/// Keeps the first parameter of each name: a parameter that fills the path may be listed again elsewhere.
fn deduplicate(params: Vec<Param>) -> Vec<Param> {
    let mut kept: Vec<Param> = Vec::new();
    for param in params {
        if !kept.iter().any(|known| known.name == param.name) {
            kept.push(param);
        }
    }
    kept
}

/// Marks alternate spellings: `/-/` or `/services/` in the path, PATCH next to PUT of one path.
fn mark_alternates(members: &mut [Member]) {
    members.sort_by_key(|member| preference(&member.operation));
    let mut seen: BTreeSet<(Method, Vec<String>)> = BTreeSet::new();
    let rest = |member: &&mut Member| !member.operation.alternate && member.operation.graphql.is_none();
    for member in members.iter_mut().filter(rest) {
        let operation = &mut member.operation;
        let method = if operation.method == Method::Patch { Method::Put } else { operation.method };
        operation.alternate = !seen.insert((method, paths::segments(&operation.path)));
    }
    members.sort_by_key(|member| preference(&member.operation));
}

fn preference(operation: &Operation) -> (bool, Scope, bool, bool, bool, String, Method, String) {
    (
        operation.alternate,
        operation.scope,
        operation.deprecated,
        operation.path.contains("/-/"),
        paths::is_old_spelling(&operation.path),
        operation.path.clone(),
        operation.method,
        operation.to_string(),
    )
}

/// Faults for operations of one action that have the same scope: a call could not select one.
fn collisions(id: &str, members: &[Member]) -> Vec<String> {
    let mut faults = Vec::new();
    let choices: Vec<&Operation> =
        members.iter().map(|member| &member.operation).filter(|o| !o.alternate).collect();
    for (index, operation) in choices.iter().enumerate() {
        let twin = choices.iter().take(index).find(|other| other.scope == operation.scope);
        if let Some(twin) = twin {
            faults.push(format!("{id} is both {twin} and {operation}: name one of them in curation"));
        }
    }
    faults
}

fn action(id: &str, mut members: Vec<Member>, curation: &Curation, faults: &mut Vec<String>) -> Action {
    let domain_name = id.split('.').next().unwrap_or_default();
    let verb = id.split('.').nth(1).unwrap_or_default();
    let domain = curation.domains.get(domain_name);
    if domain.is_none() {
        faults.push(format!("{id} is of a domain that no file of curation describes"));
    }
    let written = curation.actions.get(id).cloned().unwrap_or_default();
    let mut params = params(id, &members, &written, curation, faults);
    own_types(&mut members, &params);
    let mut operations: Vec<Operation> = members.into_iter().map(|member| member.operation).collect();
    for operation in &mut operations {
        operation.body = written.body.unwrap_or(operation.body);
        operation.since = operation.since.max(written.since);
    }
    let audience = written.audience.unwrap_or_else(|| audience(domain, &operations));
    let plan = curation.plans.get(id);
    if audience == Audience::Person {
        // The names in the items of a plan are resolved by its steps, each in its own place.
        let named = params.iter_mut().filter(|param| plan.is_none() || param.place == Place::Path);
        references::assign(domain_name, named, &written, &curation.rules.references);
        references::add_place(&mut params);
    }
    let noun = domain
        .and_then(|domain| domain.nouns.first().cloned())
        .unwrap_or_else(|| domain_name.replace('_', " "));
    let one_of = written.one_of.iter().map(|names| expanded(names, &params)).collect();
    // `rules.toml` sets the rest once all actions are known.
    let mut action = Action {
        id: id.to_owned(),
        summary: generate_summary(&noun, verb, &operations),
        risk: written.risk.unwrap_or_else(|| risk(verb, &operations, &curation.rules.naming)),
        audience,
        answers: written.answers.or(domain.map(|domain| domain.answers)).unwrap_or_default(),
        operations,
        params,
        aliases: aliases(id, &written, curation),
        twin: written.twin.clone(),
        plan: plan.map(|plan| Plan {
            needs: plan.needs.clone(),
            picks: plan.picks.clone(),
            several: plan.several,
        }),
        one_of,
        ..Action::default()
    };
    written.apply(&mut action);
    action
}

/// Expands `*` in a set of parameters to every optional parameter that describes the change.
fn expanded(names: &[String], params: &[Param]) -> Vec<String> {
    if !names.iter().any(|name| name == "*") {
        return names.to_vec();
    }
    let says = |param: &&Param| !param.required && !matches!(param.place, Place::Path | Place::Selector);
    params.iter().filter(says).map(|param| param.name.clone()).collect()
}

/// Curated aliases and former ids.
pub fn aliases(id: &str, written: &CuratedAction, curation: &Curation) -> Vec<String> {
    let former = curation.renamed.iter().filter(|(_, current)| *current == id).map(|(former, _)| former);
    written.aliases.iter().chain(written.implied.keys()).chain(former).cloned().collect()
}

/// The domain's audience; requests by Workhorse to authorize an upload are for machines.
fn audience(domain: Option<&Domain>, operations: &[Operation]) -> Audience {
    if operations.iter().all(|operation| operation.path.ends_with("/authorize")) {
        Audience::Machine
    } else {
        domain.map_or(Audience::Person, |domain| domain.audience)
    }
}

/// Merges the parameters of all operations that can be selected by name, and adds `scope` if there is a choice.
fn params(
    id: &str,
    members: &[Member],
    written: &CuratedAction,
    curation: &Curation,
    faults: &mut Vec<String>,
) -> Vec<Param> {
    let chosen: Vec<&Member> = members.iter().filter(|member| !member.operation.alternate).collect();
    let mut params: Vec<Param> = Vec::new();
    for member in &chosen {
        for param in &member.params {
            match params.iter_mut().find(|known| known.name == param.name) {
                Some(known) => {
                    let objects = known.kind.base == Base::Object && !have_like_fields(known, param);
                    let other_name = known.wire != param.wire && param.place != Place::Path;
                    let gids = known.gid.is_some() != param.gid.is_some();
                    if gids || other_name || objects {
                        faults.push(format!(
                            "{id}: {} is of two kinds: name one of its operations",
                            param.name
                        ));
                    }
                    merge(known, param);
                }
                None => params.push(param.clone()),
            }
        }
    }
    for param in &mut params {
        let takes = |member: &&&Member| member.params.iter().any(|known| known.name == param.name);
        let scopes: Vec<Scope> = chosen.iter().filter(takes).map(|member| member.operation.scope).collect();
        for field in &mut param.fields {
            let has = |member: &&&Member| {
                let own = member.params.iter().find(|known| known.name == param.name);
                own.is_some_and(|own| own.fields.iter().any(|known| known.name == field.name))
            };
            let with: Vec<Scope> = chosen.iter().filter(has).map(|member| member.operation.scope).collect();
            if with.len() < scopes.len() {
                field.scopes = with;
            }
        }
        if scopes.len() < chosen.len() {
            param.scopes = scopes;
        }
    }
    if chosen.len() > 1 {
        add_selector(&mut params, &chosen);
    }
    let is_ours = curation.direct.contains_key(id) || curation.plans.contains_key(id);
    curate_all(id, &mut params, written, is_ours, faults);
    let unknown = written.first.iter().chain(written.one_of.iter().flatten());
    let unknown = unknown.filter(|name| *name != "*" && !params.iter().any(|param| param.name == **name));
    faults.extend(unknown.map(|name| format!("{id} has no parameter {name}, which its curation names")));
    order(&mut params, &curation.glossary, &written.first);
    params
}

/// Sorts parameters: required, then those of curation, then frequently set ones, then the document's order; pagination last.
fn order(params: &mut [Param], glossary: &BTreeMap<String, GlossaryEntry>, first: &[String]) {
    const PAGES: [&str; 4] = ["page", "per_page", "cursor", "pagination"];
    params.sort_by_key(|param| {
        let is_first =
            param.place == Place::Selector || glossary.get(&param.name).is_some_and(|entry| entry.first);
        let is_conditional = param.required && !param.scopes.is_empty();
        let is_page = PAGES.contains(&param.name.as_str());
        let place = first.iter().position(|name| *name == param.name).unwrap_or(first.len());
        (!param.required, is_conditional, is_page, param.place != Place::Path, place, !is_first)
    });
}

/// Records the GraphQL type of a variable, and the type of its global ids, where they differ from the action's parameter.
fn own_types(members: &mut [Member], params: &[Param]) {
    for member in members {
        let Some(graphql) = &mut member.operation.graphql else { continue };
        let known = |name: &str| params.iter().find(|param| param.name == name).map(|param| &param.graphql);
        let other =
            member.params.iter().filter(|own| known(&own.name).is_some_and(|kind| *kind != own.graphql));
        graphql.types.extend(other.filter_map(|own| Some((own.name.clone(), own.graphql.clone()?))));
        let gid = |name: &str| params.iter().find(|param| param.name == name).map(|param| &param.gid);
        let other = member.params.iter().filter(|own| gid(&own.name).is_some_and(|gid| *gid != own.gid));
        graphql.gids.extend(other.filter_map(|own| Some((own.name.clone(), own.gid.clone()?))));
    }
}

fn curate_all(
    id: &str,
    params: &mut Vec<Param>,
    written: &CuratedAction,
    is_ours: bool,
    faults: &mut Vec<String>,
) {
    let unknown = written.hidden.iter().filter(|name| !params.iter().any(|param| param.name == **name));
    faults.extend(unknown.map(|name| format!("{id} has no parameter {name}, which its curation hides")));
    params.retain(|param| !written.hidden.contains(&param.name));
    for (name, curated) in &written.params {
        if let Some(param) = params.iter_mut().find(|param| param.name == *name) {
            curate(param, curated);
        } else if curated.place.is_some() {
            let mut added = Param { name: name.clone(), undocumented: !is_ours, ..Param::default() };
            curate(&mut added, curated);
            params.push(added);
        } else {
            faults.push(format!("{id} has no parameter {name}, which its curation describes"));
        }
    }
}

fn curate(param: &mut Param, curated: &CuratedParam) {
    param.place = curated.place.unwrap_or(param.place);
    if !curated.fields.is_empty() {
        param.fields = curated.fields.clone();
    }
    param.note = curated.note.clone().or(param.note.take());
    param.required = curated.required.unwrap_or(param.required);
    param.kind = curated.kind.unwrap_or(param.kind);
    param.array = curated.array.unwrap_or(param.array);
    param.since = curated.since.or(param.since);
    param.choices = curated.choices.clone().unwrap_or_else(|| param.choices.clone());
    param.default = curated.default.clone().or(param.default.take());
    param.sends_default = curated.sends_default;
    param.dashed = curated.dashed;
}

/// True if the common fields of two objects have the same types.
fn have_like_fields(one: &Param, other: &Param) -> bool {
    one.fields.iter().all(|field| {
        let twin = other.fields.iter().find(|twin| twin.name == field.name);
        twin.is_none_or(|twin| {
            twin.kind == field.kind && twin.gid == field.gid && have_like_fields(field, twin)
        })
    })
}

/// Merges a parameter of two operations: accepts the values of both; required only if both require it.
fn merge(known: &mut Param, other: &Param) {
    known.required &= other.required;
    if known.kind != other.kind {
        known.kind = widen(known.kind, other.kind);
    }
    if known.choices.is_empty() || other.choices.is_empty() {
        known.choices.clear();
    }
    for choice in &other.choices {
        if !known.choices.is_empty() && !known.choices.contains(choice) {
            known.choices.push(choice.clone());
        }
    }
    // The minimum version is that of the operation that has had the parameter longer.
    known.since = known.since.zip(other.since).map(|(one, other)| one.min(other));
    if known.default != other.default {
        known.default = None;
    }
    for field in &other.fields {
        if !known.fields.iter().any(|known| known.name == field.name) {
            known.fields.push(field.clone());
        }
    }
}

fn widen(one: ParamKind, other: ParamKind) -> ParamKind {
    let many = one.many || other.many;
    let base = match (one.base, other.base) {
        (a, b) if a == b => a,
        (Base::Integer | Base::IntegerOrString, Base::String | Base::IntegerOrString)
        | (Base::String | Base::IntegerOrString, Base::Integer | Base::IntegerOrString) => {
            Base::IntegerOrString
        }
        (Base::Any, known) | (known, Base::Any) => known,
        (Base::Date, Base::DateTime) | (Base::DateTime, Base::Date) => Base::DateTime,
        (Base::String, known) | (known, Base::String) => match known {
            Base::Date | Base::DateTime => known,
            _ => Base::String,
        },
        _ => Base::Any,
    };
    ParamKind { base, many }
}

/// True if all of the operations have the same required parameters, so that only `scope` can select one.
fn needs_scope(chosen: &[&Member]) -> bool {
    let required = |member: &&Member| -> BTreeSet<String> {
        member.params.iter().filter(|param| param.required).map(|param| param.name.clone()).collect()
    };
    let sets: BTreeSet<BTreeSet<String>> = chosen.iter().map(required).collect();
    sets.len() == 1 && sets.iter().all(|names| !names.contains("fullPath"))
}

/// Parameter that selects the operation: `scope`, or `within` if GitLab has a `scope` of its own.
fn add_selector(params: &mut Vec<Param>, chosen: &[&Member]) {
    let is_taken = params.iter().any(|param| param.name == "scope");
    let at = params.iter().take_while(|param| param.place == Place::Path).count();
    let selector = Param {
        name: if is_taken { "within" } else { "scope" }.to_owned(),
        place: Place::Selector,
        choices: chosen.iter().map(|member| member.operation.scope.name().to_owned()).collect(),
        required: needs_scope(chosen),
        ..Param::default()
    };
    params.insert(at, selector);
}
