//! Records the screen of a replay as asciicast version 2.

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
    games::Game,
    out::Output,
    playback::Playback,
    screen::{ReplayScreen, SPEEDS},
};

const FRAME: Duration = Duration::from_millis(50);
/// Hides the cursor and clears the screen.
const BEGIN: &str = "\x1b[?25l\x1b[2J\x1b[H";

pub(crate) fn write<E: Game>(args: &ExportArgs) -> anyhow::Result<()> {
    let playback = Playback::<E>::open(&args.file, args.seat.seat.as_deref())?;
    let mut out = Output::create(args.output.as_deref())?;
    record(playback, (args.width, args.height), args.speed, &mut out)?;
    out.finish()
}

fn record<E: Game>(
    playback: Playback<E>,
    (width, height): (u16, u16),
    speed: usize,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let head = playback.head();
    let title = format!("{}, replayed", head.game);
    let front = json!({ "version": 2, "width": width, "height": height, "timestamp": head.begun, "title": title });
    writeln!(out, "{front}")?;
    let tape = Tape::default();
    let area = Rect::new(0, 0, width, height);
    let options = TerminalOptions { viewport: Viewport::Fixed(area) };
    let mut terminal = Terminal::with_options(CrosstermBackend::new(tape.clone()), options)?;
    tape.take();
    let start = playback.start.time;
    let (_, (times, over)) = SPEEDS.get(speed).copied().unwrap_or(SPEEDS[2]);
    let shown_at = |time: Time| time.since(start) * over / times;
    let mut screen = ReplayScreen::new(playback, Palette::from_environment(), speed);
    let mut now = Duration::ZERO;
    writeln!(out, "{}", json!([0.0, "o", BEGIN]))?;
    loop {
        terminal.draw(|frame| screen.draw(frame.area(), frame.buffer_mut()))?;
        let bytes = tape.take();
        if !bytes.is_empty() {
            let text = String::from_utf8_lossy(&bytes);
            writeln!(out, "{}", json!([rounded(now), "o", text]))?;
        }
        let playback = screen.playback();
        let Some(next) = playback.next_time() else { break };
        now = shown_at(next).max(now + FRAME);
        while playback.next_time().is_some_and(|next| shown_at(next) <= now) && playback.forward() {}
        screen.settle();
    }
    Ok(())
}

fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

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
