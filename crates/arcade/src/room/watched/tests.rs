//! Nuggets as a player and somebody who looks on are shown it, at a time that goes on.

use bytes::BytesMut;
use journal_core::{Head, MAX_SIZE, SyncPolicy, Writing};
use netcore::{Hosted, Leave, Link};
use testkit::TempDir;

use super::*;
use crate::{
    games::Game,
    room::{counters::Counters, fuse::Fuse, register::Description},
};

/// Two halls that do not see each other.
const HALLS: &[u8] = b"+---------+    +---------+\n|.........|    |.........|\n|.........######.........|\n|.........|    |.........|\n+---------+    +---------+\n";
const DELAY: Duration = Duration::from_secs(30);
const ANN: PeerId = PeerId(1);
const EVE: PeerId = PeerId(2);

struct Stand {
    room: Watched<nuggets::Server>,
    now: Time,
    // What each was sent since this was last asked.
    told: BTreeMap<PeerId, Vec<String>>,
    info: watch::Receiver<Info>,
    _directory: TempDir,
}

impl Stand {
    fn new(delay: Duration, is_rated: bool) -> Self {
        Self::with_countdown(delay, is_rated, None)
    }

    fn with_countdown(delay: Duration, is_rated: bool, countdown: Option<Duration>) -> Self {
        let directory = TempDir::new();
        let (grid, _) = nuggets::Grid::parse(HALLS).unwrap();
        let config = nuggets::Config {
            rules: nuggets::Rules { gold: 250, min_piles: 20, max_piles: 30, ..Default::default() },
            rematch: true,
            countdown,
            seed: 3,
            ..nuggets::Config::default()
        };
        let engine = nuggets::Server::new(Arc::new(grid), config).unwrap();
        let status = netcore::Engine::status(&engine);
        let head = Head::new(&engine, "test", vec![], 9);
        let writing = Writing::start(SyncPolicy::Interval, MAX_SIZE).unwrap();
        let (_, (room, _, end)) = writing.create(directory.path(), Hosted::new(engine), head).unwrap();
        let (room, _) = Fuse::new(room, "nuggets", Counters::default());
        let mut usual = Info::usual(Game::Nuggets);
        usual.counts.rated = is_rated;
        let (sender, info) = watch::channel(usual);
        let sender = Arc::new(sender);
        let text = String::new;
        let description = Description { room: text(), title: text(), class: text(), casual: text() };
        let register = Arc::new(Register::new(end.facts(), &description, Default::default(), &[]));
        let stage = Stage { info: sender, register, delay };
        let room = Instrumented::new(room, Arc::clone(&stage.register), status, Counters::default());
        let room = Watched::new(room, stage, BTreeSet::new(), &[]);
        let mut stand = Self { room, now: Time::ZERO, told: BTreeMap::new(), info, _directory: directory };
        stand.connect(ANN, Role::Player);
        stand
    }

    fn take(&mut self, mut out: Outbox) {
        for output in out.drain() {
            if let Output::Send { to: To::Peer(peer), frame } = output {
                self.told.entry(peer).or_default().push(String::from_utf8_lossy(&frame).into_owned());
            }
        }
    }

    fn input(&mut self, input: Input<'_, &[u8]>) {
        let mut out = Outbox::new();
        self.room.input(self.now, input, &mut out);
        self.take(out);
    }

    fn connect(&mut self, peer: PeerId, role: Role) {
        let address = format!("10.0.0.{}:1", peer.0).into();
        self.input(Input::Connected { peer, role, link: Link::Message, address });
    }

    fn say(&mut self, peer: PeerId, text: &str) {
        let mut out = Outbox::new();
        self.room.receive(self.now, peer, &mut BytesMut::from(text), &mut out);
        self.take(out);
    }

