//! The main job in one breath, as a client that was written by someone else does it: find, then execute what was
//! found, on the sandbox.

use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};

use crate::support::client::program;

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn structured(result: CallToolResult) -> Value {
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

#[tokio::test]
async fn find_then_execute() {
    let command = tokio::process::Command::from(program(&["--sandbox"], &[]));
    let transport = TokioChildProcess::new(command).unwrap();
    let client = ClientConfig::default()
        .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize)
        .await
        .unwrap();
    let call = |tool: &'static str, arguments: Value| {
        client.call_tool(CallToolRequestParams::new(tool).with_arguments(object(&arguments)))
    };

    let found = structured(
        call("gitlab_find_action", json!({"query": "list the issues of a project"})).await.unwrap(),
    );
    let first = &found["results"][0];
    assert_eq!(first["action"], "issue.list", "{found}");

    let answer = structured(call("gitlab_execute_action", first["example"].clone()).await.unwrap());
    let titles =
        answer["data"]["columns"].as_array().unwrap().iter().position(|name| name == "title").unwrap();
    let rows = answer["data"]["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row[titles].is_string()), "{answer}");
    client.cancel().await.unwrap();
}
