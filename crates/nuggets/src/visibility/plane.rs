//! A field as bits that mark the opaque cells.

use alloc::{vec, vec::Vec};

use super::field::Field;
use crate::grid::ROOM;

pub(super) const WORD: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Right,
    /// Mirrored.
    Left,
}

/// The opaque cells of a field, as rows of bits along its longer side.
///
/// The rule is symmetric, so a tall field is transposed. The plane then has at most 255 rows, whose cells are processed
/// a word at a time.
#[derive(Debug, Clone, Default)]
pub(super) struct Plane {
    text: Vec<u8>,
    /// The length of a row of the text with its newline.
    pub(super) width: usize,
    /// Rows of the plane are columns of the text.
    pub(super) turned: bool,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) words: usize,
    /// Set for opaque cells and beyond the last column.
    right: Vec<u64>,
    /// The same, mirrored.
    left: Vec<u64>,
}

impl Plane {
    /// Replaces the field. The cost depends mostly on the number of changed cells.
    pub(super) fn update(&mut self, field: Field<'_>) {
        let (rows, cols) = (usize::from(field.rows), usize::from(field.cols));
        if self.width != cols + 1 || self.text.len() != field.text.len() {
            let turned = rows > cols;
            let (rows, cols) = if turned { (cols, rows) } else { (rows, cols) };
            let words = cols.div_ceil(WORD);
            let opaque = vec![u64::MAX; rows * words];
            let text = vec![b'\n'; field.text.len()];
            let width = usize::from(field.cols) + 1;
            *self = Self { text, width, turned, rows, cols, words, right: opaque.clone(), left: opaque };
        }
        let mut old = core::mem::take(&mut self.text);
        let chunks = old.chunks_mut(WORD).zip(field.text.chunks(WORD)).enumerate();
        for (index, (old, new)) in chunks.filter(|(_, (old, new))| old != new) {
            for (at, (old, &new)) in (index * WORD..).zip(old.iter_mut().zip(new)) {
                if (*old == ROOM) != (new == ROOM) {
                    self.flip(at);
                }
                *old = new;
            }
        }
        self.text = old;
    }

    fn flip(&mut self, offset: usize) {
        let Some((row, col)) = self.place(offset) else { return };
        let mirrored = self.cols - 1 - col;
        self.right[row * self.words + col / WORD] ^= 1 << (col % WORD);
        self.left[row * self.words + mirrored / WORD] ^= 1 << (mirrored % WORD);
    }

    /// The row and column in the plane; `None` for newlines and outside the field.
    pub(super) fn place(&self, offset: usize) -> Option<(usize, usize)> {
        let (row, col) = (offset.checked_div(self.width)?, offset.checked_rem(self.width)?);
        let (row, col) = if self.turned { (col, row) } else { (row, col) };
        (row < self.rows && col < self.cols).then_some((row, col))
    }

    pub(super) fn row(&self, side: Side, row: usize) -> &[u64] {
        let bits = if side == Side::Right { &self.right } else { &self.left };
        &bits[row * self.words..][..self.words]
    }
}

/// The first set bit of `from..until`, or `until`. Adds the number of words read to `work`.
pub(super) fn find(from: usize, until: usize, work: &mut u64, at: impl Fn(usize) -> u64) -> usize {
    if from >= until {
        return until;
    }
    let mut index = from / WORD;
    let mut bits = at(index) & (u64::MAX << (from % WORD));
    loop {
        *work += 1;
        if bits != 0 {
            return until.min(index * WORD + bits.trailing_zeros() as usize);
        }
        index += 1;
        if index * WORD >= until {
            return until;
        }
        bits = at(index);
    }
}

/// Sets the bits of `from..until`, which must not be empty.
pub(super) fn fill(row: &mut [u64], from: usize, until: usize, work: &mut u64) {
    let (low, high) = (from / WORD, (until - 1) / WORD);
    let (first, last) = (u64::MAX << (from % WORD), u64::MAX >> (WORD - 1 - (until - 1) % WORD));
    *work += (high - low) as u64 + 1;
    if low == high {
        row[low] |= first & last;
    } else {
        row[low] |= first;
        row[low + 1..high].fill(u64::MAX);
        row[high] |= last;
    }
}

pub(super) fn runs(row: &[u64]) -> impl Iterator<Item = core::ops::Range<usize>> {
    let until = row.len() * WORD;
    let mut at = 0;
    core::iter::from_fn(move || {
        let start = find(at, until, &mut 0, |word| row[word]);
        at = find(start, until, &mut 0, |word| !row[word]);
        (start < until).then_some(start..at)
    })
}
