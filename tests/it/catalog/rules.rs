//! `catalog/rules.toml` in the embedded catalog: grants, effects, raised risks, places and quick actions.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{
    Action, Base, Catalog, GraphqlKind, Interface, Json, LandingPlace, Locates, Param, Place, Raise, Risk,
    When, split_words,
};
use serde::Deserialize;
use serde_json::json;

use crate::catalog::data::{action, actions};

/// The lists of the file that only a test needs.
#[derive(Deserialize)]
struct File {
    places: Places,
    risk: RiskLists,
    plain_widgets: Vec<Listed>,
    quick_actions: QuickActions,
}

#[derive(Deserialize)]
struct Places {
    not_places: Vec<Listed>,
    attributes: Vec<String>,
}

#[derive(Deserialize)]
struct RiskLists {
    shown_addresses: Vec<Listed>,
}

#[derive(Deserialize)]
struct QuickActions {
    not_texts: Vec<Listed>,
}

/// Parameters that look like what a rule is for and are not.
#[derive(Deserialize)]
struct Listed {
    params: Vec<String>,
}

fn file() -> File {
    toml::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/rules.toml"))).unwrap()
}

/// True if a list has the parameter of an action, by its name alone, or as `action:param` with `*` in the action.
fn is_listed(lists: &[Listed], action: &Action, path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap();
    lists.iter().flat_map(|listed| &listed.params).any(|known| match known.split_once(':') {
        Some((pattern, param)) => param == path && fits(pattern, &action.id),
        None => known == name,
    })
}

fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(left) = text.strip_prefix(first) else { return false };
    (0..=left.len()).filter_map(|at| left.get(at..)).any(|left| fits(rest, left))
}

/// Every parameter and every field of one, by its dotted path.
fn walk<'a>(params: &'a [Param], within: &str, visit: &mut dyn FnMut(&str, &'a Param)) {
    for param in params {
        let path = if within.is_empty() { param.name.clone() } else { format!("{within}.{}", param.name) };
        visit(&path, param);
        walk(&param.fields, &path, visit);
    }
}

fn find<'a>(action: &'a Action, path: &str) -> Option<&'a Param> {
    let mut found = None;
    walk(&action.params, "", &mut |at, param| {
        if at == path {
            found = Some(param);
        }
    });
    found
}

fn has_mutation(action: &Action) -> bool {
    let mut graphql = action.operations.iter().filter_map(|operation| operation.graphql.as_ref());
    graphql.any(|graphql| graphql.kind == GraphqlKind::Mutation)
}

/// Optional parameters with the state of an object that no look-up by the other parameters shows.
const NOT_PINNED: [(&str, &str); 2] = [
    // `noteableId` may be of anything.
    ("note.create", "mergeRequestDiffHeadSha"),
    // A vulnerability is no merge request.
    ("vulnerability_note.create", "merge_request_diff_head_sha"),
];

#[test]
fn every_parameter_with_the_state_of_an_object_ties_a_confirmed_call_to_it_or_is_named() {
    let is_state = |name: &str| {
        let name = name.replace('_', "").to_lowercase();
        ["sha", "lastcommitid"].contains(&name.as_str()) || name.ends_with("headsha")
    };
    let mut pinned = 0;
    for action in actions().iter().filter(|action| action.risk != Risk::Read) {
        for param in action.params.iter().filter(|param| is_state(&param.name) && !param.required) {
            let is_named = NOT_PINNED.contains(&(action.id.as_str(), param.name.as_str()));
            let is_pinned = action.pin.as_ref().is_some_and(|pin| pin.param == param.name);
            assert!(is_pinned != is_named, "{}: {}", action.id, param.name);
            pinned += usize::from(is_pinned);
        }
    }
    assert!(pinned > 4, "{pinned}");
}

#[test]
fn grants_are_the_reviewed_list() {
    let ids: Vec<String> =
        actions().into_iter().filter(|action| action.risk == Risk::Grant).map(|action| action.id).collect();
    insta::assert_snapshot!("grants", ids.join("\n"));
}

