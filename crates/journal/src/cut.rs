//! `journal cut`: the shortest journal that still reproduces a state.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, bail};
use cmdkit::file_name;
use journal_core::{Divergence, Entry, Excerpt, Facts, Head, Mark, Note, Reader, Replay, Source};
use netcore::{GameEvent, Outbox, Output};

use crate::{
    actions::Names,
    args::CutArgs,
    files::{Output as File, damaged, head_of, open},
    format::{clock, count, grouped, plain, size},
    games::{Game, for_game, unknown},
    panics,
    verify::{ReplayResult, Verdict, replayed},
};

pub(crate) fn run(args: &CutArgs) -> anyhow::Result<ExitCode> {
    let head = head_of(&args.file)?;
    for_game!(head, E => cut::<E>(args), Err(unknown(&head).context(file_name(&args.file))))
}

pub(crate) fn cut<E: Game>(args: &CutArgs) -> anyhow::Result<ExitCode> {
    let path = &args.file;
    let name = file_name(path);
    let file = File::create(Some(&args.output))?;
    let opened = open(path)?;
    let start = Replay::<E>::start(opened.reader.head()).with_context(|| name.clone())?;
    let mut whole = reached(path, opened.reader.clone(), start.clone(), args.at)?;
    let (mut head, mut from) = (opened.reader.head().clone(), start.arrivals());
    let mut state = start.clone();
    let mut game = None;
    if args.game {
        let found = game_of(path, opened.reader.clone(), start.clone(), args.at)?;
        if found.before > from {
            let facts;
            (state, facts) = replay_to(path, opened.reader.clone(), start, found.before)?;
            from = found.before;
            head = head.with_base(Some(state.snapshot())).with_facts(&facts);
        }
        game = Some(found);
    }
    if let ReplayResult::Diverges(divergence) = &mut whole.result {
        // The excerpt begins with the state of this replay.
        divergence.same = divergence.same.max(from);
    }
    let bytes = excerpt(path, opened.reader.clone(), &head, from, (args.at, &whole))?;
    check::<E>(&bytes, &head, &whole).with_context(|| format!("{name}: the excerpt is not written"))?;
    let mut file = file;
    file.write_all(&bytes)?;
    file.finish()?;
    let mut out = io::stdout().lock();
    let written = file_name(&args.output);
    let kept = count(args.at - from, "arrival");
    writeln!(out, "{written}: {kept}, {} to {}, {}.", grouped(from + 1), grouped(args.at), size(bytes.len() as u64))?;
    match game {
        Some(GameStart { game: Some(game), .. }) if from > 0 => {
            writeln!(out, "It begins with the state before game {game} began, at {}.", clock(state.time()))?;
        }
        Some(GameStart { game: Some(game), .. }) => {
            writeln!(out, "Game {game} is the first, so it begins with the match.")?;
        }
        Some(GameStart { game: None, .. }) if from == 0 => writeln!(out, "No game was played before that.")?,
        Some(GameStart { game: None, .. }) => {
            writeln!(out, "No game is played there, so it begins after the previous one, at {}.", clock(state.time()))?;
        }
        None => {}
    }
    match &whole.result {
        ReplayResult::Same { digest } => {
            writeln!(out, "Its replay ends with the same digest as the match, {digest:016x}.")?;
        }
        ReplayResult::Diverges(divergence) => {
            writeln!(out, "Like the whole journal, this one is not reproduced: {divergence}.")?;
        }
        ReplayResult::Panics { arrival, words } => {
            writeln!(out, "As in the match, arrival {arrival} makes the engine panic: {words}.")?;
        }
    }
    writeln!(
        out,
        "It contains the addresses and names of the players, and the values that determine the cards or places. \
         Share it only with people who may know them."
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn reached<E: Game>(path: &Path, mut reader: Reader<Source>, start: Replay<E>, at: u64) -> anyhow::Result<Verdict> {
    let name = file_name(path);
    let first = start.arrivals() + 1;
    if at < first {
        bail!("{name}: it begins with arrival {first}, so --at cannot be {at}");
    }
    let verdict = replayed(&mut reader, start, at).map_err(|error| damaged(path, error))?;
    let ended = verdict.arrivals;
    match &verdict.result {
        ReplayResult::Same { .. } if ended < at => {
            bail!("{name}: it has {}; give one of them with --at", count(ended, "arrival"))
        }
        ReplayResult::Diverges(Divergence { arrival, .. }) | ReplayResult::Panics { arrival, .. } if *arrival < at => {
            bail!("{name}: its replay already fails at arrival {arrival}; cut it there with --at {arrival}")
        }
        _ => Ok(verdict),
    }
}

// The game that includes an arrival, if any, and the number of arrivals before that game or pause.
#[derive(Debug, Clone, Copy)]
struct GameStart {
    game: Option<u32>,
    before: u64,
}

fn game_of<E: Game>(
    path: &Path,
    mut reader: Reader<Source>,
    mut replay: Replay<E>,
    at: u64,
) -> anyhow::Result<GameStart> {
    let mut out = Outbox::new();
    let mut names = Names::of(&replay);
    // The number of arrivals before each running game, and up to the end of the last game.
    let mut games = BTreeMap::<u32, u64>::new();
    let mut pause = replay.arrivals();
    while replay.arrivals() + 1 < at
        && let Some(entry) = reader.next().map_err(|error| damaged(path, error))?
    {
        let Entry::Arrival(arrival) = entry else { continue };
        let before = replay.arrivals();
        replay.apply(&arrival, &mut out)?;
        for output in out.drain() {
            let Output::Event(event) = output else { continue };
            match &event {
                GameEvent::Started { game, .. } => drop(games.insert(*game, before)),
                GameEvent::Ended { game, .. } => {
                    games.remove(game);
                    pause = before + 1;
                }
                _ => {}
            }
            names.apply(&event, |_| None);
        }
    }
    let next = loop {
        match reader.next().map_err(|error| damaged(path, error))? {
            Some(Entry::Arrival(arrival)) => break Some(arrival),
            Some(Entry::Note(_)) => {}
            None => break None,
        }
    };
    // Without tables, there is one game at a time.
    let seat = next.and_then(|arrival| names.identity(arrival.input.peer()?).cloned());
    let table = seat.and_then(|identity| identity.seat.strip_prefix("table ")?.split_once(',')?.0.parse::<u32>().ok());
    let found = table.and_then(|table| games.get_key_value(&table)).or_else(|| games.iter().min_by_key(|game| game.1));
    Ok(match found {
        Some((&game, &before)) => GameStart { game: Some(game), before },
        None => GameStart { game: None, before: pause },
    })
}

// The state after this number of arrivals, and the facts at that time.
fn replay_to<E: Game>(
    path: &Path,
    mut reader: Reader<Source>,
    mut replay: Replay<E>,
    arrivals: u64,
) -> anyhow::Result<(Replay<E>, Facts)> {
    let mut out = Outbox::new();
    let mut facts = reader.head().facts();
    while replay.arrivals() < arrivals
        && let Some(entry) = reader.next().map_err(|error| damaged(path, error))?
    {
        match entry {
            Entry::Arrival(arrival) => {
                replay.apply(&arrival, &mut out)?;
                drop(out.drain());
            }
            Entry::Note(Note::Fact(fact)) => fact.apply_to(&mut facts),
            Entry::Note(_) => {}
        }
    }
    Ok((replay, facts))
}

fn excerpt(
    path: &Path,
    mut reader: Reader<Source>,
    head: &Head,
    from: u64,
    (at, verdict): (u64, &Verdict),
) -> anyhow::Result<Vec<u8>> {
    let mut excerpt = Excerpt::new(head);
    let first = reader.head().base.as_ref().map_or(0, |base| base.mark.arrivals);
    let mut arrivals = first;
    while let Some(entry) = reader.next().map_err(|error| damaged(path, error))? {
        let is_arrival = matches!(entry, Entry::Arrival(_));
        if is_arrival && arrivals == at {
            break;
        }
        arrivals += u64::from(is_arrival);
        if arrivals > from || arrivals == from && !is_arrival {
            excerpt.push(&entry);
        }
    }
    match verdict.result {
        ReplayResult::Same { digest } => {
            let mark = Mark { time: verdict.time, arrivals: at, digest };
            excerpt.push(&Entry::Note(Note::Mark(mark)));
        }
        ReplayResult::Panics { .. } => excerpt.push(&Entry::Note(Note::Broken)),
        ReplayResult::Diverges(_) => {}
    }
    Ok(excerpt.into_bytes())
}

fn check<E: Game>(bytes: &[u8], head: &Head, whole: &Verdict) -> anyhow::Result<()> {
    let mut reader = Reader::new(bytes, bytes.len() as u64)?;
    if reader.head() != head {
        bail!("it is read as another match");
    }
    let replay = panics::caught(|| Replay::<E>::start(head)).map_err(|words| anyhow::anyhow!("{words}"))??;
    let verdict = replayed(&mut reader, replay, u64::MAX)?;
    if verdict.result != whole.result {
        bail!("its replay ends differently: {}", plain(&format!("{:?}", verdict.result)));
    }
    Ok(())
}
