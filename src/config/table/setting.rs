//! One setting of the table: its row, and what it takes.

use std::ops::Deref;

/// A setting, given by a flag, an environment variable or a line of the file.
pub struct Setting<T: 'static> {
    pub row: Row,
    pub takes: Accepts<T>,
}

/// Names and texts of a setting.
#[derive(Debug)]
pub struct Row {
    /// Environment variable, and key in the file.
    pub name: &'static str,
    /// Aliases: variables of other GitLab servers with the same meaning.
    pub aliases: &'static [&'static str],
    /// Flag without its dashes. Secrets have none: process lists show arguments to everyone.
    pub flag: Option<&'static str>,
    /// Placeholder of the value in the help.
    pub value: &'static str,
    /// Purpose, in one sentence.
    pub what: &'static str,
    /// Default value.
    pub default: Option<&'static str>,
    pub example: &'static str,
}

/// Accepted values of a setting, with how they are read.
pub enum Accepts<T: 'static> {
    /// A text that the function accepts, described for errors and documentation.
    Text(&'static str, fn(&str) -> Option<T>),
    /// The same; its flag without a value means this text.
    TextOr(&'static str, &'static str, fn(&str) -> Option<T>),
    /// A number within bounds, both accepted.
    Number { noun: &'static str, min: u64, max: u64, convert: fn(u64) -> T },
    /// One of these words.
    Word(&'static [(&'static str, T)]),
    /// On or off; its flag needs no value.
    Switch(fn(bool) -> T),
}

/// Words of a switch.
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

impl<T: Clone> Setting<T> {
    /// The value of a text; none if it is not accepted.
    pub fn parse(&self, text: &str) -> Option<T> {
        let find = |name: &str| name.eq_ignore_ascii_case(text);
        match &self.takes {
            Accepts::Text(_, parse) | Accepts::TextOr(_, _, parse) => parse(text),
            Accepts::Number { min, max, convert, .. } => {
                text.parse().ok().filter(|number| (*min..=*max).contains(number)).map(convert)
            }
            Accepts::Word(words) => words.iter().find(|(name, _)| find(name)).map(|(_, value)| value.clone()),
            Accepts::Switch(convert) => {
                SWITCHES.iter().find(|(name, _)| find(name)).map(|(_, is_on)| convert(*is_on))
            }
        }
    }
}

impl<T> Setting<T> {
    /// The words of a setting that takes one of several.
    pub fn words(&self) -> Vec<&'static str> {
        match &self.takes {
            Accepts::Word(words) => words.iter().map(|(name, _)| *name).collect(),
            Accepts::Text(..) | Accepts::TextOr(..) | Accepts::Number { .. } | Accepts::Switch(_) => {
                Vec::new()
            }
        }
    }
}

impl<T> Deref for Setting<T> {
    type Target = Row;

    fn deref(&self) -> &Row {
        &self.row
    }
}

/// A setting, whatever the type of its value.
pub trait AnySetting: Sync {
    fn row(&self) -> &Row;

    /// Description of the accepted values, for errors and documentation.
    fn accepts(&self) -> String;

    /// True if its flag needs no value.
    fn is_switch(&self) -> bool;

    /// The words that it takes, if it takes one of several; `true` and `false` for a switch.
    fn choices(&self) -> Vec<&'static str>;

    /// Value of its flag where that has none; none if it needs a value.
    fn flag_alone(&self) -> Option<&'static str>;
}

impl<T: Sync> AnySetting for Setting<T> {
    fn row(&self) -> &Row {
        &self.row
    }

    fn accepts(&self) -> String {
        match &self.takes {
            Accepts::Text(accepts, _) | Accepts::TextOr(_, accepts, _) => (*accepts).to_owned(),
            Accepts::Number { noun, min, max, .. } => format!("{noun} from {min} to {max}"),
            Accepts::Word(words) => join_words(words.iter().map(|(name, _)| *name).collect()),
            Accepts::Switch(_) => "true or false (or 1, 0, yes, no, on, off)".to_owned(),
        }
    }

    fn is_switch(&self) -> bool {
        matches!(self.takes, Accepts::Switch(_))
    }

    fn choices(&self) -> Vec<&'static str> {
        if self.is_switch() { vec!["true", "false"] } else { self.words() }
    }

    fn flag_alone(&self) -> Option<&'static str> {
        match self.takes {
            Accepts::TextOr(alone, ..) => Some(alone),
            Accepts::Switch(_) => Some("true"),
            Accepts::Text(..) | Accepts::Number { .. } | Accepts::Word(_) => None,
        }
    }
}

/// `off, text or json`
fn join_words(words: Vec<&str>) -> String {
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Defines settings, and the list of them in display order.
macro_rules! settings {
    ($list:ident: $($(#[$doc:meta])* $name:ident: $value:ty = $setting:expr;)*) => {
        $($(#[$doc])* pub static $name: Setting<$value> = $setting;)*

        pub static $list: &[&dyn $crate::config::table::setting::AnySetting] = &[$(&$name),*];
    };
}
pub(super) use settings;
