//! Loads `catalog/curation`: hand-written data about actions, one TOML file per family of domains.

use std::collections::BTreeMap;
use std::path::Path;

use gitlab_mcp::catalog::{
    Action, Answers, ArrayForm, Audience, BodyForm, Companion, GlossaryEntry, Json, Names, Operation, Param,
    ParamKind, Place, Risk, Scope, Version,
};
use serde::Deserialize;

use crate::error::GeneratorError;
use crate::files::{self, load_toml};
use crate::paths::is_placeholder;
use crate::rules::{BuildRules, Rules};

/// All curation files.
#[derive(Debug, Default)]
pub struct Curation {
    pub domains: BTreeMap<String, Domain>,
    /// Operations that the rules would name wrongly, as `METHOD segments` with their ids.
    pub names: BTreeMap<String, Named>,
    pub actions: BTreeMap<String, CuratedAction>,
    pub glossary: BTreeMap<String, GlossaryEntry>,
    /// Extra selections of GraphQL types, by type name.
    pub selections: BTreeMap<String, String>,
    /// Scopes of operations that path and arguments do not show, by operation as in `names`.
    pub scopes: BTreeMap<String, CuratedScope>,
    /// Prefixes of GraphQL field names in snake_case, with their domain.
    pub nouns: BTreeMap<String, String>,
    /// Passthrough operations, which no GitLab document describes; by action.
    pub direct: BTreeMap<String, Operation>,
    /// Former ids of actions, with the current ids.
    pub renamed: BTreeMap<String, String>,
    /// Ids in `usage.toml` and `pages.toml`, with the file.
    pub named_elsewhere: Vec<(&'static str, String)>,
    /// Composite actions, by id.
    pub plans: BTreeMap<String, CuratedPlan>,
    /// Rules of `rules.toml` for names, references and GraphQL.
    pub rules: BuildRules,
}

/// A plan over other actions: its target and its steps.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CuratedPlan {
    /// Unique pseudo-path that identifies the plan among operations.
    pub path: String,
    pub scope: Scope,
    /// Placeholders of the path that are filled by a parameter of another name.
    #[serde(default)]
    pub bind: BTreeMap<String, String>,
    /// Ids of required actions: without one of them the composite action cannot run.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Ids of optional actions, run if the parameters require them.
    #[serde(default)]
    pub picks: Vec<String>,
    /// Bulk: works on several objects; a single object has its own action.
    #[serde(default)]
    pub several: bool,
}

/// An id for an operation, and the file that gives it.
#[derive(Clone, Debug)]
pub struct Named {
    pub id: String,
    /// Alternative of an operation that the action already has.
    pub alternate: bool,
    /// Original spelling, for messages.
    pub written: String,
}

/// The scope of an operation, and the file that gives it.
#[derive(Clone, Debug)]
pub struct CuratedScope {
    pub scope: Scope,
    /// Original spelling of the operation, for messages.
    pub written: String,
}

/// A domain, from its family's file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Domain {
    #[serde(skip)]
    pub family: String,
    /// Nouns for the domain's object, GitLab's own term first.
    pub nouns: Vec<String>,
    /// Path prefixes of its operations. `*/labels` matches below a project, a group and the instance.
    pub paths: Vec<String>,
    /// Singleton: GET reads one object instead of a list.
    pub singular: bool,
    /// The segment after its path is a variant: `/integrations/slack` is one integration.
    pub kinds: bool,
    pub audience: Audience,
    /// Kind of response of its actions.
    pub answers: Answers,
}

