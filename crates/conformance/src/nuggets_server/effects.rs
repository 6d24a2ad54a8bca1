//! Judges what each client receives after an action.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use nuggets::{
    Letter,
    grid::{Cell, PASSAGE, ROCK, ROOM},
};

use super::{
    game::{Action, Client, End, GOLD, Game, IgnoredDatagram, Kind, Role, kinds},
    model::{Effect, Model, cells},
    rules,
    wire::{Row, differences, key_message, quoted_bytes, row},
};
use crate::{
    judge::{Halt, ScenarioResult},
    launch::Run,
    rule::Rule,
};

pub(super) struct Observation {
    rule: &'static Rule,
    instead: Option<&'static Rule>,
    client: usize,
    wrong: Option<String>,
}

impl Observation {
    pub(super) fn new(rule: &'static Rule, client: usize, kept: bool, wrong: impl FnOnce() -> String) -> Self {
        Self { rule, instead: None, client, wrong: (!kept).then(wrong) }
    }

    /// Breaks `rule`, or `instead` if no other observation breaks `rule`.
    pub(super) fn either(rule: &'static Rule, instead: Option<&'static Rule>, client: usize, wrong: String) -> Self {
        Self { rule, instead, client, wrong: Some(wrong) }
    }
}

pub(super) struct Snapshot {
    purses: Vec<u32>,
    lefts: Vec<Option<u32>>,
    pub(super) active: Vec<usize>,
    pub(super) model: Model,
}

