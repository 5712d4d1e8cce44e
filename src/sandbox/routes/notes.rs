//! Notes, the discussions they form, and the emoji that people award.
//!
//! The same routes exist under issues, merge requests, snippets, epics and commits.

use crate::args::{Args, text_of};
use crate::diff::{Tree, between, line_at};
use crate::git_object::sha1;
use crate::prelude::*;

use super::reach::unique;
use super::{quick_actions, todo_items};

/// Objects that can have notes: the pattern and GitLab's name of each.
const SUBJECTS: &[(&str, &str)] = &[
    ("/projects/:id/issues/:issue_iid", "Issue"),
    ("/projects/:id/merge_requests/:merge_request_iid", "MergeRequest"),
    ("/projects/:id/snippets/:snippet_id", "Snippet"),
    ("/groups/:id/epics/:epic_id", "Epic"),
    ("/projects/:id/repository/commits/:sha", "Commit"),
];

const BODY: &[Rule] = &[Rule::Required("body")];

/// The quick action by which a reviewer wants changes.
const REQUEST_CHANGES: &str = "/request_changes";

/// Under everything that has notes of its own.
pub const NOTES: &[Route] = &[
    get("/notes", list),
    post("/notes", create).needs(Level::User).rules(BODY),
    get("/notes/:note_id", show),
    put("/notes/:note_id", update).needs(Level::User),
    delete("/notes/:note_id", remove).needs(Level::User),
    get("(|/notes/:note_id)/award_emoji", awards).needs(Level::User),
    post("(|/notes/:note_id)/award_emoji", award).needs(Level::User).rules(&[Rule::Required("name")]),
    get("(|/notes/:note_id)/award_emoji/:award_id", show_award).needs(Level::User),
    delete("(|/notes/:note_id)/award_emoji/:award_id", withdraw).needs(Level::User),
];

/// Under the same, and under commits.
pub const DISCUSSIONS: &[Route] = &[
    get("/discussions", discussions),
    post("/discussions", discuss).needs(Level::User).rules(BODY),
    get("/discussions/:discussion_id", discussion),
    post("/discussions/:discussion_id/notes", answer).needs(Level::User).rules(BODY),
    put("/discussions/:discussion_id/notes/:note_id", update)
        .needs(Level::User)
        .rules(&[Rule::AnyOf("body resolved")]),
    delete("/discussions/:discussion_id/notes/:note_id", remove).needs(Level::User),
];

/// Under issues, merge requests and epics.
pub const RESOLUTION: &[Route] =
    &[put("/discussions/:discussion_id", resolve).needs(Level::User).rules(&[Rule::Required("resolved")])];

/// The object that the notes of a request belong to.
struct Subject {
    pattern: &'static str,
    kind: &'static str,
    shelf: String,
    row: Row,
    /// The commit, if it is one.
    commit: Option<String>,
}

fn subject(request: &Request<'_>) -> Result<Subject, Fault> {
    let found = SUBJECTS.iter().find(|(pattern, _)| request.pattern.starts_with(pattern));
    let (pattern, kind) = *found.ok_or(Fault::Nowhere)?;
    if kind == "Commit" {
        let commit = request.repo()?.resolve(request.param("sha")).ok_or(Fault::missing("Commit"))?;
        let commit = Some(commit.id.clone());
        return Ok(Subject {
            pattern,
            kind,
            shelf: request.shelf("repository/commits"),
            row: Row::new(),
            commit,
        });
    }
    let (shelf, row) = request.subject(pattern)?;
    Ok(Subject { pattern, kind, shelf, row, commit: None })
}

impl Subject {
    /// A shelf under the object.
    fn under(&self, name: &str) -> String {
        let key = ["iid", "id"].iter().find_map(|key| self.row.get(*key).and_then(text_of));
        let key = self.commit.clone().or(key);
        format!("{}/{}/{name}", self.shelf, key.unwrap_or_default())
    }
}

fn list(request: &mut Request<'_>) -> Answer {
    let mut rows = request.world.rows(&subject(request)?.under("notes")).to_vec();
    match request.args.text("activity_filter").as_deref() {
        Some("only_comments") => rows.retain(|row| !row.flag("system")),
        Some("only_activity") => rows.retain(|row| row.flag("system")),
        _ => {}
    }
    crate::filter::sort(&request.args, &mut rows);
    request.page_of("notes", &rows)
}

