//! Targets, paths and names as people paste them, and raw paths of the REST API.

#![no_main]

mod checked;

use checked::{CATALOG, call, sound};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, json};

const ACTIONS: [&str; 6] = [
    "issue.get",
    "merge_request.update",
    "project.get",
    "repository_file.get",
    "work_item.get",
    "epic.delete",
];

fuzz_target!(|text: &str| {
    for id in ACTIONS {
        let action = CATALOG.get(id).unwrap().unwrap();
        let _ = call(action.clone(), Map::from_iter([("target".to_owned(), json!(text))]))
            .map(|call| sound(&call));
        let named = Map::from_iter([("fullPath".to_owned(), json!(text)), ("iid".to_owned(), json!(text))]);
        let _ = call(action, named).map(|call| sound(&call));
    }
    let direct = CATALOG.get("api.rest").unwrap().unwrap();
    for method in ["GET", "DELETE"] {
        let params = Map::from_iter([("method".to_owned(), json!(method)), ("path".to_owned(), json!(text))]);
        let _ = call(direct.clone(), params).map(|call| sound(&call));
    }
});
