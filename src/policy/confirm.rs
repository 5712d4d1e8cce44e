//! Confirmation: the risks that need consent before a call is sent, and how consent is given.

use crate::catalog::Risk;

/// How consent is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consents {
    /// By `confirm: true`, or the user's approval.
    #[default]
    Flag,
    /// By the confirmation token of the question, which is valid only for that call on that object in its current
    /// state.
    Token,
}

/// Who confirms where the client can ask a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfirmBy {
    /// The person, whatever consent the call has.
    #[default]
    Person,
    /// The model too: `confirm: true` counts, and the person is asked about a call without it.
    Model,
}

/// The calls that need confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// The least risk that needs confirmation: whoever wants to confirm each write wants to confirm a deletion.
    least: Option<Risk>,
    pub consents: Consents,
    pub by: ConfirmBy,
}

impl Default for Confirm {
    /// Grants and destructive calls, by `confirm: true`.
    fn default() -> Confirm {
        Confirm { least: Some(Risk::Grant), ..Confirm::NEVER }
    }
}

impl Confirm {
    /// No confirmation at all.
    pub const NEVER: Confirm = Confirm { least: None, consents: Consents::Flag, by: ConfirmBy::Person };

    /// Parses `destructive,grant`: risks to confirm, each with those above it, and `ask` or `token` for how consent is given (`plan` is the
    /// former name of `token`); `never` by itself. `ask` or `token` without a risk means the default risks.
    pub fn parse(text: &str) -> Option<Confirm> {
        let words: Vec<String> = text.split(',').map(|word| word.trim().to_lowercase()).collect();
        if words.iter().any(|word| word == "never") {
            return (words.len() == 1).then_some(Confirm::NEVER);
        }
        let mut confirm = Confirm::NEVER;
        for word in &words {
            let risk = match word.as_str() {
                "write" => Some(Risk::Write),
                "grant" => Some(Risk::Grant),
                "destructive" => Some(Risk::Destructive),
                "ask" => None,
                "token" | "plan" => {
                    confirm.consents = Consents::Token;
                    None
                }
                _ => return None,
            };
            confirm.least = confirm.least.into_iter().chain(risk).min();
        }
        Some(Confirm { least: confirm.least.or(Confirm::default().least), ..confirm })
    }

    /// Asks wherever one of the two asks, for a token if one of them wants it, and the person if one of them does.
    pub fn stricter_of(self, other: Confirm) -> Confirm {
        Confirm {
            least: self.least.into_iter().chain(other.least).min(),
            consents: if self.wants_token() { self.consents } else { other.consents },
            by: if other.by == ConfirmBy::Person { other.by } else { self.by },
        }
    }

    /// True if a call of that risk needs confirmation.
    pub fn asks_about(self, risk: Risk) -> bool {
        self.least.is_some_and(|least| least <= risk)
    }

    /// True if any call needs confirmation.
    pub fn asks(self) -> bool {
        self.least.is_some()
    }

    /// True if consent is given by a confirmation token.
    pub fn wants_token(self) -> bool {
        self.consents == Consents::Token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risks_and_consent_modes_are_parsed() {
        let parse = |text: &str| Confirm::parse(text).unwrap();
        assert_eq!(parse("ask"), Confirm::default());
        assert_eq!(parse("destructive,grant"), Confirm::default());
        // Each with those above it: `write` alone deleted without a question.
        assert_eq!(parse("grant"), Confirm::default());
        assert!(
            [Risk::Write, Risk::Grant, Risk::Destructive].iter().all(|risk| parse("write").asks_about(*risk))
        );
        assert!(
            parse("grant,token").asks_about(Risk::Destructive)
                && !parse("destructive").asks_about(Risk::Grant)
        );
        assert!(parse("plan").wants_token() && parse("token").asks_about(Risk::Grant));
        let only = parse("Destructive");
        assert!(only.asks_about(Risk::Destructive) && !only.asks_about(Risk::Grant));
        assert!(parse("write, token").asks_about(Risk::Write));
        assert!(!parse("never").asks());
        assert_eq!(parse("token").by, ConfirmBy::Person);
        for text in ["", "perhaps", "never,grant", "read", "destructive,,grant"] {
            assert_eq!(Confirm::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_stricter_of_two_asks_wherever_one_of_them_does() {
        let risks = ["write", "grant", "destructive"];
        let mut all = vec![Confirm::NEVER];
        for chosen in 1..8_usize {
            let words = risks.iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0);
            let words = words.map(|(_, word)| *word).collect::<Vec<_>>().join(",");
            all.extend([words.clone(), format!("{words},token")].map(|text| Confirm::parse(&text).unwrap()));
        }
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (*one, *other))) {
            let both = one.stricter_of(other);
            for risk in [Risk::Read, Risk::Write, Risk::Grant, Risk::Destructive] {
                let asks = one.asks_about(risk) || other.asks_about(risk);
                assert_eq!(both.asks_about(risk), asks, "{one:?} {other:?} {risk:?}");
            }
            assert_eq!(both.wants_token(), one.wants_token() || other.wants_token(), "{one:?} {other:?}");
        }
    }

    /// A caller that asks for more questions does not answer them itself by that.
    #[test]
    fn the_person_confirms_if_one_of_the_two_leaves_it_to_the_person() {
        use ConfirmBy::{Model, Person};
        let who = |by| Confirm { by, ..Confirm::default() };
        for (one, other, expected) in [
            (Person, Person, Person),
            (Person, Model, Person),
            (Model, Person, Person),
            (Model, Model, Model),
        ] {
            assert_eq!(who(one).stricter_of(who(other)).by, expected, "{one:?} {other:?}");
        }
    }
}
