//! The text game: questions and answers line by line, for a person or through a pipe.

mod lines;

use std::io::{self, BufRead, Write};

use mastermind::{
    Code, Day, Lifeline, Rules, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Action, Availability, Event, Outcome},
};

use self::lines::{Talk, quoted};
use crate::{Book, Round, Wanted, advice::advice, interrupt, voice};

/// Where the code of a game comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The first game from this seed, each further one from the next.
    Seed(u64),
    /// The puzzle of this day.
    Day(Day),
}

/// What is settled before the first question.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Rules that are not asked for.
    pub wanted: Wanted,
    /// Where codes come from.
    pub source: Source,
    /// Whether there is a hint on each turn.
    pub hints: bool,
}

/// Why there is no further line.
enum Stop {
    /// The input is at its end.
    End,
    /// The output cannot be written to.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

type Said<T> = Result<T, Stop>;

/// Plays games until the player wants no more or the input ends.
///
/// # Errors
/// When the output cannot be written to.
pub fn play(input: impl BufRead, output: impl Write, settings: &Settings, book: &Book) -> io::Result<()> {
    let mut talk = Talk::new(input, output);
    let played = games(&mut talk, settings, book);
    end(talk, played)
}

/// Two people set codes for each other at one terminal; who needs fewer turns wins.
///
/// # Errors
/// When the output cannot be written to.
pub fn duel(input: impl BufRead, output: impl Write, wanted: Wanted, hints: bool) -> io::Result<()> {
    let mut talk = Talk::new(input, output);
    let played = rounds(&mut talk, wanted, hints);
    end(talk, played)
}

/// Reads `yes` or `no` in any mixture of small and capital letters.
pub fn yes_or_no(typed: &str) -> Option<bool> {
    if typed.eq_ignore_ascii_case("yes") {
        Some(true)
    } else if typed.eq_ignore_ascii_case("no") {
        Some(false)
    } else {
        None
    }
}

fn end<R: BufRead, W: Write>(mut talk: Talk<R, W>, played: Said<()>) -> io::Result<()> {
    match played {
        Ok(()) => Ok(()),
        // Behind the prompt that got no answer.
        Err(Stop::End) => talk.say(""),
        Err(Stop::Output(error)) => Err(error),
    }
}

fn games<R: BufRead, W: Write>(talk: &mut Talk<R, W>, settings: &Settings, book: &Book) -> Said<()> {
    talk.say("MASTERMIND. I have a code; you have ten turns. I like my odds.")?;
    let mut source = settings.source;
    loop {
        talk.say("")?;
        let round = match source {
            Source::Seed(seed) => Round::from_seed(rules(talk, settings.wanted)?, Style::Text, seed),
            Source::Day(day) => {
                let rules = settings.wanted.without_asking().map_err(io::Error::other)?;
                talk.say(&format!("The puzzle of {day} (by the clock of Greenwich): {rules}."))?;
                Round::of_day(rules, Style::Text, day).map_err(io::Error::other)?
            }
        };
        let round = game(talk, round, settings.hints)?;
        if let Some(line) = voice::hints(round.game().hints()) {
            talk.say(&line)?;
        }
        if let Some(again) = round.again() {
            talk.say(&again)?;
        }
        if round.day().is_some()
            && let Some(share) = mastermind::share(round.game(), round.day())
        {
            talk.say(&format!("\n{share}\n"))?;
        }
        let added = {
            let _whole = interrupt::Whole::begin();
            book.add(round.game(), round.day())
        };
        match added {
            Ok(added) => voice::added(&added).iter().try_for_each(|line| talk.say(line))?,
            Err(error) => talk.say(&format!("This game is not counted: {error}."))?,
        }
        match &mut source {
            Source::Seed(seed) => *seed = seed.wrapping_add(1),
            Source::Day(_) => return Ok(()),
        }
        if !ask_yes_or_no(talk, "Another game, to be taught better? YES or NO: ")? {
            talk.say("As expected. Come back when you have grown.")?;
            return Ok(());
        }
    }
}

fn rules<R: BufRead, W: Write>(talk: &mut Talk<R, W>, wanted: Wanted) -> Said<Rules> {
    loop {
        let length = match wanted.length {
            Some(length) => length,
            None => ask_length(talk)?,
        };
        let repeats = match wanted.repeats {
            Some(repeats) => repeats,
            None => ask_yes_or_no(talk, "May a colour occur twice in the code? YES or NO: ")?,
        };
        match Rules::new(length, wanted.colours(), repeats) {
            Ok(rules) => return Ok(rules),
            Err(error) => talk.say(&format!("That is not possible: {error}."))?,
        }
    }
}

fn ask_length<R: BufRead, W: Write>(talk: &mut Talk<R, W>) -> Said<usize> {
    loop {
        let typed = talk.ask(&format!("How long shall the code be, from {MIN_LENGTH} to {MAX_LENGTH}? "))?;
        let digits = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit());
        let length = typed.parse().ok().filter(|length| digits && (MIN_LENGTH..=MAX_LENGTH).contains(length));
        if let Some(length) = length {
            return Ok(length);
        }
        let typed = quoted(&typed);
        talk.say(&format!("{typed} is no length: type a whole number from {MIN_LENGTH} to {MAX_LENGTH}."))?;
    }
}

fn ask_yes_or_no<R: BufRead, W: Write>(talk: &mut Talk<R, W>, prompt: &str) -> Said<bool> {
    loop {
        let typed = talk.ask(prompt)?;
        match yes_or_no(&typed) {
            Some(answer) => return Ok(answer),
            None => talk.say(&format!("{} is no answer: type YES or NO.", quoted(&typed)))?,
        }
    }
}