impl Game<'_> {
    /// A key that must have no effect is judged at the next key that has one.
    pub(super) fn key(&mut self, number: usize, key: u8) -> ScenarioResult<Effect> {
        if self.clients[number].quit.is_some() {
            return Err(Halt::Broken);
        }
        let letter = self.letter(number)?;
        let model = self.model()?;
        if model.cell(letter).is_none() {
            // Already recorded: the player is missing in the DISPLAY.
            self.reveal(number, letter)?;
            return Ok(Effect::default());
        }
        let before = self.before()?;
        let (model, effect) = model.forecast(letter, key);
        let text = format!("KEY {} of player {letter}", char::from(key));
        if effect.steps == 0 {
            self.idle(number, &key_message(key), &rules::BLOCKED, &text);
            return Ok(effect);
        }
        let is_pushed = |other: &Letter| {
            *other != letter && model.cell(*other) != self.model.as_ref().and_then(|model| model.cell(*other))
        };
        let pushed = model.letters().filter(is_pushed).collect();
        self.end = if model.piles.is_empty() && effect.piles > 0 { End::Due } else { End::Open };
        self.model = Some(model);
        self.send(number, &key_message(key));
        self.collector = (effect.piles > 0).then_some(number);
        let is_diagonal = b"yubn".contains(&key.to_ascii_lowercase());
        let step = if is_diagonal { &rules::DIAGONAL } else { &rules::STEP };
        let rule = match (effect.steps > 1, effect.swaps > 0, key.is_ascii_uppercase()) {
            (true, true, _) => &rules::RUN_SWAP,
            (true, false, _) if effect.piles > 0 => &rules::RUN_GOLD,
            (_, true, _) => &rules::SWAP,
            (_, false, true) if is_diagonal => &rules::RUN_DIAGONAL,
            (_, false, true) => &rules::RUN,
            (_, false, false) => step,
        };
        self.judge_effects_from(
            &Action { text: &text, rule, step, mover: Some(letter), pushed, left: None, effect },
            &before,
        )?;
        Ok(effect)
    }

    /// The next key shows whether the datagram had an effect.
    pub(super) fn idle(&mut self, number: usize, datagram: &[u8], rule: &'static Rule, text: &str) {
        let by = self.letter(number).ok();
        self.send(number, datagram);
        self.idle = Some(IgnoredDatagram { rule, text: text.to_owned(), by, is_broken: false });
    }

    pub(super) fn quit(&mut self, number: usize, rule: &'static Rule) -> ScenarioResult<bool> {
        let who = self.who(number);
        self.clients[number].leaving = true;
        self.send(number, b"KEY Q");
        if self.wait(|game| game.clients[number].quit.is_some()) {
            self.judge.check(rule, true, String::new);
            return Ok(true);
        }
        self.missing(rule, || format!("{who}: expected QUIT after KEY Q, received none")).map(|()| false)
    }

    pub(super) fn leave(&mut self, number: usize) -> ScenarioResult {
        let letter = self.letter(number)?;
        self.quit(number, &rules::LEAVE)?;
        self.clients[number].has_left = true;
        self.text(number, "Thanks for playing!");
        let left = self.model.as_ref().and_then(|model| model.cell(letter));
        if let Some(model) = &mut self.model {
            model.remove(letter);
        }
        let text = format!("KEY Q of player {letter}");
        self.judge_effects(&Action { left, ..Action::of(&text, &rules::LEFT) })?;
        if self.clients[number].quit.is_some() {
            self.judge.check(&rules::SILENT, true, String::new);
        }
        Ok(())
    }

    pub(super) fn text(&mut self, number: usize, wanted: &str) {
        let Some(text) = &self.clients[number].quit else { return };
        let text = text.trim_ascii_end();
        self.judge.check(&rules::TEXTS, text == wanted.as_bytes(), || {
            format!("expected QUIT {wanted}, received QUIT {}", quoted_bytes(text))
        });
    }

    pub(super) fn active(&self) -> Vec<usize> {
        let is_active = |number: &usize| {
            let client = &self.clients[*number];
            client.role != Role::Unjoined && client.quit.is_none() && !client.has_left
        };
        (0..self.clients.len()).filter(is_active).collect()
    }

    fn before(&self) -> ScenarioResult<Snapshot> {
        Ok(Snapshot {
            purses: self.clients.iter().map(|client| client.purse).collect(),
            lefts: self.clients.iter().map(|client| client.left).collect(),
            active: self.active(),
            model: self.model()?.clone(),
        })
    }

    pub(super) fn judge_effects(&mut self, action: &Action<'_>) -> ScenarioResult {
        let before = self.before()?;
        self.judge_effects_from(action, &before)
    }

    fn judge_effects_from(&mut self, action: &Action<'_>, before: &Snapshot) -> ScenarioResult {
        let model = self.model()?.clone();
        if self.end == End::Due {
            // Only the server's messages show whether that was the last nugget.
            self.wait(|game| game.reported_left(before).is_some() || game.has_quit(before));
        }
        let limit = self.limit();
        let found = loop {
            let by = self.deadline(limit);
            if self.is_over_for(before) {
                return self.end(action.text, before);
            }
            let mut found = self.observations(action, &model, before);
            let mut broken = found.iter().filter(|observation| observation.wrong.is_some()).peekable();
            // If the deviation is already recorded, only the last message of the action is awaited. Silence is a
            // deviation of the action itself, except that a later DISPLAY also shows who has left.
            let is_silence_known = *action.rule == rules::LEFT || self.judge.has_failed(action.rule);
            let is_answered = is_silence_known || !self.is_silent(before);
            let is_known = |observation: &Observation| {
                self.judge.has_failed(observation.rule)
                    || observation.instead.is_some_and(|rule| self.judge.has_failed(rule))
            };
            let until = if broken.peek().is_none() || before.active.is_empty() {
                if self.idle.is_none() || !self.drain() {
                    break found;
                }
                continue;
            } else if is_answered && broken.all(is_known) {
                if self.has_arrived(action, &model, before) {
                    break found;
                }
                by.min(Instant::now() + self.grace())
            } else {
                by
            };
            drop(found);
            let known = self.received;
            if !self.wait_until(until, |game| game.received > known) {
                found = self.observations(action, &model, before);
                break found;
            }
        };
        if self.idle.take_if(|idle| idle.is_broken).is_some() {
            return Err(Halt::Broken);
        }
        self.conclude(action, &model, before, found)
    }

    // All clients received equally many DISPLAYs, and the last show the mover at its new place.
    fn has_arrived(&self, action: &Action<'_>, model: &Model, before: &Snapshot) -> bool {
        let count = |number: &usize| self.clients[*number].log.iter().filter(|&&kind| kind == Kind::Display).count();
        let counts: BTreeSet<usize> = before.active.iter().map(count).collect();
        let is_there = action.mover.is_none_or(|mover| self.place(mover) == model.cell(mover));
        let is_paid = action.effect.piles == 0 || self.reported_left(before).is_some();
        counts.len() == 1 && !counts.contains(&0) && is_there && is_paid
    }

    fn reported_left(&self, before: &Snapshot) -> Option<u32> {
        let clients = before.active.iter().map(|&number| &self.clients[number]);
        clients.filter(|client| client.has(Kind::Gold)).filter_map(|client| client.left).min()
    }

    fn is_silent(&self, before: &Snapshot) -> bool {
        let mut clients = before.active.iter().map(|&number| &self.clients[number]);
        clients.all(|client| !client.has(Kind::Display) && client.quit.is_none())
    }

    fn has_quit(&self, before: &Snapshot) -> bool {
        before.active.iter().any(|&number| self.clients[number].quit.is_some())
    }

    fn is_over_for(&self, before: &Snapshot) -> bool {
        match self.reported_left(before) {
            Some(left) => left == 0,
            None => self.end == End::Due,
        }
    }

    fn conclude(
        &mut self,
        action: &Action<'_>,
        model: &Model,
        before: &Snapshot,
        found: Vec<Observation>,
    ) -> ScenarioResult {
        if !before.active.is_empty() && self.is_silent(before) {
            // A change that no client receives has not happened.
            self.model = Some(before.model.clone());
            return self.silence(action);
        }
        let is_misplaced = |found: &Observation| {
            found.wrong.is_some() && [action.rule, action.step].iter().any(|rule| **rule == *found.rule)
        };
        let is_moved = !found.iter().any(is_misplaced);
        for Observation { rule, instead, client, wrong } in found {
            if instead == Some(&rules::COLLECT) {
                self.unpaid = Some(action.text.to_owned());
            }
            self.focus(client);
            match (instead, wrong) {
                (Some(instead), Some(wrong)) => self.judge.under(instead, |judge| {
                    judge.check(rule, false, || wrong);
                    Ok(())
                })?,
                (_, wrong) => {
                    self.judge.check(rule, wrong.is_none(), || wrong.unwrap_or_default());
                }
            }
        }
        self.judge.check(&rules::EARLY, true, String::new);
        if let Some(idle) = self.idle.take() {
            self.judge.check(idle.rule, true, String::new);
        }
        self.unseen_leave = None;
        self.adopt(model, is_moved);
        if self.has_quit(before) && self.active().is_empty() {
            return Err(Halt::Broken);
        }
        Ok(())
    }

    fn silence(&mut self, action: &Action<'_>) -> ScenarioResult {
        let text = self.action_text(action);
        let wrong = || format!("expected DISPLAY after {text}, but no client received it");
        if *action.rule == rules::LEFT && !self.is_gone() {
            // The next DISPLAY shows whether the player has left the map.
            self.unseen_leave = Some(text);
            return Ok(());
        }
        self.unanswered += 1;
        // If steps generally get no answer, an earlier datagram cannot be judged.
        let idle = self.idle.clone().filter(|_| !self.judge.has_failed(action.rule));
        let Some(IgnoredDatagram { rule, text: sent, .. }) = idle else {
            self.idle = None;
            return self.missing(action.rule, wrong);
        };
        if !self.is_gone() && !self.answers() {
            return self
                .judge
                .broken(&rules::RUNS, || format!("expected the server to answer after {sent}, received nothing"));
        }
        let played = self.break_missing(rule, wrong);
        self.idle = None;
        played
    }

    /// Adopts the shown state, so that later actions do not repeat a deviation. If the players have not moved as in the
    /// model, one that is not shown may be anywhere.
    pub(super) fn adopt(&mut self, model: &Model, is_moved: bool) {
        let mut model = model.clone();
        if let Some(display) = self.true_board() {
            model.piles = cells(display).filter(|(_, byte)| *byte == b'*').map(|(cell, _)| cell).collect();
            let places = places(display);
            let gone: Vec<Letter> = model.letters().filter(|letter| !places.contains_key(letter)).collect();
            for (letter, cell) in places {
                model.correct(letter, cell);
            }
            for letter in gone {
                if self.has_left(letter) {
                    model.remove(letter);
                } else if let Some(cell) = self.own_place(letter) {
                    model.correct(letter, cell);
                } else if !is_moved || model.cell(letter).is_some_and(|cell| display.get(cell.index()) != Some(&b'*')) {
                    // The player is covered at an unknown spot.
                    model.remove(letter);
                }
            }
        } else {
            for letter in model.letters().collect::<Vec<_>>() {
                if let Some(cell) = self.own_place(letter) {
                    model.correct(letter, cell);
                }
                let shown = cells(self.own_display(letter).unwrap_or_default());
                let (piles, others): (Vec<_>, Vec<_>) =
                    shown.filter(|(cell, _)| model.sees(letter, *cell)).partition(|(_, byte)| *byte == b'*');
                model.piles.extend(piles.into_iter().map(|(cell, _)| cell));
                for (cell, _) in others {
                    model.piles.remove(&cell);
                }
            }
        }
        for client in self.clients.iter().filter(|client| client.is_shown()) {
            if let Role::Player(letter) = client.role {
                model.adopt(letter, &client.display);
            }
        }
        self.model = Some(model);
    }

    /// The spectator's last DISPLAY, if newer than the last action.
    pub(super) fn true_board(&self) -> Option<&[u8]> {
        let watcher = &self.clients[self.spectator()?];
        watcher.is_shown().then_some(&watcher.display[..])
    }

    // The player's last DISPLAY, if newer than the last action.
    fn own_display(&self, letter: Letter) -> Option<&[u8]> {
        let is_it = |client: &&Client| client.role == Role::Player(letter) && client.is_shown();
        self.clients.iter().find(is_it).map(|client| &client.display[..])
    }

    pub(super) fn own_place(&self, letter: Letter) -> Option<Cell> {
        let display = self.own_display(letter)?;
        let find = |wanted: u8| cells(display).find(|(_, byte)| *byte == wanted).map(|(cell, _)| cell);
        find(b'@').or_else(|| find(letter.byte()))
    }

    fn has_left(&self, letter: Letter) -> bool {
        self.joined.iter().any(|(of, _, number)| *of == letter && self.clients[*number].has_left)
    }

    fn observations(&self, action: &Action<'_>, model: &Model, before: &Snapshot) -> Vec<Observation> {
        let text = self.action_text(action);
        let active: Vec<usize> =
            before.active.iter().copied().filter(|&number| self.clients[number].quit.is_none()).collect();
        let mut found = Vec::new();
        // An earlier datagram that must have no effect may have disconnected a client.
        let cut_off = self.idle.as_ref().map(|idle| idle.rule).filter(|_| !self.judge.has_failed(&rules::ALL));
        for &number in &active {
            let is_told = self.clients[number].has(Kind::Display);
            found.push(Observation::new(cut_off.filter(|_| !is_told).unwrap_or(&rules::ALL), number, is_told, || {
                format!("{}: expected DISPLAY after {text}, received none", self.who(number))
            }));
        }
        let is_moved = match self.spectator().filter(|&watcher| self.clients[watcher].is_shown()) {
            Some(watcher) => self.observe_board(&mut found, action, &text, model, watcher),
            None => self.observe_places(&mut found, action, &text, model, &active),
        };
        if is_moved {
            for &number in active.iter().filter(|&&number| self.clients[number].is_shown()) {
                // A covered player has an unknown position.
                if let Role::Player(letter) = self.clients[number].role
                    && let Some(own) = model.cell(letter)
                    && !self.is_covered(letter, own)
                {
                    self.observe_view(&mut found, action, &text, model, (letter, own, number));
                }
            }
            self.observe_gold(&mut found, action, &text, model, &active, before);
        }
        found
    }

    fn is_covered(&self, letter: Letter, own: Cell) -> bool {
        let shown = self.true_board().and_then(|board| Letter::from_byte(*board.get(own.index())?));
        shown.is_some_and(|shown| shown != letter)
    }

    fn action_text(&self, action: &Action<'_>) -> String {
        match &self.idle {
            Some(idle) => format!("{}, and then {}", idle.text, action.text),
            None => action.text.to_owned(),
        }
    }

    fn responsible_rule(&self, action: &Action<'_>, misplaced: &BTreeSet<Letter>) -> &'static Rule {
        let is_mover = |letter: &Letter| Some(*letter) == action.mover;
        // The other player is where the swap must move it.
        let is_swapped = *action.rule == rules::SWAP && misplaced.iter().all(is_mover);
        match &self.idle {
            // The mover's position follows from its own key, unless another datagram preceded it.
            Some(idle) if idle.by.is_some_and(|by| misplaced.contains(&by)) => idle.rule,
            Some(idle) if misplaced.iter().any(|letter| !is_mover(letter) && !action.pushed.contains(letter)) => {
                idle.rule
            }
            _ if is_swapped => action.step,
            _ => action.rule,
        }
    }

    fn observe_board(
        &self,
        found: &mut Vec<Observation>,
        action: &Action<'_>,
        text: &str,
        model: &Model,
        watcher: usize,
    ) -> bool {
        let (expected, display) = (model.board(), &self.clients[watcher].display);
        let got = places(display);
        let wrong = || format!("the spectator, after {text}: {}", differences(&model.grid, &expected, display));
        let quitters = self.joined.iter().map(|(letter, ..)| *letter).filter(|letter| self.has_left(*letter));
        for letter in quitters.filter(|letter| model.cell(*letter).is_none()) {
            let is_back = self.idle.as_ref().filter(|idle| idle.by == Some(letter)).map(|idle| idle.rule);
            let kept = !got.contains_key(&letter);
            found.push(Observation::new(is_back.filter(|_| !kept).unwrap_or(&rules::LEFT), watcher, kept, wrong));
            if let Some(leave) = self.unseen_leave.as_ref().filter(|_| kept) {
                found.push(Observation::new(&rules::ALL, watcher, false, || {
                    format!("expected DISPLAY after {leave}, but no client received it")
                }));
            }
        }
        // Gold or another player on the same spot may hide it.
        let is_covered = |letter: &Letter| {
            let cell = model.cell(*letter);
            let byte = cell.and_then(|cell| display.get(cell.index()).copied());
            !got.contains_key(letter)
                && byte.is_some_and(|byte| {
                    byte == b'*' || Letter::from_byte(byte).is_some_and(|other| model.cell(other) == cell)
                })
        };
        // A player that no DISPLAY has shown may become visible.
        let is_unknown = |letter: &Letter| self.joined.iter().all(|(of, ..)| of != letter);
        let letters = model.letters().chain(got.keys().copied().filter(is_unknown));
        let letters = letters.filter(|letter| !self.has_left(*letter));
        let mut misplaced: BTreeSet<Letter> =
            letters.filter(|letter| model.cell(*letter) != got.get(letter).copied() && !is_covered(letter)).collect();
        // Players whose own DISPLAY shows them at the expected positions.
        let (undrawn, others): (BTreeSet<_>, _) = misplaced
            .into_iter()
            .partition(|letter| !got.contains_key(letter) && self.own_place(*letter) == model.cell(*letter));
        misplaced = others;
        if !misplaced.is_empty() {
            found.push(Observation::new(self.responsible_rule(action, &misplaced), watcher, false, wrong));
            return false;
        }
        found.push(Observation::new(action.rule, watcher, true, wrong));
        let is_accounted =
            |letter: Letter| self.has_left(letter) || model.cell(letter).is_none() && !is_unknown(&letter);
        let (mut piles, mut ground) = (false, false);
        for ((cell, right), &byte) in cells(&expected).zip(display).filter(|((_, right), byte)| right != *byte) {
            let hidden = Letter::from_byte(right);
            match (hidden, byte) {
                (Some(letter), _) if self.has_left(letter) => {}
                // An earlier pile breaks its rule only once.
                (Some(_), b'*') if model.piles.contains(&cell) => {}
                (Some(_), b'A'..=b'Z') => {}
                // A player that has left dropped its gold. Another rule covers the wrong total.
                (None, b'*') if action.left == Some(cell) => {}
                (Some(_) | None, b'*') => piles = true,
                (None, _) if right == b'*' => piles = true,
                (_, byte) if Letter::from_byte(byte).is_some_and(is_accounted) => {}
                _ => ground = true,
            }
        }
        if piles || action.effect.piles > 0 {
            found.push(Observation::new(&rules::TAKEN, watcher, !piles, wrong));
        }
        let rule = self.idle.as_ref().map(|idle| idle.rule).filter(|_| !undrawn.is_empty()).unwrap_or(&rules::BOARD);
        found.push(Observation::new(if ground { rule } else { &rules::BOARD }, watcher, !ground, wrong));
        true
    }

    fn observe_places(
        &self,
        found: &mut Vec<Observation>,
        action: &Action<'_>,
        text: &str,
        model: &Model,
        active: &[usize],
    ) -> bool {
        let mut is_right = true;
        for &number in active {
            let Role::Player(letter) = self.clients[number].role else { continue };
            let wanted = model.cell(letter);
            let Some(own) = self.own_place(letter) else {
                // Gold may hide it.
                let byte = wanted.and_then(|cell| self.own_display(letter)?.get(cell.index()));
                is_right &= byte == Some(&b'*');
                continue;
            };
            let rule = self.responsible_rule(action, &[letter].into());
            let kept = wanted.is_none_or(|wanted| wanted == own);
            is_right &= kept;
            if !kept || action.mover.is_none_or(|mover| mover == letter) {
                found.push(Observation::new(if kept { action.rule } else { rule }, number, kept, || {
                    let at = |cell: Option<Cell>| {
                        cell.map_or_else(String::new, |cell| model.grid.position(cell).to_string())
                    };
                    format!(
                        "player {letter}, after {text}: expected '@' at {}, received it at {}",
                        at(wanted),
                        at(Some(own))
                    )
                }));
            }
        }
        is_right
    }

    fn unbalanced(&self, number: usize) -> Option<String> {
        let (total, left) = (self.total?, self.clients[number].left?);
        let purses: u32 = self.clients.iter().map(|client| client.purse).fold(0, u32::saturating_add);
        (purses.checked_add(left) != Some(total)).then(|| {
            format!(
                "{}: expected {total} nuggets in all, received {left} left and {purses} in the purses",
                self.who(number)
            )
        })
    }

    // `take_gold` has already compared the numbers with the previous ones.
    fn observe_gold(
        &self,
        found: &mut Vec<Observation>,
        action: &Action<'_>,
        text: &str,
        model: &Model,
        active: &[usize],
        before: &Snapshot,
    ) {
        let piles = model.piles.iter().filter(|cell| !model.was_taken(**cell)).count();
        let piles = u32::try_from(piles).unwrap_or(u32::MAX);
        // A pile that is still shown after it was taken may hold nuggets or none.
        let is_taken = action.effect.piles > action.effect.again;
        if self.has_quit(before) {
            return;
        }
        let is_any_paid = active.iter().any(|&number| self.clients[number].has(Kind::Gold));
        let mut all_paid = !is_taken || is_any_paid;
        if !all_paid {
            // An empty pile needs no GOLD.
            let number = active
                .iter()
                .copied()
                .find(|&number| action.mover.is_some_and(|letter| self.clients[number].role == Role::Player(letter)));
            found.push(Observation::either(
                &rules::TOTAL,
                Some(&rules::COLLECT),
                number.unwrap_or_default(),
                format!(
                    "expected GOLD after {text}, which took {} piles, but no client received it",
                    action.effect.piles
                ),
            ));
        }
        for &number in active.iter().filter(|_| is_any_paid) {
            let client = &self.clients[number];
            let grown = client.purse.saturating_sub(before.purses[number]);
            let who = self.who(number);
            if !action.mover.is_some_and(|letter| client.role == Role::Player(letter)) {
                if is_taken {
                    found.push(Observation::new(&rules::OTHERS, number, client.has(Kind::Gold), || {
                        format!("{who}: expected GOLD after {text}, which collected gold, received none")
                    }));
                }
                continue;
            }
            if is_taken {
                let is_empty = client.has(Kind::Gold) && grown == 0 && client.left == before.lefts[number];
                all_paid = grown > 0 || is_empty;
                let rule = if is_empty { &rules::TOTAL } else { &rules::COLLECT };
                found.push(Observation::new(rule, number, grown > 0, || {
                    let taken = action.effect.piles;
                    format!("{who}: expected the nuggets of {taken} piles after {text}, received {grown}")
                }));
                let lost = before.lefts[number].zip(client.left).and_then(|(before, now)| before.checked_sub(now));
                if let Some(before) = self.unpaid.as_ref().filter(|_| lost == Some(client.collected)) {
                    found.push(Observation::new(&rules::TOTAL, number, false, || {
                        format!("expected nuggets in the pile of {before}, but GOLD after {text} shows none")
                    }));
                }
                let position = |wanted: Kind| client.log.iter().rposition(|&kind| kind == wanted);
                if let (Some(gold), Some(display)) = (position(Kind::Gold), position(Kind::Display)) {
                    found.push(Observation::new(&rules::ORDER, number, gold < display, || {
                        format!("{who}: expected GOLD before DISPLAY after {text}, received it later")
                    }));
                }
            } else if client.has(Kind::Gold) && action.effect.again == 0 {
                found.push(Observation::new(&rules::COLLECT, number, grown == 0, || {
                    format!("{who}: expected no nuggets after {text}, which took no pile, received {grown}")
                }));
            }
        }
        for &number in active.iter().filter(|&&number| all_paid && self.clients[number].has(Kind::Gold)) {
            let left = self.clients[number].left.unwrap_or(0);
            let wrong = self.unbalanced(number).or_else(|| {
                (left < piles).then(|| {
                    format!(
                        "{}: expected at least one nugget in each of {piles} piles, received {left} left",
                        self.who(number)
                    )
                })
            });
            found.push(Observation::new(&rules::TOTAL, number, wrong.is_none(), || {
                format!("{}, after {text}", wrong.unwrap_or_default())
            }));
        }
    }
}

