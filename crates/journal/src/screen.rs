use std::time::{Duration, Instant};

use netcore::Time;
use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::{Color, Modifier, Style},
    widgets::{Clear, Widget},
};
use termkit::{Key, Overlay, Pad, Palette, StatusLine, TooSmall};

use crate::{
    format::{clock, grouped, parse_clock},
    games::{Game, GameDisplay, Step},
    playback::{Goal, Playback},
};

/// Text and fraction.
pub(crate) const SPEEDS: [(&str, (u32, u32)); 9] = [
    ("0.25", (1, 4)),
    ("0.5", (1, 2)),
    ("1", (1, 1)),
    ("2", (2, 1)),
    ("4", (4, 1)),
    ("8", (8, 1)),
    ("16", (16, 1)),
    ("32", (32, 1)),
    ("64", (64, 1)),
];
const LEAP: Duration = Duration::from_secs(30);
const BATCH: u32 = 64;
const MAX_TYPED: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    Nothing,
    Leave,
    Redraw,
    /// Suspend the program until the shell resumes it.
    Suspend,
}

#[derive(Debug)]
pub(crate) struct ReplayScreen<E: Game> {
    playback: Playback<E>,
    view: <E::Display as GameDisplay<E>>::View,
    palette: Palette,
    speed: usize,
    playing: bool,
    // At least the time of the last arrival.
    clock: Time,
    // The destination, and the position when it was requested.
    goal: Option<(Goal, (u64, Option<u64>))>,
    // The input line of the position prompt.
    typed: Option<String>,
    // The error about the input.
    note: Option<String>,
    help: bool,
    window: Size,
}

impl<E: Game> ReplayScreen<E> {
    pub(crate) fn new(playback: Playback<E>, palette: Palette, speed: usize) -> Self {
        let clock = playback.start.time;
        Self {
            playback,
            view: E::Display::view(palette),
            palette,
            speed: speed.min(SPEEDS.len() - 1),
            playing: true,
            clock,
            goal: None,
            typed: None,
            note: None,
            help: false,
            window: Size::ZERO,
        }
    }

    pub(crate) const fn playback(&mut self) -> &mut Playback<E> {
        &mut self.playback
    }

    /// Shows the time of the last arrival, after the caller has moved the replay.
    pub(crate) fn settle(&mut self) {
        self.clock = self.playback.time().max(self.playback.start.time);
    }

    /// Whether the display changes without input.
    pub(crate) const fn is_moving(&self) -> bool {
        self.playing || self.goal.is_some()
    }

    pub(crate) const fn is_busy(&self) -> bool {
        self.goal.is_some()
    }

    /// Works until `until` at most. Returns whether the display has changed.
    pub(crate) fn elapse(&mut self, passed: Duration, until: Instant) -> bool {
        if self.goal.is_some() {
            self.wind(until);
            return true;
        }
        if !self.playing {
            return false;
        }
        let (_, (times, over)) = SPEEDS[self.speed];
        let before = self.clock.as_nanos() / 1_000_000_000;
        self.clock = self.clock.plus(passed * times / over);
        let arrivals = self.playback.arrivals();
        if !self.run(Goal::Time(self.clock), (0, None), until) {
            // Too many arrivals for this speed.
            self.clock = self.playback.time();
        }
        if self.playback.next_time().is_none() {
            self.playing = false;
            self.clock = self.clock.min(self.playback.end.time).max(self.playback.time());
            return true;
        }
        self.playback.arrivals() != arrivals || self.clock.as_nanos() / 1_000_000_000 != before
    }

    /// [`elapse`](Self::elapse) does the work.
    pub(crate) fn go_to(&mut self, goal: Goal) {
        let from = (self.playback.arrivals(), self.playback.turn());
        if self.playback.rewind(goal) {
            let (display, _) = self.playback.scene();
            display.discard_later(&mut self.view);
        }
        self.goal = Some((goal, from));
    }

