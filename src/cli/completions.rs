//! Shell completions: a script per shell that asks this program what may follow, and the answers.

use std::ffi::OsStr;
use std::io::Write;

use clap::{Arg, Command};
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use super::Failure;
use crate::catalog::{Action, Base, Catalog, Param};
use crate::config;

/// Variable in which the script of a shell names the shell that asks.
const VARIABLE: &str = "GITLAB_MCP_COMPLETE";

/// Variable in which the scripts of bash and zsh have the position of the word that is completed.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// Variable that only the script of bash sets.
const OF_BASH: &str = "_CLAP_COMPLETE_COMP_TYPE";

const PROGRAM: &str = "gitlab-mcp";

/// Before the script of zsh: in a home without a configuration nothing has started the completion system.
const ZSH_SETUP: &str = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }";

/// Changes to the script of zsh, which puts a blank after each word: none follows `state=`.
const ZSH_PAIRS: [(&str, &str); 3] = [
    ("local -a other=()", "local -a other=() pairs=()"),
    (
        "            else\n                other+=",
        "            elif [[ \"$value\" == *= ]]; then\n                pairs+=(\"$completion\")\n            else\n                other+=",
    ),
    (
        "        [[ -n $other ]] &&",
        "        [[ -n $pairs ]] && _describe -V 'values' pairs -S ''\n        [[ -n $other ]] &&",
    ),
];

/// Answers a shell that asks what may follow in this grammar; false if this process is none that a shell asks.
pub(super) fn answer_shell(grammar: fn() -> Command) -> Result<bool, Failure> {
    let offered = move || if words().1.starts_with('-') { grammar() } else { without_options(grammar()) };
    // A shell asks from any folder: no candidate is looked for relative to it.
    CompleteEnv::with_factory(offered)
        .var(VARIABLE)
        .try_complete(config::process_arguments(), None)
        .map_err(Failure::Usage)
}

/// The grammar with its options hidden: a command or a parameter is not looked for among 55 settings.
fn without_options(grammar: Command) -> Command {
    let hidden = |argument: Arg| if argument.is_positional() { argument } else { argument.hide(true) };
    grammar.mut_args(hidden).mut_subcommands(without_options)
}

/// Writes the script of a shell. It calls `gitlab-mcp` of the `PATH`.
pub(super) fn write_script(shell: Shell, out: &mut dyn Write) -> Result<(), Failure> {
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).ok_or(Failure::NoScript(shell))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    if shell != Shell::Zsh {
        return Ok(out.write_all(&script)?);
    }
    let script = String::from_utf8_lossy(&script).into_owned();
    let script = ZSH_PAIRS.iter().fold(script, |script, (old, new)| script.replace(old, new));
    // A file of the `fpath` begins with the line `#compdef`.
    Ok(write!(out, "{}", script.replacen('\n', &format!("\n{ZSH_SETUP}\n"), 1))?)
}

/// The ids of the catalog.
pub(super) fn action_ids() -> Vec<CompletionCandidate> {
    let Ok(catalog) = Catalog::embedded() else { return Vec::new() };
    catalog.ids().map(CompletionCandidate::new).collect()
}

/// The parameters of the action on the line as `state=`, and after that their choices.
pub(super) fn pairs(current: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(catalog) = Catalog::embedded() else { return Vec::new() };
    let (before, _) = words();
    let mut after_command = before.iter().skip_while(|word| *word != "execute").skip(1);
    let action = after_command.find_map(|word| catalog.get(word).ok().flatten());
    let current = current.to_string_lossy();
    action.map(|action| pairs_of(&action, &before, &current)).unwrap_or_default()
}

fn pairs_of(action: &Action, before: &[String], current: &str) -> Vec<CompletionCandidate> {
    if let Some((name, value)) = current.split_once('=') {
        let choices = action.param(name).map(choices).unwrap_or_default();
        let fitting = choices.iter().filter(|choice| choice.starts_with(value));
        return fitting.map(|choice| CompletionCandidate::new(format!("{name}={choice}"))).collect();
    }
    // Bash takes `=` for a word, and does not pass one on that is to be completed.
    let is_bash = config::environment(OF_BASH).is_some();
    let name = match before {
        [.., name, sign] if sign == "=" => Some(name),
        [.., name] if is_bash && current.is_empty() => Some(name),
        _ => None,
    };
    if let Some(param) = name.and_then(|name| action.param(name)) {
        let choices = choices(param);
        return choices
            .iter()
            .filter(|choice| choice.starts_with(current))
            .map(CompletionCandidate::new)
            .collect();
    }
    let is_given = |param: &Param| {
        !param.kind.many && before.iter().any(|word| word.split('=').next() == Some(&param.name))
    };
    let fitting = action.params.iter().filter(|param| param.name.starts_with(current) && !is_given(param));
    let candidate = |param: &Param| {
        CompletionCandidate::new(format!("{}=", param.name)).help(param.note.clone().map(Into::into))
    };
    fitting.map(candidate).collect()
}

fn choices(param: &Param) -> Vec<String> {
    match param.kind.base {
        Base::Boolean => vec!["true".to_owned(), "false".to_owned()],
        _ => param.choices.clone(),
    }
}

/// The words before the one that the shell completes, and what there is of that one.
fn words() -> (Vec<String>, String) {
    let mut words: Vec<String> = config::process_arguments()
        .skip_while(|word| word != "--")
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let index = config::environment(INDEX).and_then(|index| index.to_str()?.parse().ok());
    let index = index.unwrap_or_else(|| words.len().saturating_sub(1)).min(words.len());
    let current = words.split_off(index).into_iter().next().unwrap_or_default();
    (words, current)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(before: &[&str], current: &str) -> Vec<String> {
        let action = Catalog::embedded().unwrap().get("issue.list").unwrap().unwrap();
        let before: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
        let candidates = pairs_of(&action, &before, current);
        candidates.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn parameters_and_their_choices_are_offered() {
        assert_eq!(offered(&["execute", "issue.list"], "stat"), ["state="]);
        assert_eq!(offered(&["execute", "issue.list"], "state=o"), ["state=opened"]);
        assert_eq!(offered(&[], "confidential="), ["confidential=true", "confidential=false"]);
        assert!(offered(&[], "search=").is_empty());
        assert_eq!(offered(&["state", "="], "o"), ["opened"]);
        // A list may be given twice.
        assert!(offered(&["state=all"], "stat").is_empty());
        assert!(offered(&["labels=a"], "labels").contains(&"labels=".to_owned()));
    }

    #[test]
    fn the_script_of_zsh_starts_the_completion_system_and_puts_no_blank_after_a_name() {
        let mut script = Vec::new();
        write_script(Shell::Zsh, &mut script).unwrap();
        let script = String::from_utf8(script).unwrap();
        assert!(script.starts_with(&format!("#compdef gitlab-mcp\n{ZSH_SETUP}\n")), "{script}");
        for (_, changed) in ZSH_PAIRS {
            assert!(script.contains(changed), "{changed}: {script}");
        }
    }
}
