//! The client's workspace as a resource.

use serde_json::{Map, Value, json};

use crate::present;

/// Maximum number of folders.
const MAX_FOLDERS: usize = 50;

/// A folder that the client has open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// URI, such as `file:///home/me/widget`.
    pub uri: String,
    pub name: Option<String>,
}

/// The client's roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roots {
    Given(Vec<Root>),
    /// The reason why none are known.
    Unknown(&'static str),
}

/// The project of a folder, and the name of its instance if several are configured.
type ProjectOf<'a> = &'a dyn Fn(&str) -> Option<(String, Option<String>)>;

/// Renders the workspace as JSON: each folder with its project, and the default project.
pub fn render_roots(roots: &Roots, of: ProjectOf<'_>, project: Option<&str>) -> String {
    let mut told = Map::new();
    match roots {
        Roots::Given(roots) => {
            let shown = roots.iter().take(MAX_FOLDERS).map(|one| root(one, of));
            told.insert("roots".to_owned(), shown.collect());
            if roots.len() > MAX_FOLDERS {
                told.insert("more".to_owned(), json!(roots.len() - MAX_FOLDERS));
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

fn root(root: &Root, of: ProjectOf<'_>) -> Value {
    let name = root.name.as_deref().map(present::line);
    let (project, instance) = of(&root.uri).unzip();
    let mut told = json!({"uri": present::line(&root.uri), "name": name, "project": project});
    if let (Some(Some(instance)), Some(told)) = (instance, told.as_object_mut()) {
        told.insert("instance".to_owned(), json!(instance));
    }
    told
}