    fn wind(&mut self, until: Instant) {
        let Some((goal, from)) = self.goal else { return };
        if self.run(goal, from, until) {
            self.goal = None;
            self.clock = match goal {
                Goal::Time(time) => time.clamp(self.playback.time(), self.playback.end.time.max(self.playback.time())),
                _ => self.playback.time(),
            };
            if self.playback.next_time().is_none() {
                self.playing = false;
            }
        } else {
            self.clock = self.playback.time();
        }
    }

    fn run(&mut self, goal: Goal, from: (u64, Option<u64>), until: Instant) -> bool {
        loop {
            for _ in 0..BATCH {
                if self.playback.is_at(goal, from) || !self.playback.forward() {
                    return true;
                }
            }
            if Instant::now() >= until {
                return false;
            }
        }
    }

    // Moves to the state after the previous arrival or turn.
    fn back(&mut self) {
        let (game, arrivals) = (self.playback.game(), self.playback.arrivals());
        self.go_to(match self.playback.turn() {
            Some(turn @ 1..) => Goal::Turn { game, turn: turn - 1 },
            _ => Goal::Arrivals(arrivals.saturating_sub(1).max(self.playback.start.arrivals)),
        });
    }

    fn leap(&mut self, forward: bool) {
        let start = self.playback.start.time;
        let time =
            if forward { self.clock.plus(LEAP) } else { start.plus(self.clock.since(start).saturating_sub(LEAP)) };
        self.go_to(Goal::Time(time));
    }
}

pub(crate) const HELP: &[(&str, &str)] = &[
    ("Space", "pause, and continue"),
    ("Right .", "next turn or arrival"),
    ("Left ,", "previous turn or arrival"),
    ("+ -", "faster, slower: 0.25 to 64 times"),
    ("PgUp PgDn", "30 seconds back, forward"),
    ("g", "go to a turn, an arrival or a time such as 14:02"),
    ("Home End", "go to the start, to the end"),
    ("Up Down", "scroll; Shift and an arrow as well"),
    ("Tab", "follow the next robot"),
    ("F1 ?", "this help"),
    ("Ctrl-L", "redraw the screen"),
    ("Q", "leave"),
    ("", ""),
    ("", "Any key closes the help."),
];

impl<E: Game> ReplayScreen<E> {
    pub(crate) fn key(&mut self, typed: Key) -> Reaction {
        match typed {
            Key::Interrupt | Key::EndOfInput => return Reaction::Leave,
            Key::Redraw => return Reaction::Redraw,
            Key::Suspend => return Reaction::Suspend,
            _ => {}
        }
        self.note = None;
        if self.help {
            self.help = false;
        } else if self.typed.is_some() {
            self.type_in(typed);
        } else {
            return self.command(typed);
        }
        Reaction::Nothing
    }

    fn command(&mut self, typed: Key) -> Reaction {
        match typed {
            Key::Byte(b'q' | b'Q') => return Reaction::Leave,
            Key::Byte(b' ') => self.pause(),
            Key::Byte(b'.') | Key::Pad { key: Pad::Right, shift: false } => self.step(true),
            Key::Byte(b',') | Key::Pad { key: Pad::Left, shift: false } => self.step(false),
            Key::Byte(b'+' | b'=') => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Key::Byte(b'-') => self.speed = self.speed.saturating_sub(1),
            Key::Byte(b'g') => self.typed = Some(String::new()),
            Key::Byte(b'?') | Key::Function(1) => self.help = true,
            Key::Byte(b'\t') => self.playback.scene().0.follow_next(&mut self.view),
            Key::Pad { key: Pad::Home, .. } => self.go_to(Goal::Arrivals(self.playback.start.arrivals)),
            Key::Pad { key: Pad::End, .. } => self.go_to(Goal::End),
            Key::Pad { key: Pad::PageUp, .. } => self.leap(false),
            Key::Pad { key: Pad::PageDown, .. } => self.leap(true),
            Key::Pad { key: Pad::Up, .. } => self.scroll(0, -1),
            Key::Pad { key: Pad::Down, .. } => self.scroll(0, 1),
            Key::Pad { key: Pad::Left, shift: true } => self.scroll(-1, 0),
            Key::Pad { key: Pad::Right, shift: true } => self.scroll(1, 0),
            _ => {}
        }
        Reaction::Nothing
    }

