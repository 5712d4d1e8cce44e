//! Sources of the token of one instance, in one order: a file, variables, a command, the token of a CI/CD job, the
//! sign-in of `gitlab-mcp auth login`, credentials of glab and git, none.
//!
//! [`Settings::choose`] decides by the settings and the file of sign-ins alone: it sends nothing and starts no
//! process. [`Choice::credential`] makes the credential that the client of the instance uses. Invariants:
//!
//! - A source is asked for one instance, and its answer is sent to that instance only. Sign-ins are kept by the
//!   whole root URL.
//! - No token is an argument of a process, and none is in an error, a log line or a `Debug` output. What commands
//!   write to standard error is discarded.
//! - Commands are started without a shell, and end with a time limit.
//! - A refresh token is used once: under a lock, after the file was read again, and the new one is written before the
//!   new access token is used.

mod choice;
mod command;
mod git_helpers;
mod issued;
mod login_file;
mod process;
mod renewed;
mod sign_in;
mod sign_in_renewal;
mod token_file;

pub use choice::{Choice, CredentialSettings, GivenToken};
pub use command::{CommandLine, GivenCommand};
pub use git_helpers::Helper;
pub use issued::parse_token;
pub use login_file::{KeptSignIn, LoginFile, LoginFileError, SignIn};
pub use process::NESTED_VARIABLE;
pub use sign_in::{SignInError, SignOut, begin_sign_in, finish_sign_in, sign_out, try_helper, use_helper};

#[cfg(test)]
mod tests;
