//! The panel game as a state that keys change. It draws nothing and waits for nothing.

use mastermind::{
    Code, Day, Lifeline, Peg, Record, Rules, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Action, Availability, Entry, Event, Outcome},
};
use termkit::Gesture;

use super::{
    log::{Log, Message, Tone},
    state::{Asked, Key, Menu, Overlaid, State, Symbol, Target},
};
use crate::{Added, BookError, Round, Wanted, advice::advice, voice};

/// What is said about a key that does nothing where choices stand side by side, and after a game.
const CHOOSING: &str = "LEFT and RIGHT choose, ENTER takes it.";
const BETWEEN: &str = "ENTER goes on to the second game.";
const OVER: &str = "The game is over. ESC goes back to the menu.";

/// Who sets the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setter {
    /// The machine, from the next seed.
    Seed,
    /// The machine, by the day.
    Day(Day),
    /// Two people, for each other.
    People,
}

/// Two people and their codes.
#[derive(Debug, Clone, Copy)]
struct Duel {
    rules: Rules,
    // Of the first and of the second player.
    outcomes: [Option<Outcome>; 2],
    // Who guesses, 1 or 2; the other one has set the code.
    guesser: usize,
}

impl Duel {
    const fn setter(self) -> usize {
        3 - self.guesser
    }
}

/// The whole panel game.
#[derive(Debug)]
pub struct Table {
    wanted: Wanted,
    /// The seed of the next game.
    seed: u64,
    setter: Setter,
    state: State,
    round: Option<Round>,
    // The symbols of the guess, by number: those of the colours, then the ninth.
    symbols: [usize; MAX_LENGTH],
    cursor: usize,
    /// Whether there is a hint on each turn.
    hints: bool,
    // While two people set codes or guess them.
    duel: Option<Duel>,
    log: Log,
    leaving: bool,
    tip_given: bool,
    overlaid: Option<Overlaid>,
    record: Option<Record>,
    // The puzzles begun here, for when the statistics cannot be written.
    session: Record,
    trouble: Option<String>,
    share: Option<String>,
}

