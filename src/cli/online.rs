//! Commands that connect to GitLab: serve, find, execute, doctor.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};
use url::Url;

use super::call_options::ExecuteOptions;
use super::progress_line::ProgressLine;
use super::shell_line::{ShellLine, name_options};
use super::surface::SentTools;
use super::{
    Connected, DoctorArguments, ExecuteArguments, Failure, FindArguments, SurfaceArguments, audit, auth,
    contract, doctor, find_cases, pairs,
};
use crate::catalog::Risk;
use crate::config::{self, Config, Flags, Instance};
use crate::documentation::{Sandbox, start_sandbox};
use crate::gitlab::{Credential, Secret, Token};
use crate::server::http::AuthMode;
use crate::server::{self, ServerError};
use crate::surface::{self, Surface};
use crate::tools::{
    self, AllSettings, Answer, Audit, ExecuteRequest, FindRequest, INSTANCE, Instances, NextCall, ToolError,
    Tools, ToolsFactory, name_table_keys,
};

/// Size of an answer of `execute --json`, unless GITLAB_MAX_BYTES says another: the largest that the setting takes.
const MAX_JSON_BYTES: usize = 10_000_000;

/// Runs a command with the tools of a configuration. Boxed, so that the future is compiled once, in this crate, and
/// not again in the binary.
pub fn run<'a>(
    command: Connected,
    config: &'a Config,
    flags: &'a Flags,
    out: &'a mut dyn Write,
) -> LocalBoxFuture<'a, Result<(), Failure>> {
    Box::pin(run_connected(command, config, flags, out))
}

async fn run_connected(
    command: Connected,
    config: &Config,
    flags: &Flags,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Connected::Health = command {
        let http = config.http.as_ref().ok_or(Failure::NoHttp)?;
        return Ok(server::http::check_health(http).await?);
    }
    if let Connected::Audit { since, json } = &command {
        let files = audit::audit_files(config.audit_file.as_deref());
        return audit::show(&files, since, *json, out);
    }
    log_warnings(config, &command);
    // Kept alive while the command runs: dropping it stops the sandbox.
    let sandbox = match config.instances().any(|one| one.instance == Instance::Sandbox) {
        true => Some(start_sandbox(config.sandbox_file.clone(), config.sandbox_version).await?),
        false => None,
    };
    let settings = command_settings(&command, config, sandbox.as_ref())?;
    if let Connected::Auth { command } = command {
        return auth::run(command, config, settings.default.tools, out).await;
    }
    if let Connected::Surface(arguments) = command {
        return show_surface(&arguments, config, settings, out);
    }
    if let (Connected::Serve, Some(http)) = (&command, &config.http) {
        let factory = ToolsFactory::new(settings)?;
        return Ok(server::http::serve_http(factory, config.surface.clone(), http.clone()).await?);
    }
    let instances = ToolsFactory::new(settings)?.own_tools()?;
    match command {
        Connected::Serve => serve(instances, config.surface.clone()).await,
        // Handled above.
        Connected::Surface(_) | Connected::Health | Connected::Audit { .. } | Connected::Auth { .. } => {
            Ok(())
        }
        Connected::Find(arguments) => find(&instances, arguments, config, flags, out),
        Connected::Execute(arguments) => execute(&instances, *arguments, config, flags, out).await,
        Connected::Doctor(arguments) if arguments.contract => contract::run(&instances, arguments, out).await,
        Connected::Doctor(DoctorArguments { json, .. }) => {
            let report = server::until_signal(doctor::run(&instances, config, json, out)).await;
            let report = report.map_err(ServerError::Signals)?;
            report.unwrap_or(Err(Failure::Stopped))
        }
    }
}

/// The settings of the tools, as the command needs them.
fn command_settings(
    command: &Connected,
    config: &Config,
    sandbox: Option<&Sandbox>,
) -> Result<AllSettings, Failure> {
    let mut settings = settings(config, sandbox)?;
    if !matches!(command, Connected::Serve) {
        // The other commands write no audit log: the user sees the call.
        settings.default.tools.audit = Audit::Off;
    }
    if matches!(command, Connected::Execute(arguments) if arguments.json) && config.has_default_size() {
        // A program reads it: a size that suits a model would cut what it needs.
        for instance in std::iter::once(&mut settings.default).chain(&mut settings.others) {
            instance.tools.max_bytes = MAX_JSON_BYTES;
        }
    }
    Ok(settings)
}

fn find(
    instances: &Instances,
    arguments: FindArguments,
    config: &Config,
    flags: &Flags,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let json = arguments.json;
    for (_, tools) in instances.each() {
        surface::reword(tools, &config.surface);
    }
    if let Some(file) = &arguments.cases {
        return find_cases::measure(instances.front(), file, json, out);
    }
    let found = find_request(arguments).and_then(|request| instances.find(&request));
    write_answer(found, json, &ShellLine::new(flags, Vec::new()), out)
}

