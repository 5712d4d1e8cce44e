// Calls gitbeaker against a running sandbox: `gitbeaker.mjs URL`. Prints each failure and a total.
import assert from 'node:assert/strict';
import { Gitlab } from '@gitbeaker/rest';

const api = new Gitlab({ host: process.argv[2], token: 'glpat-sandbox' });
const project = 'acme/widget';
const { id, default_branch: main } = await api.Projects.show(project);
const refused = (status, call) => assert.rejects(call, (error) => error.cause?.response?.status === status);

const cases = {
  'shows the current user': async () => assert.equal((await api.Users.showCurrentUser()).username, 'sandbox'),
  'refuses an unknown token': () =>
    refused(401, new Gitlab({ host: process.argv[2], token: 'glpat-unknown' }).Users.showCurrentUser()),
  'shows a project by id': async () => assert.equal((await api.Projects.show(id)).path_with_namespace, project),
  'refuses a missing project': () => refused(404, api.Projects.show('acme/nowhere')),
  'walks projects by keyset': async () => {
    const options = { orderBy: 'id', sort: 'asc', perPage: 2 };
    const keyset = await api.Projects.all({ ...options, pagination: 'keyset' });
    const offset = await api.Projects.all({ ...options, pagination: 'offset' });
    assert.ok(keyset.length > 2);
    assert.deepEqual(keyset.map((one) => one.id), offset.map((one) => one.id));
  },
  'pages by offset': async () => {
    const { data, paginationInfo } = await api.Issues.all({
      projectId: project, perPage: 3, page: 2, maxPages: 1, showExpanded: true, pagination: 'offset',
    });
    assert.equal(data.length, 3);
    assert.equal(paginationInfo.current, 2);
    assert.equal(paginationInfo.totalPages, Math.ceil(paginationInfo.total / 3));
  },
  'creates and closes an issue': async () => {
    const { iid } = await api.Issues.create(project, 'From gitbeaker', { labels: 'bug' });
    await api.Issues.edit(project, iid, { stateEvent: 'close' });
    const issue = await api.Issues.show(iid, { projectId: project });
    assert.deepEqual([issue.state, issue.labels], ['closed', ['bug']]);
  },
  'refuses a missing issue': () => refused(404, api.Issues.show(99999, { projectId: project })),
  'notes an issue': async () => {
    const note = await api.IssueNotes.create(project, 1, 'A comment');
    await api.IssueNotes.edit(project, 1, note.id, { body: 'A better comment' });
    assert.equal((await api.IssueNotes.show(project, 1, note.id)).body, 'A better comment');
  },
  'discusses an issue': async () => {
    const { id: thread } = await api.IssueDiscussions.create(project, 1, 'A thread');
    const { notes } = await api.IssueDiscussions.show(project, 1, thread);
    assert.deepEqual(notes.map((note) => note.body), ['A thread']);
  },
  'renames a label': async () => {
    await api.ProjectLabels.create(project, 'client', '#112233');
    await api.ProjectLabels.edit(project, 'client', { newName: 'client-renamed' });
    assert.equal((await api.ProjectLabels.show(project, 'client-renamed')).color, '#112233');
    await api.ProjectLabels.remove(project, 'client-renamed');
    await refused(404, api.ProjectLabels.show(project, 'client-renamed'));
  },
  'lists the lists of a board': async () => {
    const [board] = await api.ProjectIssueBoards.all(project);
    assert.ok((await api.ProjectIssueBoards.allLists(project, board.id)).length > 0);
  },
  'lists merge requests': async () => {
    const opened = await api.MergeRequests.all({ projectId: project, state: 'opened' });
    assert.ok(opened.length > 0 && opened.every((one) => one.state === 'opened'));
  },
  'merges a merge request': async () => {
    await api.Branches.create(project, 'client', main);
    await api.RepositoryFiles.create(project, 'client.txt', 'client', 'one\n', 'Add client.txt');
    const { iid } = await api.MergeRequests.create(project, 'client', main, 'Add client.txt');
    assert.equal((await api.MergeRequests.allDiffs(project, iid))[0].new_path, 'client.txt');
    await refused(405, api.MergeRequests.merge(project, iid));
    await api.MergeRequestApprovals.approve(project, iid);
    await api.MergeRequests.merge(project, iid);
    assert.equal((await api.MergeRequests.show(project, iid)).state, 'merged');
  },
  'reads a file': async () => {
    const file = await api.RepositoryFiles.show(project, 'README.md', main);
    assert.ok(Buffer.from(file.content, 'base64').length === file.size);
  },
  'commits files': async () => {
    const actions = [{ action: 'create', filePath: 'client/a', content: 'a' }];
    const commit = await api.Commits.create(project, main, 'Add a', actions);
    assert.equal((await api.Commits.showDiff(project, commit.id))[0].new_path, 'client/a');
  },
  'lists a tree': async () =>
    assert.ok((await api.Repositories.allRepositoryTrees(project)).some((one) => one.path === 'README.md')),
  'lists pipelines and jobs': async () => {
    const [pipeline] = await api.Pipelines.all(project);
    const jobs = await api.Jobs.all(project, { pipelineId: pipeline.id });
    assert.ok(jobs.length > 0 && jobs.every((job) => job.pipeline.id === pipeline.id));
  },
  'reads the log of a job': async () => {
    const [job] = await api.Jobs.all(project, { scope: ['failed'], perPage: 1, maxPages: 1 });
    assert.equal(job.status, 'failed');
    assert.ok((await api.Jobs.showLog(project, job.id)).length > 0);
  },
  'lists members': async () =>
    assert.ok((await api.ProjectMembers.all(project, { includeInherited: true })).some((one) => one.username === 'sandbox')),
  'sets a variable': async () => {
    await api.ProjectVariables.create(project, 'CLIENT', 'one');
    await api.ProjectVariables.edit(project, 'CLIENT', 'two');
    assert.equal((await api.ProjectVariables.show(project, 'CLIENT')).value, 'two');
  },
  'makes a release': async () => {
    await api.ProjectReleases.create(project, { tagName: 'v9.9.8', ref: main, description: 'By a client' });
    assert.equal((await api.ProjectReleases.show(project, 'v9.9.8')).description, 'By a client');
  },
  'writes a wiki page': async () => {
    const { slug } = await api.ProjectWikis.create(project, 'one', 'Client page');
    assert.equal((await api.ProjectWikis.show(project, slug)).content, 'one');
  },
  'makes a snippet': async () => {
    const snippet = await api.ProjectSnippets.create(project, 'Client', {
      visibility: 'private', files: [{ filePath: 'a.txt', content: 'text' }],
    });
    assert.equal(await api.ProjectSnippets.showContent(project, snippet.id), 'text');
  },
  'searches issues': async () => {
    await api.Issues.create(project, 'Findable zanzibar');
    const found = await api.Search.all('issues', 'zanzibar', { projectId: project });
    assert.deepEqual(found.map((one) => one.title), ['Findable zanzibar']);
  },
  'finishes a to-do': async () => {
    const [todo] = await api.TodoLists.all({ state: 'pending' });
    assert.equal((await api.TodoLists.done({ todoId: todo.id })).state, 'done');
  },
};

