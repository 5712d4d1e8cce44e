use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use crate::catalog::Catalog;
use crate::composite::actions::ACTIONS;
use crate::composite::run::{MAX_STEPS, RunBounds, TIME};
use crate::tools::ErrorKind;

#[test]
fn plans_of_the_catalog_match_their_implementations() {
    let catalog = Catalog::embedded().unwrap();
    let plans = catalog.actions().map(Result::unwrap).filter(|action| action.plan.is_some());
    let ids: Vec<String> = plans.map(|action| action.id).collect();
    let mut coded: Vec<&str> = ACTIONS.iter().map(|composite| composite.id).collect();
    coded.sort_unstable();
    assert_eq!(ids, coded);
}

#[test]
fn a_step_beyond_the_limits_is_not_started() {
    let bounds = |begun, until| RunBounds { actions: ACTIONS, begun: AtomicUsize::new(begun), until };
    let now = Instant::now();
    let room = bounds(MAX_STEPS - 1, now + TIME);
    assert!(room.begin("issue.get").is_ok());
    assert_eq!(room.begin("issue.get").unwrap_err().kind, ErrorKind::TooLarge);
    assert_eq!(bounds(0, now).begin("issue.get").unwrap_err().kind, ErrorKind::Timeout);
}
