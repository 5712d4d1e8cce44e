//! The outcome of one action: a response of GitLab that is rendered later, or an answer that is finished.

use crate::call::Call;
use crate::catalog::Action;
use crate::gitlab::Reply;
use crate::messages::empty_list::{self, EmptyList};
use crate::messages::error::ToolError;
use crate::messages::request::{Answer, ExecuteRequest};
use crate::present::{Picture, PictureError};
use crate::tools::compute::compute;
use crate::tools::error_mapping;
use crate::tools::reply::render::DecodedReply;
use crate::tools::reply::{paging, render};
use crate::tools::state::Tools;
use crate::tools::workspace;

/// Outcome of an action.
#[derive(Debug)]
pub enum Outcome {
    Response(Box<ActionResponse>),
    /// A finished answer: a preview, or a saved download.
    Answer(Answer),
}

/// A response of GitLab that is not rendered yet.
#[derive(Clone, Debug)]
pub struct ActionResponse {
    pub reply: Reply,
    pub call: Call,
    /// By the action's id and its own parameters.
    pub request: ExecuteRequest,
    pub action: Action,
    pub notes: Vec<String>,
    /// Paths of the requested fields in the reply.
    pub fields: Vec<String>,
    /// Fields whose texts were edited; the answer does not repeat them.
    pub edited: Vec<String>,
    /// The picture that the reply is.
    pub picture: Option<Result<Picture, PictureError>>,
}

impl ActionResponse {
    /// The error of a plan that needs every row of a list of which only the first were kept.
    pub fn truncated(&self, kept: usize, response: usize) -> ToolError {
        error_mapping::truncated(&self.action, kept, response)
    }

    /// The answer, of which the data has at most so many bytes.
    pub fn answer(self, tools: &Tools, budget: usize) -> Answer {
        let ActionResponse { reply, call, request, fields, edited, action, notes, picture } = self;
        let bytes = reply.bytes;
        let past_end = paging::past_end(&reply, &request, &action);
        // Without the words on lists, the answer is complete without a wider call.
        let words = tools.catalog().words().ok();
        let empty = words.and_then(|words| EmptyList::of(&reply, &request, &action, &words.lists));
        let hint = workspace::copy_note(tools, &action, &request.params);
        let reply = DecodedReply { reply, picture };
        let present = || {
            render::render_answer(tools, budget, (&request, &fields, &edited), &action, &call, reply, notes)
        };
        let answer = compute(bytes, present);
        let answer = workspace::with_note(hint, answer);
        let answer = past_end.into_iter().fold(answer, |answer, past_end| past_end.add_to(answer));
        let answer = empty.into_iter().fold(answer, |answer, empty| empty.add_to(answer));
        match words {
            Some(words) => empty_list::name_missing(answer, &action, words),
            None => answer,
        }
    }

    /// Number of bytes of the answer's data, if all rows of the list are shown within so many.
    pub fn shown_bytes(&self, tools: &Tools, budget: usize) -> Option<usize> {
        let (request, fields) = (&self.request, self.fields.as_slice());
        let reply = DecodedReply { reply: self.reply.clone(), picture: self.picture.clone() };
        let measure = || {
            let mut notes = Vec::new();
            render::present_reply(
                tools,
                budget,
                (request, fields),
                (&self.action, &self.call),
                reply,
                &mut notes,
            )
        };
        let shown = compute(self.reply.bytes, measure);
        let bytes = shown.data.to_string().len();
        (shown.rows.is_none() && bytes <= budget).then_some(bytes)
    }
}
