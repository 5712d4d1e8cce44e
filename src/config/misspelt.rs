//! Variables of the environment that are no settings and look like one. A restriction that is misspelt would not hold, so
//! that it stops the start; any other is a warning.

use super::error::ConfigError;
use super::table::{
    AUTOPILOT, AnySetting, DOMAINS, FOREIGN_RESTRICTIONS, FOREIGN_VARIABLES, Row, TOOLSETS, is_of_policy,
    settings,
};
use crate::policy::{is_restriction_alone, reads_like_restriction};
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

/// Restrictions that hold, for the error of one that does not exist.
const RESTRICTIONS: &str = "GITLAB_READ_ONLY, GITLAB_ALLOWED_PATHS, GITLAB_READABLE_PATHS, GITLAB_DENIED_ACTIONS, \
                            GITLAB_TOOLSETS and GITLAB_POLICY restrict what may be done";

/// Warnings on variables that are like a setting, by their names; the error of one that is like a restriction.
pub(super) fn warnings(set: impl Iterator<Item = String>) -> Result<Vec<String>, ConfigError> {
    let mut warnings = Vec::new();
    for name in set {
        if let Some(row) = suggest_setting(&name)? {
            warnings.push(format!("{name} is no setting of gitlab-mcp; did you mean {}?", row.name));
        }
    }
    Ok(warnings)
}

/// The setting that a variable may be meant for; the error of a variable that is like a restriction.
fn suggest_setting(name: &str) -> Result<Option<&'static Row>, ConfigError> {
    let misspelt = |row: &Row| Err(ConfigError::Misspelt { given: name.to_owned(), meant: row.name });
    let no_restriction =
        |instead: &'static str| Err(ConfigError::NoRestriction { given: name.to_owned(), instead });
    if let Some((_, instead)) = FOREIGN_RESTRICTIONS.iter().find(|(foreign, _)| *foreign == name) {
        return no_restriction(instead);
    }
    if is_known(name) {
        return Ok(None);
    }
    match restriction_behind(name) {
        // A name without any beginning may be another program's.
        Some((row, "")) => return Ok(Some(row)),
        Some((row, _)) => return misspelt(row),
        None => {}
    }
    let upper = name.to_uppercase();
    let rest = upper.strip_prefix(PREFIX);
    let meant = if rest.is_some() { meant(name) } else { slip_of(name) };
    // `GITLAB_BLOCKED_ACTIONS` and `GITLAB_DRY_RUN` are; `GITLAB_READ_ONLY_TOKEN` is a token.
    let is_like_restriction = rest.is_some_and(reads_like_restriction);
    let is_secret = upper.split('_').any(|word| ["TOKEN", "KEY", "PASSWORD", "USER", "BOT"].contains(&word));
    match meant {
        _ if is_secret && (is_like_restriction || meant.is_some_and(restricts)) => Ok(None),
        Some(row) if restricts(row) => misspelt(row),
        _ if is_like_restriction => no_restriction(RESTRICTIONS),
        _ => Ok(meant),
    }
}

/// Beginnings that callers give the names of settings in place of `GITLAB_`, the longest first.
const OTHER_PREFIXES: [&str; 8] =
    ["GITLAB_MCP_SERVER_", "GITLAB_GITLAB_", "MCP_GITLAB_", "MCP_SERVER_", "GITLAB_MCP_", "MCP_", "GL_", ""];

/// The restriction that a name is with another beginning than its own: `MCP_SAFE_MODE`, `GITLAB_MCP_SERVER_POLICY`; without
/// any, a name of several words.
fn restriction_behind(name: &str) -> Option<(&'static Row, &'static str)> {
    let upper = name.to_uppercase();
    let slip = upper.split_once('_').filter(|(first, _)| *first != "GITLAB" && is_one_slip(first, "GITLAB"));
    let known = || OTHER_PREFIXES.into_iter().find_map(|known| Some((known, upper.strip_prefix(known)?)));
    let (beginning, rest) = slip.map(|(_, rest)| (PREFIX, rest)).or_else(known)?;
    let is_it = |row: &&Row| row.name.strip_prefix(PREFIX) == Some(rest) && restricts(row);
    let row = settings().map(AnySetting::row).find(is_it)?;
    (!beginning.is_empty() || rest.contains('_')).then_some((row, beginning))
}

