//! The instances with their tools.

use std::sync::Arc;

use crate::call::{self, FullPath};
use crate::policy::PathPattern;
use crate::tools::state::Tools;
use crate::tools::workspace;

/// An instance with its tools.
#[derive(Debug)]
pub struct ConfiguredInstance {
    pub name: String,
    pub(super) paths: Vec<PathPattern>,
    pub tools: Arc<Tools>,
    /// The same with a policy that only reads, for `gitlab_read_action`.
    pub(super) reader: Option<Arc<Tools>>,
    /// True for the instance of the plain settings.
    pub(super) is_plain: bool,
}

/// All instances.
#[derive(Debug)]
pub struct Instances {
    pub(super) default: Arc<ConfiguredInstance>,
    others: Vec<Arc<ConfiguredInstance>>,
    /// Tools whose policy has no rule of a single instance: what can be listed and found at all.
    pub(super) front: Arc<Tools>,
}

impl ConfiguredInstance {
    /// An instance with its tools; patterns are valid, as the configuration has checked them.
    pub fn new(name: &str, paths: &[String], tools: Arc<Tools>) -> ConfiguredInstance {
        let paths = paths.iter().filter_map(|path| PathPattern::parse(path)).collect();
        ConfiguredInstance { name: name.to_owned(), paths, tools, reader: None, is_plain: true }
    }

    /// Sets whether the instance is that of the plain settings.
    pub fn with_plain(self, is_plain: bool) -> ConfiguredInstance {
        ConfiguredInstance { is_plain, ..self }
    }

    /// Adds the tools that only read.
    pub fn with_reader(self, reader: Option<Arc<Tools>>) -> ConfiguredInstance {
        ConfiguredInstance { reader, ..self }
    }

    pub(super) fn shares_root(&self, other: &ConfiguredInstance) -> bool {
        self.tools.base == other.tools.base
    }

    pub(super) fn is_remote(&self, address: &str) -> bool {
        workspace::remote_paths(&self.tools, address).is_ok()
    }

    /// True if a URL or the address of a git remote is of this instance.
    pub(super) fn is_addressed_by(&self, text: &str) -> bool {
        call::is_url_of(text, &self.tools.base) || (text.contains('@') && self.is_remote(text))
    }

    /// The number of segments of the longest pattern that covers the path.
    pub(super) fn specificity(&self, path: &FullPath) -> Option<usize> {
        let covering = self.paths.iter().filter(|pattern| pattern.covers(path));
        covering.map(PathPattern::depth).max()
    }
}

impl Instances {
    /// The instances, the default first. With one, calls have no argument `instance`, and answers do not name it.
    pub fn new(
        default: ConfiguredInstance,
        others: Vec<ConfiguredInstance>,
        front: Option<Arc<Tools>>,
    ) -> Instances {
        let front = front.unwrap_or_else(|| Arc::clone(&default.tools));
        let others = others.into_iter().map(Arc::new).collect();
        Instances { default: Arc::new(default), others, front }
    }

    /// The tools by which lists of tools and instructions are made.
    pub fn front(&self) -> &Arc<Tools> {
        &self.front
    }

    /// The tools of the default instance.
    pub fn default_tools(&self) -> &Arc<Tools> {
        &self.default.tools
    }

    /// The names and tools of all instances, the default first.
    pub fn each(&self) -> impl Iterator<Item = (&str, &Arc<Tools>)> {
        self.all().map(|instance| (instance.name.as_str(), &instance.tools))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<ConfiguredInstance>> {
        std::iter::once(&self.default).chain(&self.others)
    }

    pub(super) fn is_single(&self) -> bool {
        self.others.is_empty()
    }
}