async fn execute(
    instances: &Instances,
    arguments: ExecuteArguments,
    config: &Config,
    flags: &Flags,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let json = arguments.json;
    let mut params = arguments.params.as_deref().map(read_params).transpose()?.unwrap_or_default();
    let action = instances.front().catalog.get(&arguments.action).ok().flatten();
    let files = pairs::add_pairs(&mut params, &arguments.pairs, &arguments.file_pairs, action.as_ref())?;
    let line = ShellLine::new(flags, files);
    let check = action.as_ref().and_then(|action| tools::suggest_read(instances.front(), action, &params));
    let check = check.map(|call| instance_call(call, &arguments.options));
    let run = async {
        let request = execute_request(arguments.action, params, arguments.options)?;
        instances.execute(&request).await
    };
    let progress = ProgressLine::stderr();
    let answer = server::until_signal(tools::watched(progress.listener(), run)).await;
    let has_sent_change = progress.has_sent_change();
    drop(progress);
    let is_read = action.as_ref().is_some_and(|action| action.risk == Risk::Read);
    let stopped = || match (is_read, has_sent_change) {
        (true, _) => Failure::Stopped,
        (false, false) => Failure::StoppedUnsent,
        (false, true) => Failure::StoppedChange { check: word_check(check.as_ref(), &line) },
    };
    let answer = answer.map_err(ServerError::Signals)?.ok_or_else(stopped)?;
    let is_change = action.is_some() && !is_read && answer.is_ok();
    write_answer(answer, json, &line, out)?;
    let ends = config.default.instance == Instance::Sandbox && config.sandbox_file.is_none();
    if ends && is_change && !json {
        writeln!(
            out,
            "Note: this sandbox ends with the command; --sandbox-file FILE keeps what it changes."
        )?;
    }
    Ok(())
}

/// A call at the instance of the options.
fn instance_call(mut call: NextCall, options: &ExecuteOptions) -> NextCall {
    if let (Some(instance), Some(arguments)) = (options.0.get(INSTANCE), call.arguments.as_object_mut()) {
        arguments.insert(INSTANCE.to_owned(), instance.clone());
    }
    call
}

/// How to see whether a change was made.
fn word_check(check: Option<&NextCall>, line: &ShellLine) -> String {
    let arguments = check.and_then(|call| Some((&call.tool, call.arguments.as_object()?)));
    match arguments {
        Some((tool, arguments)) => {
            format!("Look before you run it again: {}", line.of_call(tool, arguments))
        }
        None => "Look at it in GitLab before you run it again".to_owned(),
    }
}

/// Logs warnings about the configuration before anything is sent.
fn log_warnings(config: &Config, command: &Connected) {
    // These report them themselves.
    if matches!(command, Connected::Doctor(_) | Connected::Auth { .. }) {
        return;
    }
    for warning in Config::foreign_variables(crate::config::environment).iter().chain(&config.misspelt) {
        tracing::warn!("{warning}");
    }
    // `find` and `surface` send nothing.
    if matches!(command, Connected::Find(_) | Connected::Surface(_)) {
        return;
    }
    let brings_own_token = config.http.as_ref().is_some_and(|http| http.auth != AuthMode::None);
    if config.default.credentials.is_none()
        && config.default.instance != Instance::Sandbox
        && !brings_own_token
    {
        tracing::warn!(
            "no token is set (GITLAB_TOKEN, or gitlab-mcp auth login): only public data is available"
        );
    }
    for credentials in config.instances().map(|one| &one.credentials) {
        for name in credentials.unused() {
            tracing::warn!("{name} is not used: the token comes from {}", credentials.describe());
        }
    }
    for exposed in config.instances().filter(|one| config.exposes_token(one)) {
        let place = if exposed.is_plain { "GITLAB_URL" } else { exposed.name.as_str() };
        tracing::warn!("the token travels unencrypted: {place} is plain http to another machine");
    }
    for warning in config.confirmation_warnings() {
        tracing::warn!("{warning}");
    }
    for unverified in config.instances().filter(|one| one.insecure_tls) {
        let setting = "GITLAB_INSECURE_TLS is set: GitLab's certificate is not verified, and anyone on the network path can \
                       read the token";
        match unverified.is_plain {
            true => tracing::warn!("{setting}"),
            false => tracing::warn!("{}", name_table_keys(setting, &unverified.name)),
        }
    }
}

