//! The set of cells visible from one spot.

use alloc::{boxed::Box, vec::Vec};
use core::ops::Range;

use crate::grid::Cell;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    start: u16,
    length: u16,
}

/// Consecutive rows with the same visible columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Band {
    /// Offset of the first row in the text.
    start: u16,
    rows: u16,
    /// The index after its last stretch. The first follows those of the previous band.
    end: u16,
}

/// The set of cells visible from one spot.
///
/// Rooms are boxes, so most sights are a few bands of one or two stretches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    /// The length of a row with its newline.
    width: u16,
    bands: Box<[Band]>,
    stretches: Box<[Stretch]>,
}

impl Sight {
    /// Whether `cell` is visible.
    pub fn contains(&self, cell: Cell) -> bool {
        let after = self.bands.partition_point(|band| band.start <= cell.0);
        let Some(band) = after.checked_sub(1).map(|last| self.bands[last]) else { return false };
        let offset = cell.0 - band.start;
        if offset / self.width >= band.rows {
            return false;
        }
        let col = offset % self.width;
        let stretches = self.stretches_of(after - 1);
        let after = stretches.partition_point(|stretch| stretch.start <= col);
        after.checked_sub(1).is_some_and(|last| col - stretches[last].start < stretches[last].length)
    }

    /// The visible cells as ranges of offsets into the grid's text, in ascending order; none spans two rows.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.bands.iter().enumerate().flat_map(move |(index, band)| {
            let (top, width) = (usize::from(band.start), usize::from(self.width));
            let stretches = self.stretches_of(index);
            (0..usize::from(band.rows)).flat_map(move |row| {
                stretches.iter().map(move |stretch| {
                    let start = top + row * width + usize::from(stretch.start);
                    start..start + usize::from(stretch.length)
                })
            })
        })
    }

    /// The visible cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.ranges().flatten().map(|offset| Cell(u16::try_from(offset).unwrap_or(u16::MAX)))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.bands) + size_of_val(&*self.stretches)
    }

    fn stretches_of(&self, band: usize) -> &[Stretch] {
        let start = band.checked_sub(1).map_or(0, |before| usize::from(self.bands[before].end));
        &self.stretches[start..usize::from(self.bands[band].end)]
    }
}

/// Builds sights, and reuses its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Builder {
    bands: Vec<Band>,
    stretches: Vec<Stretch>,
}

// Texts have less than `2^16` characters.
fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

impl Builder {
    /// Adds `rows` equal rows, the first at offset `start`. The ranges `cols` must be ascending, disjoint, and
    /// different from those of the row directly above. Rows without visible cells are omitted.
    pub(super) fn band(&mut self, start: usize, rows: usize, cols: impl Iterator<Item = Range<usize>>) {
        let before = self.stretches.len();
        self.stretches.extend(cols.map(|cols| Stretch { start: short(cols.start), length: short(cols.len()) }));
        if self.stretches.len() > before {
            self.bands.push(Band { start: short(start), rows: short(rows), end: short(self.stretches.len()) });
        }
    }

    pub(super) fn finish(&mut self, width: usize) -> Sight {
        let sight = Sight {
            width: short(width),
            bands: self.bands.as_slice().into(),
            stretches: self.stretches.as_slice().into(),
        };
        self.bands.clear();
        self.stretches.clear();
        sight
    }
}
