//! `journal show`: who played, when, and how it came out.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Context;
use cmdkit::file_name;
use journal::{Arrival, Entry, Head, Note, Replay};
use netcore::{GameEvent, Outbox, Output, Standing, Time};

use crate::{
    args::ShowArgs,
    deeds::Cast,
    film::head_of,
    games::{Game, for_game},
    panics,
    source::{Opened, open},
    verify::told,
    words::{clock, count, date, outcome, plain, size, state},
};

/// Runs `journal show`.
///
/// # Errors
/// When the file is no journal.
pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let head = head_of(&args.file)?;
    let mut out = io::stdout().lock();
    for_game!(head, E => show::<E>(&args.file, args.secrets, &mut out), foreign(&args.file, &mut out))
        .with_context(|| file_name(&args.file))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn front(head: &Head, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "game      {}, rules {}", plain(&head.game), head.rules)?;
    writeln!(out, "begun     {} by version {}", date(head.begun), plain(&head.program))?;
    let listen: Vec<String> = head.listen.iter().map(ToString::to_string).collect();
    writeln!(out, "listened  {}", if listen.is_empty() { "nowhere".into() } else { listen.join(", ") })?;
    if let Some(base) = &head.base {
        let mark = base.mark;
        let behind = count(mark.arrivals, "arrival");
        writeln!(out, "part      of a longer match; it begins at {}, behind {behind}", clock(mark.time))?;
    }
    Ok(())
}

fn back(opened: &Opened, time: Time, arrivals: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "length    {}, {}, {}", clock(time), count(arrivals, "arrival"), size(opened.length))?;
    writeln!(out, "state     {}", state(opened.reader.state(), opened.in_use))?;
    let torn = opened.reader.torn();
    if torn > 0 {
        writeln!(out, "torn      {} behind the last whole record, from which nothing followed", count(torn, "byte"))?;
    }
    Ok(())
}

// A game that this program does not know, or one of other rules: only what can be read without it.
fn foreign(path: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let mut opened = open(path)?;
    front(opened.reader.head(), out)?;
    writeln!(out, "\nIt cannot be replayed by this version, so only its notes are shown.\n")?;
    notes(&mut opened, out)
}

fn notes(opened: &mut Opened, out: &mut impl Write) -> anyhow::Result<()> {
    let (mut arrivals, mut time) = (0, Time::ZERO);
    loop {
        match opened.reader.next() {
            Ok(Some(Entry::Arrival(arrival))) => (arrivals, time) = (arrivals + 1, arrival.time),
            Ok(Some(Entry::Note(note))) => {
                if let Some(text) = note_in_words(&note) {
                    line(time, &text, out)?;
                }
            }
            Ok(None) => break,
            Err(error) => {
                writeln!(out, "damaged   {error}")?;
                break;
            }
        }
    }
    Ok(back(opened, time, arrivals, out)?)
}

fn show<E: Game>(path: &Path, secrets: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let mut opened = open(path)?;
    let head = opened.reader.head();
    front(head, out)?;
    let replay = head.setup::<E>().map(|setup| E::setup_in_words(&setup, secrets)).and_then(|words| {
        let replay = panics::caught(|| Replay::<E>::start(head)).map_err(journal::HeadError::Setup)??;
        Ok((words, replay))
    });
    let (words, mut replay) = match replay {
        Ok(replay) => replay,
        Err(error) => {
            writeln!(out, "\n{error}.\n")?;
            return notes(&mut opened, out);
        }
    };
    for (name, value) in words {
        writeln!(out, "{name:<9} {value}")?;
    }
    writeln!(out)?;
    let mut cast = Cast::of(&replay);
    let mut outbox = Outbox::new();
    let start = replay.arrivals();
    let mut time = replay.time();
    let mut arrivals = start;
    loop {
        match opened.reader.next() {
            Ok(Some(Entry::Arrival(arrival))) => {
                (arrivals, time) = (arrivals + 1, arrival.time);
                match panics::caught(|| replay.apply(&arrival, &mut outbox).map(drop)) {
                    Ok(Ok(())) => tell(&replay, &mut cast, &arrival, &mut outbox, out)?,
                    Ok(Err(error)) => {
                        line(time, &format!("{error}: {}", told::<E>(&arrival)), out)?;
                        break;
                    }
                    Err(words) => {
                        let what = told::<E>(&arrival);
                        line(time, &format!("arrival {arrivals} makes the engine panic ({what}): {words}"), out)?;
                        break;
                    }
                }
            }
            Ok(Some(Entry::Note(note))) => {
                if let Some(text) = note_in_words(&note) {
                    line(time, &text, out)?;
                }
            }
            Ok(None) => break,
            Err(error) => {
                writeln!(out, "damaged   {error}")?;
                break;
            }
        }
    }
    // The rest is read for the length.
    while let Ok(Some(entry)) = opened.reader.next() {
        if let Entry::Arrival(arrival) = entry {
            (arrivals, time) = (arrivals + 1, arrival.time);
        }
    }
    Ok(back(&opened, time, arrivals - start, out)?)
}

fn tell<E: Game>(
    replay: &Replay<E>,
    cast: &mut Cast,
    arrival: &Arrival,
    outbox: &mut Outbox,
    out: &mut impl Write,
) -> io::Result<()> {
    for output in outbox.drain() {
        let Output::Event(event) = output else { continue };
        let address = |peer: &netcore::PeerId| replay.peer(*peer).map(|peer| peer.address.clone());
        let standings = match &event {
            GameEvent::Ended { standings, .. } => standings.clone(),
            _ => vec![],
        };
        let event = match event {
            // They follow in a table.
            GameEvent::Ended { game, complete, .. } => GameEvent::Ended { game, complete, standings: vec![] },
            other => other,
        };
        if let Some(text) = cast.hear(&event, address) {
            line(arrival.time, &text, out)?;
        }
        for Standing { rank, seat, name, score } in standings {
            writeln!(out, "             {rank:>3}. {:<20} {score:>8}  {}", plain(&name), plain(&seat))?;
        }
    }
    Ok(())
}

fn line(time: Time, text: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:>9}  {text}", clock(time))
}

fn note_in_words(note: &Note) -> Option<String> {
    Some(match note {
        Note::Mark(_) | Note::Snapshot(_) => return None,
        Note::Resumed { at } => format!("the server was started again, {}", date(*at)),
        Note::Suspended { at } => format!("the server was stopped and can be resumed, {}", date(*at)),
        Note::Over(how) => format!("the match is over: {}", outcome(*how)),
        Note::Broken => "that broke an invariant of the server, which ended there".into(),
    })
}
