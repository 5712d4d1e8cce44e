//! One setting of the table.

/// A setting, given by a flag, an environment variable or a line of the file.
#[derive(Debug)]
pub struct Setting {
    /// Environment variable, and key in the file.
    pub name: &'static str,
    /// Aliases: variables of other GitLab servers with the same meaning.
    pub aliases: &'static [&'static str],
    /// Flag without its dashes. Secrets have none: process lists show arguments to everyone.
    pub flag: Option<&'static str>,
    /// Placeholder of the value in `--help`.
    pub value: &'static str,
    /// Purpose, in one sentence.
    pub what: &'static str,
    /// Accepted values, as shown in errors.
    pub accepts: &'static str,
    /// Default value.
    pub default: Option<&'static str>,
    pub example: &'static str,
}

impl Setting {
    /// True for a switch, whose flag needs no value.
    pub fn is_switch(&self) -> bool {
        self.accepts == SWITCH
    }
}

/// Accepted values of a switch.
pub(super) const SWITCH: &str = "true or false (or 1, 0, yes, no, on, off)";