/// True for a setting, and for a variable of another program.
fn is_known(name: &str) -> bool {
    is_setting(name)
        || FOREIGN_VARIABLES.iter().any(|(foreign, _)| *foreign == name)
        || OF_OTHERS.contains(&name)
        || is_description(name)
}

/// True for the name of a setting, or for another that it has.
pub(super) fn is_setting(name: &str) -> bool {
    setting_names().any(|(known, _)| known == name)
}

/// The names of all settings, each with its row.
fn setting_names() -> impl Iterator<Item = (&'static str, &'static Row)> {
    settings().map(AnySetting::row).flat_map(|row| row.names().map(move |name| (name, row)))
}

/// True for a variable that describes a tool, an action or a parameter: `GITLAB_TOOL_MILESTONES`. `GITLAB_TOOL_DENYLIST` is
/// none, and `GITLAB_TOOL_SURFCE` is a slip of the pen.
fn is_description(name: &str) -> bool {
    let described = Level::ALL.iter().find_map(|(_, beginning, _)| name.strip_prefix(beginning));
    let mut aliases = settings().flat_map(|setting| setting.row().aliases);
    described.is_some_and(|described| {
        !is_restriction_alone(described) && !aliases.any(|alias| is_one_slip(name, alias))
    })
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
    let ranked = setting_names()
        .filter(|(known, _)| known.starts_with(PREFIX))
        .map(|(known, row)| (alike(known), row));
    let best = ranked.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 >= ALIKE).then_some(best.1)
}

