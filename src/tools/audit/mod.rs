//! Audit log: a line on standard error for each executed action, for every outcome.
//!
//! A line names the operation and its object: the path of the request, and what GitLab says was created. The log has no
//! values of other parameters, no other text of an answer, and no name of an operation that is not in the catalog.

mod writer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::OnceCell;

use crate::call::{Call, Checked};
use crate::catalog::{Action, Risk};
use crate::files::RotatedLog;
use crate::gitlab::{Applied, Content, GitlabError, Reply};
use crate::messages::audit_target::AuditTarget;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::question::AskedCall;
use crate::untrusted::mask_tokens;
use writer::{LineSink, LineWriter};

/// Status of a response to a creation.
const CREATED: u16 = 201;

/// Maximum length of an address of a created object, in bytes: GitLab's answer is not to fill the log.
const MAX_ADDRESS_BYTES: usize = 500;

/// In which form the lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audit {
    #[default]
    Off,
    /// `name=value` pairs.
    Text,
    /// An object a line.
    Json,
}

/// Writes the audit lines of one caller.
#[derive(Clone, Debug)]
pub struct Auditor {
    log: Arc<AuditLog>,
    /// Name of the caller in the log; none if the server has one caller only.
    caller: Option<Arc<str>>,
    /// Name of the instance in the log; none if one is configured.
    instance: Option<Arc<str>>,
    /// Username of the token, where the log names users and GitLab has told it.
    user: Arc<OnceCell<String>>,
}

/// The audit log of one process.
#[derive(Debug)]
struct AuditLog {
    form: Audit,
    lines: LineWriter,
    /// The file in which the lines are kept too, as JSON.
    file: Option<LineWriter>,
    /// The lines of the calls that have not ended, by their numbers.
    pending: Mutex<BTreeMap<u64, Pending>>,
    next: AtomicU64,
}

/// State of a call that has not ended.
#[derive(Clone, Debug)]
struct Pending {
    started: Instant,
    line: AuditLine,
    /// True if a write was allowed and its outcome is unknown.
    is_open: bool,
}

/// The line of one call, written when it is dropped: also a call that is cancelled has one.
#[derive(Debug)]
pub struct AuditEntry<'a> {
    auditor: &'a Auditor,
    number: u64,
    state: Pending,
    /// True if an allowed call is a write.
    changes: bool,
}

/// Fields of an audit line, in this order; those without a value are left out.
#[derive(Clone, Debug, Default, Serialize)]
struct AuditLine {
    time: String,
    /// The caller of a shared server: a digest that is no credential.
    caller: Option<Arc<str>>,
    user: Option<String>,
    /// The instance, if several are configured.
    instance: Option<Arc<str>>,
    /// Id of the action; none for an unknown action.
    action: Option<String>,
    /// The plan whose step it is, by its id.
    plan: Option<String>,
    /// Purpose of a read that this server makes for itself.
    purpose: Option<String>,
    /// The operation as GitLab's documentation writes it.
    operation: Option<String>,
    path: Option<String>,
    /// Project or group, and iid or id, of a GraphQL call, whose path has neither.
    target: Option<String>,
    /// Address of the object that GitLab answered a creation with, else its id.
    created: Option<String>,
    decision: &'static str,
    /// `unknown` of a change that may have been made, though GitLab's answer was not seen.
    applied: Option<&'static str>,
    status: Option<u16>,
    /// Size of the bodies of successful responses: of a list that is read whole, of all pages.
    bytes: u64,
    ms: u64,
    /// `ok`, `cancelled`, or the kind of the error.
    outcome: String,
}

impl Auditor {
    /// Lines in this form on standard error, and as JSON in the file if there is one.
    pub fn new(form: Audit, file: Option<PathBuf>) -> Auditor {
        let (pending, next) = (Mutex::default(), AtomicU64::default());
        let lines = LineWriter::new(LineSink::StandardError);
        let file = file.map(|path| LineWriter::new(LineSink::File(RotatedLog::new(path))));
        let log = Arc::new(AuditLog { form, lines, file, pending, next });
        Auditor { log, caller: None, instance: None, user: Arc::default() }
    }

