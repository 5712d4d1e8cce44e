//! Merge requests and issues with every field that GitLab sends of them, of the lengths that they have in a large
//! project. The names are those of GitLab's REST interface; what they say is made up.

use serde_json::{Value, json};

const HOST: &str = "https://gitlab.example.com";
pub const PROJECT: &str = "northwind-retail/storefront/checkout-service";

const PEOPLE: [(&str, &str); 7] = [
    ("amara.okafor", "Amara Okafor"),
    ("jlindqvist", "Johanna Lindqvist"),
    ("t_nakamura", "Takeshi Nakamura"),
    ("rosa.delgado", "Rosa Delgado Ibáñez"),
    ("pkowalczyk", "Piotr Kowalczyk"),
    ("wei-ling.tan", "Wei Ling Tan"),
    ("sam.whitfield", "Sam Whitfield"),
];

const TITLES: [&str; 10] = [
    "Retry the payment intent when the gateway times out",
    "Draft: Move the tax calculation behind the pricing service and remove the shim",
    "Cart totals are rounded twice for currencies without minor units",
    "Add a feature flag for the new delivery slot picker",
    "Resolve \"Order confirmation email is sent before the stock is reserved\"",
    "Update dependency vite to v6.2.1",
    "Show the estimated delivery date on the summary page",
    "Fix flaky spec in features/checkout/guest_checkout_spec.rb",
    "Backfill missing invoice numbers for orders placed during the outage",
    "Use the shared logger everywhere so that request ids reach the archive",
];

const LABELS: [&str; 12] = [
    "backend",
    "frontend",
    "type::bug",
    "type::feature",
    "type::maintenance",
    "workflow::in review",
    "workflow::ready for development",
    "priority::2",
    "severity::3",
    "group::payments",
    "Deliverable",
    "documentation",
];

/// One object of two: a macro reads no more than so many fields.
fn merged([mut one, other]: [Value; 2]) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

fn person(n: usize) -> Value {
    let (username, name) = PEOPLE[n % PEOPLE.len()];
    json!({
        "id": 18_240_311 + n % PEOPLE.len(), "username": username, "public_email": "", "name": name,
        "state": "active", "locked": false,
        "avatar_url": format!("https://secure.gravatar.com/avatar/{:064x}?s=80&d=identicon", n % PEOPLE.len()),
        "web_url": format!("{HOST}/{username}"),
    })
}

fn milestone() -> Value {
    json!({
        "id": 5_190_442, "iid": 87, "group_id": 9_970, "title": "2026.11", "description": "November release",
        "state": "active", "created_at": "2026-08-02T13:11:09.250Z", "updated_at": "2026-10-01T07:00:12.119Z",
        "due_date": "2026-11-30", "start_date": "2026-11-01", "expired": false,
        "web_url": format!("{HOST}/groups/northwind-retail/-/milestones/87"),
    })
}

fn labels(n: usize, count: usize) -> Vec<&'static str> {
    (0..count).map(|at| LABELS[(n * 5 + at * 7) % LABELS.len()]).collect()
}

