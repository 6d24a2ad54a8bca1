//! Finds the results of matches in a journal, by replaying it.

use std::{collections::HashMap, path::PathBuf};

use anyhow::Context as _;
use journal::{Arrival, Entry, Head, Note, Reader, Replay};
use netcore::{GameEvent, Outbox, Output, Recorded};
use store::{Kind, NewMatch};

use super::tracker::{self, Moment, News, Tracker};
use crate::engines::with_engine;

/// A journal, and what is known besides.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) room: String,
    pub(crate) title: String,
    /// The kinds of seats, by their addresses and names.
    pub(crate) seats: HashMap<(String, String), Kind>,
}

impl Source {
    /// Passes each match that is over on to `found`, until that says no. Returns the length that was looked through.
    ///
    /// # Errors
    /// When the journal cannot be read or replayed to its end. What was found before counts.
    pub(crate) fn read(self, found: impl FnMut(NewMatch) -> bool) -> anyhow::Result<u64> {
        let (source, length) = journal::open(&self.path)?;
        let reader = match Reader::new(source, length) {
            // Nothing had arrived yet.
            Err(journal::ReadError::Empty) => return Ok(length),
            reader => reader?,
        };
        let game = reader.head().game.clone();
        with_engine!(&game, E => self.replay::<E, _>(reader, found), else anyhow::bail!("it is of a game that this hub does not know"))?;
        Ok(length)
    }

    fn replay<E: Recorded, R: std::io::Read>(
        self,
        mut reader: Reader<R>,
        mut found: impl FnMut(NewMatch) -> bool,
    ) -> anyhow::Result<()> {
        let head: Head = reader.head().clone();
        let mut replay: Replay<E> = Replay::start(&head)?;
        let file = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let title = if self.title.is_empty() { head.game.clone() } else { self.title };
        let source = tracker::Source { id: head.id, file, game: head.game.clone(), room: self.room, title };
        let mut tracker = Tracker::new(source);
        // Milliseconds since the Unix epoch at time zero of the room. Its time stands still while the hub is away.
        let mut zero = head.begun.saturating_mul(1_000);
        let mut out = Outbox::new();
        // One behind, since an arrival that made the server panic is followed by a note that says so.
        let mut waiting: Option<Arrival> = None;
        loop {
            let entry = reader.next()?;
            if matches!(entry, Some(Entry::Note(Note::Broken))) {
                return Ok(());
            }
            if let Some(arrival) = waiting.take() {
                replay.apply(&arrival, &mut out).context("it cannot be replayed")?;
                for output in out.drain() {
                    let Output::Event(event) = output else { continue };
                    let millis = replay.time().as_nanos() / 1_000_000;
                    let now = Moment { time: replay.time(), unix: zero.saturating_add(millis) };
                    let kind = |name: &str| {
                        let seat = (address(&replay, &event).to_owned(), name.to_owned());
                        self.seats.get(&seat).copied().unwrap_or_default()
                    };
                    if let Some(News::Over(new)) = tracker.event(now, &event, kind)
                        && !found(*new)
                    {
                        return Ok(());
                    }
                }
            }
            match entry {
                None => return Ok(()),
                Some(Entry::Arrival(arrival)) => waiting = Some(arrival),
                Some(Entry::Note(Note::Resumed { at })) => {
                    zero = at.saturating_mul(1_000).saturating_sub(replay.time().as_nanos() / 1_000_000);
                }
                Some(Entry::Note(Note::Mark(mark))) => replay.check(&mark).context("it cannot be replayed")?,
                Some(Entry::Note(_)) => {}
            }
        }
    }
}

// The address of the peer that an event is about.
fn address<'a, E: Recorded>(replay: &'a Replay<E>, event: &GameEvent) -> &'a str {
    match event {
        GameEvent::Joined { peer, .. } => replay.peer(*peer).map_or("", |peer| &peer.address),
        _ => "",
    }
}