/// The setting without that beginning that a name is a slip of the pen from.
fn slip_of(name: &str) -> Option<&'static Row> {
    let is_slip = |known: &str| known.len() >= 9 && !known.starts_with(PREFIX) && is_one_slip(name, known);
    setting_names().find(|(known, _)| is_slip(known)).map(|(_, row)| row)
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
    fn a_restriction_with_another_beginning_is_not_dropped_in_silence() {
        for (given, meant) in [
            ("GITLAB_MCP_SERVER_POLICY", "GITLAB_POLICY"),
            ("GITLAB_GITLAB_TOOLSETS", "GITLAB_TOOLSETS"),
            ("GL_READ_ONLY", "GITLAB_READ_ONLY"),
            ("MCP_SAFE_MODE", "GITLAB_SAFE_MODE"),
            ("MCP_CONFIRM", "GITLAB_CONFIRM"),
            ("MCP_GITLAB_READ_ONLY", "GITLAB_READ_ONLY"),
            ("GITLB_READ_ONLY", "GITLAB_READ_ONLY"),
            ("GTILAB_DENIED_ACTIONS", "GITLAB_DENIED_ACTIONS"),
            ("GITLAB_TOOL_SETS", "GITLAB_TOOLSETS"),
        ] {
            let error = of(&[given]).expect_err(given);
            assert!(error.contains(given) && error.contains(meant), "{error}");
        }
        for (given, meant) in [("READ_ONLY", "GITLAB_READ_ONLY"), ("DENIED_ACTIONS", "GITLAB_DENIED_ACTIONS")]
        {
            let warned = of(&[given]).unwrap();
            assert!(warned.len() == 1 && warned[0].contains(meant), "{warned:?}");
        }
        assert_eq!(of(&["POLICY", "DOMAINS", "CONFIRM"]), Ok(Vec::new()));
    }

    #[test]
    fn a_restriction_of_another_name_stops_the_start() {
        for given in [
            "GITLAB_ALLOWED_GROUPS",
            "GITLAB_READ_PATHS",
            "GITLAB_DENIED",
            "GITLAB_BLOCKED_ACTIONS",
            "GITLAB_EXCLUDED_TOOLS",
            "GITLAB_DRY_RUN",
            "GITLAB_POLICIES",
            "GITLAB_ALLOWED_PROJECT_IDS",
            "GITLAB_DENIED_TOOLS",
            "GITLAB_ENABLED_TOOLS",
            "GITLAB_ALLOWLIST",
            "GITLAB_READ_ONLY_ENABLED",
            "GITLAB_DISABLE_WRITES",
            "GITLAB_WRITES_DISABLED",
            "GITLAB_NO_WRITE",
            "GITLAB_WRITABLE_PATHS",
            "GITLAB_PROTECTED_PATHS",
            "GITLAB_RESTRICT_TO",
            "GITLAB_ONLY_PROJECTS",
            "GITLAB_HIDE_TOOLS",
            "GITLAB_REQUIRE_CONFIRMATION",
            "GITLAB_MCP_CONFIRM",
            "GITLAB_PROJECTS",
            "GITLAB_NO_DELETE",
            "GITLAB_IMMUTABLE",
            "GITLAB_MODE",
            "GITLAB_MAX_RISK",
            "GITLAB_PERMISSIONS",
            "GITLAB_BLOCKLIST",
            "GITLAB_LIMIT_PATHS",
            "GITLAB_VISIBLE_PATHS",
            "GITLAB_NOWRITES",
            "GITLAB_SKIP_ACTIONS",
            "GITLAB_RULES",
            "GITLAB_ASK",
            "GITLAB_APPROVAL",
            "GITLAB_PREVIEW",
            "GITLAB_RO",
            "GITLAB_DELETE",
            "GITLAB_DRYRUN",
        ] {
            let error = of(&[given]).expect_err(given);
            assert!(error.contains(given) && error.contains("GITLAB_"), "{error}");
        }
    }

    #[test]
    fn another_misspelt_setting_is_a_warning_and_variables_of_others_are_none() {
        let warned = of(&["GITLAB_MAX_BYTE", "GITLAB_TIME_OUT"]).unwrap();
        assert!(warned[0].contains("did you mean GITLAB_MAX_BYTES?"), "{warned:?}");
        assert!(warned[1].contains("did you mean GITLAB_TIMEOUT?"), "{warned:?}");
        let others = [
            "GITLAB_CI",
            "GITLAB_USER_LOGIN",
            "GITLAB_ROOT_PASSWORD",
            "GITLAB_OMNIBUS_CONFIG",
            "PATH",
            "GITLAB_READ_ONLY_TOKEN",
            "GITLAB_FEATURES",
            "GITLAB_RATE_LIMIT_BYPASS_HEADER",
        ];
        assert_eq!(of(&others).unwrap(), Vec::<String>::new());
        let own: Vec<&str> = settings().map(|setting| setting.row().name).collect();
        assert_eq!(of(&own).unwrap(), Vec::<String>::new());
        assert_eq!(of(&["GITLAB_TOOL_MILESTONES", "GITLAB_PROJECT_ID"]).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_restriction_is_no_description_of_a_tool() {
        for name in ["GITLAB_TOOL_DENYLIST", "GITLAB_ACTION_READ_ONLY", "GITLAB_TOOL_ALLOWED_ACTIONS"] {
            let refused = of(&[name]).unwrap_err();
            assert!(
                refused.starts_with(&format!("{name} is no setting, and reads like a restriction")),
                "{refused}"
            );
        }
        let warned = of(&["GITLAB_TOOL_SURFCE"]).unwrap();
        assert_eq!(warned, ["GITLAB_TOOL_SURFCE is no setting of gitlab-mcp; did you mean TOOL_SURFACE?"]);
        let described = ["GITLAB_TOOL_PROTECTED_BRANCHES", "GITLAB_ACTION_USERS_BLOCK"];
        assert_eq!(of(&described).unwrap(), Vec::<String>::new());
    }
}
