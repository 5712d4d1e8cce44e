//! Resolves names of tools, families, domains and toolsets in the spellings that callers use.

use super::language::{ClientTools, Toolset, Words};

/// Prefixes of tool names: of clients, this server, and other servers.
const PREFIXES: [&str; 4] = ["mcp__gitlab__", "gitlab_", "browse_", "manage_"];

impl Words {
    /// The family for a tool's name or a noun, in the singular or the plural: `manage_milestone`, `issues`.
    pub fn family_named(&self, name: &str) -> Option<&str> {
        let noun = singular(bare(name));
        self.families.keys().map(String::as_str).find(|family| singular(family) == noun)
    }

    /// The domain for a tool's name or a noun, in the singular or the plural: `gitlab_branch`.
    pub fn domain_named(&self, name: &str) -> Option<&str> {
        let noun = singular(bare(name));
        let domain = self.domains.keys().map(String::as_str).find(|domain| singular(domain) == noun);
        domain.or_else(|| self.tool_nouns.get(&noun).map(String::as_str))
    }

    /// The tools of the client itself that have this name.
    pub fn client_tools(&self, name: &str) -> Option<&ClientTools> {
        let name = bare(name).to_lowercase().replace(['-', '.'], "_");
        self.client_tools.values().find(|tools| tools.names.contains(&name))
    }

    /// The main domain of a family: `issue` of `issues`, `wiki_page` of `wikis`; `None` if there is no such domain.
    pub fn main_domain(&self, family: &str) -> Option<&str> {
        let own = || {
            self.domains.iter().filter(|(_, domain)| domain.family == family).map(|(name, _)| name.as_str())
        };
        let is_under = |name: &str, domain: &str| {
            name.strip_prefix(domain).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        own()
            .find(|domain| *domain == singular(family) || *domain == family)
            .or_else(|| own().find(|domain| own().all(|other| is_under(other, domain))))
    }

    /// The toolset with that name or alias.
    pub fn toolset_named(&self, name: &str) -> Option<(&str, &Toolset)> {
        let name = name.trim().to_lowercase().replace('-', "_");
        let is_it =
            |(known, toolset): &(&String, &Toolset)| **known == name || toolset.aliases.contains(&name);
        self.toolsets.iter().find(is_it).map(|(known, toolset)| (known.as_str(), toolset))
    }
}

/// Strips the prefixes of a tool's name.
pub fn bare(tool: &str) -> &str {
    PREFIXES.iter().fold(tool, |tool, prefix| tool.strip_prefix(prefix).unwrap_or(tool))
}

/// The singular of a noun: `policies` is `policy`, `milestones` is `milestone`.
pub fn singular(noun: &str) -> String {
    match (noun.strip_suffix("ies"), noun.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) if !stem.ends_with('s') => stem.to_owned(),
        _ => noun.to_owned(),
    }
}
