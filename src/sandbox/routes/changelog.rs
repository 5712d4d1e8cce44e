//! Changelogs: the commits with a git trailer between two versions, by category.

use crate::prelude::*;
use crate::repo::Commit;

use super::branches::version_order;

const VERSION: &[Rule] = &[Rule::Required("version")];

pub const ROUTES: &[Route] =
    &[get("", generate).rules(VERSION), post("", commit).needs(Level::Developer).rules(VERSION)];

fn generate(request: &mut Request<'_>) -> Answer {
    let notes = notes(request)?;
    ok(json!({"notes": notes}))
}

/// Writes the section above the others of the file.
fn commit(request: &mut Request<'_>) -> Answer {
    let section = notes(request)?;
    let args = &request.args;
    let branch = args.text("branch").unwrap_or_else(|| request.default_branch());
    let file = args.text("file").unwrap_or_else(|| "CHANGELOG.md".to_owned());
    let version = args.text("version").unwrap_or_default();
    let message = args.text("message").unwrap_or_else(|| format!("Add changelog for version {version}"));
    let old = request.repo()?.head(&branch).and_then(|head| head.tree.get(&file).cloned());
    let action = if old.is_some() { "update" } else { "create" };
    let old = old.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let content = format!("{section}\n{old}").trim_end().to_owned() + "\n";
    let action = object(json!({"action": action, "file_path": file, "content": content}));
    super::commits::commit(request, &branch, &message, &[action])?;
    Ok(Reply::json(200, Value::Null))
}

/// The value of a trailer in the last paragraph of a message.
fn trailer(commit: &Commit, name: &str) -> Option<String> {
    let last = commit.message.trim().rsplit("\n\n").next().filter(|last| *last != commit.title())?;
    let value = last.lines().filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name);
    value.map(|(_, value)| value.trim().to_owned())
}

/// The section of a version, as GitLab's default template writes it.
fn notes(request: &Request<'_>) -> Result<String, Fault> {
    let args = &request.args;
    let version = args.text("version").unwrap_or_default();
    let name = args.text("trailer").unwrap_or_else(|| "Changelog".to_owned());
    let date = args.text("date").unwrap_or_else(|| request.world.today());
    let repo = request.repo()?;
    // Without a start, the highest version below this one is it.
    let previous = || {
        let mut tags: Vec<&String> = repo.tags.keys().collect();
        tags.retain(|tag| version_order(tag) < version_order(&version));
        tags.into_iter().max_by_key(|tag| version_order(tag)).cloned()
    };
    let no_start = || {
        let text = "The commit start range is unspecified, and no previous tag could be found to use instead";
        Fault::refused(422, &format!("Failed to generate the changelog: {text}"))
    };
    let from = args.text("from").or_else(previous).ok_or_else(no_start)?;
    let to = args.text("to").unwrap_or_else(|| request.default_branch());
    let id = |name: &str| repo.resolve(name).map(|commit| commit.id.clone()).ok_or(Fault::missing("Commit"));
    let mut categories: Vec<(String, Vec<String>)> = Vec::new();
    for commit in repo.ahead(&id(&from)?, &id(&to)?) {
        let Some(category) = trailer(commit, &name) else { continue };
        let entry = format!("- [{}]({}@{})", commit.title(), request.full_path(), commit.id);
        match categories.iter_mut().find(|(known, _)| *known == category) {
            Some((_, entries)) => entries.push(entry),
            None => categories.push((category, vec![entry])),
        }
    }
    categories.sort();
    let shown = categories.iter().map(|(category, entries)| {
        let count =
            if entries.len() == 1 { "1 change".to_owned() } else { format!("{} changes", entries.len()) };
        format!("### {category} ({count})\n\n{}\n", entries.join("\n"))
    });
    let shown: Vec<String> = shown.collect();
    let body = if shown.is_empty() { "No changes.\n".to_owned() } else { shown.join("\n") };
    Ok(format!("## {version} ({})\n\n{body}", date.get(..10).unwrap_or(&date)))
}