    /// Lets time go on, with all that becomes due.
    fn wait(&mut self, time: Duration) {
        let end = self.now.plus(time);
        while let Some(due) = self.room.deadline().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.input(Input::Elapsed);
        }
        self.now = end;
    }

    /// What somebody was sent since this was last asked.
    fn told(&mut self, peer: PeerId) -> Vec<String> {
        self.told.remove(&peer).unwrap_or_default()
    }

    fn step(&mut self, key: char) {
        self.wait(Duration::from_millis(500));
        self.say(ANN, &format!("KEY {key}"));
    }

    // Walks through both halls, until all is found.
    fn find_all(&mut self) {
        // The first and the last row of a hall, and then the one in the middle, which leads through the passage.
        let hall = ['K', 'H', 'L', 'J', 'H', 'L', 'k'];
        for key in hall.into_iter().chain(['H', 'L']).chain(hall).chain(['H']).chain(hall) {
            if self.room.status().phase != Phase::Playing {
                return;
            }
            self.step(key);
        }
    }
}

fn displays(told: &[String]) -> Vec<&str> {
    told.iter().filter_map(|text| text.strip_prefix("DISPLAY\n")).collect()
}

#[test]
fn whoever_looks_on_sees_each_step_later_and_the_end_at_once() {
    let mut stand = Stand::new(DELAY, true);
    stand.connect(EVE, Role::Watcher);
    assert!(!displays(&stand.told(EVE)).is_empty(), "nobody plays yet");
    stand.say(ANN, "PLAY Ann");
    stand.step('H');
    stand.step('L');
    assert!(displays(&stand.told(ANN)).len() >= 3);
    stand.wait(DELAY.saturating_sub(Duration::from_millis(1_001)));
    assert_eq!(stand.told(EVE), [] as [&str; 0], "a second early");
    stand.wait(Duration::from_millis(1_001));
    let shown = stand.told(EVE).join("");
    assert!(shown.contains('A'), "{shown}");
    // The scores of pages too.
    stand.find_all();
    assert_eq!(stand.room.status().phase, Phase::Lobby, "all is found");
    assert!(stand.told(EVE).iter().any(|text| text.starts_with("QUIT")), "nothing is left to be told");
    assert!(stand.room.line.due().is_none());
}

#[test]
fn gold_that_no_player_has_seen_is_shown_to_nobody() {
    let mut stand = Stand::new(DELAY, true);
    stand.connect(EVE, Role::Watcher);
    let before = stand.told(EVE).join("");
    assert!(before.contains("DISPLAY") && !before.contains('*'), "nobody has seen anything: {before}");
    stand.say(ANN, "PLAY Ann");
    stand.step('H');
    let unseen: Vec<usize> = stand.room.room.engine().unwrap().unseen_gold().map(|(at, _)| at).collect();
    assert!(!unseen.is_empty(), "the other hall");
    stand.wait(2 * DELAY);
    let told = stand.told(EVE);
    let shown = displays(&told);
    assert!(shown.iter().any(|text| text.contains('*')), "what she sees: {shown:?}");
    for text in shown {
        assert!(unseen.iter().all(|&at| text.as_bytes()[at] != b'*'), "{text}");
    }
    // Also to whoever says so as native clients do.
    stand.connect(PeerId(3), Role::Player);
    stand.say(PeerId(3), "SPECTATE");
    stand.wait(2 * DELAY);
    let told = stand.told(PeerId(3));
    assert!(!displays(&told).is_empty());
    assert!(displays(&told).iter().all(|text| unseen.iter().all(|&at| text.as_bytes()[at] != b'*')), "{told:?}");
}

#[test]
fn whoever_comes_late_is_shown_how_it_was_and_pages_get_the_scores_later() {
    let mut stand = Stand::new(DELAY, true);
    stand.say(ANN, "PLAY Ann");
    stand.told(ANN);
    for key in ['H', 'K', 'L', 'j', 'H'] {
        stand.step(key);
    }
    let found = |stand: &Stand| stand.info.borrow().show.scores.get("A").copied().unwrap_or(0);
    assert_eq!(found(&stand), 0);
    stand.connect(EVE, Role::Watcher);
    let at_once = stand.told(EVE);
    assert_eq!(at_once.join("\0"), before_the_match(), "as it was before the match began");
    stand.wait(DELAY + Duration::from_secs(2));
    assert!(found(&stand) > 0);
    let later = stand.told(EVE);
    assert!(displays(&later).last().unwrap().contains('A'));
    // Now there is something to be shown at once.
    stand.connect(PeerId(3), Role::Watcher);
    assert!(stand.told(PeerId(3)).join("").contains('A'));
}

