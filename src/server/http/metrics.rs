//! Metrics in the text format of Prometheus. Labels are statuses, ids of the catalog and configured instances only:
//! their number is bounded, and none is a value of a request.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use url::Url;

use super::reachability::Probed;
use crate::tools::UpstreamCounts;

/// Upper bounds of the histogram's buckets in seconds.
const BOUNDS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// Counters of the HTTP server.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    counts: Mutex<CallCounts>,
}

#[derive(Debug, Default)]
struct CallCounts {
    /// HTTP responses by status.
    responses: BTreeMap<u16, u64>,
    /// Tool calls by tool, action and outcome.
    calls: BTreeMap<CallLabels, u64>,
    /// Durations of tool calls by tool and action.
    durations: BTreeMap<(String, String), Histogram>,
}

/// Labels of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallLabels {
    pub(super) tool: String,
    /// An id of the catalog; empty for a find, `unknown` for an id that the catalog does not have.
    pub(super) action: String,
    /// `ok`, `input_required`, or the kind of the error.
    pub(super) outcome: String,
}

#[derive(Debug, Default)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    sum: f64,
    count: u64,
}

/// State of the server that is measured when the metrics are read.
pub(super) struct Gauges<'a> {
    pub(super) callers: usize,
    pub(super) uptime: Duration,
    pub(super) upstream: Vec<(&'a Url, UpstreamCounts)>,
    pub(super) probed: Arc<Probed>,
}

impl Metrics {
    /// Records the status of a response.
    pub(super) fn record_response(&self, status: u16) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.responses.entry(status).or_default() += 1;
    }

    /// Records a tool call.
    pub(super) fn record_call(&self, labels: CallLabels, duration: Duration) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (labels.tool.clone(), labels.action.clone());
        counts.durations.entry(key).or_default().record(duration.as_secs_f64());
        *counts.calls.entry(labels).or_default() += 1;
    }

    /// Renders all metrics.
    pub(super) fn render(&self, gauges: &Gauges<'_>) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        family(&mut text, "gitlab_mcp_http_responses_total", "counter", "HTTP responses by status.");
        for (status, count) in &counts.responses {
            sample(&mut text, "gitlab_mcp_http_responses_total", &[("status", &status.to_string())], *count);
        }
        family(&mut text, "gitlab_mcp_calls_total", "counter", "Tool calls by tool, action and outcome.");
        for (labels, count) in &counts.calls {
            let CallLabels { tool, action, outcome } = labels;
            let labels = [("tool", tool.as_str()), ("action", action), ("outcome", outcome)];
            sample(&mut text, "gitlab_mcp_calls_total", &labels, *count);
        }
        family(&mut text, "gitlab_mcp_call_duration_seconds", "histogram", "Duration of tool calls.");
        for ((tool, action), histogram) in &counts.durations {
            histogram.render(&mut text, tool, action);
        }
        family(&mut text, "gitlab_mcp_upstream_responses_total", "counter", "Responses of GitLab by status.");
        for (instance, upstream) in &gauges.upstream {
            for (status, count) in &upstream.by_status {
                let labels = [("instance", instance.as_str()), ("status", &status.to_string())];
                sample(&mut text, "gitlab_mcp_upstream_responses_total", &labels, *count);
            }
        }
        let name = "gitlab_mcp_upstream_unanswered_total";
        family(&mut text, name, "counter", "Requests to GitLab without a response.");
        for (instance, upstream) in &gauges.upstream {
            sample(&mut text, name, &[("instance", instance.as_str())], upstream.unanswered);
        }
        family(
            &mut text,
            "gitlab_mcp_instance_up",
            "gauge",
            "1 if the last probe of the instance was answered.",
        );
        for (instance, _) in &gauges.upstream {
            if let Some(reachable) = gauges.probed.is_reachable(instance) {
                let labels = [("instance", instance.as_str())];
                sample(&mut text, "gitlab_mcp_instance_up", &labels, u8::from(reachable));
            }
        }
        family(&mut text, "gitlab_mcp_callers", "gauge", "Callers that the server keeps state of.");
        sample(&mut text, "gitlab_mcp_callers", &[], gauges.callers);
        family(&mut text, "gitlab_mcp_uptime_seconds", "gauge", "Time since the start.");
        sample(&mut text, "gitlab_mcp_uptime_seconds", &[], gauges.uptime.as_secs());
        family(&mut text, "gitlab_mcp_build_info", "gauge", "Version of the server.");
        sample(&mut text, "gitlab_mcp_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        text
    }
}

impl Histogram {
    fn record(&mut self, seconds: f64) {
        for (bucket, bound) in self.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
        self.sum += seconds;
        self.count += 1;
    }

    fn render(&self, text: &mut String, tool: &str, action: &str) {
        let bounds = BOUNDS.map(|bound| bound.to_string());
        let bounds = bounds.iter().map(String::as_str).chain(["+Inf"]);
        for (bound, count) in bounds.zip(self.buckets.iter().chain([&self.count])) {
            let labels = [("tool", tool), ("action", action), ("le", bound)];
            sample(text, "gitlab_mcp_call_duration_seconds_bucket", &labels, *count);
        }
        let labels = [("tool", tool), ("action", action)];
        sample(text, "gitlab_mcp_call_duration_seconds_sum", &labels, self.sum);
        sample(text, "gitlab_mcp_call_duration_seconds_count", &labels, self.count);
    }
}

// Writing to a `String` cannot fail.
fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn sample(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
    let _ = match labels.is_empty() {
        true => writeln!(text, "{name} {value}"),
        false => writeln!(text, "{name}{{{}}} {value}", labels.join(",")),
    };
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_durations_are_rendered_by_label() {
        let metrics = Metrics::default();
        metrics.record_response(200);
        metrics.record_response(200);
        let labels =
            CallLabels { tool: "t".to_owned(), action: "issue.list".to_owned(), outcome: "ok".to_owned() };
        metrics.record_call(labels.clone(), Duration::from_millis(20));
        metrics.record_call(labels, Duration::from_secs(2));
        let base = Url::parse("https://gitlab.com/").unwrap();
        let upstream = UpstreamCounts { by_status: [(404, 3)].into(), unanswered: 1 };
        let gauges = Gauges {
            callers: 2,
            uptime: Duration::from_secs(61),
            upstream: vec![(&base, upstream)],
            probed: Arc::default(),
        };
        let text = metrics.render(&gauges);
        for line in [
            "gitlab_mcp_http_responses_total{status=\"200\"} 2",
            "gitlab_mcp_calls_total{tool=\"t\",action=\"issue.list\",outcome=\"ok\"} 2",
            "gitlab_mcp_call_duration_seconds_bucket{tool=\"t\",action=\"issue.list\",le=\"0.01\"} 0",
            "gitlab_mcp_call_duration_seconds_bucket{tool=\"t\",action=\"issue.list\",le=\"0.025\"} 1",
            "gitlab_mcp_call_duration_seconds_bucket{tool=\"t\",action=\"issue.list\",le=\"+Inf\"} 2",
            "gitlab_mcp_call_duration_seconds_sum{tool=\"t\",action=\"issue.list\"} 2.02",
            "gitlab_mcp_upstream_responses_total{instance=\"https://gitlab.com/\",status=\"404\"} 3",
            "gitlab_mcp_upstream_unanswered_total{instance=\"https://gitlab.com/\"} 1",
            "gitlab_mcp_callers 2",
            "gitlab_mcp_uptime_seconds 61",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
        }
    }
}