fn places(text: &[u8]) -> BTreeMap<Letter, Cell> {
    cells(text).filter_map(|(cell, byte)| Some((Letter::from_byte(byte)?, cell))).collect()
}

/// The second rule is broken instead, unless another observation breaks the first.
type Breach = (&'static Rule, Option<&'static Rule>);

/// The number of cells, and the first with the expected and the shown byte.
type Differences = (Breach, u32, (Cell, u8, u8));

impl Game<'_> {
    /// An error of sight has many effects. It breaks the other rules of this picture only if no other observation shows
    /// that sight is wrong.
    pub(super) fn observe_view(
        &self,
        found: &mut Vec<Observation>,
        action: &Action<'_>,
        text: &str,
        model: &Model,
        (letter, own, number): (Letter, Cell, usize),
    ) {
        let display = &self.clients[number].display;
        let (board, truth) = (model.board(), self.true_board());
        let is_true = |cell: Cell, byte: u8| truth.is_some_and(|truth| truth.get(cell.index()) == Some(&byte));
        let is_pushed = action.pushed.contains(&letter);
        let in_passage = model.grid.at(own) == PASSAGE;
        let of_passages: Breach = (&rules::SIGHT, Some(&rules::PASSAGE_SIGHT));
        let of_rooms: Breach = (&rules::SIGHT, None);
        let sight = if in_passage { of_passages } else { of_rooms };
        // Cells out of sight may have been visible on the way, or past a player in a passage.
        let is_by_passage = model.came_by_passage(letter) || model.is_other_in_passage(letter);
        let afar = if is_by_passage { of_passages } else { of_rooms };
        // A server that hides a pile out of sight considers the shown cells visible.
        let hides = model.piles.iter().any(|&pile| {
            model.knows(letter, pile) && !model.sees(letter, pile) && display.get(pile.index()) != Some(&b'*')
        });
        let mut wrong: Vec<Differences> = Vec::new();
        for ((cell, right), &got) in cells(&board).zip(display).filter(|((_, right), _)| *right != b'\n') {
            let (ground, knowledge) = (model.grid.at(cell), model.knowledge(letter, cell));
            let (right, breach): (u8, Option<Breach>) = if cell == own {
                let is_covered =
                    got == b'*' || Letter::from_byte(got).is_some_and(|other| model.cell(other) == Some(own));
                let is_drawn = truth.is_some_and(|truth| truth.get(own.index()) == Some(&letter.byte()));
                (
                    b'@',
                    (got != b'@' && (!is_covered || is_drawn && !model.piles.contains(&own)))
                        .then_some((&rules::OWN, None)),
                )
            } else if got == b'@' {
                (right, Some((&rules::OWN, None)))
            } else if model.sees(letter, cell) {
                // Without a spectator, only this DISPLAY shows gold and other players.
                let is_new = truth.is_none() && is_occupant(got) && right == ROOM;
                let is_right = got == right || is_true(cell, got) || is_new;
                let breach = if is_pushed && got == ROCK { (&rules::SIGHT, Some(&rules::PUSHED)) } else { sight };
                (right, (!is_right).then_some(breach))
            } else if got == ROCK {
                let breach = if ground == ROCK || !knowledge.is_known() {
                    None
                } else if knowledge.is_new {
                    Some((&rules::SIGHT, Some(if knowledge.is_by_push { &rules::PUSHED } else { &rules::MEMORY })))
                } else if knowledge.is_by_push {
                    Some((&rules::MEMORY, Some(&rules::PUSHED)))
                } else {
                    Some((&rules::MEMORY, None))
                };
                (ground, breach)
            } else if !knowledge.is_known() && !knowledge.was_shown {
                (ROCK, Some(afar))
            } else if is_occupant(got) {
                let is_there = is_true(cell, got) || truth.is_none() && board.get(cell.index()) == Some(&got);
                let breach = if !is_there {
                    Some((&rules::STALE, None))
                } else if knowledge.shown != got && hides {
                    Some(afar)
                } else {
                    (!in_passage).then_some((&rules::SIGHT, Some(&rules::STALE)))
                };
                (ground, breach)
            } else {
                (ground, (got != ground).then_some((&rules::MEMORY, None)))
            };
            let Some(breach) = breach else { continue };
            match wrong.iter_mut().find(|(other, ..)| *other == breach) {
                Some((_, count, _)) => *count += 1,
                None => wrong.push((breach, 1, (cell, right, got))),
            }
        }
        let mut kept = vec![&rules::OWN, if in_passage { &rules::PASSAGE_SIGHT } else { &rules::SIGHT }];
        if model.remembers(letter) {
            kept.extend([&rules::MEMORY, &rules::STALE]);
        }
        if is_pushed {
            kept.push(&rules::PUSHED);
        }
        kept.retain(|rule| wrong.iter().all(|((broken, instead), ..)| broken != rule && *instead != Some(*rule)));
        found.extend(kept.into_iter().map(|rule| Observation::new(rule, number, true, String::new)));
        found.extend(wrong.into_iter().map(|((rule, instead), count, (cell, right, got))| {
            let more = if count > 1 { format!(" ({count} such spots)") } else { String::new() };
            let wrong = format!(
                "player {letter} at {}, after {text}: expected '{}' at {}, received '{}'{more}",
                model.grid.position(own),
                right.escape_ascii(),
                model.grid.position(cell),
                got.escape_ascii()
            );
            Observation::either(rule, instead, number, wrong)
        }));
    }
}

