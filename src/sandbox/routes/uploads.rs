//! Files that are sent as multipart forms: attachments and avatars.

use crate::git_object::sha1;
use crate::prelude::*;

pub const ROUTES: &[Route] = &[
    post("/(projects|groups)/:id/uploads", upload).needs(Level::User),
    get("/projects/:id/uploads/:upload_id", download),
    get("/projects/:id/uploads/:secret/:filename", download_named),
    put("/user/avatar", set_avatar),
    get("/(projects|groups)/:id/avatar", avatar),
];

fn upload(request: &mut Request<'_>) -> Answer {
    let file = request.files.iter().find(|file| file.field == "file");
    let file = file.ok_or_else(|| Fault::Bad("file is missing".to_owned()))?;
    let (name, bytes) = (file.name.clone(), file.bytes.clone());
    let secret: String = sha1(&format!("{name}{}", bytes.len())).chars().take(32).collect();
    let me = request.world.by_id("users", request.me()?);
    let me = request.show_as("users", "uploader", &me);
    let shelf = request.shelf("uploads");
    let row = request
        .add(&shelf, json!({"size": bytes.len(), "filename": name, "uploaded_by": me, "_secret": secret}));
    request.world.files.insert(format!("{shelf}/{}", row.num("id")), bytes.into());
    let url = format!("/uploads/{secret}/{name}");
    let place = if request.pattern.starts_with("/groups") { "group" } else { "project" };
    let full = format!("/-/{place}/{}{url}", request.place_id());
    let picture = [".png", ".jpg", ".gif"].iter().any(|ending| name.ends_with(ending));
    let alt =
        if picture { name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem) } else { name.as_str() };
    let markdown = format!("{}[{alt}]({url})", if picture { "!" } else { "" });
    created(json!({"id": row.num("id"), "alt": alt, "url": url, "full_path": full, "markdown": markdown}))
}

fn send(request: &Request<'_>, field: &str, wanted: &str) -> Answer {
    let shelf = request.shelf("uploads");
    let row = request.world.find(&shelf, field, wanted).ok_or(Fault::missing(""))?;
    let bytes = request
        .world
        .files
        .get(&format!("{shelf}/{}", row.num("id")))
        .map(|bytes| bytes.to_vec())
        .unwrap_or_default();
    let name = row.text("filename").replace('"', "");
    Ok(Reply::bytes("application/octet-stream", bytes)
        .with("content-disposition", format!("attachment; filename=\"{name}\"")))
}

fn download(request: &mut Request<'_>) -> Answer {
    send(request, "id", request.param("upload_id"))
}

fn download_named(request: &mut Request<'_>) -> Answer {
    send(request, "_secret", request.param("secret"))
}

fn set_avatar(request: &mut Request<'_>) -> Answer {
    let file = request.files.iter().find(|file| file.field == "avatar");
    let name = file.ok_or_else(|| Fault::Bad("avatar is missing".to_owned()))?.name.clone();
    let me = request.me()?;
    let url = format!("{}/uploads/-/system/user/avatar/{me}/{name}", request.world.url);
    request.write("users", me, json!({"avatar_url": url}));
    ok(json!({"avatar_url": url}))
}

fn avatar(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    match row.get("avatar_url") {
        Some(Value::String(_)) => Ok(Reply::bytes("image/png", Vec::new())),
        _ => Err(Fault::missing("Avatar")),
    }
}
