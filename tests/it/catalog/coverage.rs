//! The table of `docs/reference/gitlab-versions.md` that says how much of GitLab there is.

use gitlab_mcp::catalog::{Audience, GraphqlKind};

use super::data::actions;

/// The row of an operation, and its column.
fn rows() -> [[usize; 5]; 4] {
    let mut rows = [[0; 5]; 4];
    for action in actions() {
        let column = match (&action.twin, action.audience) {
            (_, Audience::Machine) => 2,
            (Some(_), _) => 1,
            (None, _) => 0,
        };
        for operation in &action.operations {
            let row = match &operation.graphql {
                None if operation.path == "/api/graphql" => continue,
                None => 0,
                Some(graphql) if graphql.kind == GraphqlKind::Mutation => 1,
                Some(graphql) if graphql.field.contains('.') => 3,
                Some(_) => 2,
            };
            rows[row][if operation.until.is_some() { 3 } else { column }] += 1;
            rows[row][4] += 1;
        }
    }
    rows
}

#[test]
fn the_table_of_the_covered_operations_is_right() {
    let page = include_str!("../../../docs/reference/gitlab-versions.md");
    let (_, table) = page.split_once("| operations | in actions for people |").unwrap();
    let numbers = table.lines().skip(2).take_while(|line| line.starts_with('|')).map(|line| {
        let cells = line.trim_matches('|').split('|').skip(1);
        cells.map(|cell| cell.trim().replace(',', "").parse().unwrap()).collect::<Vec<usize>>()
    });
    let numbers: Vec<Vec<usize>> = numbers.collect();
    assert_eq!(numbers, rows().map(Vec::from), "the rows of the table, from left to right");
}
