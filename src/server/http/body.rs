//! Bounds on the body of a request: size and time.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// Maximum size of a request body in bytes: a file of 4 MiB in base64, and its call.
pub(super) const MAX_BODY: usize = 6 * 1024 * 1024;

/// Time within which a body has to arrive.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);

/// A body that was not read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body is larger than {MAX_BODY} bytes")]
    TooLarge,
    #[error("the body did not arrive within {} seconds", BODY_TIME.as_secs())]
    Slow,
    #[error("the body ended early")]
    Broken,
}

/// Reads the whole body. One that is announced as too large is refused before any of it is read.
pub(super) async fn read_body(headers: &HeaderMap, body: Body) -> Result<Bytes, BodyError> {
    let announced =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MAX_BODY) {
        return Err(BodyError::TooLarge);
    }
    match tokio::time::timeout(BODY_TIME, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Ok(Err(_)) => Err(BodyError::Broken),
        Err(_) => Err(BodyError::Slow),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io;

    use axum::http::HeaderValue;
    use futures_util::{StreamExt, stream};
    use tokio::time::Instant;

    use super::*;

    async fn read(body: Body) -> Result<usize, BodyError> {
        Ok(read_body(&HeaderMap::new(), body).await?.len())
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
        assert_eq!(read_body(&announced, unread).await.unwrap_err(), BodyError::TooLarge);
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
}
