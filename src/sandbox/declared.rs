//! GitLab's declarations of the parameters of its routes, and its models' refusals of their values, apart from types and
//! choices, which the catalog knows. Each is tested against a case of GitLab's own specifications.

use serde_json::Value;
use time::Date;
use time::macros::format_description;

use super::route::Rule;
use super::state::START;
use Rule::{AnyParameter, Apart, Declared, ExactlyOne, Exclusive, Model, NotBlank, Required, Service};

/// The rules of a method and a path, whose placeholders are `{}`.
pub static RULES: &[(&str, &str, &[Rule])] = &[
    ("PUT", "projects/{}/issues/{}/notes/{}", &[NotBlank("body")]),
    ("PUT", "projects/{}/merge_requests/{}", &[NotBlank("title")]),
    ("PUT", "projects/{}/merge_requests/{}/discussions/{}/notes/{}", &[ExactlyOne("body resolved")]),
    ("GET", "projects/{}/repository/changelog", VERSION),
    ("POST", "projects/{}/repository/changelog", VERSION),
    ("POST", "projects/{}/labels", LABEL),
    ("POST", "groups/{}/labels", LABEL),
    (
        "PUT",
        "projects/{}/labels/{}",
        &[
            AnyParameter("new_name, color, description, priority, archived"),
            Model("color", is_color, COLOR),
            Model("new_name", has_no_comma, "is invalid"),
        ],
    ),
    ("POST", "snippets", &[NotBlank("title")]),
    ("PUT", "snippets/{}", &[SNIPPET_FILES, Exclusive("files content"), Exclusive("files file_name")]),
    (
        "PUT",
        "projects/{}/snippets/{}",
        &[AnyParameter("title, description, content, file_name, files, visibility"), SNIPPET_FILES],
    ),
    ("POST", "projects/{}/members", MEMBER),
    ("POST", "groups/{}/members", MEMBER),
    (
        "PUT",
        "projects/{}/members/{}",
        &[Model("access_level", is_role, "is not included in the list"), EXPIRY],
    ),
    ("PUT", "groups/{}/members/{}", &[Model("access_level", is_role, "is not included in the list"), EXPIRY]),
    ("POST", "projects/{}/invitations", INVITATION),
    ("POST", "groups/{}/invitations", INVITATION),
    ("POST", "projects/{}/hooks", HOOK),
    ("DELETE", "projects/{}/share/{}", &[Rule::Integer("group_id")]),
    (
        "GET",
        "projects/{}/repository/branches/{}",
        &[Service("branch", is_ref, 400, "The branch refname is invalid")],
    ),
    ("GET", "projects/{}/repository/files/{}", FILE),
    ("GET", "projects/{}/repository/files/{}/raw", FILE),
    ("POST", "projects/{}/repository/files/{}", FILE),
    ("PUT", "projects/{}/repository/files/{}", FILE),
    ("DELETE", "projects/{}/repository/files/{}", FILE),
    ("POST", "projects/{}/badges", &[WEB_LINK, Model("image_url", is_web, BLOCKED)]),
    ("POST", "groups/{}/badges", &[WEB_LINK, Model("image_url", is_web, BLOCKED)]),
    ("POST", "projects/{}/repository/tags", &[Service("tag_name", is_ref, 400, "Tag name invalid")]),
    ("POST", "projects/{}/statuses/{}", &[Model("target_url", is_web, BLOCKED)]),
    ("PUT", "projects/{}/releases/{}/assets/links/{}", &[Model("url", is_web, BLOCKED)]),
    ("POST", "projects/{}/releases/{}/assets/links", &[Model("url", is_web, BLOCKED)]),
    (
        "POST",
        "projects/{}/environments",
        &[Declared("slug", never, "is automatically generated and cannot be changed")],
    ),
    ("GET", "projects/{}/environments", &[Apart("name search", "cannot be used together")]),
    ("POST", "projects/{}/deploy_tokens", DEPLOY_TOKEN),
    ("POST", "groups/{}/deploy_tokens", DEPLOY_TOKEN),
    ("PUT", "projects/{}/hooks/{}", HOOK),
    ("POST", "projects/{}/trigger/pipeline", TRIGGER),
    ("POST", "projects/{}/ref/{}/trigger/pipeline", TRIGGER),
    (
        "POST",
        "projects/{}/remote_mirrors",
        &[Model("url", is_mirror, "is blocked: Only allowed schemes are http, https, ssh, git")],
    ),
    ("POST", "projects/{}/feature_flags", &[Service("version", is_flag_version, 400, "Version is invalid")]),
    ("POST", "applications", &[Model("redirect_uri", is_absolute, "must be an absolute URI.")]),
    ("GET", "projects/{}/badges/render", BADGE),
    ("GET", "groups/{}/badges/render", BADGE),
];

