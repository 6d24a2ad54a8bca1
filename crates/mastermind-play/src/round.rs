//! One game with its random generator.

use mastermind::{
    Code, ConfigError, Day, Game, Origin, Puzzle, Rules, Style,
    code::{MAX_COLOURS, MIN_LENGTH},
    game::{Action, ActionError, CodeError, Event},
    solver::Hint,
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Whether this is the player's first game at its puzzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Unknown until the first answer, when the statistics are read.
    Unknown,
    /// The first game at the puzzle.
    First,
    /// The player has seen the puzzle before.
    Again,
}

/// A game and the generator that its lifelines draw from.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    game: Game,
    rng: Pcg64,
    // `None` if a person has set the code.
    origin: Option<Origin>,
    attempt: Attempt,
    // The last hint, and the length of the history when it was given.
    hint: Option<(usize, Hint)>,
}

impl Round {
    /// The game of a seed: the seed determines its code and what its lifelines reveal.
    pub(crate) fn from_seed(rules: Rules, style: Style, seed: u64) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        Self::new(Game::new(rules, style, &mut rng), rng, Some(Origin::Seed(seed)))
    }

    pub(crate) fn of_day(rules: Rules, style: Style, day: Day) -> Self {
        Self::new(Game::of_day(rules, style, day), Pcg64::seed_from_u64(day.0.into()), Some(Origin::Day(day)))
    }

    /// A game whose code was set by a person. Its lifelines draw from `seed`.
    pub(crate) fn with_code(rules: Rules, style: Style, code: Code, seed: u64) -> Result<Self, CodeError> {
        Ok(Self::new(Game::with_code(rules, style, code)?, Pcg64::seed_from_u64(seed), None))
    }

    const fn new(game: Game, rng: Pcg64, origin: Option<Origin>) -> Self {
        Self { game, rng, origin, attempt: Attempt::Unknown, hint: None }
    }

    pub(crate) const fn game(&self) -> &Game {
        &self.game
    }

    /// The day whose puzzle it is, if it is one.
    pub(crate) const fn day(&self) -> Option<Day> {
        match self.origin {
            Some(Origin::Day(day)) => Some(day),
            _ => None,
        }
    }

    /// The puzzle that has the same code. `None` if a person has set the code.
    pub(crate) fn puzzle(&self) -> Option<Puzzle> {
        self.origin.map(|origin| Puzzle { rules: self.game.rules(), origin })
    }

    pub(crate) const fn attempt(&self) -> Attempt {
        self.attempt
    }

    pub(crate) const fn set_attempt(&mut self, first: bool) {
        self.attempt = if first { Attempt::First } else { Attempt::Again };
    }

    /// The puzzle, if its first answer has just been given and `Attempt` is still unknown.
    pub(crate) fn to_be_taken_down(&self) -> Option<Puzzle> {
        self.puzzle().filter(|_| self.attempt == Attempt::Unknown && self.game.history().len() == 1)
    }

    /// The result of a puzzle of the day, for sharing, once the game is over.
    pub(crate) fn share(&self) -> Option<String> {
        mastermind::share(&self.game, Some(self.day()?), self.attempt == Attempt::Again)
    }

    pub(crate) fn apply(&mut self, action: Action) -> Result<Vec<Event>, ActionError> {
        self.game.apply(action, &mut self.rng)
    }

    /// The codebreaker's next guess. From here on the game counts as one with hints; a repeated call before the next
    /// answer counts once. `None` if no code fits, which never happens in a game.
    pub(crate) fn hint(&mut self) -> Option<Hint> {
        let now = self.game.history().len();
        if self.hint.as_ref().is_none_or(|(then, _)| *then != now) {
            self.hint = Hint::of(&self.game.ask_hint()).map(|hint| (now, hint));
        }
        self.hint.as_ref().map(|(_, hint)| hint.clone())
    }

    /// The seed and the command that starts the same game again, if a seed decided it.
    pub(crate) fn again(&self) -> Option<String> {
        let Some(Origin::Seed(seed)) = self.origin else { return None };
        let rules = self.game.rules();
        let panel = if self.game.style() == Style::Panel { "--panel " } else { "" };
        let repeats = if rules.repeats() { "yes" } else { "no" };
        let colours = match rules.colours() {
            MAX_COLOURS => String::new(),
            colours => format!(" --colours {colours}"),
        };
        Some(format!(
            "Seed: {seed}. The same puzzle again: {} {panel}--length {}{colours} --repeats {repeats} --seed {seed}",
            cmdkit::command_of("mastermind-play"),
            rules.length()
        ))
    }
}

/// The rules given on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) length: Option<usize>,
    pub(crate) repeats: Option<bool>,
    /// The number of colours; all eight if none is given.
    pub(crate) colours: Option<usize>,
}

impl Wanted {
    /// The rules, with these values for the missing ones.
    pub(crate) fn rules(self, length: usize, repeats: bool) -> Result<Rules, ConfigError> {
        let length = self.length.unwrap_or(length);
        Rules::new(length, self.colours.unwrap_or(MAX_COLOURS), self.repeats.unwrap_or(repeats))
    }

    /// The rules without prompts: the shortest code with repeats, unless given otherwise.
    pub(crate) fn without_asking(self) -> Result<Rules, ConfigError> {
        self.rules(MIN_LENGTH, true)
    }
}

/// The source of the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setter {
    /// The machine, from the next seed.
    Seed,
    /// The machine, by the day.
    Day(Day),
    /// Two people, for each other.
    People,
}

/// The settings that are fixed before the first prompt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Rules given on the command line.
    pub(crate) wanted: Wanted,
    /// The rules if the user is not prompted.
    pub(crate) rules: Rules,
    pub(crate) setter: Setter,
    /// The seed of the next game, or of its lifelines.
    pub(crate) seed: u64,
    /// Whether there is a hint on each turn.
    pub(crate) hints: bool,
}

impl Settings {
    /// The next game whose code the machine sets.
    pub(crate) fn deal(&mut self, rules: Rules, style: Style) -> Round {
        match self.setter {
            Setter::Day(day) => Round::of_day(rules, style, day),
            Setter::Seed | Setter::People => Round::from_seed(rules, style, self.next_seed()),
        }
    }

    /// The next game with a code set by a person.
    pub(crate) fn deal_code(&mut self, rules: Rules, style: Style, code: Code) -> Result<Round, CodeError> {
        let round = Round::with_code(rules, style, code, self.seed)?;
        self.next_seed();
        Ok(round)
    }

    const fn next_seed(&mut self) -> u64 {
        let seed = self.seed;
        self.seed = seed.wrapping_add(1);
        seed
    }
}
