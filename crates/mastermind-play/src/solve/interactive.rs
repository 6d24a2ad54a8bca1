use std::io::{self, BufRead, Read, Write};

use mastermind::{Code, Feedback, Knowledge, Rules, solver::Hint};

use crate::voice::advice;

/// In bytes. Valid rows are shorter.
const MAX_LINE: u64 = 256;
/// More than any game needs.
const MAX_ROWS: usize = 100;

const HELP: &str = "\
Type the answer to the suggested guess as RED WHITE, as in 1 2, or to your own guess as GUESS RED WHITE, as in 1122 1 2.
undo removes the last row, fix ROW RED WHITE changes the answer of a row, rows lists all rows, quit exits.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Row(Option<Code>, Feedback),
    Fix(usize, Feedback),
    Undo,
    Rows,
    Quit,
}

pub(super) fn play(rules: Rules, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut rows: Vec<(Code, Feedback)> = Vec::new();
    writeln!(output, "A code of {rules}.\n{HELP}")?;
    loop {
        let hint = Hint::of(&knowledge(rules, &rows));
        match &hint {
            Some(hint) => advice(hint).iter().try_for_each(|line| writeln!(output, "{line}"))?,
            None => contradiction(rules, &rows).iter().try_for_each(|line| writeln!(output, "{line}"))?,
        }
        let suggestion = hint.map(|hint| hint.guess);
        loop {
            match suggestion {
                Some(guess) => write!(output, "Row {}, {guess}: ", rows.len() + 1)?,
                None => write!(output, "Row {}: ", rows.len() + 1)?,
            }
            output.flush()?;
            let Some(line) = read_line(&mut input)? else { return writeln!(output) };
            match entry(&line, rules) {
                Ok(Entry::Quit) => return Ok(()),
                Ok(Entry::Row(guess, feedback)) => {
                    let Some(guess) = guess.or(suggestion) else {
                        writeln!(output, "No code fits, so there is no guess to answer: use undo or fix.")?;
                        continue;
                    };
                    if feedback.is_win(rules.length()) {
                        let count = rows.len() + 1;
                        let guesses = if count == 1 { "guess" } else { "guesses" };
                        return writeln!(output, "{guess} is the code, found with {count} {guesses}.");
                    }
                    if rows.len() == MAX_ROWS {
                        writeln!(output, "There are {MAX_ROWS} rows already: use undo or fix.")?;
                        continue;
                    }
                    rows.push((guess, feedback));
                    break;
                }
                Ok(Entry::Fix(row, feedback)) => match row.checked_sub(1).and_then(|at| rows.get_mut(at)) {
                    Some((_, answer)) => {
                        *answer = feedback;
                        break;
                    }
                    None => writeln!(output, "There is no row {row}.")?,
                },
                Ok(Entry::Undo) if rows.pop().is_some() => break,
                Ok(Entry::Undo) => writeln!(output, "There is no row yet.")?,
                Ok(Entry::Rows) => (1..).zip(&rows).try_for_each(|row| writeln!(output, "{}", answer_text(row)))?,
                Err(why) => writeln!(output, "{why}\n{HELP}")?,
            }
        }
    }
}

fn knowledge<'r>(rules: Rules, rows: impl IntoIterator<Item = &'r (Code, Feedback)>) -> Knowledge {
    let mut knowledge = Knowledge::new(rules);
    rows.into_iter().for_each(|(guess, feedback)| knowledge.answered(*guess, *feedback));
    knowledge
}

fn answer_text((number, (guess, feedback)): (usize, &(Code, Feedback))) -> String {
    format!("Row {number}: {guess}, {feedback}")
}

/// The rows whose single removal leaves possible codes, or else the first that leaves none.
fn contradiction(rules: Rules, rows: &[(Code, Feedback)]) -> Vec<String> {
    let mut lines = vec!["No code fits all answers.".to_owned()];
    let without = |at: usize| {
        let others = rows.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, row)| row);
        Hint::of(&knowledge(rules, others)).map(|hint| hint.remaining)
    };
    let suspects = (1..).zip(rows).filter_map(|row| Some((row, without(row.0 - 1)?)));
    lines.extend(suspects.map(|(row, count)| {
        let codes = if count == 1 { "code fits" } else { "codes fit" };
        format!("{} contradicts the others: without it, {count} {codes}.", answer_text(row))
    }));
    if lines.len() == 1 {
        let first = (1..=rows.len()).find(|&count| Hint::of(&knowledge(rules, &rows[..count])).is_none());
        lines.extend(
            first.map(|count| format!("Rows 1 to {count} contradict each other, and more than one of all is wrong.")),
        );
    }
    lines.push("Use fix or undo.".to_owned());
    lines
}

