//! The parts of a running sandbox. Each is built when the first request needs it: a program that starts with a sandbox
//! answers its client before that, and most never need the GraphQL schema.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::errors::Fault;
use super::graphql::{self, Engine};
use super::kinds::Kinds;
use super::reply::Reply;
use super::request::Incoming;
use super::router::{Routes, answer};
use super::seed;
use super::start_error::SandboxError;
use super::state::World;

/// The world and the way to each handler.
#[derive(Debug)]
struct Rest {
    /// One request at a time reads or changes the world.
    world: Mutex<World>,
    routes: Routes,
}

impl Rest {
    fn build(url: &str) -> Result<Self, SandboxError> {
        let kinds = Kinds::load()?;
        let routes = Routes::new(&kinds)?;
        Ok(Self { world: Mutex::new(seed::build(url.to_owned(), kinds)?), routes })
    }
}

/// A sandbox at an address.
#[derive(Debug)]
pub struct Site {
    url: String,
    rest: OnceLock<Result<Rest, SandboxError>>,
    graphql: OnceLock<Result<Engine, SandboxError>>,
}

impl Site {
    /// A sandbox of which nothing is built yet; `url` has no slash at its end.
    pub fn new(url: String) -> Self {
        Self { url, rest: OnceLock::new(), graphql: OnceLock::new() }
    }

    /// Answers a request.
    pub fn answer(&self, incoming: Incoming) -> Reply {
        self.try_answer(incoming).unwrap_or_else(|error| Fault::Broken(error.to_string()).reply())
    }

    fn try_answer(&self, incoming: Incoming) -> Result<Reply, &SandboxError> {
        let rest = self.rest.get_or_init(|| Rest::build(&self.url)).as_ref()?;
        // A handler that panicked left no row half written that another could not read.
        let mut world = rest.world.lock().unwrap_or_else(PoisonError::into_inner);
        if incoming.path.trim_end_matches('/') == graphql::PATH {
            let engine = self.graphql.get_or_init(Engine::load).as_ref()?;
            return Ok(engine.answer(&mut world, &rest.routes, incoming));
        }
        Ok(answer(&mut world, &rest.routes, incoming))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_does_not_need_is_not_built() {
        let site = Site::new("http://127.0.0.1:1".to_owned());
        assert!(site.rest.get().is_none(), "the start waits for the world");
        let request = |method: &str, path: &str| Incoming {
            method: method.to_owned(),
            path: path.to_owned(),
            ..Incoming::default()
        };
        assert_eq!(site.answer(request("GET", "/api/v4/projects/acme%2Fsite")).status, 200);
        assert!(site.graphql.get().is_none(), "a REST request waits for the GraphQL schema");
        assert_eq!(site.answer(request("POST", graphql::PATH)).status, 200);
        assert!(site.graphql.get().is_some());
    }
}
