//! Key of a caller: a keyed digest of its instance and its credential. The key of the digest is random and of this
//! process, so that neither the caller's key nor its name in the logs can be matched against a token.

use ring::hmac::{self, HMAC_SHA256};

use url::Url;

use crate::tools::random_bytes;

/// Key of a caller in the table of callers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CallerKey([u8; 32]);

/// Digest of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CredentialDigest([u8; 32]);

/// Makes the keys.
pub(super) struct KeyMaker {
    key: hmac::Key,
}

impl KeyMaker {
    /// With a random key. None if the system has no random numbers.
    pub(super) fn new() -> Option<KeyMaker> {
        let secret: [u8; 32] = random_bytes()?;
        Some(KeyMaker { key: hmac::Key::new(HMAC_SHA256, &secret) })
    }

    /// Digest of the text of a token: however it is sent, it is one caller's.
    pub(super) fn digest(&self, token: &str) -> CredentialDigest {
        CredentialDigest(self.sign([token.as_bytes()].into_iter()))
    }

    /// The key of a caller: a credential at an instance.
    pub(super) fn key(&self, base: &Url, digest: Option<CredentialDigest>) -> CallerKey {
        let digest = digest.map(|digest| digest.0).unwrap_or_default();
        let parts: [&[u8]; 2] = [base.as_str().as_bytes(), &digest];
        CallerKey(self.sign(parts.into_iter()))
    }

    /// Signs the parts, each with its length, so that no two sequences of parts are one.
    fn sign<'a>(&self, parts: impl Iterator<Item = &'a [u8]>) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.key);
        for part in parts {
            context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            context.update(part);
        }
        let mut digest = [0_u8; 32];
        for (to, from) in digest.iter_mut().zip(context.sign().as_ref()) {
            *to = *from;
        }
        digest
    }
}

impl CallerKey {
    /// The name in logs: the first 8 hexadecimal digits.
    pub(super) fn name(self) -> String {
        self.0.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }
}