// Discards the rest of a long line; `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if !bytes.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

fn entry(line: &str, rules: Rules) -> Result<Entry, String> {
    let words: Vec<&str> = line.split(|letter: char| letter.is_whitespace() || letter == ',').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    match words[..] {
        ["undo"] => Ok(Entry::Undo),
        ["rows"] => Ok(Entry::Rows),
        ["quit" | "q"] => Ok(Entry::Quit),
        ["fix", row, red, white] => {
            let row = row.parse().map_err(|_| format!("'{}' is not the number of a row.", row.escape_debug()))?;
            Ok(Entry::Fix(row, feedback(red, white, rules)?))
        }
        [red, white] => Ok(Entry::Row(None, feedback(red, white, rules)?)),
        [guess, red, white] => {
            let code: Code =
                guess.parse().map_err(|error| format!("'{}' is not a guess: {error}.", guess.escape_debug()))?;
            if !rules.allows_guess(code) {
                return Err(format!("{code} is not a guess in a game with {rules}."));
            }
            Ok(Entry::Row(Some(code), feedback(red, white, rules)?))
        }
        _ => Err("This is not a row.".to_owned()),
    }
}

fn feedback(red: &str, white: &str, rules: Rules) -> Result<Feedback, String> {
    let number = |word: &str| word.parse::<u8>().map_err(|_| format!("'{}' is not a number.", word.escape_debug()));
    let feedback = Feedback { red: number(red)?, white: number(white)? };
    if !feedback.is_possible(rules.length()) {
        return Err(format!("No guess of {} digits can get {feedback}.", rules.length()));
    }
    Ok(feedback)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn session(typed: &str, repeats: bool) -> String {
        let mut output = Vec::new();
        play(Rules::new(4, 6, repeats).unwrap(), typed.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    fn answers(code: &str, repeats: bool) -> (String, usize) {
        let code: Code = code.parse().unwrap();
        let mut knowledge = Knowledge::new(Rules::new(4, 6, repeats).unwrap());
        let mut typed = String::new();
        for count in 1..=10 {
            let guess = Hint::of(&knowledge).unwrap().guess;
            let feedback = Feedback::of(guess, code);
            writeln!(typed, "{} {}", feedback.red, feedback.white).unwrap();
            if guess == code {
                return (typed, count);
            }
            knowledge.answered(guess, feedback);
        }
        panic!("{code} is not found");
    }

    #[test]
    fn answers_lead_to_the_code() {
        for (code, repeats) in [("1122", true), ("6543", true), ("3165", false)] {
            let (typed, count) = answers(code, repeats);
            let shown = session(&typed, repeats);
            assert!(shown.contains(&format!("{code} is the code, found with {count} guess")), "{shown}");
        }
    }

    #[test]
    fn own_guesses_are_accepted_and_end_of_input_ends() {
        let shown = session("1122 1 0\n3344, 0, 1\n", true);
        assert!(shown.contains("\nRow 3, ") && !shown.contains("contradict"), "{shown}");
    }

    #[test]
    fn contradiction_names_the_row_and_is_repaired() {
        // The third answer for the code 1234 is wrong.
        let wrong = "1111 1 0\n2222 1 0\n1256 0 0\n3344 1 1\n";
        let shown = session(&format!("{wrong}fix 3 2 0\n"), true);
        let named = "No code fits all answers.\nRow 3: 1256, 0 red, 0 white contradicts the others: without it, ";
        let (before, after) = shown.split_once(named).unwrap_or_else(|| panic!("{shown}"));
        assert!(!before.contains("contradict"), "{shown}");
        assert!(after.contains("Use fix or undo.") && after.contains("possible"), "{shown}");
        let undone = session("1111 4 0", true);
        assert!(undone.contains("1111 is the code, found with 1 guess."), "{undone}");
    }

    #[test]
    fn rows_that_are_impossible_are_refused() {
        for (typed, why) in [
            ("3 1", "No guess of 4 digits can get 3 red, 1 white."),
            ("1178 1 1", "1178 is not a guess in a game with"),
            ("12x4 1 1", "'12x4' is not a guess: "),
            ("1 x", "'x' is not a number."),
            ("fix 9 1 1", "There is no row 9."),
            ("undo", "There is no row yet."),
            ("hello", "This is not a row."),
            ("", "This is not a row."),
        ] {
            let shown = session(&format!("{typed}\n"), true);
            assert!(shown.contains(why), "{typed}: {shown}");
        }
        let long = session(&format!("{}\n1 1\n", "1".repeat(100_000)), true);
        assert!(long.contains("\nRow 2, "), "{long}");
    }
}
