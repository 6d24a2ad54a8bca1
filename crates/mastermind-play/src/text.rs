//! The text game: line by line, for a user or through a pipe.

use std::{
    io::{self, BufRead, ErrorKind, Read, StdinLock, Stdout, Write},
    mem,
};

use mastermind::{
    Game, Lifeline, Rules, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Action, Availability, Entry, Event},
};

use crate::{
    book::Book,
    interrupt,
    round::{Round, RulePreferences, Setter, Settings},
    voice,
};

/// `person` marks a user at a terminal, not a program on a pipe.
pub(crate) fn play(settings: Settings, book: Option<&Book>, person: bool) -> io::Result<()> {
    let mut console = Console::new(person);
    let played = match settings.setter {
        Setter::People => duel(&mut console, settings),
        Setter::Seed | Setter::Day(_) => games(&mut console, settings, book),
    };
    match played {
        Ok(()) => Ok(()),
        Err(Stop::End) => console.print(""),
        Err(Stop::Quit) => console.print(voice::FAREWELL),
        Err(Stop::Output(error)) => Err(error),
    }
}

/// Accepts `yes`, `no` or their first letters, in any case.
pub(crate) fn yes_or_no(typed: &str) -> Option<bool> {
    match &*typed.to_ascii_lowercase() {
        "yes" | "y" => Some(true),
        "no" | "n" => Some(false),
        _ => None,
    }
}

fn games(console: &mut Console, mut settings: Settings, book: Option<&Book>) -> Reply<()> {
    console.print("MASTERMIND. I have a code; you have ten turns. I like my odds.")?;
    loop {
        console.print("")?;
        let rules = match settings.setter {
            Setter::Day(day) => {
                console.print(&format!("The puzzle of {day} (by the clock of Greenwich): {}.", settings.rules))?;
                settings.rules
            }
            _ => read_rules(console, settings.wanted)?,
        };
        let mut round = settings.deal(rules, Style::Text);
        if let Some(book) = book {
            // Errors are shown when the statistics are written.
            let seen = |puzzle| book.read().is_ok_and(|record| record.has_begun(puzzle));
            if round.puzzle().is_some_and(seen) {
                round.set_attempt(false);
                console.print(voice::again(round.day()))?;
            } else if round.day().is_some() {
                console.print(voice::FIRST)?;
            }
        }
        let mut round = game(console, round, settings.hints, book)?;
        console.print_all(round.again())?;
        let added = book.map(|book| {
            let _whole = interrupt::write_whole();
            book.add(&round)
        });
        if let Some(Ok(added)) = &added {
            round.set_attempt(added.first);
        }
        console.print_all(round.share().map(|share| format!("\n{share}\n")))?;
        match added {
            None => console.print(voice::PIPED)?,
            Some(Ok(added)) => console.print_all(voice::added(&added))?,
            Some(Err(error)) => console.print(&voice::not_added(&error))?,
        }
        if matches!(settings.setter, Setter::Day(_)) {
            return Ok(());
        }
        if !read_yes_or_no(console, "Another game, to learn your lesson? YES or NO: ")? {
            return Err(Stop::Quit);
        }
    }
}

fn take_down(console: &mut Console, round: &mut Round, book: &Book) -> Reply<()> {
    let Some(puzzle) = round.to_be_taken_down() else { return Ok(()) };
    let begun = {
        let _whole = interrupt::write_whole();
        book.begin(puzzle)
    };
    // After an error, the write is retried at the end, where a second error is shown.
    if let Ok(begun) = begun {
        round.set_attempt(begun.first);
        console.print_all(begun.notice)?;
        if !begun.first {
            console.print(voice::again(round.day()))?;
        }
    }
    Ok(())
}

fn read_rules(console: &mut Console, wanted: RulePreferences) -> Reply<Rules> {
    loop {
        let length = wanted.length.map_or_else(|| read_length(console), Ok)?;
        let repeats = wanted.repeats.map_or_else(
            || read_yes_or_no(console, "May a digit (a colour) occur twice in the code? YES or NO: "),
            Ok,
        )?;
        match wanted.rules(length, repeats) {
            Ok(rules) => return Ok(rules),
            Err(error) => console.print(&format!("That is not possible: {error}."))?,
        }
    }
}