    fn pause(&mut self) {
        self.playing = !self.playing;
        // At the end, playing restarts the match.
        if self.playing && self.goal.is_none() && self.playback.next_time().is_none() {
            self.go_to(Goal::Arrivals(self.playback.start.arrivals));
        }
    }

    fn step(&mut self, forward: bool) {
        self.playing = false;
        if forward {
            self.go_to(Goal::Step);
        } else {
            self.back();
        }
    }

    fn scroll(&mut self, columns: i32, rows: i32) {
        self.playback.scene().0.scroll(&mut self.view, columns, rows);
    }

    fn type_in(&mut self, key: Key) {
        let Some(typed) = &mut self.typed else { return };
        match key {
            Key::Byte(byte @ (b'0'..=b'9' | b':')) if typed.len() < MAX_TYPED => typed.push(char::from(byte)),
            Key::Byte(0x08 | 0x7f) => drop(typed.pop()),
            Key::Byte(0x1b) => self.typed = None,
            Key::Byte(b'\n') => {
                let typed = self.typed.take().unwrap_or_default();
                match self.place(&typed) {
                    Some(goal) => self.go_to(goal),
                    None if typed.is_empty() => {}
                    None => {
                        self.note = Some(format!("'{typed}' is not a position; type {} or mm:ss", E::STEP.one()));
                    }
                }
            }
            _ => {}
        }
    }

    fn place(&self, typed: &str) -> Option<Goal> {
        if typed.contains(':') {
            return parse_clock(typed).map(Goal::Time);
        }
        let number = typed.parse().ok()?;
        Some(match self.playback.turn() {
            Some(_) => Goal::Turn { game: self.playback.game(), turn: number },
            // A turn of the next game.
            None if E::STEP == Step::Turn => Goal::Turn { game: self.playback.game() + 1, turn: number },
            None => Goal::Arrivals(number),
        })
    }
}

const SMALLEST: Size = Size::new(24, 7);
/// The latest actions and the progress bar.
const BELOW: u16 = 2;
const SHORTEST_BAR: usize = 6;

impl<E: Game> ReplayScreen<E> {
    pub(crate) fn draw(&mut self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        self.window = area.as_size();
        if area.width < SMALLEST.width || area.height < SMALLEST.height {
            return TooSmall::new(SMALLEST, self.window).render(area, buffer);
        }
        // A row about keys that have no effect here is overdrawn.
        let hints = u16::from(<E::Display as GameDisplay<E>>::HINTS);
        let game = Rect { height: area.height - BELOW + hints, ..area };
        let (display, replay) = self.playback.scene();
        display.draw(&mut self.view, replay, game, buffer);
        let below = Rect { y: area.bottom() - BELOW, height: 1, ..area };
        self.actions(below, buffer);
        self.bar(Rect { y: area.bottom() - 1, ..below }, buffer);
        if self.help {
            Overlay::new("Replay", HELP).render(area, buffer);
        }
    }

    // Latest first; or the prompt or an error.
    fn actions(&self, area: Rect, buffer: &mut Buffer) {
        Clear.render(area, buffer);
        let important = |text: &str, buffer: &mut Buffer| {
            let style = self.palette.style(Color::LightRed, Modifier::BOLD);
            buffer.set_stringn(area.x, area.y, text, usize::from(area.width), style);
        };
        if let Some(typed) = &self.typed {
            let most = match E::STEP {
                Step::Turn => String::new(),
                Step::Arrival => format!(" up to {}", grouped(self.playback.end.arrivals)),
            };
            let text = format!("Go to {}{most}, or mm:ss: {typed}_", E::STEP.one());
            return StatusLine::new(&text).right("Enter go, Esc cancel").render(area, buffer);
        }
        if let Some(note) = &self.note {
            return important(note, buffer);
        }
        if let Some(trouble) = self.playback.trouble() {
            return important(&format!("The replay ends here: {trouble}"), buffer);
        }
        let mut text = String::new();
        for action in self.playback.actions() {
            if text.len() > usize::from(area.width) {
                break;
            }
            if !text.is_empty() {
                text.push_str("  |  ");
            }
            text.push_str(&action);
        }
        StatusLine::new(&text).render(area, buffer);
    }