#[test]
fn risk_has_an_order() {
    assert!(Risk::Read < Risk::Write && Risk::Write < Risk::Grant && Risk::Grant < Risk::Destructive);
    for (id, risk) in [
        ("deploy_token.create", Risk::Grant),
        ("personal_access_token.create_self", Risk::Grant),
        ("ssh_key.create", Risk::Grant),
        ("webhook.create", Risk::Grant),
        ("integration.update_slack", Risk::Grant),
        ("invitation.create", Risk::Grant),
        ("project_export.start", Risk::Grant),
        ("group.share", Risk::Grant),
        ("member.add", Risk::Write),
        ("project.update", Risk::Write),
        ("merge_request.create", Risk::Write),
        ("graphql.merge_request_create", Risk::Write),
        ("issue_note.create", Risk::Write),
        ("issue.move", Risk::Destructive),
        ("security_policy_project.unassign", Risk::Destructive),
        ("project_access_token.rotate", Risk::Destructive),
    ] {
        assert_eq!(action(id).risk, risk, "{id}");
    }
}

/// Effects without those that follow from twins, which are known to be the same.
#[test]
fn effects_are_the_reviewed_list() {
    let actions = actions();
    let twins: BTreeSet<&str> =
        actions.iter().filter(|action| action.twin.is_some()).map(|action| action.id.as_str()).collect();
    let mut lines = Vec::new();
    for action in actions.iter().filter(|action| action.twin.is_none()) {
        let effects: Vec<&str> =
            action.effects.iter().map(String::as_str).filter(|id| !twins.contains(id)).collect();
        if !effects.is_empty() {
            lines.push(format!("{}: {}", action.id, effects.join(" ")));
        }
    }
    insta::assert_snapshot!("effects", lines.join("\n"));
}

#[test]
fn effects_are_actions_and_none_is_the_action_itself() {
    let catalog = Catalog::embedded().unwrap();
    for action in actions() {
        for effect in &action.effects {
            assert!(catalog.number(effect).is_some(), "{} has the effect {effect}", action.id);
            assert_ne!(*effect, action.id);
        }
        // A composite or direct action is decided by the calls that it makes.
        assert!(action.effects.is_empty() || !action.is_open() && action.plan.is_none(), "{}", action.id);
    }
}

#[test]
fn twins_share_their_effects() {
    let all: BTreeMap<String, Action> =
        actions().into_iter().map(|action| (action.id.clone(), action)).collect();
    for twin in all.values().filter(|action| action.twin.is_some()) {
        let stands = &all[twin.twin.as_deref().unwrap()];
        assert!(stands.effects.contains(&twin.id), "{} does not do {}", stands.id, twin.id);
        assert!(twin.effects.contains(&stands.id), "{} does not do {}", twin.id, stands.id);
        let whole = |id: &&String| all[*id].twin.is_none() && **id != twin.id;
        let missing: Vec<&String> =
            stands.effects.iter().filter(whole).filter(|id| !twin.effects.contains(id)).collect();
        assert!(missing.is_empty(), "{} lacks {missing:?} of {}", twin.id, stands.id);
    }
}

