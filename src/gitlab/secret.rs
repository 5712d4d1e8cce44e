//! Secret values that cannot be displayed.

use std::fmt;

use ring::hmac::{self, HMAC_SHA256};

use super::Token;

/// A secret: no `Display`, no `Serialize`, and a redacted `Debug`. Only `gitlab` and `credentials` read it.
///
/// An empty secret authenticates nothing and should be rejected where it is loaded.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: String) -> Secret {
        Secret(value)
    }

    /// The value itself, for its header or form field, and for the file that keeps a sign-in.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// A key for one purpose, from which this secret cannot be found: HMAC-SHA-256 (RFC 2104) under it. `token` makes it
    /// the key of one caller.
    pub fn derive_key(&self, purpose: &str, token: Option<&Token>) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&hmac::Key::new(HMAC_SHA256, self.0.as_bytes()));
        context.update(purpose.as_bytes());
        // No purpose has this byte, so purpose and token cannot be mistaken for each other.
        context.update(b"\0");
        context.update(token.map_or("", Token::reveal).as_bytes());
        let mut key = [0; 32];
        key.copy_from_slice(context.sign().as_ref());
        key
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