/// Curation of one action.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CuratedAction {
    #[serde(skip)]
    pub family: String,
    pub summary: String,
    pub aliases: Vec<String>,
    /// Further names, each with the parameters that it implies.
    pub implied: BTreeMap<String, BTreeMap<String, Json>>,
    pub phrases: Vec<String>,
    pub related: Vec<String>,
    pub risk: Option<Risk>,
    pub audience: Option<Audience>,
    /// Overrides the domain's.
    pub answers: Option<Answers>,
    /// The duplicated action, if the ids do not show it.
    pub twin: Option<String>,
    pub example: BTreeMap<String, Json>,
    /// Parameters to omit, which only GitLab's own proxy sends.
    pub hidden: Vec<String>,
    /// Fields of the response that the action is used for.
    pub shows: Vec<String>,
    /// Parameters that add another call to this one.
    pub companions: Vec<Companion>,
    /// Note that every answer has, as the end of a sentence.
    pub answer_note: Option<String>,
    /// Parameters with any of which an answer has no such note.
    pub answer_note_without: Vec<String>,
    /// Parameters that are all given where it is shown.
    pub answer_note_with: Vec<String>,
    /// Parameters with which a list has the rows that the note says are left out.
    pub wider: BTreeMap<String, String>,
    /// Id of the action that is usually the better choice where both fit.
    pub usually: Option<String>,
    /// The most frequently set parameters, in the order in which a signature shows them.
    pub first: Vec<String>,
    /// Sets of parameters of which GitLab requires at least one; `*` is any optional one.
    pub one_of: Vec<Vec<String>>,
    /// Overrides the body encoding of the document.
    pub body: Option<BodyForm>,
    /// The GitLab version from which on it is of use, if GitLab had the operation before.
    pub since: Option<Version>,
    pub params: BTreeMap<String, CuratedParam>,
}

impl CuratedAction {
    /// Sets the texts and lists of an action that nothing else decides. Without a summary the action keeps its own.
    pub fn apply(self, action: &mut Action) {
        if !self.summary.is_empty() {
            action.summary = self.summary;
            action.curated = true;
        }
        action.phrases = self.phrases;
        action.related = self.related;
        action.usually = self.usually;
        action.shows = self.shows;
        action.companions = self.companions;
        action.answer_note = self.answer_note;
        action.answer_note_without = self.answer_note_without;
        action.answer_note_with = self.answer_note_with;
        action.wider = self.wider;
        action.implied = self.implied;
        action.example = self.example;
    }
}

/// Curation of one parameter of an action.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CuratedParam {
    pub note: Option<String>,
    pub required: Option<bool>,
    /// Place in the request; on an undocumented parameter it adds the parameter.
    #[serde(rename = "in")]
    pub place: Option<Place>,
    /// Overrides the fields of an object.
    pub fields: Vec<Param>,
    /// Overrides a wrong or missing description of the document.
    #[serde(rename = "type")]
    pub kind: Option<ParamKind>,
    #[serde(rename = "enum")]
    pub choices: Option<Vec<String>>,
    /// Encoding of a list in a query string.
    pub array: Option<ArrayForm>,
    pub default: Option<Json>,
    /// True if the default is sent when no value is given: GitLab requires one.
    pub sends_default: bool,
    /// True if GitLab writes the blanks of a title as dashes in it.
    pub dashed: bool,
    /// The GitLab version that introduced it.
    pub since: Option<Version>,
    /// Reference kind, overriding the rules.
    pub names: Option<CuratedNames>,
}

/// Reference kind in curation: `"user"`, or `"none"` for a parameter that accepts only an id.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CuratedNames {
    None,
    #[serde(untagged)]
    Some(Names),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Title of the family in the documentation.
    #[allow(dead_code)]
    title: String,
    #[serde(default)]
    domain: BTreeMap<String, Domain>,
    #[serde(default)]
    names: BTreeMap<String, String>,
    #[serde(default)]
    alternates: BTreeMap<String, String>,
    #[serde(default)]
    scopes: BTreeMap<String, Scope>,
    #[serde(default)]
    action: BTreeMap<String, CuratedAction>,
    #[serde(default)]
    selections: BTreeMap<String, String>,
    #[serde(default)]
    nouns: BTreeMap<String, String>,
    #[serde(default)]
    direct: BTreeMap<String, Operation>,
    #[serde(default)]
    plan: BTreeMap<String, CuratedPlan>,
}

/// `catalog/renamed.toml`: former ids of actions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RenamedFile {
    renamed: BTreeMap<String, String>,
}

