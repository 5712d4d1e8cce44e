//! Parser of git's configuration and `HEAD`: the remotes, and the branch that is checked out.
//! <https://git-scm.com/docs/git-config#_syntax>

/// A value of the configuration: `[remote "origin"] url = …` is `remote`, `origin`, `url`.
struct ConfigEntry {
    section: String,
    /// The URL as written; empty if there is none.
    subsection: String,
    name: String,
    value: String,
}

/// A remote's name with its address, in the order of the configuration.
pub fn remotes(config: &str) -> Vec<(String, String)> {
    let entries = entries(config);
    let named = entries.iter().filter(|entry| entry.section == "remote" && entry.name == "url");
    named.map(|entry| (entry.subsection.clone(), written_out(&entries, &entry.value))).collect()
}

/// The remote that the branch follows, else `origin`, else the only one.
pub fn upstream(config: &str, branch: Option<&str>) -> Option<(String, String)> {
    let followed = entries(config).into_iter().find(|entry| {
        entry.section == "branch" && entry.name == "remote" && Some(entry.subsection.as_str()) == branch
    });
    let remotes = remotes(config);
    let named = |wanted: &str| remotes.iter().find(|(name, _)| name == wanted).cloned();
    let only = || if remotes.len() == 1 { remotes.first().cloned() } else { None };
    followed.and_then(|entry| named(&entry.value)).or_else(|| named("origin")).or_else(only)
}

/// The branch of `HEAD`; none if `HEAD` is detached.
pub fn branch(head: &str) -> Option<&str> {
    head.trim().strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")
}

/// Expands `url.<base>.insteadOf` in a URL; the longest match applies.
fn written_out(entries: &[ConfigEntry], address: &str) -> String {
    let short = entries.iter().filter(|entry| {
        entry.section == "url" && entry.name == "insteadof" && address.starts_with(&entry.value)
    });
    match short.max_by_key(|entry| entry.value.len()) {
        Some(entry) => {
            format!("{}{}", entry.subsection, address.get(entry.value.len()..).unwrap_or_default())
        }
        None => address.to_owned(),
    }
}

fn entries(config: &str) -> Vec<ConfigEntry> {
    let mut entries = Vec::new();
    let (mut section, mut subsection) = (String::new(), String::new());
    let joined = config.replace("\\\r\n", "").replace("\\\n", "");
    for line in joined.lines().map(str::trim) {
        let line = match heading(line) {
            Some((name, below, rest)) => {
                (section, subsection) = (name, below);
                rest.trim()
            }
            None => line,
        };
        if line.is_empty() || line.starts_with(['#', ';', '[']) {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        entries.push(ConfigEntry {
            section: section.clone(),
            subsection: subsection.clone(),
            name: name.trim().to_lowercase(),
            value: value_of(value.trim()),
        });
    }
    entries
}

/// `[section]`, `[section "sub"]` and the deprecated `[section.sub]`, with the rest of the line.
fn heading(line: &str) -> Option<(String, String, &str)> {
    let inner = line.strip_prefix('[')?;
    match inner.split_once('"').filter(|(name, _)| !name.contains(']')) {
        Some((name, rest)) => {
            let mut sub = String::new();
            let mut characters = rest.char_indices();
            while let Some((at, c)) = characters.next() {
                match c {
                    '"' => {
                        let rest = rest.get(at + 1..)?.trim_start().strip_prefix(']')?;
                        return Some((name.trim().to_lowercase(), sub, rest));
                    }
                    '\\' => sub.extend(characters.next().map(|(_, c)| c)),
                    c => sub.push(c),
                }
            }
            None
        }
        None => {
            let (name, rest) = inner.split_once(']')?;
            let (name, sub) = name.split_once('.').unwrap_or((name, ""));
            Some((name.trim().to_lowercase(), sub.to_owned(), rest))
        }
    }
}

/// A value without its quotes and without the remark behind it.
fn value_of(text: &str) -> String {
    let mut value = String::new();
    let mut kept = 0;
    let mut is_quoted = false;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => value.extend(characters.next()),
            c => value.push(c),
        }
        if is_quoted || !c.is_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}
