//! What an evaluation found, to read and as JSON.

use std::fmt;

use serde::Serialize;

use crate::search::Confidence;

/// The figures of every file.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How many actions the catalog has.
    pub actions: usize,
    pub sets: Vec<SetReport>,
}

/// The figures of one file. Shares are of the answerable requests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetReport {
    pub name: String,
    pub requests: usize,
    /// Requests that only actions outside the catalog could answer; in no other figure.
    pub not_answerable: usize,
    pub first: f64,
    pub in_three: f64,
    pub in_five: f64,
    pub in_ten: f64,
    /// The mean of one over the place of the right answer.
    pub reciprocal_rank: f64,
    /// The share of the requests answered as sure, and of the sure answers that were right.
    pub sure: f64,
    pub sure_and_right: f64,
    pub p50_micros: u128,
    pub p99_micros: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<usize>,
    /// Every request whose right answer was not the first.
    pub misses: Vec<Miss>,
    #[serde(skip)]
    pub(super) micros: Vec<u128>,
    #[serde(skip)]
    pub(super) bytes: Vec<usize>,
}

/// A request whose right answer was not the first.
#[derive(Clone, Debug, Serialize)]
pub struct Miss {
    pub request: String,
    pub wanted: Vec<String>,
    /// The first answers.
    pub got: Vec<String>,
    /// Where the right answer stood, from 0; none where it was not among the answers looked at.
    pub place: Option<usize>,
}

impl SetReport {
    pub(super) fn new(name: String) -> SetReport {
        SetReport { name, ..SetReport::default() }
    }

    /// Counts a request by the place of its right answer; `finish` makes the counts shares.
    pub(super) fn note(&mut self, place: Option<usize>, confidence: Confidence, miss: impl FnOnce() -> Miss) {
        self.requests += 1;
        let within = |depth: usize| f64::from(u8::from(place.is_some_and(|place| place < depth)));
        self.first += within(1);
        self.in_three += within(3);
        self.in_five += within(5);
        self.in_ten += within(10);
        self.reciprocal_rank += place.map_or(0.0, |place| 1.0 / (place + 1) as f64);
        if confidence == Confidence::High {
            self.sure += 1.0;
            self.sure_and_right += within(1);
        }
        if place != Some(0) {
            self.misses.push(miss());
        }
    }

    pub(super) fn finish(&mut self) {
        let requests = self.requests.max(1) as f64;
        self.sure_and_right /= self.sure.max(1.0);
        for count in [
            &mut self.first,
            &mut self.in_three,
            &mut self.in_five,
            &mut self.in_ten,
            &mut self.reciprocal_rank,
            &mut self.sure,
        ] {
            *count /= requests;
        }
        self.micros.sort_unstable();
        self.bytes.sort_unstable();
        self.p50_micros = quantile(&self.micros, 0.5).unwrap_or_default();
        self.p99_micros = quantile(&self.micros, 0.99).unwrap_or_default();
        self.p50_bytes = quantile(&self.bytes, 0.5);
        self.most_bytes = self.bytes.last().copied();
    }
}

fn quantile<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} actions", self.actions)?;
        self.sets.iter().try_for_each(|set| write!(f, "\n{set}"))
    }
}

impl fmt::Display for SetReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} requests, {} not answerable", self.name, self.requests, self.not_answerable)?;
        let percent = |share: f64| share * 100.0;
        writeln!(
            f,
            "  first {:.1} %  in three {:.1} %  in five {:.1} %  in ten {:.1} %  MRR {:.3}",
            percent(self.first),
            percent(self.in_three),
            percent(self.in_five),
            percent(self.in_ten),
            self.reciprocal_rank
        )?;
        writeln!(
            f,
            "  sure of {:.1} %, of which right {:.1} %",
            percent(self.sure),
            percent(self.sure_and_right)
        )?;
        writeln!(f, "  p50 {} µs  p99 {} µs", self.p50_micros, self.p99_micros)?;
        if let (Some(half), Some(most)) = (self.p50_bytes, self.most_bytes) {
            writeln!(f, "  answers: half at most {half} bytes, none over {most}")?;
        }
        self.misses.iter().try_for_each(|miss| writeln!(f, "  {miss}"))
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.map_or("-".to_owned(), |place| (place + 1).to_string());
        write!(
            f,
            "[{place}] {}\n      wanted {}\n      got {}",
            self.request,
            self.wanted.join(" | "),
            self.got.join(", ")
        )
    }
}
