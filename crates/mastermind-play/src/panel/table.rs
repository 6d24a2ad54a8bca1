//! The state of the panel game, without input or output. Keys and the mouse change it.

use mastermind::{
    Code, Day, Lifeline, Peg, Record, Rules, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Action, Availability, Entry, Event, Outcome},
};
use termkit::Gesture;

use crate::{
    book::Added,
    panel::{
        log::{Log, Message, Tone},
        state::{Duel, Menu, Overlaid, Press, Request, State, Symbol, Target},
    },
    round::{Round, Setter, Settings},
    voice,
};

/// For keys without a function.
const CHOOSING: &str = "LEFT and RIGHT choose, ENTER confirms.";
const BETWEEN: &str = "ENTER starts the second game.";
/// `Q` leaves only from the menu and after a game.
const LEAVING: &str = "Esc twice opens the menu, Ctrl-C quits.";
const OVER: &str = "It is over: ENTER plays again, ESC opens the menu, Q quits.";
const AGAIN: &str = "ENTER plays again, ESC opens the menu, Q quits.";

#[derive(Debug)]
pub(crate) struct Table {
    pub(super) settings: Settings,
    pub(super) state: State,
    pub(super) round: Option<Round>,
    // The symbols of the guess: the index of a colour, or the number of colours for the ninth symbol.
    symbols: [usize; MAX_LENGTH],
    pub(super) cursor: usize,
    duel: Option<Duel>,
    pub(super) log: Log,
    leaving: bool,
    tip_given: bool,
    pub(super) overlaid: Option<Overlaid>,
    pub(super) record: Option<Record>,
    // Started in this session, in case the statistics cannot be written.
    session: Record,
    /// Why the statistics could not be read.
    pub(super) trouble: Option<String>,
    /// The result of a puzzle of the day, or the command for the same puzzle.
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

    /// Sets the day of the next puzzle. A running game keeps its own.
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

    pub(super) fn begun(&mut self, begun: anyhow::Result<Added>) {
        // After an error, the write is retried at the end, where a second error is shown.
        let (Ok(begun), Some(round)) = (begun, &mut self.round) else { return };
        round.set_attempt(begun.first);
        self.log.add_all(begun.notice);
        if !begun.first {
            self.log.add(voice::again(round.day()));
        }
        (self.record, self.trouble) = (Some(begun.record), None);
    }

    pub(super) fn counted(&mut self, added: anyhow::Result<Added>) {
        let Some(round) = &mut self.round else { return };
        if let Ok(added) = &added {
            round.set_attempt(added.first);
        }
        let share = round.share();
        if let Some(share) = &share {
            share.lines().for_each(|line| self.log.add_row(line));
            self.log.add("These lines are printed again when you leave, ready to paste wherever you boast.");
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

    pub(super) const fn is_over(&self) -> bool {
        matches!(self.state, State::Between | State::Over)
    }

    /// The player whose turn it is in a duel, 1 or 2.
    pub(super) fn player(&self) -> Option<usize> {
        let duel = self.duel?;
        Some(if self.state == State::Set { duel.setter() } else { duel.guesser })
    }

    /// Of the first and the second player of a duel.
    pub(super) fn duel_outcomes(&self) -> Option<[Option<Outcome>; 2]> {
        self.duel.map(|duel| duel.outcomes)
    }

    fn rules(&self) -> Option<Rules> {
        self.round.as_ref().map(|round| round.game().rules()).or(self.duel.map(|duel| duel.rules))
    }

    pub(super) fn length(&self) -> usize {
        match self.state {
            State::Length(length) | State::Repeats { length, .. } => length,
            _ => self.rules().map_or(MIN_LENGTH, Rules::length),
        }
    }

    pub(super) fn symbol(&self, position: usize) -> Symbol {
        let colours = self.colours();
        let number = self.symbols.get(position).copied().unwrap_or(0);
        Peg::new(number).filter(|_| number < colours).map_or(Symbol::Lifeline, Symbol::Peg)
    }

    /// Shows the whole word if all positions have the ninth symbol.
    pub(super) fn asks_for_lifeline(&self) -> bool {
        (0..self.length()).all(|position| self.symbol(position) == Symbol::Lifeline)
    }

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

    pub(super) fn press(&mut self, key: Press) -> Request {
        if self.overlaid.take().is_some() {
            return Request::Nothing;
        }
        if key == Press::Escape {
            return self.escape();
        }
        self.cancel_leaving();
        match key {
            Press::Help => self.overlaid = Some(Overlaid::Help),
            Press::Statistics => self.overlaid = Some(Overlaid::Statistics),
            Press::Hint => self.hint(),
            Press::Quit if !matches!(self.state, State::Menu(_) | State::Over) => self.log.add(LEAVING),
            _ => return self.press_in_state(key),
        }
        Request::Nothing
    }

    pub(super) fn point(&mut self, target: Target, gesture: Gesture) -> Request {
        if self.overlaid.take().is_some() {
            return Request::Nothing;
        }
        self.cancel_leaving();
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
                return Request::Nothing;
            }
            (State::Pick(_), Target::Above(0) | Target::Below(0), Gesture::Press)
            | (State::Pick(_), Target::Position(0), Gesture::WheelUp | Gesture::WheelDown) => {
                return self.press_in_state(Press::Up);
            }
            (State::Set | State::Edit, Target::Peg(peg), Gesture::Press) => {
                self.put(peg.index());
                return Request::Nothing;
            }
            (State::Set | State::Edit | State::Pick(_), Target::Submit, Gesture::Press) => {}
            _ => return Request::Nothing,
        }
        self.press_in_state(Press::Enter)
    }

