//! From the first guess to the end: the guess that is made up, lifelines, hints, and what is said of it all.

use mastermind::{
    Code, Lifeline, Peg, Style,
    game::{Action, Availability, Event, Outcome},
};

use super::{
    super::{
        log::{Message, Tone},
        state::{Asked, Press, State, Symbol},
    },
    AGAIN, BETWEEN, OVER, Table,
};
use crate::{round::Round, voice};

impl Table {
    pub(super) fn turn_symbol(&mut self, next: bool) {
        // A code has no ninth symbol.
        let symbols = self.colours() + usize::from(self.state != State::Set);
        let symbol = &mut self.symbols[self.cursor];
        *symbol = (*symbol + if next { 1 } else { symbols - 1 }) % symbols;
    }

    /// Puts a symbol at the cursor, and goes on to the next position.
    pub(super) fn put(&mut self, symbol: usize) {
        self.symbols[self.cursor] = symbol;
        self.cursor = (self.cursor + 1) % self.length();
    }

    pub(super) fn edit(&mut self, key: Press) -> Asked {
        let key = if key == Press::Back { Press::Left } else { key };
        if let Some(position) = key.moves(self.cursor, self.length()) {
            self.cursor = position;
        }
        match key {
            Press::Up => self.turn_symbol(true),
            Press::Down => self.turn_symbol(false),
            Press::Digit(digit) => {
                let colours = self.colours();
                let ninth = digit == 9 && self.state == State::Edit;
                let symbol = if ninth { Some(colours) } else { usize::from(digit).checked_sub(1) };
                if let Some(symbol) = symbol.filter(|symbol| *symbol < colours || ninth) {
                    self.put(symbol);
                } else {
                    self.log.add(format!("There is no {digit} in this game: its digits are 1 to {colours}."));
                }
            }
            Press::Enter => return self.submit(),
            _ => {}
        }
        Asked::Nothing
    }

    fn submit(&mut self) -> Asked {
        let length = self.length();
        let peg = |position| if let Symbol::Peg(peg) = self.symbol(position) { Some(peg) } else { None };
        let pegs: Vec<Peg> = (0..length).filter_map(peg).collect();
        match Code::new(&pegs).ok().filter(|code| code.len() == length) {
            code if self.state == State::Set => self.take_code(code),
            Some(guess) => return self.apply(Action::Guess(guess)),
            None if pegs.is_empty() => self.ask_for_lifeline(),
            None => {
                self.log.add("A guess has a digit at each position, a call for help a letter at each. This has both.");
            }
        }
        Asked::Nothing
    }

    fn ask_for_lifeline(&mut self) {
        let Some(round) = &self.round else { return };
        let availability = Lifeline::ALL.map(|lifeline| round.game().availability(lifeline));
        if availability.contains(&Availability::Available) {
            let [first, second] = Lifeline::ALL.map(|lifeline| voice::cost(lifeline, Style::Panel));
            self.log.add(format!(
                "Which one? 1 tells a digit of the code and takes {first}; 2 tells a digit and its position and takes \
                 {second}. UP and DOWN choose, ENTER takes it, BACKSPACE goes back."
            ));
            self.state = State::Pick(Lifeline::Colour);
        } else if availability.contains(&Availability::Used) {
            self.log.add("There is one lifeline in a game, and you have had yours.");
        } else {
            self.log.add("It is too late for a lifeline: it would leave you no row for a guess.");
        }
    }

    pub(super) fn pick(&mut self, key: Press, lifeline: Lifeline) -> Asked {
        match key {
            Press::Up | Press::Down => {
                let other = if lifeline == Lifeline::Colour { Lifeline::Place } else { Lifeline::Colour };
                self.state = State::Pick(other);
            }
            Press::Digit(number) => match Lifeline::from_number(number.into()) {
                Some(lifeline) => self.state = State::Pick(lifeline),
                None => self.log.add(format!("There is no lifeline {number}, only 1 and 2.")),
            },
            Press::Back => self.state = State::Edit,
            Press::Enter => return self.apply(Action::Lifeline(lifeline)),
            Press::Other => {}
            _ => self.log.add("UP and DOWN choose, ENTER takes it, BACKSPACE goes back."),
        }
        Asked::Nothing
    }

    fn apply(&mut self, action: Action) -> Asked {
        let Some(round) = &mut self.round else { return Asked::Nothing };
        let events = match round.apply(action) {
            Ok(events) => events,
            Err(error) => {
                self.log.add(voice::refused(error, Style::Panel));
                return Asked::Nothing;
            }
        };
        let row = round.game().turns_gone();
        let mut asked = Asked::Nothing;
        if let Some(puzzle) = round.to_be_taken_down() {
            asked = Asked::Begin;
            self.session.begin(puzzle);
        }
        self.state = State::Edit;
        self.reset_editor();
        for event in events {
            match event {
                Event::Answered(guess, feedback) => self.log.add(Message::new([
                    (format!("RED: {}", feedback.red), Tone::Red),
                    (format!("  WHITE: {}", feedback.white), Tone::White),
                    (format!("  for {guess} in row {row}"), Tone::Message),
                ])),
                Event::Revealed(revealed) => self.log.add_all(voice::revealed(revealed, Style::Panel)),
                Event::OutOfReach(lifeline) => self.log.add(voice::out_of_reach(lifeline, Style::Panel)),
                Event::Ended(outcome) => asked = self.finish(outcome),
            }
        }
        self.hint_unasked();
        asked
    }

    fn finish(&mut self, outcome: Outcome) -> Asked {
        self.state = State::Over;
        self.log.add_all(voice::ending(outcome));
        if let Outcome::Won(turns) = outcome {
            let unit = if turns == 1 { "turn" } else { "turns" };
            self.log.add(format!("It took you {turns} {unit} of ten."));
        }
        if let Some(round) = &self.round {
            self.log.add_all(voice::hints(round.game().hints()));
            self.log.add_all(round.again());
        }
        let Some(duel) = &mut self.duel else { return Asked::Count };
        duel.outcomes[duel.guesser - 1] = Some(outcome);
        if duel.outcomes.contains(&None) {
            self.state = State::Between;
            self.log.add(BETWEEN);
        } else {
            self.log.add_all(voice::verdict(duel.outcomes));
            self.log.add(AGAIN);
        }
        // Duels are not counted.
        Asked::Nothing
    }

    /// The hint of a turn, where there is one on each.
    pub(super) fn hint_unasked(&mut self) {
        if self.settings.hints && self.state == State::Edit {
            self.hint();
        }
    }

    pub(super) fn hint(&mut self) {
        match self.state {
            State::Edit | State::Pick(_) => {}
            State::Over => return self.log.add(OVER),
            _ => return self.log.add("No hint before there is a code to be found."),
        }
        let hint = self.round.as_mut().and_then(Round::hint);
        for line in hint.iter().flat_map(voice::advice) {
            self.log.add(Message::new([(format!("Hint: {line}"), Tone::White)]));
        }
    }
}
