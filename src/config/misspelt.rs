//! Variables of the environment that are no settings and look like one. A restriction that is misspelt would not hold, so
//! that it stops the start; any other is a warning.

use super::error::ConfigError;
use super::table::{AUTOPILOT, DOMAINS, FOREIGN_VARIABLES, Row, TOOLSETS, is_of_policy, settings};
use crate::search::{is_one_slip, similarity};
use crate::surface::Level;

/// True for a setting that restricts what may be done.
fn restricts(row: &Row) -> bool {
    let is = |other: &Row| row.name == other.name;
    is(&TOOLSETS) || is(&DOMAINS) || (is_of_policy(row.name) && !is(&AUTOPILOT))
}

/// The beginning of names of settings, which says nothing about which one is meant.
const PREFIX: &str = "GITLAB_";

/// Variables with this beginning that have other meanings: those that GitLab sets in each job
/// (<https://docs.gitlab.com/ci/variables/predefined_variables/>), and the host of an instance.
const OF_OTHERS: [&str; 8] = [
    "GITLAB_CI",
    "GITLAB_FEATURES",
    "GITLAB_USER_ID",
    "GITLAB_USER_LOGIN",
    "GITLAB_USER_EMAIL",
    "GITLAB_USER_NAME",
    "GITLAB_ENV",
    "GITLAB_DOMAIN",
];

/// Similarity from which a name is taken for a misspelt one.
const ALIKE: f64 = 0.72;

/// Warnings on variables that are like a setting, by their names; the error of one that is like a restriction.
pub(super) fn warnings(set: impl Iterator<Item = String>) -> Result<Vec<String>, ConfigError> {
    let mut warnings = Vec::new();
    for name in set.filter(|name| !is_known(name)) {
        let is_ours = name.to_uppercase().starts_with(PREFIX);
        let Some(row) = (if is_ours { meant(&name) } else { slip_of(&name) }) else { continue };
        if restricts(row) {
            return Err(ConfigError::Misspelt { given: name, meant: row.name });
        }
        warnings.push(format!("{name} is no setting of gitlab-mcp; did you mean {}?", row.name));
    }
    Ok(warnings)
}

/// True for a setting, and for a variable of another program.
fn is_known(name: &str) -> bool {
    let is_setting = |row: &Row| row.name == name || row.aliases.contains(&name);
    settings().any(|setting| is_setting(setting.row()))
        || FOREIGN_VARIABLES.iter().any(|(foreign, _)| *foreign == name)
        || OF_OTHERS.contains(&name)
        || Level::ALL.iter().any(|(_, beginning, _)| name.starts_with(beginning))
}

/// The setting that a name is like, by its own name or that of another server.
fn meant(name: &str) -> Option<&'static Row> {
    let given = folded(name);
    let alike = |known: &str| {
        let known = folded(known);
        if given == known {
            1.0
        } else if given.len() > 3 && is_one_slip(&given, &known) {
            0.99
        } else if is_beginning(&given, &known) || is_beginning(&known, &given) {
            ALIKE
        } else {
            similarity(&given, &known)
        }
    };
    let names = settings().flat_map(|setting| {
        let row = setting.row();
        std::iter::once(row.name).chain(row.aliases.iter().copied()).map(move |name| (name, row))
    });
    let ranked = names.filter(|(known, _)| known.starts_with(PREFIX)).map(|(known, row)| (alike(known), row));
    let best = ranked.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 >= ALIKE).then_some(best.1)
}

/// The setting without that beginning that a name is a slip of the pen from.
fn slip_of(name: &str) -> Option<&'static Row> {
    let is_slip = |known: &str| known.len() >= 9 && !known.starts_with(PREFIX) && is_one_slip(name, known);
    settings()
        .map(|setting| setting.row())
        .find(|row| is_slip(row.name) || row.aliases.iter().any(|alias| is_slip(alias)))
}

/// True if a name is the beginning of one that is little longer: `CONFIRM` of `CONFIRMATION`.
fn is_beginning(short: &str, long: &str) -> bool {
    short.len() >= 6 && long.starts_with(short) && long.len() - short.len() <= 5
}

/// The letters of a name behind the beginning that all share.
fn folded(name: &str) -> String {
    let name = name.to_uppercase();
    name.strip_prefix(PREFIX).unwrap_or(&name).chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Result<Vec<String>, String> {
        warnings(names.iter().map(|name| (*name).to_owned())).map_err(|error| error.to_string())
    }

    #[test]
    fn a_misspelt_restriction_stops_the_start() {
        for (given, meant) in [
            ("GITLAB_READONLY", "GITLAB_READ_ONLY"),
            ("GITLAB_READ_ONLI", "GITLAB_READ_ONLY"),
            ("gitlab_read_only", "GITLAB_READ_ONLY"),
            ("GITLAB_ALLOWED_PATH", "GITLAB_ALLOWED_PATHS"),
            ("GITLAB_DENIED_ACTION", "GITLAB_DENIED_ACTIONS"),
            ("GITLAB_DENY_ACTIONS", "GITLAB_DENIED_ACTIONS"),
            ("GITLAB_TOOLSET", "GITLAB_TOOLSETS"),
            ("GITLAB_CONFIRMATION", "GITLAB_CONFIRM"),
            ("GITLAB_SAFEMODE", "GITLAB_SAFE_MODE"),
        ] {
            let error = of(&[given]).expect_err(given);
            assert!(error.contains(given) && error.contains(meant), "{error}");
        }
    }

    #[test]
    fn another_misspelt_setting_is_a_warning_and_variables_of_others_are_none() {
        let warned = of(&["GITLAB_MAX_BYTE", "GITLAB_TIME_OUT"]).unwrap();
        assert!(warned[0].contains("did you mean GITLAB_MAX_BYTES?"), "{warned:?}");
        assert!(warned[1].contains("did you mean GITLAB_TIMEOUT?"), "{warned:?}");
        let others =
            ["GITLAB_CI", "GITLAB_USER_LOGIN", "GITLAB_ROOT_PASSWORD", "GITLAB_OMNIBUS_CONFIG", "PATH"];
        assert_eq!(of(&others).unwrap(), Vec::<String>::new());
        let own: Vec<&str> = settings().map(|setting| setting.row().name).collect();
        assert_eq!(of(&own).unwrap(), Vec::<String>::new());
        assert_eq!(of(&["GITLAB_TOOL_MILESTONES", "GITLAB_PROJECT_ID"]).unwrap(), Vec::<String>::new());
    }
}