    fn cancel_leaving(&mut self) {
        if std::mem::take(&mut self.leaving) {
            self.log.add("You stay. How brave, and how unwise.");
        }
    }

    fn escape(&mut self) -> Request {
        match self.state {
            State::Menu(_) => return Request::Leave,
            State::Over => self.return_to_menu(),
            _ if self.leaving => self.return_to_menu(),
            _ => {
                self.leaving = true;
                self.log.add("Running away? ESC once more takes you to the menu, any other key keeps you here.");
            }
        }
        Request::Nothing
    }

    fn return_to_menu(&mut self) {
        self.state = State::Menu(Menu::Play);
        (self.round, self.duel) = (None, None);
        self.leaving = false;
        self.log.clear();
    }

    fn press_in_state(&mut self, key: Press) -> Request {
        match self.state {
            State::Menu(choice) => match (key, choice) {
                (Press::Up | Press::First, _) => self.state = State::Menu(Menu::Play),
                (Press::Down | Press::Last, _) => self.state = State::Menu(Menu::Quit),
                (Press::Enter, Menu::Play) => self.begin(),
                (Press::Enter, Menu::Quit) | (Press::Quit, _) => return Request::Leave,
                (Press::Other, _) => {}
                _ => self.log.add("UP and DOWN choose, ENTER opens."),
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
                Press::Quit => return Request::Leave,
                Press::Other => {}
                _ => self.log.add(OVER),
            },
        }
        Request::Nothing
    }

    fn reset_editor(&mut self) {
        self.symbols = [0; MAX_LENGTH];
        self.cursor = 0;
    }

    /// The number of colours of the code, or the expected one before the rules are chosen.
    pub(super) fn colours(&self) -> usize {
        self.rules().unwrap_or(self.settings.rules).colours()
    }
}

impl Table {
    fn turn_symbol(&mut self, next: bool) {
        // A code has no ninth symbol.
        let symbols = self.colours() + usize::from(self.state != State::Set);
        let symbol = &mut self.symbols[self.cursor];
        *symbol = (*symbol + if next { 1 } else { symbols - 1 }) % symbols;
    }

    fn put(&mut self, symbol: usize) {
        self.symbols[self.cursor] = symbol;
        self.cursor = (self.cursor + 1) % self.length();
    }

    fn edit(&mut self, key: Press) -> Request {
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
        Request::Nothing
    }

    fn submit(&mut self) -> Request {
        let length = self.length();
        let peg = |position| if let Symbol::Peg(peg) = self.symbol(position) { Some(peg) } else { None };
        let pegs: Vec<Peg> = (0..length).filter_map(peg).collect();
        match Code::new(&pegs).ok().filter(|code| code.len() == length) {
            code if self.state == State::Set => self.take_code(code),
            Some(guess) => return self.apply(Action::Guess(guess)),
            None if pegs.is_empty() => self.prompt_lifeline(),
            None => {
                self.log.add("A guess has a digit at each position, a call for help a letter at each. This has both.");
            }
        }
        Request::Nothing
    }

    fn prompt_lifeline(&mut self) {
        let Some(round) = &self.round else { return };
        let availability = Lifeline::ALL.map(|lifeline| round.game().availability(lifeline));
        if availability.contains(&Availability::Available) {
            let [first, second] = Lifeline::ALL.map(|lifeline| voice::cost(lifeline, Style::Panel));
            self.log.add(format!(
                "Which one? 1 reveals a digit of the code and takes {first}; 2 reveals a digit and its position and \
                 takes {second}. UP and DOWN choose, ENTER confirms, BACKSPACE returns."
            ));
            self.state = State::Pick(Lifeline::Colour);
        } else if availability.contains(&Availability::Used) {
            self.log.add("There is one lifeline in a game, and you have used yours.");
        } else {
            self.log.add("It is too late for a lifeline: it would leave you no row for a guess.");
        }
    }

