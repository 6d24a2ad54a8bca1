//! A report as text: the verdict, the broken rules, and then the other rules.

use std::fmt;

use textwrap::{Options, WordSplitter, fill};

use super::{
    clean::clean,
    lines,
    model::{Breach, Finding, Outcome, Report, Verdict},
};

/// The column of the texts of a broken rule.
const INDENT: usize = 16;
/// The narrowest terminal for which lines are wrapped.
const NARROWEST: usize = 40;

/// The style of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The width of the terminal. `None` disables wrapping.
    pub width: Option<usize>,
    /// Whether verdicts are coloured with escape sequences.
    pub colour: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Style::default()))
    }
}

impl Report {
    /// The report as text.
    pub fn text(&self, style: Style) -> String {
        let mut page = Page { style, text: String::new() };
        page.head(self);
        for rule in self.of("FAIL").chain(self.of("note")) {
            page.broken(self, rule);
        }
        page.untested(self);
        if self.count("pass") > 0 {
            page.line("\nPassed");
        }
        for rule in self.of("pass") {
            page.row(self, rule);
        }
        if let Some(limits) = lines::limits(self) {
            page.line("");
            page.wrapped("", "", &limits);
        }
        page.text
    }

    fn of(&self, word: &'static str) -> impl Iterator<Item = &Finding> {
        self.rules.iter().filter(move |rule| rule.word() == word)
    }
}

/// The description of a broken rule, without colours and line breaks.
pub(super) fn broken(report: &Report, rule: &Finding) -> String {
    let mut page = Page { style: Style::default(), text: String::new() };
    if rule.verdict == Verdict::Failed {
        page.broken(report, rule);
    }
    page.text.trim().to_owned()
}

struct Page {
    style: Style,
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text += line.trim_end();
        self.text.push('\n');
    }

    // A paragraph whose further lines are indented by `indent`.
    fn wrapped(&mut self, first: &str, indent: &str, text: &str) {
        let line = match self.style.width {
            Some(width) if width >= NARROWEST => {
                let options = Options::new(width).word_splitter(WordSplitter::NoHyphenation);
                fill(text, options.initial_indent(first).subsequent_indent(indent))
            }
            _ => format!("{first}{text}"),
        };
        self.line(&line);
    }

    fn coloured(&self, word: &str, code: &str) -> String {
        if self.style.colour { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
    }

    fn head(&mut self, report: &Report) {
        let code = match report.outcome() {
            Outcome::Passed => "1;32",
            Outcome::Failed | Outcome::CannotStart => "1;31",
            Outcome::Incomplete | Outcome::Unfinished => "1;33",
        };
        let verdict = self.coloured(report.outcome().word(), code);
        let (points, of) = report.points();
        let score = report.score().map_or_else(String::new, |score| format!(" ({score} %)"));
        self.line(&format!("{}: {verdict}, {points} of {of} points{score}", clean(&report.kind)));
        self.line(&format!("{}; {}", lines::counts(report), lines::settings(report)));
        if let Some(trouble) = &report.trouble {
            self.wrapped("", "", &format!("The report is not complete: {}", clean(&trouble.to_string())));
        }
    }

    fn broken(&mut self, report: &Report, rule: &Finding) {
        let word = self.coloured(rule.word(), if rule.is_required() { "1;31" } else { "33" });
        let points = match rule.points {
            0 => String::new(),
            1 => " (1 point)".to_owned(),
            points => format!(" ({points} points)"),
        };
        let often = lines::how_often(report, rule.failed_in).map_or_else(String::new, |often| format!(", {often}"));
        self.line(&format!("\n{word}  {}{points}{often}", rule.id));
        let mut breaches = rule.breaches.iter();
        if let Some(breach) = breaches.next() {
            self.field("failure", &lines::what(breach));
            self.field("rule", &rule.text);
            self.field("where", &lines::place(breach));
        } else {
            self.field("rule", &rule.text);
        }
        if !rule.hint.is_empty() {
            self.field("hint", &rule.hint);
        }
        let more = rule.count.saturating_sub(rule.breaches.len() as u64);
        let others = breaches.map(|breach| format!("{}; {}", lines::what(breach), lines::place(breach)));
        let others = others.chain((more > 0).then(|| format!("{more} more")));
        for (number, other) in others.enumerate() {
            self.field(if number == 0 { "also" } else { "" }, &other);
        }
        self.field("see", &lines::sources(rule));
        rule.breaches.first().into_iter().for_each(|breach| self.evidence(breach));
    }

    // How the program ended, and the preceding messages.
    fn evidence(&mut self, breach: &Breach) {
        for (number, line) in lines::program(breach).iter().enumerate() {
            self.field(if number == 0 { "program" } else { "" }, line);
        }
        // Columns are truncated instead of wrapped.
        for line in lines::conversation(&breach.conversation) {
            let line = format!("    {line}");
            let shown = match self.style.width {
                Some(width) if width >= NARROWEST => line.chars().take(width).collect(),
                _ => line,
            };
            self.line(&shown);
        }
    }

    fn field(&mut self, name: &str, text: &str) {
        let first = format!("  {name:<width$}", width = INDENT - 2);
        self.wrapped(&first, &" ".repeat(INDENT), text);
    }

    // Mostly, a few reasons apply to all rules.
    fn untested(&mut self, report: &Report) {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for rule in report.of("not tested") {
            match reasons.iter_mut().find(|(why, _)| *why == rule.why) {
                Some((_, rules)) => rules.push(&rule.id),
                None => reasons.push((&rule.why, vec![&rule.id])),
            }
        }
        if !reasons.is_empty() {
            self.line("\nNot tested");
        }
        for (why, rules) in reasons {
            self.wrapped("  ", "    ", &format!("{}: {}", clean(why), rules.join(", ")));
        }
    }

    fn row(&mut self, report: &Report, rule: &Finding) {
        let width = report.rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        let mark = self.coloured("\u{2713}", "32");
        // The colour has no width, so it replaces the plain mark afterwards.
        let first = format!("  * {:<width$}  ", rule.id);
        let start = self.text.len() + 2;
        self.wrapped(&first, &" ".repeat(width + 6), &rule.text);
        self.text.replace_range(start..=start, &mark);
    }
}