fn settings(config: &Config, sandbox: Option<&Sandbox>) -> Result<AllSettings, Failure> {
    let root = sandbox.map(|sandbox| Url::parse(sandbox.url())).transpose().map_err(Failure::Address)?;
    let mut settings = config.all_settings(root.as_ref()).ok_or(Failure::NoInstance)?;
    for instance in std::iter::once(&mut settings.default).chain(&mut settings.others) {
        let gitlab = &mut instance.tools.gitlab;
        if Some(&gitlab.base) == root.as_ref() && gitlab.credential.is_none() {
            let token = Token::Private(Secret::new(Sandbox::TOKEN.to_owned()));
            gitlab.credential = Some(Credential::Fixed(token));
        }
    }
    Ok(settings)
}

async fn serve(instances: Instances, settings: surface::SurfaceSettings) -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        tracing::warn!(
            "waiting for an MCP client on standard input; see `gitlab-mcp --help` for the other commands"
        );
    }
    let instances = Arc::new(instances);
    warm(Arc::clone(instances.front()))?;
    for (_, tools) in instances.each() {
        surface::reword(tools, &settings);
    }
    let surface = Surface::new(settings, Arc::clone(instances.front()));
    warn_of_overrides(&surface)?;
    // A client that names no directories of its own has started this program in the one that it works in.
    let directory = config::working_directory().map(String::from);
    instances.work_in(&directory.into_iter().collect::<Vec<_>>());
    Ok(server::serve(instances, surface).await?)
}

/// Logs overrides that match no tool or parameter.
fn warn_of_overrides(surface: &Surface) -> Result<(), Failure> {
    for warning in surface.warnings()? {
        tracing::warn!("{warning}");
    }
    Ok(())
}

/// Prints the tools of a surface, or their size in bytes.
fn show_surface(
    arguments: &SurfaceArguments,
    config: &Config,
    settings: AllSettings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let kind = arguments.surface.unwrap_or(config.surface.kind);
    let customized = surface::SurfaceSettings { kind, ..config.surface.clone() };
    let plain = tools::ToolSettings { policy: Default::default(), ..settings.default.tools.clone() };
    let instances = ToolsFactory::new(settings)?.own_tools()?;
    let tools = Arc::clone(instances.front());
    let surface = Surface::new(customized.clone(), Arc::clone(&tools));
    warn_of_overrides(&surface)?;
    let sent = SentTools::new(&surface, &tools)?;
    if !arguments.tokens {
        return sent.write(out);
    }
    let (surface, tools) = super::surface::plain(&customized, Tools::new(plain)?);
    sent.write_costs(&SentTools::new(&surface, &tools)?, out)
}

/// Loads the finder on a thread of its own while the first messages are handled.
fn warm(tools: Arc<Tools>) -> Result<(), Failure> {
    let open = move || {
        if let Err(error) = tools.warm() {
            tracing::error!(%error, "the finder cannot be opened");
        }
    };
    std::thread::Builder::new().name("finder".to_owned()).spawn(open).map_err(Failure::Runtime)?;
    Ok(())
}

fn find_request(arguments: FindArguments) -> Result<FindRequest, ToolError> {
    let mut given = arguments.options.0;
    given.insert("query".to_owned(), arguments.query.join(" ").into());
    surface::parse_find(given)
}

fn execute_request(
    action: String,
    params: Map<String, Value>,
    options: ExecuteOptions,
) -> Result<ExecuteRequest, ToolError> {
    let mut given = options.0;
    given.extend([("action".to_owned(), action.into()), ("params".to_owned(), params.into())]);
    surface::parse_execute(given)
}

/// Loads parameters: literal JSON, `@FILE`, or `-` for standard input.
fn read_params(argument: &str) -> Result<Map<String, Value>, Failure> {
    let text = match (argument, argument.strip_prefix('@')) {
        ("-", _) => read_stdin()?,
        (_, Some(path)) => {
            fs::read_to_string(path).map_err(|error| Failure::ParamsFile(PathBuf::from(path), error))?
        }
        (text, None) => text.to_owned(),
    };
    serde_json::from_str(&text).map_err(Failure::Params)
}

fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::ParamsFile(PathBuf::from("standard input"), error))?;
    Ok(text)
}

/// Prints an answer: as structured content, or as the text that a client would receive with its calls as commands.
fn write_answer(
    answer: Result<Answer, ToolError>,
    json: bool,
    line: &ShellLine,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (structured, text, outcome) = match answer {
        Ok(answer) => (answer.structured, answer.text, Ok(())),
        Err(error) => (error.structured(), error.text(), Err(Failure::Answered)),
    };
    if json {
        writeln!(out, "{:#}", Value::Object(structured))?;
        return outcome;
    }
    let text = tools::word_calls(&text, &structured, &|tool, call| line.of_call(tool, call), &name_options);
    writeln!(out, "{}", text.trim_end())?;
    outcome
}