    fn pick(&mut self, key: Press, lifeline: Lifeline) -> Request {
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
            _ => self.log.add("UP and DOWN choose, ENTER confirms, BACKSPACE returns."),
        }
        Request::Nothing
    }

    fn apply(&mut self, action: Action) -> Request {
        let Some(round) = &mut self.round else { return Request::Nothing };
        let events = match round.apply(action) {
            Ok(events) => events,
            Err(error) => {
                self.log.add(voice::refused(error, Style::Panel));
                return Request::Nothing;
            }
        };
        let row = round.game().turns_gone();
        let mut request = Request::Nothing;
        if let Some(puzzle) = round.to_be_taken_down() {
            request = Request::Begin;
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
                Event::Ended(outcome) => request = self.finish(outcome),
            }
        }
        self.hint_unasked();
        request
    }

    fn finish(&mut self, outcome: Outcome) -> Request {
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
        let Some(duel) = &mut self.duel else { return Request::Count };
        duel.outcomes[duel.guesser - 1] = Some(outcome);
        if duel.outcomes.contains(&None) {
            self.state = State::Between;
            self.log.add(BETWEEN);
        } else {
            self.log.add_all(voice::verdict(duel.outcomes));
            self.log.add(AGAIN);
        }
        // Duels do not count.
        Request::Nothing
    }

    fn hint_unasked(&mut self) {
        if self.settings.hints && self.state == State::Edit {
            self.hint();
        }
    }

    fn hint(&mut self) {
        match self.state {
            State::Edit | State::Pick(_) => {}
            State::Over => return self.log.add(OVER),
            _ => return self.log.add("No hint before there is a code to find."),
        }
        let hint = self.round.as_mut().and_then(Round::hint);
        for line in hint.iter().flat_map(voice::advice) {
            self.log.add(Message::new([(format!("Hint: {line}"), Tone::White)]));
        }
    }
}

impl Table {
    fn begin(&mut self) {
        self.log.clear();
        match (self.settings.setter, self.settings.wanted.length) {
            (Setter::Day(_), _) => self.deal(self.settings.rules.length(), self.settings.rules.repeats()),
            (_, None) => self.state = State::Length(MIN_LENGTH),
            (_, Some(length)) => self.prompt_repeats(length),
        }
    }

    fn choose_length(&mut self, key: Press, length: usize) {
        if let Some(choice) = key.moves(length - MIN_LENGTH, MAX_LENGTH - MIN_LENGTH + 1) {
            self.state = State::Length(MIN_LENGTH + choice);
            return;
        }
        match key {
            Press::Digit(digit) if (MIN_LENGTH..=MAX_LENGTH).contains(&digit.into()) => {
                self.state = State::Length(digit.into());
            }
            Press::Digit(_) => self.log.add(format!("A code has {MIN_LENGTH} to {MAX_LENGTH} digits.")),
            Press::Enter => self.prompt_repeats(length),
            Press::Other => {}
            _ => self.log.add(CHOOSING),
        }
    }

    fn prompt_repeats(&mut self, length: usize) {
        match self.settings.wanted.repeats {
            None => self.state = State::Repeats { length, repeats: true },
            Some(repeats) => self.deal(length, repeats),
        }
    }

    fn choose_repeats(&mut self, key: Press, length: usize, repeats: bool) {
        // The first choice is yes.
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

    fn deal(&mut self, length: usize, repeats: bool) {
        let rules = match self.settings.wanted.rules(length, repeats) {
            Ok(rules) => rules,
            Err(error) => return self.log.add(format!("Not possible: {error}.")),
        };
        self.log.clear();
        if self.settings.setter == Setter::People {
            self.duel = Some(Duel { rules, outcomes: [None; 2], guesser: 2 });
            self.log.add(voice::DUEL);
            return self.prompt_code();
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

    fn guess(&mut self, round: Round) {
        self.round = Some(round);
        self.reset_editor();
        self.state = State::Edit;
        self.hint_unasked();
    }

    fn tip(&mut self) {
        if !std::mem::replace(&mut self.tip_given, true) {
            self.log.add(format!(
                "Tip: LEFT and RIGHT move the cursor, UP and DOWN change the digit, or type digits; ENTER submits. \
                 LIFELINE follows {}.",
                self.settings.rules.colours()
            ));
        }
    }

    fn prompt_code(&mut self) {
        let Some(duel) = self.duel else { return };
        let (setter, guesser) = (duel.setter(), duel.guesser);
        self.log.add(format!(
            "Player {setter}, set a code for player {guesser}, who looks away. Arrows and digits change it, ENTER hides it."
        ));
        self.round = None;
        self.reset_editor();
        self.state = State::Set;
    }

    fn take_code(&mut self, code: Option<Code>) {
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

    fn next_duellist(&mut self) {
        if let Some(duel) = &mut self.duel {
            duel.guesser = duel.setter();
        }
        self.log.clear();
        self.prompt_code();
    }
}
