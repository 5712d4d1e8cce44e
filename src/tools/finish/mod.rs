//! What follows a reply, in a fixed order of stages. A stage acts only on actions whose entry in the catalog asks for it.

mod background_change;
mod blame;
mod finishing;
mod joined_reads;
mod lfs_pointer;
mod log_search;
mod readable_rows;
mod row_additions;
pub mod row_filter;
mod state_wait;
mod unknown_filters;
mod unwrap;

use futures_util::future::BoxFuture;

use crate::messages::error::ToolError;
use crate::tools::compute::decode_picture;
use crate::tools::file_transfer;
use crate::tools::prepare::{Circumstances, Prepared};
use crate::tools::response::{ActionResponse, Outcome};
use crate::tools::send::SentCall;
use crate::tools::state::Tools;
use finishing::Finishing;

/// One step from a reply to an answer.
type Stage = for<'f> fn(&'f mut Finishing<'_>) -> BoxFuture<'f, Result<(), ToolError>>;

/// The stages of a reply that is shown, in order. One that is saved to a file ends before them.
const STAGES: [Stage; 10] = [
    |finishing| Box::pin(unwrap::unwrap_reply(finishing)),
    |finishing| Box::pin(log_search::select_log(finishing)),
    |finishing| Box::pin(state_wait::wait_for_state(finishing)),
    |finishing| Box::pin(background_change::read_back(finishing)),
    |finishing| Box::pin(joined_reads::add_rows(finishing)),
    |finishing| Box::pin(row_additions::add_fields(finishing)),
    |finishing| Box::pin(row_filter::keep_rows(finishing)),
    |finishing| Box::pin(lfs_pointer::name_pointer(finishing)),
    |finishing| Box::pin(blame::number_lines(finishing)),
    |finishing| Box::pin(unknown_filters::add_notes(finishing)),
];

/// Turns the reply of a call into its outcome.
pub async fn finish(
    tools: &Tools,
    prepared: Prepared,
    sent: SentCall,
    circumstances: Circumstances<'_>,
) -> Result<Outcome, ToolError> {
    let SentCall { call, reply, note } = sent;
    let Prepared { action, request, checked, mut notes, fields, wait, log, texts, .. } = prepared;
    notes.extend(note);
    readable_rows::check_list(&action, &call, &reply, &request)?;
    let reply = readable_rows::keep_readable(tools, &call, reply, &mut notes)?;
    if let Some(path) = &request.save_to {
        return file_transfer::save_download(tools, (&request, path), &call, reply, notes)
            .map(Outcome::Answer);
    }
    let is_alone = request.fields.is_none() && !circumstances.is_internal;
    let edited = texts.into_iter().map(|text| text.field).collect();
    let response = ActionResponse { reply, call, request, action, notes, fields, edited, picture: None };
    let mut finishing = Finishing { tools, checked, response, wait, log, is_alone };
    for stage in STAGES {
        stage(&mut finishing).await?;
    }
    let mut response = finishing.response;
    let params = finishing.checked.params();
    let has = |name: &String| params.contains_key(name);
    let has_note = !response.action.answer_note_without.iter().any(has)
        && response.action.answer_note_with.iter().all(has);
    let answer_note = response.action.answer_note.clone();
    response.notes.extend(answer_note.filter(|_| has_note && !circumstances.is_internal));
    response.picture = decode_picture(&response.reply.content).await;
    Ok(Outcome::Response(Box::new(response)))
}
