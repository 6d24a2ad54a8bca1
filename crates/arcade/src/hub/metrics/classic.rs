//! The numbers in the text format that came before OpenMetrics, for `curl` and `promtool`. Prometheus itself asks for OpenMetrics.

use std::fmt::Write as _;

/// Translates from OpenMetrics.
pub(crate) fn classic(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        if let Some(of_family) = line.strip_prefix("# HELP ") {
            help = of_family;
        } else if let Some((family, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            // Here a family is called like its samples.
            let (ending, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                same => ("", same),
            };
            let help = help.strip_prefix(family).unwrap_or_default();
            // Writing into a text does not fail.
            let _ = write!(text, "# HELP {family}{ending}{help}\n# TYPE {family}{ending} {kind}\n");
        } else if !line.starts_with('#') {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
