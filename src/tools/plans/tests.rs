use super::PLANS;
use crate::catalog::Catalog;

#[test]
fn every_plan_of_the_catalog_has_its_code_and_the_other_way_round() {
    let catalog = Catalog::embedded().unwrap();
    let plans = catalog.actions().map(Result::unwrap).filter(|action| action.plan.is_some());
    let ids: Vec<String> = plans.map(|action| action.id).collect();
    let mut coded: Vec<&str> = PLANS.iter().map(|(id, _)| *id).collect();
    coded.sort_unstable();
    assert_eq!(ids, coded);
}
