//! Input lines of a client: every output line is a message, and the server ends at the end of input.

#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use gitlab_mcp::server::{Backend, serve_on};
use gitlab_mcp::tools::{Answer, ExecuteRequest, FindRequest, Route, ToolError};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());

struct Silent;

impl Backend for Silent {
    fn find(&self, _: &FindRequest, _: Option<&Route>) -> Result<Answer, ToolError> {
        Ok(Answer::new(Map::new(), "found".to_owned()))
    }

    async fn execute(&self, _: &ExecuteRequest) -> Result<Answer, ToolError> {
        Ok(Answer::new(Map::new(), "done".to_owned()))
    }
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}"#;

fuzz_target!(|data: &[u8]| {
    RUNTIME.block_on(async {
        let (mut input, reader) = tokio::io::duplex(1 << 20);
        let (writer, mut output) = tokio::io::duplex(1 << 24);
        let server = serve_on(Arc::new(Silent), reader, writer);
        let talk = async {
            input.write_all(HELLO.as_bytes()).await.unwrap();
            input.write_all(b"\n").await.unwrap();
            input.write_all(data).await.unwrap();
            drop(input);
            let mut said = Vec::new();
            output.read_to_end(&mut said).await.unwrap();
            said
        };
        let both = async { tokio::join!(server, talk) };
        let (ended, said) =
            tokio::time::timeout(Duration::from_secs(10), both).await.expect("the server ends");
        ended.expect("an end of input is no failure");
        for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message: Value = serde_json::from_slice(line).expect("a line is a message");
            assert_eq!(message["jsonrpc"], "2.0");
        }
    });
});
