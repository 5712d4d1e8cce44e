//! Confirmation tokens: an HMAC over one call, with a time limit, good for one use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{self, SHA256_OUTPUT_LEN};
use ring::hmac::{self, Key};
use ring::rand::{SecureRandom, SystemRandom};

/// Lifetime of a token.
pub const TOKEN_LIFETIME: Duration = Duration::from_secs(300);

/// Bytes of the nonce, and of the MAC (HMAC-SHA-256, truncated to 128 bits: RFC 2104, 5).
const NONCE_BYTES: usize = 9;
const TIME_BYTES: usize = 4;
const MAC_BYTES: usize = 16;

/// Time by which the clocks of two servers with one key may differ.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(60);

/// Issues confirmation tokens and takes each back once. Without a shared key, no token from elsewhere is taken.
pub struct TokenIssuer {
    key: Key,
    random: SystemRandom,
    clock: Clock,
    used: Arc<UsedTokens>,
}

/// The tokens that were used in this process, by their nonces, until they would have expired. Callers share them: the
/// state of a caller may be dropped and made again while its tokens are valid.
#[derive(Debug, Default)]
pub struct UsedTokens(Mutex<BTreeMap<[u8; NONCE_BYTES], u64>>);

/// Unix time in seconds. It goes on from the start of the process whatever becomes of the system's clock: a clock that is
/// set back would make used tokens valid again.
struct Clock {
    started: Instant,
    unix_start: u64,
}

impl Clock {
    fn start() -> Clock {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Clock { started: Instant::now(), unix_start: unix.as_secs() }
    }

    fn now(&self) -> u64 {
        self.unix_start + self.started.elapsed().as_secs()
    }
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
    #[error("the confirmation token was issued by a server whose clock is ahead of this one's")]
    Early,
}

impl TokenIssuer {
    /// Creates tokens with a shared key, or a random one of the system. None if that fails: tokens are not available
    /// then.
    pub fn new(shared: Option<[u8; 32]>, used: Arc<UsedTokens>) -> Option<TokenIssuer> {
        let random = SystemRandom::new();
        let key = match shared {
            Some(key) => Key::new(hmac::HMAC_SHA256, &key),
            None => Key::generate(hmac::HMAC_SHA256, &random).ok()?,
        };
        Some(TokenIssuer { key, random, clock: Clock::start(), used })
    }

    /// A token for one call, described by all that it is bound to.
    pub fn issue(&self, subject: &str) -> Option<String> {
        let mut nonce = [0_u8; NONCE_BYTES];
        self.random.fill(&mut nonce).ok()?;
        let issued = u32::try_from(self.clock.now()).ok()?.to_be_bytes();
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
        let (issued, now) = (u64::from(u32::from_be_bytes(issued)), self.clock.now());
        let expires = issued + TOKEN_LIFETIME.as_secs();
        if now >= expires {
            return Err(TokenError::Expired);
        }
        if issued > now + MAX_CLOCK_SKEW.as_secs() {
            return Err(TokenError::Early);
        }
        let mut used = self.used.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, expires| *expires > now);
        match used.insert(nonce, expires) {
            Some(_) => Err(TokenError::Used),
            None => Ok(()),
        }
    }
}

/// SHA-256 of a text.
pub fn digest(text: &str) -> [u8; SHA256_OUTPUT_LEN] {
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
    bytes
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

    fn new_issuer(shared: Option<[u8; 32]>) -> TokenIssuer {
        TokenIssuer::new(shared, Arc::default()).unwrap()
    }

    /// An issuer of one key, at this second.
    fn at(unix_start: u64, used: &Arc<UsedTokens>) -> TokenIssuer {
        let issuer = TokenIssuer::new(Some([7; 32]), Arc::clone(used)).unwrap();
        TokenIssuer { clock: Clock { started: Instant::now(), unix_start }, ..issuer }
    }

    #[test]
    fn a_token_is_of_one_call_and_taken_once() {
        let issuer = new_issuer(None);
        let token = issuer.issue("delete 1").unwrap();
        assert_ne!(token, issuer.issue("delete 1").unwrap());
        assert_eq!(issuer.redeem(&token, "delete 2"), Err(TokenError::Mismatch));
        assert_eq!(new_issuer(None).redeem(&token, "delete 1"), Err(TokenError::Mismatch));
        assert_eq!(issuer.redeem(&token, "delete 1"), Ok(()));
        assert_eq!(issuer.redeem(&token, "delete 1"), Err(TokenError::Used));
    }

    #[test]
    fn a_token_with_any_byte_changed_is_none() {
        let issuer = new_issuer(None);
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
        let used = Arc::default();
        let token = at(1_000, &used).issue("x").unwrap();
        assert_eq!(at(1_000 + TOKEN_LIFETIME.as_secs(), &used).redeem(&token, "x"), Err(TokenError::Expired));
        assert_eq!(at(999 + TOKEN_LIFETIME.as_secs(), &used).redeem(&token, "x"), Ok(()));
    }

    #[test]
    fn servers_with_one_key_take_each_others_tokens_once_each() {
        let (one, other) = (new_issuer(Some([7; 32])), new_issuer(Some([7; 32])));
        let token = one.issue("delete 1").unwrap();
        assert_eq!(new_issuer(Some([8; 32])).redeem(&token, "delete 1"), Err(TokenError::Mismatch));
        assert_eq!(other.redeem(&token, "delete 2"), Err(TokenError::Mismatch));
        for issuer in [&one, &other] {
            assert_eq!(issuer.redeem(&token, "delete 1"), Ok(()));
            assert_eq!(issuer.redeem(&token, "delete 1"), Err(TokenError::Used));
        }
        // The state of a caller was made anew within the process.
        let anew = TokenIssuer::new(Some([7; 32]), Arc::clone(&one.used)).unwrap();
        assert_eq!(anew.redeem(&token, "delete 1"), Err(TokenError::Used));
    }

    #[test]
    fn clocks_may_differ_by_a_minute() {
        let token = at(1_000, &Arc::default()).issue("x").unwrap();
        assert_eq!(at(940, &Arc::default()).redeem(&token, "x"), Ok(()));
        assert_eq!(at(939, &Arc::default()).redeem(&token, "x"), Err(TokenError::Early));
    }
}