/// Adds a note to a discussion, a new one where none is named.
fn say(
    request: &mut Request<'_>,
    subject: &Subject,
    discussion: Option<&Row>,
    individual: bool,
) -> Result<Row, Fault> {
    let body = request
        .args
        .text("body")
        .ok_or_else(|| Fault::refused(400, "400 Bad request - Note {:note=>[\"can't be blank\"]}"))?;
    let shelf = subject.under("notes");
    let resolvable = subject.kind == "MergeRequest" && !individual;
    let count = request.world.rows(&shelf).len();
    let mut values = object(json!({
        "body": body, "noteable_id": subject.row.get("id"), "noteable_iid": subject.row.get("iid"),
        "noteable_type": subject.kind, "commit_id": subject.commit, "resolvable": resolvable, "_individual": individual,
        "_discussion": discussion.map_or_else(|| sha1(&format!("{shelf}{count}")), |note| note.text("_discussion").to_owned()),
        "type": if individual { Value::Null } else { Value::from("DiscussionNote") },
        "internal": request.args.flag("internal"), "confidential": request.args.flag("internal"),
    }));
    if let Some(position) =
        discussion.and_then(|note| note.get("position")).or_else(|| request.args.get("position"))
    {
        values.extend(object(json!({"type": "DiffNote", "position": position, "suggestions": []})));
    }
    if resolvable {
        values.extend(object(json!({"resolved": false, "resolved_by": null, "resolved_at": null})));
    }
    if let Some(at) = request.args.text("created_at").filter(|_| request.at_least(Level::Owner)) {
        values.set("created_at", at);
    }
    let row = request.world.add(&shelf, values, request.user);
    record(request, subject.kind, &subject.shelf, &subject.row, &row);
    if let Some(parent) = request.world.find_mut(&subject.shelf, "id", &subject.row.num("id").to_string()) {
        let count = parent.num("user_notes_count") + 1;
        parent.set("user_notes_count", count);
        if resolvable {
            parent.set("blocking_discussions_resolved", false);
        }
    }
    Ok(row)
}

/// Records a new note: its event, and the to-do items that it causes and finishes.
pub fn record(request: &mut Request<'_>, kind: &str, shelf: &str, row: &Row, note: &Row) {
    let of = if note.blank("type") { "Note" } else { note.text("type") };
    let values = json!({
        "target_id": note.num("id"), "target_iid": note.num("id"), "target_type": of,
        "target_title": row.text("title"), "note": note
    });
    if request.place.is_some_and(|place| place.kind == "projects") {
        request.event_of("commented on", values);
    }
    todo_items::settle(request, shelf, row);
    todo_items::mention(request, kind, shelf, row, note.text("body"));
}

fn create(request: &mut Request<'_>) -> Answer {
    let subject = subject(request)?;
    if subject.kind == "MergeRequest"
        && request.args.text("body").is_some_and(|body| body.trim() == REQUEST_CHANGES)
    {
        return request_changes(request, &subject);
    }
    // Only members comment on what is locked (app/policies/issuable_policy.rb).
    let is_locked = subject.row.flag("discussion_locked");
    if is_locked && level(request.world, request.user, request.place) <= Level::User {
        return Err(Fault::Forbidden);
    }
    if let Some(answer) = execute_commands(request, &subject)? {
        return Ok(answer);
    }
    let row = say(request, &subject, None, true)?;
    created(request.show(&row))
}

/// Executes the commands of the body and takes them out of it. An answer if nothing is left.
fn execute_commands(request: &mut Request<'_>, subject: &Subject) -> Result<Option<Reply>, Fault> {
    let body = request.args.text("body").unwrap_or_default();
    let executed = quick_actions::execute(request, subject.kind, &subject.shelf, &subject.row, &body);
    let written = body.lines().filter(|line| !line.trim().is_empty()).count();
    if !executed.failed.is_empty() && executed.failed.len() == written {
        let failed = "[\"Failed to apply commands.\"]";
        let names = executed.failed;
        let text = format!(
            "400 Bad request - Note {{:commands_only=>{failed}, :command_names=>{names:?}, :commands=>{failed}}}"
        );
        return Err(Fault::refused(400, &text));
    }
    if executed.summary.is_empty() {
        return Ok(None);
    }
    if executed.text.is_empty() {
        let answer = json!({"commands_changes": executed.changes, "summary": executed.summary});
        return Ok(Some(Reply::json(202, answer)));
    }
    request.args.extend(object(json!({"body": executed.text})));
    Ok(None)
}

