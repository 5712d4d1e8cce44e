//! The tools of one client's session: the listed tools, their sources, and the active toolset.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::dynamic::{EXECUTE, FIND, READ};
use super::entry::SurfaceEntry;
use super::schema::{Source, Unmatched};
use super::settings::{StructuredContent, SurfaceKind, SurfaceSettings};
use super::tool_definition::ToolSpec;
use super::toolset::{ACTIVATE, Activation};
use super::wording::reword;
use super::{dynamic, individual, meta, names, toolset, wording};
use crate::catalog::{Action, CatalogError, Risk};
use crate::tools::{self, Answer, ErrorKind, InstanceLabel, ToolError, Tools, name_tools, rewrite_calls};

/// Maximum number of tools on the surface `toolset`, with those that are always listed.
const MAX_TOOLSET_TOOLS: usize = 20;
/// Maximum size of an active toolset's tools; the others take the rest of 25 kB.
const MAX_TOOLSET_BYTES: usize = 18_000;

/// About how many bytes of schemas a page of the list holds; one tool more than fit, at most.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The tools of one client's session.
#[derive(Debug, Default)]
pub struct Surface {
    pub(super) settings: SurfaceSettings,
    /// The tools behind the surface; none if there is only the pair.
    pub(super) tools: Option<Arc<Tools>>,
    /// The toolset that is taken up.
    active: Mutex<Option<String>>,
}

/// A part of the list of tools.
#[derive(Debug)]
pub struct ToolPage {
    pub tools: Vec<ToolSpec>,
    /// Cursor of the next page.
    pub next: Option<String>,
}

/// Why there is no such page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("invalid cursor: {0}")]
    Cursor(String),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

impl Surface {
    /// The surface of these settings over these tools. Nothing is made before it is asked for, except where
    /// descriptions are overridden: finds have them too.
    pub fn new(settings: SurfaceSettings, tools: Arc<Tools>) -> Surface {
        reword(&tools, &settings);
        Surface { settings, tools: Some(tools), active: Mutex::default() }
    }

    pub fn kind(&self) -> SurfaceKind {
        self.settings.kind
    }

    /// True if a client of this name gets answers as structured content too.
    pub fn gives_structure(&self, client: Option<&str>) -> bool {
        self.settings.structured.is_given_to(client)
    }

    /// True if clients differ in what they get.
    pub fn tells_clients_apart(&self) -> bool {
        self.settings.structured == StructuredContent::Auto
    }

    /// Instructions for the model: how the tools work together.
    pub fn instructions(&self) -> String {
        dynamic::instructions(self.settings.kind, self.tools.as_deref())
    }

    /// The instances that calls may name; none if there is one.
    pub(super) fn instances(&self) -> &[InstanceLabel] {
        self.tools.as_deref().map_or(&[], Tools::instances)
    }

