use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::{Color, Modifier, Style},
    widgets::{Clear, Widget},
};
use termkit::{Overlay, StatusLine, TooSmall};

use super::{ReplayScreen, SPEEDS, keys::HELP};
use crate::{
    format::{clock, grouped},
    games::{Game, GameDisplay, Step},
};

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

fn bar(columns: usize, now: std::time::Duration, end: std::time::Duration) -> String {
    let inner = columns.saturating_sub(2);
    let whole = end.as_nanos().max(1);
    let done = usize::try_from(now.as_nanos().min(whole) * inner as u128 / whole).unwrap_or(inner);
    let done = if end.is_zero() { inner } else { done };
    format!("[{}{}]", "#".repeat(done), "-".repeat(inner - done))
}
