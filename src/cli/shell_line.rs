//! Calls of the two tools as commands that can be pasted into a shell.

use serde_json::{Map, Value};

use super::settings::SANDBOX;
use crate::config::{Flags, URL, flag_of};
use crate::text::plain_text;
use crate::tools::{EXECUTE_ARGUMENTS, FIND, FIND_ARGUMENTS};

/// The program with the settings that this command was given: a call that is offered stays at its GitLab.
pub struct ShellLine {
    program: String,
    files: Vec<FilePair>,
}

/// A parameter whose value came from a file.
#[derive(Clone, Debug)]
pub struct FilePair {
    pub name: String,
    pub value: Value,
    /// The word of the command line, such as `file=@picture.png`.
    pub word: String,
}

impl ShellLine {
    /// Commands with these flags. A parameter that came from a file is one again: the whole content is no word.
    pub fn new(flags: &Flags, files: Vec<FilePair>) -> ShellLine {
        let mut program = "gitlab-mcp".to_owned();
        for (name, value) in flags {
            if *name == URL.name && value == SANDBOX {
                program.push_str(" --sandbox");
            } else if let Some(flag) = flag_of(name) {
                program.push_str(&quoted(&format!(" --{flag}="), value));
            }
        }
        ShellLine { program, files }
    }

    /// The command for a call.
    pub fn of_call(&self, tool: &str, arguments: &Map<String, Value>) -> String {
        let (command, table) = match tool {
            FIND => ("find", FIND_ARGUMENTS),
            _ => ("execute", EXECUTE_ARGUMENTS),
        };
        let mut line = format!("{} {command}", self.program);
        for name in ["action", "query"] {
            if let Some(Value::String(word)) = arguments.get(name) {
                line.push_str(&quoted(" ", word));
            }
        }
        if let Some(Value::Object(params)) = arguments.get("params") {
            line.push_str(&self.of_params(params));
        }
        for argument in table {
            let (Some(option), Some(value)) = (argument.option, arguments.get(argument.name)) else {
                continue;
            };
            match value {
                Value::Bool(true) => line.push_str(&format!(" --{}", option.name)),
                Value::Bool(false) | Value::Null => {}
                Value::Array(values) => {
                    let texts: Vec<String> = values.iter().map(plain_text).collect();
                    line.push_str(&quoted(&format!(" --{} ", option.name), &texts.join(",")));
                }
                other => line.push_str(&quoted(&format!(" --{} ", option.name), &plain_text(other))),
            }
        }
        line
    }

    fn of_params(&self, params: &Map<String, Value>) -> String {
        let is_file = |name: &str, value: &Value| {
            self.files.iter().any(|file| file.name == name && file.value == *value)
        };
        let files = self.files.iter().filter(|file| params.get(&file.name) == Some(&file.value));
        let files: String = files.map(|file| quoted(" -f ", &file.word)).collect();
        let others = params.iter().filter(|(name, value)| !is_file(name, value));
        let others: Map<String, Value> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        let whole = || quoted(" --params ", &Value::Object(others.clone()).to_string());
        pairs(&others).unwrap_or_else(whole) + &files
    }
}

/// Words to a model, with those to the person at a shell. Each has a character that a quoted text of GitLab's cannot
/// have, or a tool's name.
const WORDS: [(&str, &str); 7] = [
    ("` once the user agrees to all of these", "`"),
    ("` once the user agrees", "`"),
    ("as in `fix`", "as in `Next`"),
    ("`detail: \"schema\"`, or gitlab://tools/{id}", "`--detail schema`, or `gitlab-mcp catalog show ID`"),
    ("more: detail: \"schema\"", "more: --detail schema"),
    ("gitlab_find_action finds", "`gitlab-mcp find` finds"),
    ("by its `content` or `content_base64`", "by `-f KEY=@FILE`"),
];

/// A text with the switches of execute named as options: a person cannot type `confirm: true`.
pub fn name_options(text: String) -> String {
    let switches =
        EXECUTE_ARGUMENTS.iter().filter_map(|argument| Some((argument.name, argument.option.as_ref()?)));
    let text = switches.fold(text, |text, (name, option)| {
        text.replace(&format!("`{name}: true`"), &format!("`--{}`", option.name))
    });
    WORDS.iter().fold(text, |text, (model, shell)| text.replace(model, shell))
}

