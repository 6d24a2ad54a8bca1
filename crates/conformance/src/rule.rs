//! The rules of a protocol, as data.

use serde::{Deserialize, Serialize};

/// Who asks for a rule. Only a breach of what the course or the protocol asks for fails a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asker {
    /// The course that the game comes from.
    Course,
    /// The page of the protocol: without it, programs of different people do not work together.
    Protocol,
    /// Only our own programs: what they do where the protocol leaves it open. It is noted.
    Arcade,
}

impl Asker {
    /// Its word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Course => "course",
            Self::Protocol => "protocol",
            Self::Arcade => "arcade",
        }
    }
}

/// One rule of a protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// A name that scripts can rely on, such as `no-card-twice`.
    pub id: &'static str,
    /// What the rule requires, in one sentence without a full stop.
    pub text: &'static str,
    /// Who asks for it.
    pub asker: Asker,
    /// What it is worth. Rules that only we ask for are worth nothing.
    pub points: u32,
    /// The section of `docs/` that says so, such as `protocols/blackjack.md#messages`.
    pub page: &'static str,
    /// The usual mistake, and what to do about it. Empty where none is usual.
    pub hint: &'static str,
}

impl Rule {
    /// Whether a program that breaks it fails.
    pub fn is_required(&self) -> bool {
        self.asker != Asker::Arcade
    }
}

/// Declares rules, and `RULES`, which has all of them in the order of the report: `NAME: asker points "id" in "page", "text", "hint";`.
macro_rules! rules {
    ($($name:ident: $asker:ident $points:literal $id:literal in $page:literal, $text:literal, $hint:literal;)*) => {
        $(pub(super) static $name: $crate::rule::Rule = $crate::rule::Rule {
            id: $id,
            text: $text,
            asker: $crate::rule::Asker::$asker,
            points: $points,
            page: $page,
            hint: $hint,
        };)*

        pub(super) static RULES: &[&$crate::rule::Rule] = &[$(&$name),*];
    };
}
pub(crate) use rules;
