//! The map checker.
//!
//! The rules require more than [`Grid::parse`]: closed rooms, walls that meet in corners, passages one spot wide that
//! break walls but never corners, and no unreachable spots.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::fmt;

use crate::{
    config::Rules,
    game::MAX_PLAYERS,
    grid::{
        CORNER, Cell, Direction, Grid, HORIZONTAL, PASSAGE, ParseGridError, Position, ROCK, ROOM, Repair, VERTICAL,
    },
    protocol::DISPLAY_HEADER,
};

/// The largest UDP payload that is not fragmented over Ethernet, in bytes.
const UNFRAGMENTED: usize = 1_472;

/// A breach of the rules for maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Breach {
    /// The text is not a playable map.
    Unplayable(ParseGridError),
    /// A defect that a server repairs.
    Repaired(Repair),
    /// Too few room spots for a full table and the largest number of piles.
    FewRoomSpots(usize),
    /// A position that breaks a rule, with the correction.
    At(Position, &'static str),
    /// The first of some unreachable spots, and their number.
    Unreachable(Position, usize),
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unplayable(error) => error.fmt(f),
            Self::Repaired(repair) => repair.fmt(f),
            Self::FewRoomSpots(count) => {
                let Rules { max_piles, .. } = Rules::default();
                let wanted = MAX_PLAYERS + max_piles as usize;
                write!(f, "{count} room spots are too few: {MAX_PLAYERS} players and {max_piles} piles need {wanted}")
            }
            Self::At(at, what) => write!(f, "{at}: {what}"),
            Self::Unreachable(at, 1) => write!(f, "{at}: this spot cannot be reached from the others"),
            Self::Unreachable(at, count) => {
                write!(f, "{at}: this spot and {} more cannot be reached from the others", count - 1)
            }
        }
    }
}

/// The result of [`check_map`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// All breaches: first those of the whole map, then row by row.
    pub breaches: Vec<Breach>,
    /// Remarks on the size.
    pub notes: Vec<String>,
}

/// Checks the text of a map file.
pub fn check_map(text: &[u8]) -> Report {
    let (foreign, parsed) = without_foreign(text);
    let mut breaches = foreign;
    let (grid, repairs) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            breaches.push(Breach::Unplayable(error));
            return Report { breaches, notes: vec![] };
        }
    };
    breaches.extend(repairs.into_iter().map(Breach::Repaired));
    let count = grid.room_spots().len();
    if count < MAX_PLAYERS + Rules::default().max_piles as usize {
        breaches.push(Breach::FewRoomSpots(count));
    }
    let mut placed = drawing(&grid);
    placed.extend(unreachable(&grid));
    placed.sort_by_key(|breach| match breach {
        Breach::At(at, _) | Breach::Unreachable(at, _) => *at,
        _ => Position::new(0, 0),
    });
    breaches.extend(placed);
    let display = DISPLAY_HEADER.len() + grid.text().len();
    let (rows, cols) = (grid.rows(), grid.cols());
    let size = format!("{rows} rows of {cols} columns, {count} room spots, displays of {display} bytes");
    let travel = if display > UNFRAGMENTED {
        format!(
            "a display is larger than {UNFRAGMENTED} bytes, so it travels in fragments on Ethernet: if one is lost, all is lost"
        )
    } else {
        format!("a display fits one Ethernet frame ({UNFRAGMENTED} bytes)")
    };
    Report { breaches, notes: vec![size, travel] }
}

type Parsed = Result<(Grid, Vec<Repair>), ParseGridError>;

// Replaces foreign characters by rock, so that one call reports them all.
fn without_foreign(text: &[u8]) -> (Vec<Breach>, Parsed) {
    const MOST: usize = 100;
    let mut breaches = vec![];
    let mut rest = text.to_vec();
    loop {
        let parsed = Grid::parse(&rest);
        let Err(ParseGridError::Foreign { at, byte }) = parsed else { return (breaches, parsed) };
        let mut lines = rest.split_mut(|&byte| byte == b'\n');
        let line = lines.nth(usize::from(at.row)).unwrap_or_default();
        match line.iter_mut().find(|other| **other == byte) {
            Some(foreign) if breaches.len() + 1 < MOST => *foreign = ROCK,
            _ => return (breaches, parsed),
        }
        breaches.push(Breach::Unplayable(ParseGridError::Foreign { at, byte }));
    }
}

struct Around<'a> {
    grid: &'a Grid,
    row: i32,
    col: i32,
}

impl Around<'_> {
    fn at(&self, (rows, cols): (i32, i32)) -> u8 {
        let position = u16::try_from(self.row + rows).ok().zip(u16::try_from(self.col + cols).ok());
        let cell = position.and_then(|(row, col)| self.grid.cell(Position::new(row, col)));
        cell.map_or(ROCK, |cell| self.grid.at(cell))
    }

    fn is(&self, place: (i32, i32), kinds: &[u8]) -> bool {
        kinds.contains(&self.at(place))
    }

    fn both(&self, places: [(i32, i32); 2], kinds: &[u8]) -> bool {
        places.into_iter().all(|place| self.is(place, kinds))
    }

    fn either(&self, places: [(i32, i32); 2], kinds: &[u8]) -> bool {
        places.into_iter().any(|place| self.is(place, kinds))
    }
}

