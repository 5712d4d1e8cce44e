//! Descriptions: those that were written for this server, on every surface, and those that depend on the remaining
//! actions after denials.

use serde_json::{Value, json};

use crate::surfaces::listings::{list, run, start, tool};

const OVERRIDES: [(&str, &str); 4] = [
    ("GITLAB_TOOL_MANAGE_MILESTONE", "Releases of ours"),
    ("GITLAB_ACTION_MANAGE_MILESTONE_CREATE", "Plan a release"),
    ("GITLAB_PARAM_MANAGE_MILESTONE_TITLE", "Title"),
    ("GITLAB_PARAM_BROWSE_MILESTONES_NAMESPACE", "Project/group path"),
];

#[test]
fn own_words_stand_as_they_were_written() {
    for level in ["opaque", "compact", "full"] {
        for mode in ["flat", "discriminated"] {
            let settings = [("META_PARAM_SCHEMA", level), ("GITLAB_SCHEMA_MODE", mode)];
            let mut client = start("meta", &[&OVERRIDES[..], &settings].concat());
            let tools = list(&mut client);
            let milestones = tool(&tools, "gitlab_milestones");
            assert_eq!(milestones["description"], "Releases of ours", "{level} {mode}");
            let schema = milestones["inputSchema"].to_string();
            for own in ["\"description\":\"Title\"", "\"description\":\"Project/group path\""] {
                assert!(schema.contains(own), "{level} {mode}: {own}: {schema}");
            }
            assert!(schema.contains("Plan a release") && !schema.contains("Title Only"), "{level} {mode}");
            assert!(!client.close().stderr.contains("describes nothing"), "{level} {mode}");
        }
    }
    let split = [&OVERRIDES[..], &[("GITLAB_META_SPLIT", "cqrs")]].concat();
    let tools = list(&mut start("meta", &split));
    let schema = |name: &str| tool(&tools, name)["inputSchema"]["properties"]["params"].to_string();
    assert!(schema("browse_milestones").contains("Project/group path"));
    assert!(!schema("manage_milestones").contains("Project/group path"));
}

#[test]
fn names_of_family_tools_describe_the_tools_of_their_actions() {
    let tools = list(&mut start("individual", &OVERRIDES));
    let described = |name: &str, param: &str| tool(&tools, name)["inputSchema"]["properties"][param].clone();
    assert_eq!(described("milestone_create", "title")["description"], "Title");
    assert_eq!(described("milestone_list", "fullPath")["description"], "Project/group path");
    // `title` is another spelling of `milestone_id` there, and a parameter of the family's own elsewhere.
    assert_ne!(described("milestone_delete", "milestone_id")["description"], "Title");
    // Actions that read are on one side, those that change something on the other.
    assert_ne!(described("milestone_create", "fullPath")["description"], "Project/group path");
    assert_ne!(described("milestone_list", "title")["description"], "Title");
}

#[test]
fn a_find_has_them_on_every_surface() {
    for kind in ["dynamic", "meta", "individual", "toolset"] {
        let mut client = start(kind, &OVERRIDES);
        let reply =
            client.call("gitlab_find_action", json!({"query": "milestone.create", "detail": "schema"}));
        let first = &reply.structured["results"][0];
        assert_eq!(
            (&first["action"], &first["summary"]),
            (&json!("milestone.create"), &json!("Plan a release"))
        );
        assert!(reply.text.contains("Plan a release"), "{kind}: {}", reply.text);
        let properties = &first["input_schema"]["properties"];
        assert_eq!(properties["title"]["description"], "Title", "{kind}");
        assert_eq!(properties["fullPath"]["description"], "Project/group path", "{kind}");
        assert!(
            reply.structured["notes"].to_string().contains("Milestones: Releases of ours"),
            "{}",
            reply.text
        );
        let read = client.request("resources/read", json!({"uri": "gitlab://tools/milestone.create"}));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        let action: Value = serde_json::from_str(text).unwrap();
        assert_eq!(action["summary"], "Plan a release", "{kind}");
        assert!(!client.close().stderr.contains("describes nothing"), "{kind}");
    }
}

