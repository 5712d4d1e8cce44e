//! Tokens from a command of the user, such as a password manager's.

use std::fmt;
use std::time::{Duration, SystemTime};

use super::issued::parse_output;
use super::process::{self, Program, ProgramError};
use crate::gitlab::{CredentialError, IssuedToken};

/// A command as it was given, with the name of the setting that has it.
#[derive(Clone, Debug)]
pub struct GivenCommand {
    pub origin: String,
    pub line: CommandLine,
    /// Variables that it does not get: those that hold a token or name the command itself.
    pub removed: Vec<String>,
}

/// A program with its arguments. Arguments may be secrets: `Debug` shows the program only.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandLine {
    program: String,
    arguments: Vec<String>,
}

impl CommandLine {
    /// Splits a command line at spaces outside of quotes. A backslash escapes a space, a quote or a backslash; there
    /// are no variables, patterns or pipes. A line that begins with `[` is a JSON list of strings.
    pub fn parse(text: &str) -> Option<CommandLine> {
        let words = match text.trim_start().starts_with('[') {
            true => serde_json::from_str(text).ok()?,
            false => split(text)?,
        };
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        let command = CommandLine { program, arguments: words.collect() };
        let has_nul = command.arguments.iter().chain([&command.program]).any(|word| word.contains('\0'));
        (!has_nul).then_some(command)
    }

    /// Runs the command and returns its output.
    async fn run(&self, removed: &[String], time_limit: Duration) -> Result<String, ProgramError> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let removed: Vec<&str> = removed.iter().map(String::as_str).collect();
        let program = Program {
            name: &self.program,
            arguments: &arguments,
            input: "",
            variables: &[],
            removed: &removed,
            directory: None,
            time_limit,
        };
        process::run(program).await
    }
}

impl GivenCommand {
    /// Runs the command and parses the token that it prints.
    pub(super) async fn issue(&self, time_limit: Duration) -> Result<IssuedToken, CredentialError> {
        let output = self.line.run(&self.removed, time_limit).await.map_err(|error| self.failure(&error))?;
        parse_output(&output, SystemTime::now()).ok_or_else(|| CredentialError {
            what: format!("{}: the output of {} is not a token", self.origin, self.line.program),
            hint: "It must print only the token, on one line, or a JSON object with `token` and, if it expires, \
                   `expires_at` or `expires_in`."
                .to_owned(),
        })
    }

    /// The program and the setting, without the arguments.
    pub(super) fn describe(&self) -> String {
        format!("{} ({})", self.origin, self.line.program)
    }

    /// Advice if GitLab rejects the token.
    pub(super) fn remedy(&self) -> String {
        format!(
            "{} ({}) has no other token: renew it where the command takes it from.",
            self.line.program, self.origin
        )
    }

    fn failure(&self, error: &ProgramError) -> CredentialError {
        let hint = match error {
            ProgramError::Missing(_) => {
                format!("Check the path of the program in {}: it is started without a shell.", self.origin)
            }
            ProgramError::TimeLimit { .. } => {
                "Run the command in a terminal to see what it waits for; GITLAB_TIMEOUT is its time limit."
                    .to_owned()
            }
            _ => "Run the command in a terminal to see what it reports.".to_owned(),
        };
        CredentialError { what: format!("{}: {error}", self.origin), hint }
    }
}

/// Splits a line into words; none if a quote is not closed.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = |next: &char| match quote {
            Some(quote) => *next == quote || *next == '\\',
            None => next.is_whitespace() || matches!(next, '"' | '\'' | '\\'),
        };
        match letter {
            '\\' if quote != Some('\'') => {
                let literal = letters.next_if(escaped).unwrap_or('\\');
                word.get_or_insert_default().push(literal);
            }
            letter if quote == Some(letter) => quote = None,
            '"' | '\'' if quote.is_none() => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            letter if quote.is_none() && letter.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

impl fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandLine({:?}, {} arguments)", self.program, self.arguments.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quoted_words_are_kept(words in prop::collection::vec("[^'\\x00]{0,12}", 1..5)) {
            prop_assume!(!words[0].is_empty());
            let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(super::tests::words(&line.join(" ")), Some(words));
        }

        #[test]
        fn any_line_is_split_or_refused(line in ".{0,40}") {
            if let Some(words) = super::tests::words(&line) {
                prop_assert!(!words[0].is_empty());
            }
        }
    }

    fn words(text: &str) -> Option<Vec<String>> {
        let command = CommandLine::parse(text)?;
        Some([command.program].into_iter().chain(command.arguments).collect())
    }

    #[test]
    fn a_line_is_split_without_a_shell() {
        for (line, expected) in [
            ("op read op://work/gitlab/token", &["op", "read", "op://work/gitlab/token"][..]),
            ("  a   b\t c ", &["a", "b", "c"]),
            (r#"a "b c" 'd "e"' f\ g"#, &["a", "b c", "d \"e\"", "f g"]),
            (r#"a "b \"c\"" '' x"y"z"#, &["a", "b \"c\"", "", "xyz"]),
            (r"C:\tools\get.exe '\\host\share'", &[r"C:\tools\get.exe", r"\\host\share"]),
            ("echo $HOME; ls | head > x", &["echo", "$HOME;", "ls", "|", "head", ">", "x"]),
            (r#"["pass", "show", "a b"]"#, &["pass", "show", "a b"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(words(line), Some(expected), "{line}");
        }
        for line in ["", "  ", "a 'b", "''", "[]", "[1]", "[\"a\"", "[\"a\\u0000\"]"] {
            assert_eq!(words(line), None, "{line}");
        }
    }

    #[test]
    fn debug_shows_no_argument() {
        let command = CommandLine::parse("vault read -token=sesame x").unwrap();
        assert_eq!(format!("{command:?}"), "CommandLine(\"vault\", 3 arguments)");
    }
}
