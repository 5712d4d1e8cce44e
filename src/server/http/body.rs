//! Bounds on the body of a request: size, time and memory.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use bytes::Bytes;
use http_body_util::BodyExt;

use super::pools::BodyMemory;

/// Maximum size of a request body in bytes: a file of 4 MiB in base64, and its call.
pub(super) const MAX_BODY: usize = 6 * 1024 * 1024;

/// Time within which a body has to arrive.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);

/// Maximum number of JSON values in a body, as in an answer of GitLab (`gitlab::json`).
const MAX_VALUES: usize = 125_000;

/// Memory of a JSON value beside its text, in bytes: of `serde_json::Value`, which rmcp parses a message to.
const VALUE_BYTES: usize = 96;

/// A body that was not read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body is larger than {MAX_BODY} bytes")]
    TooLarge,
    #[error("the body has more than {MAX_VALUES} JSON values")]
    TooManyValues,
    #[error("the body did not arrive within {} seconds", BODY_TIME.as_secs())]
    Slow,
    #[error("the body ended early")]
    Broken,
    #[error("too many large request bodies at the same time: send it again in a second")]
    NoMemory,
}

/// Reads the whole body, and takes the memory for it and its values. One that is announced as too large is refused
/// before any of it is read.
pub(super) async fn read_body(
    headers: &HeaderMap,
    body: Body,
    memory: &mut BodyMemory,
) -> Result<Bytes, BodyError> {
    let announced =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MAX_BODY) {
        return Err(BodyError::TooLarge);
    }
    let read = tokio::time::timeout(BODY_TIME, collect(body, memory));
    let bytes = read.await.unwrap_or(Err(BodyError::Slow))?;
    let values = count_values(&bytes);
    if values > MAX_VALUES {
        return Err(BodyError::TooManyValues);
    }
    match memory.reserve(bytes.len() + values * VALUE_BYTES) {
        true => Ok(bytes),
        false => Err(BodyError::NoMemory),
    }
}

async fn collect(mut body: Body, memory: &mut BodyMemory) -> Result<Bytes, BodyError> {
    let (mut collected, mut size, mut has_memory) = (Vec::new(), 0, true);
    while let Some(frame) = body.frame().await {
        // Trailers are of no use here.
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        size += data.len();
        if size > MAX_BODY {
            return Err(BodyError::TooLarge);
        }
        has_memory = has_memory && memory.reserve(size);
        match has_memory {
            true => collected.extend_from_slice(&data),
            // The rest is read and dropped: a client that is still sending would not see the response.
            false => {
                collected = Vec::new();
                memory.release();
            }
        }
    }
    if has_memory { Ok(collected.into()) } else { Err(BodyError::NoMemory) }
}

/// The number of JSON values in a text, keys included, without parsing it: each but the first follows a bracket, a
/// comma or a colon outside of strings.
fn count_values(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' | b',' | b':' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io;

    use axum::http::HeaderValue;
    use futures_util::{StreamExt, stream};
    use tokio::time::Instant;

    use super::super::pools::Pools;
    use super::*;

    async fn read(body: Body) -> Result<usize, BodyError> {
        let mut memory = BodyMemory::new(&[&Pools::of_caller()]);
        Ok(read_body(&HeaderMap::new(), body, &mut memory).await?.len())
    }

    /// A body of chunks of this size, without an announced length.
    fn chunks(size: usize, count: usize) -> Body {
        let chunk = Bytes::from(vec![b'x'; size]);
        Body::from_stream(stream::iter((0..count).map(move |_| Ok::<_, Infallible>(chunk.clone()))))
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit() {
        assert_eq!(read(chunks(1024, 6 * 1024)).await, Ok(MAX_BODY));
        assert_eq!(read(chunks(1024, 6 * 1024 + 1)).await, Err(BodyError::TooLarge));
        let announced = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from(MAX_BODY + 1))]);
        let unread = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let mut memory = BodyMemory::new(&[]);
        assert_eq!(read_body(&announced, unread, &mut memory).await.unwrap_err(), BodyError::TooLarge);
    }

    #[tokio::test]
    async fn a_body_that_ends_early_is_broken() {
        let parts = [Ok(Bytes::from_static(b"{")), Err(io::Error::other("length limit exceeded"))];
        assert_eq!(read(Body::from_stream(stream::iter(parts))).await, Err(BodyError::Broken));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_given_up() {
        let started = Instant::now();
        let drip = stream::repeat(Bytes::from_static(b" ")).then(|byte| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>(byte)
        });
        assert_eq!(read(Body::from_stream(drip)).await, Err(BodyError::Slow));
        assert_eq!(started.elapsed().as_secs(), BODY_TIME.as_secs());
    }

    #[tokio::test]
    async fn a_body_of_too_many_values_is_refused() {
        let list = |count: usize| Body::from(format!("[{}0]", "0,".repeat(count - 1)));
        assert!(read(list(MAX_VALUES - 1)).await.is_ok());
        assert_eq!(read(list(MAX_VALUES)).await, Err(BodyError::TooManyValues));
        let text = "[{,:".repeat(MAX_VALUES);
        assert!(read(Body::from(format!("{{\"a\": \"\\\"{text}\"}}"))).await.is_ok(), "in a string");
        let after = format!("[\"\\\\\"{}]", ",0".repeat(MAX_VALUES));
        assert_eq!(read(Body::from(after)).await, Err(BodyError::TooManyValues), "after a string");
    }

    #[tokio::test]
    async fn the_values_of_a_body_take_memory() {
        let pools = Pools::of_caller();
        let list = || Body::from(format!("[{}0]", "0,".repeat(100_000)));
        let mut kept = Vec::new();
        for expected in [true, false] {
            let mut memory = BodyMemory::new(&[&pools]);
            let read = read_body(&HeaderMap::new(), list(), &mut memory).await;
            assert_eq!(read.is_ok(), expected, "{read:?}");
            assert!(expected || read == Err(BodyError::NoMemory));
            kept.push(memory);
        }
    }
}