const fn is_occupant(byte: u8) -> bool {
    matches!(byte, b'*' | b'A'..=b'Z')
}

const OVER: &str = "GAME OVER:";
/// In bytes. Servers drop the rest.
const LONGEST_NAME: usize = 50;

impl Game<'_> {
    pub(super) fn end(&mut self, after: &str, before: &Snapshot) -> ScenarioResult {
        let receivers = &before.active;
        self.end = End::Due;
        self.wait(|game| receivers.iter().all(|&number| game.clients[number].quit.is_some()));
        // Messages after QUIT are judged too.
        self.drain();
        if receivers.iter().all(|&number| self.clients[number].quit.is_none()) {
            return self.break_missing(&rules::OVER, || {
                format!("expected QUIT after {after}, which took the last nugget, but no client received it")
            });
        }
        self.end = End::Judged;
        let taken: Vec<Cell> = match &self.model {
            Some(model) => before.model.piles.difference(&model.piles).copied().collect(),
            None => Vec::new(),
        };
        let remaining = self.model.as_ref().map_or(0, |model| {
            let piles: Vec<Cell> = match self.true_board() {
                Some(board) => cells(board).filter(|(_, byte)| *byte == b'*').map(|(cell, _)| cell).collect(),
                None => model.piles.iter().copied().collect(),
            };
            piles.into_iter().filter(|cell| !model.was_taken(*cell)).count()
        });
        self.judge.check(&rules::TOTAL, remaining == 0, || {
            format!("expected no pile after {after}, which took the last nugget, received {remaining}")
        });
        for &number in receivers {
            self.focus(number);
            let who = self.who(number);
            let client = &self.clients[number];
            let (text, log, left) = (client.quit.clone(), client.log.clone(), client.left);
            let Some(text) = text else {
                self.judge.check(&rules::OVER, false, || {
                    format!("{who}: expected QUIT after the last nugget, received none")
                });
                continue;
            };
            // DISPLAYs of earlier steps of a run still show the pile.
            let sees = client.role == Role::Spectator || self.last_sender == Some(number);
            let is_shown = !sees || !taken.iter().any(|cell| client.display.get(cell.index()) == Some(&b'*'));
            let text = String::from_utf8_lossy(&text).into_owned();
            let begins = text.trim_start().starts_with(OVER);
            self.judge.check(&rules::OVER, begins, || {
                format!(
                    "{who}: expected QUIT {OVER} after the last nugget, received QUIT {}",
                    quoted_bytes(text.as_bytes())
                )
            });
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let table = self.table();
            self.judge_table(&who, &lines, &table);
            let before = &log[..log.iter().position(|&kind| kind == Kind::Quit).unwrap_or(log.len())];
            let last = left == Some(0) && before.contains(&Kind::Gold);
            self.judge.check(&rules::LAST, last, || {
                format!("{who}: expected GOLD with 0 left before QUIT, received {}", kinds(&log))
            });
            let shown = before.contains(&Kind::Display);
            self.judge.check(&rules::SHOW, shown, || {
                format!("{who}: expected DISPLAY before QUIT, received {}", kinds(&log))
            });
            if shown && !is_shown {
                // Otherwise, the server leaves piles where they were.
                let wrong = || format!("{who}: expected a DISPLAY without the last pile, received {}", kinds(&log));
                self.judge.under(&rules::SHOW, |judge| {
                    judge.check(&rules::TAKEN, false, wrong);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// The final table in joining order. The player of the last key gets the gold that is missing in the purses.
    pub(super) fn table(&self) -> Vec<Row> {
        let purses: u32 = self.joined.iter().map(|(.., number)| self.clients[*number].purse).sum();
        let rest = self.total.unwrap_or(GOLD).saturating_sub(purses);
        let is_last = |number: usize| self.clients[number].left != Some(0) && self.last_sender == Some(number);
        let row = |(letter, name, number): &(Letter, nuggets::Name, usize)| Row {
            letter: letter.byte(),
            purse: self.clients[*number].purse + if is_last(*number) { rest } else { 0 },
            name: name.to_string(),
        };
        self.joined.iter().map(row).collect()
    }

    fn judge_table(&mut self, who: &str, lines: &[String], table: &[Row]) {
        let rows: Vec<(Row, &String)> = lines.iter().filter_map(|line| row(line).map(|row| (row, line))).collect();
        for right in table {
            let letter = char::from(right.letter);
            let has_left =
                self.joined.iter().any(|(of, _, number)| of.byte() == right.letter && self.clients[*number].has_left);
            let found = rows.iter().find(|(row, _)| row.letter == right.letter);
            if has_left {
                self.judge.check(&rules::QUITTER_ROW, found.is_some(), || {
                    format!("{who}: expected a row of player {letter}, who has quit, received none")
                });
            }
            let Some((row, line)) = found else {
                if !has_left {
                    self.judge.check(&rules::TABLE, false, || {
                        let first =
                            lines.get(1).map_or_else(|| "no row".to_owned(), |row| quoted_bytes(row.as_bytes()));
                        format!("{who}: expected a row of player {letter}, received none; the first row is {first}")
                    });
                }
                continue;
            };
            let wrong = |what: &str| {
                let purse = right.purse;
                format!(
                    "{who}: expected the row '{letter} {purse:>10} {}'{what}, received {}",
                    right.name,
                    quoted_bytes(line.as_bytes())
                )
            };
            self.judge.check(&rules::TABLE, row.purse == right.purse, || wrong(""));
            self.judge.check(&rules::TABLE_FORM, line.starts_with(&format!("{letter} {:>10} ", row.purse)), || {
                wrong(", as in the example of the task")
            });
            let rule = if right.name.len() == LONGEST_NAME { &rules::NAME_LENGTH } else { &rules::NAMES };
            self.judge.check(rule, row.name.trim() == right.name.trim(), || wrong(""));
        }
    }

    pub(super) fn judge_summary(&mut self, run: &mut dyn Run) {
        let wanted: Vec<String> =
            self.table().iter().map(|row| format!("{} {}", char::from(row.letter), row.purse)).collect();
        let by = self.options.deadline();
        // Rows may be in any order. Another scenario judges names.
        let mut open: Vec<&str> = wanted.iter().map(String::as_str).collect();
        while !open.is_empty()
            && let Some(line) = run.line(by)
        {
            if let Some(found) = row(&line) {
                let found = format!("{} {}", char::from(found.letter), found.purse);
                open.retain(|row| *row != found);
            }
        }
        let missing = open.first().map(|row| (*row).to_owned());
        self.judge.check(&rules::SUMMARY, missing.is_none(), || {
            format!(
                "expected a line with the letter and the purse '{}' on standard output, received none",
                missing.unwrap_or_default()
            )
        });
    }
}
