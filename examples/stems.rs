//! Prints the stems that the finder hears in each line of standard input. The senses and deeds are learnt by them:
//! tools/learn runs this.

use std::error::Error;
use std::io::{BufRead, BufWriter, Write};

use gitlab_mcp::catalog::Catalog;
use gitlab_mcp::search::Ranker;

fn main() -> Result<(), Box<dyn Error>> {
    let ranker = Ranker::open(&Catalog::embedded()?)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", ranker.stems(&line?).join(" "))?;
    }
    Ok(out.flush()?)
}
