//! gitlab_execute_action.

pub mod answer_shapes;
pub mod both_forms;
pub mod calls;
pub mod changes;
pub mod choice_of_operation;
pub mod corrections;
pub mod counting;
pub mod default_project;
mod direct_api;
pub mod edits;
pub mod given_forms;
mod graphql;
pub mod input_limits;
pub mod instance_version;
pub mod label_names;
pub mod lookups;
pub mod masking;
pub mod names;
pub mod output_size;
pub mod path_values;
pub mod pictures;
pub mod presentation;
pub mod references;
pub mod sandbox_seeds;
pub mod state_wait;
pub mod states;
pub mod uploads;
