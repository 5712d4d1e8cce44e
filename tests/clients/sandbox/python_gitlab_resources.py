"""Calls python-gitlab's classes of resources against a running sandbox: `python_gitlab_resources.py URL`.

Each line of a table is one check: a read that must find something, or an object that is made, changed and deleted.
Prints each failure and a total.
"""

import sys

import gitlab

ADMIN = "glpat-sandbox-admin"
DEVELOPER, MAINTAINER = gitlab.const.AccessLevel.DEVELOPER, gitlab.const.AccessLevel.MAINTAINER

gl = gitlab.Gitlab(sys.argv[1], private_token="glpat-sandbox", per_page=20)
admin = gitlab.Gitlab(sys.argv[1], private_token=ADMIN, per_page=20)
widget = gl.projects.get("acme/widget")
upstream = gl.projects.get("acme/tools/widget-cli")
site = gl.projects.get("acme/site")
acme = gl.groups.get("acme")
main = widget.default_branch
issue = widget.issues.get(1)
request = widget.mergerequests.get(12)
pipeline = widget.pipelines.get(301)
job = next(one for one in pipeline.jobs.list(get_all=True) if one.name == "build")
epic = acme.epics.get(1)


def listed(manager, **options):
    """Lists all; a list without an element is a failure."""
    rows = manager.list(get_all=True, **options)
    assert rows, "nothing is listed"
    return rows


def named(manager, field, value, **options):
    """Asserts that an object with this value of a field is listed."""
    values = [getattr(one, field) for one in listed(manager, **options)]
    assert value in values, f"{value} is not among {values}"


def lives(manager, data, change=None, key="id"):
    """Creates an object, reads it, changes it if its class can, and deletes it."""
    made = manager.create(data)
    identity = getattr(made, key)
    assert getattr(manager.get(identity), key) == identity
    if change:
        field, value = change
        setattr(made, field, value)
        made.save()
        assert getattr(manager.get(identity), field) == value
    made.delete()
    try:
        manager.get(identity)
    except gitlab.exceptions.GitlabGetError as error:
        assert error.response_code == 404, error
    else:
        raise AssertionError("it can be read after its deletion")


def refused(code, call):
    try:
        call()
    except gitlab.exceptions.GitlabError as error:
        assert error.response_code == code, f"{error.response_code} {error.error_message}, expected {code}"
        return
    raise AssertionError(f"expected {code}, the call was answered")


def true(value):
    assert value, value


