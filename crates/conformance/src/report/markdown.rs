use std::fmt::{self, Write as _};

use super::{Finding, Report, Verdict, clean, text};

pub(super) fn write(report: &Report, out: &mut String) -> fmt::Result {
    writeln!(out, "# {}: {}\n", escaped(&report.kind), report.outcome().word())?;
    if let Some(trouble) = &report.trouble {
        writeln!(out, "**The report is not complete:** {}\n", escaped(&trouble.to_string()))?;
    }
    writeln!(out, "{}; {}\n", escaped(&text::summary(report)), escaped(&text::settings(report)))?;
    writeln!(out, "| verdict | rule | points | text |\n| --- | --- | ---: | --- |")?;
    for rule in &report.rules {
        let verdict = if rule.word() == "FAIL" { "**FAIL**" } else { rule.word() };
        let often = text::how_often(report, rule.failed_in).map_or_else(String::new, |often| format!(" ({often})"));
        writeln!(
            out,
            "| {verdict}{often} | {} | {} | {} |",
            escaped(&rule.id),
            points(rule),
            escaped(&rule.text_with_reason())
        )?;
    }
    for rule in report.rules.iter().filter(|rule| rule.verdict == Verdict::Failed) {
        broken(rule, out)?;
    }
    if let Some(limits) = text::limits(report) {
        writeln!(out, "\n{}", escaped(&limits))?;
    }
    Ok(())
}

pub(super) fn points(rule: &Finding) -> String {
    format!("{}/{}", rule.earned(), rule.points)
}

fn broken(rule: &Finding, out: &mut String) -> fmt::Result {
    writeln!(out, "\n## {}\n\n{} (`docs/{}`)", escaped(&rule.id), escaped(&rule.text), clean(&rule.page))?;
    for breach in &rule.breaches {
        let mut rows = vec![format!("{}: {}", text::place(breach), text::what(breach))];
        if !breach.conversation.is_empty() {
            rows.push("the last messages:".to_owned());
            rows.extend(text::conversation(&breach.conversation));
        }
        rows.extend(text::last_output(breach));
        fenced(&rows, out)?;
    }
    let more = rule.count.saturating_sub(rule.breaches.len() as u64);
    if more > 0 {
        writeln!(out, "\nAnd {more} more.")?;
    }
    if !rule.hint.is_empty() {
        writeln!(out, "\n**Hint:** {}", escaped(&rule.hint))?;
    }
    Ok(())
}

fn fenced(rows: &[String], out: &mut String) -> fmt::Result {
    let ticks = |row: &String| row.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(rows.iter().map(ticks).max().unwrap_or(0).max(2) + 1);
    writeln!(out, "\n{fence}text\n{}\n{fence}", rows.join("\n"))
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in clean(text).chars() {
        match letter {
            '\n' => out.push(' '),
            // These start inline markup, mentions and issue links, or cells. Any ASCII punctuation may be escaped.
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' | '!' | '@' | '$' => {
                out.push('\\');
                out.push(letter);
            }
            _ => out.push(letter),
        }
    }
    out
}
