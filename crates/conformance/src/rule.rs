use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// From the original task. A program that breaks it fails.
    Protocol,
    /// A breach is recorded but costs no points.
    Advice,
}

impl Basis {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Advice => "advice",
        }
    }
}

/// Starts the last sentence of a hint if that sentence applies only to pipes.
const OF_PIPES: &str = "Through a pipe,";

#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable for scripts, such as `no-card-twice`.
    pub id: &'static str,
    /// One sentence without a full stop.
    pub text: &'static str,
    pub basis: Basis,
    /// The section of the original task. Empty for advice.
    pub task: &'static str,
    /// The weight in the score. Advice has none.
    pub points: u32,
    /// A section of `docs/`, such as `protocols/blackjack.md#messages`.
    pub page: &'static str,
    /// The usual mistake and its correction, or empty.
    pub hint: &'static str,
}

impl Rule {
    pub fn is_required(&self) -> bool {
        self.basis == Basis::Protocol
    }

    /// Omits the sentence about pipes if all standard streams are at a terminal.
    pub(crate) fn hint_for(&self, at_terminal: bool) -> &'static str {
        let end = self.hint.find(OF_PIPES).filter(|_| at_terminal).unwrap_or(self.hint.len());
        self.hint.get(..end).unwrap_or_default().trim_end()
    }
}

/// Declares rules, and `RULES` with all of them in the order of the report:
/// `NAME: Protocol(points, "section of the task") "id" in "page", "text", "hint";` or `NAME: Advice "id" in ...`.
///
/// If the table begins with `for TYPE;`, values of this type may follow each hint: the scenarios that observe the rule
/// by design. `SCENARIOS` has all of them with their rules.
macro_rules! rules {
    (for $scenario:ty; $($name:ident: $basis:ident $(($($source:tt)*))? $id:literal in $page:literal, $text:literal, $hint:literal $(, $shown:expr)*;)*) => {
        $crate::rule::rules! { $($name: $basis $(($($source)*))? $id in $page, $text, $hint;)* }

        static SCENARIOS: &[(&$crate::rule::Rule, $scenario)] = &[$($((&$name, $shown),)*)*];
    };
    ($($name:ident: $basis:ident $(($points:literal, $task:literal))? $id:literal in $page:literal, $text:literal, $hint:literal;)*) => {
        $(pub(super) static $name: $crate::rule::Rule = $crate::rule::Rule {
            id: $id,
            text: $text,
            basis: $crate::rule::Basis::$basis,
            task: concat!($($task)?),
            points: 0 $(+ $points)?,
            page: $page,
            hint: $hint,
        };)*

        pub(super) static RULES: &[&$crate::rule::Rule] = &[$(&$name),*];
    };
}
pub(crate) use rules;

const PAGES: [(&str, &str); 7] = [
    ("blackjack.md", include_str!("../../../docs/blackjack.md")),
    ("mastermind.md", include_str!("../../../docs/mastermind.md")),
    ("nuggets.md", include_str!("../../../docs/nuggets.md")),
    ("protocols/blackjack.md", include_str!("../../../docs/protocols/blackjack.md")),
    ("protocols/mastermind.md", include_str!("../../../docs/protocols/mastermind.md")),
    ("protocols/nuggets.md", include_str!("../../../docs/protocols/nuggets.md")),
    ("protocols/robots.md", include_str!("../../../docs/protocols/robots.md")),
];

/// Named as in links: `protocols/blackjack.md#messages`. The text ends before the next heading.
pub fn section(page: &str) -> Option<String> {
    let (path, wanted) = page.split_once('#')?;
    let (_, text) = PAGES.iter().find(|(other, _)| *other == path)?;
    let mut lines = text.lines();
    let mut is_code = false;
    let mut is_heading = move |line: &str| {
        is_code ^= line.starts_with("```");
        line.starts_with('#') && !is_code
    };
    lines.by_ref().find(|line| is_heading(line) && anchor(line) == wanted)?;
    let section: Vec<_> = lines.take_while(|line| !is_heading(line)).collect();
    Some(section.join("\n").trim().to_owned())
}

fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use crate::TESTERS;

    use super::*;

    #[test]
    fn hints_mention_pipes_only_away_from_terminals() {
        let rules = TESTERS.iter().flat_map(|tester| tester.rules);
        let of_pipes: Vec<_> = rules.filter(|rule| rule.hint.contains("flush")).collect();
        assert!(!of_pipes.is_empty());
        for rule in of_pipes {
            assert_eq!(rule.hint_for(false), rule.hint);
            let hint = rule.hint_for(true);
            assert!(!hint.contains("flush") && !hint.contains("pipe"), "{}: {hint}", rule.id);
        }
    }

    #[test]
    fn section_ends_at_the_next_heading() {
        let draws = section("protocols/robots.md#draws").unwrap();
        assert!(draws.starts_with("The generator has a state") && draws.ends_with("before `y`."), "{draws}");
        assert_eq!(section("protocols/robots.md#nothing"), None);
    }
}
