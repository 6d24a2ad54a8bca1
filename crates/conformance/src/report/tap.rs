//! Test Anything Protocol, version 14: each rule is a test point.

use std::fmt::{self, Write as _};

use serde_json::Value;

use super::{Finding, Report, Verdict, clean, text};

pub(super) fn write(report: &Report, out: &mut String) -> fmt::Result {
    writeln!(out, "TAP version 14\n1..{}", report.rules.len())?;
    for (number, rule) in (1..).zip(&report.rules) {
        let text = described(&format!("{}: {}", rule.id, rule.text));
        match rule.verdict {
            Verdict::Passed => writeln!(out, "ok {number} - {text}")?,
            Verdict::NotTested => writeln!(out, "ok {number} - {text} # SKIP {}", described(reason(rule)))?,
            Verdict::Failed if rule.is_required() => writeln!(out, "not ok {number} - {text}")?,
            // Test points with a TODO may fail.
            Verdict::Failed => writeln!(out, "not ok {number} - {text} # TODO advice")?,
        }
        if rule.verdict == Verdict::Failed {
            diagnosis(report, rule, out)?;
        }
    }
    for line in [text::summary(report), text::settings(report)].into_iter().chain(text::limits(report)) {
        writeln!(out, "# {line}")?;
    }
    match &report.trouble {
        Some(trouble) => writeln!(out, "Bail out! {}", clean(&trouble.to_string()).replace('\n', " ")),
        None => Ok(()),
    }
}

fn reason(rule: &Finding) -> &str {
    if rule.why.is_empty() { "not tested" } else { &rule.why }
}

// Escapes the start of directives and of escapes.
fn described(text: &str) -> String {
    clean(text).replace('\n', " ").replace('\\', "\\\\").replace('#', "\\#")
}

// YAML, of which JSON strings are a subset.
fn diagnosis(report: &Report, rule: &Finding, out: &mut String) -> fmt::Result {
    let quoted = |text: &str| Value::from(clean(text)).to_string();
    writeln!(out, "  ---")?;
    writeln!(out, "  severity: {}", if rule.is_required() { "fail" } else { "comment" })?;
    writeln!(out, "  points: {}", rule.points)?;
    writeln!(out, "  count: {}", rule.count)?;
    writeln!(out, "  failed_in: {}\n  runs: {}", rule.failed_in, report.runs)?;
    writeln!(out, "  page: {}", quoted(&format!("docs/{}", rule.page)))?;
    if !rule.hint.is_empty() {
        writeln!(out, "  hint: {}", quoted(&rule.hint))?;
    }
    writeln!(out, "  breaches:{}", if rule.breaches.is_empty() { " []" } else { "" })?;
    for breach in &rule.breaches {
        writeln!(out, "    - scenario: {}", quoted(&breach.scenario))?;
        writeln!(out, "      message: {}", quoted(&breach.text))?;
        for (name, rows) in
            [("conversation", text::conversation(&breach.conversation)), ("program", text::last_output(breach))]
        {
            writeln!(out, "      {name}:{}", if rows.is_empty() { " []" } else { "" })?;
            for row in rows {
                writeln!(out, "        - {}", quoted(&row))?;
            }
        }
    }
    writeln!(out, "  ...")
}
