"""Calls python-gitlab against a running sandbox: `python_gitlab.py URL`. Prints each failure and a total."""

import sys
import tempfile
import time

import gitlab

gl = gitlab.Gitlab(sys.argv[1], private_token="glpat-sandbox", per_page=20)
project = gl.projects.get("acme/widget")
cases = []


def case(check):
    cases.append(check)
    return check


def refused(code, call):
    """Asserts that a call raises GitLab's error with this status."""
    try:
        call()
    except gitlab.exceptions.GitlabError as error:
        assert error.response_code == code, f"{error.response_code} {error.error_message}, expected {code}"
        return error
    raise AssertionError(f"expected {code}, the call was answered")


@case
def authenticates():
    gl.auth()
    assert gl.user.username == "sandbox"


@case
def refuses_an_unknown_token():
    refused(401, gitlab.Gitlab(sys.argv[1], private_token="glpat-unknown").auth)


@case
def gets_a_project_by_id_and_by_path():
    assert gl.projects.get(project.id).path_with_namespace == project.path_with_namespace


@case
def refuses_a_missing_project():
    assert "404 Project Not Found" in refused(404, lambda: gl.projects.get("acme/nowhere")).error_message


@case
def creates_and_updates_a_project():
    made = gl.projects.create({"name": "Client check", "visibility": "private"})
    made.description = "Made by a client"
    made.save()
    assert gl.projects.get(made.id).description == "Made by a client"