const BADGE: &[Rule] = &[Required("link_url"), Required("image_url")];
const DEPLOY_TOKEN: &[Rule] = &[Declared("scopes", are_deploy_scopes, "does not have a valid value")];
const FILE: &[Rule] = &[Declared("file_path", is_file_path, "should be a valid file path")];
const VERSION: &[Rule] = &[Declared("version", is_version, "is invalid")];
const COLOR: &str = "must be a valid color code";
const LABEL: &[Rule] = &[Model("color", is_color, COLOR), Model("title", has_no_comma, "is invalid"), NAME];
const NAME: Rule = Model("name", has_no_comma, "is invalid");
const SNIPPET_FILES: Rule = Declared("files", are_file_paths, "file_path should be a valid file path");
const EXPIRY: Rule = Model("expires_at", is_not_past, "cannot be a date in the past");
const MEMBER: &[Rule] = &[ExactlyOne("user_id username"), EXPIRY];
const INVITATION: &[Rule] = &[Declared("email", are_addresses, "contains an invalid email address")];
const BRANCH_FILTER: Rule =
    Service("push_events_branch_filter", is_ref_pattern, 422, "Invalid branch filter given");
const HOOK: &[Rule] = &[BRANCH_FILTER, Service("token", has_no_line_break, 422, "Token is invalid")];
const BLOCKED: &str = "is blocked: Only allowed schemes are http, https";
const WEB_LINK: Rule = Model("link_url", is_web, BLOCKED);
const TRIGGER: &[Rule] = &[
    Declared("variables", Value::is_object, "is invalid"),
    Service("variables", are_texts, 400, "variables needs to be a map of key-valued strings"),
];

/// The rules of a route.
pub fn rules(method: &str, path: &str) -> impl Iterator<Item = &'static Rule> {
    let row = RULES.iter().find(|(of, at, _)| *of == method && *at == path);
    row.into_iter().flat_map(|(_, _, rules)| rules.iter())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The scopes of a deploy token (lib/gitlab/auth.rb).
fn are_deploy_scopes(value: &Value) -> bool {
    let known = [
        "read_repository",
        "read_registry",
        "write_registry",
        "read_package_registry",
        "write_package_registry",
        "read_virtual_registry",
        "write_virtual_registry",
    ];
    value.as_array().is_none_or(|scopes| scopes.iter().all(|scope| known.contains(&text(scope))))
}

/// A color as CSS writes it (app/validators/color_validator.rb), or by its name.
fn is_color(value: &Value) -> bool {
    match text(value).strip_prefix('#') {
        Some(digits) => [3, 6].contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => text(value).bytes().all(|byte| byte.is_ascii_alphabetic()),
    }
}

fn has_no_comma(value: &Value) -> bool {
    !text(value).contains(',')
}

/// The roles that GitLab has (lib/gitlab/access.rb).
fn is_role(value: &Value) -> bool {
    let number = value.as_u64().or_else(|| text(value).parse().ok());
    number.is_none_or(|number| [5, 10, 15, 20, 25, 30, 40, 50].contains(&number))
}

/// Days are compared with that of the sandbox.
fn is_not_past(value: &Value) -> bool {
    let day = Date::parse(text(value), format_description!("[year]-[month]-[day]"));
    day.is_ok_and(|day| day >= START.date()) || text(value).is_empty()
}

/// Paths without a way out of the repository (lib/gitlab/utils: check_path_traversal!).
fn are_file_paths(value: &Value) -> bool {
    let path = |file: &Value| file.get("file_path").map(|path| text(path).to_owned()).unwrap_or_default();
    value.as_array().is_none_or(|files| files.iter().map(path).all(|path| is_file_path(&Value::from(path))))
}

fn is_file_path(value: &Value) -> bool {
    !text(value).starts_with('/') && !text(value).split('/').any(|part| part == "..")
}

fn are_addresses(value: &Value) -> bool {
    text(value).split(',').all(|address| address.is_empty() || address.contains('@'))
}

fn is_web(value: &Value) -> bool {
    has_scheme(value, &["http", "https"])
}

fn is_mirror(value: &Value) -> bool {
    has_scheme(value, &["http", "https", "ssh", "git"])
}

fn has_scheme(value: &Value, schemes: &[&str]) -> bool {
    let scheme = text(value).split_once("://").map(|(scheme, _)| scheme);
    text(value).is_empty() || scheme.is_some_and(|scheme| schemes.contains(&scheme))
}

fn is_absolute(value: &Value) -> bool {
    text(value).lines().all(|line| line.contains(':'))
}

/// A name that git takes for a branch or tag (git-check-ref-format).
fn is_ref(value: &Value) -> bool {
    let name = text(value);
    let is_refused = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    !name.contains(is_refused)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains("//")
        && !name.starts_with(['/', '-'])
        && !name.ends_with(['/', '.'])
        && !name.ends_with(".lock")
}

/// A name with `*` for anything.
fn is_ref_pattern(value: &Value) -> bool {
    is_ref(&Value::from(text(value).replace('*', "x")))
}

/// A semantic version (lib/gitlab/regex.rb), with or without a `v`.
fn is_version(value: &Value) -> bool {
    let core = text(value).trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    core.split('.').count() == 3 && core.split('.').all(|part| part.parse::<u64>().is_ok())
}

fn is_flag_version(value: &Value) -> bool {
    ["", "new_version_flag"].contains(&text(value))
}

fn are_texts(value: &Value) -> bool {
    value.as_object().is_none_or(|fields| fields.values().all(Value::is_string))
}

fn has_no_line_break(value: &Value) -> bool {
    !text(value).contains('\n')
}

const fn never(_: &Value) -> bool {
    false
}
