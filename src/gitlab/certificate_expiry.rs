//! Expiry of the certificate that GitLab presented, from its DER encoding (RFC 5280, 4.1): webpki verifies
//! the validity period but does not expose it.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use time::{Date, Month, OffsetDateTime, Time};

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Expiry of the last certificate that was presented.
#[derive(Debug, Default)]
pub(super) struct CertificateExpiry(Mutex<Option<SystemTime>>);

impl CertificateExpiry {
    pub(super) fn record(&self, certificate: &[u8]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = expiry(certificate);
    }

    pub(super) fn last(&self) -> Option<SystemTime> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of the validity of a certificate.
fn expiry(certificate: &[u8]) -> Option<SystemTime> {
    let (certificate, _) = element(certificate, SEQUENCE)?;
    let (body, _) = element(certificate, SEQUENCE)?;
    let after_version = element(body, VERSION).map_or(body, |(_, rest)| rest);
    // Serial number, signature algorithm and issuer come before the validity.
    let before = (0..3).try_fold(after_version, |rest, _| any_element(rest).map(|(.., rest)| rest))?;
    let (validity, _) = element(before, SEQUENCE)?;
    let (.., rest) = any_element(validity)?;
    let (tag, text, _) = any_element(rest)?;
    parse_time(tag, std::str::from_utf8(text).ok()?)
}

/// The content of the first element, if it has this tag, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = any_element(bytes)?;
    (found == tag).then_some((content, rest))
}

/// Tag and content of the first element, and what follows it.
fn any_element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, bytes) = bytes.split_first()?;
    let (first, bytes) = bytes.split_first()?;
    let (length, bytes) = match usize::from(*first) {
        short @ 0..0x80 => (short, bytes),
        long => {
            let (digits, bytes) = bytes.split_at_checked(long - 0x80)?;
            let length = digits.iter().try_fold(0_usize, |length, digit| {
                length.checked_mul(256).map(|length| length + usize::from(*digit))
            })?;
            (length, bytes)
        }
    };
    let (content, rest) = bytes.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// Parses a UTCTime (`YYMMDDHHMMSSZ`) or a GeneralizedTime (`YYYYMMDDHHMMSSZ`).
fn parse_time(tag: u8, text: &str) -> Option<SystemTime> {
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i32 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let number = |at: usize| rest.get(at..at + 2)?.parse::<u8>().ok();
    let date = Date::from_calendar_date(year, Month::try_from(number(0)?).ok()?, number(2)?).ok()?;
    let time = Time::from_hms(number(4)?, number(6)?, number(8)?).ok()?;
    Some(OffsetDateTime::new_utc(date, time).into())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read_from_both_forms_of_time() {
        // From 2050 on, times have four digits of the year.
        for year in [2031, 2077] {
            let mut params = CertificateParams::new(["gitlab.example.com".to_owned()]).unwrap();
            let end = date_time_ymd(year, 3, 14);
            params.not_after = end;
            let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            assert_eq!(expiry(certificate.der()), Some(SystemTime::from(end)), "{year}");
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        for bytes in [&[][..], &[0x30], &[0x30, 0x82], &[0x30, 0xff, 1], &[0x30, 4, 0x30, 2, 2, 9], b"text"] {
            assert_eq!(expiry(bytes), None, "{bytes:?}");
        }
    }
}
