//! What a room can be asked for, described for a form and for programs: each option with its type, default, bounds and purpose.
//! Rooms outside the bounds are refused by the same numbers.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

/// One option.
#[derive(Debug, Serialize)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Null if the hub chooses.
    default: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) least: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) most: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) choices: Vec<&'static str>,
    /// What it is for, in a sentence.
    text: &'static str,
}

/// What a number of JavaScript holds exactly.
pub(crate) const MAX_EXACT: u64 = (1 << 53) - 1;

impl Field {
    const fn new(name: &'static str, kind: &'static str, text: &'static str) -> Self {
        Self { name, kind, default: Value::Null, least: None, most: None, choices: vec![], text }
    }

    /// A whole number within these bounds.
    pub(crate) fn whole<T: Copy + Into<u64>>(
        name: &'static str,
        range: &RangeInclusive<T>,
        text: &'static str,
    ) -> Self {
        let (least, most) = (Some((*range.start()).into()), Some((*range.end()).into()));
        Self { least, most, ..Self::new(name, "integer", text) }
    }

    /// The seed of a match.
    pub(crate) fn seed(most: u64) -> Self {
        Self::whole("seed", &(0..=most), "The same number gives the same match; without one it is drawn.")
    }

    /// One of these texts.
    pub(crate) fn choice(name: &'static str, choices: impl Into<Vec<&'static str>>, text: &'static str) -> Self {
        Self { choices: choices.into(), ..Self::new(name, "choice", text) }
    }

    /// Yes or no.
    pub(crate) const fn boolean(name: &'static str, text: &'static str) -> Self {
        Self::new(name, "boolean", text)
    }

    /// The same with the default that these options have for it.
    pub(crate) fn with_default_of(self, options: &Value) -> Self {
        let default = options.get(self.name).cloned().unwrap_or_default();
        Self { default, ..self }
    }
}

/// Checks one number.
pub(crate) fn within<T>(name: &str, number: T, range: &RangeInclusive<T>) -> anyhow::Result<()>
where
    T: Copy + PartialOrd + std::fmt::Display,
{
    if range.contains(&number) {
        return Ok(());
    }
    anyhow::bail!("{name} is a number from {} to {}, not {number}", range.start(), range.end())
}
