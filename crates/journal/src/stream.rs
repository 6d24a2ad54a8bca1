//! `journal export`: lines of JSON, or a recording.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cmdkit::{file_name, printable_json};
use journal_core::{Arrival, Entry, Fact, Head, Note};
use netcore::{Input, Leave, Link, PeerId, Time};
use ratatui::{Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, layout::Rect};
use serde_json::{Map, Value, json};
use termkit::Palette;

use crate::{
    args::{ExportArgs, Format},
    files::{Output, damaged, head_of, open},
    games::{Describe, Description, Game, for_game, unknown},
    playback::Playback,
    screen::{ReplayScreen, SPEEDS},
};

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let head = head_of(&args.file)?;
    match args.format {
        Format::Jsonl => {
            let mut out = Output::create(args.output.as_deref())?;
            let describe: fn(Link, &[u8]) -> Option<Description> = for_game!(head, E => E::describe, |_, _| None);
            lines(&args.file, describe, &mut out)?;
            out.finish()?;
        }
        Format::Cast => {
            for_game!(head, E => write::<E>(args), Err(unknown(&head).context(file_name(&args.file))))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(path: &Path, describe: fn(Link, &[u8]) -> Option<Description>, out: &mut impl Write) -> anyhow::Result<()> {
    let mut opened = open(path)?;
    writeln!(out, "{}", printable_json(&front(opened.reader.head()).to_string()))?;
    let mut number = opened.reader.head().base.as_ref().map_or(0, |base| base.mark.arrivals);
    let base = opened.reader.head().base.as_ref();
    let mut links: BTreeMap<PeerId, Link> =
        base.into_iter().flat_map(|base| &base.peers).map(|(_, peer)| (peer.peer, peer.link)).collect();
    while let Some(entry) = opened.reader.next().map_err(|error| damaged(path, error))? {
        let line = match entry {
            Entry::Arrival(arrival) => {
                number += 1;
                if let Input::Connected { peer, link, .. } = &arrival.input {
                    links.insert(*peer, *link);
                }
                let link = arrival.input.peer().and_then(|peer| links.get(&peer)).copied();
                if let Input::Disconnected { peer, .. } = &arrival.input {
                    links.remove(peer);
                }
                of_arrival(number, &arrival, |bytes| describe(link?, bytes))
            }
            Entry::Note(note) => of_note(&note, opened.reader.time()),
        };
        writeln!(out, "{}", printable_json(&line.to_string()))?;
    }
    Ok(())
}

fn seconds(time: Time) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 microseconds")]
    let seconds = (time.as_nanos() / 1_000) as f64 / 1e6;
    json!(seconds)
}

fn front(head: &Head) -> Value {
    let Head { game, rules, begun, listen, base, .. } = head;
    let listen: Vec<String> = listen.iter().map(ToString::to_string).collect();
    let from = base.as_ref().map_or(0, |base| base.mark.arrivals);
    json!({
        "kind": "match", "game": game, "rules": rules, "program": head.program(), "begun": begun, "listen": listen,
        "arrivals_before": from, "facts": head.facts(),
    })
}

fn of_arrival(number: u64, arrival: &Arrival, describe: impl Fn(&[u8]) -> Option<Description>) -> Value {
    let (kind, more) = match &arrival.input {
        Input::Connected { role, link, address, .. } => {
            let role = format!("{role:?}").to_lowercase();
            let link = format!("{link:?}").to_lowercase();
            ("connected", json!({ "role": role, "link": link, "address": address }))
        }
        Input::Message { message: bytes, .. } => {
            let text = describe(bytes).map(|message| message.text);
            ("bytes", json!({ "text": text, "bytes": hex(bytes) }))
        }
        Input::Malformed { why, .. } => ("malformed", json!({ "why": why.to_string() })),
        Input::Refresh { .. } => ("refresh", json!({})),
        Input::Disconnected { why, .. } => ("disconnected", json!({ "why": format!("{why:?}").to_lowercase() })),
        Input::Elapsed => ("elapsed", json!({})),
        Input::Stop(Leave::Over) => ("stop", json!({ "resumable": false })),
        Input::Stop(Leave::Resumable) => ("stop", json!({ "resumable": true })),
    };
    let mut line = Map::new();
    line.insert("kind".into(), kind.into());
    line.insert("arrival".into(), number.into());
    line.insert("time".into(), seconds(arrival.time));
    if let Some(peer) = arrival.input.peer() {
        line.insert("peer".into(), peer.0.into());
    }
    if let Value::Object(more) = more {
        line.extend(more);
    }
    line.insert("check".into(), arrival.check.into());
    Value::Object(line)
}

fn of_note(note: &Note, time: Time) -> Value {
    let time = seconds(time);
    match note {
        Note::Mark(mark) => {
            let digest = format!("{:016x}", mark.digest);
            json!({ "kind": "mark", "time": time, "arrivals": mark.arrivals, "digest": digest })
        }
        Note::Snapshot(snapshot) => {
            let mark = snapshot.mark;
            json!({ "kind": "snapshot", "time": seconds(mark.time), "arrivals": mark.arrivals, "offset": snapshot.offset })
        }
        Note::Resumed { at } => json!({ "kind": "resumed", "time": time, "at": at }),
        Note::Suspended { at } => json!({ "kind": "suspended", "time": time, "at": at }),
        Note::Over(outcome) => {
            json!({ "kind": "over", "time": time, "outcome": format!("{outcome:?}").to_lowercase() })
        }
        Note::Broken => json!({ "kind": "broken", "time": time }),
        Note::Fact(Fact { key, value }) => json!({ "kind": "fact", "time": time, "key": key, "value": value }),
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

// Records the screen of a replay as asciicast version 2.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_hexadecimal() {
        assert_eq!(hex(&[0, 1, 0xab, 255]), "0001abff");
    }
}
