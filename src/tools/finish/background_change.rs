//! Changes that GitLab makes after it has answered: the object is read again by its id until it has changed, for a few
//! seconds. An answer that still has the object of before is an acceptance, never a change that was made.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use crate::call::Body;
use crate::catalog::BackgroundChange;
use crate::gitlab::{self, Content, Event, Reply};
use crate::messages::error::ToolError;
use crate::tools::finish::finishing::Finishing;
use crate::tools::lookups;
use crate::tools::own_reads::gate::{Purpose, ReadError};
use crate::tools::response::ActionResponse;
use crate::tools::state::Tools;

/// Longest time from the answer to the last read.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const GROWTH: f32 = 1.5;

/// HTTP 202: the status of a change that GitLab has yet to make, whatever status it answered.
const ACCEPTED: u16 = 202;

/// Reads the object back if the answer of a change in the background has it as it was.
pub async fn read_back(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let tools = finishing.tools;
    let response = &mut finishing.response;
    let Ok(words) = tools.catalog.words() else { return Ok(()) };
    let mut rules = words.changes.background.iter();
    if let Some(rule) = rules.find(|rule| rule.actions.contains(&response.action.id)) {
        follow(tools, rule, response).await;
    }
    Ok(())
}

async fn follow(tools: &Tools, rule: &BackgroundChange, response: &mut ActionResponse) {
    let Content::Json(object) = &response.reply.content else { return };
    let sent = sent_value(response, &rule.param);
    let Some(id) = object.get("id").filter(|_| !is_made(rule, &sent, object)) else { return };
    let read = Map::from_iter([("fullPath".to_owned(), json!(id.to_string()))]);
    let again = json!({"action": rule.read, "params": read});
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    while start.elapsed() < PATIENCE {
        gitlab::notify(Event::Waiting { state: "accepted".to_owned(), elapsed: start.elapsed() });
        sleep(pause.min(PATIENCE.saturating_sub(start.elapsed()))).await;
        pause = pause.mul_f32(GROWTH);
        match lookups::read_once(tools, &rule.read, read.clone(), Purpose::Target).await {
            Ok((_, Reply { content: Content::Json(now), .. })) if is_made(rule, &sent, &now) => {
                response.reply.content = Content::Json(now);
                return;
            }
            Err(ReadError::NotSent(_)) => break,
            // A read that fails says nothing on the change.
            _ => {}
        }
    }
    response.reply.status = ACCEPTED;
    let seconds = start.elapsed().as_secs();
    response.notes.push(format!(
        "not seen within {seconds} s; do not send it again. To see whether it is done: {again}; a failure shows in {}",
        rule.failure
    ));
}

/// The value that the request had for the parameter; null if it had none.
fn sent_value(response: &ActionResponse, name: &str) -> Value {
    let body = match response.call.body() {
        Body::Json(body) => body.get(name),
        _ => None,
    };
    body.cloned().unwrap_or(Value::Null)
}

/// True if the object has the new value. GitLab takes an id as a number or a text, and a path in any case.
fn is_made(rule: &BackgroundChange, sent: &Value, object: &Value) -> bool {
    let written = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_lowercase);
    let mut shown =
        rule.shown_in.iter().filter_map(|path| object.pointer(&format!("/{}", path.replace('.', "/"))));
    shown.any(|value| written(value) == written(sent))
}