/// Parameters as words; none if one of them is more than a word or a list of two and more.
fn pairs(params: &Map<String, Value>) -> Option<String> {
    let mut line = String::new();
    for (name, value) in params {
        match value {
            Value::Array(values) if values.len() > 1 && values.iter().all(is_plain) => {
                values.iter().for_each(|value| line.push_str(&pair(name, value)));
            }
            value if is_plain(value) => line.push_str(&pair(name, value)),
            _ => return None,
        }
        // It would be read as an option.
        if name.starts_with('-') {
            return None;
        }
    }
    Some(line)
}

fn pair(name: &str, value: &Value) -> String {
    quoted(" ", name) + &quoted("=", &plain_text(value))
}

fn is_plain(value: &Value) -> bool {
    match value {
        // No command can have a zero byte; in JSON it is written as an escape.
        Value::String(text) => !text.contains('\0'),
        other => other.is_number() || other.is_boolean(),
    }
}

/// A word after another text, quoted for a shell; empty for a word with a zero byte.
fn quoted(before: &str, word: &str) -> String {
    shlex::try_quote(word).map(|word| format!("{before}{word}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn worded(flags: &Flags, tool: &str, arguments: &Value) -> String {
        ShellLine::new(flags, Vec::new()).of_call(tool, arguments.as_object().unwrap())
    }

    #[test]
    fn a_call_is_a_command_of_the_same_gitlab() {
        let flags = Flags::from([("GITLAB_URL", "https://git.example.com".to_owned())]);
        let call = json!({"action": "issue.list", "params": {"fullPath": "a/b", "page": 2}, "fields": ["iid", "title"]});
        let words = shlex::split(&worded(&flags, "gitlab_execute_action", &call)).unwrap();
        assert_eq!(words[..3], ["gitlab-mcp", "--url=https://git.example.com", "execute"]);
        assert_eq!(words[3..], ["issue.list", "fullPath=a/b", "page=2", "--fields", "iid,title"]);
    }

    #[test]
    fn what_a_shell_would_read_is_quoted() {
        let call = json!({"action": "issue.create", "params": {"title": "$(rm -rf ~); it's", "labels": ["a b", "c"]}});
        let line = worded(&Flags::new(), "gitlab_execute_action", &call);
        let words = shlex::split(&line).unwrap();
        assert_eq!(words[2..], ["issue.create", "title=$(rm -rf ~); it's", "labels=a b", "labels=c"]);
        assert_eq!(
            worded(&Flags::new(), "gitlab_find_action", &json!({"query": "close it"})),
            "gitlab-mcp find 'close it'"
        );
    }

    /// The command to confirm an import had the archive in Base64.
    #[test]
    fn what_came_from_a_file_is_a_file_again() {
        let (file, word) = (json!({"content_base64": "AAAA"}), "file=@a b.tgz".to_owned());
        let files = vec![FilePair { name: "file".to_owned(), value: file.clone(), word }];
        let line = ShellLine::new(&Flags::new(), files);
        let words = |call: &Value| {
            shlex::split(&line.of_call("gitlab_execute_action", call.as_object().unwrap())).unwrap()
        };
        let call = json!({"action": "project_import.create", "params": {"file": file, "path": "x"}});
        assert_eq!(words(&call)[3..], ["path=x", "-f", "file=@a b.tgz"]);
        let other = json!({"action": "project_upload.create", "params": {"file": {"content": "b"}}});
        assert_eq!(words(&other)[3..], ["--params", r#"{"file":{"content":"b"}}"#]);
    }

    #[test]
    fn what_is_no_word_goes_as_json() {
        let call = json!({"action": "commit.create", "params": {"actions": [{"action": "create"}]}, "confirm": true});
        let words = shlex::split(&worded(&Flags::new(), "gitlab_execute_action", &call)).unwrap();
        assert_eq!(words[3..], ["--params", r#"{"actions":[{"action":"create"}]}"#, "--confirm"]);
        // Left out, each of these would make another call.
        for params in [json!({"title": "a\0b"}), json!({"labels": ["a\0", "b"]}), json!({"--confirm": "x"})] {
            let call = json!({"action": "issue.update", "params": params});
            let words = shlex::split(&worded(&Flags::new(), "gitlab_execute_action", &call)).unwrap();
            assert_eq!(words[3..], ["--params".to_owned(), params.to_string()]);
        }
    }
}
