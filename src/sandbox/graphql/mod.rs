//! GraphQL over the same world: `POST /api/graphql`, from a schema that is a part of GitLab's own.
//!
//! The schema is in `schema/*.graphql`; parsing, validation and execution are a library's. The REST interface next door
//! supplies each field, so that permissions, filters and the effects of writes are defined in one place: `fields.json`
//! says which request or which key of a row feeds a field, `mutations.json` which request a mutation is. A field in
//! neither is the row's member of the same name in snake_case.
//!
//! In reading order: `table` reads those two files; `session` asks the REST interface; `template` fills in its paths;
//! `node` is an object of the answer, `resolve` resolves one field, `source` finds its value and `leaf` fits it to its type; `connection` cuts a list into
//! pages; `mutation` writes; `limits` are those on a query, and `wording` words errors as GitLab does.

mod connection;
mod engine;
mod leaf;
mod limits;
mod mutation;
mod node;
mod resolve;
mod row_path;
mod session;
mod source;
mod table;
mod template;
mod wording;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::request::RequestError;
use apollo_compiler::resolvers::Execution;
use apollo_compiler::response::{ExecutionResponse, JsonMap};
use apollo_compiler::validation::Valid;
use serde_json::{Value, json};

use super::access;
use super::answer::{Answer, ok};
use super::errors::Fault;
use super::reply::Reply;
use super::request::Incoming;
use super::router::Routes;
use super::state::World;
pub use engine::Engine;
use limits::Asker;
use node::Node;
use session::Session;

/// Path of the endpoint.
pub const PATH: &str = "/api/graphql";

impl Engine {
    /// Answers a request.
    pub fn answer(&self, world: &mut World, routes: &Routes, incoming: Incoming) -> Reply {
        match self.try_answer(world, routes, incoming) {
            Err(Fault::Unauthorized) => Reply::json(401, json!({"errors": [{"message": "Invalid token"}]})),
            answer => answer.unwrap_or_else(Fault::reply),
        }
    }

    fn try_answer(&self, world: &mut World, routes: &Routes, incoming: Incoming) -> Answer {
        let signed_in = access::sign_in(world, incoming.token.as_deref())?;
        let Some(query) = incoming.args.text("query") else {
            return ok(json!({"errors": [{"message": "Unexpected end of document", "locations": []}]}));
        };
        if query.chars().count() > limits::SIZE {
            return Ok(Reply::json(422, json!({"errors": [{"message": "Query too large"}]})));
        }
        let document = match ExecutableDocument::parse_and_validate(self.schema, &query, "query") {
            Ok(document) => document,
            Err(faults) => return ok(json!({"errors": wording::refused(self.schema, &faults)})),
        };
        let name = incoming.args.text("operationName");
        let writes = document.operations.get(name.as_deref()).is_ok_and(|operation| operation.is_mutation());
        if let Some((_, token)) = &signed_in {
            access::check_scope(token, writes, PATH)?;
        }
        let asker = match &signed_in {
            None => Asker::Anonymous,
            Some((user, _)) if access::is_admin(world, Some(*user)) => Asker::Admin,
            Some(_) => Asker::User,
        };
        if let Ok(operation) = document.operations.get(name.as_deref()) {
            let variables = variables(incoming.args.get("variables"));
            let refusals = limits::refusals(&document, operation, &variables, asker);
            if !refusals.is_empty() {
                let errors: Vec<Value> =
                    refusals.iter().map(|message| json!({ "message": message })).collect();
                return ok(json!({ "errors": errors }));
            }
        }
        let session = Session::new(world, routes, &incoming);
        match self.execute(&session, &document, name.as_deref(), &incoming) {
            Ok(response) => ok(wording::answered(&response)),
            Err(error) => ok(json!({"errors": [error.to_graphql_error(&document.sources)]})),
        }
    }

    fn execute(
        &self,
        session: &Session<'_>,
        document: &Valid<ExecutableDocument>,
        name: Option<&str>,
        incoming: &Incoming,
    ) -> Result<ExecutionResponse, RequestError> {
        let operation = document.operations.get(name)?;
        let root = Node::root(self, session, operation.object_type());
        let variables = variables(incoming.args.get("variables"));
        Execution::new(self.schema, document)
            .operation(operation)
            .raw_variable_values(&variables)
            .enable_schema_introspection(true)
            .execute_sync(&root)
    }
}

/// The variables of a request, which may come as an object or as the text of one.
fn variables(given: Option<&Value>) -> JsonMap {
    let read = |text: &str| serde_json::from_str(text).unwrap_or_default();
    match given {
        Some(Value::String(text)) => read(text),
        Some(value) => read(&value.to_string()),
        None => JsonMap::new(),
    }
}
