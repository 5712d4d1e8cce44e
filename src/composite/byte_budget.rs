//! Byte budget of several answers within one: small answers are whole, large ones are cut to equal shares of the
//! rest.

pub use crate::text::share;
use crate::tools::response::Outcome;
use crate::tools::{Answer, ToolError, Tools};

/// Bytes reserved per answer for its name and status.
pub const AROUND: usize = 160;

/// Renders the answers of steps in order, together within the size limit of one answer.
pub fn render_within_budget(
    tools: &Tools,
    outcomes: Vec<Result<Outcome, ToolError>>,
) -> Vec<Result<Answer, ToolError>> {
    let budget = tools.max_bytes.saturating_sub(AROUND * outcomes.len());
    let whole: Vec<Result<Answer, ToolError>> =
        outcomes.iter().map(|outcome| render_outcome(tools, outcome, budget)).collect();
    let sizes: Vec<usize> = whole.iter().map(size).collect();
    let share = share(&sizes, budget);
    let cut = whole.into_iter().zip(&outcomes).zip(sizes);
    cut.map(
        |((whole, outcome), size)| if size > share { render_outcome(tools, outcome, share) } else { whole },
    )
    .collect()
}

fn render_outcome(
    tools: &Tools,
    outcome: &Result<Outcome, ToolError>,
    budget: usize,
) -> Result<Answer, ToolError> {
    match outcome {
        Ok(Outcome::Response(outcomes)) => Ok(outcomes.as_ref().clone().answer(tools, budget)),
        Ok(Outcome::Answer(answer)) => Ok(answer.clone()),
        Err(error) => Err(error.clone()),
    }
}

/// Size in bytes of an answer or an error.
fn size(answer: &Result<Answer, ToolError>) -> usize {
    match answer {
        Ok(answer) => answer.structured.get("data").map_or(0, |data| data.to_string().len()),
        Err(error) => error.text().len(),
    }
}
