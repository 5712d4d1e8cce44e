//! Permalinks of lines in place of a file and a line: the page of a file at a commit (`…/-/blob/SHA/src/main.rs#L12`), and
//! a line of the diff of a commit or merge request (`…/-/commit/SHA#HASH_10_12`).

use serde_json::{Map, Value, json};

use crate::composite::run::{CompositeRun, params};
use crate::text::diff::{self, LineChange};
use crate::tools::ToolError;

/// Pages of a file.
const FILE_PAGES: [&str; 3] = ["blob", "raw", "blame"];

/// A permalink of this GitLab.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Permalink {
    /// Lines of a file at a commit or branch.
    File { project: String, reference: String, path: String, first: u64, last: u64 },
    /// A line of a diff, by GitLab's code for it.
    DiffLine { project: String, page: DiffPage, code: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DiffPage {
    Commit(String),
    MergeRequest(u64),
}

/// The parameters of a comment, with the file and the line in place of a permalink as `line_text` or `file`. A line of
/// the merge request's own head is named by its number, one of another commit by its text.
pub async fn expand(
    run: &CompositeRun<'_>,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let base = run.tools.base.as_str();
    let link = ["line_text", "file"].into_iter().find_map(|name| {
        let text = given.get(name)?.as_str()?.trim();
        text.contains("://").then_some((name, text))
    });
    let Some((name, text)) = link else { return Ok(given.clone()) };
    let link = parse(text, base).map_err(|fault| run.invalid(format!("`{name}`: {fault}")))?;
    let found = match &link {
        Permalink::File { .. } => file_line(run, &link).await?,
        Permalink::DiffLine { project, page, code } => diff_line(run, project, page, code).await?,
    };
    let mut expanded = given.clone();
    expanded.shift_remove(name);
    for (name, value) in found {
        expanded.entry(name).or_insert(value);
    }
    Ok(expanded)
}

/// The file and line of a file's permalink.
async fn file_line(run: &CompositeRun<'_>, link: &Permalink) -> Result<Map<String, Value>, ToolError> {
    let Permalink::File { project, reference, path, first, last } = link else { return Ok(Map::new()) };
    let merge_request = run.read_json("merge_request.get", run.of_merge_request(json!({}))).await?;
    let is_head = ["sha", "source_branch"]
        .into_iter()
        .any(|field| merge_request.get(field).and_then(Value::as_str) == Some(reference));
    if is_head {
        return Ok(match first == last {
            true => params(json!({"file": path, "line": first})),
            false => params(json!({"file": path, "line_start": first, "line_end": last})),
        });
    }
    if first != last {
        return Err(run.invalid(
            "the permalink has several lines of another commit than the head of the merge request; take `line_start` \
             and `line_end`",
        ));
    }
    let read = params(json!({"fullPath": project, "file_path": path, "ref": reference}));
    let content = run.read_json("repository_file.get_raw", read).await?;
    let at = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = content.as_str().and_then(|content| content.lines().nth(at)).unwrap_or_default().trim();
    if line.is_empty() {
        return Err(
            run.invalid(format!("line {first} of {path} is blank or missing there; take `file` and `line`"))
        );
    }
    Ok(params(json!({"file": path, "line_text": line})))
}

/// The file and text of a line of a diff.
async fn diff_line(
    run: &CompositeRun<'_>,
    project: &str,
    page: &DiffPage,
    code: &str,
) -> Result<Map<String, Value>, ToolError> {
    let files = match page {
        DiffPage::Commit(sha) => {
            run.read_json("commit.diff", params(json!({"fullPath": project, "sha": sha, "per_page": 100})))
                .await?
        }
        DiffPage::MergeRequest(iid) => {
            let read = params(json!({"fullPath": project, "iid": iid, "per_page": 100}));
            run.read_json("merge_request.list_diffs", read).await?
        }
    };
    for file in files.as_array().into_iter().flatten() {
        let field = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
        for path in [field("new_path"), field("old_path")] {
            let lines = diff::lines(field("diff"));
            let Some(line) = lines.iter().find(|line| line.code(path) == code) else { continue };
            let (side, number) = match line.change {
                LineChange::Removed => ("old", line.old_at),
                _ => ("new", line.new_at),
            };
            return Ok(match page {
                DiffPage::MergeRequest(_) => params(json!({"file": path, "line": number, "side": side})),
                DiffPage::Commit(_) => {
                    params(json!({"file": path, "line_text": line.text.trim(), "side": side}))
                }
            });
        }
    }
    Err(run.invalid("the permalink names no line of the first 100 files of its diff"))
}

/// The parts of a permalink.
fn parse(text: &str, base: &str) -> Result<Permalink, String> {
    const EXPECTED: &str =
        "expected the address of a line, such as …/-/blob/SHA/src/main.rs#L12 or …/-/commit/SHA#CODE";
    let expected = || EXPECTED.to_owned();
    let rest = text.strip_prefix(base.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    let rest = rest.ok_or_else(|| format!("the address is not of this GitLab; {EXPECTED}"))?;
    let (address, anchor) = rest.split_once('#').ok_or_else(expected)?;
    let address = address.split('?').next().unwrap_or_default();
    let (project, page) = address.split_once("/-/").ok_or_else(expected)?;
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (word, rest) = page.split_once('/').ok_or_else(expected)?;
    let project = decoded(project);
    let is_code = |anchor: &str| {
        let parts: Vec<&str> = anchor.split('_').collect();
        parts.len() == 3 && parts.iter().all(|part| !part.is_empty())
    };
    match word {
        _ if FILE_PAGES.contains(&word) => {
            let (reference, path) = rest.split_once('/').ok_or_else(expected)?;
            let numbers = anchor.strip_prefix('L').ok_or_else(expected)?;
            let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
            let number = |text: &str| text.trim_start_matches('L').parse::<u64>().map_err(|_| expected());
            let (first, last) = (number(first)?, number(last)?);
            if first == 0 || first > last {
                return Err(expected());
            }
            Ok(Permalink::File { project, reference: decoded(reference), path: decoded(path), first, last })
        }
        "commit" if is_code(anchor) => Ok(Permalink::DiffLine {
            project,
            page: DiffPage::Commit(rest.trim_end_matches('/').to_owned()),
            code: anchor.to_owned(),
        }),
        "merge_requests" if is_code(anchor) => {
            let iid = rest.split('/').next().and_then(|iid| iid.parse().ok()).ok_or_else(expected)?;
            Ok(Permalink::DiffLine { project, page: DiffPage::MergeRequest(iid), code: anchor.to_owned() })
        }
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://gitlab.example/git/";

    #[test]
    fn the_address_of_a_line_has_its_file_or_its_code() {
        let of = |rest: &str| parse(&format!("https://gitlab.example/git/{rest}"), BASE);
        let file = |reference: &str, path: &str, first, last| Permalink::File {
            project: "a/b".to_owned(),
            reference: reference.to_owned(),
            path: path.to_owned(),
            first,
            last,
        };
        assert_eq!(of("a/b/-/blob/c0ffee/src/main.rs#L12"), Ok(file("c0ffee", "src/main.rs", 12, 12)));
        assert_eq!(of("a/b/-/blob/main/a%20b.rs?ref_type=heads#L3-7"), Ok(file("main", "a b.rs", 3, 7)));
        let line =
            |page| Ok(Permalink::DiffLine { project: "a/b".to_owned(), page, code: "f00_10_12".to_owned() });
        assert_eq!(of("a/b/-/commit/c0ffee#f00_10_12"), line(DiffPage::Commit("c0ffee".to_owned())));
        assert_eq!(of("a/b/-/merge_requests/5/diffs#f00_10_12"), line(DiffPage::MergeRequest(5)));
    }

    #[test]
    fn any_other_address_is_an_error() {
        for rest in [
            "a/b/-/blob/c0ffee/src/main.rs",
            "a/b/-/blob/c0ffee/src/main.rs#L0",
            "a/b/-/blob/c0ffee/src/main.rs#L7-3",
            "a/b/-/blob/c0ffee#L1",
            "a/b/-/commit/c0ffee#note_5",
            "a/b/-/issues/1#f00_1_2",
            "a/b",
        ] {
            assert!(parse(&format!("{BASE}{rest}"), BASE).is_err(), "{rest}");
        }
        let other = parse("https://gitlab.com/a/b/-/blob/c/x#L1", BASE).unwrap_err();
        assert!(other.contains("not of this GitLab"), "{other}");
    }
}
