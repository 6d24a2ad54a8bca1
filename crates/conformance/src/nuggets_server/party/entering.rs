//! Lets clients watch and play.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use nuggets::{
    Letter, Name,
    game::MAX_PLAYERS,
    grid::{Cell, Grid, ROOM},
};

use super::{
    super::{
        displays::{differences, shown},
        reading::fitted,
        rules,
        settle::cells,
        wire::key_message,
        world::World,
    },
    Deed, GOLD, Kind, Party, Role, STEPS, kinds,
};
use crate::{
    judge::{Halt, Played},
    rule::Rule,
};

/// How long to wait before SPECTATE is repeated.
const PAUSE: Duration = Duration::from_millis(500);

impl Party<'_> {
    /// Starts a game without a spectator on a known map.
    pub(in crate::nuggets_server) fn unwatched(&mut self, map: &Grid) {
        self.total = self.fresh.then_some(GOLD);
        self.world = Some(World::new(map.clone(), BTreeSet::new()));
    }

    /// Sends SPECTATE from a client. `map` is the map if it is known. If the server sends no DISPLAY, the game continues without
    /// a spectator.
    pub(in crate::nuggets_server) fn spectate(&mut self, number: usize, map: Option<&Grid>) -> Played {
        let all = [Kind::Grid, Kind::Gold, Kind::Display];
        let before = self.spectator();
        if let Some(before) = before {
            self.clients[before].leaving = true;
        }
        self.size = self.size.or(map.map(|map| (map.rows(), map.cols())));
        let by = self.options.deadline();
        loop {
            self.send(number, b"SPECTATE");
            self.wait_until(by, |party| {
                let client = &party.clients[number];
                all.iter().all(|&kind| client.has(kind)) || client.has(Kind::Quit) || client.has(Kind::Error)
            });
            // A server may limit how often spectators are replaced.
            let client = &self.clients[number];
            if !client.has(Kind::Error) || client.has(Kind::Grid) || Instant::now() >= by {
                break;
            }
            self.wait_until(by.min(Instant::now() + PAUSE), |_| false);
        }
        self.answered(number, &all, &rules::WATCH, "SPECTATE", "GRID, GOLD and DISPLAY")?;
        let client = &self.clients[number];
        let (display, size, left) = (client.display.clone(), client.size, client.left);
        if display.is_empty() {
            return match (map, &self.world) {
                (Some(map), None) => {
                    self.unwatched(map);
                    Ok(())
                }
                (None, None) => Err(Halt::Broken),
                (_, Some(_)) => Ok(()),
            };
        }
        self.cast(number, Role::Spectator);
        if self.world.is_none() {
            self.begin(map, number, &display, size, left)?;
        } else {
            let board = self.world()?.board();
            self.judge.check(&rules::BOARD, display == board, || {
                format!(
                    "first DISPLAY of a new spectator: {}",
                    self.world.as_ref().map_or_else(String::new, |world| differences(&world.grid, &board, &display))
                )
            });
        }
        if let Some(before) = before {
            let is_told = self.wait(|party| party.clients[before].quit.is_some());
            if !self.judge.check(&rules::REPLACED, is_told, || {
                "the spectator: expected QUIT after SPECTATE of another client, received none".to_owned()
            }) {
                self.cast(before, Role::Stranger);
            }
            self.text(before, "You have been replaced by a new spectator.");
        }
        Ok(())
    }

    // Whether these messages arrived in this order, with no other messages between them except ERRORs.
    fn answered(&mut self, number: usize, all: &[Kind], rule: &'static Rule, what: &str, wanted: &str) -> Played {
        let log: Vec<Kind> = self.clients[number].log.iter().copied().filter(|&kind| kind != Kind::Error).collect();
        if log.starts_with(all) {
            self.judge.check(rule, true, String::new);
            return Ok(());
        }
        self.missing(rule, || format!("expected {wanted}, in this order, after {what}, received {}", kinds(&log)))
    }

    // Creates a model of the new game from the spectator's first messages.
    fn begin(
        &mut self,
        map: Option<&Grid>,
        number: usize,
        display: &[u8],
        size: Option<(u16, u16)>,
        left: Option<u32>,
    ) -> Played {
        let grid = match map {
            Some(map) => {
                let right = (map.rows(), map.cols());
                if let Some((rows, cols)) = size.filter(|_| self.is_strict) {
                    self.judge.check(&rules::GRID, (rows, cols) == right, || {
                        let (true_rows, true_cols) = right;
                        format!("expected GRID {true_rows} {true_cols}, received GRID {rows} {cols}")
                    });
                }
                map.clone()
            }
            None => self.drawn(display, size.unwrap_or_default())?,
        };
        // It was parsed in the shape that GRID states.
        let display = fitted(display, grid.rows(), grid.cols());
        self.clients[number].display.clone_from(&display);
        let piles: BTreeSet<Cell> =
            (0..=u16::MAX).map(Cell).zip(&display).filter(|&(_, &byte)| byte == b'*').map(|(cell, _)| cell).collect();
        let world = World::new(grid, piles);
        let astray =
            world.piles.iter().find(|&&cell| world.grid.at(cell) != ROOM).map(|&cell| world.grid.position(cell));
        self.judge.check(&rules::PILES_IN_ROOMS, astray.is_none(), || {
            format!(
                "expected piles on room spots, received one at {}",
                astray.map_or_else(String::new, |at| at.to_string())
            )
        });
        let board = world.board();
        self.judge.check(&rules::BOARD, board == display, || {
            format!("first DISPLAY of the spectator: {}", differences(&world.grid, &board, &display))
        });
        let count = world.piles.len();
        if map.is_some() && self.is_strict {
            self.judge.check(&rules::PILES, (10..=30).contains(&count), || {
                format!("expected 10 to 30 piles at the start, received {count}")
            });
            self.judge.check(&rules::TOTAL, left.is_none_or(|left| left == GOLD), || {
                format!("expected 250 nuggets at the start, received {}", left.unwrap_or(0))
            });
        }
        self.total = left;
        self.world = Some(world);
        Ok(())
    }

    // The map of a running server according to the spectator's DISPLAY.
    fn drawn(&mut self, display: &[u8], size: (u16, u16)) -> Played<Grid> {
        if display.iter().any(u8::is_ascii_uppercase) {
            if self.judge.has_failed(&rules::LEAVE) || self.judge.has_failed(&rules::LEFT) {
                // Players of an earlier scenario could not leave. That was recorded.
                return Err(Halt::Broken);
            }
            let text = "the server's game already has players: use a server with an empty game";
            return Err(anyhow::anyhow!(text).into());
        }
        let text: Vec<u8> = display.iter().map(|&byte| if byte == b'*' { ROOM } else { byte }).collect();
        match Grid::parse(&text) {
            Ok((grid, _)) if (grid.rows(), grid.cols()) == size => Ok(grid),
            _ => self.judge.broken(&rules::BOARD, || {
                format!("expected a map, received GRID {} {} and the DISPLAY {}", size.0, size.1, shown(display))
            }),
        }
    }

    /// Lets a client join, and judges the messages to all clients.
    pub(in crate::nuggets_server) fn join(&mut self, name: &str) -> Played<usize> {
        self.join_as(name.as_bytes(), &rules::WELCOME)
    }

    /// Like [`Party::join`]. If the player is not accepted, `rule` is broken.
    pub(in crate::nuggets_server) fn join_as(&mut self, name: &[u8], rule: &'static Rule) -> Played<usize> {
        let number = self.stranger()?;
        let all = [Kind::Ok, Kind::Grid, Kind::Gold, Kind::Display];
        let text = format!("PLAY {}", shown(name));
        self.send(number, &[b"PLAY ", name].concat());
        self.wait(|party| {
            let client = &party.clients[number];
            all.iter().all(|&kind| client.has(kind)) || client.has(Kind::Quit)
        });
        let client = &self.clients[number];
        if let Some(text) = client.quit.as_ref().filter(|_| !self.fresh)
            && (self.letters >= MAX_PLAYERS || text.to_ascii_lowercase().windows(4).any(|word| word == b"full"))
        {
            // Players that joined before this test may have received letters too.
            self.letters = self.letters.max(MAX_PLAYERS);
            return Err(Halt::Broken);
        }
        if client.quit.is_some() || !client.has(Kind::Ok) && !client.display.contains(&b'@') {
            let log = client.log.clone();
            let wrong = || format!("expected OK after {text}, received {}", kinds(&log));
            // If a name ends the server, the rule about this name is broken.
            return if rule == &rules::WELCOME { self.lacking(rule, wrong) } else { self.judge.broken(rule, wrong) };
        }
        self.answered(number, &all, &rules::WELCOME, &text, "OK, GRID, GOLD and DISPLAY")?;
        let letter = self.lettered(number, &text)?;
        self.cast(number, Role::Player(letter));
        let Ok(name) = Name::new(name) else { return Err(Halt::Broken) };
        self.joined.push((letter, name, number));
        let is_placed = self.wait(|party| party.place(letter).is_some() || party.are_shown());
        if self.place(letter).is_none() {
            self.drain();
        }
        if let Some(cell) = self.place(letter) {
            let world = self.world()?;
            let (at, is_free) = (world.grid.position(cell), world.board().get(cell.index()) == Some(&ROOM));
            self.judge.check(&rules::PLACE, is_free, || {
                format!("expected player {letter} on an empty room spot, received {at}")
            });
            if let Some(world) = &mut self.world {
                world.place(letter, cell);
            }
        } else if is_placed {
            // Gold or another player is drawn over it.
            self.judge.check(&rules::PLACE, false, || {
                format!("expected player {letter} in the DISPLAYs after {text}, received none")
            });
            // Another of its keys may succeed.
            return self.uncover(number, letter).or(Ok(())).map(|()| number);
        } else {
            self.missing(&rules::ALL, || {
                format!("expected the place of player {letter} in a DISPLAY after {text}, received none")
            })?;
        }
        self.settle(&Deed::of(&text, &rules::BOARD))?;
        Ok(number)
    }

    // Whether all clients have received the state of the game since the last action.
    fn are_shown(&self) -> bool {
        self.active().into_iter().all(|number| self.clients[number].is_shown())
    }

    // Moves a player that no DISPLAY shows until one does.
    pub(in crate::nuggets_server) fn uncover(&mut self, number: usize, letter: Letter) -> Played {
        for &key in STEPS {
            self.send(number, &key_message(key));
            self.wait_until(Instant::now() + self.grace(), |party| party.place(letter).is_some());
            if let Some(cell) = self.place(letter) {
                let mut world = self.world()?.clone();
                world.place(letter, cell);
                self.drain();
                self.adopt(&world, true);
                return Ok(());
            }
        }
        Err(Halt::Broken)
    }

    // The letter of a new player, which no other player has had.
    fn lettered(&mut self, number: usize, text: &str) -> Played<Letter> {
        let expected = self.joined.last().map(|(before, ..)| before.byte().wrapping_add(1));
        // A running server may have had players before.
        let expected = expected.or_else(|| self.fresh.then_some(b'A'));
        let Some(letter) = self.clients[number].letter.or_else(|| expected.and_then(Letter::from_byte)) else {
            return Err(Halt::Broken);
        };
        let is_new = self.joined.iter().all(|(other, ..)| *other != letter);
        self.judge.require(&rules::LETTER_KEPT, is_new, || {
            format!("expected an unused letter after {text}, received {letter}")
        })?;
        self.judge.check(&rules::LETTERS, expected.is_none_or(|expected| expected == letter.byte()), || {
            format!("expected the letter {} after {text}, received {letter}", char::from(expected.unwrap_or(b'A')))
        });
        Ok(letter)
    }

    /// The spectator that is registered with the server.
    pub(in crate::nuggets_server) fn spectator(&self) -> Option<usize> {
        self.clients.iter().position(|client| client.role == Role::Spectator && client.quit.is_none())
    }

    /// The position of a player in the last DISPLAYs: in the spectator's, or else in its own.
    pub(in crate::nuggets_server) fn place(&self, letter: Letter) -> Option<Cell> {
        let board = self.true_board().unwrap_or_default();
        let shown = cells(board).find(|(_, byte)| *byte == letter.byte()).map(|(cell, _)| cell);
        shown.or_else(|| self.own_place(letter))
    }
}
