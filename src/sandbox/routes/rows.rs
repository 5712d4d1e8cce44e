//! Handlers for rows of any kind.

use crate::prelude::*;

/// The rows on the shelf that the path ends with.
pub fn list(request: &mut Request<'_>) -> Answer {
    let shelf = request.path_shelf()?;
    let kind = shelf.rsplit('/').next().unwrap_or_default();
    request.page_of(kind, request.world.rows(&shelf))
}

/// The row that the path names.
pub fn show(request: &mut Request<'_>) -> Answer {
    ok(request.show(&request.row()?))
}

/// Changes the fields that the parameters give.
pub fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let kind = shelf.rsplit('/').next().unwrap_or_default();
    let row = request.world.write(&shelf, row.num("id"), request.given(kind));
    ok(request.show(&row))
}

/// Takes the row off its shelf.
pub fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    request.delete(&shelf, &row)
}
