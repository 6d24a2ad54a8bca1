//! The text game: questions and answers line by line, for a person or through a pipe.

mod lines;

use std::{io, mem};

use mastermind::{
    Game, Lifeline, Rules, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Action, Availability, Entry, Event},
};

use self::lines::{Said, Stop, Talk, quoted};
use crate::{
    book::Book,
    interrupt,
    round::Round,
    settings::{Setter, Settings, Wanted},
    voice,
};

/// Plays games until the player wants no more or the input ends. They are counted in the book, if there is one. `person` says
/// whether a person plays at a terminal, and not a program through a pipe.
pub(crate) fn play(settings: Settings, book: Option<&Book>, person: bool) -> io::Result<()> {
    let mut talk = Talk::new(person);
    let played = match settings.setter {
        Setter::People => duel(&mut talk, settings),
        Setter::Seed | Setter::Day(_) => games(&mut talk, settings, book),
    };
    match played {
        Ok(()) => Ok(()),
        // Ends the line of the prompt.
        Err(Stop::End) => talk.say(""),
        Err(Stop::Quit) => talk.say(voice::FAREWELL),
        Err(Stop::Output(error)) => Err(error),
    }
}

/// Reads `yes` or `no`, or the first letter of one, in any mixture of small and capital letters.
pub(crate) fn yes_or_no(typed: &str) -> Option<bool> {
    match &*typed.to_ascii_lowercase() {
        "yes" | "y" => Some(true),
        "no" | "n" => Some(false),
        _ => None,
    }
}

fn games(talk: &mut Talk, mut settings: Settings, book: Option<&Book>) -> Said<()> {
    talk.say("MASTERMIND. I have a code; you have ten turns. I like my odds.")?;
    loop {
        talk.say("")?;
        let rules = match settings.setter {
            Setter::Day(day) => {
                talk.say(&format!("The puzzle of {day} (by the clock of Greenwich): {}.", settings.rules))?;
                settings.rules
            }
            _ => ask_rules(talk, settings.wanted)?,
        };
        let mut round = settings.deal(rules, Style::Text);
        if let Some(book) = book {
            // An error of the statistics is shown when they are written.
            let seen = |puzzle| book.read().is_ok_and(|record| record.has_begun(puzzle));
            if round.puzzle().is_some_and(seen) {
                round.set_attempt(false);
                talk.say(voice::again(round.day()))?;
            } else if round.day().is_some() {
                talk.say(voice::FIRST)?;
            }
        }
        let mut round = game(talk, round, settings.hints, book)?;
        talk.say_all(round.again())?;
        let added = book.map(|book| {
            let _whole = interrupt::write_whole();
            book.add(&round)
        });
        if let Some(Ok(added)) = &added {
            round.set_attempt(added.first);
        }
        talk.say_all(round.share().map(|share| format!("\n{share}\n")))?;
        match added {
            None => talk.say(voice::PIPED)?,
            Some(Ok(added)) => talk.say_all(voice::added(&added))?,
            Some(Err(error)) => talk.say(&voice::not_added(&error))?,
        }
        if matches!(settings.setter, Setter::Day(_)) {
            return Ok(());
        }
        if !ask_yes_or_no(talk, "Another game, to be taught better? YES or NO: ")? {
            return Err(Stop::Quit);
        }
    }
}

/// Records, at the first answer to a puzzle, that it has been begun.
fn take_down(talk: &mut Talk, round: &mut Round, book: &Book) -> Said<()> {
    let Some(puzzle) = round.to_be_taken_down() else { return Ok(()) };
    let begun = {
        let _whole = interrupt::write_whole();
        book.begin(puzzle)
    };
    // After an error this is tried again at the end, and the error is shown then.
    if let Ok(begun) = begun {
        round.set_attempt(begun.first);
        talk.say_all(begun.notice)?;
        if !begun.first {
            talk.say(voice::again(round.day()))?;
        }
    }
    Ok(())
}

fn ask_rules(talk: &mut Talk, wanted: Wanted) -> Said<Rules> {
    loop {
        let length = wanted.length.map_or_else(|| ask_length(talk), Ok)?;
        let repeats = wanted
            .repeats
            .map_or_else(|| ask_yes_or_no(talk, "May a digit (a colour) occur twice in the code? YES or NO: "), Ok)?;
        match wanted.rules(length, repeats) {
            Ok(rules) => return Ok(rules),
            Err(error) => talk.say(&format!("That is not possible: {error}."))?,
        }
    }
}