/// Actions that the denial of the first one has to stop as well; each pair is one way round such a denial.
#[test]
fn the_ways_round_a_denial_are_effects() {
    for (denied, others) in [
        ("issue.delete", &["work_item.delete"] as &[&str]),
        ("epic.delete", &["work_item.delete"]),
        ("issue_note.delete", &["note.delete", "issue_discussion_note.delete"]),
        (
            "merge_request_note.create",
            &["note.create", "merge_request_discussion.create", "draft_note.publish"],
        ),
        ("merge_request.merge", &["merge_train.add", "merge_request.accept"]),
        ("issue.move", &["work_item.move_bulk", "graphql.issue_move"]),
        (
            "issue.update",
            &["work_item.update", "work_item.update_bulk", "issue.set_due_date", "issue.set_severity"],
        ),
        ("repository_file.delete", &["commit.create", "graphql.commit_create"]),
        ("branch.delete", &["branch.delete_merged", "graphql.branch_delete"]),
        ("protected_branch.delete", &["branch_rule.delete", "branch_rule.update"]),
        ("member.add", &["invitation.create", "access_request.approve", "member.import_from_project"]),
        ("project.delete", &["group.delete"]),
        ("project.transfer", &["project.transfer_to_group", "group.transfer"]),
        (
            "personal_access_token.create_self",
            &[
                "personal_access_token.rotate",
                "personal_access_token.create_granular",
                "personal_access_token.create_for_user",
            ],
        ),
        ("issue_link.create", &["work_item.create"]),
        ("work_item.add_children", &["work_item.create", "issue.create"]),
        ("issue_reaction.create", &["work_item.update"]),
        ("merge_request_discussion.resolve", &["work_item.create", "issue.create", "graphql.create_issue"]),
        ("merge_request.set_required_approvals", &["merge_request.update"]),
        ("job_artifact.delete", &["job.erase", "pipeline.delete", "job_artifact.delete_bulk"]),
        ("package.delete", &["package.delete_bulk", "nuget_protocol.delete"]),
        ("runner.delete", &["runner.delete_bulk", "runner_protocol.unregister", "graphql.runner_delete"]),
        ("project_export.start", &["project_relation_export.start", "offline_export.create"]),
    ] {
        for other in others {
            let other_action = action(other);
            let by_parameter = other_action.raises.iter().flat_map(|raise| raise.effects.clone());
            let effects: Vec<String> = other_action.effects.iter().cloned().chain(by_parameter).collect();
            assert!(effects.iter().any(|id| id == denied), "{other} does {denied}: {effects:?}");
        }
    }
}

/// The destructive actions that no other action can do and that do nothing another one is for. One that is new here was
/// asked the question: which other action can do this?
#[test]
fn destructive_actions_without_another_are_the_reviewed_list() {
    let actions = actions();
    let mut effects = actions.iter().flat_map(|action| &action.effects).collect::<Vec<_>>();
    effects.sort();
    let ids: Vec<&str> = actions
        .iter()
        .filter(|action| action.risk == Risk::Destructive && !action.is_open())
        .filter(|action| action.effects.is_empty() && effects.binary_search(&&action.id).is_err())
        .map(|action| action.id.as_str())
        .collect();
    insta::assert_snapshot!("destructive_alone", ids.join("\n"));
}

#[test]
fn raised_risks_are_of_parameters_that_there_are() {
    let mut raised = 0;
    for action in actions() {
        for raise in &action.raises {
            raised += 1;
            assert!(find(&action, &raise.param).is_some(), "{} has no {}", action.id, raise.param);
            let adds = raise.risk > action.risk || !raise.effects.is_empty();
            // A read stays one, whatever else it shows; a conversation is cleared by what is said in it, a report is made
            // and a status checked anew.
            let is_open =
                ["duo_chat.ask", "repository.get_health", "merge_request.list"].contains(&action.id.as_str());
            let stays = action.risk > Risk::Read || raise.risk == Risk::Read || is_open;
            assert!(adds && stays, "{} {}", action.id, raise.param);
        }
    }
    assert!(raised >= 100, "{raised}");
}

#[test]
fn values_raise_the_risk_of_a_call() {
    let raise = |id: &str, param: &str| {
        let found: Vec<(When, Risk)> = action(id)
            .raises
            .into_iter()
            .filter(|raise| raise.param == param && raise.risk > action(id).risk)
            .map(|raise| (raise.when, raise.risk))
            .collect();
        assert_eq!(found.len(), 1, "{id} {param}");
        found.into_iter().next().unwrap()
    };
    let any_of = |values: &[&str]| When::AnyOf(values.iter().map(|value| Json(json!(value))).collect());
    assert_eq!(raise("commit.create", "actions.action"), (any_of(&["delete"]), Risk::Destructive));
    assert_eq!(raise("commit.create", "force"), (When::Is(Json(json!(true))), Risk::Destructive));
    assert_eq!(raise("member.add", "access_level"), (When::AtLeast(40), Risk::Grant));
    assert_eq!(raise("project.update", "visibility"), (any_of(&["internal", "public"]), Risk::Grant));
    assert_eq!(raise("issue.update", "confidential"), (When::Is(Json(json!(false))), Risk::Grant));
    assert_eq!(raise("user.update", "password"), (When::Given, Risk::Grant));
}