fn read_length(console: &mut Console) -> Reply<usize> {
    loop {
        let typed =
            console.read_answer(&format!("How long should the code be, from {MIN_LENGTH} to {MAX_LENGTH}? "))?;
        let digits = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit());
        let length = typed.parse().ok().filter(|length| digits && (MIN_LENGTH..=MAX_LENGTH).contains(length));
        if let Some(length) = length {
            return Ok(length);
        }
        let typed = quoted(&typed);
        console.print(&format!("{typed} is not a length: type a whole number from {MIN_LENGTH} to {MAX_LENGTH}."))?;
    }
}

fn read_yes_or_no(console: &mut Console, prompt: &str) -> Reply<bool> {
    loop {
        let typed = console.read_answer(prompt)?;
        match yes_or_no(&typed) {
            Some(answer) => return Ok(answer),
            None => console.print(&format!("{} is not an answer: type YES or NO.", quoted(&typed)))?,
        }
    }
}

fn game(console: &mut Console, mut round: Round, hints: bool, book: Option<&Book>) -> Reply<Round> {
    let rules = round.game().rules();
    let [first, second] = Lifeline::ALL.map(|lifeline| voice::cost(lifeline, Style::Text));
    console.print(&format!("Guess {} digits from 1 to {}.", rules.length(), rules.colours()))?;
    console.print(&format!(
        "One lifeline a game: lifeline#1 reveals a digit of the code and takes {first}; lifeline#2 reveals a digit \
         and its position and takes {second}."
    ))?;
    if console.person && !mem::replace(&mut console.explained, true) {
        console.print(voice::COLOURS)?;
        console.print("Instead of a guess you may type lifeline#1, lifeline#2, hint, help or quit.")?;
    }
    while round.game().outcome().is_none() {
        history(console, round.game())?;
        if hints {
            hint(console, &mut round)?;
        }
        let events = turn(console, &mut round)?;
        // Counted before the answer is shown, since another game could use the answer.
        if let Some(book) = book {
            take_down(console, &mut round, book)?;
        }
        console.print_all(events.into_iter().flat_map(event_lines))?;
    }
    console.print_all(voice::hints(round.game().hints()))?;
    Ok(round)
}

/// The game then counts as one with hints.
fn hint(console: &mut Console, round: &mut Round) -> Reply<()> {
    let advice = round.hint().map(|hint| voice::advice(&hint)).unwrap_or_default();
    Ok(console.print_all(advice.iter().map(|line| format!("Hint  : {line}")))?)
}

/// Shows everything, since some may have scrolled out of sight.
fn history(console: &mut Console, game: &Game) -> Reply<()> {
    if !console.person {
        return Ok(());
    }
    let mut turn = 1;
    console.print("")?;
    for entry in game.history() {
        match entry {
            Entry::Guess(guess, feedback) => {
                console.print(&format!("{turn:>4}  {guess}  red {}  white {}", feedback.red, feedback.white))?;
                turn += 1;
            }
            Entry::Lifeline(revealed, cost) => {
                console.print(&format!("{turn:>4}  {}: {revealed}", revealed.lifeline()))?;
                turn += cost;
            }
        }
    }
    Ok(())
}

fn turn(console: &mut Console, round: &mut Round) -> Reply<Vec<Event>> {
    loop {
        let game = round.game();
        console.print(&format!("Turn #: {}", game.turn()))?;
        for lifeline in Lifeline::ALL {
            let available = match game.availability(lifeline) {
                Availability::Available => "AVAILABLE",
                _ if console.person => voice::status(game, lifeline),
                // The fixed terms that programs parse.
                Availability::Used | Availability::Blocked => "USED UP",
            };
            console.print(&format!("{lifeline}: {available}"))?;
        }
        console.print(&format!("Code  : {}", game.hint_code()))?;
        let typed = console.read_answer("Guess : ")?;
        let no_guess = no_guess(game, &typed);
        if typed.eq_ignore_ascii_case("hint") {
            hint(console, round)?;
        } else {
            // Other errors mean an input that is no valid action in this game.
            let refused = match Action::parse(&typed).map(|action| (action, round.apply(action))) {
                Ok((_, Ok(events))) => return Ok(events),
                Ok((Action::Lifeline(_), Err(error))) => voice::refused(error, Style::Text),
                Ok((Action::Guess(_), Err(_))) | Err(_) => no_guess,
            };
            console.print(&refused)?;
        }
        history(console, round.game())?;
    }
}

