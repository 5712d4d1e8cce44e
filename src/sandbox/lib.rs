//! An embedded GitLab: a small, realistic world held in memory and served over HTTP on loopback.
//!
//! The sandbox answers the REST v4 interface, and GraphQL for most of its data, with GitLab's own paths, parameters,
//! statuses and shapes. Writes are kept while it runs, and it is the same at every start: fixed ids, fixed times, and a
//! clock that only moves with a write. A route or a parameter that GitLab has and the sandbox does not answers `501`,
//! never something made up; a parameter that GitLab does not have is ignored, as GitLab does.
//!
//! In reading order: `http` is the edge and the only file that names axum; `site` has the parts and builds them at the
//! first request; `request` and `args` are a handler's input; `answer`, `reply`, `errors` and `page` its output;
//! `router` finds it, `access` decides whether it may run, and `documented` knows what GitLab has,
//! from the [`Documentation`] that it is started with. `state`
//! keeps rows of JSON on shelves named like the API's own paths, `kinds` gives the shape of a row of each kind,
//! `cron` says when a schedule runs, `kind_routes` serves the kinds that need no code, `routes` has the code of the others, `repo` and `diff` are the
//! repositories, and `seed` builds the world. `graphql` asks the same handlers in GraphQL's terms.

mod access;
mod access_level;
mod answer;
mod archive;
mod args;
mod cron;
mod declared;
mod diff;
mod documentation;
mod documented;
mod errors;
mod filter;
mod git_object;
mod graphql;
mod http;
mod journal;
mod kind_routes;
mod kinds;
mod level;
mod page;
mod pipeline;
mod prelude;
mod reply;
mod repo;
mod repo_author;
mod request;
mod route;
mod router;
mod routes;
mod row;
mod seed;
mod site;
mod start_error;
mod state;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use documentation::{Documentation, DocumentedOperation, DocumentedParam, ParamKind, Unreadable};
pub use documented::normal as normal_path;
pub use start_error::SandboxError;

/// The personal access token of `sandbox`, who owns the group `acme` and is not an administrator.
pub const TOKEN: &str = "glpat-sandbox";
/// The token of `erin`, who may read public and internal objects and is a member of nothing.
pub const READER_TOKEN: &str = "glpat-sandbox-reader";
/// A token of `sandbox` that has only the scope `read_api`: every write answers 403.
pub const READ_API_TOKEN: &str = "glpat-sandbox-read-api";
/// A token of `sandbox` that has expired: everything answers 401.
pub const EXPIRED_TOKEN: &str = "glpat-sandbox-expired";
/// The token of the administrator `root`.
pub const ADMIN_TOKEN: &str = "glpat-sandbox-admin";

/// A running sandbox. Dropping it stops the server.
#[derive(Debug)]
pub struct Sandbox {
    url: String,
    _running: oneshot::Sender<()>,
}

impl Sandbox {
    /// The personal access token to use; see [`TOKEN`].
    pub const TOKEN: &str = TOKEN;

    /// Serves on a free port of loopback, on the current tokio runtime. The world is built by the first request. With
    /// a file, its changes are kept there for the next start.
    pub async fn start(
        file: Option<PathBuf>,
        documentation: Arc<dyn Documentation>,
    ) -> Result<Self, SandboxError> {
        let journal = file.map(journal::Journal::open).transpose()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(address).await.map_err(SandboxError::Listen)?;
        let port = listener.local_addr().map_err(SandboxError::Listen)?.port();
        let url = format!("http://127.0.0.1:{port}");
        let (running, stopped) = oneshot::channel();
        http::serve(
            listener,
            Arc::new(site::Site::new(url.clone(), journal, documented::Documented::new(documentation))),
            stopped,
        );
        Ok(Self { url, _running: running })
    }

    /// Method and path of every REST route, the path as in GitLab's documentation: `/projects/:id/issues/:issue_iid`.
    pub fn routes() -> Result<Vec<(&'static str, String)>, SandboxError> {
        let routes = router::all(&kinds::Kinds::load()?);
        Ok(routes.iter().map(|route| (route.method, route.path.clone().into_owned())).collect())
    }

    /// Base address, such as `http://127.0.0.1:40123`; the API is under `/api/v4`.
    pub fn url(&self) -> &str {
        &self.url
    }
}
