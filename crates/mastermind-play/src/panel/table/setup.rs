//! Up to the first guess: what the code is like, who sets it, and the two people of a duel.

use mastermind::{
    Code, Rules, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
};

use super::{
    super::state::{Press, State},
    CHOOSING, Setter, Table,
    duel::Duel,
};
use crate::{Round, voice};

impl Table {
    /// Asks what is not given on the command line.
    pub(super) fn begin(&mut self) {
        self.log.clear();
        if self.day().is_some() {
            if let Ok(rules) = self.wanted.without_asking() {
                self.deal(rules.length(), rules.repeats());
            }
            return;
        }
        match self.wanted.length {
            None => self.state = State::Length(MIN_LENGTH),
            Some(length) => self.ask_repeats(length),
        }
    }

    pub(super) fn choose_length(&mut self, key: Press, length: usize) {
        const CHOICES: usize = MAX_LENGTH - MIN_LENGTH + 1;
        let turned = |by: usize| MIN_LENGTH + (length - MIN_LENGTH + by) % CHOICES;
        match key {
            Press::Left => self.state = State::Length(turned(CHOICES - 1)),
            Press::Right => self.state = State::Length(turned(1)),
            Press::First => self.state = State::Length(MIN_LENGTH),
            Press::Last => self.state = State::Length(MAX_LENGTH),
            Press::Digit(digit) if (MIN_LENGTH..=MAX_LENGTH).contains(&digit.into()) => {
                self.state = State::Length(digit.into());
            }
            Press::Digit(_) => self.log.add(&*format!("A code has {MIN_LENGTH} to {MAX_LENGTH} digits.")),
            Press::Enter => self.ask_repeats(length),
            Press::Other => {}
            _ => self.log.add(CHOOSING),
        }
    }

    pub(super) fn ask_repeats(&mut self, length: usize) {
        match self.wanted.repeats {
            None => self.state = State::Repeats { length, repeats: true },
            Some(repeats) => self.deal(length, repeats),
        }
    }

    /// Begins a game by these rules.
    pub(super) fn deal(&mut self, length: usize, repeats: bool) {
        let rules = match Rules::new(length, self.wanted.colours(), repeats) {
            Ok(rules) => rules,
            Err(error) => {
                self.log.add(&*format!("Not possible: {error}."));
                return;
            }
        };
        let dealt = match self.setter {
            Setter::Seed => Some(Round::from_seed(rules, Style::Panel, self.seed)),
            Setter::Day(day) => Round::of_day(rules, Style::Panel, day).ok(),
            Setter::People => {
                self.duel = Some(Duel { rules, outcomes: [None; 2], guesser: 2 });
                self.log.clear();
                self.log.add(voice::DUEL);
                return self.ask_code();
            }
        };
        let Some(mut round) = dealt else {
            return;
        };
        self.seed = self.seed.wrapping_add(1);
        self.log.clear();
        self.log.add("I have a code. You have ten rows. I like my odds.");
        if let Some(day) = round.day() {
            self.log.add(&*format!("It is the puzzle of {day} (by the clock of Greenwich): {rules}."));
        }
        self.tip();
        if let Some(puzzle) = round.puzzle()
            && [Some(&self.session), self.record.as_ref()].into_iter().flatten().any(|record| record.has_begun(puzzle))
        {
            round.set_attempt(false);
            self.log.add(voice::again(round.day()));
        } else if round.day().is_some() {
            self.log.add(voice::FIRST);
        }
        self.round = Some(round);
        self.reset_editor();
        self.state = State::Edit;
        self.hint_unasked();
    }

    fn tip(&mut self) {
        if !std::mem::replace(&mut self.tip_given, true) {
            self.log.add(&*format!(
                "Tip: LEFT and RIGHT move the cursor, UP and DOWN change the digit, or type digits; ENTER submits. Behind {} \
                 comes LIFELINE.",
                self.wanted.colours()
            ));
        }
    }

    /// Lets one of two people set a code.
    fn ask_code(&mut self) {
        let Some(duel) = self.duel else {
            return;
        };
        let (setter, guesser) = (duel.setter(), duel.guesser);
        self.log.add(&*format!(
            "Player {setter}, set a code for player {guesser}, who looks away. Arrows and digits change it, ENTER hides it."
        ));
        self.round = None;
        self.reset_editor();
        self.state = State::Set;
    }

    /// Hides the code that was set and lets the other one guess.
    pub(super) fn take_code(&mut self, code: Option<Code>) {
        let Some(duel) = self.duel else {
            return;
        };
        let round = code.and_then(|code| Round::with_code(duel.rules, Style::Panel, code, self.seed).ok());
        let Some(round) = round else {
            return self.log.add(&*voice::no_secret(duel.rules));
        };
        self.seed = self.seed.wrapping_add(1);
        self.log.clear();
        self.log.add(&*format!("Player {}, there is a code for you. You have ten rows.", duel.guesser));
        self.tip();
        self.round = Some(round);
        self.reset_editor();
        self.state = State::Edit;
        self.hint_unasked();
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