#[test]
fn the_command_that_finds_has_them_too() {
    let (code, out, err) = run(&["--sandbox", "find", "milestone.create", "--limit", "1"], &OVERRIDES);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(
        out.starts_with("Milestones: Releases of ours\n1. **milestone.create** (write) Plan a release\n"),
        "{out}"
    );
}

#[test]
fn what_describes_nothing_is_still_warned_of() {
    let client = start("dynamic", &[("GITLAB_PARAM_MILESTONES_TITEL", "x")]);
    let said = client.close().stderr;
    assert!(said.contains("GITLAB_PARAM_MILESTONES_TITEL describes nothing"), "{said}");
    assert!(said.contains("the nearest is GITLAB_PARAM_MILESTONES_TITLE"), "{said}");
}

#[test]
fn descriptions_follow_what_is_left_after_denials() {
    let described = |variables: &[(&str, &str)]| {
        let tools = list(&mut start("meta", variables));
        tool(&tools, "gitlab_milestones")["description"].as_str().unwrap().to_owned()
    };
    assert!(described(&[]).contains("looks at them and changes them"));
    for variables in [
        &[("GITLAB_READ_ONLY", "true")][..],
        &[("GITLAB_DENIED_ACTIONS", "milestone.create,milestone.update,milestone.delete,milestone.promote")],
    ] {
        let left = described(variables);
        assert!(!left.contains("changes them") && left.contains("changes nothing"), "{left}");
    }
    let left = described(&[("GITLAB_DENIED_ACTIONS", "milestone.get*,milestone.list*")]);
    assert!(!left.contains("looks at them"), "{left}");
}

#[test]
fn the_page_tells_what_denying_saves() {
    let page = include_str!("../../../docs/reference/customization.md");
    let denied = page.split("GITLAB_DENIED_ACTIONS='").nth(1).unwrap().split('\'').next().unwrap();
    let number = |cell: &str| cell.trim().replace(',', "").parse::<usize>().unwrap();
    let mut rows = 0;
    for mode in ["flat", "discriminated"] {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{mode}` |"))).unwrap();
        let cells: Vec<usize> = row.split('|').skip(2).take(4).map(number).collect();
        for (column, actions) in ["", denied].into_iter().enumerate() {
            let settings = [
                ("META_PARAM_SCHEMA", "full"),
                ("GITLAB_SCHEMA_MODE", mode),
                ("GITLAB_DENIED_ACTIONS", actions),
            ];
            let milestones = tool(&list(&mut start("meta", &settings)), "gitlab_milestones").clone();
            let schema = &milestones["inputSchema"];
            let alternatives = schema["oneOf"].as_array().cloned().unwrap_or(vec![schema.clone()]);
            let names = alternatives.iter().flat_map(|one| {
                one["properties"]["params"]["properties"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
            });
            let names: std::collections::BTreeSet<String> = names.collect();
            assert_eq!(milestones.to_string().len(), cells[column], "{mode} {actions}");
            assert_eq!(names.len(), cells[column + 2], "{mode} {actions}: {names:?}");
            rows += 1;
        }
    }
    assert_eq!(rows, 4);
}

/// An alias of a parameter was described as if it were the parameter: `title` may name a milestone by its id.
#[test]
fn a_description_of_a_parameter_is_of_the_one_with_that_name() {
    let own = [("GITLAB_PARAM_MANAGE_MILESTONE_TITLE", "Title of ours")];
    let milestones = tool(&list(&mut start("meta", &own)), "gitlab_milestones").clone();
    let params = &milestones["inputSchema"]["properties"]["params"]["properties"];
    assert_eq!(params["title"]["description"], "Title of ours");
    assert_ne!(params["milestone_id"]["description"], "Title of ours");
    // The tool of an action is of the family's too.
    let tools = list(&mut start("individual", &own));
    let described = |name: &str, param: &str| {
        tool(&tools, name)["inputSchema"]["properties"][param]["description"].clone()
    };
    assert_eq!(described("milestone_create", "title"), "Title of ours");
    assert_ne!(described("milestone_get", "milestone_id"), "Title of ours");
}