@case
def pages_by_offset():
    pages = project.issues.list(per_page=3, iterator=True)
    assert (pages.current_page, pages.next_page, pages.per_page) == (1, 2, 3)
    assert pages.total > 6 and pages.total_pages == -(-pages.total // 3)


@case
def walks_all_pages():
    every = project.issues.list(per_page=3, get_all=True, state="all")
    iids = [issue.iid for issue in every]
    assert len(iids) > 3 and len(set(iids)) == len(iids)


@case
def walks_projects_by_keyset():
    offset = gl.projects.list(get_all=True, order_by="id", sort="asc")
    keyset = gl.projects.list(pagination="keyset", order_by="id", sort="asc", per_page=2, get_all=True)
    assert [one.id for one in keyset] == [one.id for one in offset] and len(keyset) > 2


@case
def filters_issues():
    for state in ("opened", "closed"):
        found = project.issues.list(state=state, get_all=True)
        assert found and all(issue.state == state for issue in found)


@case
def creates_updates_and_closes_an_issue():
    issue = project.issues.create({"title": "From python-gitlab", "labels": "bug"})
    issue.title = "Renamed by python-gitlab"
    issue.state_event = "close"
    issue.save()
    again = project.issues.get(issue.iid)
    assert (again.title, again.state, again.labels) == ("Renamed by python-gitlab", "closed", ["bug"])


@case
def refuses_an_issue_without_a_title():
    refused(400, lambda: project.issues.create({"title": ""}))


@case
def refuses_a_missing_issue():
    assert "404 Not found" in refused(404, lambda: project.issues.get(99999)).error_message


@case
def notes_an_issue():
    issue = project.issues.get(1)
    note = issue.notes.create({"body": "A comment"})
    note.body = "A better comment"
    note.save()
    assert issue.notes.get(note.id).body == "A better comment"
    note.delete()
    refused(404, lambda: issue.notes.get(note.id))


@case
def discusses_an_issue():
    issue = project.issues.get(1)
    discussion = issue.discussions.create({"body": "A thread"})
    discussion.notes.create({"body": "A reply"})
    notes = issue.discussions.get(discussion.id).attributes["notes"]
    assert [note["body"] for note in notes] == ["A thread", "A reply"]


@case
def awards_an_emoji():
    issue = project.issues.get(2)
    award = issue.awardemojis.create({"name": "tada"})
    assert award.id in [one.id for one in issue.awardemojis.list(get_all=True)]
    award.delete()


@case
def renames_a_label_by_name_in_the_body():
    label = project.labels.create({"name": "client", "color": "#112233"})
    label.new_name = "client-renamed"
    label.save()
    names = [one.name for one in project.labels.list(get_all=True)]
    assert "client-renamed" in names and "client" not in names
    project.labels.delete("client-renamed")
    assert "client-renamed" not in [one.name for one in project.labels.list(get_all=True)]


@case
def makes_a_milestone():
    milestone = project.milestones.create({"title": "Client milestone"})
    milestone.state_event = "close"
    milestone.save()
    assert project.milestones.get(milestone.id).state == "closed"


@case
def adds_a_list_to_a_board():
    board = project.boards.list(get_all=True)[0]
    label = project.labels.create({"name": "on-board", "color": "#445566"})
    added = board.lists.create({"label_id": label.id})
    lists = board.lists.list(get_all=True)
    assert added.id in [one.id for one in lists]
    assert board.lists.get(added.id).label["name"] == "on-board"
    added.delete()


@case
def exports_a_project():
    export = project.exports.create()
    for _ in range(20):
        export.refresh()
        if export.export_status == "finished":
            break
        time.sleep(0.05)
    assert export.export_status == "finished"
    with tempfile.TemporaryFile() as file:
        export.download(streamed=True, action=file.write)
        assert file.tell() > 0


@case
def lists_merge_requests():
    opened = project.mergerequests.list(state="opened", get_all=True)
    assert opened and all(one.state == "opened" for one in opened)


@case
def reads_the_changes_of_a_merge_request():
    request = project.mergerequests.list(state="opened", get_all=True)[0]
    assert project.mergerequests.get(request.iid).sha
    assert request.diffs.list(get_all=True) and request.commits()


@case
def opens_and_merges_a_merge_request():
    branch = project.branches.create({"branch": "client", "ref": project.default_branch})
    project.files.create(
        {"file_path": "client.txt", "branch": branch.name, "content": "one\n", "commit_message": "Add client.txt"}
    )
    request = project.mergerequests.create(
        {"source_branch": branch.name, "target_branch": project.default_branch, "title": "Add client.txt"}
    )
    request.notes.create({"body": "Looks good"})
    refused(405, request.merge)
    request.approve()
    request.merge()
    assert project.mergerequests.get(request.iid).state == "merged"
    assert project.files.get("client.txt", project.default_branch).decode() == b"one\n"


@case
def lists_pipelines_and_jobs():
    pipeline = project.pipelines.list(get_all=True)[0]
    jobs = pipeline.jobs.list(get_all=True)
    assert jobs and all(job.pipeline["id"] == pipeline.id for job in jobs)


@case
def reads_the_log_of_a_job():
    job = project.jobs.list(get_all=False, scope=["success", "failed"])[0]
    assert job.status in ("success", "failed")
    assert project.jobs.get(job.id).trace()


@case
def starts_and_cancels_a_pipeline():
    pipeline = project.pipelines.create({"ref": project.default_branch})
    pipeline.cancel()
    assert project.pipelines.get(pipeline.id).status in ("canceled", "canceling")


@case
def lists_bridges():
    upstream = gl.projects.get("acme/tools/widget-cli")
    pipelines = upstream.pipelines.list(get_all=True)
    bridges = [bridge for pipeline in pipelines for bridge in pipeline.bridges.list(get_all=True)]
    downstream = {bridge.name: bridge.downstream_pipeline["project_id"] for bridge in bridges}
    assert downstream == {"parts": upstream.id, "site": gl.projects.get("acme/site").id}


@case
def adds_and_removes_a_member():
    group = gl.groups.get("acme")
    known = {one.id for one in project.members_all.list(get_all=True)}
    user = next(one for one in gl.users.list(get_all=True) if one.id not in known)
    member = project.members.create({"user_id": user.id, "access_level": gitlab.const.AccessLevel.DEVELOPER})
    member.access_level = gitlab.const.AccessLevel.REPORTER
    member.save()
    assert project.members.get(user.id).access_level == 20
    member.delete()
    assert group.members.list(get_all=True)


@case
def sets_a_variable():
    variable = project.variables.create({"key": "CLIENT", "value": "one"})
    variable.value = "two"
    variable.save()
    assert project.variables.get("CLIENT").value == "two"
    variable.delete()
    refused(400, lambda: project.variables.create({"key": "a b", "value": "one"}))


@case
def makes_a_release():
    release = project.releases.create(
        {"tag_name": "v9.9.9", "ref": project.default_branch, "name": "Client", "description": "By a client"}
    )
    release.links.create({"name": "Site", "url": "https://example.com/site"})
    assert project.releases.get("v9.9.9").links.list(get_all=True)[0].name == "Site"


@case
def edits_a_file():
    path = "docs/client notes.md"
    branch = project.default_branch
    file = project.files.create(
        {"file_path": path, "branch": branch, "content": "one\n", "commit_message": "Add notes"}
    )
    file.content = "two\n"
    file.save(branch=branch, commit_message="Change notes")
    assert project.files.raw(path, ref=branch) == b"two\n"
    file.delete(branch=branch, commit_message="Remove notes")
    refused(404, lambda: project.files.get(path, branch))


@case
def commits_several_files():
    commit = project.commits.create(
        {
            "branch": project.default_branch,
            "commit_message": "Add two files",
            "actions": [{"action": "create", "file_path": f"client/{name}", "content": name} for name in ("a", "b")],
        }
    )
    assert len(project.commits.get(commit.id).diff(get_all=True)) == 2
    tree = project.repository_tree("client", get_all=True)
    assert [entry["name"] for entry in tree] == ["a", "b"]


@case
def compares_branches():
    newest = project.commits.list(get_all=False)
    result = project.repository_compare(newest[1].id, newest[0].id)
    assert result["commits"][-1]["id"] == newest[0].id


@case
def makes_a_tag():
    tag = project.tags.create({"tag_name": "client-tag", "ref": project.default_branch})
    assert project.tags.get("client-tag").commit["id"] == tag.commit["id"]
    tag.delete()


@case
def makes_a_snippet():
    snippet = project.snippets.create(
        {"title": "Client", "visibility": "private", "files": [{"file_path": "a.txt", "content": "text"}]}
    )
    assert project.snippets.get(snippet.id).content() == b"text"
    snippet.delete()


@case
def writes_a_wiki_page():
    page = project.wikis.create({"title": "Client page", "content": "one"})
    page.content = "two"
    page.save()
    assert project.wikis.get(page.slug).content == "two"
    page.delete()


@case
def searches():
    project.issues.create({"title": "Findable zanzibar"})
    found = project.search(gitlab.const.SearchScope.ISSUES, "zanzibar", get_all=True)
    assert [one["title"] for one in found] == ["Findable zanzibar"]


@case
def finds_a_user():
    assert [one.name for one in gl.users.list(username="sandbox", get_all=True)] == ["Sandy Box"]


@case
def finishes_a_todo():
    todo = gl.todos.list(state="pending", get_all=True)[0]
    todo.mark_as_done()
    assert todo.id not in [one.id for one in gl.todos.list(state="pending", get_all=True)]


@case
def lists_groups_and_their_projects():
    group = gl.groups.get("acme")
    assert project.id in [one.id for one in group.projects.list(get_all=True)]
    assert group.issues.list(get_all=False)


@case
def makes_a_hook():
    hook = project.hooks.create({"url": "https://example.com/hook", "push_events": True})
    assert project.hooks.get(hook.id).url == "https://example.com/hook"
    hook.delete()
    refused(422, lambda: project.hooks.create({"url": "nope"}))


@case
def lists_environments():
    assert all(one.state in ("available", "stopped") for one in project.environments.list(get_all=True))


failed = 0
for check in cases:
    try:
        check()
    except Exception as error:  # every failure of a client counts
        failed += 1
        print(f"{check.__name__}: {type(error).__name__}: {error}")
print(f"python-gitlab: {len(cases) - failed} passed, {failed} failed")
sys.exit(failed > 0)