/// Plays one game to its end.
fn game<R: BufRead, W: Write>(talk: &mut Talk<R, W>, mut round: Round, hints: bool) -> Said<Round> {
    let rules = round.game().rules();
    let [first, second] = Lifeline::ALL.map(|lifeline| voice::cost(lifeline, Style::Text));
    talk.say(&format!("Guess {} digits from 1 to {}.", rules.length(), rules.colours()))?;
    talk.say(&format!(
        "One lifeline a game: lifeline#1 tells a digit of the code and takes {first}; lifeline#2 tells a digit and its \
         position and takes {second}."
    ))?;
    while round.game().outcome().is_none() {
        if hints && let Some(hint) = round.hint() {
            advice(&hint).iter().try_for_each(|line| talk.say(&format!("Hint  : {line}")))?;
        }
        turn(talk, &mut round)?;
    }
    Ok(round)
}

/// Asks until something has been done that takes a turn.
fn turn<R: BufRead, W: Write>(talk: &mut Talk<R, W>, round: &mut Round) -> Said<()> {
    loop {
        let game = round.game();
        talk.say(&format!("Turn #: {}", game.turn()))?;
        for lifeline in Lifeline::ALL {
            let available = match game.availability(lifeline) {
                Availability::Available => "AVAILABLE",
                Availability::Used | Availability::Blocked => "USED UP",
            };
            talk.say(&format!("{lifeline}: {available}"))?;
        }
        talk.say(&format!("Code  : {}", game.hint_code()))?;
        let typed = talk.ask("Guess : ")?;
        let (length, colours) = (game.rules().length(), game.rules().colours());
        let action = Action::parse(&typed);
        // A lifeline that cannot be used is told why; anything else is no input at all in this game.
        let done = match action {
            Ok(action) => round.apply(action).map_err(|error| refusal(action, error)),
            Err(_) => Err(None),
        };
        match done {
            Ok(events) => return events.into_iter().try_for_each(|event| tell(talk, event)),
            Err(Some(why)) => talk.say(&why)?,
            Err(None) => talk.say(&format!(
                "{} is neither: type {length} digits from 1 to {colours} as a guess, or lifeline#1 or lifeline#2.",
                quoted(&typed)
            ))?,
        }
    }
}

fn tell<R: BufRead, W: Write>(talk: &mut Talk<R, W>, event: Event) -> Said<()> {
    match event {
        Event::Answered { feedback, .. } => {
            talk.say(&format!("Red: {}", feedback.red))?;
            talk.say(&format!("White: {}", feedback.white))?;
        }
        Event::Revealed(revealed) => {
            voice::revealed(revealed, Style::Text).iter().try_for_each(|line| talk.say(line))?;
        }
        Event::OutOfReach(lifeline) => talk.say(&voice::out_of_reach(lifeline))?,
        Event::Ended(outcome) => voice::ending(outcome).iter().try_for_each(|line| talk.say(line))?,
    }
    Ok(())
}

/// What is said about a refused action: `None` if it is no action at all in this game.
fn refusal(action: Action, error: mastermind::game::ActionError) -> Option<String> {
    match action {
        Action::Lifeline(_) => Some(format!("No: {error}.")),
        Action::Guess(_) => None,
    }
}

/// Both rounds of a duel.
fn rounds<R: BufRead, W: Write>(talk: &mut Talk<R, W>, wanted: Wanted, hints: bool) -> Said<()> {
    talk.say("A duel: each sets a code for the other, and who needs fewer turns wins.")?;
    let rules = rules(talk, wanted)?;
    let mut outcomes = [None; 2];
    // Whose code is guessed does not decide what its lifelines tell, so any seeds will do.
    for (seed, (setter, guesser)) in (0..).zip([(1, 2), (2, 1)]) {
        talk.say("")?;
        let code = ask_secret(talk, rules, setter, guesser)?;
        let round = Round::with_code(rules, Style::Text, code, seed).map_err(io::Error::other)?;
        talk.say(&format!("Player {guesser}, it is your turn to guess."))?;
        let round = game(talk, round, hints)?;
        outcomes[guesser - 1] = round.game().outcome();
        if let Some(line) = voice::hints(round.game().hints()) {
            talk.say(&line)?;
        }
    }
    talk.say("")?;
    let turns = |outcome: Option<Outcome>| match outcome {
        Some(Outcome::Won { turns }) => Some(turns),
        _ => None,
    };
    let [one, two] = outcomes.map(turns);
    let needed = |turns: Option<usize>| turns.map_or("did not find it".into(), |turns| format!("needed {turns}"));
    talk.say(&format!("Player 1 {}, player 2 {}.", needed(one), needed(two)))?;
    // Who did not find it needed more than anybody who did.
    let order = one.unwrap_or(usize::MAX).cmp(&two.unwrap_or(usize::MAX));
    talk.say(match order {
        std::cmp::Ordering::Less => "Player 1 wins the duel.",
        std::cmp::Ordering::Greater => "Player 2 wins the duel.",
        std::cmp::Ordering::Equal => "The duel is a draw.",
    })?;
    Ok(())
}

fn ask_secret<R: BufRead, W: Write>(talk: &mut Talk<R, W>, rules: Rules, setter: usize, guesser: usize) -> Said<Code> {
    loop {
        let prompt = format!("Player {setter}, type a code for player {guesser}, who looks away: ");
        let typed = {
            let _hidden = interrupt::hide_typing();
            talk.ask(&prompt)?
        };
        if let Some(code) = typed.parse().ok().filter(|code| rules.allows_secret(*code)) {
            return Ok(code);
        }
        // What was typed is not shown again: it may be almost the code.
        let (length, colours) = (rules.length(), rules.colours());
        let different = if rules.repeats() { "" } else { ", none of them twice" };
        talk.say(&format!("That is no code: type {length} digits from 1 to {colours}{different}."))?;
    }
}
