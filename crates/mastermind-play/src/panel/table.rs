//! The state of the panel game, which keys and the mouse change. It does no input and output.

mod play;
mod setup;

use mastermind::{
    Day, Peg, Record, Rules,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::Entry,
};
use termkit::Gesture;

use super::{
    log::Log,
    state::{Asked, Duel, Menu, Overlaid, Press, State, Symbol, Target},
};
use crate::{
    book::Added,
    round::Round,
    settings::{Setter, Settings},
    voice,
};

/// The messages for keys without a function at a choice, between the games of a duel, and after a game.
const CHOOSING: &str = "LEFT and RIGHT choose, ENTER takes it.";
const BETWEEN: &str = "ENTER goes on to the second game.";
/// The message for `Q` in a game, which leaves only from the menu and after a game.
const LEAVING: &str = "Esc twice goes to the menu, Ctrl-C leaves.";
const OVER: &str = "It is over: ENTER plays again, ESC is the menu, Q leaves.";
/// What is said when the result is complete.
const AGAIN: &str = "ENTER plays again, ESC goes back to the menu, Q leaves.";

/// The whole panel game.
#[derive(Debug)]
pub(crate) struct Table {
    pub(super) settings: Settings,
    pub(super) state: State,
    pub(super) round: Option<Round>,
    // The symbols of the guess: the index of a colour, or the number of colours for the ninth symbol.
    symbols: [usize; MAX_LENGTH],
    pub(super) cursor: usize,
    // Set during a duel.
    duel: Option<Duel>,
    pub(super) log: Log,
    leaving: bool,
    tip_given: bool,
    /// What covers the panels, if something does.
    pub(super) overlaid: Option<Overlaid>,
    /// The statistics, as far as they could be read.
    pub(super) record: Option<Record>,
    // The puzzles begun since the start, in case the statistics cannot be written.
    session: Record,
    /// Why the statistics could not be read.
    pub(super) trouble: Option<String>,
    /// What a player can pass on of the last finished game: the result of a puzzle of the day, or the command for the same puzzle.
    pub(super) share: Option<String>,
}

