use std::{
    io::{self, Read, Write},
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use cmdkit::file_name;
use journal_core::{Arrival, Divergence, Entry, Head, Note, ReadError, Reader, Replay, digest};
use netcore::{Input, Link, Outbox, Time};

use crate::{
    args::VerifyArgs,
    files::{damaged, head_of, open},
    format::{clock, count, exact_clock, grouped, plain},
    games::{Game, for_game, unknown},
    panics,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplayResult {
    Same {
        /// Of the final state.
        digest: u64,
    },
    Diverges(Divergence),
    Panics {
        arrival: u64,
        words: String,
    },
}

#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) result: ReplayResult,
    pub(crate) arrivals: u64,
    pub(crate) time: Time,
    /// The arrival at which the replay failed.
    pub(crate) last: Option<Arrival>,
    /// Marks with the same state; `None` if states cannot be compared.
    pub(crate) marks: Option<u64>,
}

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let head = head_of(&args.file)?;
    for_game!(head, E => verify::<E>(&args.file), Err(unknown(&head).context(file_name(&args.file))))
}

fn verify<E: Game>(path: &Path) -> anyhow::Result<ExitCode> {
    let mut opened = open(path)?;
    let name = file_name(path);
    let begun = Instant::now();
    let replay = Replay::<E>::start(opened.reader.head()).with_context(|| name.clone())?;
    let start = (replay.arrivals(), replay.time());
    let verdict = replayed(&mut opened.reader, replay, u64::MAX).map_err(|error| damaged(path, error))?;
    let taken = begun.elapsed();
    let at =
        verdict.last.as_ref().map(|last| format!("; at {} {}", exact_clock(last.time), describe_arrival::<E>(last)));
    let at = at.unwrap_or_default();
    match verdict.result {
        ReplayResult::Diverges(divergence) => return Err(anyhow!(divergence).context(format!("{name}{at}"))),
        ReplayResult::Panics { arrival, words } => {
            return Err(anyhow!("{name}: arrival {arrival} makes the engine panic: {words}{at}"));
        }
        ReplayResult::Same { .. } => {}
    }
    let played = verdict.time.since(start.1);
    let mut out = io::stdout().lock();
    let compared = match verdict.marks {
        Some(0) => "accepts every arrival. It has no mark for a comparison of states".into(),
        Some(marks) => format!("has the same state at {}", count(marks, "mark")),
        None => "accepts every arrival. States of earlier rules are not compared".into(),
    };
    writeln!(out, "{name}: the replay {compared}.")?;
    let arrivals = count(verdict.arrivals - start.0, "arrival");
    let (length, seconds, faster) = (clock(Time::ZERO.plus(played)), seconds(taken), faster(played, taken));
    writeln!(out, "{arrivals}, {length} played, replayed in {seconds} s{faster}.")?;
    let torn = opened.reader.torn();
    if torn > 0 {
        writeln!(out, "The last {} belong to an incomplete record, which had no effect yet.", count(torn, "byte"))?;
    }
    if opened.reader.state() == journal_core::SegmentState::Cut {
        writeln!(out, "It was cut during the match, so the rest of the match is unknown.")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Replays up to the arrival number `until` and the notes after it.
pub(crate) fn replayed<E: Game>(
    reader: &mut Reader<impl Read>,
    mut replay: Replay<E>,
    until: u64,
) -> Result<Verdict, ReadError> {
    let mut out = Outbox::new();
    let mut last = None;
    let (mut arrivals, mut time, mut marks) = (replay.arrivals(), replay.time(), 0);
    let compares = replay.compares();
    let result = panics::caught(|| {
        loop {
            let entry = reader.next()?;
            if let Some(head) = reader.entered()
                && let Err(divergence) = check_segment_start(&mut replay, &head)
            {
                return Ok(ReplayResult::Diverges(divergence));
            }
            let Some(entry) = entry else { break };
            let done = match entry {
                Entry::Arrival(_) if replay.arrivals() >= until => break,
                Entry::Arrival(arrival) => {
                    arrivals += 1;
                    time = arrival.time;
                    let arrival = last.insert(arrival);
                    let done = replay.apply(arrival, &mut out).map(drop);
                    drop(out.drain());
                    done
                }
                Entry::Note(Note::Mark(mark)) => {
                    marks += 1;
                    replay.check(&mark)
                }
                Entry::Note(Note::Broken) => {
                    Err(replay.diverges("the server panicked there, and this version does not"))
                }
                Entry::Note(_) => Ok(()),
            };
            if let Err(divergence) = done {
                return Ok(ReplayResult::Diverges(divergence));
            }
        }
        Ok::<_, ReadError>(ReplayResult::Same { digest: digest(replay.room()) })
    });
    let result = match result {
        Ok(result) => result?,
        Err(words) => ReplayResult::Panics { arrival: arrivals, words },
    };
    let last = last.filter(|_| !matches!(result, ReplayResult::Same { .. }));
    Ok(Verdict { result, arrivals, time, last, marks: compares.then_some(marks) })
}

fn check_segment_start<E: Game>(replay: &mut Replay<E>, head: &Head) -> Result<(), Divergence> {
    let Some(base) = &head.base else { return Ok(()) };
    replay.check(&base.mark)?;
    let wrong = replay.diverges("the state that the next file of the journal begins with is wrong");
    Replay::<E>::restore(head, base).map(drop).map_err(|_| wrong)
}

pub(crate) fn describe_arrival<E: Game>(arrival: &Arrival) -> String {
    match &arrival.input {
        Input::Connected { peer, address, .. } => format!("{peer} connected from {}", plain(address)),
        // The text is the same on all links except for its framing.
        Input::Message { peer, message: bytes } => {
            match [Link::Message, Link::Stream].into_iter().find_map(|link| E::describe(link, bytes)) {
                Some(message) => format!("{peer} sent {}", plain(&message.text)),
                None => format!("{peer} sent {}, which are not a message", count(bytes.len() as u64, "byte")),
            }
        }
        Input::Malformed { peer, why } => format!("{peer} sent a malformed message: {}", plain(&why.to_string())),
        Input::Refresh { peer } => format!("{peer} was updated"),
        Input::Disconnected { peer, why } => format!("{peer} disconnected ({why:?})"),
        Input::Elapsed => "a deadline was reached".into(),
        Input::Stop(leave) => format!("the server was stopped ({leave:?})"),
    }
}

fn seconds(taken: Duration) -> String {
    format!("{:.*}", if taken < Duration::from_millis(100) { 4 } else { 2 }, taken.as_secs_f64())
}

fn faster(played: Duration, taken: Duration) -> String {
    let times = played.as_nanos() / taken.as_nanos().max(1);
    let times = u64::try_from(times).unwrap_or(u64::MAX);
    if times >= 2 { format!(", {} times as fast", grouped(times)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{args::CutArgs, cut, glass, playback::Playback};
    use testkit::TempDir;

    #[test]
    fn a_panic_is_reported_with_its_arrival_by_every_command() {
        let folder = TempDir::new();
        let path = std::path::PathBuf::from(folder.file("glass.journal", glass::journal("!", true)));
        let breaks = "arrival 4 makes the engine panic: the glass breaks (at ";
        let error = format!("{:#}", verify::<glass::Glass>(&path).unwrap_err());
        assert!(error.contains(breaks) && error.contains("0:03.000 peer 0 sent !"), "{error}");
        let mut playback = Playback::<glass::Glass>::open(&path, None).unwrap();
        while playback.forward() {}
        assert!(playback.trouble().is_some_and(|trouble| trouble.contains(breaks)), "{:?}", playback.trouble());
        // The replay stopped at the last arrival before the panic, and can be moved back.
        assert!(playback.rewind(crate::playback::Goal::Arrivals(1)));
        assert!(playback.trouble().is_none() && playback.arrivals() == 0 && playback.forward());
        let output = folder.path().join("cut.journal");
        let args = CutArgs { file: path, at: 4, game: true, output: output.clone() };
        cut::cut::<glass::Glass>(&args).unwrap();
        assert!(verify::<glass::Glass>(&output).unwrap_err().to_string().contains(breaks));
        let late = CutArgs { at: 5, output: folder.path().join("no"), ..args };
        assert!(cut::cut::<glass::Glass>(&late).unwrap_err().to_string().contains("with --at 4"));
    }

    #[test]
    fn a_panic_that_does_not_happen_in_this_version_is_reported() {
        let folder = TempDir::new();
        let path = folder.file("glass.journal", glass::journal("c", true));
        let error = format!("{:#}", verify::<glass::Glass>(Path::new(&path)).unwrap_err());
        assert!(error.contains("between arrivals 0 and 4") && error.contains("this version does not"), "{error}");
        let whole = folder.file("whole.journal", glass::journal("c", false));
        assert_eq!(verify::<glass::Glass>(Path::new(&whole)).unwrap(), ExitCode::SUCCESS);
    }

    #[test]
    fn other_rules_and_other_games_are_rejected_by_name() {
        let folder = TempDir::new();
        let path = folder.file("glass.journal", glass::journal("c", false));
        let run = run(&VerifyArgs { file: path.clone().into() });
        let error = format!("{:#}", run.unwrap_err());
        assert!(error.contains("a journal of 'glass', but this program supports only nuggets"), "{error}");
        let error = format!("{:#}", verify::<nuggets::Server>(Path::new(&path)).unwrap_err());
        assert!(error.contains("it is a journal of glass, not of nuggets"), "{error}");
        let bytes = std::fs::read(&path).unwrap();
        let mut head = Reader::new(&bytes[..], bytes.len() as u64).unwrap().head().clone();
        head.rules = 7;
        let other = folder.file("other.journal", journal_core::Excerpt::new(&head).into_bytes());
        let error = format!("{:#}", verify::<glass::Glass>(Path::new(&other)).unwrap_err());
        assert!(error.contains("by version 0.1.0 with rules 7 of glass") && error.contains("rules 1"), "{error}");
    }

    #[test]
    fn the_speed_is_shown_if_the_replay_is_faster() {
        let second = Duration::from_secs(1);
        assert_eq!(faster(3_600 * second, second / 10), ", 36,000 times as fast");
        assert_eq!(faster(second, second), "");
        assert_eq!([seconds(second * 2), seconds(second / 1_000)], ["2.00", "0.0010"]);
    }
}
