//! A report as text.

use std::fmt;

use super::{
    lines,
    model::{Finding, Report, Verdict},
};

/// Where breaches are indented to.
const INDENT: usize = 12;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        for rule in &self.rules {
            writeln!(f, "{:<10}  {:<width$}  {}", rule.word(), rule.id, rule.told())?;
            for line in told(self, rule) {
                writeln!(f, "{:INDENT$}{line}", "")?;
            }
        }
        writeln!(f, "{}", lines::summary(self))?;
        writeln!(f, "{}", lines::settings(self))?;
        if let Some(trouble) = &self.trouble {
            writeln!(f, "The report is not complete: {}", super::clean(&trouble.to_string()))?;
        }
        lines::limits(self).map_or(Ok(()), |limits| writeln!(f, "{limits}"))
    }
}

/// All that is said of a rule that was broken: where, after which messages, and what to do about it.
pub(super) fn told(report: &Report, rule: &Finding) -> Vec<String> {
    if rule.verdict != Verdict::Failed {
        return Vec::new();
    }
    let mut told: Vec<String> = lines::how_often(report, rule.failed_in).into_iter().collect();
    for (number, breach) in rule.breaches.iter().enumerate() {
        told.extend(lines::what(breach));
        // The later ones are mostly like the first.
        if number == 0 && !breach.conversation.is_empty() {
            told.push("the last messages:".to_owned());
            told.extend(lines::conversation(&breach.conversation));
        }
        told.extend(lines::program(breach));
    }
    let more = rule.count.saturating_sub(rule.breaches.len() as u64);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.push(format!("see docs/{}", rule.page));
    if !rule.hint.is_empty() {
        told.push(format!("hint: {}", rule.hint));
    }
    told
}
