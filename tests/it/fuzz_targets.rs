//! The targets of `tests/fuzz` on mutated seeds, without a fuzzer: each compiles, and its properties hold. `FUZZ_SECONDS`
//! sets the time for each target.

#![allow(clippy::duplicate_mod, reason = "each target is a program of its own and has its own copy")]

#[path = "../fuzz/fuzz_targets/documents.rs"]
#[allow(unused_attributes, reason = "an attribute for a program of its own")]
mod documents;
#[path = "../fuzz/fuzz_targets/logs.rs"]
#[allow(unused_attributes, reason = "an attribute for a program of its own")]
mod logs;
#[path = "../fuzz/fuzz_targets/params.rs"]
#[allow(unused_attributes, reason = "an attribute for a program of its own")]
mod params;
#[path = "../fuzz/fuzz_targets/references.rs"]
#[allow(unused_attributes, reason = "an attribute for a program of its own")]
mod references;
#[path = "../fuzz/fuzz_targets/replies.rs"]
#[allow(unused_attributes, reason = "an attribute for a program of its own")]
mod replies;
#[path = "../fuzz/fuzz_targets/stdin.rs"]
#[allow(unused_attributes, reason = "an attribute for a program of its own")]
mod stdin;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Inputs of each target without `FUZZ_SECONDS`.
const INPUTS: usize = 300;

/// Texts that mutations insert: delimiters and escapes of paths, documents, logs and tags.
const TOKENS: [&[u8]; 40] = [
    b"/",
    b"%2F",
    b"%252f",
    b"..",
    b".",
    b"#",
    b"!",
    b"&",
    b"@",
    b"%",
    b"?",
    b"\\",
    b"//",
    b"/-/",
    b"\0",
    b"\r",
    b"\n",
    b"\r\n",
    b"\x1b[0K",
    b"\x1b[31m",
    b"section_start:1:x\r",
    b"section_end:2:x\r",
    b"</gitlab>",
    b"<gitlab",
    b"\xe2\x80\x8b",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xff",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b"null",
    b"1e3",
    b"fragment F on Query{__typename}",
    b"...F",
    b"mutation",
    b"gid://gitlab/Project/5",
];

/// A pseudo-random generator (xorshift64): the same seed gives the same inputs.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Mutates a seed: inserts tokens, flips bytes, repeats and removes parts, and splices seeds.
    fn mutate(&mut self, seeds: &[&[u8]]) -> Vec<u8> {
        let mut data = seeds[self.below(seeds.len())].to_vec();
        for _ in 0..self.below(8) {
            let at = self.below(data.len() + 1);
            let end = at + self.below(data.len() - at + 1);
            match self.below(6) {
                0 | 1 => {
                    let token = TOKENS[self.below(TOKENS.len())];
                    data.splice(at..at, token.iter().copied());
                }
                2 if at < data.len() => data[at] = self.next() as u8,
                3 => {
                    let part = data[at..end].to_vec();
                    (0..self.below(20))
                        .for_each(|_| data.splice(at..at, part.iter().copied()).for_each(drop));
                }
                4 => data.drain(at..end).for_each(drop),
                _ => {
                    let other = seeds[self.below(seeds.len())];
                    let from = self.below(other.len() + 1);
                    data.splice(at..at, other[from..].iter().copied());
                }
            }
            data.truncate(20_000);
        }
        data
    }
}

/// Runs a target on mutated seeds. A failure names the input.
fn run(target: fn(&[u8]), seeds: &[&[u8]]) {
    let time = std::env::var("FUZZ_SECONDS").ok().map(|text| Duration::from_secs(text.parse().unwrap()));
    let start = Instant::now();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut inputs = 0;
    while time.map_or(inputs < INPUTS, |time| start.elapsed() < time) {
        let input = if inputs < seeds.len() { seeds[inputs].to_vec() } else { random.mutate(seeds) };
        let outcome = catch_unwind(AssertUnwindSafe(|| target(&input)));
        assert!(outcome.is_ok(), "input {inputs}: {:?}", String::from_utf8_lossy(&input));
        inputs += 1;
    }
}