// What is known of a match before it has begun: the map and how much gold there is.
fn before_the_match() -> String {
    let map = String::from_utf8_lossy(HALLS);
    format!("GRID 5 26\0GOLD 0 0 250\0DISPLAY\n{map}")
}

#[test]
fn first_picture_of_a_rated_match_shows_neither_players_nor_gold() {
    let mut stand = Stand::with_countdown(DELAY, true, Some(Duration::from_secs(8)));
    let comes = |stand: &mut Stand, peer, says: Option<&str>| {
        stand.connect(PeerId(peer), if says.is_some() { Role::Player } else { Role::Watcher });
        if let Some(text) = says {
            stand.say(PeerId(peer), text);
        }
        assert_eq!(stand.told(PeerId(peer)).join("\0"), before_the_match(), "at {:?}", stand.now);
    };
    comes(&mut stand, 10, None);
    stand.say(ANN, "PLAY Ann");
    assert!(stand.told(ANN).join("").contains('*'), "she sees gold");
    // During the countdown, when the match begins, and after some moves.
    comes(&mut stand, 11, None);
    comes(&mut stand, 12, Some("SPECTATE"));
    stand.wait(Duration::from_secs(8));
    assert_eq!(stand.room.status().phase, Phase::Playing);
    comes(&mut stand, 13, None);
    stand.step('H');
    comes(&mut stand, 14, None);
    comes(&mut stand, 15, Some("SPECTATE"));
    // Those who fell behind receive the same.
    stand.input(Input::Refresh { peer: PeerId(13) });
    assert_eq!(stand.told(PeerId(13)).join("\0"), before_the_match());
    // All of them have waited for the same time.
    assert_eq!(stand.told(PeerId(10)), [] as [&str; 0]);
    stand.wait(DELAY);
    for peer in [10, 11, 13, 14, 15] {
        let told = stand.told(PeerId(peer));
        assert!(displays(&told).last().is_some_and(|text| text.contains('A')), "{peer}: {told:?}");
    }
}

#[test]
fn next_match_is_hidden_from_its_start() {
    let mut stand = Stand::with_countdown(DELAY, true, Some(Duration::from_secs(8)));
    stand.say(ANN, "PLAY Ann");
    stand.wait(Duration::from_secs(8));
    stand.find_all();
    assert_eq!(stand.room.status().phase, Phase::Lobby, "all is found");
    assert!(stand.info.borrow().show.scores.is_empty(), "those of the match before are gone");
    stand.connect(EVE, Role::Watcher);
    assert_eq!(stand.told(EVE).join("\0"), before_the_match());
    stand.connect(PeerId(3), Role::Player);
    stand.say(PeerId(3), "PLAY Bob");
    stand.connect(PeerId(4), Role::Watcher);
    assert_eq!(stand.told(PeerId(4)).join("\0"), before_the_match());
    assert_eq!(stand.told(EVE), [] as [&str; 0]);
}

#[test]
fn what_does_not_count_is_shown_at_once_and_whole() {
    for (delay, is_rated) in [(DELAY, false), (Duration::ZERO, true)] {
        let mut stand = Stand::new(delay, is_rated);
        stand.connect(EVE, Role::Watcher);
        assert_eq!(stand.told(EVE).join("").contains('*'), !is_rated);
        stand.say(ANN, "PLAY Ann");
        assert!(stand.told(EVE).join("").contains('A'));
    }
}

#[test]
fn a_full_line_begins_anew_and_the_end_of_a_room_is_told() {
    let mut stand = Stand::new(Duration::from_hours(1), true);
    stand.connect(EVE, Role::Watcher);
    stand.say(ANN, "PLAY Ann");
    stand.told(EVE);
    for number in 0..20_000_u32 {
        stand.wait(Duration::from_millis(20));
        stand.say(ANN, if number % 2 == 0 { "KEY H" } else { "KEY L" });
        stand.told(ANN);
    }
    assert!(stand.told(EVE).is_empty());
    stand.input(Input::Stop(Leave::Over));
    assert!(stand.told(EVE).iter().any(|text| text.starts_with("QUIT")));
}
