//! Evaluation metrics of a set of requests, from the ranks of their right actions.

use std::fmt;

use serde::{Deserialize, Serialize};

use gitlab_mcp::search::Confidence;

/// Shares of the requests, each between 0 and 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub requests: usize,
    pub first: f64,
    pub in_three: f64,
    pub in_five: f64,
    pub in_ten: f64,
    /// Mean reciprocal rank of the right action.
    pub reciprocal_rank: f64,
    /// Share of requests with high confidence, and precision of those.
    pub sure: f64,
    pub sure_and_right: f64,
}

/// Requests counted so far.
#[derive(Clone, Debug, Default)]
pub struct FigureCounts(Figures);

impl FigureCounts {
    /// Counts a request by the rank of its right action, from 0.
    pub fn note(&mut self, place: Option<usize>, confidence: Confidence) {
        let within = |depth: usize| f64::from(u8::from(place.is_some_and(|place| place < depth)));
        let figures = &mut self.0;
        figures.requests += 1;
        figures.first += within(1);
        figures.in_three += within(3);
        figures.in_five += within(5);
        figures.in_ten += within(10);
        figures.reciprocal_rank += place.map_or(0.0, |place| 1.0 / (place + 1) as f64);
        if confidence == Confidence::High {
            figures.sure += 1.0;
            figures.sure_and_right += within(1);
        }
    }

    /// The counts as shares.
    pub fn figures(self) -> Figures {
        let counted = self.0;
        let requests = counted.requests.max(1) as f64;
        Figures {
            requests: counted.requests,
            first: counted.first / requests,
            in_three: counted.in_three / requests,
            in_five: counted.in_five / requests,
            in_ten: counted.in_ten / requests,
            reciprocal_rank: counted.reciprocal_rank / requests,
            sure: counted.sure / requests,
            sure_and_right: counted.sure_and_right / counted.sure.max(1.0),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| share * 100.0;
        write!(
            f,
            "{:5} requests  first {:5.1} %  in three {:5.1} %  in five {:5.1} %  in ten {:5.1} %  MRR {:.3}",
            self.requests,
            percent(self.first),
            percent(self.in_three),
            percent(self.in_five),
            percent(self.in_ten),
            self.reciprocal_rank
        )?;
        if self.sure > 0.0 {
            write!(f, "  sure of {:.1} %, right {:.1} %", percent(self.sure), percent(self.sure_and_right))?;
        }
        Ok(())
    }
}