    fn bar(&self, area: Rect, buffer: &mut Buffer) {
        let start = self.playback.start.time;
        let (now, end) = (self.clock.max(start), self.playback.end.time.max(self.clock));
        let sign = match (self.goal.is_some(), self.playing, self.playback.next_time().is_none()) {
            (true, ..) => ">>",
            (false, _, true) => "[]",
            (false, true, false) => "> ",
            (false, false, false) => "||",
        };
        let left = format!("{sign} {}x {} / {} ", SPEEDS[self.speed].0, clock(now), clock(end));
        let right = match (self.playback.game(), self.playback.turn()) {
            (game @ 2.., Some(turn)) => format!(" game {game} turn {turn}  ? keys"),
            (_, Some(turn)) => format!(" turn {turn}  ? keys"),
            (_, None) => {
                let (now, end) = (grouped(self.playback.arrivals()), grouped(self.playback.end.arrivals));
                format!(" arrival {now} of {end}  ? keys")
            }
        };
        let width = usize::from(area.width);
        let (left, right) =
            if left.len() + SHORTEST_BAR + right.len() <= width { (left, right) } else { (left, String::new()) };
        let room = width.saturating_sub(left.len() + right.len());
        let bar = if room >= SHORTEST_BAR { bar(room, now.since(start), end.since(start)) } else { String::new() };
        let style = Style::new().add_modifier(Modifier::REVERSED);
        buffer.set_stringn(area.x, area.y, format!("{left}{bar}{right}"), width, Style::new());
        buffer.set_stringn(area.x, area.y, sign, width, style);
    }
}

