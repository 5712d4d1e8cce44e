//! Final filter of every answer and error: redacts this process's secrets in both forms and enforces the size limit.
//! Earlier stages already fit the data into its budget; this is the backstop for everything else.

use serde_json::{Map, Value, json};

use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::Answer;
use crate::present;
use crate::text::{fit, fits, lines_within, object_fields};
use crate::untrusted::{Secrets, shortened};

/// Allowance in bytes for our own text besides the data: the request, continuation calls, notes.
pub const OWN_WORDS: usize = 24_000;

/// Maximum number of characters of an error's message, and of its hint.
const LONGEST_MESSAGE: usize = 4_000;

/// Maximum size in bytes of an error's `fix`. A call to be confirmed has no maximum: it is the caller's own and must
/// be repeated exactly.
const LONGEST_FIX: usize = 16_000;

/// Bytes reserved for closing tags and the note after a cut.
const ENDING: usize = 600;

/// The filter's secrets and limits.
#[derive(Clone, Copy, Debug)]
pub struct OutputFilter<'a> {
    pub secrets: &'a Secrets,
    /// Maximum size of an answer's data, in bytes (`GITLAB_MAX_BYTES`).
    pub max_bytes: usize,
}

impl OutputFilter<'_> {
    /// Redacts and limits an outcome.
    pub fn pass(&self, outcome: Result<Answer, ToolError>) -> Result<Answer, ToolError> {
        match outcome {
            Ok(answer) => Ok(self.answer(answer)),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Maximum size of either form, in bytes.
    fn limit(&self) -> usize {
        self.max_bytes.saturating_add(OWN_WORDS)
    }

    fn answer(&self, Answer { mut structured, mut text, file }: Answer) -> Answer {
        self.secrets.redact_map(&mut structured);
        self.secrets.redact_string(&mut text);
        let mut notes = Vec::new();
        let whole = Value::Object(structured);
        let is_whole = size(&whole) <= self.limit();
        structured = if is_whole { object_fields(whole) } else { self.cut(object_fields(whole), &mut notes) };
        if text.len() > self.limit() {
            notes.push(format!("the text is cut at {} bytes (GITLAB_MAX_BYTES)", self.limit()));
            text = cut_text(&text, self.limit());
        }
        if !notes.is_empty() {
            let said = structured.entry("notes").or_insert_with(|| json!([]));
            if let Value::Array(said) = said {
                said.extend(notes.iter().map(|note| json!(note)));
            }
            notes.iter().for_each(|note| text.push_str(&format!("Note: {note}.\n")));
        }
        Answer { structured, text, file }
    }

    /// Cuts the structure: the data to its limit, everything else to the allowance.
    fn cut(&self, mut structured: Map<String, Value>, notes: &mut Vec<String>) -> Map<String, Value> {
        let room = OWN_WORDS - ENDING;
        let data = structured.get_mut("data").map(Value::take);
        let (beside, note) = fit(Value::Object(structured), room);
        notes.extend(note);
        let mut structured = object_fields(beside);
        if let Some(data) = data {
            let fitted = if size(&data) <= self.max_bytes { (data, None) } else { fit(data, self.max_bytes) };
            notes.extend(fitted.1);
            structured.insert("data".to_owned(), fitted.0);
        }
        structured
    }

    /// Redacts and limits an error.
    pub fn error(&self, mut error: ToolError) -> ToolError {
        for text in [Some(&mut error.message), error.hint.as_mut()].into_iter().flatten() {
            self.secrets.redact_string(text);
            *text = shortened(text, LONGEST_MESSAGE);
        }
        self.secrets.redact_map(&mut error.details);
        if let Some(question) = &mut error.question {
            question.redact(self.secrets);
        }
        if !fits(&Value::Object(error.details.clone()), self.max_bytes) {
            error.details = object_fields(fit(Value::Object(error.details), self.max_bytes).0);
        }
        if let Some(fix) = error.fix.as_mut().filter(|_| error.kind != ErrorKind::NeedsConfirmation) {
            self.secrets.redact_value(&mut fix.arguments);
            if !fits(&json!(fix), LONGEST_FIX) {
                error.fix = None;
            }
        }
        error
    }
}

/// Size of a value as JSON without string escapes: limits on texts count the text's own bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + size(value) + 4).sum::<usize>() + 2,
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.to_string().len(),
    }
}