#[test]
fn references_stay_below_the_configured_url() {
    run(
        references::run,
        &[
            b"acme/widget#12",
            b"group/sub/project!45",
            b"https://gitlab.example/sub/acme/widget/-/issues/3#note_1",
            b"/projects/acme%2Fwidget/issues?state=opened",
            b"/sub/api/v4/groups/7/-/search?scope=blobs",
            b"&7",
            b"acme/widget@0123456789abcdef0123456789abcdef01234567",
            b"https://gitlab.example/sub/acme/widget/-/blob/main/src/main.rs",
        ],
    );
}

#[test]
fn parameters_build_sound_calls_or_faults() {
    run(
        params::run,
        &[
            b"\x00\x00{}",
            b"\x10\x02{\"fullPath\":\"acme/widget\",\"iid\":3}",
            b"\x33\x01{\"fullPath\":\"acme/widget\",\"title\":\"x\",\"labels\":[\"a\",\"b\"],\"not\":{\"labels\":\"c\"}}",
            b"\xff\x07{\"target\":\"acme/widget!5\",\"body\":\"/merge\"}",
            b"\x80\x04{\"calls\":[{\"action\":\"issue.get\",\"params\":{\"iid\":\"$1.iid\"}}]}",
            b"\x21\x06{\"user_id\":\"@alice\",\"due_date\":\"tomorrow\",\"access_level\":\"developer\"}",
        ],
    );
}

#[test]
fn documents_are_sent_as_they_were_decided_on() {
    run(
        documents::run,
        &[
            b"query { currentUser { username } }",
            b"mutation { issueSetConfidential(input: {projectPath: \"a/b\", iid: \"1\", confidential: true}) { errors } }",
            b"query Q($p: ID!) { project(fullPath: $p) { ...P } } fragment P on Project { id a: name # comment\n }",
            b"{ a: project(fullPath: \"acme/vault\") { issues(first: 2) { nodes { iid } pageInfo { endCursor hasNextPage } } } }",
            b"\xef\xbb\xbfsubscription { x }",
        ],
    );
}

#[test]
fn replies_are_clean_and_within_their_budget() {
    run(
        replies::run,
        &[
            b"\x00{\"id\":1,\"iid\":2,\"title\":\"x\",\"author\":{\"username\":\"a\",\"web_url\":\"https://x/a\"},\"labels\":[\"b\"]}",
            b"\x08[{\"id\":1,\"token\":\"glpat-abcdefghijklmnopqrst\"},{\"id\":2,\"value\":\"secret\",\"key\":\"K\"}]",
            b"\x2f{\"description\":\"</gitlab> a long text with\\u200b and \\u202e\",\"notes\":[{\"body\":\"x\"}]}",
            b"\x10[[1,2,[3,{\"a\":null}]],\"\\u0000\",true]",
        ],
    );
}

#[test]
fn the_parts_of_a_text_cover_it_once() {
    run(
        logs::run,
        &[
            b"section_start:1700000000:script\r\x1b[0K\x1b[36;1m$ cargo test\x1b[0;m\nerror: it failed\nsection_end:1700000009:script\r\x1b[0K\n",
            b"10 %\r20 %\r100 %\nERROR: Job failed: exit code 1\n",
            b"@@ -1,2 +1,3 @@ fn main\n a\n-b\n+c\n+d\n\\ No newline at end of file\n",
            b"plain text\r\n\r\nwith \xff bytes and a very very very very very long line without any end to it at all",
        ],
    );
}

#[test]
fn every_line_of_output_is_a_message() {
    run(
        stdin::run,
        &[
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"gitlab_find_action\",\"arguments\":{\"query\":\"x\"}}}\n",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\r\n[]\n{}\nnull\n",
        ],
    );
}
