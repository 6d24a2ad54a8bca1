use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Context;
use cmdkit::file_name;
use journal_core::{Entry, SegmentState};
use netcore::{Input, Link, Time};

use crate::{
    args::ListArgs,
    files::open,
    format::{clock, date, grouped, name, plain, size},
    games::{Game, for_game},
};

/// Names that are shown, and that are remembered.
const SHOWN: usize = 4;
const REMEMBERED: usize = 1_000;

pub(crate) fn run(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    let found = journal_core::list(directory).with_context(|| {
        let hint = if directory.is_file() { "; `journal show` takes a single file" } else { "" };
        format!("cannot list {}{hint}", file_name(directory))
    })?;
    let mut out = io::stdout().lock();
    if found.is_empty() {
        writeln!(out, "{}: no journals; servers write them with --journal", file_name(directory))?;
    }
    for path in found {
        writeln!(out, "{}", line(&path))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Includes errors of damaged journals.
pub(crate) fn line(path: &Path) -> String {
    let name = name(path);
    match about(path) {
        Ok(about) => format!("{name}\n    {about}"),
        Err(error) => format!("{name}\n    {}", plain(&format!("{:#}", root(&error)))),
    }
}

// Omits the name of the file, which is printed anyway.
fn root(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = error.chain().map(ToString::to_string).collect();
    if parts.len() > 1 {
        parts.remove(0);
    }
    parts.join(": ")
}

fn about(path: &Path) -> anyhow::Result<String> {
    let mut opened = open(path)?;
    let head = opened.reader.head();
    let (game, begun) = (plain(&head.game), date(head.begun));
    let part = match (&head.base, opened.reader.segment()) {
        (None, _) => "",
        (Some(_), 1) => ", a part of a match",
        (Some(_), _) => ", without its beginning",
    };
    let asks: fn(&[u8]) -> Option<String> = for_game!(head, E => named::<E>, |_| None);
    let base = head.base.as_ref().map_or(Time::ZERO, |base| base.mark.time);
    let (mut arrivals, mut end) = (0, base);
    let (mut names, mut others) = (Vec::<String>::new(), 0);
    let damage = loop {
        match opened.reader.next() {
            Ok(Some(Entry::Arrival(arrival))) => {
                arrivals += 1;
                end = arrival.time;
                let Input::Message { message: bytes, .. } = &arrival.input else { continue };
                match asks(bytes) {
                    Some(name) if names.contains(&name) => {}
                    Some(name) if names.len() < REMEMBERED => names.push(name),
                    Some(_) => others += 1,
                    None => {}
                }
            }
            Ok(Some(Entry::Note(_))) => {}
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    let state = match (opened.reader.state(), opened.in_use) {
        (SegmentState::Open | SegmentState::Continued, true) => "open, being written",
        (SegmentState::Open | SegmentState::Continued, false) => "open",
        (SegmentState::Closed, _) => "closed",
        (SegmentState::Cut, _) => "cut",
    };
    let torn = if opened.reader.torn() > 0 { ", torn" } else { "" };
    let damage = damage.map_or_else(String::new, |damage| format!(", damaged: {damage}"));
    let length = clock(Time::ZERO.plus(end.since(base)));
    let size = size(opened.length);
    let arrivals = grouped(arrivals);
    let players = players(&names, others);
    Ok(format!("{game}{part}, {begun}, {length} and {arrivals} arrivals, {size}, {state}{torn}{damage}; {players}"))
}

fn players(names: &[String], others: usize) -> String {
    if names.is_empty() {
        return "no players".into();
    }
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| plain(name)).collect();
    let more = names.len().saturating_sub(SHOWN) + others;
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

// The name in a request to join, which is unambiguous on any link.
fn named<E: Game>(bytes: &[u8]) -> Option<String> {
    [Link::Message, Link::Stream].into_iter().find_map(|link| E::describe(link, bytes)).and_then(|message| message.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_players_are_named_and_the_others_counted() {
        let names = |count: usize| (0..count).map(|number| format!("p{number}")).collect::<Vec<_>>();
        assert_eq!(players(&names(0), 0), "no players");
        assert_eq!(players(&names(4), 0), "p0, p1, p2, p3");
        assert_eq!(players(&names(6), 1_000), "p0, p1, p2, p3 and 1,002 more");
    }
}
