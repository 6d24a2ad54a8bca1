//! One game with all that it draws from.

use mastermind::{
    Code, Day, Game, Rules, Style,
    game::{Action, ActionError, CodeError, Event},
    solver::Hint,
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// What decides a puzzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Seed(u64),
    Day(Day),
    Person,
}

/// A game and the generator that its lifelines draw from.
#[derive(Debug, Clone)]
pub struct Round {
    game: Game,
    rng: Pcg64,
    origin: Origin,
}

impl Round {
    /// The game that a seed stands for: its code, and what its lifelines tell.
    pub fn from_seed(rules: Rules, style: Style, seed: u64) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        Self { game: Game::new(rules, style, &mut rng), rng, origin: Origin::Seed(seed) }
    }

    /// The puzzle of a day.
    ///
    /// # Errors
    /// None in truth: the puzzle follows the rules.
    pub fn of_day(rules: Rules, style: Style, day: Day) -> Result<Self, CodeError> {
        let game = Game::with_code(rules, style, day.puzzle(rules))?;
        Ok(Self { game, rng: Pcg64::seed_from_u64(day.0.into()), origin: Origin::Day(day) })
    }

    /// A game whose code somebody has set. Its lifelines draw from `seed`.
    ///
    /// # Errors
    /// [`CodeError`] if the rules do not allow the code.
    pub fn with_code(rules: Rules, style: Style, code: Code, seed: u64) -> Result<Self, CodeError> {
        let game = Game::with_code(rules, style, code)?;
        Ok(Self { game, rng: Pcg64::seed_from_u64(seed), origin: Origin::Person })
    }

    /// The game.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// The day whose puzzle it is, if it is one.
    pub const fn day(&self) -> Option<Day> {
        match self.origin {
            Origin::Day(day) => Some(day),
            _ => None,
        }
    }

    /// Does what the player wants.
    ///
    /// # Errors
    /// [`ActionError`] when it is against the rules; then nothing has changed.
    pub fn apply(&mut self, action: Action) -> Result<Vec<Event>, ActionError> {
        self.game.apply(action, &mut self.rng)
    }

    /// What the codebreaker would do now. The game counts as one with hints from here on. `None` when no code fits, which no
    /// game comes to.
    pub fn hint(&mut self) -> Option<Hint> {
        let knowledge = self.game.ask_hint();
        // A generator of its own, so that a hint changes nothing of what lifelines will tell.
        Hint::new(&knowledge, &mut Pcg64::seed_from_u64(knowledge.turns_gone() as u64))
    }

    /// The seed and the command that begins the same game again, if a seed decided it.
    pub fn again(&self) -> Option<String> {
        let Origin::Seed(seed) = self.origin else {
            return None;
        };
        let rules = self.game.rules();
        let panel = if self.game.style() == Style::Panel { "--panel " } else { "" };
        let repeats = if rules.repeats() { "yes" } else { "no" };
        let colours = match rules.colours() {
            mastermind::code::MAX_COLOURS => String::new(),
            colours => format!(" --colours {colours}"),
        };
        Some(format!(
            "Seed: {seed}. The same puzzle again: mastermind-play {panel}--length {}{colours} --repeats {repeats} --seed {seed}",
            rules.length()
        ))
    }
}