/// A reviewer's command, which leaves no note behind.
fn request_changes(request: &mut Request<'_>, subject: &Subject) -> Answer {
    let me = request.me()?;
    if !subject.row.nums("reviewers").contains(&me) {
        return Err(Fault::refused(400, "400 Bad request - Could not apply request_changes command."));
    }
    let mut asked = subject.row.nums("_changes_requested");
    asked.push(me);
    request.write(&subject.shelf, subject.row.num("id"), json!({"_changes_requested": asked}));
    let summary = ["Changes requested to the current merge request."];
    Ok(Reply::json(202, json!({"commands_changes": {}, "summary": summary})))
}

/// The note in the path.
fn the_note(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let shelf = subject(request)?.under("notes");
    let row = request.row_on(&shelf, "note_id").map_err(|_| Fault::missing(""))?;
    Ok((shelf, row))
}

fn show(request: &mut Request<'_>) -> Answer {
    let (_, row) = the_note(request)?;
    ok(request.show(&row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_note(request)?;
    if !request.wrote(&row) && !request.at_least(Level::Maintainer) {
        return Err(Fault::Forbidden);
    }
    if let Some(resolved) = request.args.maybe("resolved") {
        may_settle(request, &subject(request)?.row)?;
        settle(request, &shelf, &row.clone(), resolved)?;
    }
    if request.args.flag("confidential") && !row.flag("confidential") {
        let reason = "{:confidential=>[\"can not be changed for existing notes\"]}";
        return Err(Fault::refused(400, &format!("400 Bad request - Failed to save note {reason}")));
    }
    let mut values = json!({});
    if let Some(body) = request.args.text("body") {
        values = json!({"body": body});
    }
    let row = request.write(&shelf, row.num("id"), values);
    ok(request.show(&row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_note(request)?;
    if !request.wrote(&row) && !request.at_least(Level::Maintainer) {
        return Err(Fault::Forbidden);
    }
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    let subject = subject(request)?;
    if let Some(parent) = request.world.find_mut(&subject.shelf, "id", &subject.row.num("id").to_string()) {
        let count = parent.num("user_notes_count").saturating_sub(1);
        parent.set("user_notes_count", count);
    }
    Ok(Reply::empty())
}

/// The discussion that a note began, with all its notes.
fn thread(request: &Request<'_>, rows: &[Row], id: &str) -> Value {
    let notes: Vec<&Row> = rows.iter().filter(|row| row.text("_discussion") == id).collect();
    let individual = notes.first().is_some_and(|note| note.flag("_individual"));
    let shown: Vec<Value> = notes.iter().map(|note| request.show(note)).collect();
    json!({"id": id, "individual_note": individual, "notes": shown})
}

fn discussions(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&subject(request)?.under("notes")).to_vec();
    let ids = unique(rows.iter().map(|row| row.text("_discussion")));
    request.page(ids.iter().map(|id| thread(request, &rows, id)).collect())
}

/// The first note of the discussion in the path.
fn the_discussion(request: &Request<'_>) -> Result<(Subject, Row), Fault> {
    let subject = subject(request)?;
    let rows = request.world.rows(&subject.under("notes"));
    let first = rows.iter().find(|row| row.text("_discussion") == request.param("discussion_id"));
    let first = first.cloned().ok_or(Fault::missing("Discussion"))?;
    Ok((subject, first))
}

fn show_thread(request: &Request<'_>, subject: &Subject, id: &str) -> Value {
    thread(request, request.world.rows(&subject.under("notes")), id)
}

fn discussion(request: &mut Request<'_>) -> Answer {
    let (subject, first) = the_discussion(request)?;
    ok(show_thread(request, &subject, first.text("_discussion")))
}

fn discuss(request: &mut Request<'_>) -> Answer {
    let subject = subject(request)?;
    if let Some(problem) = position_problem(request) {
        return Err(Fault::refused(400, problem));
    }
    if let Some(answer) = execute_commands(request, &subject)? {
        return Ok(answer);
    }
    let row = say(request, &subject, None, false)?;
    created(show_thread(request, &subject, row.text("_discussion")))
}

/// GitLab refuses a note on a line that is none of the diff between the commits of its position.
fn position_problem(request: &Request<'_>) -> Option<&'static str> {
    let position = request.args.nested("position");
    if !request.args.has("position") || position.text("position_type").as_deref() != Some("text") {
        return None;
    }
    // GitLab reads the numbers of a range as texts, which its schema of positions refuses.
    let range = position.nested("line_range");
    let is_numbered = |end: &str| ["old_line", "new_line"].iter().any(|line| range.nested(end).has(line));
    if ["start", "end"].into_iter().any(is_numbered) {
        return Some("400 Bad request - Note {:position=>[\"must be a valid json schema\"]}");
    }
    line_of(request, &position)
        .is_none()
        .then_some("400 Bad request - Note {:line_code=>[\"can't be blank\", \"must be a valid line code\"]}")
}

/// The old and the new number at the line that a position is on.
pub fn line_of(request: &Request<'_>, position: &Args) -> Option<(u64, u64)> {
    let repo = request.repo().ok()?;
    let commit = |name: &str| repo.resolve(&position.text(name)?);
    let (base, head) = (commit("base_sha")?, commit("head_sha")?);
    commit("start_sha")?;
    let (old_path, new_path) = (position.text("old_path"), position.text("new_path"));
    let new_path = new_path.or_else(|| old_path.clone())?;
    let change = between(&base.tree, &head.tree).into_iter().find(|change| {
        change.new_path == new_path && old_path.as_ref().is_none_or(|old| *old == change.old_path)
    })?;
    let bytes = |tree: &Tree, path: &str| tree.get(path).cloned().unwrap_or_default();
    let (old, new) = (bytes(&base.tree, &change.old_path), bytes(&head.tree, &change.new_path));
    line_at(&old, &new, (position.num("old_line"), position.num("new_line")))
}

fn answer(request: &mut Request<'_>) -> Answer {
    let (subject, first) = the_discussion(request)?;
    let row = say(request, &subject, Some(&first), false)?;
    created(request.show(&row))
}

/// Threads are resolved by developers and the author of the merge request.
fn may_settle(request: &Request<'_>, subject: &Row) -> Result<(), Fault> {
    if request.at_least(Level::Developer) || request.wrote(subject) { Ok(()) } else { Err(Fault::Forbidden) }
}

/// Resolves a whole discussion, or takes that back.
fn settle(request: &mut Request<'_>, shelf: &str, first: &Row, resolved: bool) -> Result<(), Fault> {
    let notes = request.world.rows(shelf).to_vec();
    let thread = notes.iter().filter(|note| note.text("_discussion") == first.text("_discussion"));
    let mut any = false;
    for note in thread.filter(|note| note.flag("resolvable")) {
        let now = request.world.now();
        let (by, at) = if resolved { (json!(request.user), json!(now)) } else { (Value::Null, Value::Null) };
        request.write(
            shelf,
            note.num("id"),
            json!({"resolved": resolved, "resolved_by": by, "resolved_at": at}),
        );
        any = true;
    }
    if !any {
        return Err(Fault::Forbidden);
    }
    let open = |note: &Row| note.flag("resolvable") && !note.flag("resolved");
    let done = !request.world.rows(shelf).iter().any(open);
    let subject = subject(request)?;
    request.write(&subject.shelf, subject.row.num("id"), json!({"blocking_discussions_resolved": done}));
    Ok(())
}

fn resolve(request: &mut Request<'_>) -> Answer {
    let (subject, first) = the_discussion(request)?;
    let resolved = request.args.flag("resolved");
    may_settle(request, &subject.row)?;
    settle(request, &subject.under("notes"), &first, resolved)?;
    ok(show_thread(request, &subject, first.text("_discussion")))
}

/// The shelf of the emoji on a note or on the object, and the kind and id of that.
fn awardable(request: &Request<'_>) -> Result<(String, &'static str, Value), Fault> {
    let subject = subject(request)?;
    if request.pattern.starts_with(&format!("{}/notes/", subject.pattern)) {
        let (shelf, note) = the_note(request)?;
        return Ok((format!("{shelf}/{}/award_emoji", note.num("id")), "Note", json!(note.num("id"))));
    }
    let id = subject.row.get("id").cloned().unwrap_or_default();
    Ok((subject.under("award_emoji"), subject.kind, id))
}

fn awards(request: &mut Request<'_>) -> Answer {
    let (shelf, _, _) = awardable(request)?;
    let rows = request.world.rows(&shelf).to_vec();
    request.page_of("award_emoji", &rows)
}

/// The emoji that the sandbox knows of the thousands of GitLab's.
const EMOJI: &str = "\
    100 +1 -1 alien bell bomb book books boom bowtie broken_heart bug bulb cake calendar checkered_flag \
    clap clock1 coffee computer confetti_ball confused construction cop cry dart disappointed dizzy dog \
    doughnut eyes face_palm fire fireworks fish gear gem ghost gift grin grinning hammer hand handshake \
    heart heart_eyes heavy_check_mark heavy_plus_sign hugging hushed innocent joy key kiss laughing lock \
    loudspeaker mag memo microscope muscle mute neutral_face no_entry ok ok_hand open_hands open_mouth \
    package pencil pizza point_up pray pushpin question rage rainbow raised_hands recycle relaxed \
    relieved robot rocket rose rotating_light scream see_no_evil seedling shrug skull sleeping smile \
    smiley smirk snail sob sparkles speech_balloon star star2 stop_sign sunflower sunglasses sunny sweat \
    sweat_smile tada telescope thinking thumbsdown thumbsup tools trophy turtle umbrella unicorn unlock \
    v warning wave whale white_check_mark wink worried wrench x yum zap zzz";

/// Counts the thumbs of an issue, merge request or epic anew.
fn count_votes(request: &mut Request<'_>, kind: &str, shelf: &str) -> Result<(), Fault> {
    if kind == "Note" {
        return Ok(());
    }
    let count = |name: &str| request.world.rows(shelf).iter().filter(|row| row.text("name") == name).count();
    let (up, down) = (count("thumbsup"), count("thumbsdown"));
    let subject = subject(request)?;
    if let Some(row) = request
        .world
        .find_mut(&subject.shelf, "id", &subject.row.num("id").to_string())
        .filter(|row| row.contains_key("upvotes"))
    {
        row.set("upvotes", up);
        row.set("downvotes", down);
    }
    Ok(())
}

fn award(request: &mut Request<'_>) -> Answer {
    let (shelf, kind, id) = awardable(request)?;
    let name = request.args.text("name").unwrap_or_default().trim_matches(':').to_owned();
    let me = request.me()?;
    let taken = |row: &Row| row.num("user") == me && row.text("name") == name;
    if name.is_empty() || request.world.rows(&shelf).iter().any(taken) {
        return Err(Fault::missing("Award Emoji Name has already been taken"));
    }
    if !EMOJI.split(' ').any(|known| known == name) {
        return Err(Fault::missing("Award Emoji Name is not a valid emoji name"));
    }
    let row = request.add(&shelf, json!({"name": name, "awardable_id": id, "awardable_type": kind}));
    count_votes(request, kind, &shelf)?;
    created(request.show(&row))
}

fn the_award(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let (shelf, _, _) = awardable(request)?;
    let row = request.row_on(&shelf, "award_id").map_err(|_| Fault::missing(""))?;
    Ok((shelf, row))
}

fn show_award(request: &mut Request<'_>) -> Answer {
    let (_, row) = the_award(request)?;
    ok(request.show(&row))
}

fn withdraw(request: &mut Request<'_>) -> Answer {
    let (shelf, kind, _) = awardable(request)?;
    let (_, row) = the_award(request)?;
    if Some(row.num("user")) != request.user {
        return Err(Fault::Unauthorized);
    }
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    count_votes(request, kind, &shelf)?;
    Ok(Reply::empty())
}
