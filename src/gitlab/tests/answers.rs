//! Successful responses: content types, file names, pagination.

use serde_json::Value;

use super::super::{Applied, Content, Page, Unread};
use super::*;

fn raw_body(status: u16, content_type: &str, body: &[u8]) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_raw(body, content_type)
}

async fn content(template: ResponseTemplate) -> Content {
    answered(&get(PATH), template).await.unwrap().content
}

#[tokio::test]
async fn json_is_recognized_by_type_or_content() {
    let json_null = content(raw_body(200, "application/json", b"null")).await;
    assert_eq!(json_null, Content::Json(Value::Null));
    let problem = content(raw_body(200, "application/problem+json; charset=utf-8", b"[1]")).await;
    assert_eq!(problem, Content::Json(json!([1])));
    for content_type in ["text/plain", "application/octet-stream", ""] {
        let untyped = content(raw_body(200, content_type, b"\xef\xbb\xbf {\"a\":  1}")).await;
        assert_eq!(untyped, Content::Json(json!({"a": 1})), "{content_type}");
    }
    // A file that happens to be JSON is returned as text.
    let path = "/api/v4/projects/1/jobs/7/artifacts/out.json";
    let template = raw_body(200, "application/json", b"{\"a\":  1}");
    let file = answered(&get(path), template).await.unwrap().content;
    assert_eq!(file, Content::Text("{\"a\":  1}".to_owned()));
}

#[tokio::test]
async fn a_read_with_garbled_json_fails() {
    for body in [&b"{\"iid\":1,\"ti"[..], b"[{}", b"<h1>"] {
        let error = answered(&get(PATH), raw_body(200, "application/json", body)).await.unwrap_err();
        assert!(matches!(error, GitlabError::Malformed { applied: Applied::No, .. }), "{error}");
    }
}

#[tokio::test]
async fn a_change_without_gitlab_headers_has_an_unknown_outcome() {
    let error = answered(&post(), raw_body(201, "application/json", b"{\"id\": 1,")).await.unwrap_err();
    assert!(matches!(error, GitlabError::Malformed { applied: Applied::Unknown, .. }), "{error}");
    let page = raw_body(200, "text/html", b"<title>Sign in</title>").insert_header("x-request-id", "01ABC");
    let error = answered(&post(), page).await.unwrap_err();
    assert!(matches!(error, GitlabError::NotGitlab { applied: Applied::Unknown, .. }), "{error}");
}

#[tokio::test]
async fn not_modified_is_a_success() {
    let reply = answered(&post(), ResponseTemplate::new(304)).await.unwrap();
    assert_eq!((reply.status, reply.content), (304, Content::Empty));
    let error = answered(&get(PATH), ResponseTemplate::new(304)).await.unwrap_err();
    assert_eq!(error.status(), Some(304));
}

#[tokio::test]
async fn a_created_object_with_an_unreadable_body_is_a_success() {
    let nested = "[".repeat(5000);
    for body in [b"{\"id\": 1,", nested.as_bytes()] {
        let broken = raw_body(201, "application/json", body).insert_header("x-request-id", "01ABC");
        let reply = answered(&post(), broken).await.unwrap();
        assert_eq!((reply.status, reply.content), (201, Content::Unread(Unread::Malformed)));
    }
    let reply = answered(&post(), raw_body(201, "application/json", b"")).await.unwrap();
    assert_eq!(reply.content, Content::Empty);
    let reply = answered(&post(), ResponseTemplate::new(204)).await.unwrap();
    assert_eq!(reply.content, Content::Empty);
}

#[tokio::test]
async fn text_and_binary_bodies_are_distinguished() {
    let text = content(raw_body(200, "application/octet-stream", "grün".as_bytes())).await;
    assert_eq!(text, Content::Text("grün".to_owned()));
    let log = content(raw_body(200, "text/plain; charset=UTF-8", b"a\0b")).await;
    assert_eq!(log, Content::Text("a\0b".to_owned()));

    let every_byte: Vec<u8> = (0..=255).collect();
    let disposition = "attachment; filename=\"plain.zip\"; filename*=UTF-8''..%2Fgr%C3%BCn%20a.zip";
    let template =
        raw_body(200, "application/zip", &every_byte).insert_header("content-disposition", disposition);
    let reply = answered(&get(PATH), template).await.unwrap();
    let wanted = Content::Binary {
        bytes: every_byte.clone(),
        content_type: "application/zip".to_owned(),
        filename: Some("grün a.zip".to_owned()),
    };
    assert_eq!((reply.content, reply.bytes), (wanted, 256));

    for (content_type, body) in [("text/plain", b"\xff\xfe".as_slice()), ("application/x-tar", b"a\0b")] {
        let Content::Binary { bytes, .. } = content(raw_body(200, content_type, body)).await else {
            panic!("{content_type} is binary here");
        };
        assert_eq!(bytes, body);
    }
}

#[test]
fn file_names_have_no_directories() {
    let of = super::super::content_disposition::filename;
    let cases = [
        ("attachment; filename=a.txt", Some("a.txt")),
        ("attachment; filename=\"a; b \\\"c\\\".txt\"", Some("a; b \"c\".txt")),
        ("attachment; filename=\"../../etc/passwd\"", Some("passwd")),
        ("attachment; filename=\"C:\\\\dir\\\\a.txt\"", Some("a.txt")),
        ("attachment; filename*=ISO-8859-1''a; filename=b", Some("b")),
        ("attachment; filename=\"..\"", None),
        ("inline", None),
        ("", None),
    ];
    for (header, name) in cases {
        assert_eq!(of(header).as_deref(), name, "{header}");
    }
}