/// Cuts a text to a limit and closes the tags that are open at the cut.
fn cut_text(text: &str, limit: usize) -> String {
    let mut kept = lines_within(text, limit.saturating_sub(ENDING)).to_owned();
    if !kept.ends_with('\n') {
        kept.push_str("…\n");
    }
    for mark in open_marks(&kept).iter().rev() {
        kept.push_str(&format!("</{mark}>\n"));
    }
    kept
}

/// Tags that are open at the end of a text, outermost first.
fn open_marks(text: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for line in text.lines() {
        if open.last().is_some_and(|mark| line == format!("</{mark}>")) {
            open.pop();
            continue;
        }
        // Inside GitLab's text only the closing tag is ours.
        let is_content = open.last().is_some_and(|mark| mark.trim_end_matches('-') == present::MARK);
        let mark = line.strip_prefix('<').and_then(|line| line.strip_suffix('>'));
        let name = mark.and_then(|mark| mark.split(' ').next()).unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_'));
        if is_name && !is_content {
            open.push(name.to_owned());
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "glpat-own-token-0123";

    fn gate(secrets: &Secrets) -> OutputFilter<'_> {
        OutputFilter { secrets, max_bytes: 1_000 }
    }

    #[test]
    fn both_forms_are_cut_and_say_so() {
        let long = "x".repeat(200_000);
        let structured =
            Map::from_iter([("data".to_owned(), json!({&long: long})), ("page".to_owned(), json!(long))]);
        let answer =
            Answer::new(structured, format!("<call n=\"1\">\n<gitlab->\n{long}\n</gitlab->\n</call>\n"));
        let passed = gate(Secrets::NONE).pass(Ok(answer)).unwrap();
        assert!(json!(passed.structured).to_string().len() <= 1_000 + OWN_WORDS);
        assert!(passed.text.len() <= 1_000 + OWN_WORDS);
        assert!(passed.text.contains("…\n</gitlab->\n</call>\nNote: "), "the marks are closed");
        assert!(passed.structured["notes"].to_string().contains("cut"));
        assert_eq!(gate(Secrets::NONE).pass(Ok(passed.clone())).unwrap(), passed);
    }

    #[test]
    fn what_fits_is_as_it_was() {
        let structured = Map::from_iter([("data".to_owned(), json!([1, 2]))]);
        let answer = Answer::new(structured, "<gitlab>\n1\n</gitlab>\n".to_owned());
        assert_eq!(gate(Secrets::NONE).pass(Ok(answer.clone())).unwrap(), answer);
    }

    #[test]
    fn a_text_counts_its_own_bytes() {
        let text = "\"\n".repeat(50_000);
        let structured = Map::from_iter([("data".to_owned(), json!(text))]);
        let answer = Answer::new(structured, String::new());
        let gate = OutputFilter { secrets: Secrets::NONE, max_bytes: 100_000 };
        assert_eq!(gate.pass(Ok(answer.clone())).unwrap(), answer);
    }

    #[test]
    fn an_error_is_bounded_and_keeps_the_call_that_is_to_be_confirmed() {
        let secrets = Secrets::new([TOKEN]);
        let error = |kind| {
            let mut error = ToolError::new(kind, format!("{TOKEN} {}", "m".repeat(100_000)))
                .hint(TOKEN.replace('-', "\\u002d"))
                .fix(crate::messages::request::NextCall::new("t", json!({"text": "x".repeat(50_000)})));
            error.details.insert("would_hit".to_owned(), json!({TOKEN: "y".repeat(100_000)}));
            gate(&secrets).pass(Err(error)).unwrap_err()
        };
        let asked = error(ErrorKind::NeedsConfirmation);
        assert!(asked.fix.is_some());
        let refused = error(ErrorKind::InvalidParams);
        assert_eq!(refused.fix, None);
        for form in [refused.text(), json!(refused.structured()).to_string()] {
            assert!(
                form.len() < 20_000 && !form.contains("own-token") && !form.contains("own\\\\u002d"),
                "{form}"
            );
        }
    }
}