fn no_guess(game: &Game, typed: &str) -> String {
    let (length, colours) = (game.rules().length(), game.rules().colours());
    let available =
        Lifeline::ALL.into_iter().filter(|&lifeline| game.availability(lifeline) == Availability::Available);
    let lifelines: Vec<String> = available.map(|lifeline| lifeline.to_string()).collect();
    let or = if lifelines.is_empty() { "" } else { ", or " };
    format!("{} is not a guess: type {length} digits from 1 to {colours}{or}{}.", quoted(typed), lifelines.join(" or "))
}

fn event_lines(event: Event) -> Vec<String> {
    match event {
        Event::Answered(_, feedback) => vec![format!("Red: {}", feedback.red), format!("White: {}", feedback.white)],
        Event::Revealed(revealed) => voice::revealed(revealed, Style::Text).to_vec(),
        Event::OutOfReach(lifeline) => vec![voice::out_of_reach(lifeline, Style::Text)],
        Event::Ended(outcome) => voice::ending(outcome).to_vec(),
    }
}

/// Fewer turns win.
fn duel(console: &mut Console, mut settings: Settings) -> Reply<()> {
    console.print(voice::DUEL)?;
    let rules = read_rules(console, settings.wanted)?;
    let mut outcomes = [None; 2];
    for (setter, guesser) in [(1, 2), (2, 1)] {
        console.print("")?;
        let prompt = format!("Player {setter}, type a code for player {guesser}, who looks away: ");
        let round = loop {
            let typed = console.read_secret(&prompt, rules.length())?;
            let code = typed.parse().ok();
            match code.and_then(|code| settings.deal_code(rules, Style::Text, code).ok()) {
                Some(round) => break round,
                None => console.print(&voice::no_secret(rules))?,
            }
        };
        console.print(&format!("Player {guesser}, it is your turn to guess."))?;
        outcomes[guesser - 1] = game(console, round, settings.hints, None)?.game().outcome();
    }
    console.print("")?;
    Ok(console.print_all(voice::verdict(outcomes))?)
}

/// In bytes, far above any answer.
const MAX_LINE: usize = 256;
/// Quoted characters of a wrong answer.
const SHOWN: usize = 24;
/// Replaces the rest of a line that was too long.
const CUT: &str = "…";

enum Stop {
    End,
    Quit,
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

type Reply<T> = Result<T, Stop>;

struct Console {
    input: StdinLock<'static>,
    output: Stdout,
    /// Output through a pipe is for programs: each item on one line, and no extra text.
    person: bool,
    explained: bool,
}

impl Console {
    fn new(person: bool) -> Self {
        Self { input: io::stdin().lock(), output: io::stdout(), person, explained: false }
    }

    fn print(&mut self, line: &str) -> io::Result<()> {
        if self.person {
            let width = usize::from(cmdkit::stdout_size().0);
            for row in line.split('\n').flat_map(|line| termkit::wrap(line, width)) {
                writeln!(self.output, "{row}")?;
            }
        } else {
            writeln!(self.output, "{line}")?;
        }
        self.output.flush()
    }

    fn print_all(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| self.print(line.as_ref()))
    }

    /// `quit` and `help` work at every prompt. Removes blanks around the answer.
    fn read_answer(&mut self, prompt: &str) -> Reply<String> {
        loop {
            self.prompt(prompt)?;
            let line = read_line(&mut self.input);
            if let Some(answer) = self.answer(line)? {
                return Ok(answer);
            }
        }
    }

    /// A secret answer of `length` characters, which a terminal shows as stars.
    fn read_secret(&mut self, prompt: &str, length: usize) -> Reply<String> {
        loop {
            let line = if let Some(hidden) = interrupt::read_secret(prompt, length) {
                read_typed(&mut self.input, |typed| hidden.show(typed))
            } else {
                self.prompt(prompt)?;
                read_line(&mut self.input)
            };
            if let Some(answer) = self.answer(line)? {
                return Ok(answer);
            }
        }
    }

