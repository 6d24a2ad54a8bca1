//! A recording of the replay's screen, as asciicast version 2.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use netcore::Time;
use ratatui::{Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, layout::Rect};
use serde_json::json;
use termkit::Palette;

use crate::{
    args::ExportArgs,
    film::Film,
    games::Game,
    out::Output,
    theatre::{SPEEDS, Theatre},
};

/// The least time between two frames of a recording.
const FRAME: Duration = Duration::from_millis(50);
/// What a recording begins with: no cursor, and nothing on the screen.
const BEGIN: &str = "\x1b[?25l\x1b[2J\x1b[H";

/// Writes a recording of a match.
///
/// # Errors
/// When the match cannot be replayed, or the recording not written.
pub(crate) fn write<E: Game>(args: &ExportArgs) -> anyhow::Result<()> {
    let film = Film::<E>::open(&args.file, args.seat.seat.as_deref())?;
    let mut out = Output::create(args.output.as_deref())?;
    record(film, (args.width, args.height), args.speed, &mut out)?;
    out.finish()
}

fn record<E: Game>(
    film: Film<E>,
    (width, height): (u16, u16),
    speed: usize,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let head = film.head();
    let title = format!("{}, replayed", head.game);
    let front = json!({ "version": 2, "width": width, "height": height, "timestamp": head.begun, "title": title });
    writeln!(out, "{front}")?;
    let tape = Tape::default();
    let area = Rect::new(0, 0, width, height);
    let options = TerminalOptions { viewport: Viewport::Fixed(area) };
    let mut terminal = Terminal::with_options(CrosstermBackend::new(tape.clone()), options)?;
    tape.take();
    let start = film.start().time;
    let (_, (times, over)) = SPEEDS.get(speed).copied().unwrap_or(SPEEDS[2]);
    let shown_at = |time: Time| time.since(start) * over / times;
    let mut theatre = Theatre::new(film, Palette::from_environment(), speed);
    let mut now = Duration::ZERO;
    writeln!(out, "{}", json!([0.0, "o", BEGIN]))?;
    loop {
        terminal.draw(|frame| theatre.draw(frame.area(), frame.buffer_mut()))?;
        let bytes = tape.take();
        if !bytes.is_empty() {
            let text = String::from_utf8_lossy(&bytes);
            writeln!(out, "{}", json!([rounded(now), "o", text]))?;
        }
        let film = theatre.film();
        let Some(next) = film.next_time() else { break };
        now = shown_at(next).max(now + FRAME);
        while film.next_time().is_some_and(|next| shown_at(next) <= now) && film.forward() {}
        theatre.settle();
    }
    Ok(())
}

// To the microsecond.
fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

/// What a terminal would be sent.
#[derive(Debug, Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