// Reads that must find something.
const found = (rows) => assert.ok(Array.isArray(rows) ? rows.length > 0 : rows, 'nothing is found');
const has = (rows, field, value) => assert.ok(rows.some((one) => one[field] === value), `no ${field} ${value}`);
const resources = {
  'lists users': async () => has(await api.Users.all(), 'username', 'alice'),
  'shows a user': async () => assert.equal((await api.Users.show(3)).username, 'alice'),
  'lists namespaces': async () => has(await api.Namespaces.all(), 'full_path', 'acme'),
  'shows the metadata': async () => assert.ok((await api.Metadata.show()).version.startsWith('19.')),
  'renders Markdown': async () => found((await api.Markdown.render('*turn*')).html),
  'lists own tokens': async () => has(await api.PersonalAccessTokens.all(), 'name', 'sandbox'),
  'lists own events': async () => found(await api.Events.all()),
  'lists topics': async () => has(await api.Topics.all(), 'name', 'gears'),
  'lists groups': async () => has(await api.Groups.all(), 'full_path', 'acme'),
  'lists subgroups': async () => has(await api.Groups.allSubgroups('acme'), 'full_path', 'acme/tools'),
  'lists projects of a group': async () => has(await api.Groups.allProjects('acme'), 'path', 'widget'),
  'lists members of a group': async () => has(await api.GroupMembers.all('acme'), 'username', 'bob'),
  'lists labels of a group': async () => has(await api.GroupLabels.all('acme'), 'name', 'acme-wide'),
  'lists milestones of a group': async () => has(await api.GroupMilestones.all('acme'), 'title', 'Spring fair'),
  'lists variables of a group': async () => has(await api.GroupVariables.all('acme'), 'key', 'WORKSHOP'),
  'lists epics': async () => has(await api.Epics.all('acme'), 'iid', 1),
  'lists issues of an epic': async () => has(await api.EpicIssues.all('acme', 1), 'iid', 1),
  'lists languages': async () => assert.ok((await api.Projects.showLanguages(project)).Rust > 50),
  'lists users of a project': async () => has(await api.Projects.allUsers(project), 'username', 'carol'),
  'lists milestones': async () => has(await api.ProjectMilestones.all(project), 'title', 'v1.1'),
  'lists hooks': async () => found(await api.ProjectHooks.all(project)),
  'lists badges': async () => found(await api.ProjectBadges.all(project)),
  'lists deploy keys': async () => found(await api.DeployKeys.all({ projectId: project })),
  'lists access requests': async () => has(await api.ProjectAccessRequests.all(project), 'username', 'erin'),
  'lists links of an issue': async () => has(await api.IssueLinks.all(project, 1), 'iid', 3),
  'counts issues': async () => {
    const { statistics } = await api.IssuesStatistics.all({ projectId: project });
    assert.ok(statistics.counts.all > 40);
  },
  'lists emoji of an issue': async () => has(await api.IssueAwardEmojis.all(project, 1), 'name', 'thumbsup'),
  'lists label events': async () => found(await api.IssueLabelEvents.all(project, 1)),
  'shows approvals': async () => {
    const { approvals_left: left } = await api.MergeRequestApprovals.showConfiguration(project, { mergerequestIId: 12 });
    assert.equal(left, 1);
  },
  'lists versions of a diff': async () => assert.equal((await api.MergeRequests.allDiffVersions(project, 5)).length, 2),
  'lists discussions of a merge request': async () => found(await api.MergeRequestDiscussions.all(project, 12)),
  'lists pipelines of a merge request': async () => has(await api.MergeRequests.allPipelines(project, 12), 'id', 304),
  'lists protected branches': async () => has(await api.ProtectedBranches.all(project), 'name', main),
  'lists branches': async () => has(await api.Branches.all(project), 'name', main),
  'lists tags': async () => has(await api.Tags.all(project), 'name', 'v1.0.0'),
  'compares branches': async () => found((await api.Repositories.compare(project, main, 'quiet-gears')).commits),
  'blames a file': async () =>
    assert.equal((await api.RepositoryFiles.allFileBlames(project, 'src/main.rs', main)).length, 3),
  'lists schedules': async () => has(await api.PipelineSchedules.all(project), 'description', 'Every night'),
  'lists environments': async () => has(await api.Environments.all(project), 'name', 'production'),
  'lists deployments': async () => has(await api.Deployments.all(project), 'status', 'success'),
  'lists feature flags': async () => has(await api.FeatureFlags.all(project), 'name', 'whisper_mode'),
  'lists packages': async () => has(await api.Packages.all({ projectId: project }), 'name', 'widget'),
  'lists runners': async () => found(await api.Runners.all({ projectId: project })),
  'lists merge trains': async () => has(await api.MergeTrains.all(project), 'status', 'fresh'),
  'exports a project': async () => {
    await api.ProjectImportExports.scheduleExport(project, { url: 'https://a.example/upload', httpMethod: 'PUT' }).catch(() => {});
    assert.ok((await api.ProjectImportExports.showExportStatus(project)).export_status);
  },
};
Object.assign(cases, resources);

let failed = 0;
for (const [name, check] of Object.entries(cases)) {
  try {
    await check();
  } catch (error) {
    failed += 1;
    console.log(`${name}: ${error.cause?.description ?? error.message}`);
  }
}
console.log(`gitbeaker: ${Object.keys(cases).length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
