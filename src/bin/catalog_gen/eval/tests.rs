//! Figures of an evaluation, on files of its own.

use std::io::Write;

use super::{Baseline, Comparison, EvalError, Figures, Miss, Options, Report, SetReport, run};
use gitlab_mcp::catalog::Catalog;
use gitlab_mcp::search::Ranker;

const CASES: &str = "\
# request, then what would be right
list issues\tGET /projects/{}/issues
approve a merge request\tPOST /api/v4/projects/{id}/merge_requests/{merge_request_iid}/approve

brew coffee\tmutation coffeeBrew
list branches\tDELETE /projects/:id/boards/:board_id
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
fn unreadable_files_are_reported() {
    let cases = file("no tab here\n");
    let options = Options { cases: vec![cases.path().to_owned()], ..Options::default() };
    assert!(matches!(measured(&options), Err(EvalError::Case { line: 1, .. })));
}

fn json_lines(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn options(file: &tempfile::NamedTempFile) -> Options<'_> {
    Options { cases: vec![file.path().to_owned()], ..Options::default() }
}

#[test]
fn cases_have_a_kind_and_may_be_out_of_domain_or_harmless() {
    let cases = json_lines(
        r#"{"request": "list issues", "kind": "mine", "right": ["issue.list"]}
{"request": "xyzzy plugh qwfp", "nothing": true}
{"request": "list labels", "nothing": true}
{"request": "list releases", "harmless": true}
{"request": "delete the release", "harmless": true}
"#,
    );
    let report = measured(&options(&cases)).unwrap();
    let set = &report.sets[0];
    assert_eq!((set.all.requests, set.kinds["mine"].requests), (1, 1));
    assert_eq!((set.nothing, set.nothing_said), (2, 1));
    assert_eq!((set.harmless, set.harmed.as_slice()), (2, ["delete the release".to_owned()].as_slice()));
}

#[test]
fn an_invalid_case_is_reported_with_its_line() {
    let cases = json_lines("{\"request\": \"list issues\"}\n");
    let error = measured(&options(&cases)).unwrap_err().to_string();
    assert!(error.contains(":1: a case needs one of `right`"), "{error}");
    let cases = json_lines("{\"request\": \"a\", \"right\": [\"issue.list\"], \"rigth\": []}\n");
    assert!(measured(&options(&cases)).unwrap_err().to_string().contains("unknown field `rigth`"));
}

#[test]
fn the_kind_defaults_to_the_form_of_the_request() {
    let cases = json_lines(
        r#"{"request": "issue list", "right": ["issue.list"]}
{"request": "show me the issues of a project", "right": ["issue.list"]}
{"request": "I would like to see every single issue that is open in that old project", "right": ["issue.list"]}
{"request": "issue.list", "right": ["issue.list"]}
{"request": "https://gitlab.com/acme/widget/-/issues", "right": ["issue.list"]}
"#,
    );
    let report = measured(&options(&cases)).unwrap();
    let kinds: Vec<&str> = report.sets[0].kinds.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["address", "chatty", "id", "plain", "terse"]);
}

#[test]
fn plain_finders_are_measured_on_the_same_cases() {
    let cases = json_lines(
        r#"{"request": "List the issues", "right": ["issue.list"]}
{"request": "get rid of a tag", "right": ["tag.delete"]}
"#,
    );
    let report = measured(&Options { baselines: Baseline::ALL.to_vec(), ..options(&cases) }).unwrap();
    let baselines = &report.sets[0].baselines;
    assert_eq!(baselines.keys().collect::<Vec<_>>(), ["plain BM25", "substring"]);
    assert!(baselines.values().all(|figures| figures.requests == 2 && figures.first < 1.0), "{report}");
    assert!((report.sets[0].all.first - 1.0).abs() < 1e-9, "{report}");
}

#[test]
fn only_figures_that_fell_are_reported() {
    let figures = |first: f64| Figures { requests: 100, first, in_five: 0.9, ..Figures::default() };
    let miss = |request: &str, place| Miss {
        request: request.to_owned(),
        kind: "plain".to_owned(),
        wanted: Vec::new(),
        got: Vec::new(),
        place,
        sure: false,
    };
    let report = |first, misses| Report {
        actions: 1,
        sets: vec![SetReport {
            name: "mine".to_owned(),
            all: figures(first),
            misses,
            ..SetReport::default()
        }],
    };
    let before = report(0.80, vec![miss("a", Some(2)), miss("b", None)]);
    let now = report(0.78, vec![miss("a", Some(1)), miss("b", None), miss("c", Some(1))]);
    let comparison = Comparison::new(&before, &now);
    assert_eq!(comparison.falls(), ["mine: first 80.0 -> 78.0 (-2.0)"]);
    let text = comparison.to_string();
    assert!(text.contains("1 better\n    3 -> 2  a") && text.contains("1 worse\n    1 -> 2  c"), "{text}");
    assert!(Comparison::new(&before, &report(0.795, Vec::new())).falls().is_empty());
}

#[test]
fn a_saved_run_is_loaded() {
    let cases = json_lines("{\"request\": \"list issues\", \"right\": [\"issue.list\"]}\n");
    let mut report = measured(&options(&cases)).unwrap();
    report.forget_requests();
    let kept = json_lines(&serde_json::to_string(&report).unwrap());
    let saved = super::saved(kept.path()).unwrap();
    assert_eq!(saved.sets[0].all, report.sets[0].all);
    assert!(Comparison::new(&saved, &report).falls().is_empty());
    assert!(matches!(super::saved(file("{").path()), Err(EvalError::Saved { .. })));
}
