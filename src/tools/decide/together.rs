//! One question about several calls of one request.

use serde_json::{Map, Value, json};

use crate::messages::audit_target::AuditTarget;
use crate::messages::declines::CallDigest;
use crate::messages::error::ToolError;
use crate::messages::question::{AskedCall, Question, QuestionedCall};
use crate::messages::request::ExecuteRequest;
use crate::messages::sentence::Sentence;
use crate::policy::Rule;
use crate::tools::decide::ask::{Ask, consenting_call, describe_call, redeem};
use crate::tools::decide::refusal;
use crate::tools::decide::target::{TargetObject, look_up_target};
use crate::tools::prepare::Prepared;
use crate::tools::state::Tools;

/// A call among several that are confirmed together.
pub struct PendingCall {
    /// Its number among them, from 1.
    pub number: usize,
    pub action: String,
    /// The parameters that call it again.
    pub params: Map<String, Value>,
    /// The call, if it is known beforehand.
    pub prepared: Option<Prepared>,
    /// The rule by which it is asked about.
    pub rule: Rule,
    /// The identity of the object that it would hit.
    pub identity: Option<Value>,
}

/// Succeeds where the request consents to all of these calls.
///
/// # Errors
/// The question about them. Its token is bound to every call and to what they hit as it is.
pub async fn agree_together(
    tools: &Tools,
    request: &ExecuteRequest,
    pending: &[PendingCall],
) -> Result<(), ToolError> {
    for call in pending.iter().filter(|_| !tools.declines.is_empty()) {
        let name = format!("call {} ({})", call.number, call.action);
        refusal::refuse_digest(tools, &name, &call.digest(tools).await)?;
    }
    let wants_token = tools.policy.confirm().wants_token();
    if request.confirm == Some(true) && !wants_token {
        if request.agreed.is_empty() {
            return Ok(());
        }
        let mut calls = Vec::new();
        for call in pending {
            calls.push(call.exact(tools, &call.target(tools).await.state));
        }
        return refusal::refuse_another(request, &calls);
    }
    let action = &request.action;
    let mut question =
        Question { calls: Vec::new(), why: join_rules(pending), plan: Some(action.clone()), instance: None };
    for call in pending {
        question.calls.push(call.describe(tools, action).await);
    }
    let exact: Vec<&CallDigest> = question.calls.iter().map(|call| &call.asked.exact).collect();
    let subject = json!([tools.base.as_str(), action, request.params, question.rows(), exact]).to_string();
    let rejected = match (request.confirm, &request.confirmation_token) {
        (Some(true), Some(token)) => match redeem(tools, token, &subject) {
            Ok(()) => return Ok(()),
            Err(error) => Some(error),
        },
        _ => None,
    };
    let token = wants_token.then(|| tools.tokens.as_ref()?.issue(&subject)).flatten();
    let hint = match token {
        None => "Call it again with `confirm: true` once the user agrees to all of these.",
        Some(_) => {
            "Call it again as in `fix` once the user agrees to all of these: its `confirmation_token` is good for \
             these calls, once, within five minutes, while what they hit stays as it is."
        }
    };
    let call = consenting_call(request, action, token);
    Err(Ask { question, rejected, hint, call, notes: Vec::new() }.into_error())
}

/// The rules by which calls are asked about, each once if it is the same for all.
fn join_rules(pending: &[PendingCall]) -> String {
    let rules: Vec<String> = pending.iter().map(|call| call.rule.to_string()).collect();
    match rules.first() {
        Some(first) if rules.iter().all(|rule| rule == first) => first.clone(),
        _ => rules.join("; "),
    }
}

impl PendingCall {
    async fn digest(&self, tools: &Tools) -> CallDigest {
        match &self.prepared {
            Some(prepared) => refusal::digest_call(tools, &prepared.call).await,
            None => CallDigest::of_params(&tools.base, &self.action, &self.params),
        }
    }

    /// The object that it would hit.
    async fn target(&self, tools: &Tools) -> TargetObject {
        match &self.prepared {
            Some(prepared) => {
                look_up_target(tools, &prepared.call, &prepared.checked).await.unwrap_or_else(|error| {
                    TargetObject { unseen: Some(error.message), ..TargetObject::default() }
                })
            }
            None => TargetObject::default(),
        }
    }

    fn exact(&self, tools: &Tools, state: &Map<String, Value>) -> CallDigest {
        match &self.prepared {
            Some(prepared) => refusal::exact_digest(tools, &prepared.call, state),
            None => CallDigest::of_params(&tools.base, &self.action, &self.params),
        }
    }

    /// The call as one of a question about several.
    async fn describe(&self, tools: &Tools, plan: &str) -> QuestionedCall {
        let mut described = match &self.prepared {
            Some(prepared) => describe_call(tools, prepared.checked_call(), self.target(tools).await).await,
            None => self.describe_params(tools).await,
        };
        described.number = self.number;
        described.asked.plan = Some(plan.to_owned());
        described
    }

    /// The call by its parameters, where its request is not known beforehand.
    async fn describe_params(&self, tools: &Tools) -> QuestionedCall {
        let action = tools.catalog.get(&self.action).ok().flatten();
        let sentence = action.map(|action| Sentence::for_action(&action, &self.params)).unwrap_or_default();
        QuestionedCall {
            number: self.number,
            name: self.action.clone(),
            request: None,
            params: json!(self.params).to_string(),
            hit: Map::new(),
            unseen: None,
            asked: AskedCall {
                action: self.action.clone(),
                what: sentence.what.clone(),
                plan: None,
                digest: self.digest(tools).await,
                exact: self.exact(tools, &Map::new()),
                target: AuditTarget::default(),
            },
            sentence,
        }
    }
}
