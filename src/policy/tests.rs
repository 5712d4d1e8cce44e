use super::*;
use crate::call::Body;
use crate::catalog::Method;

fn policy(settings: PolicySettings) -> Policy {
    Policy::new(settings, &Catalog::embedded().unwrap()).unwrap()
}

fn of_file(text: &str) -> PolicySettings {
    PolicySettings { file: Some(text.to_owned()), ..PolicySettings::default() }
}

fn call(risk: Risk, method: Method) -> Call {
    Call::for_test(risk, method, "/api/v4/x", &[], Body::Empty)
}

fn decide(policy: &Policy, risk: Risk, method: Method, confirm: bool, dry_run: bool) -> Ruling {
    policy.decide(call(risk, method).effects(), Consent { confirm, dry_run })
}

#[test]
fn read_only_denies_every_change() {
    let setting = PolicySettings { read_only: true, ..PolicySettings::default() };
    for settings in [setting, of_file("read_only = true")] {
        let read_only = policy(settings);
        for (risk, method) in
            [(Risk::Write, Method::Post), (Risk::Destructive, Method::Delete), (Risk::Read, Method::Delete)]
        {
            for (confirm, dry_run) in [(false, false), (true, false), (false, true), (true, true)] {
                let rule = Rule::ReadOnly { setting: "GITLAB_READ_ONLY".to_owned() };
                assert_eq!(decide(&read_only, risk, method, confirm, dry_run), Ruling::Deny(rule));
            }
        }
        assert_eq!(decide(&read_only, Risk::Read, Method::Post, false, false), Ruling::Allow);
    }
}

#[test]
fn safe_mode_shows_changes_and_runs_reads() {
    let safe = policy(PolicySettings { safe_mode: true, ..PolicySettings::default() });
    let shown = Ruling::Preview(Rule::SafeMode);
    assert_eq!(decide(&safe, Risk::Write, Method::Post, true, false), shown);
    assert_eq!(decide(&safe, Risk::Destructive, Method::Delete, true, false), shown);
    assert_eq!(decide(&safe, Risk::Read, Method::Get, false, false), Ruling::Allow);
}

#[test]
fn destructive_calls_are_confirmed_and_writes_are_not() {
    let open = policy(PolicySettings::default());
    let asked = Ruling::Confirm(Rule::Risk(Risk::Destructive));
    assert_eq!(decide(&open, Risk::Destructive, Method::Put, false, false), asked);
    assert_eq!(decide(&open, Risk::Destructive, Method::Put, true, false), Ruling::Allow);
    assert_eq!(decide(&open, Risk::Write, Method::Post, false, false), Ruling::Allow);
    assert_eq!(decide(&open, Risk::Destructive, Method::Put, true, true), Ruling::Preview(Rule::DryRun));
    let bold = policy(PolicySettings { confirm: Confirm::NEVER, ..PolicySettings::default() });
    assert_eq!(decide(&bold, Risk::Destructive, Method::Delete, false, false), Ruling::Allow);
}

#[test]
fn the_first_matching_rule_of_a_file_decides() {
    let text = r#"
        [[rule]]
        risk = "destructive"
        decision = "deny"
        reason = "ask Ada"

        [[rule]]
        risk = "write"
        decision = "confirm"

        [[rule]]
        decision = "preview"
    "#;
    let policy = policy(of_file(text));
    let rule = |number, reason: Option<&str>| Rule::PolicyFile { number, reason: reason.map(str::to_owned) };
    for confirm in [false, true] {
        let decision = decide(&policy, Risk::Destructive, Method::Delete, confirm, false);
        assert_eq!(decision, Ruling::Deny(rule(1, Some("ask Ada"))));
    }
    assert_eq!(decide(&policy, Risk::Write, Method::Post, false, false), Ruling::Confirm(rule(2, None)));
    assert_eq!(decide(&policy, Risk::Write, Method::Post, true, false), Ruling::Allow);
    assert_eq!(decide(&policy, Risk::Read, Method::Get, false, false), Ruling::Preview(rule(3, None)));
}

