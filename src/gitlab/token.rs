//! Kinds of GitLab token and the header each is sent in.

use super::Secret;

/// A token, by the header that GitLab reads it from
/// (<https://docs.gitlab.com/api/rest/authentication/>).
#[derive(Clone, Debug)]
pub enum Token {
    /// A personal, project, group or impersonation access token: `PRIVATE-TOKEN`.
    Private(Secret),
    /// An OAuth 2.0 access token: `Authorization: Bearer`.
    OAuth(Secret),
    /// A CI/CD job token: `JOB-TOKEN`.
    Job(Secret),
}

/// Kind of a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Private,
    OAuth,
    Job,
}

impl Token {
    pub fn kind(&self) -> TokenKind {
        match self {
            Token::Private(_) => TokenKind::Private,
            Token::OAuth(_) => TokenKind::OAuth,
            Token::Job(_) => TokenKind::Job,
        }
    }

    /// Detects the kind of a token by GitLab's table of prefixes
    /// (<https://docs.gitlab.com/security/tokens/#token-prefixes>): `glcbt-` is a job token, also after an instance's
    /// own prefix (`acme-glcbt-`). OAuth access tokens have no prefix: they are 64 hexadecimal digits. Anything else is
    /// treated as an access token, whose prefix an instance may change or leave out. This includes tokens that the API
    /// does not accept (`gldt-` deploy tokens, `glrt-` runners, `gloas-` application secrets), which GitLab then
    /// rejects.
    pub fn guess(secret: Secret) -> Token {
        let value = secret.reveal();
        let job = value.starts_with("glcbt-") || (value.contains("-glcbt-") && !value.contains("glpat-"));
        let oauth = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        if job {
            Token::Job(secret)
        } else if oauth {
            Token::OAuth(secret)
        } else {
            Token::Private(secret)
        }
    }

    /// Name and value of the header.
    pub(super) fn header(&self) -> (&'static str, String) {
        match self {
            Token::Private(secret) => ("private-token", secret.reveal().to_owned()),
            Token::OAuth(secret) => ("authorization", format!("Bearer {}", secret.reveal())),
            Token::Job(secret) => ("job-token", secret.reveal().to_owned()),
        }
    }

    /// True if both are the same text.
    pub fn is_same(&self, other: &Token) -> bool {
        self.reveal() == other.reveal()
    }

    /// The token itself.
    pub(super) fn reveal(&self) -> &str {
        let (Token::Private(secret) | Token::OAuth(secret) | Token::Job(secret)) = self;
        secret.reveal()
    }
}
