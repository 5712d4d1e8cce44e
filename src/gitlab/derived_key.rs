//! Keys that are derived from a secret.

use ring::hmac::{self, HMAC_SHA256};

use super::{Secret, Token};

/// A key for one purpose, from which the secret cannot be found: HMAC-SHA-256 (RFC 2104) under it. `token` makes it the
/// key of one caller.
pub fn derive_key(secret: &Secret, purpose: &str, token: Option<&Token>) -> [u8; 32] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(HMAC_SHA256, secret.reveal().as_bytes()));
    context.update(purpose.as_bytes());
    // No purpose has this byte, so purpose and token cannot be mistaken for each other.
    context.update(b"\0");
    context.update(token.map_or("", Token::reveal).as_bytes());
    let mut key = [0; 32];
    key.copy_from_slice(context.sign().as_ref());
    key
}
