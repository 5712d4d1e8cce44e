//! The parts of a running sandbox. Each is built when the first request needs it: a program that starts with a sandbox
//! answers its client before that, and most never need the GraphQL schema.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::documented::Documented;
use super::errors::Fault;
use super::graphql::{self, Engine};
use super::journal::{Journal, KeptWrite};
use super::kinds::Kinds;
use super::reply::{Body, Reply};
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
    fn start(url: &str, documented: &Documented) -> Result<Self, SandboxError> {
        let kinds = Kinds::load()?;
        let routes = Routes::new(&kinds, documented.clone());
        let version = documented.version();
        Ok(Self { world: Mutex::new(seed::build(url.to_owned(), kinds, version)?), routes })
    }
}

/// A sandbox at an address.
#[derive(Debug)]
pub struct Site {
    url: String,
    journal: Option<Journal>,
    documented: Documented,
    rest: OnceLock<Result<Rest, SandboxError>>,
    graphql: OnceLock<Result<Engine, SandboxError>>,
}

impl Site {
    /// A sandbox of which nothing is built yet; `url` has no slash at its end. With a journal it goes on where the last
    /// one with that journal ended.
    pub fn new(url: String, journal: Option<Journal>, documented: Documented) -> Self {
        Self { url, journal, documented, rest: OnceLock::new(), graphql: OnceLock::new() }
    }

    /// Answers a request.
    pub fn answer(&self, incoming: Incoming) -> Reply {
        self.try_answer(incoming).unwrap_or_else(|error| Fault::Broken(error.to_string()).reply())
    }

    fn try_answer(&self, incoming: Incoming) -> Result<Reply, &SandboxError> {
        let rest = self.rest.get_or_init(|| self.build()).as_ref()?;
        let is_graphql = incoming.path.trim_end_matches('/') == graphql::PATH;
        let kept = self.journal.as_ref().and_then(|journal| Some((journal, KeptWrite::of(&incoming)?)));
        // A handler that panicked left no row half written that another could not read.
        let mut world = rest.world.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = self.act(rest, &mut world, incoming)?;
        if let Some((journal, write)) = kept.filter(|_| changes_world(&reply, is_graphql))
            && let Err(error) = journal.add(&write)
        {
            tracing::error!(%error, "a change of the sandbox is not kept");
        }
        Ok(reply)
    }

    /// The world at the start, with the kept writes made again.
    fn build(&self) -> Result<Rest, SandboxError> {
        let rest = Rest::start(&self.url, &self.documented)?;
        for write in self.journal.as_ref().map(Journal::writes).transpose()?.unwrap_or_default() {
            let what = format!("{} {}", write.method, write.path);
            let mut world = rest.world.lock().unwrap_or_else(PoisonError::into_inner);
            let reply = self
                .act(&rest, &mut world, write)
                .map_err(|error| SandboxError::Unknown(error.to_string()))?;
            if reply.status >= 400 {
                tracing::warn!("{what}, which the sandbox's file has, is no longer accepted");
            }
        }
        Ok(rest)
    }

    fn act(&self, rest: &Rest, world: &mut World, incoming: Incoming) -> Result<Reply, &SandboxError> {
        if incoming.path.trim_end_matches('/') == graphql::PATH {
            let engine = self.graphql.get_or_init(Engine::load).as_ref()?;
            return Ok(engine.answer(world, &rest.routes, incoming));
        }
        Ok(answer(world, &rest.routes, incoming))
    }
}

/// False for a refusal. GraphQL's has the status 200 and no data; with data, a part of the document was carried out.
fn changes_world(reply: &Reply, is_graphql: bool) -> bool {
    let has_data =
        matches!(&reply.body, Body::Json(body) if body.get("data").is_some_and(|data| !data.is_null()));
    reply.status < 400 && (has_data || !is_graphql)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::documentation::{Documentation, DocumentedOperation, Unreadable};

    /// A GitLab that documents nothing.
    #[derive(Debug)]
    struct Undocumented;

    impl Documentation for Undocumented {
        fn version(&self) -> String {
            "19.5".to_owned()
        }

        fn operations(&self, _: &str, _: &str) -> Result<Vec<DocumentedOperation>, Unreadable> {
            Ok(Vec::new())
        }

        fn methods(&self, _: &[String]) -> Result<Vec<&'static str>, Unreadable> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn what_a_request_does_not_need_is_not_built() {
        let site = Site::new("http://127.0.0.1:1".to_owned(), None, Documented::new(Arc::new(Undocumented)));
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
