//! `journal export`: lines of JSON, or a recording.

use std::{collections::BTreeMap, io::Write, path::Path, process::ExitCode};

use cmdkit::{file_name, printable_json};
use journal_core::{Arrival, Entry, Fact, Head, Note};
use netcore::{Input, Leave, Link, PeerId, Time};
use serde_json::{Map, Value, json};

use crate::{
    args::{ExportArgs, Format},
    asciicast,
    games::{Describe, Description, for_game, unknown},
    out::Output,
    source::{damaged, head_of, open},
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
            for_game!(head, E => asciicast::write::<E>(args), Err(unknown(&head).context(file_name(&args.file))))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_hexadecimal() {
        assert_eq!(hex(&[0, 1, 0xab, 255]), "0001abff");
    }
}