    /// The auditor of one caller, on the same log.
    pub fn of_caller(&self, caller: &str) -> Auditor {
        Auditor { caller: Some(caller.into()), user: Arc::default(), ..self.clone() }
    }

    /// The auditor of the calls to one of several instances, on the same log.
    pub fn of_instance(&self, instance: &str) -> Auditor {
        Auditor { instance: Some(instance.into()), user: Arc::default(), ..self.clone() }
    }

    /// Notes the user of the token, for the lines from now on. Without an answer of GitLab, the next call asks again.
    pub async fn learn_user(&self, fetched: impl Future<Output = Option<String>>) {
        // Lines without the user are better than none.
        let _ = self.user.get_or_try_init(|| async { fetched.await.ok_or(()) }).await;
    }

    /// Writes the line of a read of this server's own that a rule denies; `purpose` is its reason.
    pub fn denied_own_read(&self, action: &str, purpose: String) {
        let mut entry = self.begin();
        entry.state.line.action = Some(action.to_owned());
        entry.state.line.purpose = Some(purpose);
        entry.state.line.decision = "denied";
        entry.state.line.outcome = ErrorKind::Denied.name();
    }

    /// Writes the line of a call that a person was asked about and did not consent to.
    pub fn refused(&self, call: &AskedCall, kind: ErrorKind) {
        let mut entry = self.begin();
        entry.state.line.action = Some(call.action.clone());
        entry.state.line.plan.clone_from(&call.plan);
        entry.state.line.aim_at(call.target.clone());
        entry.state.line.decision = decided(kind).unwrap_or("none");
        entry.state.line.outcome = kind.name();
    }

    /// Begins the line of a call.
    pub fn begin(&self) -> AuditEntry<'_> {
        let line = AuditLine {
            caller: self.caller.clone(),
            instance: self.instance.clone(),
            user: self.user.get().cloned(),
            decision: "none",
            outcome: "cancelled".to_owned(),
            ..AuditLine::default()
        };
        let number = self.log.next.fetch_add(1, Ordering::Relaxed);
        let state = Pending { started: Instant::now(), line, is_open: false };
        let entry = AuditEntry { auditor: self, number, state, changes: false };
        entry.save();
        entry
    }

    /// Writes the lines of the calls that have not ended, for a process that ends without them; waits until all lines
    /// are written, within a limit.
    pub fn close(&self) {
        let pending = std::mem::take(&mut *self.log.pending.lock().unwrap_or_else(PoisonError::into_inner));
        pending.into_values().for_each(|pending| self.write(pending));
        self.log.lines.flush();
        self.log.file.iter().for_each(LineWriter::flush);
    }

    fn write(&self, Pending { started, mut line, is_open }: Pending) {
        if self.log.is_off() {
            return;
        }
        line.applied = is_open.then_some("unknown");
        line.ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        line.time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        if let Some(file) = &self.log.file {
            file.write(line.written(Audit::Json));
        }
        if self.log.form != Audit::Off {
            self.log.lines.write(line.written(self.log.form));
        }
    }
}

impl AuditLog {
    fn is_off(&self) -> bool {
        self.form == Audit::Off && self.file.is_none()
    }
}

