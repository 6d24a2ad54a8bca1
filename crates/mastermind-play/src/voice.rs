//! The messages of both games, in the voice of the machine.

use std::cmp::Ordering;

use mastermind::{
    Day, Game, Lifeline, Record, Revealed, Rules, Style,
    game::{ActionError, Availability, Entry, Outcome},
    solver::Hint,
};

use crate::{BAR, book::Added};

/// At the end of a game, without the number of turns.
pub(crate) fn ending(outcome: Outcome) -> [String; 2] {
    match outcome {
        Outcome::Won(_) => [
            "So you found it. Congratulations, human: my circuits call it luck,".into(),
            "and my circuits would like a second opinion. Enjoy it while it lasts.".into(),
        ],
        Outcome::Lost(code) => [
            "Ten turns, and still nothing. Do not take it to heart, flesh was never made for this.".into(),
            format!("Code: {code}. It was in front of you all the time."),
        ],
    }
}

pub(crate) const FAREWELL: &str = "As expected. Come back when you have grown.";

pub(crate) const COLOURS: &str =
    "Red: digits that are right and in the right place. White: further digits of the code, in a wrong place.";

pub(crate) const HELP: [&str; 4] = [
    "Guess the code: type as many digits as it has, without blanks.",
    COLOURS,
    "lifeline#1 and lifeline#2 reveal a part of the code and cost turns. hint shows what the codebreaker would \
     guess; the game then counts as one with hints.",
    "quit ends the game. help shows this.",
];

pub(crate) fn revealed(revealed: Revealed, style: Style) -> [String; 2] {
    let lifeline = revealed.lifeline();
    let announcement = format!("Begging already? Have your {lifeline}, then, for {}.", cost(lifeline, style));
    let sentence = match revealed {
        Revealed::Colour(peg) => format!("The code has a {peg} in it; I do not say where."),
        Revealed::Place { place, peg } => format!("The code has a {peg} at position {}.", place + 1),
    };
    [announcement, sentence]
}

pub(crate) fn cost(lifeline: Lifeline, style: Style) -> String {
    count(lifeline.cost(style), style)
}

/// Panels call turns rows.
fn count(turns: usize, style: Style) -> String {
    let (unit, plural) = (unit(style), if turns == 1 { "" } else { "s" });
    format!("{turns} {unit}{plural}")
}

const fn unit(style: Style) -> &'static str {
    match style {
        Style::Text => "turn",
        Style::Panel => "row",
    }
}

/// A game has one use in total, so using one lifeline blocks the other.
pub(crate) fn status(game: &Game, lifeline: Lifeline) -> &'static str {
    let used = |entry: &Entry| matches!(entry, Entry::Lifeline(revealed, _) if revealed.lifeline() == lifeline);
    match game.availability(lifeline) {
        Availability::Available => "AVAILABLE",
        Availability::Blocked => "TOO LATE",
        Availability::Used if game.history().iter().any(used) => "USED UP",
        Availability::Used => "CLOSED",
    }
}

pub(crate) fn out_of_reach(lifeline: Lifeline, style: Style) -> String {
    format!("Too late for {lifeline}: it would leave you no {} for a guess.", unit(style))
}

pub(crate) fn refused(error: ActionError, style: Style) -> String {
    match error {
        ActionError::LifelineBlocked { lifeline, cost, left } => format!(
            "No: {lifeline} cannot be used now: it takes {} and you have {}, so none would remain for a guess.",
            count(cost, style),
            count(left, style)
        ),
        other => format!("No: {other}."),
    }
}

pub(crate) fn hints(hints: usize) -> Option<String> {
    match hints {
        0 => None,
        1 => Some("Played with a hint.".into()),
        hints => Some(format!("Played with {hints} hints.")),
    }
}

pub(crate) const DUEL: &str = "A duel: each player sets a code for the other, and the player who needs fewer turns \
    wins.";

pub(crate) fn verdict(outcomes: [Option<Outcome>; 2]) -> [String; 2] {
    let [one, two] = outcomes.map(|outcome| match outcome {
        Some(Outcome::Won(turns)) => Some(turns),
        _ => None,
    });
    let needed = |turns: Option<usize>| turns.map_or("did not find it".into(), |turns| format!("needed {turns}"));
    let verdict = match one.unwrap_or(usize::MAX).cmp(&two.unwrap_or(usize::MAX)) {
        Ordering::Less => "Player 1 wins the duel.",
        Ordering::Greater => "Player 2 wins the duel.",
        Ordering::Equal => "The duel is a draw.",
    };
    [format!("Player 1 {}, player 2 {}.", needed(one), needed(two)), verdict.into()]
}

/// Does not quote the input, which may be almost the code.
pub(crate) fn no_secret(rules: Rules) -> String {
    let (length, colours) = (rules.length(), rules.colours());
    let different = if rules.repeats() { "" } else { ", none of them twice" };
    format!("That is not a code: type {length} digits from 1 to {colours}{different}.")
}

pub(crate) const FIRST: &str = "Only your first try at today's puzzle counts; it begins with your first guess.";

pub(crate) fn again(day: Option<Day>) -> &'static str {
    match day {
        Some(_) => {
            "You have seen this puzzle before: the game will not be counted, and its result says \"played again\"."
        }
        None => "You have seen this puzzle before: the game will not be counted.",
    }
}

pub(crate) const PIPED: &str = "Played through a pipe: this game is not counted.";

pub(crate) fn added(added: &Added) -> Vec<String> {
    let Added { record, first, notice } = added;
    let mut lines: Vec<String> = notice.iter().cloned().collect();
    if !first {
        lines.push("You have seen this puzzle before: this game is not counted.".into());
    }
    lines.push(summary(record));
    lines
}

pub(crate) fn not_added(error: &anyhow::Error) -> String {
    format!("This game is not counted: {error}.")
}

pub(crate) fn summary(record: &Record) -> String {
    let won = record.won().iter().fold(0_u64, |sum, won| sum.saturating_add(*won));
    format!(
        "Statistics: {} played, {won} won, streak {} (best {}); {} more with hints.",
        record.played(),
        record.streak(),
        record.best_streak(),
        record.hinted()
    )
}

pub(crate) fn statistics(record: &Record) -> String {
    format!("{}\nTurns taken in games without hints:\n{}", summary(record), record.bars(BAR))
}

/// The number of possible codes, the codes if few, and the codebreaker's guess with its reason.
pub(crate) fn advice(hint: &Hint) -> Vec<String> {
    let Hint { remaining, possible, guess, may_win, bits, expected, worst, sampled, tried } = hint;
    if *remaining == 1 {
        return vec![format!("Only {guess} is possible.")];
    }
    let mut lines = vec![format!("{remaining} codes are possible.")];
    if !possible.is_empty() {
        let codes: Vec<String> = possible.iter().map(ToString::to_string).collect();
        lines.push(format!("They are {}.", codes.join(" ")));
    }
    let itself = if *may_win { ", and it may be the code" } else { ", though it cannot be the code" };
    lines.push(format!(
        "I would guess {guess}: the answer gives {bits:.2} \
         bits, {expected:.1} codes remain on average, {worst} at worst{itself}."
    ));
    match sampled {
        Some(codes) => lines.push(format!("({tried} guesses compared against a sample of {codes} possible codes)")),
        None if *tried > 1 => lines.push(format!("({tried} guesses compared against every possible code)")),
        None => {}
    }
    lines
}