    fn prompt(&mut self, prompt: &str) -> io::Result<()> {
        self.output.write_all(prompt.as_bytes())?;
        self.output.flush()
    }

    /// `None` after `help`.
    fn answer(&mut self, line: Option<String>) -> Reply<Option<String>> {
        let line = line.ok_or(Stop::End)?;
        let answer = line.trim();
        match &*answer.to_ascii_lowercase() {
            "quit" | "exit" | "q" => Err(Stop::Quit),
            "help" | "?" => {
                self.print_all(voice::HELP)?;
                Ok(None)
            }
            _ => Ok(Some(answer.to_owned())),
        }
    }
}

/// For a terminal without line editing. `show` receives the number of characters after each key.
fn read_typed(input: &mut impl BufRead, mut show: impl FnMut(usize)) -> Option<String> {
    let mut typed = String::new();
    loop {
        let byte = match input.fill_buf() {
            Ok(chunk) => *chunk.first()?,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        input.consume(1);
        match byte {
            b'\n' | b'\r' => return Some(typed),
            // Ctrl-D on an empty line ends the input.
            0x04 if typed.is_empty() => return None,
            // Backspace; Ctrl-U and Ctrl-W.
            0x08 | 0x7f => drop(typed.pop()),
            0x15 | 0x17 => typed.clear(),
            b' '..=b'~' if typed.len() < MAX_LINE => typed.push(char::from(byte)),
            _ => {}
        }
        show(typed.len());
    }
}

/// Bytes that are not UTF-8 become U+FFFD, which no answer contains. `None` at the end of the input, or if it cannot be
/// read.
fn read_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).ok()?;
    let cut = line.len() > MAX_LINE && !line.ends_with(b"\n");
    if cut {
        line.truncate(MAX_LINE);
        input.skip_until(b'\n').ok()?;
    }
    let text = String::from_utf8_lossy(&line);
    let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
    (!line.is_empty()).then(|| if cut { text + CUT } else { text })
}

/// In a form that any terminal can show.
fn quoted(typed: &str) -> String {
    if typed.is_empty() {
        return "An empty line".into();
    }
    let mut shown: String = typed.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if typed.chars().nth(SHOWN).is_some() {
        shown.push_str(CUT);
    }
    format!("'{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_input_is_read_as_bounded_lines() {
        let mut input = [&b"4\r\n\n \xff7\n"[..], &b"1".repeat(5000), b"\nlast"].concat();
        input.extend([0]);
        // A small buffer splits lines at arbitrary points.
        let mut reader = io::BufReader::with_capacity(7, &input[..]);
        let mut next = || read_line(&mut reader);
        assert_eq!(next().unwrap(), "4\r");
        assert_eq!(next().unwrap(), "");
        assert_eq!(next().unwrap(), " \u{fffd}7");
        assert_eq!(next().unwrap(), format!("{}…", "1".repeat(MAX_LINE)));
        assert_eq!(next().unwrap(), "last\0");
        assert_eq!(next(), None);
        assert_eq!(next(), None);
    }

    #[test]
    fn wrong_answer_is_quoted_shortened_and_escaped() {
        assert_eq!(quoted(""), "An empty line");
        assert_eq!(quoted("\x1b[2J"), "'\\u{1b}[2J'");
        assert_eq!(quoted(&"x".repeat(99)), format!("'{}…'", "x".repeat(SHOWN)));
    }

    #[test]
    fn hidden_input_supports_editing_and_reports_its_length() {
        let mut input = &b"12\x7f34\x15567\x04\x088\x1b\rquit\n\x04"[..];
        let mut counts = Vec::new();
        let mut line = || read_typed(&mut input, |typed| counts.push(typed));
        assert_eq!((line(), line(), line()), (Some("568".into()), Some("quit".into()), None));
        assert_eq!(counts[..12], [1, 2, 1, 2, 3, 0, 1, 2, 3, 3, 2, 3]);
    }
}
