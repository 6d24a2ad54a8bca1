//! All that a watcher of a room has to be told who comes now.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;

use super::Item;
use crate::games::Game;

/// Bytes of a backlog; each message counts [`OVERHEAD`] more. Beyond them the room is asked to tell everything anew.
pub(crate) const MAX_BACKLOG: usize = 2 << 20;
const OVERHEAD: usize = 64;
/// Messages at the end among which one is looked for that the next one makes needless.
const LOOK_BACK: usize = 32;

/// What was told to a watcher from the beginning, without what later messages make needless.
#[derive(Debug)]
pub(crate) struct Backlog {
    game: Game,
    news: Option<Bytes>,
    frames: VecDeque<Bytes>,
    bytes: usize,
    // All of it, until something more is told.
    all: Option<Arc<[Item]>>,
}

impl Backlog {
    pub(crate) const fn new(game: Game) -> Self {
        Self { game, news: None, frames: VecDeque::new(), bytes: 0, all: None }
    }

    /// Nothing was told yet.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.game);
    }

    /// Takes in what is told.
    pub(crate) fn take(&mut self, item: &Item) {
        match item {
            Item::Frame(frame) => {
                let recent = self.frames.len().saturating_sub(LOOK_BACK)..self.frames.len();
                let needless = recent.rev().find(|&at| self.game.supersedes(&self.frames[at], frame));
                if let Some(before) = needless.and_then(|at| self.frames.remove(at)) {
                    self.bytes -= before.len() + OVERHEAD;
                }
                self.bytes += frame.len() + OVERHEAD;
                self.frames.push_back(frame.clone());
            }
            Item::News(news) => self.news = Some(news.clone()),
            // Who comes later is not told.
            Item::Word(_) | Item::End(_) => return,
        }
        self.all = None;
    }

    /// Whether the room has to tell everything anew.
    pub(crate) const fn is_full(&self) -> bool {
        self.bytes > MAX_BACKLOG
    }

    /// All of it, in the order in which it is to be told.
    pub(crate) fn all(&mut self) -> Arc<[Item]> {
        let (news, frames) = (&self.news, &self.frames);
        let all = || news.iter().cloned().map(Item::News).chain(frames.iter().cloned().map(Item::Frame)).collect();
        Arc::clone(self.all.get_or_insert_with(all))
    }
}
