//! The steps of the search, a file each.
