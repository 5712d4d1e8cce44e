//! The embedded sandbox.

pub mod against_graphql_schema;
pub mod against_openapi;
pub mod behavior;
pub mod graphql;
pub mod rest;

use std::sync::Once;

use gitlab_mcp::sandbox::Sandbox;

/// A sandbox and a client of it; the modules add the requests of their API.
struct World {
    sandbox: Sandbox,
    http: reqwest::Client,
}

impl World {
    async fn new() -> World {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        World { sandbox: Sandbox::start().await.unwrap(), http }
    }
}
