//! What the text of a setting means. `None` where it means nothing: the setting says what it takes.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use url::Url;

use super::Instance;

const SWITCHES: [(&str, bool); 8] = [
    ("true", true),
    ("1", true),
    ("yes", true),
    ("on", true),
    ("false", false),
    ("0", false),
    ("no", false),
    ("off", false),
];

const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

pub(super) fn switch(text: &str) -> Option<bool> {
    named(&SWITCHES, text)
}

pub(super) fn level(text: &str) -> Option<LevelFilter> {
    named(&LEVELS, text)
}

pub(super) fn seconds(text: &str) -> Option<Duration> {
    text.parse().ok().filter(|seconds| (1..=3600).contains(seconds)).map(Duration::from_secs)
}

pub(super) fn bytes(text: &str) -> Option<usize> {
    text.parse().ok().filter(|bytes| (1_000..=10_000_000).contains(bytes))
}

pub(super) fn path(text: &str) -> Option<PathBuf> {
    Some(PathBuf::from(text))
}

/// A file that is there and may be read.
pub(super) fn readable(text: &str) -> Option<PathBuf> {
    let path = PathBuf::from(text);
    let file = fs::File::open(&path).ok()?;
    file.metadata().ok()?.is_file().then_some(path)
}

/// A directory that is there, by its whole path: what a client is started in is nobody's choice.
pub(super) fn directory(text: &str) -> Option<PathBuf> {
    fs::canonicalize(text).ok().filter(|path| path.is_dir())
}

/// `group/project`, without the slashes that a copied path has around it.
pub(super) fn full_path(text: &str) -> Option<String> {
    let path = text.trim_matches('/');
    let plain = !path.is_empty() && !path.contains("://") && !path.contains(char::is_whitespace);
    plain.then(|| path.to_owned())
}

/// The root of an instance, which ends in a slash. People also write the address of its interface.
pub(super) fn instance(text: &str) -> Option<Instance> {
    if text.eq_ignore_ascii_case("sandbox") {
        return Some(Instance::Sandbox);
    }
    let mut url = Url::parse(text).ok()?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let path = url.path().trim_end_matches('/');
    let root = format!("{}/", path.strip_suffix("/api/v4").unwrap_or(path).trim_end_matches('/'));
    url.set_path(&root);
    plain.then_some(Instance::At(url))
}

/// A token as it is sent in a header: printable, without blanks.
pub(super) fn token(text: &str) -> Option<String> {
    let token = text.trim();
    let plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    plain.then(|| token.to_owned())
}

fn named<T: Copy>(table: &[(&str, T)], text: &str) -> Option<T> {
    table.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, value)| *value)
}
