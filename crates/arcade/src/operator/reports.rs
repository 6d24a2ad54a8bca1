use std::{
    borrow::Cow,
    fmt::Write as _,
    time::{Duration, UNIX_EPOCH},
};

use clap::Subcommand;
use serde_json::Value;

/// Commands for reports
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ReportCommand {
    /// List the reports with links to their matches
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a report
    Clear {
        /// Its number
        id: u64,
    },
}

// Text from players must not control the terminal.
fn word(value: &Value) -> Cow<'_, str> {
    cmdkit::printable(value.as_str().unwrap_or_default())
}

pub(super) fn text(reports: &Value, page: &str) -> String {
    let mut text = String::new();
    for report in reports.as_array().into_iter().flatten() {
        let at = UNIX_EPOCH + Duration::from_millis(report["at"].as_u64().unwrap_or_default());
        let _ = writeln!(
            text,
            "{}  {}  {} (seat {}): {}  {page}matches/{}",
            report["id"],
            humantime::format_rfc3339_seconds(at),
            word(&report["name"]),
            word(&report["seat"]),
            word(&report["reason"]),
            word(&report["match"]),
        );
        let said = word(&report["text"]);
        if !said.is_empty() {
            let _ = writeln!(text, "    {said}");
        }
    }
    if text.is_empty() { "No reports.\n".into() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reports_are_listed_with_their_matches_and_cannot_change_the_terminal() {
        let report = json!({
            "id": 3, "at": 0, "match": "00aa-1", "room": "nuggets-1", "seat": "A", "name": "Eve\u{1b}[2J", "reason": "talk",
            "text": "again \u{202e}", "host": "Other",
        });
        let text = text(&json!([report]), "http://localhost:8080/");
        assert!(text.contains(r"Eve\u{1b}[2J (seat A): talk  http://localhost:8080/matches/00aa-1"), "{text}");
        assert!(text.ends_with("    again \\u{202e}\n") && !text.contains('\u{1b}'), "{text}");
    }
}
