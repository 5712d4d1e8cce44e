//! What an evaluation counts, on files of its own.

use std::io::Write;

use super::{EvalError, Options, run};
use crate::catalog::Catalog;
use crate::search::Ranker;

const CASES: &str = "\
# request, then what would be right
list issues\tGET /projects/{}/issues
approve a merge request\tPOST /api/v4/projects/{id}/merge_requests/{merge_request_iid}/approve

brew coffee\tmutation coffeeBrew
list branches\tDELETE /projects/:id/boards/:board_id
";

const OPENAPI: &str = "\
openapi: 3.0.0
paths:
  /api/v4/projects/{id}/issues:
    parameters: []
    get:
      summary: List issues
    post:
      summary: Create an issue
  /api/v4/groups/{id}/issues:
    get:
      summary: List issues
";

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn measured(options: &Options<'_>) -> Result<super::Report, EvalError> {
    let catalog = Catalog::embedded().unwrap();
    let ranker = Ranker::open(&catalog).unwrap();
    run(&catalog, &ranker, options)
}

#[test]
fn cases_are_counted_by_the_place_of_the_right_answer() {
    let cases = file(CASES);
    let options = Options {
        cases: vec![cases.path().to_owned()],
        answer_bytes: Some(&|request| request.len()),
        ..Options::default()
    };
    let report = measured(&options).unwrap();
    let set = &report.sets[0];
    assert_eq!((set.all.requests, set.not_answerable), (3, 1));
    assert!((set.all.first - 2.0 / 3.0).abs() < 1e-9 && (set.all.in_ten - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(set.timing.most_bytes, Some("approve a merge request".len()));
    assert_eq!(set.misses.len(), 1);
    assert_eq!((set.misses[0].request.as_str(), set.misses[0].place), ("list branches", None));
    assert_eq!(set.misses[0].got[0], "branch.list");
    assert!(report.to_string().contains("first  66.7 %"), "{report}");
    assert_eq!(serde_json::to_value(&report).unwrap()["sets"][0]["requests"], 3);
}

#[test]
fn summaries_of_an_openapi_document_are_requests() {
    let document = file(OPENAPI);
    let options = Options { openapi: vec![document.path().to_owned()], ..Options::default() };
    let report = measured(&options).unwrap();
    assert_eq!((report.sets[0].all.requests, report.sets[0].misses.len()), (2, 0), "{report}");
}

#[test]
fn what_cannot_be_read_is_said() {
    assert!(matches!(measured(&Options::default()), Err(EvalError::Nothing)));
    let cases = file("no tab here\n");
    let options = Options { cases: vec![cases.path().to_owned()], ..Options::default() };
    assert!(matches!(measured(&options), Err(EvalError::Case { line: 1, .. })));
}
