//! The question before a call is sent: a person reads it as a sentence, a model as an error, and the audit as the calls
//! that it is about.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::messages::audit_target::AuditTarget;
use crate::messages::declines::CallDigest;
use crate::messages::sentence::Sentence;
use crate::untrusted::Secrets;

/// A question about one call, or about several of a composite action.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub calls: Vec<QuestionedCall>,
    /// The rules by which they are asked about.
    pub why: String,
    /// The composite action whose calls they are.
    pub plan: Option<String>,
    /// The instance, if several are configured.
    pub instance: Option<String>,
}

/// A call that is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionedCall {
    /// Its number among several, from 1.
    pub number: usize,
    pub sentence: Sentence,
    /// Its name for a model: the action, or the operation of a raw request that decides its risk.
    pub name: String,
    /// `DELETE /api/v4/…`, if it is known beforehand.
    pub request: Option<String>,
    /// The parameters of a call whose request is not known beforehand.
    pub params: String,
    /// The object that it would hit, as far as GitLab shows it.
    pub hit: Map<String, Value>,
    /// The reason why that is unknown.
    pub unseen: Option<String>,
    pub asked: AskedCall,
}

/// A call that a person was asked about, for when the answer comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedCall {
    pub action: String,
    /// `Delete branch quiet-gears of acme/widget`
    pub what: String,
    pub plan: Option<String>,
    pub digest: CallDigest,
    /// The request as it would have been sent.
    pub exact: CallDigest,
    pub target: AuditTarget,
}

/// Reasons why a person did not consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The person said no.
    Declined,
    /// The question was closed without an answer: nobody may be there.
    Unanswered,
}

impl Question {
    /// The question as a person reads it.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        match (self.calls.as_slice(), &self.plan) {
            ([call], None) => lines.push(call.sentence.question()),
            (calls, _) => {
                lines.push(match calls.len() {
                    1 => "Run this call, with the others of its batch?".to_owned(),
                    several => format!("Run these {several} calls together?"),
                });
                lines.extend(
                    calls.iter().map(|call| format!("{}. {}", call.number, call.sentence.statement())),
                );
            }
        }
        lines.extend(self.instance.as_ref().map(|name| format!("GitLab instance: {name}.")));
        lines.push(format!("Why you are asked: {}.", self.why));
        lines.join("\n")
    }

    /// The question as a model reads it.
    pub fn statement(&self) -> String {
        let why = &self.why;
        match (self.calls.as_slice(), &self.plan) {
            ([call], None) => {
                let request = call.request.as_deref().unwrap_or(&call.params);
                format!(
                    "{} needs confirmation: {why}. It would send {request}. Nothing was changed",
                    call.name
                )
            }
            (calls, plan) => {
                let named: Vec<String> =
                    calls.iter().map(|call| format!("{} ({})", call.number, call.asked.action)).collect();
                let plan = plan.as_deref().unwrap_or_default();
                format!("{plan} needs confirmation for {}: {why}. Nothing was changed", named.join(", "))
            }
        }
    }

    /// The objects that the calls would hit, as details of the error that a model reads.
    pub fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        match (self.calls.as_slice(), &self.plan) {
            ([call], None) => {
                if !call.hit.is_empty() {
                    details.insert("would_hit".to_owned(), Value::Object(call.hit.clone()));
                }
                details.extend(call.unseen.as_ref().map(|why| ("not_looked_up".to_owned(), json!(why))));
            }
            _ => drop(details.insert("would_hit".to_owned(), self.rows())),
        }
        details
    }

    /// A row for each call: its request and the object that it would hit.
    pub fn rows(&self) -> Value {
        self.calls.iter().map(QuestionedCall::row).collect()
    }

    /// The calls, for when the answer comes.
    pub fn asked(&self) -> Vec<AskedCall> {
        self.calls.iter().map(|call| call.asked.clone()).collect()
    }

    /// Removes secrets from what a person reads.
    pub fn redact(&mut self, secrets: &Secrets) {
        self.calls.iter_mut().for_each(|call| call.sentence.redact(secrets));
        secrets.redact_string(&mut self.why);
    }
}

impl AskedCall {
    /// The action, and the call in words.
    pub fn name(&self) -> String {
        format!("{} ({})", self.action, self.what)
    }
}

impl QuestionedCall {
    fn row(&self) -> Value {
        let request = match &self.request {
            Some(request) => ("request".to_owned(), json!(request)),
            None => ("params".to_owned(), json!(self.params)),
        };
        let mut row = Map::from_iter([
            ("call".to_owned(), json!(self.number)),
            ("action".to_owned(), json!(self.asked.action)),
            request,
        ]);
        row.extend(self.hit.clone());
        row.extend(self.unseen.as_ref().map(|why| ("not_looked_up".to_owned(), json!(why))));
        Value::Object(row)
    }
}
