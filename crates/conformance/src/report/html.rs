//! A self-contained page without scripts, fonts or images, and also well-formed XML.

use std::fmt::{self, Write as _};

use super::{Breach, Escaped, Finding, Report, Verdict, markdown::points, text};

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --good: #1a7f37; --bad: #cf222e; --note: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --good: #4ac26b; --bad: #ff8182; --note: #d4a72c; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
p, h3, pre, td { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
th, td:not(:last-child) { white-space: nowrap; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
h2 code { font-size: inherit; }
pre { white-space: pre-wrap; background: var(--soft); padding: .75rem; border-radius: .25rem; }
pre b { color: var(--bad); }
section { border-left: .25rem solid var(--bad); padding-left: 1rem; margin: 2rem 0; }
section.note { border-color: var(--note); }
.score { font-size: 1.25rem; }
.pass { color: var(--good); }
.FAIL, .trouble { color: var(--bad); font-weight: bold; }
.note b { color: var(--note); }
@media print { body { margin: 0; max-width: none; font-size: 11px; } code, pre { font-size: 9px; } h2, h3 { break-after: avoid; } tr { break-inside: avoid; } }
";

/// Well-formed XML if `body` is. The title is also the heading.
pub fn page(title: &str, style: &str, body: &str) -> String {
    let title = Escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width\"/>\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

pub(super) fn write(report: &Report, out: &mut String) -> fmt::Result {
    let mut text = String::new();
    body(report, &mut text)?;
    let title = format!("{}: {}", report.kind, report.outcome().word());
    out.push_str(&page(&title, STYLE, &text));
    Ok(())
}

fn body(report: &Report, out: &mut String) -> fmt::Result {
    if let Some(trouble) = &report.trouble {
        writeln!(out, "<p class=\"trouble\">The report is not complete: {}</p>", Escaped(&trouble.to_string()))?;
    }
    writeln!(out, "<p class=\"score\">{}</p>", Escaped(&text::summary(report)))?;
    writeln!(out, "<p>{}</p>", Escaped(&text::settings(report)))?;
    for rule in report.rules.iter().filter(|rule| rule.verdict == Verdict::Failed) {
        broken(report, rule, out)?;
    }
    writeln!(out, "<h2>All rules</h2>")?;
    writeln!(
        out,
        "<table>\n<thead><tr><th>verdict</th><th>rule</th><th>points</th><th>text</th></tr></thead>\n<tbody>"
    )?;
    for rule in &report.rules {
        row(report, rule, out)?;
    }
    writeln!(out, "</tbody>\n</table>")?;
    if let Some(limits) = text::limits(report) {
        writeln!(out, "<p>{}</p>", Escaped(&limits))?;
    }
    Ok(())
}

fn row(report: &Report, rule: &Finding, out: &mut String) -> fmt::Result {
    let (id, word) = (Escaped(&rule.id), rule.word());
    let class = word.split(' ').next().unwrap_or_default();
    let verdict = format!("<b>{word}</b>{}", often(report, rule));
    let name = match rule.verdict {
        Verdict::Failed => format!("<a href=\"#{id}\"><code>{id}</code></a>"),
        Verdict::Passed | Verdict::NotTested => format!("<code>{id}</code>"),
    };
    writeln!(out, "<tr><td class=\"{class}\">{verdict}</td><td>{name}</td>")?;
    writeln!(out, "<td class=\"points\">{}</td><td>{}</td></tr>", points(rule), Escaped(&rule.text_with_reason()))
}

fn often(report: &Report, rule: &Finding) -> String {
    text::how_often(report, rule.failed_in).map_or_else(String::new, |often| format!(" {often}"))
}

fn broken(report: &Report, rule: &Finding, out: &mut String) -> fmt::Result {
    let (id, class) = (Escaped(&rule.id), if rule.is_required() { "broken" } else { "note" });
    writeln!(out, "<section class=\"{class}\" id=\"{id}\">\n<h2><code>{id}</code></h2>")?;
    let (text, page, basis) = (Escaped(&rule.text), Escaped(&rule.page), Escaped(&rule.task));
    let basis = if rule.is_required() { format!("Protocol: {basis}") } else { "Advice".to_owned() };
    writeln!(out, "<p>{text}. {basis}; see <code>docs/{page}</code>.{}</p>", often(report, rule))?;
    for breach in &rule.breaches {
        place(breach, out)?;
    }
    let more = rule.count.saturating_sub(rule.breaches.len() as u64);
    if more > 0 {
        writeln!(out, "<p>And {more} more.</p>")?;
    }
    if !rule.hint.is_empty() {
        writeln!(out, "<p><b>Hint:</b> {}</p>", Escaped(&rule.hint))?;
    }
    writeln!(out, "</section>")
}

fn place(breach: &Breach, out: &mut String) -> fmt::Result {
    writeln!(out, "<h3>{}</h3>\n<p>{}</p>", Escaped(&text::place(breach)), Escaped(&text::what(breach)))?;
    if !breach.conversation.is_empty() {
        writeln!(out, "<p>The last messages:</p>\n<pre>")?;
        for line in text::conversation(&breach.conversation) {
            match line.find("WRONG at") {
                Some(at) if line[..at].trim().is_empty() => {
                    writeln!(out, "{}<b>{}</b>", &line[..at], Escaped(&line[at..]))?;
                }
                _ => writeln!(out, "{}", Escaped(&line))?,
            }
        }
        writeln!(out, "</pre>")?;
    }
    let program = text::last_output(breach);
    if !program.is_empty() {
        writeln!(out, "<pre>{}</pre>", Escaped(&program.join("\n")))?;
    }
    Ok(())
}
