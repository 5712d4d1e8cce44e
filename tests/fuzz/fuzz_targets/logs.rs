//! Texts: logs with escapes, progress bars and section marks, files, diffs. The continuations of a text cover it once.

#![no_main]

mod shown;

use gitlab_mcp::present::{ContentKind, GivenContent, Options, present, text_of};
use gitlab_mcp::text::Position;
use gitlab_mcp::untrusted::Secrets;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data).into_owned();
    let _ = text_of(data, "text/plain");
    for log in [false, true] {
        let mut place = Some(Position::Beginning);
        let (mut read, mut rounds) = (0, 0);
        while let Some(at) = place {
            let kind = ContentKind { log, ..ContentKind::default() };
            let options = Options { place: Some(at), ..Options::new(kind, 300, Secrets::NONE) };
            let presented = present(GivenContent::Text(text.clone()), &options);
            shown::sound(&presented);
            // Without a cut, all of it was shown.
            let Some(window) = presented.cut.into_iter().next().map(|cut| cut.window) else { break };
            assert_eq!(window.bytes.start, read, "a continuation begins at the end of the previous part");
            assert!(window.bytes.end > read || window.next.is_none(), "a continuation advances");
            read = window.bytes.end;
            place = window.next;
            rounds += 1;
            assert!(rounds <= text.len() + 2);
        }
    }
});