impl Table {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            state: State::Menu(Menu::Play),
            round: None,
            symbols: [0; MAX_LENGTH],
            cursor: 0,
            duel: None,
            log: Log::default(),
            leaving: false,
            tip_given: false,
            overlaid: None,
            record: None,
            session: Record::default(),
            trouble: None,
            share: None,
        }
    }

    /// Sets the day of the next puzzle. A game that has begun keeps its own.
    pub(super) const fn turn_page(&mut self, today: Day) {
        if matches!((self.state, self.settings.setter), (State::Menu(_), Setter::Day(_))) {
            self.settings.setter = Setter::Day(today);
        }
    }

    pub(super) fn statistics(&mut self, read: anyhow::Result<Record>) {
        match read {
            Ok(record) => self.record = Some(record),
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }

    /// Sets the result of recording that a puzzle was begun.
    pub(super) fn begun(&mut self, begun: anyhow::Result<Added>) {
        // After an error this is tried again at the end, and the error is shown then.
        let (Ok(begun), Some(round)) = (begun, &mut self.round) else { return };
        round.set_attempt(begun.first);
        self.log.add_all(begun.notice);
        if !begun.first {
            self.log.add(voice::again(round.day()));
        }
        (self.record, self.trouble) = (Some(begun.record), None);
    }

    /// Sets the result of counting a game.
    pub(super) fn counted(&mut self, added: anyhow::Result<Added>) {
        let Some(round) = &mut self.round else { return };
        if let Ok(added) = &added {
            round.set_attempt(added.first);
        }
        let share = round.share();
        if let Some(share) = &share {
            share.lines().for_each(|line| self.log.add_row(line));
            self.log.add("These lines are printed once more when you leave, to be pasted wherever you boast.");
        }
        self.share = share.or(round.again());
        match added {
            Ok(added) => {
                self.log.add_all(voice::added(&added));
                (self.record, self.trouble) = (Some(added.record), None);
            }
            Err(error) => self.log.add(voice::not_added(&error)),
        }
        self.log.add(AGAIN);
    }

    /// Whether a game has just been played to its end.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.state, State::Between | State::Over)
    }

    /// The player whose turn it is in a duel, 1 or 2.
    pub(super) fn player(&self) -> Option<usize> {
        let duel = self.duel?;
        Some(if self.state == State::Set { duel.setter() } else { duel.guesser })
    }

    /// The rules that are played by, once they are chosen.
    fn rules(&self) -> Option<Rules> {
        self.round.as_ref().map(|round| round.game().rules()).or(self.duel.map(|duel| duel.rules))
    }

    /// Pegs in the code, as far as that is chosen.
    pub(super) fn length(&self) -> usize {
        match self.state {
            State::Length(length) | State::Repeats { length, .. } => length,
            _ => self.rules().map_or(MIN_LENGTH, Rules::length),
        }
    }

    /// What is at a position of the guess.
    pub(super) fn symbol(&self, position: usize) -> Symbol {
        let colours = self.colours();
        let number = self.symbols.get(position).copied().unwrap_or(0);
        Peg::new(number).filter(|_| number < colours).map_or(Symbol::Lifeline, Symbol::Peg)
    }

    /// Whether all positions are on the ninth symbol, so that the whole word is shown.
    pub(super) fn asks_for_lifeline(&self) -> bool {
        (0..self.length()).all(|position| self.symbol(position) == Symbol::Lifeline)
    }

    /// The rows of the history, each with the entry that took it.
    pub(super) fn rows(&self) -> Vec<Entry> {
        let history = self.round.as_ref().map(|round| round.game().history()).unwrap_or_default();
        let rows = history.iter().flat_map(|entry| {
            let rows = match entry {
                Entry::Guess(..) => 1,
                Entry::Lifeline(_, cost) => *cost,
            };
            std::iter::repeat_n(*entry, rows)
        });
        rows.collect()
    }

    pub(super) fn press(&mut self, key: Press) -> Asked {
        // Any key closes an overlay and does nothing else.
        if self.overlaid.take().is_some() {
            return Asked::Nothing;
        }
        if key == Press::Escape {
            return self.escape();
        }
        self.stay();
        match key {
            Press::Help => self.overlaid = Some(Overlaid::Help),
            Press::Statistics => self.overlaid = Some(Overlaid::Statistics),
            Press::Hint => self.hint(),
            Press::Quit if !matches!(self.state, State::Menu(_) | State::Over) => self.log.add(LEAVING),
            _ => return self.press_in_state(key),
        }
        Asked::Nothing
    }

    pub(super) fn point(&mut self, target: Target, gesture: Gesture) -> Asked {
        if self.overlaid.take().is_some() {
            return Asked::Nothing;
        }
        self.stay();
        match (self.state, target, gesture) {
            (State::Menu(_), Target::Menu(choice), Gesture::Press) => self.state = State::Menu(choice),
            (State::Length(_), Target::Choice(number), Gesture::Press) => {
                self.state = State::Length((MIN_LENGTH + number).min(MAX_LENGTH));
            }
            (State::Repeats { length, .. }, Target::Choice(number), Gesture::Press) => {
                self.state = State::Repeats { length, repeats: number == 0 };
            }
            (State::Edit | State::Set, Target::Above(at) | Target::Position(at) | Target::Below(at), _)
                if at < self.length() =>
            {
                self.cursor = at;
                match (target, gesture) {
                    (_, Gesture::WheelUp) | (Target::Above(_), Gesture::Press) => self.turn_symbol(true),
                    (_, Gesture::WheelDown) | (Target::Below(_), Gesture::Press) => self.turn_symbol(false),
                    _ => {}
                }
                return Asked::Nothing;
            }
            (State::Pick(_), Target::Above(0) | Target::Below(0), Gesture::Press)
            | (State::Pick(_), Target::Position(0), Gesture::WheelUp | Gesture::WheelDown) => {
                return self.press_in_state(Press::Up);
            }
            (State::Set | State::Edit, Target::Peg(peg), Gesture::Press) => {
                self.put(peg.index());
                return Asked::Nothing;
            }
            (State::Set | State::Edit | State::Pick(_), Target::Submit, Gesture::Press) => {}
            _ => return Asked::Nothing,
        }
        // What was pointed at is taken.
        self.press_in_state(Press::Enter)
    }

    /// Withdraws a request to leave, since another key followed it.
    fn stay(&mut self) {
        if std::mem::take(&mut self.leaving) {
            self.log.add("You stay. How brave, and how unwise.");
        }
    }

    fn escape(&mut self) -> Asked {
        match self.state {
            State::Menu(_) => return Asked::Leave,
            State::Over => self.return_to_menu(),
            _ if self.leaving => self.return_to_menu(),
            _ => {
                self.leaving = true;
                self.log.add("Running away? ESC once more takes you to the menu, any other key keeps you here.");
            }
        }
        Asked::Nothing
    }

    fn return_to_menu(&mut self) {
        self.state = State::Menu(Menu::Play);
        (self.round, self.duel) = (None, None);
        self.leaving = false;
        self.log.clear();
    }

    fn press_in_state(&mut self, key: Press) -> Asked {
        match self.state {
            State::Menu(choice) => match (key, choice) {
                (Press::Up | Press::First, _) => self.state = State::Menu(Menu::Play),
                (Press::Down | Press::Last, _) => self.state = State::Menu(Menu::Quit),
                (Press::Enter, Menu::Play) => self.begin(),
                (Press::Enter, Menu::Quit) | (Press::Quit, _) => return Asked::Leave,
                (Press::Other, _) => {}
                _ => self.log.add("UP and DOWN choose, ENTER goes in."),
            },
            State::Length(length) => self.choose_length(key, length),
            State::Repeats { length, repeats } => self.choose_repeats(key, length, repeats),
            State::Set | State::Edit => return self.edit(key),
            State::Pick(lifeline) => return self.pick(key, lifeline),
            State::Between => match key {
                Press::Enter => self.next_duellist(),
                Press::Other => {}
                _ => self.log.add(BETWEEN),
            },
            State::Over => match key {
                Press::Enter => {
                    self.return_to_menu();
                    self.begin();
                }
                Press::Quit => return Asked::Leave,
                Press::Other => {}
                _ => self.log.add(OVER),
            },
        }
        Asked::Nothing
    }

    fn reset_editor(&mut self) {
        self.symbols = [0; MAX_LENGTH];
        self.cursor = 0;
    }

    /// Colours of the code; before the rules are chosen, as many as can be expected.
    pub(super) fn colours(&self) -> usize {
        self.rules().unwrap_or(self.settings.rules).colours()
    }
}
