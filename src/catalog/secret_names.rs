//! Names of fields with secrets, from `[secrets]` in `catalog/rules.toml`. Names are as REST writes them, in lower case
//! with underscores.

/// The table, written by the build script.
pub const SECRET_NAMES: SecretNames = include!(concat!(env!("OUT_DIR"), "/secret_names.rs"));

/// Names by which secrets are known.
pub struct SecretNames {
    /// The last words of a field with a secret: `token` of `runners_token`.
    pub endings: &'static [&'static str],
    /// The last words of fields that end so, and are cursors of lists.
    pub cursors: &'static [&'static str],
    /// Further names of fields with a secret.
    pub names: &'static [&'static str],
    /// Fields that are a secret within others.
    pub held: &'static [HeldField],
    /// Fields next to the `key` and `value` of a CI/CD variable.
    pub beside_value: &'static [&'static str],
    /// Fields that are true next to a secret `value`.
    pub marks: &'static [&'static str],
    /// Parameters of URLs with a secret, besides those that end as fields do.
    pub query: &'static [&'static str],
    /// Hosts and beginnings of paths of URLs whose rest is a secret.
    pub urls: &'static [&'static str],
}

/// A field that is a secret anywhere within another.
pub struct HeldField {
    /// `*` at the beginning is any text.
    pub holder: &'static str,
    /// `*` is any field.
    pub name: &'static str,
}

impl HeldField {
    /// True if a field of that name is the secret.
    pub fn fits(&self, name: &str) -> bool {
        self.name == "*" || self.name == name
    }

    /// True if a field of that name is the holder.
    pub fn is_held_by(&self, name: &str) -> bool {
        match self.holder.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => self.holder == name,
        }
    }
}