#[test]
fn results_without_a_target_land_somewhere() {
    let lands = |id: &str| {
        let lands = action(id).lands;
        lands.into_iter().map(|landing| (landing.absent.join(" "), landing.place)).collect::<Vec<_>>()
    };
    assert_eq!(
        lands("project.fork"),
        [("namespace_id namespace_path namespace".to_owned(), LandingPlace::OwnNamespace)]
    );
    assert_eq!(lands("project.create"), [("namespace_id".to_owned(), LandingPlace::OwnNamespace)]);
    assert_eq!(lands("group.transfer"), [("group_id".to_owned(), LandingPlace::TopLevel)]);
    assert_eq!(lands("remote_import.import_gists"), [(String::new(), LandingPlace::OwnNamespace)]);
}

const HOLDERS: [&str; 6] = ["project", "projects", "group", "groups", "namespace", "namespaces"];

/// True if a parameter looks like a reference to a project, group or namespace, or to an object of one that the call
/// does not name otherwise: by the words of its name, or by its type in GraphQL's schema.
fn looks_like_a_place(param: &Param) -> bool {
    const PATHS: [&str; 5] = ["path", "paths", "reference", "references", "refs"];
    const IDS: [&str; 3] = ["id", "ids", "iid"];
    const OTHERS: [&str; 13] = [
        "resource",
        "entity",
        "epic",
        "issue",
        "repository",
        "target",
        "source",
        "upstream",
        "downstream",
        "destination",
        "parent",
        "fork",
        "forked",
    ];
    const TYPES: [&str; 3] = ["Project", "Group", "Namespace"];
    let words = split_words(&param.name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let ends = |list: &[&str]| words.last().is_some_and(|last| list.contains(&last.as_str()));
    let is_number = param.kind.base == Base::Integer && !param.kind.many;
    let in_schema = TYPES.iter().any(|kind| {
        param.gid.as_deref() == Some(kind)
            || param.graphql.as_ref().is_some_and(|known| known.contains(&format!("{kind}ID")))
    });
    let by_name = ends(&PATHS)
        || ends(&HOLDERS)
        || (has(&HOLDERS) && (ends(&IDS) || !is_number))
        || (has(&OTHERS) && ends(&IDS))
        || words == ["repository"];
    takes_a_reference(param) && (by_name || in_schema)
}

fn takes_a_reference(param: &Param) -> bool {
    let base = matches!(param.kind.base, Base::String | Base::Integer | Base::IntegerOrString | Base::Any);
    base && param.choices.is_empty()
}

#[test]
fn every_parameter_that_looks_like_a_place_is_one_or_is_named() {
    let places = file().places;
    let (mut operations, mut seen, mut located, mut missing) = (0, 0, 0, Vec::new());
    for action in actions() {
        operations += action.operations.len();
        walk(&action.params, "", &mut |path, param| {
            seen += 1;
            located += usize::from(param.locates.is_some());
            if param.locates.is_some() || is_listed(&places.not_places, &action, path) {
                return;
            }
            let is_object = matches!(path, "id" | "ids");
            let is_foreign = |kind: &String| is_object || !places.attributes.contains(kind);
            let by_type = has_mutation(&action) && param.gid.as_ref().is_some_and(is_foreign);
            if looks_like_a_place(param) || by_type {
                missing.push(format!("{}:{path}", action.id));
            }
        });
    }
    assert!(missing.is_empty(), "neither located nor in not_places:\n{}", missing.join("\n"));
    let figures = format!("{operations} operations, {seen} parameters, {located} places");
    assert!(operations >= 3_000 && seen >= 12_000 && located >= 2_500, "{figures}");
}

/// An id in a path that does not lead through a project or group is the place of a call, or is of the instance or a
/// user. So is that of a read: a rule that denies a project has to see what is read in it.
#[test]
fn every_id_of_a_path_is_a_place_or_is_named() {
    let places = file().places;
    let mut missing = Vec::new();
    for action in actions() {
        for operation in action.choices().filter(|operation| operation.any != Some(Interface::Plan)) {
            let mut filled =
                operation.placeholders().map(|(placeholder, _)| operation.filled_by(placeholder));
            if operation.is_filled_by("fullPath") {
                continue;
            }
            let unknown = filled.find(|name| {
                let is_id = split_words(name).last().is_some_and(|word| word == "id");
                let param = action.param(name).filter(|param| param.place == Place::Path);
                is_id
                    && param.is_some_and(|param| param.locates.is_none())
                    && !is_listed(&places.not_places, &action, name)
            });
            missing.extend(unknown.map(|name| format!("{}:{name} in {operation}", action.id)));
        }
    }
    assert!(missing.is_empty(), "neither located nor in not_places:\n{}", missing.join("\n"));
}

/// GraphQL finds a project or group by its path: a number there is no id.
#[test]
fn a_path_of_graphql_is_no_id() {
    let mut paths = 0;
    for action in actions().iter().filter(|action| action.plan.is_none()) {
        let is_graphql = action.operations.iter().any(|operation| operation.graphql.is_some());
        walk(&action.params, "", &mut |path, param| {
            let ends_as_path = split_words(&param.name).last().is_some_and(|word| word == "path");
            if is_graphql && param.locates.is_some() && ends_as_path {
                paths += 1;
                assert_eq!(param.locates, Some(Locates::Path), "{}:{path}", action.id);
            }
        });
    }
    assert!(paths >= 650, "{paths}");
}

/// Twins call these parameters by other names.
const RENAMED: [(&str, &str); 2] =
    [("visibility", "visibilityLevel"), ("files.action", "blobActions.action")];

/// A parameter that raises the risk of one action raises that of its twin, under whichever name the twin has it.
#[test]
fn what_raises_the_risk_of_an_action_raises_that_of_its_twin() {
    let all: BTreeMap<String, Action> =
        actions().into_iter().map(|action| (action.id.clone(), action)).collect();
    let (mut compared, mut missing) = (0, Vec::new());
    for twin in all.values().filter(|action| action.twin.is_some()) {
        let stands = &all[twin.twin.as_deref().unwrap()];
        for (one, other) in [(twin, stands), (stands, twin)] {
            for raise in &one.raises {
                for path in counterparts(&raise.param, other) {
                    compared += 1;
                    let is_raised = other.risk >= raise.risk
                        || other.raises.iter().any(|known| known.param == path && known.risk >= raise.risk);
                    let has_effects = raise.effects.iter().all(|effect| {
                        *effect == other.id
                            || other.effects.contains(effect)
                            || other.raises.iter().any(|known| known.effects.contains(effect))
                    });
                    if !is_raised || !has_effects {
                        missing.push(format!("{}:{path}, as {}:{}", other.id, one.id, raise.param));
                    }
                }
            }
        }
    }
    assert!(missing.is_empty(), "not raised:\n{}", missing.join("\n"));
    assert!(compared >= 30, "{compared}");
}

/// The parameters of an action that are another's parameter: of the same words, or renamed.
fn counterparts(param: &str, action: &Action) -> Vec<String> {
    let mut found = Vec::new();
    walk(&action.params, "", &mut |path, _| {
        let is_renamed = RENAMED.iter().any(|pair| *pair == (param, path) || *pair == (path, param));
        if split_words(path) == split_words(param) || is_renamed {
            found.push(path.to_owned());
        }
    });
    found
}

/// A protection of two names: the switch of one mutation is a setting of the other.
#[test]
fn a_switch_of_one_setting_raises_as_the_setting_does() {
    for id in
        ["security_settings.set_secret_push_protection", "security_settings.set_pre_receive_secret_detection"]
    {
        let raises = action(id).raises;
        let is_off = |raise: &Raise| raise.param == "enable" && raise.when == When::Is(Json(json!(false)));
        assert!(raises.iter().any(is_off), "{id}: {raises:?}");
    }
}

/// An address that GitLab calls or sends data to is a grant.
#[test]
fn every_address_of_a_write_is_a_grant_or_is_named() {
    const ENDS: [&str; 11] = [
        "url",
        "urls",
        "uri",
        "uris",
        "endpoint",
        "endpoints",
        "host",
        "hostname",
        "server",
        "address",
        "webhook",
    ];
    let named = file().risk.shown_addresses;
    let (mut grants, mut missing) = (0, Vec::new());
    for action in actions().iter().filter(|action| action.risk == Risk::Write && action.plan.is_none()) {
        walk(&action.params, "", &mut |path, param| {
            let is_text =
                matches!(param.kind.base, Base::String | Base::Any) && param.place != Place::Selector;
            let is_address =
                split_words(&param.name).last().is_some_and(|word| ENDS.contains(&word.as_str()));
            if !is_text || !is_address || is_listed(&named, action, path) {
                return;
            }
            match action.raises.iter().any(|raise| raise.param == path && raise.risk >= Risk::Grant) {
                true => grants += 1,
                false => missing.push(format!("{}:{path}", action.id)),
            }
        });
    }
    assert!(missing.is_empty(), "neither raised nor in shown_addresses:\n{}", missing.join("\n"));
    assert!(grants >= 20, "{grants}");
}

/// A value by which more people see a project, a group or a part of it is a grant.
#[test]
fn every_level_that_opens_is_a_grant() {
    let mut raised = 0;
    for action in actions().iter().filter(|action| action.risk == Risk::Write && action.plan.is_none()) {
        walk(&action.params, "", &mut |path, param| {
            let is_level = param.name.ends_with("access_level") || param.name.starts_with("visibility");
            let is_update = action.id.ends_with(".update");
            let opens = |choice: &String| choice == "public" || (choice == "enabled" && is_update);
            for choice in param.choices.iter().filter(|choice| is_level && opens(choice)) {
                let is_raised = action.raises.iter().any(|raise| {
                    let has =
                        matches!(&raise.when, When::AnyOf(values) if values.contains(&Json(json!(choice))));
                    raise.param == path && has && raise.risk >= Risk::Grant
                });
                assert!(is_raised, "{}:{path} {choice}", action.id);
                raised += 1;
            }
        });
    }
    assert!(raised >= 30, "{raised}");
}

/// A widget that does what another action is for has its effect.
#[test]
fn every_widget_of_a_work_item_has_an_effect_or_is_named() {
    let plain = file().plain_widgets;
    let (mut widgets, mut missing) = (0, Vec::new());
    for action in actions().iter().filter(|action| action.domain() == "work_item" && has_mutation(action)) {
        for param in action.params.iter().filter(|param| is_widget(param)) {
            widgets += 1;
            let has_effects = |raise: &Raise| raise.param == param.name && !raise.effects.is_empty();
            if !action.raises.iter().any(has_effects) && !is_listed(&plain, action, &param.name) {
                missing.push(format!("{}:{}", action.id, param.name));
            }
        }
    }
    assert!(missing.is_empty(), "neither an effect nor in plain_widgets:\n{}", missing.join("\n"));
    assert!(widgets >= 30, "{widgets}");
}

/// True for a part of a work item beside its title: a widget, or threads that it resolves.
fn is_widget(param: &Param) -> bool {
    param.kind.base == Base::Object && (param.name.ends_with("Widget") || param.name.ends_with("Resolve"))
}

#[test]
fn parameters_locate_what_they_name() {
    for (id, path, locates) in [
        ("issue.create", "fullPath", Some(Locates::Holder)),
        ("issue.move", "to_project_id", Some(Locates::Project)),
        ("project.fork", "namespace_id", Some(Locates::Namespace)),
        ("project.transfer_to_group", "project_id", Some(Locates::Project)),
        ("project.set_fork_relation", "forked_from_id", Some(Locates::Project)),
        ("project.unshare", "group_id", Some(Locates::Group)),
        ("member.import_from_project", "project_id", Some(Locates::Project)),
        ("commit.create", "start_project", Some(Locates::Project)),
        ("epic_issue.assign", "issue_id", Some(Locates::Foreign)),
        ("epic.update", "parent_id", Some(Locates::Foreign)),
        ("work_item.update", "hierarchyWidget.parentId", Some(Locates::Foreign)),
        ("note.delete", "id", Some(Locates::Foreign)),
        ("graphql.label_update", "id", Some(Locates::Foreign)),
        ("work_item.update", "labelsWidget.addLabelIds", None),
        ("value_stream.update", "id", Some(Locates::Foreign)),
        ("ai_action.run", "resolveVulnerability.resourceId", Some(Locates::Foreign)),
        ("runner.delete", "runner_id", Some(Locates::Foreign)),
        ("issue.create", "assignee_ids", None),
        ("cluster.create", "platform_kubernetes_attributes.namespace", None),
        ("bulk_import.create", "entities.source_full_path", None),
        ("bulk_import.create", "entities.destination_namespace", Some(Locates::Path)),
        ("custom_emoji.create", "fullPath", Some(Locates::Path)),
        ("job_token_scope.add_group_or_project", "targetPath", Some(Locates::Path)),
        ("project_subscription.create", "upstreamPath", Some(Locates::Path)),
        ("issue.link_alerts", "alertReferences", Some(Locates::Foreign)),
        ("work_item.add_closing_merge_request", "mergeRequestReference", Some(Locates::Foreign)),
        (
            "security_settings.set_secret_push_protection_in_group",
            "projectsToExclude",
            Some(Locates::Project),
        ),
        ("duo_chat.ask", "resource_id", Some(Locates::Foreign)),
        ("registry_repository.get", "repository_id", Some(Locates::Foreign)),
        ("merge_request.update_approval_rule", "groupIds", Some(Locates::Group)),
    ] {
        let action = action(id);
        let param = find(&action, path).unwrap_or_else(|| panic!("{id} has no {path}"));
        assert_eq!(param.locates, locates, "{id} {path}");
    }
}

#[test]
fn texts_of_comments_and_descriptions_are_scanned() {
    /// Objects on whose comments GitLab executes no quick actions.
    const PLAIN: [&str; 5] = [
        "snippet_note",
        "snippet_discussion",
        "snippet_discussion_note",
        "vulnerability_note",
        "wiki_page_note",
    ];
    let mut scanned = 0;
    for action in actions().iter().filter(|action| action.risk > Risk::Read && action.plan.is_none()) {
        for path in &action.scanned {
            let param = find(action, path).unwrap_or_else(|| panic!("{} has no {path}", action.id));
            // A text, or a file of rows of them.
            assert!(matches!(param.kind.base, Base::String | Base::File), "{} {path}", action.id);
            scanned += 1;
        }
        let domain = action.domain();
        let is_comment =
            domain.ends_with("note") || domain.ends_with("discussion") || domain == "commit_comment";
        if is_comment && !PLAIN.contains(&domain) {
            for name in ["body", "note"] {
                let is_scanned = action.scanned.iter().any(|path| path == name);
                assert!(action.param(name).is_none() || is_scanned, "{}:{name}", action.id);
            }
        }
    }
    for (id, path) in [
        ("issue.create", "description"),
        ("issue.update", "description"),
        ("merge_request.create", "description"),
        ("graphql.merge_request_update", "description"),
        ("epic.update", "description"),
        ("work_item.update", "descriptionWidget.description"),
        ("draft_note.create", "note"),
    ] {
        assert_eq!(action(id).scanned, [path], "{id}");
    }
    assert!(scanned >= 45, "{scanned}");
}

/// A text that is called a description, body, comment, note or message is scanned for quick actions, or the rules say why
/// not.
#[test]
fn every_text_that_gitlab_may_scan_is_scanned_or_has_a_reason() {
    const TEXTS: [&str; 8] =
        ["body", "comment", "comments", "description", "message", "messages", "note", "notes"];
    let not_texts = file().quick_actions.not_texts;
    let (mut scanned, mut listed, mut faults) = (0, 0, Vec::new());
    for action in actions().iter().filter(|action| !action.is_open() && action.plan.is_none()) {
        walk(&action.params, "", &mut |path, param| {
            let is_text = split_words(&param.name).last().is_some_and(|word| TEXTS.contains(&word.as_str()));
            let is_sent =
                matches!(param.kind.base, Base::String | Base::Any) && param.place != Place::Selector;
            if action.risk == Risk::Read || !is_text || !is_sent {
                return;
            }
            let is_scanned = action.scanned.iter().any(|known| known == path);
            if is_scanned == is_listed(&not_texts, action, path) {
                faults.push(format!("{}:{path}, scanned: {is_scanned}", action.id));
            }
            scanned += u32::from(is_scanned);
            listed += u32::from(!is_scanned);
        });
    }
    assert!(faults.is_empty(), "neither scanned nor in not_texts, or both:\n{}", faults.join("\n"));
    assert!(scanned > 60 && listed > 150, "{scanned} scanned, {listed} listed");
}

#[test]
fn quick_actions_stand_for_actions() {
    let catalog = Catalog::embedded().unwrap();
    let commands = &catalog.words().unwrap().quick_actions;
    for (command, quick) in commands {
        assert_eq!(*command, command.to_lowercase());
        for id in &quick.actions {
            let action = catalog.get(id).unwrap().unwrap_or_else(|| panic!("/{command} is {id}"));
            assert!(
                action.risk > Risk::Read && action.twin.is_none_or(|twin| quick.actions.contains(&twin)),
                "{id}"
            );
        }
    }
    for (command, id, path) in [
        ("merge", "merge_request.merge", false),
        ("move", "issue.move", true),
        ("clone", "issue.clone", true),
        ("close", "merge_request.update", false),
        ("assign", "issue.update", false),
        ("approve", "merge_request.approve", false),
        ("promote_to", "issue.promote_to_epic", false),
        ("relate", "issue_link.create", true),
        ("tag", "tag.create", false),
    ] {
        let quick = &commands[command];
        assert!(quick.actions.iter().any(|known| known == id), "/{command} is {:?}", quick.actions);
        assert_eq!(quick.path, path, "/{command}");
    }
    assert!(commands["shrug"].actions.is_empty());
    assert!(commands.len() >= 80, "{}", commands.len());
}

/// Actions that GitLab no longer has and that nothing replaces. What AI Catalog agents do is not what prompt agents did.
const GONE_WITHOUT_SUCCESSOR: [&str; 13] = [
    "ai_agent.create",
    "ai_agent.delete",
    "ai_agent.get",
    "ai_agent.list",
    "ai_agent.update",
    "ai_catalog.seed_external_agents",
    "product_analytics.dry_run",
    "product_analytics.get_metadata",
    "product_analytics.get_project_settings",
    "product_analytics.initialize",
    "product_analytics.query",
    "product_analytics.update_project_settings",
    "security_policy.get_sync_status",
];

#[test]
fn what_is_gone_names_a_successor_that_gitlab_has() {
    let actions = actions();
    let is_gone = |action: &Action| action.choices().all(|operation| operation.until.is_some());
    let mut without: Vec<&str> = Vec::new();
    for gone in actions.iter().filter(|action| action.choices().next().is_some() && is_gone(action)) {
        let Some(successor) = &gone.replaced_by else {
            assert_eq!(gone.twin, None, "{}: its duplicate is its successor", gone.id);
            without.push(&gone.id);
            continue;
        };
        let successor = actions.iter().find(|action| action.id == *successor).unwrap();
        assert!(!is_gone(successor) && !successor.deprecated, "{}: {}", gone.id, successor.id);
    }
    assert_eq!(without, GONE_WITHOUT_SUCCESSOR);
}
