//! Time to present the largest bodies that are read (64 MiB), in the shapes that cost most. A text without line ends, of
//! escapes or of token prefixes; JSON with few long keys, many keys, long names, many requested fields. Each answer is
//! asserted before its time counts, and no time may exceed a generous bound: a shape that takes quadratic time takes
//! hours.
//!
//! `cargo bench --bench present`

use std::time::{Duration, Instant};

use gitlab_mcp::present::{ContentKind, GivenContent, Options, present};
use gitlab_mcp::untrusted::Secrets;
use serde_json::{Map, Value, json};

/// Size in bytes of a body.
const SIZE: usize = 64 * 1024 * 1024;

/// Longest time accepted. The longest measured is 3.2 s, on a busy machine with two cores.
const BOUND: Duration = Duration::from_secs(20);

/// Default of `GITLAB_MAX_BYTES`.
const BUDGET: usize = 16_000;

/// Token of these answers.
const TOKEN: &str = "glpat-own-token-0123";

/// A unit repeated up to the size of a body.
fn repeated(unit: &str) -> String {
    unit.repeat(SIZE / unit.len())
}

fn text(unit: &str) -> GivenContent {
    GivenContent::Text(repeated(unit))
}

/// A text that is read as a job's log.
fn log(unit: &str) -> GivenContent {
    GivenContent::Text(format!("\u{1b}[0K{}", repeated(unit)))
}

/// An object with so many keys, which together have the size of a body.
fn keys(count: usize) -> Map<String, Value> {
    (0..count).map(|n| (format!("{n}{}", "x".repeat(SIZE / count)), json!(1))).collect()
}

/// An object of one key that is as long as half of a body.
fn below_long_key(ending: &str, value: Value) -> GivenContent {
    GivenContent::Json(json!({format!("{}{ending}", "x".repeat(SIZE / 2)): value}))
}

fn small_keys(ending: &str) -> Value {
    (0..60_000).map(|n| (format!("k{n}{ending}"), json!("abc"))).collect::<Map<_, _>>().into()
}

fn rows_with_long_keys() -> GivenContent {
    let row = |n: usize| {
        let at = format!("a{n}");
        json!({"webUrl": format!("https://x/{at}/{at}"), format!("k{n}{}", "x".repeat(SIZE / 6_000)): 1,
            "iid": at, "shortId": at, "id": at, "tagName": at, "name": at, "fullPath": at})
    };
    GivenContent::Json((0..6_000).map(row).collect())
}

/// A name and what makes the body.
type Shape = (&'static str, fn() -> GivenContent);

fn shapes() -> Vec<Shape> {
    vec![
        ("plain lines", || text("all is well\n")),
        ("line ends", || text("\n")),
        ("one line", || text("x")),
        ("backslashes", || text("\\")),
        ("escaped letters", || text("\\u0067")),
        ("ampersands", || text("&")),
        ("references", || text("&a")),
        ("percent signs", || text("%6")),
        ("invisible", || text("g\u{200b}")),
        ("prefixes of tokens", || text("glpat-")),
        ("tokens", || text("glpat-0123456789abcdefABCD ")),
        ("closing tags", || text("</gitlab x>")),
        ("terminal codes", || log("\u{1b}[31mred\u{1b}[0m\n")),
        ("carriage returns", || log("\r")),
        ("section marks", || log("section_start:1:")),
        ("starts of marks", || log("section_")),
        ("one string", || GivenContent::Json(json!({"a": repeated("x")}))),
        ("long strings", || GivenContent::Json(json!([[repeated("\\")]]))),
        ("one key", || GivenContent::Json(json!({repeated("x"): 1}))),
        ("keys", || GivenContent::Json(keys(60_000).into())),
        ("a row of keys", || {
            let mut row = keys(60_000);
            row.insert("web_url".to_owned(), json!("https://x/1"));
            GivenContent::Json(json!([row]))
        }),
        ("rows with long keys", rows_with_long_keys),
        ("names", || {
            let names =
                |n: usize| json!({"web_url": "https://x/1", "iid": n, "labels": vec!["a ".repeat(500); 100]});
            GivenContent::Json((0..SIZE / 100_000).map(names).collect())
        }),
        ("secrets below a long key", || below_long_key("_token", json!(vec!["abc"; 60_000]))),
        ("secret keys below a long key", || below_long_key("", small_keys("_token"))),
        ("keys below a long key", || below_long_key("", small_keys(""))),
        ("variables below a long key", || {
            below_long_key(".x", json!(vec![json!({"key": 1, "value": 2}); 20_000]))
        }),
        ("prefixes in strings", || GivenContent::Json(json!([vec!["glpat-".repeat(180); SIZE / 1_080]]))),
        ("missing fields", || GivenContent::Json(keys(250).into())),
    ]
}

#[allow(clippy::print_stdout)]
fn main() {
    let secrets = Secrets::new([TOKEN]);
    let fields: Vec<String> = (0..200).map(|n| format!("no{n}")).collect();
    let mut longest = (Duration::ZERO, "");
    for (name, make) in shapes() {
        let options = Options {
            fields: if name == "missing fields" { &fields } else { &[] },
            ..Options::new(ContentKind::default(), BUDGET, &secrets)
        };
        let content = make();
        let start = Instant::now();
        let shown = present(content, &options);
        let took = start.elapsed();
        // Escapes take more bytes than what they stand for.
        let bytes = shown.data.to_string().len();
        assert!(bytes <= 3 * BUDGET, "{name}: {bytes} bytes");
        assert!(took < BOUND, "{name} took {took:?}");
        println!("{name:<30} {took:>8.1?}");
        longest = longest.max((took, name));
    }
    println!("the longest: {}, {:.1?}", longest.1, longest.0);
}