fn bar(columns: usize, now: Duration, end: Duration) -> String {
    let inner = columns.saturating_sub(2);
    let whole = end.as_nanos().max(1);
    let done = usize::try_from(now.as_nanos().min(whole) * inner as u128 / whole).unwrap_or(inner);
    let done = if end.is_zero() { inner } else { done };
    format!("[{}{}]", "#".repeat(done), "-".repeat(inner - done))
}

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        time::{Duration, Instant},
    };

    use netcore::Time;
    use ratatui::{Terminal, backend::TestBackend, buffer::Cell};
    use termkit::{Key, Pad, Palette};
    use testkit::TempDir;

    use super::{Reaction, ReplayScreen};
    use crate::{
        games::Game,
        matches,
        playback::{Goal, Playback},
    };

    fn opened<E: Game>(path: &Path, seat: Option<&str>) -> ReplayScreen<E> {
        ReplayScreen::new(Playback::open(path, seat).unwrap(), Palette::MONO, 2)
    }

    fn settled<E: Game>(screen: &mut ReplayScreen<E>) {
        while screen.is_busy() {
            screen.elapse(Duration::ZERO, Instant::now() + Duration::from_secs(9));
        }
    }

    fn goes<E: Game>(screen: &mut ReplayScreen<E>, goal: Goal) {
        screen.go_to(goal);
        settled(screen);
    }

    fn types<E: Game>(screen: &mut ReplayScreen<E>, text: &str) {
        for byte in text.bytes() {
            assert_eq!(screen.key(Key::Byte(byte)), Reaction::Nothing);
            settled(screen);
        }
    }

    fn rows<E: Game>(screen: &mut ReplayScreen<E>, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| screen.draw(frame.area(), frame.buffer_mut())).unwrap();
        let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
        let rows: Vec<String> = terminal.backend().buffer().content.chunks(usize::from(width)).map(row).collect();
        println!("{}\n", rows.join("\n"));
        rows
    }

    const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (120, 40), (200, 60)];

    #[test]
    fn nuggets_is_displayed_for_a_spectator_and_from_a_seat() {
        let folder = TempDir::new();
        let path = matches::nuggets(folder.path(), 60, true);
        let mut spectator = opened::<nuggets::Server>(&path, None);
        let mut ann = opened::<nuggets::Server>(&path, Some("Ann"));
        assert!(rows(&mut ann, 80, 24)[0].contains("This seat has not been taken."));
        for screen in [&mut spectator, &mut ann] {
            goes(screen, Goal::Time(Time::from_millis(15_000)));
        }
        for (width, height) in SIZES {
            let (shown, seat) = (rows(&mut spectator, width, height), rows(&mut ann, width, height));
            // In a narrow window the status line is shorter, and in a large window the map is centred.
            let status = if width < 80 { "A " } else { "Player A has " };
            assert!(shown[0].starts_with("Spectator: ") && seat[0].starts_with(status), "{width}: {}", seat[0]);
            let top = shown.iter().position(|row| row.trim_start().starts_with("+--------+      +--------+")).unwrap();
            let map = shown[top..top + 5].concat();
            assert!(map.contains('A') && map.contains('B'));
            assert!(seat.concat().contains('@') && !seat[top..top + 5].concat().contains('A'));
            let below = usize::from(height) - 2;
            assert!(shown[below].starts_with("0:1") && shown[below].contains(": "), "{}", shown[below]);
            assert!(shown[below + 1].starts_with(">  1x 0:15 / 0:26 [#"), "{}", shown[below + 1]);
        }
        let last = &rows(&mut spectator, 80, 24)[23];
        assert!(last.ends_with("arrival 39 of 69  ? keys"), "{last}");
    }

    #[test]
    fn robots_is_displayed_turn_by_turn_and_from_a_seat() {
        let folder = TempDir::new();
        let path = matches::robots(folder.path());
        let mut screen = opened::<robots::Server>(&path, Some("1"));
        assert!(rows(&mut screen, 80, 24)[0].contains("Lobby of here"));
        types(&mut screen, "g4\n");
        let shown = rows(&mut screen, 80, 24);
        assert!(shown[0].contains("Turn 4 of 10") && shown[23].ends_with("turn 4  ? keys"), "{shown:#?}");
        assert!(!shown.concat().contains("WASD"), "keys of the game do nothing here");
        assert!(shown.iter().any(|row| row.contains(">B")), "Bob is in view: {shown:#?}");
        assert!(shown[22].contains("turn 4: Bob"), "{}", shown[22]);
        types(&mut screen, "...");
        assert!(rows(&mut screen, 40, 12)[0].contains("Turn 7") || rows(&mut screen, 40, 12)[0].contains("7/10"));
        screen.key(Key::Pad { key: Pad::Left, shift: false });
        settled(&mut screen);
        assert_eq!(screen.playback().turn(), Some(6));
        types(&mut screen, "g2\n");
        assert_eq!((screen.playback().turn(), screen.playback().game()), (Some(2), 1));
        goes(&mut screen, Goal::Time(Time::from_millis(9_000)));
        assert_eq!(screen.playback().game(), 2);
        let last = rows(&mut screen, 200, 60);
        assert!(last[59].contains("game 2 turn"), "{}", last[59]);
        types(&mut screen, "g1\n");
        assert_eq!((screen.playback().turn(), screen.playback().game()), (Some(1), 2));
    }

    #[test]
    fn mastermind_is_displayed_without_codes_and_from_a_seat() {
        let folder = TempDir::new();
        let path = matches::mastermind(folder.path());
        let mut spectator = opened::<mastermind::Server>(&path, None);
        let mut ann = opened::<mastermind::Server>(&path, Some("1"));
        let mut bob = opened::<mastermind::Server>(&path, Some("Bob"));
        assert!(rows(&mut bob, 80, 24)[0].contains("This seat has not been taken."));
        // In the middle of Bob's first game, after Ann's.
        for screen in [&mut spectator, &mut ann, &mut bob] {
            goes(screen, Goal::Time(Time::from_millis(6_600)));
        }
        for (width, height) in SIZES {
            let shown = rows(&mut spectator, width, height).concat();
            assert!(shown.contains("Ann, game 1: 4 pegs, 8 colours") && shown.contains("  1  ****  "), "{shown}");
            let own = rows(&mut ann, width, height);
            assert!(own[0].starts_with("Ann, game 1") && own[1].starts_with("  1  1122  "), "{own:#?}");
            assert!(own[2].starts_with("  2  the code has a ") && own[3].starts_with("  3  3344  "), "{own:#?}");
            assert!(own[4].starts_with("     resigned in 3 turns, code "), "{own:#?}");
            let other = rows(&mut bob, width, height);
            assert!(other[0].starts_with("Bob, game 2") && other[1].starts_with("  1  5566  "), "{other:#?}");
        }
        goes(&mut ann, Goal::Time(Time::from_millis(1_600)));
        assert!(rows(&mut ann, 80, 24)[2].is_empty());
        goes(&mut spectator, Goal::Time(Time::from_millis(11_000)));
        assert!(!rows(&mut spectator, 80, 24).concat().contains("Bob, game"));
    }

    #[test]
    fn blackjack_is_displayed_as_text_and_from_a_seat() {
        let folder = TempDir::new();
        let path = matches::blackjack(folder.path());
        let mut lobby = opened::<blackjack::Server>(&path, None);
        let mut ann = opened::<blackjack::Server>(&path, Some("1:1"));
        let mut bob = opened::<blackjack::Server>(&path, Some("Bob"));
        for screen in [&mut lobby, &mut ann, &mut bob] {
            goes(screen, Goal::Time(Time::from_millis(1_300)));
        }
        for (width, height) in SIZES {
            let shown = rows(&mut lobby, width, height);
            assert!(shown[0].starts_with("LOBBY 1 1 0 0") && shown[1].starts_with("TABLE 1 PLAYING"), "{shown:#?}");
            rows(&mut ann, width, height);
            rows(&mut bob, width, height);
        }
        assert!(rows(&mut ann, 80, 24)[0].starts_with("Ann: "));
        assert!(rows(&mut bob, 80, 24).concat().contains("You have"));
        let shown = rows(&mut ann, 80, 24);
        assert!(shown[1].trim_start().starts_with("Round 1: push"), "{shown:#?}");
        assert!(shown[2].trim_start().starts_with("Round 2."), "{shown:#?}");
        goes(&mut ann, Goal::End);
        assert!(rows(&mut ann, 80, 24).concat().contains("Round 3: "));
        // The advice belongs to the position, regardless of how it was reached.
        goes(&mut ann, Goal::Time(Time::from_millis(1_300)));
        assert!(!rows(&mut ann, 80, 24)[0].contains("Round 3"));
    }

    #[test]
    fn a_position_has_the_same_display_however_it_was_reached() {
        let folder = TempDir::new();
        let path = matches::nuggets(folder.path(), 900, true);
        let mut there = opened::<nuggets::Server>(&path, None);
        let mut back = opened::<nuggets::Server>(&path, None);
        goes(&mut back, Goal::End);
        let end = back.playback().end.arrivals;
        for arrivals in [end, end - 1, 700, 300, 257, 256, 255, 40, 1, 0] {
            goes(&mut back, Goal::Arrivals(arrivals));
            there = opened(&path, None);
            goes(&mut there, Goal::Arrivals(arrivals));
            assert_eq!(back.playback().arrivals(), arrivals);
            assert_eq!(rows(&mut back, 80, 24)[..22], rows(&mut there, 80, 24)[..22], "{arrivals}");
        }
        goes(&mut back, Goal::End);
        goes(&mut back, Goal::Arrivals(10));
        types(&mut back, ".");
        assert_eq!(back.playback().arrivals(), 11);
        goes(&mut there, Goal::Arrivals(500));
        there.key(Key::Pad { key: Pad::Left, shift: false });
        settled(&mut there);
        assert_eq!(there.playback().arrivals(), 499);
        types(&mut there, ".");
        assert_eq!(there.playback().arrivals(), 500);
    }

    #[test]
    fn playback_has_the_chosen_speed_and_stops_at_the_end() {
        let folder = TempDir::new();
        let mut screen = opened::<nuggets::Server>(&matches::nuggets(folder.path(), 60, true), None);
        let far = || Instant::now() + Duration::from_secs(9);
        screen.elapse(Duration::from_secs(4), far());
        assert!(rows(&mut screen, 80, 24)[23].starts_with(">  1x 0:04 / 0:26"));
        types(&mut screen, "+++");
        screen.elapse(Duration::from_secs(1), far());
        assert!(rows(&mut screen, 80, 24)[23].starts_with(">  8x 0:12 / 0:26"));
        types(&mut screen, " ");
        assert!(!screen.elapse(Duration::from_secs(1), far()) && !screen.is_moving());
        assert!(rows(&mut screen, 80, 24)[23].starts_with("|| 8x 0:12 / 0:26"));
        types(&mut screen, "-----------");
        assert!(rows(&mut screen, 80, 24)[23].starts_with("|| 0.25x 0:12"));
        types(&mut screen, "++++++++++++ ");
        screen.elapse(Duration::from_secs(1), far());
        let end = rows(&mut screen, 80, 24);
        assert!(end[23].starts_with("[] 64x 0:26 / 0:26 [######") && !screen.is_moving(), "{}", end[23]);
        types(&mut screen, " ");
        assert!(screen.is_moving() && rows(&mut screen, 80, 24)[23].starts_with(">  64x 0:00"));
    }

    #[test]
    fn a_typed_position_is_shown_and_an_invalid_one_is_reported() {
        let folder = TempDir::new();
        let mut screen = opened::<nuggets::Server>(&matches::nuggets(folder.path(), 60, true), None);
        types(&mut screen, "g0:1x0");
        let asked = &rows(&mut screen, 80, 24)[22];
        assert!(asked.starts_with("Go to an arrival up to 69, or mm:ss: 0:10_"), "{asked}");
        types(&mut screen, "\n");
        assert!(rows(&mut screen, 80, 24)[23].contains("0:10 / 0:26"));
        types(&mut screen, "g1:99\n");
        assert_eq!(rows(&mut screen, 80, 24)[22], "'1:99' is not a position; type an arrival or mm:ss");
        types(&mut screen, "g7\x1b");
        assert_ne!(screen.playback().arrivals(), 7);
        types(&mut screen, "g7\n");
        assert_eq!(screen.playback().arrivals(), 7);
        types(&mut screen, "?");
        assert!(rows(&mut screen, 80, 24).concat().contains("go to a turn, an arrival or a time"));
        rows(&mut screen, 40, 12);
        types(&mut screen, "x");
        assert!(!rows(&mut screen, 80, 24).concat().contains("Any key closes the help"));
        assert_eq!(screen.key(Key::Byte(b'q')), Reaction::Leave);
    }

    #[test]
    fn a_window_of_any_size_is_drawn() {
        let folder = TempDir::new();
        let mut nuggets = opened::<nuggets::Server>(&matches::nuggets(folder.path(), 9, true), Some("A"));
        let mut robots = opened::<robots::Server>(&matches::robots(folder.path()), None);
        let mut blackjack = opened::<blackjack::Server>(&matches::blackjack(folder.path()), Some("Ann"));
        goes(&mut nuggets, Goal::End);
        types(&mut robots, "g5\n");
        goes(&mut blackjack, Goal::Arrivals(9));
        for (width, height) in [(1, 1), (2, 30), (23, 9), (24, 7), (25, 8), (40, 7), (300, 8), (30, 100)] {
            rows(&mut nuggets, width, height);
            rows(&mut robots, width, height);
            rows(&mut blackjack, width, height);
        }
        assert!(rows(&mut robots, 23, 9).concat().contains("too small"));
    }
}
