//! Requests that this server makes for itself: look-ups of names, the diagnosis of a 404, verification of a lost
//! write, the target of a confirmation, the token's scopes.

pub mod gate;
pub mod locate;

use crate::call::Call;
use crate::gitlab::Reply;
use crate::messages::graphql_reply;
use crate::messages::request::CheckedCall;
use crate::tools::state::Tools;
use gate::{OwnReadError, Purpose};

/// Sends a read of this server's own, if policy permits it.
pub async fn send(tools: &Tools, call: Call, purpose: Purpose) -> Result<Reply, OwnReadError> {
    let located = Box::pin(locate::locate(tools, call.effects())).await;
    gate::send(tools, locate::apply_paths(call, &located), purpose).await
}

/// Sends a read of this server's own, and takes the data of a GraphQL operation out of its reply.
pub async fn send_and_unwrap(
    tools: &Tools,
    call: CheckedCall<'_>,
    purpose: Purpose,
) -> Result<Reply, OwnReadError> {
    let reply = send(tools, call.call.clone(), purpose).await?;
    graphql_reply::unwrap_own_read(reply, call.checked.action(), call.call).map_err(OwnReadError::Graphql)
}
