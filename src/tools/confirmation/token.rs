//! Confirmation tokens: an HMAC over one call, with a time limit, good for one use.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac::{self, Key};
use ring::rand::{SecureRandom, SystemRandom};

/// Lifetime of a token.
pub const TOKEN_LIFETIME: Duration = Duration::from_secs(300);

/// Bytes of the nonce, and of the MAC (HMAC-SHA-256, truncated to 128 bits: RFC 2104, 5).
const NONCE_BYTES: usize = 9;
const TIME_BYTES: usize = 4;
const MAC_BYTES: usize = 16;

/// Issues confirmation tokens and takes each back once. The key is of this process: no token from elsewhere is taken.
pub struct TokenIssuer {
    key: Key,
    random: SystemRandom,
    started: Instant,
    /// The nonces that were used, until the tokens would have expired.
    used: Mutex<BTreeMap<[u8; NONCE_BYTES], Instant>>,
}

/// Reasons to reject a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the confirmation token is not valid for this call, or the affected object has changed")]
    Mismatch,
    #[error("the confirmation token has expired (after {} minutes)", TOKEN_LIFETIME.as_secs() / 60)]
    Expired,
    #[error("the confirmation token has been used")]
    Used,
}

impl TokenIssuer {
    /// Creates tokens with a random key of the system. None if that fails: tokens are not available then.
    pub fn new() -> Option<TokenIssuer> {
        let random = SystemRandom::new();
        let key = Key::generate(hmac::HMAC_SHA256, &random).ok()?;
        Some(TokenIssuer { key, random, started: Instant::now(), used: Mutex::default() })
    }

    /// A token for one call, described by all that it is bound to.
    pub fn issue(&self, subject: &str) -> Option<String> {
        let mut nonce = [0_u8; NONCE_BYTES];
        self.random.fill(&mut nonce).ok()?;
        let issued = u32::try_from(self.started.elapsed().as_secs()).ok()?.to_be_bytes();
        let mut token = [nonce.as_slice(), issued.as_slice()].concat();
        let mac = hmac::sign(&self.key, &message(&token, subject));
        token.extend_from_slice(mac.as_ref().get(..MAC_BYTES)?);
        Some(URL_SAFE_NO_PAD.encode(token))
    }

    /// Takes a token for the same call, once.
    pub fn redeem(&self, token: &str, subject: &str) -> Result<(), TokenError> {
        let bytes = URL_SAFE_NO_PAD.decode(token.trim()).map_err(|_| TokenError::Mismatch)?;
        let (head, mac) = bytes.split_at_checked(NONCE_BYTES + TIME_BYTES).ok_or(TokenError::Mismatch)?;
        let (nonce, issued) = head.split_at_checked(NONCE_BYTES).ok_or(TokenError::Mismatch)?;
        let expected = hmac::sign(&self.key, &message(head, subject));
        if !is_equal(expected.as_ref().get(..MAC_BYTES).unwrap_or_default(), mac) {
            return Err(TokenError::Mismatch);
        }
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().map_err(|_| TokenError::Mismatch)?;
        let issued: [u8; TIME_BYTES] = issued.try_into().map_err(|_| TokenError::Mismatch)?;
        let expires = self.started + Duration::from_secs(u32::from_be_bytes(issued).into()) + TOKEN_LIFETIME;
        let now = Instant::now();
        if now >= expires {
            return Err(TokenError::Expired);
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, expires| *expires > now);
        match used.insert(nonce, expires) {
            Some(_) => Err(TokenError::Used),
            None => Ok(()),
        }
    }
}

/// Bytes of the system's random generator.
pub fn random_bytes<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0_u8; N];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

impl std::fmt::Debug for TokenIssuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenIssuer")
    }
}

fn message(head: &[u8], subject: &str) -> Vec<u8> {
    [head, subject.as_bytes()].concat()
}

/// Compares in a time that does not depend on where the two differ.
fn is_equal(expected: &[u8], given: &[u8]) -> bool {
    let differ = expected.iter().zip(given).fold(0_u8, |differ, (a, b)| differ | (a ^ b));
    expected.len() == given.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_one_call_and_taken_once() {
        let issuer = TokenIssuer::new().unwrap();
        let token = issuer.issue("delete 1").unwrap();
        assert_ne!(token, issuer.issue("delete 1").unwrap());
        assert_eq!(issuer.redeem(&token, "delete 2"), Err(TokenError::Mismatch));
        assert_eq!(TokenIssuer::new().unwrap().redeem(&token, "delete 1"), Err(TokenError::Mismatch));
        assert_eq!(issuer.redeem(&token, "delete 1"), Ok(()));
        assert_eq!(issuer.redeem(&token, "delete 1"), Err(TokenError::Used));
    }

    #[test]
    fn a_token_with_any_byte_changed_is_none() {
        let issuer = TokenIssuer::new().unwrap();
        let token = issuer.issue("x").unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(
                issuer.redeem(&URL_SAFE_NO_PAD.encode(changed), "x"),
                Err(TokenError::Mismatch),
                "{at}"
            );
        }
        for text in ["", "x", "AAAA", &token[1..]] {
            assert_eq!(issuer.redeem(text, "x"), Err(TokenError::Mismatch), "{text}");
        }
    }

    #[test]
    fn a_token_expires() {
        let Some(started) = Instant::now().checked_sub(TOKEN_LIFETIME + Duration::from_secs(1)) else {
            return;
        };
        let issuer = TokenIssuer::new().unwrap();
        // Issued at second 0 of a process that began longer ago than a token lives.
        let token = issuer.issue("x").unwrap();
        let late = TokenIssuer { started, ..issuer };
        assert_eq!(late.redeem(&token, "x"), Err(TokenError::Expired));
    }
}