READS = {
    "user by id": lambda: true(gl.users.get(3).username == "alice"),
    "status of a user": lambda: true(gl.users.get(3).status.get().emoji == "palm_tree"),
    "projects of a user": lambda: true(gl.users.get(2).projects.list(get_all=True)),
    "events of a user": lambda: listed(gl.users.get(3).events),
    "starred projects of a user": lambda: named(gl.users.get(3).starred_projects, "path", "widget"),
    "namespaces": lambda: named(gl.namespaces, "full_path", "acme"),
    "version": lambda: true(gl.version()[0].startswith("19.")),
    "markdown": lambda: true("<p" in gl.markdown("*turn*")),
    "keys of the current user": lambda: (gl.auth(), named(gl.user.keys, "title", "workbench")),
    "own tokens": lambda: named(gl.personal_access_tokens, "name", "sandbox"),
    "own token": lambda: true(gl.personal_access_tokens.get("self").scopes == ["api"]),
    "own events": lambda: listed(gl.events),
    "instance variables": lambda: named(admin.variables, "key", "REGION"),
    "settings": lambda: true(admin.settings.get().default_branch_name == "main"),
    "statistics of the instance": lambda: true(int(admin.statistics.get().projects) > 3),
    "topics": lambda: named(gl.topics, "name", "gears"),
    "gitignore templates": lambda: true("/target" in gl.gitignores.get("Rust").content),
    "license templates": lambda: named(gl.licenses, "key", "mit"),
    "CI templates": lambda: true("cargo" in gl.gitlabciymls.get("Rust").content),
    "runners": lambda: named(gl.runners, "description", "the one under the stairs"),
    "jobs of a runner": lambda: listed(gl.runners.get(1).jobs),
    "subgroups": lambda: named(acme.subgroups, "full_path", "acme/tools"),
    "descendant groups": lambda: named(acme.descendant_groups, "full_path", "acme/tools"),
    "merge requests of a group": lambda: listed(acme.mergerequests, state="opened"),
    "members of a group": lambda: named(acme.members_all, "username", "bob"),
    "labels of a group": lambda: named(acme.labels, "name", "acme-wide"),
    "milestones of a group": lambda: named(acme.milestones, "title", "Spring fair"),
    "variables of a group": lambda: named(acme.variables, "key", "WORKSHOP"),
    "wiki of a group": lambda: named(acme.wikis, "slug", "House-rules"),
    "iterations of a group": lambda: listed(acme.iterations),
    "issues of an epic": lambda: named(epic.issues, "iid", 1),
    "notes of an epic": lambda: named(epic.notes, "body", "Start with the oil."),
    "languages": lambda: true(widget.languages()["Rust"] > 50),
    "users of a project": lambda: named(widget.users, "username", "carol"),
    "forks": lambda: true(widget.forks.list(get_all=True) == []),
    "events of a project": lambda: listed(widget.events),
    "access requests": lambda: named(widget.accessrequests, "username", "erin"),
    "access tokens": lambda: named(widget.access_tokens, "name", "ci"),
    "participants of an issue": lambda: true(issue.participants()),
    "links of an issue": lambda: named(issue.links, "iid", 3),
    "merge requests that close an issue": lambda: true(widget.issues.get(3).closed_by()),
    "label events of an issue": lambda: listed(issue.resourcelabelevents),
    "statistics of issues": lambda: true(widget.issues_statistics.get().statistics["counts"]["all"] > 40),
    "approvals": lambda: true(request.approvals.get().approvals_left == 1),
    "approval state": lambda: true(request.approval_state.get().rules[0]["name"] == "Two pairs of eyes"),
    "approval rules": lambda: named(widget.approvalrules, "name", "Two pairs of eyes"),
    "reviewers": lambda: listed(widget.mergerequests.get(5).reviewer_details),
    "versions of a diff": lambda: true(len(listed(widget.mergerequests.get(5).diffs)) == 2),
    "changes past the limits": lambda: true(site.mergerequests.get(1).changes()["overflow"]),
    "issues that a merge request closes": lambda: true(list(widget.mergerequests.get(5).closes_issues())),
    "pipelines of a merge request": lambda: named(request.pipelines, "id", 304),
    "discussions of a merge request": lambda: listed(request.discussions),
    "merge trains": lambda: named(widget.merge_trains, "status", "fresh"),
    "protected branches": lambda: named(widget.protectedbranches, "name", main),
    "protected tags": lambda: named(widget.protectedtags, "name", "v*"),
    "blame of a file": lambda: true(len(widget.files.blame("src/main.rs", main)) == 3),
    "blob": lambda: true(widget.repository_raw_blob(widget.files.get("README.md", main).blob_id).startswith(b"# W")),
    "archive": lambda: true(widget.repository_archive().startswith(b"\x1f\x8b")),
    "contributors": lambda: true(widget.repository_contributors(get_all=True)),
    "merge base": lambda: true(widget.repository_merge_base([main, "quiet-gears"])["id"]),
    "commits that are not counted": lambda: true(
        gl.projects.get("acme/archive").commits.list(iterator=True, per_page=100).total is None
    ),
    "refs of a commit": lambda: true(widget.commits.get(main).refs()),
    "schedules and their variables": lambda: true(widget.pipelineschedules.get(1).attributes["variables"]),
    "triggers": lambda: named(widget.triggers, "description", "nightly from outside"),
    "test report": lambda: true(pipeline.test_report.get().total_count == 2),
    "latest pipeline": lambda: true(widget.pipelines.latest(ref=main).ref == main),
    "artifacts of a job": lambda: true(widget.jobs.get(job.id).artifacts().startswith(b"PK")),
    "deployments": lambda: named(widget.deployments, "status", "success"),
    "feature flags": lambda: named(widget.feature_flags, "name", "whisper_mode"),
    "packages and their files": lambda: listed(listed(widget.packages)[0].package_files),
    "registry and its tags": lambda: named(listed(widget.repositories)[0].tags, "name", "1.0.0"),
    "lint": lambda: true(widget.ci_lint.get().valid),
    "uploads": lambda: true("/uploads/" in widget.upload("a.txt", filedata="text")["url"]),
    "personal snippets": lambda: named(gl.snippets, "title", "My aliases"),
    "search of the instance": lambda: true(gl.search("projects", "widget", get_all=True)),
    "search of a group": lambda: true(acme.search("issues", "gear", get_all=True)),
}

