//! Policy: read-only mode, rules, confirmation and audit.

pub mod audit;
pub mod confirmation;
pub mod confirmation_off;
pub mod consent;
pub mod effects;
pub mod file_rules;
pub mod location_spellings;
pub mod locations;
pub mod quick_actions;
pub mod raw_names;
pub mod read_only;
pub mod request_spellings;
pub mod settings;
pub mod shown_state;
pub mod single_use;
pub mod vault;
