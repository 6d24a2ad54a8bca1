//! How clients come to look on and to play.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use nuggets::{
    Letter, Name,
    grid::{Cell, Grid, ROOM},
    protocol::printable,
};

use super::{
    super::{
        displays::{differences, is_shaped, shown},
        rules,
        world::{Effect, World},
    },
    Deed, GOLD, Kind, Party, Role, kinds,
};
use crate::{
    judge::{Halt, Played},
    rule::Rule,
};

/// How long to wait before SPECTATE is tried again.
const PAUSE: Duration = Duration::from_millis(500);

impl Party<'_> {
    /// Sends SPECTATE from a client. `map` is the map if it is known.
    pub(in crate::nuggets_server) fn spectate(&mut self, number: usize, map: Option<&Grid>) -> Played {
        let all = [Kind::Grid, Kind::Gold, Kind::Display];
        let before =
            self.clients.iter().position(|client| client.role == Role::Spectator).filter(|&before| before != number);
        if let Some(before) = before {
            self.clients[before].leaving = true;
        }
        let by = self.options.deadline();
        loop {
            self.send(number, b"SPECTATE");
            self.wait_until(by, |party| {
                let client = &party.clients[number];
                all.iter().all(|&kind| client.has(kind)) || client.has(Kind::Quit) || client.has(Kind::Error)
            });
            // A server may bound how often spectators are replaced.
            let client = &self.clients[number];
            if !client.has(Kind::Error) || client.has(Kind::Grid) || Instant::now() >= by {
                break;
            }
            self.wait_until(by.min(Instant::now() + PAUSE), |_| false);
        }
        let is_again = self.idle.as_ref().is_some_and(|(rule, _)| **rule == rules::WATCH_AGAIN);
        let rule = if is_again { &rules::WATCH_AGAIN } else { &rules::WATCH };
        self.answered(number, &all, rule, "SPECTATE", "GRID, GOLD and DISPLAY")?;
        self.cast(number, Role::Spectator);
        let client = &self.clients[number];
        let (display, size, left) = (client.display.clone(), client.size, client.left);
        if self.world.is_none() {
            self.begin(map, &display, size, left)?;
        } else {
            let board = self.world()?.board();
            self.judge.check(&rules::BOARD, display == board, || {
                format!(
                    "the DISPLAY of a new spectator is wrong: {}",
                    self.world.as_ref().map_or_else(String::new, |world| differences(&world.grid, &board, &display))
                )
            });
        }
        if let Some(before) = before {
            let told = self.wait(|party| party.clients[before].quit.is_some());
            self.judge.require(&rules::REPLACED, told, || {
                "the spectator got no QUIT when another client sent SPECTATE".to_owned()
            })?;
            self.text(before, "You have been replaced by a new spectator.");
        }
        Ok(())
    }

    // Whether these messages came first, apart from ERRORs.
    fn answered(&mut self, number: usize, all: &[Kind], rule: &'static Rule, what: &str, wanted: &str) -> Played {
        let log: Vec<Kind> = self.clients[number].log.iter().copied().filter(|&kind| kind != Kind::Error).collect();
        if !log.starts_with(all) {
            return self
                .lacking(rule, || format!("{what} was answered by {}; {wanted} must come in this order", kinds(&log)));
        }
        self.judge.require(rule, true, String::new)
    }

    // Makes a model of the game that begins, of what a spectator is shown first.
    fn begin(&mut self, map: Option<&Grid>, display: &[u8], size: Option<(u16, u16)>, left: Option<u32>) -> Played {
        let (rows, cols) = size.unwrap_or_default();
        let piles: BTreeSet<Cell> =
            (0..=u16::MAX).map(Cell).zip(display).filter(|&(_, &byte)| byte == b'*').map(|(cell, _)| cell).collect();
        let grid = if let Some(map) = map {
            let expected = (map.rows(), map.cols());
            self.judge.require(&rules::GRID, (rows, cols) == expected, || {
                let (true_rows, true_cols) = expected;
                format!("the server sent GRID {rows} {cols}, but its map has {true_rows} rows of {true_cols} columns")
            })?;
            map.clone()
        } else {
            self.drawn(display, (rows, cols))?
        };
        self.doubts.begun = true;
        self.judge.require(&rules::SHAPE, is_shaped(display, rows, cols), || {
            format!(
                "GRID {rows} {cols} was followed by a DISPLAY of {} bytes of text; {} would be right",
                display.len(),
                usize::from(rows) * (usize::from(cols) + 1)
            )
        })?;
        let world = World::new(grid, piles);
        let astray =
            world.piles.iter().find(|&&cell| world.grid.at(cell) != ROOM).map(|&cell| world.grid.position(cell));
        self.judge.check(&rules::PILES_IN_ROOMS, astray.is_none(), || {
            format!("a pile lies at {}, which is no room spot", astray.map_or_else(String::new, |at| at.to_string()))
        });
        let board = world.board();
        self.judge.require(&rules::BOARD, board == display, || {
            format!("the first DISPLAY of the spectator is not the map: {}", differences(&world.grid, &board, display))
        })?;
        let count = world.piles.len();
        if map.is_some() {
            self.judge
                .check(&rules::PILES, (10..=30).contains(&count), || format!("the game began with {count} piles"));
            self.judge.check(&rules::TOTAL, left == Some(GOLD), || {
                format!("the game began with {} nuggets to be found; 250 would be right", left.unwrap_or(0))
            });
        }
        self.total = left;
        self.world = Some(world);
        Ok(())
    }

    // The map of a server that runs already, as a spectator is shown it.
    fn drawn(&mut self, display: &[u8], size: (u16, u16)) -> Played<Grid> {
        if display.iter().any(u8::is_ascii_uppercase) {
            if self.doubts.begun {
                // Players of an earlier scenario, who could not leave. That is noted.
                return Err(Halt::Broken);
            }
            let text = "somebody plays there; the server must have a game in which nobody plays yet";
            return Err(anyhow::anyhow!(text).into());
        }
        let text: Vec<u8> = display.iter().map(|&byte| if byte == b'*' { ROOM } else { byte }).collect();
        match Grid::parse(&text) {
            Ok((grid, _)) if (grid.rows(), grid.cols()) == size => Ok(grid),
            _ => self.judge.broken(&rules::BOARD, || {
                format!("GRID {} {} and the DISPLAY of the spectator ({}) are no map", size.0, size.1, shown(display))
            }),
        }
    }

    /// Lets a client join, and sees that everybody is told of it.
    pub(in crate::nuggets_server) fn join(&mut self, name: &str) -> Played<usize> {
        self.join_as(name.as_bytes())
    }

    pub(in crate::nuggets_server) fn join_as(&mut self, name: &[u8]) -> Played<usize> {
        let number = self.stranger()?;
        let all = [Kind::Ok, Kind::Grid, Kind::Gold, Kind::Display];
        let text = format!("PLAY {}", printable(name, b""));
        self.send(number, &[b"PLAY ", name].concat());
        self.wait(|party| {
            let client = &party.clients[number];
            all.iter().all(|&kind| client.has(kind)) || client.has(Kind::Quit)
        });
        self.answered(number, &all, &rules::WELCOME, &text, "OK, GRID, GOLD and DISPLAY")?;
        let Some(letter) = self.clients[number].letter else { return Err(Halt::Broken) };
        let expected = self.joined.last().map(|(before, ..)| before.byte().wrapping_add(1));
        // A server that runs already may have had players before.
        let expected = expected.or_else(|| self.fresh.then_some(b'A'));
        let has_any_left = self.clients.iter().any(|client| client.has_left);
        let rule = if has_any_left { &rules::LETTER_KEPT } else { &rules::LETTERS };
        self.judge.require(rule, expected.is_none_or(|expected| expected == letter.byte()), || {
            format!("{text} got the letter {letter}; {} would be right", char::from(expected.unwrap_or(b'A')))
        })?;
        self.cast(number, Role::Player(letter));
        let Ok(name) = Name::new(name) else { return Err(Halt::Broken) };
        self.joined.push((letter, name, number));
        let watcher = self.spectator();
        self.wait(|party| watcher.is_none_or(|watcher| party.sees(watcher, letter).is_some()));
        let Some(cell) = watcher.and_then(|watcher| self.sees(watcher, letter)) else {
            return self.lacking(&rules::ALL, || {
                format!("{text}: the spectator was sent no DISPLAY that shows player {letter}")
            });
        };
        let world = self.world()?;
        let (at, free) = (world.grid.position(cell), world.board().get(cell.index()) == Some(&ROOM));
        self.judge
            .require(&rules::PLACE, free, || format!("player {letter} was put at {at}, which is no empty room spot"))?;
        if let Some(world) = &mut self.world {
            world.place(letter, cell);
        }
        self.settle(&Deed { text: &text, rule: &rules::BOARD, mover: None, effect: Effect::default() })?;
        Ok(number)
    }

    fn spectator(&self) -> Option<usize> {
        self.clients.iter().position(|client| client.role == Role::Spectator && client.quit.is_none())
    }

    // Where a client is shown a letter.
    fn sees(&self, number: usize, letter: Letter) -> Option<Cell> {
        let display = &self.clients[number].display;
        display.iter().position(|&byte| byte == letter.byte()).and_then(|at| u16::try_from(at).ok()).map(Cell)
    }
}