LIVES = {
    "hook of a group": lambda: lives(acme.hooks, {"url": "https://a.example/hook"}, ("url", "https://b.example/")),
    "label of a group": lambda: lives(acme.labels, {"name": "new", "color": "#112233"}),
    "milestone of a group": lambda: lives(acme.milestones, {"title": "Autumn"}, ("title", "Winter")),
    "badge": lambda: lives(
        widget.badges, {"link_url": "https://a.example", "image_url": "https://a.example/b.svg"}
    ),
    "deploy key": lambda: lives(widget.keys, {"title": "k", "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ k"}),
    "deploy token": lambda: lives(widget.deploytokens, {"name": "t", "scopes": ["read_repository"]}),
    "trigger": lambda: lives(widget.triggers, {"description": "t"}, ("description", "u")),
    "schedule": lambda: lives(
        widget.pipelineschedules, {"description": "s", "ref": main, "cron": "0 1 * * *"}, ("description", "t")
    ),
    "environment that is stopped": lambda: (
        widget.environments.create({"name": "client"}),
        widget.environments.list(name="client", get_all=True)[0].stop(),
        widget.environments.list(name="client", get_all=True)[0].delete(),
    ),
    "protected environment": lambda: lives(
        widget.protected_environments,
        {"name": "staging", "deploy_access_levels": [{"access_level": MAINTAINER}]},
        key="name",
    ),
    "freeze of a wildcard branch": lambda: lives(widget.protectedbranches, {"name": "release/*"}, key="name"),
    "protected tag": lambda: lives(widget.protectedtags, {"name": "release-*"}, key="name"),
    "feature flag": lambda: lives(widget.feature_flags, {"name": "client", "version": "new_version_flag"}, key="name"),
    "user list": lambda: lives(
        widget.feature_flags_user_lists, {"name": "testers", "user_xids": "1,2"}, ("name", "others"), key="iid"
    ),
    "remote mirror": lambda: true(widget.remote_mirrors.create({"url": "https://a.example/b.git", "enabled": True}).id),
    "access token of a project": lambda: true(
        widget.access_tokens.create(
            {"name": "t", "scopes": ["api"], "access_level": DEVELOPER, "expires_at": "2026-12-01"}
        ).token
    ),
    "approval rule": lambda: true(
        widget.approvalrules.create({"name": "three", "approvals_required": 1}).delete() is None
    ),
    "draft of a note": lambda: (
        request.draft_notes.create({"note": "Later."}).publish(),
        named(request.notes, "body", "Later."),
    ),
    "thread that is resolved": lambda: (
        setattr(thread := request.discussions.create({"body": "Why?"}), "resolved", True),
        thread.save(),
        true(request.discussions.get(thread.id).attributes["notes"][0]["resolved"]),
    ),
    "time that is spent": lambda: (
        issue.time_estimate("2h"),
        true(widget.issues.get(1).time_stats()["time_estimate"] == 7200),
    ),
    "to-do item": lambda: (widget.issues.get(2).todo(), named(gl.todos, "action_name", "marked")),
    "link of issues": lambda: true(
        issue.links.create({"target_project_id": widget.id, "target_issue_iid": 5})[0].iid == issue.iid
    ),
    "issue that is moved": lambda: true(
        widget.issues.create({"title": "Move me"}).move(site.id) is None and named(site.issues, "title", "Move me") is None
    ),
    "emoji on a note": lambda: true(
        issue.notes.create({"body": "Hm."}).awardemojis.create({"name": "eyes"}).name == "eyes"
    ),
    "child of an epic": lambda: lives(acme.epics, {"title": "New"}, ("title", "Newer"), key="iid"),
    "issue in an epic": lambda: epic.issues.create({"issue_id": widget.issues.get(7).id}).delete(),
    "board": lambda: lives(widget.boards, {"name": "Second"}, ("name", "Third")),
    "comment on a commit": lambda: (
        (commit := widget.commits.get(main)).comments.create({"note": "Nice."}),
        named(commit.comments, "note", "Nice."),
    ),
    "status of a commit": lambda: (
        (commit := widget.commits.get(main)).statuses.create({"state": "success", "name": "outside"}),
        named(commit.statuses, "name", "outside"),
    ),
    "cherry-pick and revert": lambda: (
        widget.branches.create({"branch": "picked", "ref": main}),
        widget.commits.get("count-turns").cherry_pick("picked"),
        widget.commits.get("picked").revert("picked"),
    ),
    "rebase": lambda: (widget.mergerequests.get(11).rebase(), True),
    "approval that a merge needs": lambda: (
        refused(405, (eight := widget.mergerequests.get(8)).merge),
        eight.approve(),
        eight.merge(),
        true(widget.mergerequests.get(8).state == "merged"),
    ),
    "train that a merge request is put on": lambda: (
        (five := widget.mergerequests.get(5)).approve(),
        gl.http_post(f"/projects/{widget.id}/merge_trains/merge_requests/{five.iid}"),
        true(len(widget.merge_trains.list(scope="active", get_all=True)) == 2),
    ),
    "job that is retried": lambda: (upstream.jobs.list(scope=["failed"], get_all=True)[0].retry(), True),
    "pipeline with variables": lambda: named(
        widget.pipelines.create({"ref": main, "variables": [{"key": "A", "value": "b"}]}).variables, "key", "A"
    ),
    "project that is forked and deleted": lambda: (
        widget.forks.create({"namespace_path": "acme/tools"}),
        gl.projects.get("acme/tools/widget").delete(),
        true(gl.projects.get("acme/tools/widget").marked_for_deletion_on),
    ),
    "project that is starred": lambda: (widget.star(), true(gl.projects.get(widget.id).star_count == 3)),
    "project that is archived": lambda: (site.archive(), site.unarchive(), true(not gl.projects.get(site.id).archived)),
    "project that is shared": lambda: (widget.share(3, DEVELOPER), widget.unshare(3)),
    "group": lambda: (gl.groups.create({"name": "New", "path": "new"}), true(gl.groups.get("new").name == "New")),
    "invitation": lambda: true(
        widget.invitations.create({"email": "new@acme.example", "access_level": DEVELOPER}) is not None
    ),
    "user that is blocked": lambda: (admin.users.get(4).block(), true(gl.users.get(4).state == "blocked")),
    "token of another user": lambda: true(
        admin.users.get(3).personal_access_tokens.create({"name": "t", "scopes": ["api"]}).token
    ),
    "broadcast message": lambda: lives(admin.broadcastmessages, {"message": "Closed"}, ("message", "Open")),
}

failed = 0
checks = READS | LIVES
for name, check in checks.items():
    try:
        check()
    except Exception as error:  # every failure of a client counts
        failed += 1
        print(f"{name}: {type(error).__name__}: {error}")
print(f"python-gitlab-resources: {len(checks) - failed} passed, {failed} failed")
sys.exit(failed > 0)
