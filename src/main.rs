//! Parses the arguments, starts the log, runs the command, and maps the outcome to an exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use gitlab_mcp::cli::{
    ACCESS_LOG, Arguments, CALL_STACK, Command, Connected, Failure, Output, run_connected, run_offline,
};
use gitlab_mcp::config::{self, Config};
use gitlab_mcp_allocator::MiMalloc;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Returns the memory of a large body to the operating system, where the C library's allocator keeps it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    gitlab_mcp_allocator::purge_at_once();
    let mut out = Output::stdout();
    let outcome = run(&mut out);
    let reported = match &outcome {
        Ok(()) => Ok(()),
        Err(failure) => failure.report(&mut out, &mut io::stderr()),
    };
    let written = reported.and_then(|()| out.flush()).map_err(Failure::Output);
    // Help counts as a failure that is none, and fails where it cannot be written.
    let outcome = match outcome {
        Err(failure) if failure.exit_code() == 0 => written.and(Err(failure)),
        outcome => outcome.and(written),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failure.exit_code()),
    }
}

fn run(out: &mut dyn Write) -> Result<(), Failure> {
    if Arguments::answer_shell()? {
        return Ok(());
    }
    let arguments = Arguments::parse_process()?;
    let command = match arguments.command.unwrap_or(Command::Connected(Default::default())) {
        Command::Offline(command) => return run_offline(command, &arguments.settings.0, out),
        Command::Connected(command) => command,
    };
    let config = Config::resolve(&arguments.settings.0, config::environment)?
        .customized(config::variables())?
        .with_misspelt(config::variables())?;
    let serves_http = matches!(command, Connected::Serve) && config.http.is_some();
    start_log(config.log, serves_http);
    // One client is served by one thread, many by all of the machine's.
    let mut runtime = match serves_http {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime.thread_stack_size(CALL_STACK).enable_all().build().map_err(Failure::Runtime)?;
    let outcome = runtime.block_on(run_connected(command, &config, &arguments.settings.0, out));
    // A read of standard input that is still blocked must not hold up the end.
    runtime.shutdown_background();
    outcome
}

/// Logs to standard error, because standard output is the protocol's. Other crates log warnings only: at
/// their finest they log whole requests and results.
fn start_log(level: LevelFilter, has_access_log: bool) {
    let access =
        if has_access_log && level != LevelFilter::OFF { level.max(LevelFilter::INFO) } else { level };
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        // rmcp logs a warning for every cancelled request.
        .with_target("rmcp", level.min(LevelFilter::ERROR))
        .with_target("gitlab_mcp", level)
        .with_target(ACCESS_LOG, access);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines).with(targets).init();
}
