//! The input of a sight: the text of a map and the range of vision.

use serde::{Deserialize, Serialize};

use crate::grid::Grid;

/// The text of a map or of its known part.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    pub(super) text: &'a [u8],
    pub(super) rows: u16,
    pub(super) cols: u16,
}

impl<'a> Field<'a> {
    /// A field of `rows` rows of `cols` characters, each followed by a newline. Only `.` is transparent. `None` if the
    /// length of `text` differs or needs more than 16 bits.
    pub fn new(text: &'a [u8], rows: u16, cols: u16) -> Option<Self> {
        let length = usize::from(rows).checked_mul(usize::from(cols).checked_add(1)?)?;
        (text.len() == length && u16::try_from(length).is_ok()).then_some(Self { text, rows, cols })
    }
}

impl<'a> From<&'a Grid> for Field<'a> {
    fn from(grid: &'a Grid) -> Self {
        Self { text: grid.text(), rows: grid.rows(), cols: grid.cols() }
    }
}

/// The range of sight, by default to the edges of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Vision {
    /// The largest distance between two centres, in cells. Neighbours are always visible.
    pub radius: Option<u16>,
}

impl Vision {
    /// The largest distance in rows of a visible cell, at most `rows`.
    pub(super) fn rows(self, rows: usize) -> usize {
        self.radius.map_or(rows, |radius| rows.min(usize::from(radius.max(1))))
    }

    /// The largest distance in columns of a visible cell `i` rows away, at most `cols`.
    pub(super) fn cols(self, i: usize, cols: usize) -> usize {
        let Some(radius) = self.radius else { return cols };
        let (radius, i) = (u64::from(radius), i as u64);
        let reach = index((radius * radius).saturating_sub(i * i).isqrt());
        cols.min(if i <= 1 { reach.max(1) } else { reach })
    }
}

pub(super) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
