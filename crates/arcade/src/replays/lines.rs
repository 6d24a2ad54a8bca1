//! A match as lines of JSON, for programs. They omit addresses, seeds, and the join messages, which may contain keys.

use std::collections::BTreeMap;

use ladder::LatencyMeter;
use netcore::{GameEvent, Input, Outbox, Output, PeerId, Time, To};
use serde_json::{Value, json};

use super::track::{ReplayError, Track};
use crate::games::Replayable;

/// In bytes.
const MAX_BYTES: usize = 16 << 20;

struct Lines<'a> {
    track: &'a Track,
    text: String,
}

impl Lines<'_> {
    fn add(&mut self, time: Time, kind: &str, mut line: Value) {
        (line["kind"], line["time"]) = (kind.into(), self.track.seconds(time).into());
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }
}

/// Appends the lines to `text`, which has the line of the match.
pub(super) fn lines<E: Replayable>(track: &Track, text: String) -> Result<String, ReplayError> {
    let mut lines = Lines { track, text };
    let mut meter = LatencyMeter::default();
    meter.request(track.begins());
    let mut meters: BTreeMap<PeerId, LatencyMeter> = track.periods.iter().map(|period| (period.peer, meter)).collect();
    let mut cursor = track.start::<E>(|_| false)?;
    let mut out = Outbox::new();
    while let Some(arrival) = track.next(&cursor).cloned() {
        let (time, replay) = (arrival.time, cursor.replay());
        if lines.text.len() > MAX_BYTES {
            lines.add(time, "truncated", json!({}));
            break;
        }
        if let Input::Message { peer, message } = &arrival.input
            && let Some(seat) = track.seat_of(*peer, replay.arrivals() + 1)
            && let Some(link) = replay.peer(*peer).map(|peer| peer.link)
            && let Some(message) = E::describe(link, message).filter(|message| message.name.is_none())
        {
            let latency = meters.get_mut(peer).and_then(|meter| meter.answer(time));
            let latency = latency.map(|latency| latency.as_secs_f64());
            lines.add(time, "action", json!({ "seat": seat, "text": message.text, "latency": latency }));
        }
        track.apply(&mut cursor, &mut out)?;
        for output in out.drain() {
            match output {
                Output::Send { to, frame } if E::is_request(&E::frame(&frame)) => {
                    for (_, meter) in meters.iter_mut().filter(|(peer, _)| to == To::Everyone || to == To::Peer(**peer))
                    {
                        meter.request(time);
                    }
                }
                Output::Event(GameEvent::Joined { seat, .. }) if track.has(&seat) => {
                    lines.add(time, "joined", json!({ "seat": seat }));
                }
                Output::Event(GameEvent::Left { seat, .. }) if track.has(&seat) => {
                    lines.add(time, "left", json!({ "seat": seat }));
                }
                _ => {}
            }
        }
    }
    Ok(lines.text)
}