/// Loads every file of `catalog/curation`, `renamed.toml`, and the rules that actions are built with.
pub fn load(catalog: &Path) -> Result<Curation, GeneratorError> {
    let rules = load_toml::<Rules>(&catalog.join("rules.toml"))?.into_build();
    let mut curation = Curation { rules, ..Curation::default() };
    let mut faults = Vec::new();
    for path in files::list(&catalog.join("curation"))? {
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let family = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        match family.as_str() {
            "glossary" => curation.glossary = load_toml(&path)?,
            // `toolsets.toml` describes no actions.
            "toolsets" => {}
            _ => curation.add(&family, load_toml(&path)?, &mut faults),
        }
    }
    let renamed: RenamedFile = load_toml(&catalog.join("renamed.toml"))?;
    curation.renamed = renamed.renamed;
    let usage: BTreeMap<String, Vec<String>> = load_toml(&catalog.join("usage.toml"))?;
    let pages: BTreeMap<String, BTreeMap<String, String>> = load_toml(&catalog.join("pages.toml"))?;
    let used = usage.into_values().flatten().map(|id| ("usage.toml", id));
    let pages = pages.into_values().flat_map(BTreeMap::into_values).map(|id| ("pages.toml", id));
    curation.named_elsewhere = used.chain(pages).collect();
    if faults.is_empty() { Ok(curation) } else { Err(GeneratorError::Faults(faults)) }
}

impl Curation {
    fn add(&mut self, family: &str, file: File, faults: &mut Vec<String>) {
        for (name, domain) in file.domain {
            if self.domains.insert(name.clone(), Domain { family: family.to_owned(), ..domain }).is_some() {
                faults.push(format!("domain {name} is described twice; again in {family}.toml"));
            }
        }
        let named = file.names.into_iter().map(|entry| (entry, false));
        let alternates = file.alternates.into_iter().map(|entry| (entry, true));
        for ((written, id), alternate) in named.chain(alternates) {
            for key in keys(&written) {
                let named = Named { id: id.clone(), alternate, written: format!("{family}.toml: {written}") };
                if self.names.insert(key, named).is_some() {
                    faults.push(format!("{written} is named twice; again in {family}.toml"));
                }
            }
        }
        for (written, scope) in file.scopes {
            for key in keys(&written) {
                let curated = CuratedScope { scope, written: format!("{family}.toml: {written}") };
                if self.scopes.insert(key, curated).is_some() {
                    faults.push(format!("{written} has two scopes; again in {family}.toml"));
                }
            }
        }
        self.selections.extend(file.selections);
        self.nouns.extend(file.nouns);
        self.direct.extend(file.direct);
        self.plans.extend(file.plan);
        for (id, action) in file.action {
            let action = CuratedAction { family: family.to_owned(), ..action };
            if self.actions.insert(id.clone(), action).is_some() {
                faults.push(format!("action {id} is described twice; again in {family}.toml"));
            }
        }
    }
}

/// Expands a path pattern: `*/labels` to the paths below a project, a group and the instance.
pub fn expand_path(pattern: &str) -> Vec<String> {
    match pattern.strip_prefix("*/") {
        Some(rest) => ["/projects/:id/", "/groups/:id/", "/admin/", "/"]
            .iter()
            .map(|root| format!("{root}{rest}"))
            .collect(),
        None => vec![pattern.to_owned()],
    }
}

/// Comparable form of an operation: its method and segments.
pub fn key(method: &str, path: &str) -> String {
    // Unlike in domain matching, `-` and old spellings are significant here.
    // Nor does it matter if a placeholder within a segment is a glob.
    let segments: Vec<String> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| if is_placeholder(segment) { "{}".to_owned() } else { segment.replace('*', ":") })
        .collect();
    format!("{method} /{}", segments.join("/"))
}

fn keys(written: &str) -> Vec<String> {
    let (method, pattern) = written.split_once(' ').unwrap_or(("", written));
    expand_path(pattern).iter().map(|path| key(method, path)).collect()
}
