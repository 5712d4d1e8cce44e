//! GitLab's documentation of its REST interface. The program that starts a sandbox has it; the sandbox asks.

use std::error::Error;
use std::fmt;

/// The documentation cannot be read.
pub type Unreadable = Box<dyn Error + Send + Sync>;

/// The operations of GitLab's REST interface in one version.
pub trait Documentation: fmt::Debug + Send + Sync {
    /// The version, such as `19.5`.
    fn version(&self) -> String;

    /// The operations that are documented for a method and a path such as `/projects/:id/issues`, which may lack the
    /// `-` that GitLab leaves to choice.
    fn operations(&self, method: &str, path: &str) -> Result<Vec<DocumentedOperation>, Unreadable>;

    /// The methods that are documented for the segments of a request's path.
    fn methods(&self, segments: &[String]) -> Result<Vec<&'static str>, Unreadable>;
}

/// An operation with its parameters.
#[derive(Debug)]
pub struct DocumentedOperation {
    /// A later version than this one brought it.
    pub is_newer: bool,
    /// Its parameters.
    pub params: Vec<DocumentedParam>,
}

/// A parameter of an operation.
#[derive(Debug)]
pub struct DocumentedParam {
    /// The name, as it is sent.
    pub name: String,
    /// A later version than this one brought it.
    pub is_newer: bool,
    /// True for a part of the path.
    pub in_path: bool,
    /// GitLab checks its type and values: it is declared where Grape reads them.
    pub is_declared: bool,
    /// The kind of its values.
    pub kind: ParamKind,
    /// True for a list.
    pub many: bool,
    /// The values that it takes, if those are listed.
    pub choices: Vec<String>,
}

/// The kind of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Whole numbers.
    Integer,
    /// `true` and `false`.
    Boolean,
    /// Anything else.
    Other,
}