fn sha(n: usize) -> String {
    format!("{:040x}", (n as u128 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
}

fn description(n: usize) -> String {
    let why =
        "The service answers with 504 when the gateway is slow, and the customer pays twice. ".repeat(9);
    format!(
        "## What\n\n{why}\n\n## How to check\n\n- [ ] run the flow {n} times\n- [x] look at the ledger\n\n{why}"
    )
}

fn spent() -> Value {
    json!({"time_estimate": 0, "total_time_spent": 0, "human_time_estimate": null, "human_total_time_spent": null})
}

/// A merge request as a list has it.
pub fn merge_request(n: usize) -> Value {
    let iid = 18_204 - n;
    let status = ["mergeable", "not_approved", "ci_still_running"][n % 3];
    let branch =
        ["fix/payment-retries", "tax-shim-removal", "renovate/vite-6.x", "flag-delivery-slots"][n % 4];
    merged([
        json!({
            "id": 341_882_004 - n * 37, "iid": iid, "project_id": 27_418_650,
            "title": TITLES[n % TITLES.len()], "description": description(n), "state": "opened",
            "created_at": format!("2026-11-{:02}T08:14:{:02}.417Z", 1 + n % 19, n % 60),
            "updated_at": format!("2026-11-20T{:02}:47:03.902Z", n % 24),
            "merged_by": null, "merge_user": null, "merged_at": null, "closed_by": null, "closed_at": null,
            "target_branch": "main", "source_branch": format!("{branch}-{iid}"),
            "user_notes_count": n * 3, "upvotes": n % 3, "downvotes": 0,
            "author": person(n), "assignees": [person(n)], "assignee": person(n),
            "reviewers": [person(n + 2), person(n + 3)],
            "source_project_id": 27_418_650, "target_project_id": 27_418_650,
        }),
        json!({
            "labels": labels(n, 3 + n % 3), "draft": n % 10 == 1, "imported": false, "imported_from": "none",
            "work_in_progress": n % 10 == 1, "milestone": milestone(), "merge_when_pipeline_succeeds": false,
            "merge_status": "can_be_merged", "detailed_merge_status": status,
            "merge_after": null, "sha": sha(n), "merge_commit_sha": null, "squash_commit_sha": null,
            "discussion_locked": null, "should_remove_source_branch": null, "force_remove_source_branch": true,
            "prepared_at": "2026-11-03T08:14:21.118Z", "allow_collaboration": true, "allow_maintainer_to_push": true,
            "reference": format!("!{iid}"),
            "references": {"short": format!("!{iid}"), "relative": format!("!{iid}"), "full": format!("{PROJECT}!{iid}")},
            "web_url": format!("{HOST}/{PROJECT}/-/merge_requests/{iid}"),
            "time_stats": spent(), "squash": true, "squash_on_merge": true,
            "task_completion_status": {"count": 2, "completed_count": 1}, "has_conflicts": n.is_multiple_of(7),
            "blocking_discussions_resolved": n.is_multiple_of(2), "approvals_before_merge": null,
        }),
    ])
}

fn pipeline(n: usize) -> Value {
    json!({
        "id": 1_490_228_317, "iid": 90_114, "project_id": 27_418_650, "sha": sha(n),
        "ref": "refs/merge-requests/18204/head", "status": "failed", "source": "merge_request_event",
        "created_at": "2026-11-20T10:02:11.205Z", "updated_at": "2026-11-20T10:31:54.870Z",
        "web_url": format!("{HOST}/{PROJECT}/-/pipelines/1490228317"),
    })
}

fn head_pipeline(n: usize) -> Value {
    let more = json!({
        "before_sha": "0".repeat(40), "tag": false, "yaml_errors": null, "user": person(n),
        "started_at": "2026-11-20T10:02:15.377Z", "finished_at": "2026-11-20T10:31:54.861Z", "committed_at": null,
        "duration": 1_771, "queued_duration": 4, "coverage": "87.41", "archived": false,
        "detailed_status": {
            "icon": "status_failed", "text": "Failed", "label": "failed", "group": "failed", "tooltip": "failed",
            "has_details": true, "details_path": format!("/{PROJECT}/-/pipelines/1490228317"),
            "illustration": null, "favicon": "/assets/ci_favicons/favicon_status_failed.png",
        },
    });
    merged([pipeline(n), more])
}

/// A merge request by itself, with what only that has.
pub fn one_merge_request() -> Value {
    let more = json!({
        "subscribed": true, "changes_count": "14", "latest_build_started_at": "2026-11-20T10:02:15.377Z",
        "latest_build_finished_at": "2026-11-20T10:31:54.861Z", "first_deployed_to_production_at": null,
        "pipeline": pipeline(0), "head_pipeline": head_pipeline(0),
        "diff_refs": {"base_sha": sha(1), "head_sha": sha(0), "start_sha": sha(1)},
        "merge_error": null, "rebase_in_progress": false, "diverged_commits_count": 4, "first_contribution": false,
        "user": {"can_merge": true},
    });
    merged([merge_request(0), more])
}

/// An issue as a list has it.
pub fn issue(n: usize) -> Value {
    let iid = 9_412 - n;
    let api = format!("{HOST}/api/v4/projects/27418650");
    merged([
        json!({
            "id": 157_802_113 - n * 11, "iid": iid, "project_id": 27_418_650,
            "title": TITLES[(n + 3) % TITLES.len()], "description": description(n), "state": "opened",
            "created_at": format!("2026-10-{:02}T16:40:{:02}.075Z", 1 + n % 28, n % 60),
            "updated_at": format!("2026-11-19T{:02}:05:59.660Z", n % 24),
            "closed_at": null, "closed_by": null, "labels": labels(n, 4 + n % 5), "milestone": milestone(),
            "assignees": [person(n + 1)], "author": person(n), "type": "ISSUE", "assignee": person(n + 1),
            "user_notes_count": n, "merge_requests_count": n % 2, "upvotes": n % 5, "downvotes": 0,
        }),
        json!({
            "start_date": null, "due_date": null, "confidential": n.is_multiple_of(9), "discussion_locked": null,
            "issue_type": "issue", "web_url": format!("{HOST}/{PROJECT}/-/issues/{iid}"), "time_stats": spent(),
            "task_completion_status": {"count": 2, "completed_count": 1}, "weight": n % 4,
            "blocking_issues_count": 0, "has_tasks": true, "task_status": "1 of 2 checklist items completed",
            "_links": {
                "self": format!("{api}/issues/{iid}"), "notes": format!("{api}/issues/{iid}/notes"),
                "award_emoji": format!("{api}/issues/{iid}/award_emoji"), "project": api,
                "closed_as_duplicate_of": null,
            },
            "references": {"short": format!("#{iid}"), "relative": format!("#{iid}"), "full": format!("{PROJECT}#{iid}")},
            "severity": "UNKNOWN", "moved_to_id": null, "imported": false, "imported_from": "none",
            "service_desk_reply_to": null, "epic_iid": 412,
            "epic": {
                "id": 2_204_118, "iid": 412, "title": "Payments that survive a slow gateway",
                "url": "/groups/northwind-retail/-/epics/412", "group_id": 9_970,
                "human_readable_end_date": "Dec 18, 2026", "human_readable_timestamp": "27 days remaining",
            },
            "iteration": {
                "id": 2_511_620, "iid": 64, "sequence": 3, "group_id": 9_970, "title": null, "description": null,
                "state": 2, "created_at": "2026-09-05T01:05:11.004Z", "updated_at": "2026-11-16T00:06:03.414Z",
                "start_date": "2026-11-16", "due_date": "2026-11-29",
                "web_url": format!("{HOST}/groups/northwind-retail/-/iterations/2511620"),
            },
            "health_status": "on_track",
        }),
    ])
}

/// An issue by itself.
pub fn one_issue() -> Value {
    let mut one = issue(0);
    one["subscribed"] = json!(false);
    one
}