#[test]
fn an_allow_rule_skips_confirmation_and_no_confirmation_keeps_confirm_rules() {
    let allow = policy(of_file("[[rule]]\ndecision = \"allow\""));
    assert_eq!(decide(&allow, Risk::Destructive, Method::Delete, false, false), Ruling::Allow);
    let confirm = PolicySettings { confirm: Confirm::NEVER, ..of_file("[[rule]]\ndecision = \"confirm\"") };
    let decision = decide(&policy(confirm), Risk::Read, Method::Get, false, false);
    assert!(matches!(decision, Ruling::Confirm(Rule::PolicyFile { number: 1, .. })), "{decision:?}");
}

/// Nobody is asked about a read of the server's own, so nobody agrees to it.
#[test]
fn the_server_does_not_read_by_itself_what_has_to_be_agreed_to() {
    for decision in ["confirm", "preview", "deny"] {
        let policy = policy(of_file(&format!("[[rule]]\ndecision = \"{decision}\"")));
        let refused = policy.permit_own_read(call(Risk::Read, Method::Get)).err();
        assert_eq!(refused, Some(Rule::PolicyFile { number: 1, reason: None }), "{decision}");
    }
    assert!(policy(PolicySettings::default()).permit_own_read(call(Risk::Read, Method::Get)).is_ok());
}

/// GitLab redirects from a project that has moved, and no rule has been applied to its new path.
#[test]
fn a_file_is_not_downloaded_from_where_a_project_has_moved_to() {
    let fenced = policy(of_file("[[rule]]\npaths = [\"acme/vault\"]\ndecision = \"deny\""));
    for (policy, stays) in [(fenced, true), (policy(PolicySettings::default()), false)] {
        let permit = policy.permit(call(Risk::Read, Method::Get), Consent::default()).unwrap();
        assert_eq!(permit.as_download().forbids_redirect(), stays);
    }
}

#[test]
fn an_invalid_policy_is_refused() {
    let catalog = Catalog::embedded().unwrap();
    let list = |item: &str| vec![item.to_owned()];
    for (settings, said) in [
        (
            PolicySettings { denied_actions: list("isue.delete"), ..PolicySettings::default() },
            "`isue.delete`",
        ),
        (PolicySettings { allowed_paths: list("../x"), ..PolicySettings::default() }, "`../x`"),
        (
            PolicySettings { denied_tools: Some("(".to_owned()), ..PolicySettings::default() },
            "GITLAB_DENIED_TOOLS_REGEX",
        ),
        (of_file("read_onyl = true"), "read_onyl"),
        (of_file("[[rule]]\nactions = [\"no.such\"]\ndecision = \"deny\""), "`no.such`"),
        (of_file("[[rule]]\ndecision = \"perhaps\""), "perhaps"),
    ] {
        let error = Policy::new(settings, &catalog).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(format!("{error}: {source}").contains(said), "{error}: {source}");
    }
}

#[test]
fn denying_an_action_denies_all_with_its_effect() {
    let catalog = Catalog::embedded().unwrap();
    let policy =
        policy(PolicySettings { denied_actions: vec!["*.delete".to_owned()], ..PolicySettings::default() });
    let mut twins = 0;
    for action in catalog.actions() {
        let action = action.unwrap();
        let mut others = action.twin.iter().chain(&action.effects);
        let has_effect = others.any(|id| id.ends_with(".delete"));
        twins += u32::from(has_effect);
        assert_eq!(
            policy.withholds(&action).is_some(),
            action.id.ends_with(".delete") || has_effect,
            "{}",
            action.id
        );
    }
    assert!(twins > 0);
}

#[test]
fn scopes_deny_calls_that_would_fail() {
    let policy = policy(PolicySettings::default());
    let catalog = Catalog::embedded().unwrap();
    let create = catalog.get("issue.create").unwrap().unwrap();
    assert_eq!(policy.withholds(&create), None, "before they are known");
    policy.learn(Scopes::new(vec!["read_api".to_owned()]));
    let Some(Rule::Scope { scopes, .. }) = policy.withholds(&create) else { panic!() };
    assert_eq!(scopes, ["read_api"]);
    assert!(matches!(
        decide(&policy, Risk::Write, Method::Post, true, false),
        Ruling::Deny(Rule::Scope { .. })
    ));
    assert_eq!(decide(&policy, Risk::Read, Method::Get, false, false), Ruling::Allow);
}
