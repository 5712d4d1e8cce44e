//! All of GitLab for an AI client through two tools. The modules in reading order:
//!
//! - [`untrusted`]: text from outside within our own: token shapes, masking of known secrets, quotation.
//! - [`catalog`]: actions, operations, parameters and words. The only module that reads the embedded data.
//! - [`search`]: words to ranked actions. The server names tantivy and strsim here alone.
//! - [`call`]: an action and its parameters to a checked [`call::Call`].
//! - [`policy`]: may this call run.
//! - [`gitlab`]: one client for every call. reqwest is named here alone.
//! - [`credentials`]: where the token of an instance comes from, and how it is renewed.
//! - [`files`]: files of this machine that calls read and write. cap-std is named here alone.
//! - [`text`]: text algorithms: diffs, windows, search, truncation.
//! - [`present`]: renders a response for a model.
//! - [`guides`]: guides and prompts, in words of our own.
//! - [`messages`]: requests of the tools, answers, errors and questions.
//! - [`tools`]: find and execute, as the server and the command line offer them.
//! - [`composite`]: actions made of other actions, which [`tools`] executes.
//! - [`context`]: resources, prompts and completions.
//! - [`surface`]: the shapes in which a client sees the catalog: two tools, a tool a family, a tool an action, toolsets.
//! - [`server`]: the tools over MCP. rmcp is named here alone.
//! - [`documentation`]: starts the sandbox, an embedded GitLab that is a crate of its own, with the catalog's documentation of
//!   GitLab.
//! - [`config`]: arguments, environment and file to one validated configuration. The environment is read here alone.
//! - [`cli`]: the arguments and subcommands.

pub mod call;
pub mod catalog;
pub mod cli;
pub mod composite;
pub mod config;
pub mod context;
pub mod credentials;
pub mod documentation;
pub mod files;
pub mod gitlab;
pub mod guides;
pub mod messages;
pub mod policy;
pub mod present;
pub mod search;
pub mod server;
pub mod surface;
pub mod text;
pub mod tools;
pub mod untrusted;
