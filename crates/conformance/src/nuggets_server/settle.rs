//! What must follow when somebody does something.

use nuggets::{
    Letter,
    grid::{Cell, PASSAGE, ROCK},
};

use super::{
    displays::{differences, shown},
    party::{Deed, Kind, Party, Role},
    rules,
    wire::key_message,
    world::{Effect, World},
};
use crate::{
    judge::{Halt, Played},
    rule::Rule,
};

impl Party<'_> {
    /// Types a key as a player, and sees that it does what it must. A key that does nothing is followed up by the next that does.
    pub(super) fn key(&mut self, number: usize, key: u8) -> Played<Effect> {
        let letter = self.letter(number)?;
        let (world, effect) = self.world()?.forecast(letter, key);
        let text = format!("KEY {} of player {letter}", char::from(key));
        if effect.steps == 0 {
            self.idle(number, &key_message(key), &rules::BLOCKED, &text);
            return Ok(effect);
        }
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
        self.settle(&Deed { text: &text, rule, mover: Some(letter), effect })?;
        Ok(effect)
    }

    /// Sends something that must do nothing. The next key shows whether it did.
    pub(super) fn idle(&mut self, number: usize, datagram: &[u8], rule: &'static Rule, text: &str) {
        self.send(number, datagram);
        self.idle = Some((rule, text.to_owned()));
    }

    /// Sends KEY Q, which must be answered by QUIT.
    pub(super) fn quit(&mut self, number: usize, rule: &'static Rule) -> Played {
        let who = self.who(number);
        self.clients[number].leaving = true;
        self.send(number, b"KEY Q");
        if self.wait(|party| party.clients[number].quit.is_some()) {
            return Ok(());
        }
        self.lacking(rule, || format!("{who} sent KEY Q and got no QUIT"))
    }

    pub(super) fn leave(&mut self, number: usize) -> Played {
        let letter = self.letter(number)?;
        self.quit(number, &rules::LEAVE)?;
        self.judge.check(&rules::LEAVE, true, String::new);
        self.clients[number].has_left = true;
        self.text(number, "Thanks for playing!");
        if let Some(world) = &mut self.world {
            world.remove(letter);
        }
        let text = format!("KEY Q of player {letter}");
        self.settle(&Deed { text: &text, rule: &rules::LEFT, mover: None, effect: Effect::default() })?;
        self.judge.require(&rules::SILENT, true, String::new)
    }

    /// Compares the text of a QUIT with that of the protocol.
    pub(super) fn text(&mut self, number: usize, wanted: &str) {
        let Some(text) = &self.clients[number].quit else { return };
        self.judge.check(&rules::TEXTS, text == wanted.as_bytes(), || {
            format!("QUIT {}; the protocol says QUIT {wanted}", shown(text))
        });
    }

    /// The clients that are told of everything.
    pub(super) fn active(&self) -> Vec<usize> {
        let is_active = |number: &usize| {
            let client = &self.clients[*number];
            client.role != Role::Stranger && client.quit.is_none()
        };
        (0..self.clients.len()).filter(is_active).collect()
    }

    // What a client must be shown now.
    fn expected(world: &World, role: Role) -> Vec<u8> {
        match role {
            Role::Player(letter) => world.view(letter),
            Role::Spectator | Role::Stranger => world.board(),
        }
    }

    /// Waits until everybody has been told what is true now, and judges what they were told.
    pub(super) fn settle(&mut self, deed: &Deed<'_>) -> Played {
        let world = self.world()?.clone();
        let active = self.active();
        let expected: Vec<(usize, Vec<u8>)> =
            active.iter().map(|&number| (number, Self::expected(&world, self.clients[number].role))).collect();
        let before: Vec<u32> = self.clients.iter().map(|client| client.purse).collect();
        let mover = active
            .iter()
            .copied()
            .find(|&number| deed.mover.is_some_and(|letter| self.clients[number].role == Role::Player(letter)));
        let doubts = *self.doubts;
        self.wait(|party| {
            let all = expected.iter().all(|(number, display)| {
                let client = &party.clients[*number];
                let is_told = client.log.contains(&Kind::Display) || doubts.display;
                let is_right = client.display == *display || doubts.sight && client.role != Role::Spectator;
                client.quit.is_some() || is_told && is_right
            });
            let is_paid = |mover: usize| {
                let client = &party.clients[mover];
                client.quit.is_some() || client.purse > before[mover]
            };
            let paid = deed.effect.piles == 0 || mover.is_none_or(is_paid);
            all && (doubts.gold || paid && party.unbalanced(&active).is_none())
        });
        self.judge_displays(deed, &world, &expected)?;
        self.judge_gold(deed, &world, &active, mover, &before);
        self.judge.check(&rules::EARLY, true, String::new);
        if let Some((rule, _)) = self.idle.take() {
            self.judge.check(rule, true, String::new);
        }
        Ok(())
    }

    // Judges the last DISPLAY of each client.
    fn judge_displays(&mut self, deed: &Deed<'_>, world: &World, expected: &[(usize, Vec<u8>)]) -> Played {
        let text = self.deed_text(deed);
        if expected.iter().any(|(number, _)| self.clients[*number].quit.is_some()) {
            // It is noted already that it must not be.
            return Err(Halt::Broken);
        }
        if !expected.iter().any(|(number, _)| self.clients[*number].log.contains(&Kind::Display)) {
            let rule = self.idle.as_ref().map_or(deed.rule, |(rule, _)| *rule);
            return self.lacking(rule, || format!("nobody got a DISPLAY after {text}"));
        }
        for (number, _) in expected {
            self.attend(*number);
            let who = self.who(*number);
            let told = self.clients[*number].log.contains(&Kind::Display);
            if !self.judge.check(&rules::ALL, told, || format!("{who} got no DISPLAY after {text}")) {
                self.doubts.display = true;
            }
        }
        // First what is true, without which nothing else can be compared.
        for (number, expected) in expected {
            let client = &self.clients[*number];
            if client.role != Role::Spectator {
                continue;
            }
            self.attend(*number);
            let display = client.display.clone();
            if display != *expected {
                let rule = self.blame(deed, expected, &display);
                return self.lacking(rule, || {
                    format!("after {text} the spectator was shown: {}", differences(&world.grid, expected, &display))
                });
            }
            self.judge.check(deed.rule, true, String::new);
            self.judge.check(&rules::BOARD, true, String::new);
            if deed.effect.piles > 0 {
                self.judge.check(&rules::TAKEN, true, String::new);
            }
        }
        for (number, expected) in expected {
            if let Role::Player(letter) = self.clients[*number].role {
                self.judge_view(&text, world, letter, expected, *number);
            }
        }
        Ok(())
    }

    fn deed_text(&self, deed: &Deed<'_>) -> String {
        match &self.idle {
            Some((_, before)) => format!("{before}, and then {}", deed.text),
            None => deed.text.to_owned(),
        }
    }

    // The rule that is broken when a spectator is shown something else than it must.
    fn blame(&self, deed: &Deed<'_>, expected: &[u8], display: &[u8]) -> &'static Rule {
        let changed = || expected.iter().zip(display).filter(|(expected, shown)| expected != shown);
        let is_letter = |byte: &u8| byte.is_ascii_uppercase();
        let astray = |letter: &u8| changed().any(|(expected, shown)| expected == letter || shown == letter);
        let mover = deed.mover.map(Letter::byte);
        let letters = (b'A'..=b'Z').any(|letter| astray(&letter));
        let piles = expected.iter().zip(display).any(|(expected, shown)| (*expected == b'*') != (*shown == b'*'));
        // Gold that was taken comes back by nothing that a client can send.
        let back = changed().all(|(_, shown)| *shown == b'*');
        if piles && !letters && (deed.effect.piles > 0 || back) {
            return &rules::TAKEN;
        }
        let others = changed()
            .flat_map(|(expected, shown)| [expected, shown])
            .any(|byte| is_letter(byte) && Some(*byte) != mover);
        if let Some((rule, _)) = self.idle
            && (others || mover.is_none_or(|mover| !astray(&mover)))
        {
            return rule;
        }
        if letters {
            return deed.rule;
        }
        if piles { &rules::TAKEN } else { &rules::BOARD }
    }

    // Judges what a player was shown.
    fn judge_view(&mut self, text: &str, world: &World, letter: Letter, expected: &[u8], number: usize) {
        self.attend(number);
        let display = &self.clients[number].display;
        if display.len() != expected.len() {
            // The shape is noted already.
            self.doubts.sight = true;
            return;
        }
        let in_passage = world.cell(letter).is_some_and(|cell| world.grid.at(cell) == PASSAGE);
        let sight = if in_passage { &rules::PASSAGE_SIGHT } else { &rules::SIGHT };
        let mut found = [(&rules::OWN, 0, None), (sight, 0, None), (&rules::MEMORY, 0, None), (&rules::STALE, 0, None)];
        for (cell, (&right, &got)) in (0..=u16::MAX).map(Cell).zip(expected.iter().zip(display)) {
            if right == got {
                continue;
            }
            let at = match (right, got) {
                (b'@', _) | (_, b'@') => 0,
                _ if world.sees(letter, cell) || !world.knows(letter, cell) => 1,
                (_, ROCK) => 2,
                (_, b'*' | b'A'..=b'Z') => 3,
                _ => 2,
            };
            let (_, count, first) = &mut found[at];
            *count += 1;
            first.get_or_insert((cell, right, got));
        }
        for (rule, count, first) in found {
            let observed = *rule != rules::MEMORY && *rule != rules::STALE || world.remembers(letter);
            if let Some((cell, right, got)) = first {
                self.doubts.sight = true;
                let own = world.cell(letter).map_or_else(String::new, |own| world.grid.position(own).to_string());
                let more = if count > 1 { format!(" ({count} such places)") } else { String::new() };
                self.judge.check(rule, false, || {
                    format!(
                        "after {text}, player {letter} at {own} was shown '{}' at {}; '{}' would be right{more}",
                        got.escape_ascii(),
                        world.grid.position(cell),
                        right.escape_ascii()
                    )
                });
            } else if observed {
                self.judge.check(rule, true, String::new);
            }
        }
    }

    // Why the purses and the gold that is left do not make the total.
    fn unbalanced(&self, active: &[usize]) -> Option<String> {
        let total = self.total?;
        let purses: u32 = self.clients.iter().map(|client| client.purse).fold(0, u32::saturating_add);
        active.iter().find_map(|&number| {
            let left = self.clients[number].left.filter(|_| self.clients[number].quit.is_none())?;
            (purses.checked_add(left) != Some(total)).then(|| {
                format!(
                    "{} was told that {left} nuggets are left, all purses hold {purses}, together {total} must be",
                    self.who(number)
                )
            })
        })
    }

    fn judge_gold(&mut self, deed: &Deed<'_>, world: &World, active: &[usize], mover: Option<usize>, before: &[u32]) {
        let text = self.deed_text(deed);
        let mut untold = false;
        for &number in active {
            self.attend(number);
            let client = &self.clients[number];
            let grown = client.purse.saturating_sub(before[number]);
            let log = client.log.clone();
            let who = self.who(number);
            if Some(number) == mover && deed.effect.piles > 0 {
                let piles = deed.effect.piles;
                let kept = self.judge.check(&rules::COLLECT, grown >= piles, || {
                    format!("{who} took {piles} piles with {text}, but its GOLD told it of {grown} nuggets")
                });
                self.doubts.gold |= !kept;
                if let (Some(gold), Some(display)) = (
                    log.iter().rposition(|&kind| kind == Kind::Gold),
                    log.iter().rposition(|&kind| kind == Kind::Display),
                ) {
                    self.judge
                        .check(&rules::ORDER, gold < display, || format!("{who} got GOLD after DISPLAY, for {text}"));
                }
                continue;
            }
            self.judge.check(&rules::COLLECT, grown == 0, || {
                format!("{who} was told that it collected {grown} nuggets, but took no pile, with {text}")
            });
            if deed.effect.piles > 0 {
                let told = log.contains(&Kind::Gold);
                let kept =
                    self.judge.check(&rules::OTHERS, told, || format!("{who} got no GOLD when {text} collected gold"));
                self.doubts.gold |= !kept;
                untold |= !kept;
            }
        }
        if untold {
            // Then the sums cannot be right either.
            return;
        }
        let unbalanced = self.unbalanced(active);
        let piles = u32::try_from(world.piles.len()).unwrap_or(u32::MAX);
        let few = active.iter().find_map(|&number| {
            let left = self.clients[number].left?;
            (left < piles)
                .then(|| format!("{} was told that {left} nuggets are left, in {piles} piles", self.who(number)))
        });
        let wrong = unbalanced.or(few);
        self.doubts.gold |= wrong.is_some();
        self.judge.check(&rules::TOTAL, wrong.is_none(), || format!("after {text} {}", wrong.unwrap_or_default()));
    }
}
