//! Runs programs that print credentials: without a shell, within a time limit, with bounded output. A program that is
//! given up is killed with everything that it started.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// Maximum size of the output in bytes.
const MAX_OUTPUT: u64 = 64 * 1024;

/// Variable that every program here gets. A `gitlab-mcp` that has it was started by one, and starts none itself: each
/// would start the next.
pub const NESTED_VARIABLE: &str = "GITLAB_MCP_TOKEN_COMMAND_RUNS";

/// A program to run.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    pub name: &'a str,
    pub arguments: &'a [&'a str],
    /// Text for its standard input.
    pub input: &'a str,
    /// Variables to set, in addition to those of this process.
    pub variables: &'a [(&'a str, &'a str)],
    /// Variables to leave out.
    pub removed: &'a [&'a str],
    /// Directory to run in; none for that of this process.
    pub directory: Option<&'a str>,
    pub time_limit: Duration,
}

/// Failure of a program. Neither its arguments nor its output is shown.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProgramError {
    #[error("there is no program {0}")]
    Missing(String),
    #[error("{0} cannot be started")]
    NotStarted(String, #[source] io::Error),
    #[error("{name} did not end within {} s", time_limit.as_secs())]
    TimeLimit { name: String, time_limit: Duration },
    #[error("{name} failed with {status}")]
    Failed { name: String, status: String },
    #[error("the output of {0} is too long or not text")]
    Output(String),
}

/// Runs a program and returns its standard output. Standard error is discarded: it may show a token.
pub(super) async fn run(program: Program<'_>) -> Result<String, ProgramError> {
    let named = || program.name.to_owned();
    let mut command = Command::new(program.name);
    command
        .args(program.arguments)
        .envs(program.variables.iter().copied())
        .env(NESTED_VARIABLE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    for name in program.removed {
        command.env_remove(name);
    }
    if let Some(directory) = program.directory {
        command.current_dir(directory);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProgramError::Missing(named()),
        _ => ProgramError::NotStarted(named(), error),
    })?;
    let group = ProcessGroup { leader: child.id() };
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let exchange = async {
        if let Some(mut input) = input {
            // A program that reads no input may have closed it.
            let _ = input.write_all(program.input.as_bytes()).await;
        }
        let mut bytes = Vec::new();
        if let Some(output) = output {
            output.take(MAX_OUTPUT + 1).read_to_end(&mut bytes).await?;
        }
        let status = child.wait().await?;
        group.leave_running();
        Ok::<_, io::Error>((bytes, status))
    };
    let ended = tokio::time::timeout(program.time_limit, exchange).await;
    let time_limit = program.time_limit;
    let (bytes, status) = match ended {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => return Err(ProgramError::NotStarted(named(), error)),
        Err(_) => return Err(ProgramError::TimeLimit { name: named(), time_limit }),
    };
    if !status.success() {
        return Err(ProgramError::Failed { name: named(), status: status.to_string() });
    }
    let is_whole = u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_OUTPUT);
    String::from_utf8(bytes).ok().filter(|_| is_whole).ok_or_else(|| ProgramError::Output(named()))
}

/// The group of a program and of what it started, killed when dropped: killing the program alone would leave the rest
/// behind.
struct ProcessGroup {
    leader: Option<u32>,
}

impl ProcessGroup {
    /// A program that ended in time may have left an agent running on purpose.
    fn leave_running(mut self) {
        self.leader = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            kill_group(leader);
        }
    }
}

#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
    // The group may have ended meanwhile.
    let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
}

/// The program alone is killed, when its handle is dropped.
#[cfg(not(unix))]
fn kill_group(_: u32) {}
