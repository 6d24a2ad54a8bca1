//! The text game: questions and answers line by line, for a person or through a pipe.

mod lines;

use std::{
    io::{self, BufRead, Write},
    mem,
};

use mastermind::{
    Code, Game, Lifeline, Origin, Rules, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Action, Availability, Entry, Event},
};

use self::lines::{Said, Stop, Talk, quoted};
use crate::{Book, Round, Wanted, advice::advice, interrupt, voice};

/// What is settled before the first question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Rules that are not asked for.
    pub(crate) wanted: Wanted,
    /// Where the code of the first game comes from. After a seed, a further game has the next one.
    pub(crate) origin: Origin,
    /// Whether there is a hint on each turn.
    pub(crate) hints: bool,
    /// Whether a person plays at a terminal, and not a program through a pipe.
    pub(crate) person: bool,
}

/// Plays games until the player wants no more or the input ends. They are counted in the book, if there is one.
///
/// # Errors
/// When the output cannot be written to.
pub(crate) fn play(
    input: impl BufRead,
    output: impl Write,
    settings: &Settings,
    book: Option<&Book>,
) -> io::Result<()> {
    let mut talk = Talk::new(input, output, settings.person);
    let played = games(&mut talk, settings, book);
    end(talk, played)
}

/// Two people set codes for each other at one terminal; who needs fewer turns wins. Lifelines draw from `seed`. `person` as in
/// [`Settings`].
///
/// # Errors
/// When the output cannot be written to.
pub(crate) fn duel(
    input: impl BufRead,
    output: impl Write,
    wanted: Wanted,
    hints: bool,
    seed: u64,
    person: bool,
) -> io::Result<()> {
    let mut talk = Talk::new(input, output, person);
    let played = rounds(&mut talk, wanted, hints, seed);
    end(talk, played)
}

/// Reads `yes` or `no`, or the first letter of one, in any mixture of small and capital letters.
pub(crate) fn yes_or_no(typed: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 2]| words.iter().any(|word| typed.eq_ignore_ascii_case(word));
    if is_one_of(["yes", "y"]) {
        Some(true)
    } else if is_one_of(["no", "n"]) {
        Some(false)
    } else {
        None
    }
}

fn end<R: BufRead, W: Write>(mut talk: Talk<R, W>, played: Said<()>) -> io::Result<()> {
    match played {
        Ok(()) => Ok(()),
        // Ends the line of the prompt.
        Err(Stop::End) => talk.say(""),
        Err(Stop::Quit) => talk.say(voice::FAREWELL),
        Err(Stop::Output(error)) => Err(error),
    }
}

fn games<R: BufRead, W: Write>(talk: &mut Talk<R, W>, settings: &Settings, book: Option<&Book>) -> Said<()> {
    talk.say("MASTERMIND. I have a code; you have ten turns. I like my odds.")?;
    let mut origin = settings.origin;
    loop {
        talk.say("")?;
        let mut round = match origin {
            Origin::Seed(seed) => Round::from_seed(rules(talk, settings.wanted)?, Style::Text, seed),
            Origin::Day(day) => {
                let rules = settings.wanted.without_asking().map_err(io::Error::other)?;
                talk.say(&format!("The puzzle of {day} (by the clock of Greenwich): {rules}."))?;
                Round::of_day(rules, Style::Text, day).map_err(io::Error::other)?
            }
        };
        if let Some(book) = book {
            // An error of the statistics is shown when they are written.
            if let (Some(puzzle), Ok(record)) = (round.puzzle(), book.read())
                && record.has_begun(puzzle)
            {
                round.set_attempt(false);
                talk.say(voice::again(round.day()))?;
            } else if round.day().is_some() {
                talk.say(voice::FIRST)?;
            }
        }
        let mut round = game(talk, round, settings.hints, book)?;
        if let Some(line) = voice::hints(round.game().hints()) {
            talk.say(&line)?;
        }
        if let Some(again) = round.again() {
            talk.say(&again)?;
        }
        let added = book.map(|book| {
            let _whole = interrupt::Whole::begin();
            book.add(&round)
        });
        if let Some(Ok(added)) = &added {
            round.set_attempt(added.first);
        }
        if let Some(share) = round.share() {
            talk.say(&format!("\n{share}\n"))?;
        }
        match added {
            None => talk.say(voice::PIPED)?,
            Some(Ok(added)) => voice::added(&added).iter().try_for_each(|line| talk.say(line))?,
            Some(Err(error)) => talk.say(&format!("This game is not counted: {error}."))?,
        }
        match &mut origin {
            Origin::Seed(seed) => *seed = seed.wrapping_add(1),
            Origin::Day(_) => return Ok(()),
        }
        if !ask_yes_or_no(talk, "Another game, to be taught better? YES or NO: ")? {
            talk.say(voice::FAREWELL)?;
            return Ok(());
        }
    }
}