impl Table {
    /// The menu of a program that was asked for these rules. Games come from this seed and the following ones, or from the
    /// day.
    pub fn new(wanted: Wanted, seed: u64, day: Option<Day>) -> Self {
        Self {
            wanted,
            seed,
            setter: day.map_or(Setter::Seed, Setter::Day),
            state: State::Menu(Menu::Play),
            round: None,
            symbols: [0; MAX_LENGTH],
            cursor: 0,
            hints: false,
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

    /// The same with a hint on each turn.
    #[must_use]
    pub fn with_hints(self) -> Self {
        Self { hints: true, ..self }
    }

    /// The same for two people who set codes for each other.
    #[must_use]
    pub fn for_two(self) -> Self {
        Self { setter: Setter::People, ..self }
    }

    /// Takes in what day it is. Between games that is the day of the next puzzle; a game that goes on keeps its own.
    pub const fn turn_page(&mut self, today: Day) {
        if matches!((self.state, self.setter), (State::Menu(_), Setter::Day(_))) {
            self.setter = Setter::Day(today);
        }
    }

    /// Takes in the statistics of past games.
    pub fn statistics(&mut self, read: Result<Record, BookError>) {
        match read {
            Ok(record) => self.record = Some(record),
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }

    /// Takes in what became of the puzzle whose beginning was to be taken down.
    pub fn begun(&mut self, begun: Result<Added, BookError>) {
        // What refuses now is tried again, and said, at the end.
        let (Ok(begun), Some(round)) = (begun, &mut self.round) else {
            return;
        };
        round.stand(begun.first);
        if let Some(notice) = begun.notice {
            self.log.add(&*notice);
        }
        if !begun.first {
            self.log.add(voice::again(round.day()));
        }
        (self.record, self.trouble) = (Some(begun.record), None);
    }

    /// Takes in what became of the game that was to be counted.
    pub fn counted(&mut self, added: Result<Added, BookError>) {
        if let (Ok(added), Some(round)) = (&added, &mut self.round) {
            round.stand(added.first);
        }
        let (share, again) = self.round.as_ref().map(|round| (round.share(), round.again())).unwrap_or_default();
        if let Some(share) = &share {
            for line in share.lines() {
                self.log.add_row(line);
            }
            self.log.add("These lines are printed once more when you leave, to be pasted wherever you boast.");
        }
        self.share = share.or(again);
        match added {
            Ok(added) => {
                for line in voice::added(&added) {
                    self.log.add(&*line);
                }
                (self.record, self.trouble) = (Some(added.record), None);
            }
            Err(error) => self.log.add(&*format!("This game is not counted: {error}.")),
        }
        self.log.add("ESC goes back to the menu.");
    }

    /// What the keys are for.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The game, once there is one.
    pub const fn round(&self) -> Option<&Round> {
        self.round.as_ref()
    }

    /// The messages.
    pub const fn log(&self) -> &Log {
        &self.log
    }

    /// What covers the panels, if something does.
    pub const fn overlaid(&self) -> Option<Overlaid> {
        self.overlaid
    }

    /// Where the cursor is in the guess.
    pub const fn cursor(&self) -> usize {
        self.cursor
    }

    /// The statistics, as far as they could be read.
    pub const fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// Why the statistics could not be read.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// What can be passed on of the last game that ended: the result of the puzzle of a day, or how to have the same puzzle.
    pub fn share(&self) -> Option<&str> {
        self.share.as_deref()
    }

    /// The day whose puzzles are played, if they are.
    pub const fn day(&self) -> Option<Day> {
        match self.setter {
            Setter::Day(day) => Some(day),
            Setter::Seed | Setter::People => None,
        }
    }

    /// Whether two people play against each other.
    pub const fn is_for_two(&self) -> bool {
        matches!(self.setter, Setter::People)
    }

    /// Who makes up a guess or a code, 1 or 2, in a duel.
    pub fn player(&self) -> Option<usize> {
        let duel = self.duel?;
        Some(if self.state == State::Set { duel.setter() } else { duel.guesser })
    }

    /// The rules that are played by, once they are chosen.
    fn rules(&self) -> Option<Rules> {
        self.round.as_ref().map(|round| round.game().rules()).or(self.duel.map(|duel| duel.rules))
    }

    /// Pegs in the code, as far as that is chosen.
    pub fn length(&self) -> usize {
        match self.state {
            State::Length(length) | State::Repeats { length, .. } => length,
            _ => self.rules().map_or(MIN_LENGTH, Rules::length),
        }
    }

    /// What is at a position of the guess.
    pub fn symbol(&self, position: usize) -> Symbol {
        let colours = self.colours();
        let number = self.symbols.get(position).copied().unwrap_or(0);
        Peg::new(number).filter(|_| number < colours).map_or(Symbol::Lifeline, Symbol::Peg)
    }

    /// Whether all positions are on the ninth symbol, so that the whole word is shown.
    pub fn asks_for_lifeline(&self) -> bool {
        (0..self.length()).all(|position| self.symbol(position) == Symbol::Lifeline)
    }

    /// Rows of the history: what each was taken by.
    pub fn rows(&self) -> Vec<Entry> {
        let history = self.round.as_ref().map(|round| round.game().history()).unwrap_or_default();
        let rows = history.iter().flat_map(|entry| {
            let rows = match entry {
                Entry::Guess { .. } => 1,
                Entry::Lifeline { cost, .. } => *cost,
            };
            std::iter::repeat_n(*entry, rows)
        });
        rows.collect()
    }

    /// Does what a key asks for.
    pub fn press(&mut self, key: Key) -> Asked {
        // What covers the panels goes with any key, and that key does nothing else.
        if self.overlaid.take().is_some() {
            return Asked::Nothing;
        }
        if key == Key::Escape {
            return self.escape();
        }
        self.stay();
        match key {
            Key::Help => self.overlaid = Some(Overlaid::Help),
            Key::Statistics => self.overlaid = Some(Overlaid::Statistics),
            Key::Hint => self.hint(),
            _ => return self.press_in_state(key),
        }
        Asked::Nothing
    }

    /// Does what the mouse asks for.
    pub fn point(&mut self, target: Target, gesture: Gesture) -> Asked {
        if self.overlaid.take().is_some() {
            return Asked::Nothing;
        }
        self.stay();
        match (self.state, target, gesture) {
            (State::Menu(_), Target::Menu(choice), Gesture::Press) => {
                self.state = State::Menu(choice);
                return self.press_in_state(Key::Enter);
            }
            (State::Length(_), Target::Choice(number), Gesture::Press) => {
                self.state = State::Length((MIN_LENGTH + number).min(MAX_LENGTH));
                return self.press_in_state(Key::Enter);
            }
            (State::Repeats { length, .. }, Target::Choice(number), Gesture::Press) => {
                self.state = State::Repeats { length, repeats: number == 0 };
                return self.press_in_state(Key::Enter);
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
            }
            (State::Pick(_), Target::Above(0) | Target::Below(0), Gesture::Press)
            | (State::Pick(_), Target::Position(0), Gesture::WheelUp | Gesture::WheelDown) => {
                return self.press_in_state(Key::Up);
            }
            (State::Set | State::Edit | State::Pick(_), Target::Submit, Gesture::Press) => {
                return self.press_in_state(Key::Enter);
            }
            _ => {}
        }
        Asked::Nothing
    }

    /// Withdraws a request to leave that something else came after.
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

    fn press_in_state(&mut self, key: Key) -> Asked {
        match self.state {
            State::Menu(choice) => match (key, choice) {
                (Key::Up | Key::First, _) => self.state = State::Menu(Menu::Play),
                (Key::Down | Key::Last, _) => self.state = State::Menu(Menu::Quit),
                (Key::Enter, Menu::Play) => self.begin(),
                (Key::Enter, Menu::Quit) => return Asked::Leave,
                (Key::Other, _) => {}
                _ => self.log.add("UP and DOWN choose, ENTER goes in."),
            },
            State::Length(length) => self.choose_length(key, length),
            State::Repeats { length, repeats } => match key {
                Key::Left | Key::Right => self.state = State::Repeats { length, repeats: !repeats },
                Key::First => self.state = State::Repeats { length, repeats: true },
                Key::Last => self.state = State::Repeats { length, repeats: false },
                Key::Back if self.wanted.length.is_none() => self.state = State::Length(length),
                Key::Enter => self.deal(length, repeats),
                Key::Other => {}
                _ => self.log.add(CHOOSING),
            },
            State::Set | State::Edit => return self.edit(key),
            State::Pick(lifeline) => return self.pick(key, lifeline),
            State::Between => match key {
                Key::Enter => self.next_duellist(),
                Key::Other => {}
                _ => self.log.add(BETWEEN),
            },
            State::Over => self.log.add(OVER),
        }
        Asked::Nothing
    }

    /// Asks what is not given on the command line.
    fn begin(&mut self) {
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

    fn choose_length(&mut self, key: Key, length: usize) {
        const CHOICES: usize = MAX_LENGTH - MIN_LENGTH + 1;
        let turned = |by: usize| MIN_LENGTH + (length - MIN_LENGTH + by) % CHOICES;
        match key {
            Key::Left => self.state = State::Length(turned(CHOICES - 1)),
            Key::Right => self.state = State::Length(turned(1)),
            Key::First => self.state = State::Length(MIN_LENGTH),
            Key::Last => self.state = State::Length(MAX_LENGTH),
            Key::Digit(digit) if (MIN_LENGTH..=MAX_LENGTH).contains(&digit.into()) => {
                self.state = State::Length(digit.into());
            }
            Key::Digit(_) => self.log.add(&*format!("A code has {MIN_LENGTH} to {MAX_LENGTH} digits.")),
            Key::Enter => self.ask_repeats(length),
            Key::Other => {}
            _ => self.log.add(CHOOSING),
        }
    }

    fn ask_repeats(&mut self, length: usize) {
        match self.wanted.repeats {
            None => self.state = State::Repeats { length, repeats: true },
            Some(repeats) => self.deal(length, repeats),
        }
    }

    /// Begins a game by these rules.
    fn deal(&mut self, length: usize, repeats: bool) {
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
            round.stand(false);
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
            self.log.add(
                "Tip: LEFT and RIGHT move the cursor, UP and DOWN change the digit, or type digits; ENTER submits. Behind 8 \
                 comes LIFELINE.",
            );
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
    fn take_code(&mut self, code: Option<Code>) {
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
    fn next_duellist(&mut self) {
        if let Some(duel) = &mut self.duel {
            duel.guesser = duel.setter();
        }
        self.log.clear();
        self.ask_code();
    }

    fn reset_editor(&mut self) {
        self.symbols = [0; MAX_LENGTH];
        self.cursor = 0;
    }

    fn colours(&self) -> usize {
        self.rules().map_or(0, Rules::colours)
    }

    fn turn_symbol(&mut self, next: bool) {
        // A code has no ninth symbol.
        let symbols = self.colours() + usize::from(self.state != State::Set);
        let symbol = &mut self.symbols[self.cursor];
        *symbol = (*symbol + if next { 1 } else { symbols - 1 }) % symbols;
    }

    fn edit(&mut self, key: Key) -> Asked {
        let length = self.length();
        match key {
            Key::Left | Key::Back => self.cursor = (self.cursor + length - 1) % length,
            Key::Right => self.cursor = (self.cursor + 1) % length,
            Key::First => self.cursor = 0,
            Key::Last => self.cursor = length - 1,
            Key::Up => self.turn_symbol(true),
            Key::Down => self.turn_symbol(false),
            Key::Digit(digit) => {
                let colours = self.colours();
                let ninth = digit == 9 && self.state == State::Edit;
                let symbol = if ninth { Some(colours) } else { usize::from(digit).checked_sub(1) };
                let Some(symbol) = symbol.filter(|symbol| *symbol < colours || ninth) else {
                    self.log.add(&*format!("There is no {digit} in this game: its digits are 1 to {colours}."));
                    return Asked::Nothing;
                };
                self.symbols[self.cursor] = symbol;
                self.cursor = (self.cursor + 1) % length;
            }
            Key::Enter => return self.submit(),
            _ => {}
        }
        Asked::Nothing
    }

    fn submit(&mut self) -> Asked {
        let symbols: Vec<Symbol> = (0..self.length()).map(|position| self.symbol(position)).collect();
        let pegs: Vec<Peg> =
            symbols.iter().filter_map(|symbol| if let Symbol::Peg(peg) = symbol { Some(*peg) } else { None }).collect();
        if self.state == State::Set {
            self.take_code(Code::new(&pegs).ok());
            return Asked::Nothing;
        }
        if pegs.is_empty() {
            self.ask_for_lifeline();
            return Asked::Nothing;
        }
        if pegs.len() < symbols.len() {
            self.log.add("A guess has a digit at each position, a call for help a letter at each. This has both.");
            return Asked::Nothing;
        }
        Code::new(&pegs).map_or(Asked::Nothing, |guess| self.apply(Action::Guess(guess)))
    }

    fn ask_for_lifeline(&mut self) {
        let Some(round) = &self.round else {
            return;
        };
        let availability = Lifeline::ALL.map(|lifeline| round.game().availability(lifeline));
        if availability.contains(&Availability::Available) {
            let [first, second] = Lifeline::ALL.map(|lifeline| voice::cost(lifeline, Style::Panel));
            self.log.add(&*format!(
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

    fn pick(&mut self, key: Key, lifeline: Lifeline) -> Asked {
        match key {
            Key::Up | Key::Down => {
                let other = if lifeline == Lifeline::Colour { Lifeline::Place } else { Lifeline::Colour };
                self.state = State::Pick(other);
            }
            Key::Digit(number) => match Lifeline::from_number(number.into()) {
                Some(lifeline) => self.state = State::Pick(lifeline),
                None => self.log.add(&*format!("There is no lifeline {number}, only 1 and 2.")),
            },
            Key::Back => self.state = State::Edit,
            Key::Enter => return self.apply(Action::Lifeline(lifeline)),
            Key::Other => {}
            _ => self.log.add("UP and DOWN choose, ENTER takes it, BACKSPACE goes back."),
        }
        Asked::Nothing
    }

    fn apply(&mut self, action: Action) -> Asked {
        let Some(round) = &mut self.round else {
            return Asked::Nothing;
        };
        let events = match round.apply(action) {
            Ok(events) => events,
            Err(error) => {
                self.log.add(&*voice::refused(error, Style::Panel));
                return Asked::Nothing;
            }
        };
        let mut asked = Asked::Nothing;
        if round.is_to_be_taken_down() {
            asked = Asked::Begin;
            if let Some(puzzle) = round.puzzle() {
                self.session.begin(puzzle);
            }
        }
        self.state = State::Edit;
        self.reset_editor();
        for event in events {
            match event {
                Event::Answered { guess, feedback } => {
                    let turn = self.round.as_ref().map_or(0, |round| round.game().turns_gone());
                    self.log.add(Message::new([
                        (format!("RED: {}", feedback.red), Tone::Red),
                        (format!("  WHITE: {}", feedback.white), Tone::White),
                        (format!("  for {guess} in row {turn}"), Tone::Message),
                    ]));
                }
                Event::Revealed(revealed) => {
                    for line in voice::revealed(revealed, Style::Panel) {
                        self.log.add(&*line);
                    }
                }
                Event::OutOfReach(lifeline) => self.log.add(&*voice::out_of_reach(lifeline, Style::Panel)),
                Event::Ended(outcome) => asked = self.finish(outcome),
            }
        }
        self.hint_unasked();
        asked
    }

    fn finish(&mut self, outcome: Outcome) -> Asked {
        self.state = State::Over;
        for line in voice::ending(outcome) {
            self.log.add(&*line);
        }
        if let Outcome::Won { turns } = outcome {
            let unit = if turns == 1 { "turn" } else { "turns" };
            self.log.add(&*format!("It took you {turns} {unit} of ten."));
        }
        let Some(round) = &self.round else {
            return Asked::Nothing;
        };
        if let Some(line) = voice::hints(round.game().hints()) {
            self.log.add(&*line);
        }
        if let Some(again) = round.again() {
            self.log.add(&*again);
        }
        let Some(duel) = &mut self.duel else {
            return Asked::Count;
        };
        duel.outcomes[duel.guesser - 1] = Some(outcome);
        if duel.outcomes.contains(&None) {
            self.state = State::Between;
            self.log.add(BETWEEN);
        } else {
            for line in voice::verdict(duel.outcomes) {
                self.log.add(&*line);
            }
            self.log.add("ESC goes back to the menu.");
        }
        // Duels are not counted.
        Asked::Nothing
    }

    /// The hint of a turn, where there is one on each.
    fn hint_unasked(&mut self) {
        if self.hints && self.state == State::Edit {
            self.hint();
        }
    }

    fn hint(&mut self) {
        match self.state {
            State::Edit | State::Pick(_) => {}
            State::Over => return self.log.add(OVER),
            _ => return self.log.add("No hint before there is a code to be found."),
        }
        if let Some(hint) = self.round.as_mut().and_then(Round::hint) {
            for line in advice(&hint) {
                self.log.add(Message::new([("Hint: ".to_owned(), Tone::White), (line, Tone::White)]));
            }
        }
    }
}
