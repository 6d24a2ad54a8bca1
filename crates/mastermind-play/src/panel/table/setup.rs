//! Up to the first guess: what the code is like, who sets it, and the two people of a duel.

use mastermind::{
    Code, Record, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
};

use super::{
    super::state::{Duel, Press, State},
    CHOOSING, Table,
};
use crate::{round::Round, settings::Setter, voice};

impl Table {
    /// Asks what is not given on the command line.
    pub(super) fn begin(&mut self) {
        self.log.clear();
        match (self.settings.setter, self.settings.wanted.length) {
            (Setter::Day(_), _) => self.deal(self.settings.rules.length(), self.settings.rules.repeats()),
            (_, None) => self.state = State::Length(MIN_LENGTH),
            (_, Some(length)) => self.ask_repeats(length),
        }
    }

    pub(super) fn choose_length(&mut self, key: Press, length: usize) {
        if let Some(choice) = key.moves(length - MIN_LENGTH, MAX_LENGTH - MIN_LENGTH + 1) {
            self.state = State::Length(MIN_LENGTH + choice);
            return;
        }
        match key {
            Press::Digit(digit) if (MIN_LENGTH..=MAX_LENGTH).contains(&digit.into()) => {
                self.state = State::Length(digit.into());
            }
            Press::Digit(_) => self.log.add(format!("A code has {MIN_LENGTH} to {MAX_LENGTH} digits.")),
            Press::Enter => self.ask_repeats(length),
            Press::Other => {}
            _ => self.log.add(CHOOSING),
        }
    }

    fn ask_repeats(&mut self, length: usize) {
        match self.settings.wanted.repeats {
            None => self.state = State::Repeats { length, repeats: true },
            Some(repeats) => self.deal(length, repeats),
        }
    }

    pub(super) fn choose_repeats(&mut self, key: Press, length: usize, repeats: bool) {
        // Yes is the first choice.
        if let Some(choice) = key.moves(usize::from(!repeats), 2) {
            self.state = State::Repeats { length, repeats: choice == 0 };
            return;
        }
        match key {
            Press::Back if self.settings.wanted.length.is_none() => self.state = State::Length(length),
            Press::Enter => self.deal(length, repeats),
            Press::Other => {}
            _ => self.log.add(CHOOSING),
        }
    }

    /// Begins a game by these rules, or a duel.
    fn deal(&mut self, length: usize, repeats: bool) {
        let rules = match self.settings.wanted.rules(length, repeats) {
            Ok(rules) => rules,
            Err(error) => return self.log.add(format!("Not possible: {error}.")),
        };
        self.log.clear();
        if self.settings.setter == Setter::People {
            self.duel = Some(Duel { rules, outcomes: [None; 2], guesser: 2 });
            self.log.add(voice::DUEL);
            return self.ask_code();
        }
        let mut round = self.settings.deal(rules, Style::Panel);
        self.log.add("I have a code. You have ten rows. I like my odds.");
        if let Some(day) = round.day() {
            self.log.add(format!("It is the puzzle of {day} (by the clock of Greenwich): {rules}."));
        }
        self.tip();
        let has_begun = |record: &Record| round.puzzle().is_some_and(|puzzle| record.has_begun(puzzle));
        if has_begun(&self.session) || self.record.as_ref().is_some_and(has_begun) {
            round.set_attempt(false);
            self.log.add(voice::again(round.day()));
        } else if round.day().is_some() {
            self.log.add(voice::FIRST);
        }
        self.guess(round);
    }

    /// Lets the player guess.
    fn guess(&mut self, round: Round) {
        self.round = Some(round);
        self.reset_editor();
        self.state = State::Edit;
        self.hint_unasked();
    }

    fn tip(&mut self) {
        if !std::mem::replace(&mut self.tip_given, true) {
            self.log.add(format!(
                "Tip: LEFT and RIGHT move the cursor, UP and DOWN change the digit, or type digits; ENTER submits. Behind {} \
                 comes LIFELINE.",
                self.settings.rules.colours()
            ));
        }
    }

    /// Lets one of two people set a code.
    fn ask_code(&mut self) {
        let Some(duel) = self.duel else { return };
        let (setter, guesser) = (duel.setter(), duel.guesser);
        self.log.add(format!(
            "Player {setter}, set a code for player {guesser}, who looks away. Arrows and digits change it, ENTER hides it."
        ));
        self.round = None;
        self.reset_editor();
        self.state = State::Set;
    }

    /// Hides the code that was set and lets the other one guess.
    pub(super) fn take_code(&mut self, code: Option<Code>) {
        let Some(Duel { rules, guesser, .. }) = self.duel else { return };
        match code.and_then(|code| self.settings.deal_code(rules, Style::Panel, code).ok()) {
            None => self.log.add(voice::no_secret(rules)),
            Some(round) => {
                self.log.clear();
                self.log.add(format!("Player {guesser}, there is a code for you. You have ten rows."));
                self.tip();
                self.guess(round);
            }
        }
    }

    /// Lets the two change places.
    pub(super) fn next_duellist(&mut self) {
        if let Some(duel) = &mut self.duel {
            duel.guesser = duel.setter();
        }
        self.log.clear();
        self.ask_code();
    }
}