const LEFT_RIGHT: [(i32, i32); 2] = [(0, -1), (0, 1)];
const UP_DOWN: [(i32, i32); 2] = [(-1, 0), (1, 0)];
const DIAGONALS: [(i32, i32); 4] = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
const ALONG: &[u8] = &[HORIZONTAL, CORNER, PASSAGE];
const UPRIGHT: &[u8] = &[VERTICAL, CORNER, PASSAGE];

fn drawing(grid: &Grid) -> Vec<Breach> {
    let mut breaches = vec![];
    for row in 0..grid.rows() {
        for col in 0..grid.cols() {
            let at = Position::new(row, col);
            let around = Around { grid, row: row.into(), col: col.into() };
            let mut found = |what| breaches.push(Breach::At(at, what));
            match around.at((0, 0)) {
                ROOM => room_spot(&around, &mut found),
                PASSAGE => passage_spot(&around, &mut found),
                HORIZONTAL => {
                    if !around.both(LEFT_RIGHT, ALONG) {
                        found(
                            "a horizontal boundary ends without a corner: '-' continues as '-', '+' or '#' on both \
                             sides",
                        );
                    }
                    if around.either(UP_DOWN, &[VERTICAL]) {
                        found("a horizontal boundary meets a vertical one outside a corner: use '+'");
                    }
                }
                VERTICAL => {
                    if !around.both(UP_DOWN, UPRIGHT) {
                        found(
                            "a vertical boundary ends without a corner: '|' continues as '|', '+' or '#' above and \
                             below",
                        );
                    }
                    if around.either(LEFT_RIGHT, &[HORIZONTAL]) {
                        found("a vertical boundary meets a horizontal one outside a corner: use '+'");
                    }
                }
                CORNER if !around.either(LEFT_RIGHT, ALONG) || !around.either(UP_DOWN, UPRIGHT) => {
                    found("a corner joins no two boundaries: '+' has one beside it and one above or below");
                }
                _ => {}
            }
        }
    }
    breaches
}

fn room_spot(around: &Around<'_>, found: &mut impl FnMut(&'static str)) {
    let edge = |(rows, cols): (i32, i32)| {
        let (row, col) = (around.row + rows, around.col + cols);
        row < 0 || col < 0 || row >= i32::from(around.grid.rows()) || col >= i32::from(around.grid.cols())
    };
    let ways = || Direction::ALL.into_iter().map(Direction::delta);
    if ways().any(edge) {
        found("the room is open to the edge of the map: a boundary must close it");
    } else if ways().any(|way| around.is(way, &[ROCK])) {
        found("the room is open to solid rock: boundaries must close it, corners too");
    }
}

fn passage_spot(around: &Around<'_>, found: &mut impl FnMut(&'static str)) {
    let through_horizontal = around.either(UP_DOWN, &[ROOM]);
    let through_vertical = around.either(LEFT_RIGHT, &[ROOM]);
    let in_horizontal = around.both(LEFT_RIGHT, &[HORIZONTAL, CORNER]);
    let in_vertical = around.both(UP_DOWN, &[VERTICAL, CORNER]);
    if (through_horizontal && !in_horizontal) || (through_vertical && !in_vertical) {
        found("a passage opens into a room without breaking a wall: '#' must be in the boundary, one spot wide");
    } else if !in_horizontal
        && !in_vertical
        && DIAGONALS.into_iter().any(|(rows, cols)| {
            let corner = around.is((rows, cols), &[ROOM]);
            corner && around.is((0, cols), &[HORIZONTAL, CORNER]) && around.is((rows, 0), &[VERTICAL, CORNER])
        })
    {
        found("a passage breaks a corner: it may break a wall only");
    }
    let passage = |place| around.is(place, &[PASSAGE]);
    if passage((0, 1)) && passage((1, 0)) && passage((1, 1)) {
        found("a passage is two spots wide here: one is allowed");
    }
    let loose =
        |cols| passage((1, cols)) && !around.is((0, cols), &[PASSAGE, ROOM]) && !around.is((1, 0), &[PASSAGE, ROOM]);
    if loose(-1) || loose(1) {
        found("a passage turns diagonally: it must go straight or bend at a right angle");
    }
}

// One breach for each part outside the largest.
fn unreachable(grid: &Grid) -> Vec<Breach> {
    let mut met = vec![false; grid.text().len()];
    let mut parts: Vec<(Cell, usize)> = vec![];
    for (offset, &byte) in (0u16..).zip(grid.text()) {
        if !matches!(byte, ROOM | PASSAGE) || met[usize::from(offset)] {
            continue;
        }
        let count = grid.reach(Cell(offset), &mut met).count();
        parts.push((Cell(offset), count));
    }
    let Some(&(largest, _)) = parts.iter().max_by_key(|&&(first, count)| (count, core::cmp::Reverse(first))) else {
        return vec![];
    };
    let cut_off = parts.into_iter().filter(|&(first, _)| first != largest);
    cut_off.map(|(first, count)| Breach::Unreachable(grid.position(first), count)).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.notes.iter().cloned().chain(self.breaches.iter().map(ToString::to_string));
        lines.into_iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
