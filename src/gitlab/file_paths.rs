//! REST paths whose response is a user's file: an artifact, a package, a file of a repository. Its `Content-Type`
//! depends on the file's name or author, so it is never parsed as GitLab's JSON.

use crate::catalog;

/// Returns true if the response to a request path (percent-encoded, from the instance's root) is a file.
pub(super) fn is_file(path: &str) -> bool {
    let Some((_, below)) = path.split_once("/api/v4/") else { return false };
    let segments: Vec<&str> = below.trim_end_matches('/').split('/').collect();
    let is_any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, &segments));
    let paths = &catalog::kinds().file_paths;
    is_any(&paths.files) && !is_any(&paths.lists)
}

fn matches(pattern: &str, segments: &[&str]) -> bool {
    let mut rest = segments;
    for part in pattern.split('/') {
        let Some((first, others)) = rest.split_first() else { return false };
        match part {
            "**" => return true,
            "*" => {}
            literal if literal == *first => {}
            _ => return false,
        }
        rest = others;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_paths_are_recognized() {
        for path in [
            "/api/v4/projects/acme%2Fwidget/jobs/7/artifacts/out/report.json",
            "/gitlab/api/v4/projects/1/jobs/artifacts/main/raw/a/b.json",
            "/api/v4/projects/1/packages/generic/a/1.0/x.json",
            "/api/v4/projects/1/repository/files/package.json/raw",
            "/api/v4/projects/1/jobs/7/trace",
            "/api/v4/snippets/1/raw",
            "/api/v4/projects/1/releases/v1.0.0/downloads/bin/x.json",
            "/api/v4/projects/1/releases/permalink/latest/downloads/x.json",
        ] {
            assert!(is_file(path), "{path}");
        }
        for path in [
            "/api/v4/projects/1/repository/files/package.json",
            "/api/v4/projects/1/jobs/7/artifacts/tree",
            "/api/v4/projects/1/jobs/7",
            "/api/v4/projects/1/packages/7/package_files",
            "/api/v4/projects/1/uploads",
            "/api/v4/projects/1/releases/permalink/latest",
            "/api/v4/projects/1/releases/v1.0.0",
            "/api/graphql",
        ] {
            assert!(!is_file(path), "{path}");
        }
    }
}