impl AuditEntry<'_> {
    /// Saves the entry, in case that the process ends before the call.
    fn save(&self) {
        if self.auditor.log.is_off() {
            return;
        }
        let mut pending = self.auditor.log.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.insert(self.number, self.state.clone());
    }

    /// Sets the action, and its target as the caller wrote it until the request is known.
    pub fn set_action(&mut self, action: &Action, params: &Map<String, Value>) {
        self.state.line.user = self.auditor.user.get().cloned();
        self.state.line.aim_at(AuditTarget::given(params));
        self.state.line.action = Some(action.id.clone());
        self.save();
    }

    /// The plan whose step it is.
    pub fn within(&mut self, plan: &str) {
        self.state.line.plan = Some(plan.to_owned());
    }

    /// Notes that a composite action runs; its requests are in the lines of its steps.
    pub fn planned(&mut self) {
        self.state.line.decision = "plan";
    }

    /// The call that it makes.
    pub fn set_call(&mut self, call: &Call, checked: &Checked) {
        self.state.line.aim_at(AuditTarget::new(call, checked));
    }

    /// The policy lets the call run: from now on it may be sent.
    pub fn allowed(&mut self, call: &Call) {
        self.state.line.decision = "allowed";
        self.changes = call.risk() != Risk::Read;
        self.state.is_open = self.changes;
        self.save();
    }

    /// Sets GitLab's response.
    pub fn set_response(&mut self, sent: &Result<Reply, GitlabError>) {
        self.state.line.decision = "allowed";
        self.state.is_open = matches!(sent, Err(error) if error.applied() == Applied::Unknown);
        match sent {
            Ok(reply) => {
                self.state.line.status = Some(reply.status);
                self.state.line.created = created(reply);
                self.state.line.bytes += reply.bytes;
            }
            Err(error) => self.state.line.status = error.status(),
        }
        self.save();
    }

    /// Sets the outcome and writes the line.
    pub fn ended(mut self, is_preview: bool, error: Option<&ToolError>) {
        // A call that ends before it is sent was not made; one that was lost on its way, or failed in its execution,
        // may have been.
        self.state.is_open = self.changes
            && error.is_some_and(|error| error.details.get("applied") == Some(&Value::from("unknown")));
        self.state.line.outcome = error.map_or_else(|| "ok".to_owned(), |error| error.kind.name());
        let decision = match error {
            None => is_preview.then_some("preview"),
            Some(error) => decided(error.kind),
        };
        if let ("none", Some(decision)) = (self.state.line.decision, decision) {
            self.state.line.decision = decision;
        }
    }
}

impl Drop for AuditEntry<'_> {
    fn drop(&mut self) {
        let mut pending = self.auditor.log.pending.lock().unwrap_or_else(PoisonError::into_inner);
        // Without it the line is written: the process is about to end.
        if pending.remove(&self.number).is_none() {
            return;
        }
        drop(pending);
        if std::thread::panicking() {
            self.state.line.outcome = ErrorKind::Internal.name();
        }
        self.auditor.write(self.state.clone());
    }
}

impl AuditLine {
    fn aim_at(&mut self, AuditTarget { operation, path, target }: AuditTarget) {
        (self.operation, self.path, self.target) = (operation, path, target);
    }

    /// The line. A token in the place of a path or a name is masked.
    fn written(&self, form: Audit) -> String {
        mask_tokens(&self.spelled(form)).into_owned()
    }

    fn spelled(&self, form: Audit) -> String {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else { return String::new() };
        fields.retain(|_, value| !value.is_null());
        match form {
            Audit::Off => String::new(),
            Audit::Json => {
                Value::Object(Map::from_iter([("audit".to_owned(), Value::Object(fields))])).to_string()
            }
            Audit::Text => {
                let mut fields = fields.into_iter();
                let time = fields.next().map(|(_, time)| plain(&time)).unwrap_or_default();
                let pairs: Vec<String> =
                    fields.map(|(name, value)| format!("{name}={}", plain(&value))).collect();
                format!("{time} audit {}", pairs.join(" "))
            }
        }
    }
}

/// The object that a response of status 201 has: its address, else its id.
fn created(reply: &Reply) -> Option<String> {
    let Content::Json(body) = &reply.content else { return None };
    if reply.status != CREATED {
        return None;
    }
    let address = body.get("web_url").and_then(Value::as_str).filter(|url| url.len() <= MAX_ADDRESS_BYTES);
    let id = || body.get("id").and_then(Value::as_u64).map(|id| id.to_string());
    address.map(str::to_owned).or_else(id)
}

/// The decision on a call that was not sent.
fn decided(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Denied => Some("denied"),
        ErrorKind::NeedsConfirmation => Some("needs_confirmation"),
        ErrorKind::Declined => Some("declined"),
        ErrorKind::Unanswered => Some("unanswered"),
        _ => None,
    }
}

/// Renders a value in a line of text, quoted unless it is one word.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains([' ', '"', '=']) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