    /// The tools from a cursor on, as many as a page holds, of those whose names are offered.
    pub fn page(&self, cursor: Option<&str>, offers: &dyn Fn(&str) -> bool) -> Result<ToolPage, PageError> {
        let mut entries = self.entries()?;
        entries.retain(|entry| offers(&self.name(entry)));
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let at = cursor.parse().ok().filter(|at| (1..entries.len()).contains(at));
                at.ok_or_else(|| PageError::Cursor(cursor.to_owned()))?
            }
        };
        let mut page = ToolPage { tools: Vec::new(), next: None };
        let mut bytes = 0;
        for (at, entry) in entries.iter().enumerate().skip(start) {
            if bytes > PAGE_BYTES {
                page.next = Some(at.to_string());
                break;
            }
            let spec = self.spec(entry)?;
            bytes += spec.bytes();
            page.tools.push(spec);
        }
        Ok(page)
    }

    /// True if a tool of that name can be called. The pair is callable on every surface.
    pub fn has(&self, tool: &str) -> bool {
        let Some(tools) = self.tools.as_deref() else { return [FIND.name, EXECUTE.name].contains(&tool) };
        match (tool, self.settings.kind) {
            (tool, _) if [FIND.name, EXECUTE.name].contains(&tool) => true,
            (tool, _) if tool == READ.name => self.settings.has_read_tool(),
            (_, SurfaceKind::Dynamic) => false,
            (tool, SurfaceKind::Meta) => meta::find_tool(tools, tool, self.settings.split)
                .is_some_and(|(family, side)| tools.offers(&side.tool(&family))),
            (ACTIVATE, SurfaceKind::Toolset) => true,
            (tool, SurfaceKind::Individual | SurfaceKind::Toolset) => {
                individual::number(tools.catalog(), tool).is_some()
            }
        }
    }

    /// The active toolset, `default` if none is; none on other surfaces.
    pub fn active_toolset(&self) -> Option<String> {
        let is_toolset = self.settings.kind == SurfaceKind::Toolset;
        is_toolset.then(|| self.active().unwrap_or_else(|| toolset::DEFAULT.to_owned()))
    }

    /// Activates a toolset in place of the one before, and lists its tools.
    pub fn activate(&self, request: &Activation) -> Result<Answer, ToolError> {
        let Some(tools) = self.tools.as_deref() else {
            return Err(ToolError::new(ErrorKind::InvalidParams, "there are no toolsets"));
        };
        let chosen = toolset::resolve_toolset(tools, &request.toolset_name)?;
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = match chosen.as_deref() {
            Some(name) => self.everyday_entries(name)?,
            None => Vec::new(),
        };
        let answer = toolset::answer(tools, active.as_deref(), chosen.as_deref(), listed)?;
        *active = chosen;
        Ok(answer)
    }

    /// The answer, with the calls in it as calls of this surface's tools.
    pub fn rewrite_answer(&self, outcome: Result<Answer, ToolError>) -> Result<Answer, ToolError> {
        let Some(tools) = self.tools.as_deref() else { return outcome };
        let outcome = match self.settings.kind {
            SurfaceKind::Meta | SurfaceKind::Individual => {
                let own = |tool: &str, call: &Map<String, Value>| self.translate_to_own(tools, tool, call);
                rewrite_calls(outcome, &own).map(|mut answer| {
                    name_tools(&mut answer, &own, &|id| self.tool_for(tools, id));
                    answer
                })
            }
            SurfaceKind::Dynamic | SurfaceKind::Toolset if self.settings.read_tool => {
                rewrite_calls(outcome, &|tool, call| read_call(tools, tool, call))
            }
            SurfaceKind::Dynamic | SurfaceKind::Toolset => outcome,
        };
        // Arguments that no tool takes are refused here, and repeated.
        outcome.map_err(|error| tools.bounded(error))
    }

    /// Warnings on overrides that change nothing here.
    pub fn warnings(&self) -> Result<Vec<String>, CatalogError> {
        if self.settings.overrides.is_empty() {
            return Ok(Vec::new());
        }
        let spellings = self.spellings();
        let mut unmatched = Unmatched::new(&self.settings.overrides);
        for entry in self.every_entry()? {
            unmatched.look_at(&self.source(&entry)?, &spellings);
        }
        // Finds describe the actions that are no tool here.
        if let Some(tools) = self.tools.as_deref() {
            for source in wording::sources(tools)? {
                unmatched.look_at(&source?, &spellings);
            }
        }
        Ok(unmatched.warnings(self.settings.kind.name()))
    }

    pub(super) fn active(&self) -> Option<String> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tools that are listed now, in order.
    pub(super) fn entries(&self) -> Result<Vec<SurfaceEntry>, CatalogError> {
        let pair = [SurfaceEntry::Pair(&FIND), SurfaceEntry::Pair(&EXECUTE)];
        let Some(tools) = self.tools.as_deref() else { return Ok(pair.into()) };
        let mut entries = vec![SurfaceEntry::Pair(&FIND)];
        match self.settings.kind {
            SurfaceKind::Dynamic => {
                entries = pair.into();
                entries.extend(self.settings.read_tool.then_some(SurfaceEntry::Pair(&READ)));
            }
            SurfaceKind::Meta => entries.extend(meta::entries(tools, self.settings.split)?),
            SurfaceKind::Individual => entries.extend(individual::entries(tools, &|_| true)?),
            SurfaceKind::Toolset => {
                entries = vec![SurfaceEntry::Activate];
                entries.extend(pair);
                entries.extend(self.settings.read_tool.then_some(SurfaceEntry::Pair(&READ)));
                if let Some(name) = self.active() {
                    entries.extend(self.everyday_entries(&name)?);
                }
            }
        }
        Ok(entries)
    }

    /// The tools that a toolset lists: its most wanted actions, so that the list stays small. The others run through
    /// execute.
    fn everyday_entries(&self, name: &str) -> Result<Vec<SurfaceEntry>, CatalogError> {
        let Some(tools) = self.tools.as_deref() else { return Ok(Vec::new()) };
        let mut entries = toolset::entries(tools, name)?;
        let usage = |entry: &SurfaceEntry| match entry {
            SurfaceEntry::Action(number) => tools.usage(*number),
            _ => 0,
        };
        entries.sort_by_key(|entry| Reverse(usage(entry)));
        // `activate_toolset`, find and execute, and the tool that reads.
        let most = MAX_TOOLSET_TOOLS - 3 - usize::from(self.settings.read_tool);
        let (mut listed, mut bytes) = (Vec::new(), 0);
        for entry in entries.into_iter().take(2 * MAX_TOOLSET_TOOLS) {
            let size = self.spec(&entry)?.bytes();
            if listed.len() < most && bytes + size <= MAX_TOOLSET_BYTES {
                bytes += size;
                listed.push(entry);
            }
        }
        Ok(listed)
    }

    /// The tools that may be listed at some time.
    fn every_entry(&self) -> Result<Vec<SurfaceEntry>, CatalogError> {
        let mut entries = self.entries()?;
        if let (SurfaceKind::Toolset, Some(tools)) = (self.settings.kind, self.tools.as_deref()) {
            entries.retain(|entry| !matches!(entry, SurfaceEntry::Action(_)));
            entries.extend(individual::entries(tools, &|_| true)?);
        }
        Ok(entries)
    }

    pub(super) fn name(&self, entry: &SurfaceEntry) -> String {
        let id = |number| self.tools.as_deref().and_then(|tools| tools.catalog().id(number));
        match entry {
            SurfaceEntry::Pair(offer) => offer.name.to_owned(),
            SurfaceEntry::Activate => ACTIVATE.to_owned(),
            SurfaceEntry::Family { family, side, .. } => side.tool(family),
            SurfaceEntry::Action(number) => names::of_action(id(*number).unwrap_or_default()),
        }
    }

    pub(super) fn spec(&self, entry: &SurfaceEntry) -> Result<ToolSpec, CatalogError> {
        let mut source = self.source(entry)?;
        source.describe(&self.settings.overrides, &self.spellings());
        Ok(source.finished(self.settings.mode))
    }

    /// The parameter of an action that a spelling means.
    fn spellings(&self) -> impl Fn(&str, &str) -> Option<String> + '_ {
        let known = self.tools.as_deref().map(wording::spellings);
        move |action: &str, given: &str| known.as_ref()?(action, given)
    }

    fn source(&self, entry: &SurfaceEntry) -> Result<Source, CatalogError> {
        match (entry, self.tools.as_deref()) {
            (SurfaceEntry::Pair(offer), tools) => Ok(offer.source(tools)),
            (_, None) => Ok(FIND.source(None)),
            (SurfaceEntry::Activate, Some(tools)) => toolset::source(tools),
            (SurfaceEntry::Family { family, side, numbers }, Some(tools)) => {
                meta::source(tools, (family, *side), numbers, self.settings.params)
            }
            (SurfaceEntry::Action(number), Some(tools)) => individual::source(tools, *number),
        }
    }

    /// The tool that an action is called by.
    fn tool_for(&self, tools: &Tools, id: &str) -> Option<String> {
        let action = tools.catalog().get(id).ok().flatten()?;
        let name = self.tool_of(tools, &action)?;
        tools.offers(&name).then_some(name)
    }

    fn tool_of(&self, tools: &Tools, action: &Action) -> Option<String> {
        match self.settings.kind {
            SurfaceKind::Meta => meta::tool_of(tools, action, self.settings.split),
            SurfaceKind::Individual => Some(names::of_action(&action.id)),
            SurfaceKind::Dynamic | SurfaceKind::Toolset => None,
        }
    }

    /// Translates a call of execute into one of the action's own tool; none if there is no such tool.
    pub(super) fn translate_to_own(
        &self,
        tools: &Tools,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Option<(String, Map<String, Value>)> {
        if tool != tools::EXECUTE {
            return None;
        }
        let id = arguments.get("action")?.as_str()?;
        let action = tools.catalog().get(id).ok().flatten()?;
        let name = self.tool_of(tools, &action).filter(|name| tools.offers(name))?;
        let arguments = match self.settings.kind {
            SurfaceKind::Individual => individual::arguments(&action, arguments),
            _ => arguments.clone(),
        };
        Some((name, arguments))
    }
}

/// A call of execute as one of the tool that only reads, if the action does and the call has no argument that this tool
/// lacks.
fn read_call(
    tools: &Tools,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Option<(String, Map<String, Value>)> {
    let action = tools.catalog().get(arguments.get("action")?.as_str()?).ok().flatten()?;
    let is_known =
        |name: &String| READ.arguments_for(tools.instances()).iter().any(|argument| argument.name == name);
    let reads = tool == EXECUTE.name && tools.risk(&action) == Risk::Read && tools.offers(READ.name);
    (reads && arguments.keys().all(is_known)).then(|| (READ.name.to_owned(), arguments.clone()))
}
