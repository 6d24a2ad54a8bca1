//! What must follow an action.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use nuggets::{
    Letter,
    grid::{Cell, PASSAGE, ROCK, ROOM},
};

use super::{
    displays::{differences, shown},
    party::{Client, Deed, Idle, Kind, Party, Role},
    rules,
    wire::key_message,
    world::{Effect, World},
};
use crate::{
    judge::{Halt, Played},
    rule::Rule,
};

/// One observation: the client that it is about, and what is wrong unless the rule is kept.
struct Observation {
    rule: &'static Rule,
    client: usize,
    wrong: Option<String>,
}

impl Observation {
    fn new(rule: &'static Rule, client: usize, kept: bool, wrong: impl FnOnce() -> String) -> Self {
        Self { rule, client, wrong: (!kept).then(wrong) }
    }
}

/// The rule that differences of a view break, their number, and the first: its cell, the right byte, and the one that was shown.
type Differences = (&'static Rule, u32, Option<(Cell, u8, u8)>);

/// What was true before an action.
struct Before {
    purses: Vec<u32>,
    active: Vec<usize>,
}

impl Party<'_> {
    /// Types a key as a player, and judges what it does. A key that must have no effect is judged with the next one that has.
    pub(super) fn key(&mut self, number: usize, key: u8) -> Played<Effect> {
        if self.clients[number].quit.is_some() {
            // It is noted already that it must not be.
            return Err(Halt::Broken);
        }
        let letter = self.letter(number)?;
        let (world, effect) = self.world()?.forecast(letter, key);
        let text = format!("KEY {} of player {letter}", char::from(key));
        if effect.steps == 0 {
            self.idle(number, &key_message(key), &rules::BLOCKED, &text);
            return Ok(effect);
        }
        let is_pushed = |other: &Letter| {
            *other != letter && world.cell(*other) != self.world.as_ref().and_then(|world| world.cell(*other))
        };
        let pushed = world.letters().filter(is_pushed).collect();
        self.world = Some(world);
        self.send(number, &key_message(key));
        let is_diagonal = b"yubn".contains(&key.to_ascii_lowercase());
        let rule = match (effect.steps > 1, effect.swaps > 0, key.is_ascii_uppercase()) {
            (true, true, _) => &rules::RUN_SWAP,
            (true, false, _) if effect.piles > 0 => &rules::RUN_GOLD,
            (_, true, _) => &rules::SWAP,
            (_, false, true) if is_diagonal => &rules::RUN_DIAGONAL,
            (_, false, true) => &rules::RUN,
            (_, false, false) if is_diagonal => &rules::DIAGONAL,
            (_, false, false) => &rules::STEP,
        };
        self.settle(&Deed { text: &text, rule, mover: Some(letter), pushed, effect })?;
        Ok(effect)
    }

    /// Sends what must have no effect. The next key shows whether it had.
    pub(super) fn idle(&mut self, number: usize, datagram: &[u8], rule: &'static Rule, text: &str) {
        let by = self.letter(number).ok();
        self.send(number, datagram);
        self.idle = Some(Idle { rule, text: text.to_owned(), by });
    }

    /// Sends KEY Q, which must be answered by QUIT. Returns whether it was.
    pub(super) fn quit(&mut self, number: usize, rule: &'static Rule) -> Played<bool> {
        let who = self.who(number);
        self.clients[number].leaving = true;
        self.send(number, b"KEY Q");
        if self.wait(|party| party.clients[number].quit.is_some()) {
            self.judge.check(rule, true, String::new);
            return Ok(true);
        }
        self.missing(rule, || format!("{who} sent KEY Q and got no QUIT")).map(|()| false)
    }

    pub(super) fn leave(&mut self, number: usize) -> Played {
        let letter = self.letter(number)?;
        self.quit(number, &rules::LEAVE)?;
        self.clients[number].has_left = true;
        self.text(number, "Thanks for playing!");
        if let Some(world) = &mut self.world {
            world.remove(letter);
        }
        let text = format!("KEY Q of player {letter}");
        let (pushed, effect) = (Vec::new(), Effect::default());
        self.settle(&Deed { text: &text, rule: &rules::LEFT, mover: None, pushed, effect })?;
        if self.clients[number].quit.is_some() {
            self.judge.check(&rules::SILENT, true, String::new);
        }
        Ok(())
    }

    /// Compares the text of a QUIT with that of the protocol.
    pub(super) fn text(&mut self, number: usize, wanted: &str) {
        let Some(text) = &self.clients[number].quit else { return };
        let text = text.trim_ascii_end();
        self.judge.check(&rules::TEXTS, text == wanted.as_bytes(), || {
            format!("QUIT {}; the protocol says QUIT {wanted}", shown(text))
        });
    }

    /// The clients that are sent all changes.
    pub(super) fn active(&self) -> Vec<usize> {
        let is_active = |number: &usize| {
            let client = &self.clients[*number];
            client.role != Role::Stranger && client.quit.is_none() && !client.has_left
        };
        (0..self.clients.len()).filter(is_active).collect()
    }

    /// Waits until all clients have been sent what is true now, judges what they were sent, and takes it over.
    pub(super) fn settle(&mut self, deed: &Deed<'_>) -> Played {
        let world = self.world()?.clone();
        let before = Before { purses: self.clients.iter().map(|client| client.purse).collect(), active: self.active() };
        let views: BTreeMap<Letter, Vec<u8>> = world.letters().map(|letter| (letter, world.view(letter))).collect();
        let by = self.options.deadline();
        let mut quiet_by: Option<Instant> = None;
        let found = loop {
            let found = self.observations(deed, &world, &views, &before);
            let mut broken = found.iter().filter(|observation| observation.wrong.is_some()).peekable();
            if broken.peek().is_none() || before.active.is_empty() {
                break found;
            }
            // A deviation that is known already is not waited for.
            let mut until = by;
            if broken.all(|observation| self.judge.has_failed(observation.rule)) {
                if self.has_arrived(deed, &world, &found, &before) {
                    break found;
                }
                until = by.min(*quiet_by.get_or_insert_with(|| Instant::now() + self.grace()));
            }
            let mut count = 0;
            let has_more = self.wait_until(until, |_| {
                count += 1;
                count > 1
            });
            if !has_more {
                break self.observations(deed, &world, &views, &before);
            }
        };
        self.conclude(deed, &world, &before, found)
    }

    // Whether all messages that an action causes have come, whatever else is wrong with them.
    fn has_arrived(&self, deed: &Deed<'_>, world: &World, found: &[Observation], before: &Before) -> bool {
        if deed.mover.is_some_and(|mover| self.place(mover) != world.cell(mover)) {
            return false;
        }
        let is_missing = |observation: &Observation| {
            let by_time = [&rules::ALL, &rules::COLLECT, &rules::OTHERS, deed.rule];
            observation.wrong.is_some() && by_time.contains(&observation.rule)
        };
        !found.iter().any(is_missing) && before.active.iter().all(|&number| self.clients[number].is_shown())
    }

    // Records the observations, and adopts what the server shows.
    fn conclude(&mut self, deed: &Deed<'_>, world: &World, before: &Before, found: Vec<Observation>) -> Played {
        let is_silent = !before.active.is_empty()
            && before.active.iter().all(|&number| {
                let client = &self.clients[number];
                !client.has(Kind::Display) && client.quit.is_none()
            });
        if is_silent {
            let text = self.deed_text(deed);
            let idle = self.idle.as_ref().map(|idle| idle.rule);
            // If steps are not answered in general, what was sent before cannot be judged.
            let rule = idle.filter(|_| !self.judge.has_failed(deed.rule)).unwrap_or(deed.rule);
            self.unanswered += 1;
            let played = self.missing(rule, || format!("no client got a DISPLAY after {text}"));
            self.idle = None;
            self.adopt(world);
            return played;
        }
        for Observation { rule, client, wrong } in found {
            self.attend(client);
            self.judge.check(rule, wrong.is_none(), || wrong.unwrap_or_default());
        }
        self.judge.check(&rules::EARLY, true, String::new);
        if let Some(idle) = self.idle.take() {
            self.judge.check(idle.rule, true, String::new);
        }
        self.adopt(world);
        if before.active.iter().any(|&number| self.clients[number].quit.is_some()) && self.active().is_empty() {
            return Err(Halt::Broken);
        }
        Ok(())
    }

    // Corrects the model by what the server shows, so that a deviation is not judged again with later actions.
    fn adopt(&mut self, world: &World) {
        let mut world = world.clone();
        let spectator = self.spectator().filter(|&watcher| self.clients[watcher].is_shown());
        if let Some(watcher) = spectator {
            let display = &self.clients[watcher].display;
            world.piles = cells(display).filter(|(_, byte)| *byte == b'*').map(|(cell, _)| cell).collect();
            let places = places(display);
            let gone: Vec<Letter> = world.letters().filter(|letter| !places.contains_key(letter)).collect();
            for (letter, cell) in places {
                world.correct(letter, cell);
            }
            for letter in gone {
                if let Some(cell) = self.own_place(letter) {
                    world.correct(letter, cell);
                }
            }
        } else {
            for letter in world.letters().collect::<Vec<_>>() {
                if let Some(cell) = self.own_place(letter) {
                    world.correct(letter, cell);
                    let shown = cells(self.own_display(letter).unwrap_or_default());
                    let (piles, others): (Vec<_>, Vec<_>) =
                        shown.filter(|(cell, _)| world.sees(letter, *cell)).partition(|(_, byte)| *byte == b'*');
                    world.piles.extend(piles.into_iter().map(|(cell, _)| cell));
                    for (cell, _) in others {
                        world.piles.remove(&cell);
                    }
                }
            }
        }
        self.world = Some(world);
    }

    // What a player was last shown, if that is newer than the last action.
    fn own_display(&self, letter: Letter) -> Option<&[u8]> {
        let is_it = |client: &&Client| client.role == Role::Player(letter) && client.is_shown();
        self.clients.iter().find(is_it).map(|client| &client.display[..])
    }

    fn own_place(&self, letter: Letter) -> Option<Cell> {
        cells(self.own_display(letter)?).find(|(_, byte)| *byte == b'@').map(|(cell, _)| cell)
    }

    fn observations(
        &self,
        deed: &Deed<'_>,
        world: &World,
        views: &BTreeMap<Letter, Vec<u8>>,
        before: &Before,
    ) -> Vec<Observation> {
        let text = self.deed_text(deed);
        let active: Vec<usize> =
            before.active.iter().copied().filter(|&number| self.clients[number].quit.is_none()).collect();
        let mut found = Vec::new();
        // What was sent before and must have no effect may have cut a client off.
        let cut_off = self.idle.as_ref().map(|idle| idle.rule).filter(|_| !self.judge.has_failed(&rules::ALL));
        for &number in &active {
            let is_told = self.clients[number].has(Kind::Display);
            found.push(Observation::new(cut_off.filter(|_| !is_told).unwrap_or(&rules::ALL), number, is_told, || {
                format!("{} got no DISPLAY after {text}", self.who(number))
            }));
        }
        let is_moved = match self.spectator().filter(|&watcher| self.clients[watcher].is_shown()) {
            Some(watcher) => self.observe_board(&mut found, deed, &text, world, watcher),
            None => self.observe_places(&mut found, deed, &text, world, &active),
        };
        if is_moved {
            for &number in active.iter().filter(|&&number| self.clients[number].is_shown()) {
                if let Role::Player(letter) = self.clients[number].role
                    && let Some(expected) = views.get(&letter)
                {
                    self.observe_view(&mut found, deed, &text, world, letter, expected, number);
                }
            }
            self.observe_gold(&mut found, deed, &text, world, &active, before);
        }
        found
    }

    fn deed_text(&self, deed: &Deed<'_>) -> String {
        match &self.idle {
            Some(idle) => format!("{}, and then {}", idle.text, deed.text),
            None => deed.text.to_owned(),
        }
    }

    // The rule that is broken when these players are elsewhere than they must be.
    fn blame(&self, deed: &Deed<'_>, astray: &BTreeSet<Letter>) -> &'static Rule {
        let is_mover = |letter: &Letter| Some(*letter) == deed.mover;
        match &self.idle {
            // The mover shows the effect of its own key, unless it has sent something else before.
            Some(idle) if idle.by.is_some_and(|by| astray.contains(&by)) => idle.rule,
            Some(idle) if astray.iter().any(|letter| !is_mover(letter) && !deed.pushed.contains(letter)) => idle.rule,
            _ => deed.rule,
        }
    }

    // Compares what the spectator is shown. Returns whether all players are where they must be.
    fn observe_board(
        &self,
        found: &mut Vec<Observation>,
        deed: &Deed<'_>,
        text: &str,
        world: &World,
        watcher: usize,
    ) -> bool {
        let (expected, display) = (world.board(), &self.clients[watcher].display);
        let (right, got) = (places(&expected), places(display));
        let letters = right.keys().chain(got.keys()).copied();
        let astray: BTreeSet<Letter> = letters.filter(|letter| right.get(letter) != got.get(letter)).collect();
        let wrong =
            || format!("after {text} the spectator was shown: {}", differences(&world.grid, &expected, display));
        if !astray.is_empty() {
            found.push(Observation::new(self.blame(deed, &astray), watcher, false, wrong));
            return false;
        }
        found.push(Observation::new(deed.rule, watcher, true, wrong));
        let differ = |is_pile: bool| {
            cells(&expected)
                .zip(display)
                .any(|((_, right), &got)| right != got && (right == b'*' || got == b'*') == is_pile)
        };
        let (piles, ground) = (differ(true), differ(false));
        if piles || deed.effect.piles > 0 {
            found.push(Observation::new(&rules::TAKEN, watcher, !piles, wrong));
        }
        found.push(Observation::new(&rules::BOARD, watcher, !ground, wrong));
        true
    }

    // As [`Party::observe_board`] by what the players are shown of themselves.
    fn observe_places(
        &self,
        found: &mut Vec<Observation>,
        deed: &Deed<'_>,
        text: &str,
        world: &World,
        active: &[usize],
    ) -> bool {
        let mut is_right = true;
        for &number in active {
            let Role::Player(letter) = self.clients[number].role else { continue };
            let Some(own) = self.own_place(letter) else { continue };
            let wanted = world.cell(letter);
            let rule = self.blame(deed, &[letter].into());
            let kept = wanted.is_none_or(|wanted| wanted == own);
            is_right &= kept;
            if !kept || deed.mover.is_none_or(|mover| mover == letter) {
                found.push(Observation::new(if kept { deed.rule } else { rule }, number, kept, || {
                    let at = |cell: Option<Cell>| {
                        cell.map_or_else(String::new, |cell| world.grid.position(cell).to_string())
                    };
                    format!("after {text} player {letter} was shown at {} instead of {}", at(Some(own)), at(wanted))
                }));
            }
        }
        is_right
    }

    // Judges what a player was shown.
    #[expect(clippy::too_many_arguments, reason = "all of them are of one action")]
    fn observe_view(
        &self,
        found: &mut Vec<Observation>,
        deed: &Deed<'_>,
        text: &str,
        world: &World,
        letter: Letter,
        expected: &[u8],
        number: usize,
    ) {
        let display = &self.clients[number].display;
        let in_passage = world.cell(letter).is_some_and(|cell| world.grid.at(cell) == PASSAGE);
        let is_pushed = deed.pushed.contains(&letter);
        let sight = if in_passage { &rules::PASSAGE_SIGHT } else { &rules::SIGHT };
        let is_lost = world.is_lost(letter);
        let knows_all = self.spectator().is_some_and(|watcher| self.clients[watcher].is_shown());
        let mut wrong: Vec<Differences> =
            [&rules::OWN, sight, &rules::MEMORY, &rules::STALE, &rules::PUSHED].map(|rule| (rule, 0, None)).into();
        for ((cell, right), &got) in cells(expected).zip(display) {
            // Without a spectator gold and other players are known only by what is shown here.
            let is_new = !knows_all && (right, got) != (b'@', b'@') && is_occupant(got) && right == ROOM;
            if right == got || is_new || is_lost && !world.sees(letter, cell) {
                continue;
            }
            let at = match (right, got) {
                (b'@', _) | (_, b'@') => 0,
                // A server that does not look around for a pushed player shows too little.
                (_, ROCK) if is_pushed && world.sees(letter, cell) => 4,
                _ if world.sees(letter, cell) || !world.knows(letter, cell) => 1,
                (_, ROCK) if world.knows_by_push(letter, cell) => 4,
                (_, ROCK) => 2,
                (_, b'*' | b'A'..=b'Z') => 3,
                _ => 2,
            };
            let (_, count, first) = &mut wrong[at];
            *count += 1;
            first.get_or_insert((cell, right, got));
        }
        for (rule, count, first) in wrong {
            let is_shown = match rule {
                _ if *rule == rules::MEMORY || *rule == rules::STALE => !is_lost && world.remembers(letter),
                _ if *rule == rules::PUSHED => is_pushed,
                _ => true,
            };
            let Some((cell, right, got)) = first else {
                if is_shown {
                    found.push(Observation::new(rule, number, true, String::new));
                }
                continue;
            };
            let own = world.cell(letter).map_or_else(String::new, |own| world.grid.position(own).to_string());
            let more = if count > 1 { format!(" ({count} such places)") } else { String::new() };
            found.push(Observation::new(rule, number, false, || {
                format!(
                    "after {text}, player {letter} at {own} was shown '{}' at {}; '{}' would be right{more}",
                    got.escape_ascii(),
                    world.grid.position(cell),
                    right.escape_ascii()
                )
            }));
        }
    }

    // Why the purses and the gold that is left do not make the total.
    fn unbalanced(&self, number: usize) -> Option<String> {
        let (total, left) = (self.total?, self.clients[number].left?);
        let purses: u32 = self.clients.iter().map(|client| client.purse).fold(0, u32::saturating_add);
        (purses.checked_add(left) != Some(total)).then(|| {
            format!(
                "{} was told that {left} nuggets are left, all purses hold {purses}, together {total} must be",
                self.who(number)
            )
        })
    }

    fn observe_gold(
        &self,
        found: &mut Vec<Observation>,
        deed: &Deed<'_>,
        text: &str,
        world: &World,
        active: &[usize],
        before: &Before,
    ) {
        let piles = u32::try_from(world.piles.len()).unwrap_or(u32::MAX);
        let mut all_paid = true;
        for &number in active {
            let client = &self.clients[number];
            let grown = client.purse.saturating_sub(before.purses[number]);
            let who = self.who(number);
            if deed.mover.is_some_and(|letter| client.role == Role::Player(letter)) && deed.effect.piles > 0 {
                let taken = deed.effect.piles;
                all_paid = grown >= taken;
                found.push(Observation::new(&rules::COLLECT, number, grown >= taken, || {
                    format!("{who} took {taken} piles with {text}, but its GOLD told it of {grown} nuggets")
                }));
                let position = |wanted: Kind| client.log.iter().rposition(|&kind| kind == wanted);
                if let (Some(gold), Some(display)) = (position(Kind::Gold), position(Kind::Display)) {
                    found.push(Observation::new(&rules::ORDER, number, gold < display, || {
                        format!("{who} got GOLD after DISPLAY, for {text}")
                    }));
                }
                continue;
            }
            if client.has(Kind::Gold) || deed.effect.piles > 0 {
                found.push(Observation::new(&rules::COLLECT, number, grown == 0, || {
                    format!("{who} was told that it collected {grown} nuggets, but took no pile, with {text}")
                }));
            }
            if deed.effect.piles > 0 {
                let told = client.has(Kind::Gold);
                found.push(Observation::new(&rules::OTHERS, number, told, || {
                    format!("{who} got no GOLD when {text} collected gold")
                }));
            }
        }
        // Unknown purses cannot be added up.
        for &number in active.iter().filter(|&&number| all_paid && self.clients[number].has(Kind::Gold)) {
            let left = self.clients[number].left.unwrap_or(0);
            let wrong = self.unbalanced(number).or_else(|| {
                (left < piles)
                    .then(|| format!("{} was told that {left} nuggets are left, in {piles} piles", self.who(number)))
            });
            found.push(Observation::new(&rules::TOTAL, number, wrong.is_none(), || {
                format!("after {text} {}", wrong.unwrap_or_default())
            }));
        }
    }
}

fn cells(text: &[u8]) -> impl Iterator<Item = (Cell, u8)> {
    (0..=u16::MAX).map(Cell).zip(text.iter().copied())
}

// The players that a text of a spectator's DISPLAY shows.
fn places(text: &[u8]) -> BTreeMap<Letter, Cell> {
    cells(text).filter_map(|(cell, byte)| Some((Letter::from_byte(byte)?, cell))).collect()
}

const fn is_occupant(byte: u8) -> bool {
    matches!(byte, b'*' | b'A'..=b'Z')
}
