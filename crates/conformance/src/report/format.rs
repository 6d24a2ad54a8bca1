//! The formats of reports and of lists of rules.

use std::fmt;

use cmdkit::printable_json;
use serde_json::{Value, json};

use super::{html, junit, markdown, model::Report, tap};
use crate::rule::Rule;

/// The format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for a terminal.
    #[default]
    Text,
    /// One object, for programs.
    Json,
    /// For CI services.
    Junit,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// For comments and wikis.
    Markdown,
    /// One page without further files.
    Html,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [Self::Text, Self::Json, Self::Junit, Self::Tap, Self::Markdown, Self::Html];

    /// The name of the format on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Tap => "tap",
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }
}

impl Report {
    /// The report in this format, which ends with a line feed. The output of the program under test is escaped, so it
    /// cannot change the structure of the report.
    pub fn write(&self, format: Format) -> String {
        let writer: fn(&Self, &mut String) -> fmt::Result = match format {
            Format::Text => return self.to_string(),
            Format::Json => return format!("{}\n", printable_json(&self.to_json().to_string())),
            Format::Junit => junit::write,
            Format::Tap => tap::write,
            Format::Markdown => markdown::write,
            Format::Html => html::write,
        };
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writer(self, &mut out);
        out
    }
}

/// All rules of one kind of program: name, basis, points, text. Formats for test results do not support lists.
pub fn list(rules: &[&Rule], format: Format) -> Option<String> {
    let rows = rules.iter();
    match format {
        Format::Text => {
            let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
            let row = |rule: &&Rule| {
                format!("{:<width$}  {:<8}  {:>2}  {}\n", rule.id, rule.basis.word(), rule.points, rule.text)
            };
            Some(rows.map(row).collect())
        }
        Format::Json => {
            let row = |rule: &&Rule| {
                let Rule { id, text, basis, task, points, page, hint } = rule;
                json!({"rule": id, "text": text, "asked_by": basis, "task": task, "points": points, "page": page, "hint": hint})
            };
            Some(format!("{}\n", rows.map(row).collect::<Value>()))
        }
        Format::Markdown => {
            let row = |rule: &&Rule| {
                let text = markdown::escaped(rule.text);
                format!("| `{}` | {} | {} | {text} |\n", rule.id, rule.basis.word(), rule.points)
            };
            let head = "| rule | basis | points | text |\n| --- | --- | ---: | --- |\n".to_owned();
            Some(head + &rows.map(row).collect::<String>())
        }
        Format::Junit | Format::Tap | Format::Html => None,
    }
}
