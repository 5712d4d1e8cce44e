//! Report of an evaluation, as text and JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::figures::Figures;

/// The figures of every file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Number of actions in the catalog.
    pub actions: usize,
    pub sets: Vec<SetReport>,
}

/// The figures of one file. Shares are of the answerable requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SetReport {
    /// The file's name without its extension.
    pub name: String,
    #[serde(flatten)]
    pub all: Figures,
    /// The same by kind of request, if there are several.
    #[serde(default)]
    pub kinds: BTreeMap<String, Figures>,
    /// The same for the baselines.
    #[serde(default)]
    pub baselines: BTreeMap<String, Figures>,
    /// Requests whose right actions are all missing from the catalog; counted in no other figure.
    #[serde(default)]
    pub not_answerable: usize,
    /// Out-of-domain requests, and how many of them got no result.
    #[serde(default)]
    pub nothing: usize,
    #[serde(default)]
    pub nothing_said: usize,
    /// Harmless requests, and those with a destructive first result.
    #[serde(default)]
    pub harmless: usize,
    #[serde(default)]
    pub harmed: Vec<String>,
    #[serde(default, skip_serializing_if = "Timing::is_none")]
    pub timing: Timing,
    /// Every request whose right action was not ranked first.
    #[serde(default)]
    pub misses: Vec<Miss>,
}

/// Latency and size; differ from run to run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Timing {
    pub p50_micros: u128,
    pub p99_micros: u128,
    pub p50_bytes: Option<usize>,
    pub most_bytes: Option<usize>,
}

/// A request whose right action was not ranked first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Miss {
    pub request: String,
    pub kind: String,
    pub wanted: Vec<String>,
    /// The first results.
    pub got: Vec<String>,
    /// Rank of the right action, from 0; `None` if it was not among the evaluated results.
    pub place: Option<usize>,
    /// True if the result had high confidence.
    pub sure: bool,
}

impl Report {
    /// Removes the figures that differ from run to run.
    pub fn forget_requests(&mut self) {
        for set in &mut self.sets {
            set.misses.clear();
            set.timing = Timing::default();
        }
    }
}

impl Timing {
    /// Computes the timing from the microseconds and bytes of each result.
    pub(super) fn new(mut micros: Vec<u128>, mut bytes: Vec<usize>) -> Timing {
        micros.sort_unstable();
        bytes.sort_unstable();
        Timing {
            p50_micros: quantile(&micros, 0.5).unwrap_or_default(),
            p99_micros: quantile(&micros, 0.99).unwrap_or_default(),
            p50_bytes: quantile(&bytes, 0.5),
            most_bytes: bytes.last().copied(),
        }
    }

    fn is_none(&self) -> bool {
        self.p99_micros == 0
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
        write!(f, "{}", self.name)?;
        if self.not_answerable > 0 {
            write!(f, ", {} more that no action answers", self.not_answerable)?;
        }
        writeln!(f)?;
        let mut line = |name: &str, figures: &Figures| writeln!(f, "  {name:<12}{figures}");
        let kinds = self.kinds.iter().filter(|_| self.kinds.len() > 1);
        let all = [("all", &self.all)].into_iter().filter(|(_, all)| all.requests > 0);
        for (name, figures) in all.chain(kinds.chain(&self.baselines).map(|(name, of)| (name.as_str(), of))) {
            if figures.requests > 0 {
                line(name, figures)?;
            }
        }
        if self.nothing > 0 {
            writeln!(f, "  of {} out-of-domain requests, {} were refused", self.nothing, self.nothing_said)?;
        }
        if self.harmless > 0 {
            writeln!(
                f,
                "  of {} harmless requests, {} had a destructive first result",
                self.harmless,
                self.harmed.len()
            )?;
            self.harmed.iter().try_for_each(|request| writeln!(f, "      {request}"))?;
        }
        let Timing { p50_micros, p99_micros, p50_bytes, most_bytes } = &self.timing;
        if !self.timing.is_none() {
            writeln!(f, "  p50 {p50_micros} µs  p99 {p99_micros} µs")?;
        }
        if let (Some(half), Some(most)) = (p50_bytes, most_bytes) {
            writeln!(f, "  answers: half at most {half} bytes, none over {most}")?;
        }
        self.misses.iter().try_for_each(|miss| writeln!(f, "  {miss}"))
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "[{}{}] {}\n      wanted {}\n      got {}",
            format_rank(self.place),
            if self.sure { ", sure" } else { "" },
            self.request,
            self.wanted.join(" | "),
            self.got.join(", ")
        )
    }
}

/// A rank counted from 1, or a dash.
pub(super) fn format_rank(place: Option<usize>) -> String {
    place.map_or("-".to_owned(), |place| (place + 1).to_string())
}