fn ask_length(talk: &mut Talk) -> Said<usize> {
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

fn ask_yes_or_no(talk: &mut Talk, prompt: &str) -> Said<bool> {
    loop {
        let typed = talk.ask(prompt)?;
        match yes_or_no(&typed) {
            Some(answer) => return Ok(answer),
            None => talk.say(&format!("{} is no answer: type YES or NO.", quoted(&typed)))?,
        }
    }
}

/// Plays one game to its end.
fn game(talk: &mut Talk, mut round: Round, hints: bool, book: Option<&Book>) -> Said<Round> {
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
        history(talk, round.game())?;
        if hints {
            hint(talk, &mut round)?;
        }
        let events = turn(talk, &mut round)?;
        // Before the answer is shown, which could be used in another game.
        if let Some(book) = book {
            take_down(talk, &mut round, book)?;
        }
        talk.say_all(events.into_iter().flat_map(told))?;
    }
    talk.say_all(voice::hints(round.game().hints()))?;
    Ok(round)
}

/// Shows what the codebreaker would guess. The game then counts as one with hints.
fn hint(talk: &mut Talk, round: &mut Round) -> Said<()> {
    let advice = round.hint().map(|hint| voice::advice(&hint)).unwrap_or_default();
    Ok(talk.say_all(advice.iter().map(|line| format!("Hint  : {line}")))?)
}

/// Shows a person all guesses and lifelines so far, so that none has scrolled out of sight.
fn history(talk: &mut Talk, game: &Game) -> Said<()> {
    if !talk.person {
        return Ok(());
    }
    let mut turn = 1;
    talk.say("")?;
    for entry in game.history() {
        match entry {
            Entry::Guess(guess, feedback) => {
                talk.say(&format!("{turn:>4}  {guess}  red {}  white {}", feedback.red, feedback.white))?;
                turn += 1;
            }
            Entry::Lifeline(revealed, cost) => {
                talk.say(&format!("{turn:>4}  {}: {revealed}", revealed.lifeline()))?;
                turn += cost;
            }
        }
    }
    Ok(())
}

/// Asks until something has been done that takes a turn, and returns what came of it.
fn turn(talk: &mut Talk, round: &mut Round) -> Said<Vec<Event>> {
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
        let no_guess = no_guess(game, &typed);
        if typed.eq_ignore_ascii_case("hint") {
            hint(talk, round)?;
        } else {
            // A lifeline is refused with the reason. Any other error means that the input is neither kind of action in this game.
            let refused = match Action::parse(&typed).map(|action| (action, round.apply(action))) {
                Ok((_, Ok(events))) => return Ok(events),
                Ok((Action::Lifeline(_), Err(error))) => voice::refused(error, Style::Text),
                Ok((Action::Guess(_), Err(_))) | Err(_) => no_guess,
            };
            talk.say(&refused)?;
        }
        history(talk, round.game())?;
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

/// What has happened, in lines.
fn told(event: Event) -> Vec<String> {
    match event {
        Event::Answered(_, feedback) => vec![format!("Red: {}", feedback.red), format!("White: {}", feedback.white)],
        Event::Revealed(revealed) => voice::revealed(revealed, Style::Text).to_vec(),
        Event::OutOfReach(lifeline) => vec![voice::out_of_reach(lifeline, Style::Text)],
        Event::Ended(outcome) => voice::ending(outcome).to_vec(),
    }
}

/// Two people set codes for each other at one terminal; who needs fewer turns wins.
fn duel(talk: &mut Talk, mut settings: Settings) -> Said<()> {
    talk.say(voice::DUEL)?;
    let rules = ask_rules(talk, settings.wanted)?;
    let mut outcomes = [None; 2];
    for (setter, guesser) in [(1, 2), (2, 1)] {
        talk.say("")?;
        let prompt = format!("Player {setter}, type a code for player {guesser}, who looks away: ");
        let round = loop {
            let typed = talk.ask_unseen(&prompt, rules.length())?;
            let code = typed.parse().ok();
            match code.and_then(|code| settings.deal_code(rules, Style::Text, code).ok()) {
                Some(round) => break round,
                None => talk.say(&voice::no_secret(rules))?,
            }
        };
        talk.say(&format!("Player {guesser}, it is your turn to guess."))?;
        outcomes[guesser - 1] = game(talk, round, settings.hints, None)?.game().outcome();
    }
    talk.say("")?;
    Ok(talk.say_all(voice::verdict(outcomes))?)
}
