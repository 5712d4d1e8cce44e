//! Waits for a state: after the call, a read of this server's own shows the state again and again, until it ends, is the
//! one that was asked for, or the time is over. The wait ends with the call when it is cancelled.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use crate::catalog::Risk;
use crate::gitlab::{self, Content, Event, Reply};
use crate::messages::error::ToolError;
use crate::text::pick_fields;
use crate::tools::finish::finishing::Finishing;
use crate::tools::lookups;
use crate::tools::own_reads::gate::{Purpose, ReadError};
use crate::tools::prepare::requested_wait::{RequestedWait, SECONDS, STATE};
use crate::tools::response::ActionResponse;
use crate::tools::state::Tools;
use crate::untrusted::{quote, shortened};

/// Pauses between reads: the first, the longest, and the growth of each by the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(15);
const GROWTH: f32 = 1.5;

/// Number of reads in a row that may fail.
const MAX_FAILURES: usize = 3;

/// Waits for the state that the call asks for.
pub async fn wait_for_state(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    if let Some(wait) = &finishing.wait {
        wait.poll(finishing.tools, &mut finishing.response).await;
    }
    Ok(())
}

impl RequestedWait {
    /// True if there is nothing more to wait for in a state.
    fn is_over(&self, state: &str) -> bool {
        self.state.as_deref() == Some(state) || self.rule.ends.iter().any(|end| end == state)
    }

    fn state_of<'o>(&self, object: &'o Value) -> Option<&'o str> {
        object.get(&self.rule.field).and_then(Value::as_str)
    }

    /// Replaces the reply of the call by that of the last read; the note says how the wait ended.
    async fn poll(&self, tools: &Tools, response: &mut ActionResponse) {
        let ActionResponse { action, request, reply, notes, .. } = response;
        let Content::Json(first) = &reply.content else { return };
        let Some(state) = self.state_of(first) else { return };
        let read = self.read_params(tools, &request.params, first);
        // The response of a change may have the state of before.
        let mut is_over = action.risk == Risk::Read && self.is_over(state);
        let mut state = state.to_owned();
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut failures = 0;
        while !is_over && start.elapsed() < self.time {
            gitlab::notify(Event::Waiting { state: shortened(&state, 40), elapsed: start.elapsed() });
            sleep(pause.min(self.time.saturating_sub(start.elapsed()))).await;
            pause = pause.mul_f32(GROWTH).min(MAX_PAUSE);
            let object = match lookups::read_once(tools, &self.rule.read, read.clone(), Purpose::Join).await {
                Ok((_, Reply { content: Content::Json(object), .. })) => object,
                Ok(_) => break,
                Err(error) => {
                    failures += 1;
                    let is_final = matches!(error, ReadError::NotSent(_)) || failures == MAX_FAILURES;
                    if is_final {
                        notes.push(format!("the wait ended early: {} failed", self.rule.read));
                        return;
                    }
                    continue;
                }
            };
            failures = 0;
            if let Some(now) = self.state_of(&object) {
                state = now.to_owned();
                is_over = self.is_over(now);
                reply.content = Content::Json(object);
            }
        }
        notes.push(self.note(&state, is_over, start.elapsed(), &read));
    }

    /// The parameters of the read: those that the call has as well, and fields of its answer.
    fn read_params(&self, tools: &Tools, params: &Map<String, Value>, answer: &Value) -> Map<String, Value> {
        let action = tools.catalog.get(&self.rule.read).ok().flatten();
        let mut read = pick_fields(params, |name| {
            let param = action.as_ref().and_then(|action| action.param(name));
            param.is_some() && name != SECONDS && name != STATE
        });
        for (name, field) in &self.rule.takes {
            read.extend(answer.get(field).map(|value| (name.clone(), value.clone())));
        }
        read
    }

    fn note(&self, state: &str, is_over: bool, elapsed: Duration, read: &Map<String, Value>) -> String {
        let (shown, seconds) = (quote(state), elapsed.as_secs());
        match &self.state {
            Some(wanted) if is_over && wanted != state => {
                format!("waited {seconds} s: it ended as {shown} and was not seen as {}", quote(wanted))
            }
            _ if is_over => format!("waited {seconds} s: it is {shown}"),
            _ => {
                let again = json!({"action": self.rule.read, "params": self.again(read)});
                format!("waited {seconds} s: it is still {shown}; to wait on: {again}")
            }
        }
    }

    /// The parameters of the call that goes on waiting.
    fn again(&self, read: &Map<String, Value>) -> Map<String, Value> {
        let mut params = read.clone();
        params.insert(SECONDS.to_owned(), json!(self.time.as_secs()));
        params.extend(self.state.iter().map(|state| (STATE.to_owned(), json!(state))));
        params
    }
}
