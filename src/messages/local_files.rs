//! Notes for requests about files of the client's own machine: this server works on GitLab's copy only.

use crate::catalog::{Language, Words};

/// First line of a find about a local file.
pub const NOT_READ_HERE: &str = "This server does not read or change files on this machine: use the client's own \
                                 file tools for a local file. The actions below work on GitLab's copy.";

/// First line of a find about a command of git.
pub const GIT_NOT_RUN_HERE: &str = "This server does not run git on this machine: use the client's own tools for a working \
                                    copy. The actions below work on GitLab's repository.";

/// Note of a find whose first result reads or changes a file of a repository.
pub const REMOTE_RESULTS: &str =
    "Actions marked remote work on GitLab's copy; the client's own file tools work on local files.";

/// True if a request in words is about a file of the client's machine.
pub fn is_local(language: &Language, query: &str) -> bool {
    let words = &language.local;
    let text = plain(query);
    let has = |phrases: &[String]| phrases.iter().any(|phrase| has_phrase(&text, phrase));
    if query.contains("://") || has(&words.unless) {
        return false;
    }
    let names_file = || has(&words.nouns) || query.split_whitespace().any(is_file_name);
    has(&words.files)
        || has(&words.places) && names_file()
        || has(&words.projects) && has(&words.edits) && names_file()
}

/// True if a request in words names a command of git in a working copy.
pub fn is_git_command(language: &Language, query: &str) -> bool {
    let text = plain(query);
    !query.contains("://") && language.local.git.iter().any(|command| has_phrase(&text, command))
}

/// Note on an action that was called by the name of a client's own tool for files.
pub fn note_on_name(words: &Words, given: &str, action: &str) -> Option<String> {
    let name = given.trim().to_lowercase().replace(['-', '.'], "_");
    words.client_tools.get("files")?.names.contains(&name).then(|| {
        format!(
            "`{action}` works on GitLab's copy in the repository; use the client's own file tools for a file on this machine"
        )
    })
}

/// Lower-case words with one space between them and at both ends.
fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut plain = String::from(" ");
    for word in words {
        plain.push_str(word);
        plain.push(' ');
    }
    plain
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).is_some_and(|before| before.ends_with(' '));
        let after = text.get(at + phrase.len()..).is_some_and(|after| after.starts_with(' '));
        before && after
    })
}

/// `main.py`, `src/lib.rs`; not `v1.2` and not the end of a sentence.
fn is_file_name(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn requests_about_local_files_are_told_from_those_about_gitlabs() {
        let catalog = Catalog::embedded().unwrap();
        let language = &catalog.words().unwrap().language;
        for query in [
            "read the local file main.py on my disk",
            "edit utils.py in my working directory",
            "the current file in my editor",
            "Refactor the utils.py file in my current project.",
            "open config.toml on my laptop",
            "grep for TODO in this folder",
            "create a new file in this directory",
        ] {
            assert!(is_local(language, query), "{query}");
        }
        for query in [
            "read the contents of main.py",
            "list open issues of my current project",
            "register a runner on my laptop",
            "upload a file from my disk as a package",
            "compare the local file with the one on GitLab",
            "what changed in release v1.2",
            "list the files in this folder of the repo",
            "local files of https://gitlab.com/acme/widget",
        ] {
            assert!(!is_local(language, query), "{query}");
        }
    }

    #[test]
    fn commands_of_git_are_for_the_clients_own_tools() {
        let catalog = Catalog::embedded().unwrap();
        let language = &catalog.words().unwrap().language;
        for query in ["run git status", "git stash my changes", "do a `git rebase` on main"] {
            assert!(is_git_command(language, query), "{query}");
        }
        for query in ["status of the pipeline", "push a commit to main", "list git tags", "gitlab status"] {
            assert!(!is_git_command(language, query), "{query}");
        }
    }

    #[test]
    fn a_file_name_has_a_short_extension() {
        for word in ["main.py", "src/lib.rs,", "\"a.tar.gz\"", "Makefile.am"] {
            assert!(is_file_name(word), "{word}");
        }
        for word in ["v1.2", "project.", "README", ".", "1.0.3"] {
            assert!(!is_file_name(word), "{word}");
        }
    }
}