#[tokio::test]
async fn an_oversized_body_fails_a_read_but_not_a_change() {
    let large = || raw_body(200, "text/plain", &[b'a'; 2000]);
    let send = async |call: &Permit, template: ResponseTemplate| {
        let server = always(template).await;
        client(ClientSettings { max_body: 1000, ..settings(&server.uri()) }).send(call).await
    };
    let error = send(&get(PATH), large()).await.unwrap_err();
    assert!(matches!(error, GitlabError::TooLarge { limit: 1000, size: Some(2000), .. }), "{error:?}");
    let reply = send(&post(), large()).await.unwrap();
    assert_eq!(reply.content, Content::Unread(Unread::TooLarge { limit: 1000 }));
    let graphql = permit(Risk::Write, Method::Post, "/api/graphql", &[], Body::Json(json!({})));
    let error = send(&graphql, large()).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Unknown);
    assert!(send(&get(PATH), raw_body(200, "text/plain", &[b'a'; 1000])).await.is_ok());
}

#[tokio::test]
async fn a_body_without_a_length_is_capped_while_it_streams() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/plain\r\n\r\n\
                   8\r\naaaaaaaa\r\n8\r\naaaaaaaa\r\n";
    let base = raw(vec![chunked]).await;
    let error =
        client(ClientSettings { max_body: 10, ..settings(&base) }).send(&get(PATH)).await.unwrap_err();
    assert!(matches!(error, GitlabError::TooLarge { limit: 10, size: None, .. }), "{error:?}");
}

#[tokio::test]
async fn gzip_is_decoded() {
    // `printf '{"a":1}' | gzip -n9`
    let zipped =
        [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 74, 84, 178, 50, 172, 5, 0, 175, 172, 27, 86, 7, 0, 0, 0];
    let template = raw_body(200, "application/json", &zipped).insert_header("content-encoding", "gzip");
    let reply = answered(&get(PATH), template).await.unwrap();
    assert_eq!((reply.content, reply.bytes), (Content::Json(json!({"a": 1})), 7));
}

#[tokio::test]
async fn a_head_request_returns_gitlab_headers() {
    let template = ResponseTemplate::new(200)
        .insert_header("x-gitlab-size", "1476")
        .insert_header("x-gitlab-file-name", "a.rb")
        .insert_header("x-request-id", "01ABC")
        .insert_header("etag", "W/\"1\"");
    let head = permit(Risk::Read, Method::Head, PATH, &[], Body::Empty);
    let reply = answered(&head, template).await.unwrap();
    let headers: Vec<_> = reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("x-gitlab-file-name", "a.rb"), ("x-gitlab-size", "1476")]);
    assert_eq!(reply.request_id.as_deref(), Some("01ABC"));
    assert_eq!(reply.content, Content::Empty);
}

async fn page(query: &[(&str, &str)], headers: &[(&str, &str)]) -> Page {
    let call = permit(Risk::Read, Method::Get, PATH, query, Body::Empty);
    let mut template = ResponseTemplate::new(200).set_body_json(json!([]));
    for (name, value) in headers {
        template = template.append_header(*name, *value);
    }
    answered(&call, template).await.unwrap().page
}

#[tokio::test]
async fn pages_are_read_from_headers() {
    let link = "<https://elsewhere.example/api/v4/projects?page=1&per_page=20>; rel=\"first\", \
                <https://elsewhere.example/x?page=3&per_page=20&labels%5B%5D=a%2Cb>; rel=\"next\"";
    let headers = [
        ("x-page", "2"),
        ("x-per-page", "20"),
        ("x-next-page", "3"),
        ("x-total", "57"),
        ("x-total-pages", "3"),
        ("link", link),
    ];
    let read = page(&[("labels[]", "a,b"), ("page", "2")], &headers).await;
    let next = [("page", "3"), ("per_page", "20")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let wanted = Page {
        page: Some(2),
        per_page: Some(20),
        next_page: Some(3),
        total: Some(57),
        total_pages: Some(3),
        next_query: Some(next.to_vec()),
        ..Page::default()
    };
    assert_eq!(read, wanted);
}

#[tokio::test]
async fn a_keyset_page_has_only_a_link() {
    let link =
        "</api/v4/projects?cursor=eyJ%3D&pagination=keyset>; title=\"a, <b>; rel=last\"; rel=\"prev NEXT\"";
    let read = page(&[("pagination", "keyset")], &[("x-next-page", ""), ("link", link)]).await;
    let next_query = Some(vec![("cursor".to_owned(), "eyJ=".to_owned())]);
    assert_eq!(read, Page { next_query, ..Page::default() });
}

#[tokio::test]
async fn the_last_page_and_invalid_links_have_no_next() {
    for link in ["<https://a.example/?page=1>; rel=first", "", "nonsense", "<", "<a>", "<http://[>; rel=next"]
    {
        assert_eq!(page(&[], &[("link", link), ("x-total", "many")]).await, Page::default(), "{link}");
    }
}
