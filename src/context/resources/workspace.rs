//! The client's workspace, as it tells of it.

use serde_json::{Map, Value, json};

use crate::present;

/// The most folders that are told.
const MOST: usize = 50;

/// A folder that the client has open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// Its address, `file:///home/me/widget`.
    pub uri: String,
    pub name: Option<String>,
}

/// What is known of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roots {
    Given(Vec<Root>),
    /// Why there is nothing.
    Unknown(&'static str),
}

/// The workspace as JSON: each folder with the project that it is a working copy of, and the project that is meant where
/// a call names none.
pub fn render_roots(roots: &Roots, of: &dyn Fn(&str) -> Option<String>, project: Option<&str>) -> String {
    let mut told = Map::new();
    match roots {
        Roots::Given(roots) => {
            told.insert("roots".to_owned(), roots.iter().take(MOST).map(|one| root(one, of)).collect());
            if roots.len() > MOST {
                told.insert("more".to_owned(), json!(roots.len() - MOST));
            }
        }
        Roots::Unknown(why) => {
            told.insert("roots".to_owned(), json!([]));
            told.insert("note".to_owned(), json!(why));
        }
    }
    told.insert("project".to_owned(), json!(project));
    format!("{:#}\n", Value::Object(told))
}

fn root(root: &Root, of: &dyn Fn(&str) -> Option<String>) -> Value {
    let name = root.name.as_deref().map(present::line);
    json!({"uri": present::line(&root.uri), "name": name, "project": of(&root.uri)})
}
