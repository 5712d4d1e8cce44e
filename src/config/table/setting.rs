//! One setting of the table: its row, and what it takes.

use std::ops::{Deref, RangeInclusive};

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

impl Row {
    /// The name, and the aliases behind it.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.name].into_iter().chain(self.aliases.iter().copied())
    }
}

/// Accepted values of a setting, with how they are read.
pub enum Accepts<T: 'static> {
    /// A text that the function accepts, described for errors and documentation.
    Text(&'static str, fn(&str) -> Option<T>),
    /// The same; its flag without a value means this text.
    TextOr(&'static str, &'static str, fn(&str) -> Option<T>),
    /// A number within bounds, both accepted, by the noun that describes it.
    Number(&'static str, RangeInclusive<u64>, fn(u64) -> T),
    /// One of these words.
    Word(&'static [(&'static str, T)]),
    /// On or off, by [`SWITCHES`]; its flag needs no value.
    Switch(&'static [(&'static str, T)]),
}

/// Words of a switch.
pub const SWITCHES: &[(&str, bool)] = &[
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
        match &self.takes {
            Accepts::Text(_, parse) | Accepts::TextOr(_, _, parse) => parse(text),
            Accepts::Number(_, range, convert) => {
                text.parse().ok().filter(|number| range.contains(number)).map(convert)
            }
            Accepts::Word(words) | Accepts::Switch(words) => {
                let mut words = words.iter();
                words.find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, value)| value.clone())
            }
        }
    }
}

impl<T> Setting<T> {
    /// The words of a setting that takes one of several.
    pub fn words(&self) -> Vec<&'static str> {
        match &self.takes {
            Accepts::Word(words) => words.iter().map(|(name, _)| *name).collect(),
            Accepts::Text(..) | Accepts::TextOr(..) | Accepts::Number(..) | Accepts::Switch(_) => Vec::new(),
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
            Accepts::Number(noun, range, _) => format!("{noun} from {} to {}", range.start(), range.end()),
            Accepts::Word(_) => join_words(self.words()),
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
            Accepts::Text(..) | Accepts::Number(..) | Accepts::Word(_) => None,
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

/// Defines settings, and the list of them in display order. A `Setting` has the names and texts of its [`Row`], and a variant
/// of [`Accepts`]; a `Switch` is on or off. `aliases`, `flag` and `default` may be left out; the order may not change.
macro_rules! settings {
    ($list:ident: $($setting:ident: $parsed:ty = $form:ident $fields:tt;)*) => {
        $(pub static $setting: $crate::config::table::setting::Setting<$parsed> = settings!(@$form $fields);)*

        pub static $list: &[&dyn $crate::config::table::setting::AnySetting] = &[$(&$setting),*];
    };
    (@Setting {
        name: $name:literal, $(aliases: [$($alias:literal),+],)? $(flag: $flag:literal,)?
        value: $value:literal, $(default: $default:expr,)? example: $example:expr,
        what: $what:literal,
        takes: $variant:ident $accepted:tt,
    }) => {
        $crate::config::table::setting::Setting {
            row: $crate::config::table::setting::Row {
                name: $name,
                aliases: &[$($($alias),+)?],
                flag: settings!(@option $($flag)?),
                value: $value,
                what: $what,
                default: settings!(@option $($default)?),
                example: $example,
            },
            takes: $crate::config::table::setting::Accepts::$variant $accepted,
        }
    };
    (@Switch {
        name: $name:literal, $(aliases: $aliases:tt,)? flag: $flag:literal, default: $default:tt,
        what: $what:literal,
    }) => {
        settings!(@Setting {
            name: $name, $(aliases: $aliases,)? flag: $flag, value: "BOOL",
            default: stringify!($default), example: settings!(@other_than $default),
            what: $what,
            takes: Switch($crate::config::table::setting::SWITCHES),
        })
    };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@other_than true) => { "false" };
    (@other_than false) => { "true" };
}
pub(super) use settings;
