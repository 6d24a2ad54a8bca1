use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Context;
use cmdkit::file_name;
use journal_core::{Arrival, Divergence, Entry, Fact, Mark, Note, Replay};
use netcore::{GameEvent, Outbox, Output, Standing, Time};

use crate::{
    actions::Names,
    args::ShowArgs,
    files::{Opened, head_of, open},
    format::{clock, count, date, plain, size, state},
    games::{Game, for_game},
    panics,
    verify::describe_arrival,
};

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let head = head_of(&args.file)?;
    let mut out = io::stdout().lock();
    for_game!(head, E => show::<E>(&args.file, args.secrets, &mut out), foreign(&args.file, &mut out))
        .with_context(|| file_name(&args.file))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn front(opened: &Opened, out: &mut impl Write) -> io::Result<()> {
    let head = opened.reader.head();
    writeln!(out, "game      {}, rules {}", plain(&head.game), head.rules)?;
    writeln!(out, "begun     {} by version {}", date(head.begun), plain(head.program()))?;
    for (key, value) in head.facts() {
        writeln!(out, "fact      {}", fact_in_words(&key, &value))?;
    }
    let listen: Vec<String> = head.listen.iter().map(ToString::to_string).collect();
    writeln!(out, "listened  {}", if listen.is_empty() { "nowhere".into() } else { listen.join(", ") })?;
    if let Some(base) = &head.base {
        let mark = base.mark;
        let after = count(mark.arrivals, "arrival");
        let at = clock(mark.time);
        if opened.reader.segment() == 1 {
            writeln!(out, "part      of a longer match; it begins at {at}, after {after}")?;
        } else {
            writeln!(out, "kept      from {at} on, after {after}; earlier records were removed")?;
        }
    }
    Ok(())
}

fn back(opened: &Opened, time: Time, arrivals: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "length    {}, {}, {}", clock(time), count(arrivals, "arrival"), size(opened.length))?;
    writeln!(out, "state     {}", state(opened.reader.state(), opened.in_use))?;
    let torn = opened.reader.torn();
    if torn > 0 {
        writeln!(out, "torn      {} after the last complete record, which had no effect", count(torn, "byte"))?;
    }
    Ok(())
}

// Shows the parts that need no rules of the game.
fn foreign(path: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let mut opened = open(path)?;
    front(&opened, out)?;
    writeln!(out, "\nIt cannot be replayed by this version, so only its notes are shown.\n")?;
    notes(&mut opened, out)
}

// Returns the next arrival, or `None` at the end. Prints the notes before it with the time of the last arrival, and
// damage or a divergence with its reason.
fn next(
    opened: &mut Opened,
    time: Time,
    mut check: impl FnMut(&Mark) -> Result<(), Divergence>,
    out: &mut impl Write,
) -> io::Result<Option<Arrival>> {
    loop {
        match opened.reader.next() {
            Ok(Some(Entry::Arrival(arrival))) => return Ok(Some(arrival)),
            Ok(Some(Entry::Note(note))) => {
                if let Note::Mark(mark) = &note
                    && let Err(error) = check(mark)
                {
                    line(time, &error.to_string(), out)?;
                    return Ok(None);
                }
                if let Some(text) = note_in_words(&note) {
                    line(time, &text, out)?;
                }
            }
            Ok(None) => return Ok(None),
            Err(error) => {
                writeln!(out, "damaged   {error}")?;
                return Ok(None);
            }
        }
    }
}

fn notes(opened: &mut Opened, out: &mut impl Write) -> anyhow::Result<()> {
    let (mut arrivals, mut time) = (0, Time::ZERO);
    while let Some(arrival) = next(opened, time, |_| Ok(()), out)? {
        (arrivals, time) = (arrivals + 1, arrival.time);
    }
    Ok(back(opened, time, arrivals, out)?)
}

fn show<E: Game>(path: &Path, secrets: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let mut opened = open(path)?;
    front(&opened, out)?;
    let head = opened.reader.head();
    let replay = head.setup::<E>().map(|setup| E::describe_setup(&setup, secrets)).and_then(|words| {
        let replay = panics::caught(|| Replay::<E>::start(head)).map_err(journal_core::HeadError::Setup)??;
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
    let mut names = Names::of(&replay);
    let mut outbox = Outbox::new();
    let start = replay.arrivals();
    let mut time = replay.time();
    let mut arrivals = start;
    while let Some(arrival) = next(&mut opened, time, |mark| replay.check(mark), out)? {
        (arrivals, time) = (arrivals + 1, arrival.time);
        match panics::caught(|| replay.apply(&arrival, &mut outbox).map(drop)) {
            Ok(Ok(())) => print_events(&replay, &mut names, &arrival, &mut outbox, out)?,
            Ok(Err(error)) => {
                line(time, &format!("{error}: {}", describe_arrival::<E>(&arrival)), out)?;
                break;
            }
            Err(words) => {
                let what = describe_arrival::<E>(&arrival);
                line(time, &format!("arrival {arrivals} makes the engine panic ({what}): {words}"), out)?;
                break;
            }
        }
    }
    // Reads the rest only for its length.
    while let Ok(Some(entry)) = opened.reader.next() {
        if let Entry::Arrival(arrival) = entry {
            (arrivals, time) = (arrivals + 1, arrival.time);
        }
    }
    Ok(back(&opened, time, arrivals - start, out)?)
}

fn print_events<E: Game>(
    replay: &Replay<E>,
    names: &mut Names,
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
            // The standings follow in a table.
            GameEvent::Ended { game, complete, .. } => GameEvent::Ended { game, complete, standings: vec![] },
            other => other,
        };
        if let Some(text) = names.apply(&event, address) {
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
        Note::Resumed { at } => format!("the server was resumed, {}", date(*at)),
        Note::Suspended { at } => format!("the server was stopped and can be resumed, {}", date(*at)),
        Note::Over(how) => format!("the match is over: {}", how.words()),
        Note::Broken => "which made the server panic".into(),
        Note::Fact(Fact { key, value }) => fact_in_words(key, value),
    })
}

// Formats a fact, which the host of the room recorded, such as the occupant of a seat.
fn fact_in_words(key: &str, value: &str) -> String {
    let value = if value.is_empty() { "nothing" } else { value };
    if key.is_empty() { plain(value) } else { plain(&format!("{key}: {value}")) }
}
