//! The beginning of an answer's text in forms of different length: the text should not be longer than what GitLab sent.

/// Size of GitLab's answer as JSON in bytes; none if it is no JSON or a long one, of which every text is short.
#[derive(Clone, Copy, Debug)]
pub struct Length(pub Option<usize>);

impl Length {
    /// Maximum size that is measured.
    pub const MAX_MEASURED_BYTES: usize = 4_000;

    /// True if a text of so many bytes is at most this many percent of the size.
    fn has_room(self, bytes: usize, percent: usize) -> bool {
        self.0.is_none_or(|size| bytes.saturating_mul(100) <= size.saturating_mul(percent))
    }
}

/// Size in bytes to which a text says what a write did, however little GitLab answers: `{"status":"success"}`.
const FEW: usize = 160;

/// Maximum length of a text in percent of GitLab's answer: with what the call sent, and as Markdown. A longer text is JSON.
const HALF: usize = 50;
const SAME: usize = 110;

/// A beginning of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beginning {
    pub text: String,
    /// The part of it that says what a write did; empty for a read.
    pub outcome: String,
}

/// A form with the percentage that it may take.
#[derive(Clone, Debug)]
struct LimitedForm {
    beginning: Beginning,
    percent: usize,
    /// Size in bytes that it may have in any case.
    few: usize,
}

impl LimitedForm {
    fn new(outcome: &str, text: String, percent: usize) -> LimitedForm {
        LimitedForm { beginning: Beginning { text, outcome: outcome.to_owned() }, percent, few: 0 }
    }
}

/// Forms of the beginning of a text, the most readable first.
#[derive(Clone, Debug, Default)]
pub struct Beginnings {
    forms: Vec<LimitedForm>,
    /// Number of forms, from the first, that name the outcome of a write; all of a read's.
    with_outcome: usize,
}

impl Beginnings {
    /// Beginnings of a read: its body, or the same in one line.
    pub fn of_read(body: String, line: Option<String>) -> Beginnings {
        let forms = std::iter::once(body).chain(line).map(|form| LimitedForm::new("", form, SAME));
        let forms: Vec<_> = forms.collect();
        Beginnings { with_outcome: forms.len(), forms }
    }

    /// Beginnings of a write: its sentence and body; without what the call sent; in one line with the outcome; in one line.
    pub fn of_write(
        (sentence, brief, outcome): (&str, &str, Option<&str>),
        body: &str,
        line: Option<String>,
    ) -> Beginnings {
        let mut forms = vec![
            LimitedForm::new(sentence, format!("{sentence}\n{body}"), HALF),
            LimitedForm::new(brief, format!("{brief}\n{body}"), SAME),
        ];
        let Some((outcome, line)) = outcome.zip(line) else {
            return Beginnings { with_outcome: forms.len(), forms };
        };
        let between = if line.starts_with('<') { ":\n" } else { ": " };
        forms.push(LimitedForm::new(outcome, format!("{outcome}{between}{line}"), SAME));
        let with_outcome = forms.len();
        // The object in the answer of a delete would look as if it still existed.
        if !matches!(outcome, "Deleted" | "Removed") {
            forms.push(LimitedForm::new("", line, SAME));
        }
        Beginnings { forms, with_outcome }
    }

    /// The same with room for a few bytes in any case: the answer lacks what was set.
    pub fn with_room(self) -> Beginnings {
        let forms = self.forms.into_iter().map(|form| LimitedForm { few: FEW, ..form });
        Beginnings { forms: forms.collect(), ..self }
    }

    /// The first form that has room before so many bytes more, or the shortest.
    pub fn choose(self, length: Length, more: usize) -> Beginning {
        // The line end of the last line is not sent.
        let bytes = |form: &LimitedForm| (form.beginning.text.len() + more).saturating_sub(1);
        let fitting = self
            .forms
            .iter()
            .position(|form| bytes(form) <= form.few || length.has_room(bytes(form), form.percent));
        // If no form fits, the shortest that names the outcome is used.
        let shortest = || {
            let said = self.forms.iter().take(self.with_outcome).enumerate();
            said.min_by_key(|(_, form)| form.beginning.text.len()).map(|(at, _)| at)
        };
        let chosen = fitting.or_else(shortest);
        chosen.and_then(|at| self.forms.into_iter().nth(at)).map(|form| form.beginning).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCE: &str = "Created: label \"bug\" in acme/widget. Set: color \"#ff0000\".";
    const BRIEF: &str = "Created: label \"bug\".";
    const BODY: &str = "id: 12\n";
    const LINE: &str = "{\"id\":12}\n";

    fn chosen(outcome: Option<&str>, size: usize, more: usize) -> String {
        let line = Some(LINE.to_owned());
        Beginnings::of_write((SENTENCE, BRIEF, outcome), BODY, line).choose(Length(Some(size)), more).text
    }

    #[test]
    fn a_write_says_less_the_shorter_the_answer_is() {
        let full = format!("{SENTENCE}\n{BODY}");
        assert_eq!(chosen(Some("Created"), 2 * full.len(), 0), full);
        assert_eq!(chosen(Some("Created"), 2 * full.len(), 2), format!("{BRIEF}\n{BODY}"), "notes count");
        assert_eq!(chosen(Some("Created"), 20, 0), format!("Created: {LINE}"));
        assert_eq!(chosen(Some("Created"), 10, 0), LINE);
        // If no form fits, the outcome stays.
        assert_eq!(chosen(Some("Created"), 10, 40), format!("Created: {LINE}"));
    }

    #[test]
    fn an_outcome_that_the_line_does_not_have_stays() {
        for gone in ["Deleted", "Removed"] {
            assert_eq!(chosen(Some(gone), 10, 0), format!("{gone}: {LINE}"));
        }
        // GitLab only accepted it: the sentence says so.
        assert_eq!(chosen(None, 10, 0), format!("{BRIEF}\n{BODY}"));
    }

    #[test]
    fn an_answer_of_a_few_bytes_is_no_reason_to_say_nothing() {
        let line = Some(LINE.to_owned());
        let forms = Beginnings::of_write((SENTENCE, BRIEF, Some("Created")), BODY, line).with_room();
        assert_eq!(forms.choose(Length(Some(10)), 0).text, format!("{SENTENCE}\n{BODY}"));
    }

    #[test]
    fn long_and_unmeasured_answers_have_the_whole_sentence() {
        let forms = Beginnings::of_write((SENTENCE, BRIEF, Some("Created")), BODY, None);
        assert_eq!(forms.choose(Length(None), 1_000_000).text, format!("{SENTENCE}\n{BODY}"));
    }

    #[test]
    fn a_line_that_begins_with_a_tag_does_not_follow_the_outcome_at_once() {
        let line = Some("<gitlab>\n{}\n</gitlab>\n".to_owned());
        let forms = Beginnings::of_write((SENTENCE, SENTENCE, Some("Created")), SENTENCE, line);
        assert!(forms.choose(Length(Some(34)), 0).text.starts_with("Created:\n<gitlab>\n"));
    }

    #[test]
    fn a_read_is_one_line_where_its_body_has_no_room() {
        let forms =
            |size| Beginnings::of_read(BODY.repeat(2), Some(LINE.to_owned())).choose(Length(Some(size)), 0);
        assert_eq!(forms(12).text, BODY.repeat(2));
        assert_eq!(forms(11).text, LINE);
        assert_eq!(Beginnings::of_read(BODY.repeat(2), None).choose(Length(Some(1)), 0).text, BODY.repeat(2));
    }
}
