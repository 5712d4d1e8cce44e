//! Standard output of all commands but the server.

use std::io::{self, BufWriter, Stdout, Write};

/// Writer that ignores a closed pipe, so that `catalog list | head` succeeds.
#[derive(Debug)]
pub struct Output<W>(W);

impl Output<BufWriter<Stdout>> {
    /// Buffered standard output.
    pub fn stdout() -> Output<BufWriter<Stdout>> {
        Output(BufWriter::new(io::stdout()))
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        forgive(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        forgive(self.0.flush(), ())
    }
}

fn forgive<T>(outcome: io::Result<T>, instead: T) -> io::Result<T> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(instead),
        outcome => outcome,
    }
}