/// Records, at the first answer to a puzzle, that it has been begun.
fn take_down<R: BufRead, W: Write>(talk: &mut Talk<R, W>, round: &mut Round, book: &Book) -> Said<()> {
    let Some(puzzle) = round.puzzle().filter(|_| round.is_to_be_taken_down()) else {
        return Ok(());
    };
    let begun = {
        let _whole = interrupt::Whole::begin();
        book.begin(puzzle)
    };
    // After an error this is tried again at the end, and the error is shown then.
    if let Ok(begun) = begun {
        round.set_attempt(begun.first);
        begun.notice.iter().try_for_each(|notice| talk.say(notice))?;
        if !begun.first {
            talk.say(voice::again(round.day()))?;
        }
    }
    Ok(())
}

fn rules<R: BufRead, W: Write>(talk: &mut Talk<R, W>, wanted: Wanted) -> Said<Rules> {
    loop {
        let length = match wanted.length {
            Some(length) => length,
            None => ask_length(talk)?,
        };
        let repeats = match wanted.repeats {
            Some(repeats) => repeats,
            None => ask_yes_or_no(talk, "May a digit (a colour) occur twice in the code? YES or NO: ")?,
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
fn game<R: BufRead, W: Write>(
    talk: &mut Talk<R, W>,
    mut round: Round,
    hints: bool,
    book: Option<&Book>,
) -> Said<Round> {
    let rules = round.game().rules();
    let [first, second] = Lifeline::ALL.map(|lifeline| voice::cost(lifeline, Style::Text));
    talk.say(&format!("Guess {} digits from 1 to {}.", rules.length(), rules.colours()))?;
    talk.say(&format!(
        "One lifeline a game: lifeline#1 tells a digit of the code and takes {first}; lifeline#2 tells a digit and its \
         position and takes {second}."
    ))?;
    if talk.person && !mem::replace(&mut talk.explained, true) {
        talk.say(voice::COLOURS)?;
        talk.say("Instead of a guess you may type lifeline#1, lifeline#2, hint, help or quit.")?;
    }
    while round.game().outcome().is_none() {
        if talk.person {
            history(talk, round.game())?;
        }
        if hints {
            hint(talk, &mut round)?;
        }
        let events = turn(talk, &mut round)?;
        // Before the answer is shown, which could be used in another game.
        if let Some(book) = book {
            take_down(talk, &mut round, book)?;
        }
        events.into_iter().try_for_each(|event| tell(talk, event))?;
    }
    Ok(round)
}

/// Shows what the codebreaker would guess. The game then counts as one with hints.
fn hint<R: BufRead, W: Write>(talk: &mut Talk<R, W>, round: &mut Round) -> Said<()> {
    if let Some(hint) = round.hint() {
        advice(&hint).iter().try_for_each(|line| talk.say(&format!("Hint  : {line}")))?;
    }
    Ok(())
}

/// Shows all guesses and lifelines so far, so that none has scrolled out of sight.
fn history<R: BufRead, W: Write>(talk: &mut Talk<R, W>, game: &Game) -> Said<()> {
    let mut turn = 1;
    talk.say("")?;
    for entry in game.history() {
        match entry {
            Entry::Guess { guess, feedback } => {
                talk.say(&format!("{turn:>4}  {guess}  red {}  white {}", feedback.red, feedback.white))?;
                turn += 1;
            }
            Entry::Lifeline { revealed, cost } => {
                talk.say(&format!("{turn:>4}  {}: {revealed}", revealed.lifeline()))?;
                turn += cost;
            }
        }
    }
    Ok(())
}

/// Asks until something has been done that takes a turn, and returns what came of it.
fn turn<R: BufRead, W: Write>(talk: &mut Talk<R, W>, round: &mut Round) -> Said<Vec<Event>> {
    loop {
        let game = round.game();
        talk.say(&format!("Turn #: {}", game.turn()))?;
        for lifeline in Lifeline::ALL {
            let available = match game.availability(lifeline) {
                Availability::Available => "AVAILABLE",
                _ if talk.person => voice::status(game, lifeline),
                // The words that programs know.
                Availability::Used | Availability::Blocked => "USED UP",
            };
            talk.say(&format!("{lifeline}: {available}"))?;
        }
        talk.say(&format!("Code  : {}", game.hint_code()))?;
        let typed = talk.ask("Guess : ")?;
        if typed.eq_ignore_ascii_case("hint") {
            hint(talk, round)?;
            if talk.person {
                history(talk, round.game())?;
            }
            continue;
        }
        let no_guess = no_guess(game, &typed);
        let action = Action::parse(&typed);
        // A lifeline is refused with the reason. Any other error means that the input is neither kind of action in this game.
        let done = match action {
            Ok(action) => round.apply(action).map_err(|error| refusal(action, error)),
            Err(_) => Err(None),
        };
        match done {
            Ok(events) => return Ok(events),
            Err(Some(why)) => talk.say(&why)?,
            Err(None) => talk.say(&no_guess)?,
        }
        if talk.person {
            history(talk, round.game())?;
        }
    }
}

/// The message for an input that is nothing that can be done: what can be.
fn no_guess(game: &Game, typed: &str) -> String {
    let (length, colours) = (game.rules().length(), game.rules().colours());
    let available =
        Lifeline::ALL.into_iter().filter(|&lifeline| game.availability(lifeline) == Availability::Available);
    let lifelines: Vec<String> = available.map(|lifeline| lifeline.to_string()).collect();
    let or = if lifelines.is_empty() { "" } else { ", or " };
    format!("{} is no guess: type {length} digits from 1 to {colours}{or}{}.", quoted(typed), lifelines.join(" or "))
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
        Event::OutOfReach(lifeline) => talk.say(&voice::out_of_reach(lifeline, Style::Text))?,
        Event::Ended(outcome) => voice::ending(outcome).iter().try_for_each(|line| talk.say(line))?,
    }
    Ok(())
}

/// What is said about a refused action: `None` if it is no action at all in this game.
fn refusal(action: Action, error: mastermind::game::ActionError) -> Option<String> {
    match action {
        Action::Lifeline(_) => Some(voice::refused(error, Style::Text)),
        Action::Guess(_) => None,
    }
}

/// Both rounds of a duel.
fn rounds<R: BufRead, W: Write>(talk: &mut Talk<R, W>, wanted: Wanted, hints: bool, seed: u64) -> Said<()> {
    talk.say(voice::DUEL)?;
    let rules = rules(talk, wanted)?;
    let mut outcomes = [None; 2];
    for (round, (setter, guesser)) in (0..).zip([(1, 2), (2, 1)]) {
        talk.say("")?;
        let code = ask_secret(talk, rules, setter, guesser)?;
        let round = Round::with_code(rules, Style::Text, code, seed.wrapping_add(round)).map_err(io::Error::other)?;
        talk.say(&format!("Player {guesser}, it is your turn to guess."))?;
        let round = game(talk, round, hints, None)?;
        outcomes[guesser - 1] = round.game().outcome();
        if let Some(line) = voice::hints(round.game().hints()) {
            talk.say(&line)?;
        }
    }
    talk.say("")?;
    voice::verdict(outcomes).iter().try_for_each(|line| talk.say(line))?;
    Ok(())
}

fn ask_secret<R: BufRead, W: Write>(talk: &mut Talk<R, W>, rules: Rules, setter: usize, guesser: usize) -> Said<Code> {
    loop {
        let prompt = format!("Player {setter}, type a code for player {guesser}, who looks away: ");
        let typed = talk.ask_unseen(&prompt, rules.length())?;
        if let Some(code) = typed.parse().ok().filter(|code| rules.allows_secret(*code)) {
            return Ok(code);
        }
        talk.say(&voice::no_secret(rules))?;
    }
}
