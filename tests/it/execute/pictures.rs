//! Files that are pictures come as image content; other files and resources as bytes.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, follow, reply};
use crate::support::scripted_gitlab::{Gitlab, raw};

/// The logo of the sandbox: one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/// The content blocks of an action's answer.
fn contents(client: &mut Client, action: &str, params: Value) -> Vec<Value> {
    let answer = client
        .request("tools/call", json!({"name": EXECUTE, "arguments": {"action": action, "params": params}}));
    assert!(!reply(&answer).is_error, "{answer}");
    answer["result"]["content"].as_array().unwrap().clone()
}

fn logo() -> Value {
    json!({"fullPath": "acme/widget", "file_path": "assets/logo.png", "ref": "main"})
}

#[test]
fn a_picture_of_a_repository_comes_as_image_content() {
    let mut client = Client::sandbox();
    let shown = contents(&mut client, "repository_file.get_raw", logo());
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0]["text"].as_str().unwrap().starts_with("A picture of 1x1 pixels, 68 bytes"), "{shown:?}");
    assert_eq!(shown[1], json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}));
}

#[test]
fn a_damaged_picture_is_no_image_content() {
    let gitlab = Gitlab::with_project();
    let mut bytes = STANDARD.decode(PIXEL).unwrap();
    bytes.truncate(40);
    gitlab.answer("GET", "/raw", raw(200, "image/png", bytes));
    let shown = contents(&mut gitlab.client(&[]), "repository_file.get_raw", logo());
    assert_eq!(shown.len(), 1, "{shown:?}");
    let text = shown[0]["text"].as_str().unwrap();
    assert!(text.contains("A binary of 40 bytes") && text.contains("the file is damaged"), "{shown:?}");
}

/// A white PNG in shades of grey: a few bytes, whatever its size.
fn grey_png(width: u32, height: u32) -> Vec<u8> {
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::best());
    let row = vec![0; 1 + width as usize];
    (0..height).for_each(|_| rows.write_all(&row).unwrap());
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", rows.finish().unwrap()), (b"IEND", Vec::new())] {
        let mut sum = Crc::new();
        sum.update(kind);
        sum.update(&data);
        file.extend((data.len() as u32).to_be_bytes());
        file.extend([&kind[..], &data].concat());
        file.extend(sum.sum().to_be_bytes());
    }
    file
}

#[test]
fn a_picture_of_many_pixels_is_not_decoded_and_the_answer_says_why() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/raw", raw(200, "image/png", grey_png(8_000, 8_000)));
    let shown = contents(&mut gitlab.client(&[]), "repository_file.get_raw", logo());
    let text = shown[0]["text"].as_str().unwrap();
    assert!(text.contains("picture of 8000x8000 pixels is not shown: at most 16000000"), "{text}");
    assert!(shown.iter().all(|block| block["type"] != "image"), "{text}");
}

#[test]
fn a_picture_in_a_description_is_named_with_the_call_that_fetches_it() {
    let mut client = Client::sandbox();
    let upload =
        json!({"fullPath": "acme/widget", "file": {"filename": "shot.png", "content_base64": PIXEL}});
    let upload = client.call(EXECUTE, json!({"action": "project_upload.create", "params": upload}));
    let markdown = upload.structured["data"]["markdown"].as_str().unwrap();
    assert!(upload.text.contains(markdown) && !upload.text.contains("Picture: "), "{}", upload.text);
    assert!(upload.structured.get("pictures").is_none(), "{}", upload.structured);
    let issue = json!({"fullPath": "acme/widget", "title": "It looks wrong", "description": markdown});
    let made = client.call(EXECUTE, json!({"action": "issue.create", "params": issue}));
    let read = json!({"fullPath": "acme/widget", "iid": made.structured["data"]["iid"]});
    let read = client.call(EXECUTE, json!({"action": "issue.get", "params": read}));
    let call = &read.structured["pictures"][0];
    assert!(read.text.contains(&format!("Picture: {call}")), "{}", read.text);
    let fetched = client.request("tools/call", json!({"name": call["tool"], "arguments": call["arguments"]}));
    assert_eq!(fetched["result"]["content"][1]["data"], PIXEL, "{fetched}");
    assert!(!follow(&mut client, call).is_error);
}

#[test]
fn a_resource_that_is_no_text_is_read_as_bytes() {
    let mut client = Client::sandbox();
    let uri = "gitlab://project/acme%2Fwidget/file/main/assets/logo.png";
    let answer = client.request("resources/read", json!({"uri": uri}));
    let content = &answer["result"]["contents"][0];
    assert_eq!((&content["blob"], &content["mimeType"]), (&json!(PIXEL), &json!("image/png")), "{answer}");

    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/raw", raw(200, "application/zip", b"PK\x03\x04\0\0".to_vec()));
    let answer = gitlab.client(&[]).request("resources/read", json!({"uri": uri}));
    let content = &answer["result"]["contents"][0];
    assert_eq!(content["blob"], STANDARD.encode(b"PK\x03\x04\0\0"), "{answer}");
    assert_eq!(content["mimeType"], "application/zip");
}
