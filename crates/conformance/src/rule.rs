//! The rules of a protocol, as data.

use serde::{Deserialize, Serialize};

/// The origin of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A requirement of the original task. A program that breaks it fails.
    Protocol,
    /// A recommendation. A breach is recorded but costs no points.
    Advice,
}

impl Basis {
    /// The name of the basis in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Advice => "advice",
        }
    }
}

/// The start of the last sentence of a hint, if that sentence applies only to pipes.
const OF_PIPES: &str = "Through a pipe,";

/// One rule of a protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// A name that scripts can rely on, such as `no-card-twice`.
    pub id: &'static str,
    /// What the rule requires, in one sentence without a full stop.
    pub text: &'static str,
    /// Whether the rule is required or recommended.
    pub basis: Basis,
    /// The section of the original task with this requirement. Empty for advice.
    pub task: &'static str,
    /// The weight of the rule in the score. Advice has none.
    pub points: u32,
    /// The section of `docs/` that describes it, such as `protocols/blackjack.md#messages`.
    pub page: &'static str,
    /// The usual mistake and its correction. Empty if there is no usual one.
    pub hint: &'static str,
}

impl Rule {
    /// Whether a program that breaks it fails.
    pub fn is_required(&self) -> bool {
        self.basis == Basis::Protocol
    }

    /// The hint for a program whose standard streams are all at a terminal, or not. At a terminal, the sentence about
    /// pipes is omitted.
    pub(crate) fn hint_for(&self, at_terminal: bool) -> &'static str {
        let end = self.hint.find(OF_PIPES).filter(|_| at_terminal).unwrap_or(self.hint.len());
        self.hint.get(..end).unwrap_or_default().trim_end()
    }
}

/// Declares rules, and `RULES` with all of them in the order of the report:
/// `NAME: Protocol(points, "section of the task") "id" in "page", "text", "hint";` or `NAME: Advice "id" in ...`.
macro_rules! rules {
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

#[cfg(test)]
mod tests {
    use crate::TESTERS;

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
}
