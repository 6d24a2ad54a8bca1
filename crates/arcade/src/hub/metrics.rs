//! Prometheus metrics at `/metrics`. Labels have few values, never the name of a player or a room.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::{Family, MetricConstructor},
        gauge::Gauge,
        histogram::Histogram,
        info::Info,
    },
    registry::{Registry, Unit},
};

use super::{cluster::Cluster, ladders::board::Ladders, resources::Resources, rooms::Rooms};
use crate::{games::Game, results::Health, room::hub_room::Counters};

/// Upper bounds in seconds.
const LATENESS: [f64; 11] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 10.0];
/// Upper bounds in seconds.
const ANSWERS: [f64; 9] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

type Labels<const COUNT: usize> = [(&'static str, &'static str); COUNT];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRequest {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone)]
struct Bounds(&'static [f64]);

impl MetricConstructor<Histogram> for Bounds {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// Type, constructor (if not the default), name, unit (if any), and help text.
macro_rules! metrics {
    ($($field:ident: $type:ty $(= $metric:expr)?, $name:literal $(in $unit:ident)?, $help:literal;)*) => {
        #[derive(Debug)]
        pub(crate) struct Metrics {
            // Scrapes set some metrics, so they are serialized.
            registry: Mutex<Registry>,
            $($field: $type,)*
        }

        impl Metrics {
            fn register(mut registry: Registry) -> Self {
                $(
                    let $field: $type = metrics!(@new $($metric)?);
                    metrics!(@register registry, $field, $name $(in $unit)?, $help);
                )*
                Self { registry: Mutex::new(registry), $($field,)* }
            }
        }
    };
    (@new) => { Default::default() };
    (@new $metric:expr) => { $metric };
    (@register $registry:ident, $field:ident, $name:literal, $help:literal) => {
        $registry.register($name, $help, $field.clone())
    };
    (@register $registry:ident, $field:ident, $name:literal in $unit:ident, $help:literal) => {
        $registry.register_with_unit($name, $help, Unit::$unit, $field.clone())
    };
}

metrics! {
    rooms: Family<Labels<2>, Gauge>, "arcade_rooms", "Open rooms, by game and phase";
    players: Family<Labels<2>, Gauge>, "arcade_players", "Players with a seat, including bots";
    watchers: Family<Labels<1>, Gauge>, "arcade_watchers", "Connections without a seat";
    sockets: Gauge, "arcade_sockets", "Open browser sockets";
    received: Family<Labels<1>, Counter>, "arcade_messages_received",
        "Messages received by rooms, from browsers and native clients";
    malformed: Family<Labels<1>, Counter>, "arcade_messages_malformed", "Malformed messages received";
    sent: Family<Labels<1>, Counter>, "arcade_messages_sent", "Messages sent to browsers";
    lateness: Family<Labels<1>, Histogram, Bounds> = Family::new_with_constructor(Bounds(&LATENESS)),
        "arcade_deadline_lateness" in Seconds, "Delay between a deadline, such as that of a turn, and its handling";
    broken: Family<Labels<1>, Counter>, "arcade_rooms_broken", "Rooms restarted after a failure of their engine";
    journal_bytes: Gauge, "arcade_journals" in Bytes, "Size of the journals of open rooms";
    journals_cut: Gauge, "arcade_journals_cut", "Open rooms whose journal was cut";
    waiting: Gauge, "arcade_results_waiting", "Names, and journals with results, that wait for the database";
    stored: Counter, "arcade_results_stored", "Results stored";
    away: Gauge, "arcade_results_away", "1 while the results database does not respond";
    requests: Family<OfRequest, Counter>, "arcade_http_requests", "HTTP responses, by method, route and status";
    answers: Histogram = Histogram::new(ANSWERS), "arcade_http_answer" in Seconds, "Time to respond to a request";
    refused: Family<Labels<1>, Counter>, "arcade_refused",
        "Rejections by kind, because an address exceeded its share or the hub its limit";
    nodes: Gauge, "arcade_fleet_nodes", "Hubs of this arcade, if it has several";
    far_rooms: Gauge, "arcade_fleet_rooms", "Rooms of other hubs";
    relayed: Gauge, "arcade_fleet_relayed", "Sockets relayed to other hubs";
    published: Gauge, "arcade_fleet_published", "Rooms of this hub that are published for spectators at other hubs";
    events: Counter, "arcade_fleet_events", "Events published for rooms; one event batches many messages, \
        regardless of the number of spectators";
    followed: Gauge, "arcade_fleet_followed", "Rooms of other hubs that this hub follows for spectators";
    fed: Gauge, "arcade_fleet_fed", "Sockets of spectators that receive the published events of rooms of other hubs";
    lag: Gauge<f64, AtomicU64>, "arcade_fleet_directory_lag" in Seconds, "Round-trip time of a change to the \
        directory of all hubs";
    unheard: Gauge, "arcade_fleet_away", "1 while the directory of all hubs does not respond";
    silent: Gauge, "arcade_fleet_silent", "1 while the rooms of this hub send no output, since another hub may have \
        taken them over";
    copy_lag: Gauge<f64, AtomicU64>, "arcade_fleet_journal_lag" in Seconds, "Age of the oldest change of a room \
        that is not replicated yet";
    copy_bytes: Gauge, "arcade_fleet_journal_waiting" in Bytes, "Data of rooms that is not replicated yet";
    moved: Counter, "arcade_fleet_rooms_moved", "Rooms of other hubs that resumed at this hub";
    handed: Counter, "arcade_fleet_rooms_handed_over", "Rooms that this hub handed over and that resumed at other hubs";
    fenced: Counter, "arcade_fleet_rooms_fenced", "Rooms that ended at this hub, since another hub had taken them over";
    skipped: Counter, "arcade_fleet_skipped", "Directory values and room copies that this version cannot decode";
    dead_letters: Counter, "arcade_fleet_results_dead", "Results that this hub moved to the dead letters, since no \
        hub could store them";
    copies: Gauge, "arcade_fleet_copies" in Bytes, "Size of the copies of the rooms of this hub in the stream of \
        copies";
    without_copy: Gauge, "arcade_fleet_rooms_without_copy", "Rooms with incomplete copies, since they or their \
        hosts have used their share of the stream of copies";
    ladder_waiting: Family<Labels<1>, Gauge>, "arcade_ladder_waiting", "Programs that wait for a ladder match";
    ladder_playing: Family<Labels<1>, Gauge>, "arcade_ladder_playing", "Running ladder matches";
    ladder_matches: Family<Labels<1>, Counter>, "arcade_ladder_matches", "Ladder matches with a result";
    ladder_lost: Family<Labels<2>, Counter>, "arcade_ladder_lost",
        "Ladder matches that a program forfeited by a timeout or by leaving early";
    memory: Gauge, "process_resident_memory" in Bytes, "Resident memory";
    processor: Counter<f64, AtomicU64>, "process_cpu" in Seconds, "CPU time";
    files: Gauge, "process_open_fds", "Open files and sockets";
}

impl Metrics {
    pub(crate) fn new() -> Arc<Self> {
        let mut registry = Registry::default();
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("arcade_build", "The version of the hub", version);
        let metrics = Self::register(registry);
        // Dashboards find all metrics from the start, with zeros.
        for game in Game::ALL {
            drop(metrics.game(game.name()));
        }
        Arc::new(metrics)
    }

    pub(crate) fn game(&self, game: &'static str) -> Counters {
        let of = [("game", game)];
        Counters {
            received: self.received.get_or_create_owned(&of),
            malformed: self.malformed.get_or_create_owned(&of),
            sent: self.sent.get_or_create_owned(&of),
            lateness: self.lateness.get_or_create_owned(&of),
            broken: self.broken.get_or_create_owned(&of),
        }
    }

    /// All metrics in the OpenMetrics format.
    pub(crate) fn scrape(
        &self,
        rooms: &Rooms,
        results: &Health,
        resources: &Resources,
        cluster: Option<&Cluster>,
        ladders: Option<&Ladders>,
    ) -> String {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        self.count(rooms);
        self.count_ladders(ladders);
        if let Some(cluster) = cluster {
            let fleet = &cluster.fleet;
            self.nodes.set(i64::try_from(fleet.nodes().len()).unwrap_or(i64::MAX));
            self.far_rooms.set(i64::try_from(cluster.rooms().len()).unwrap_or(i64::MAX));
            self.relayed.set(i64::try_from(fleet.relayed()).unwrap_or(i64::MAX));
            let feeds = fleet.feeds.status();
            self.published.set(i64::try_from(feeds.published).unwrap_or(i64::MAX));
            self.events.inc_by(feeds.stored.saturating_sub(self.events.get()));
            self.followed.set(i64::try_from(feeds.followed).unwrap_or(i64::MAX));
            self.fed.set(i64::try_from(feeds.fed).unwrap_or(i64::MAX));
            self.lag.set(fleet.lag().as_secs_f64());
            self.unheard.set((!fleet.is_present()).into());
            self.silent.set((!fleet.copies.may_publish()).into());
            let copies = fleet.copies.status();
            self.copy_lag.set(copies.lag.as_secs_f64());
            self.copy_bytes.set(i64::try_from(copies.bytes).unwrap_or(i64::MAX));
            self.moved.inc_by(copies.moved.saturating_sub(self.moved.get()));
            self.handed.inc_by(copies.handed.saturating_sub(self.handed.get()));
            self.fenced.inc_by(copies.fenced.saturating_sub(self.fenced.get()));
            self.copies.set(i64::try_from(copies.stored).unwrap_or(i64::MAX));
            self.without_copy.set(i64::try_from(copies.short).unwrap_or(i64::MAX));
            self.dead_letters.inc_by(fleet.dead_letters().saturating_sub(self.dead_letters.get()));
            self.skipped.inc_by(fleet.skipped().saturating_sub(self.skipped.get()));
        }
        self.waiting.set(i64::try_from(results.waiting).unwrap_or(i64::MAX));
        self.stored.inc_by(results.stored.saturating_sub(self.stored.get()));
        self.away.set(results.error.is_some().into());
        self.sockets.set(i64::try_from(resources.sockets()).unwrap_or(i64::MAX));
        for (what, count) in resources.refusals.all() {
            let counter = self.refused.get_or_create_owned(&[("what", what)]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
        let (memory, processor, files) = process::now();
        self.memory.set(memory);
        self.files.set(files);
        self.processor.inc_by((processor - self.processor.get()).max(0.0));
        let mut text = String::new();
        let _ = encode(&mut text, &registry);
        text
    }

    pub(crate) fn answered(&self, method: &'static str, route: String, status: u16, took: Duration) {
        self.answers.observe(took.as_secs_f64());
        self.requests.get_or_create(&OfRequest { method, route, status }).inc();
    }

    pub(crate) fn counters(&self) -> HashMap<&'static str, Counters> {
        Game::ALL.map(|game| (game.name(), self.game(game.name()))).into()
    }

    fn count_ladders(&self, ladders: Option<&Ladders>) {
        for game in Game::ALL {
            let of = [("game", game.name())];
            let board = ladders.and_then(|ladders| ladders.get(game));
            let (waiting, playing, played, lost) = board.map_or_else(Default::default, |board| {
                let view = board.view();
                (view.waiting(), view.playing(), view.played(), view.forfeits())
            });
            self.ladder_waiting.get_or_create(&of).set(i64::try_from(waiting).unwrap_or(i64::MAX));
            self.ladder_playing.get_or_create(&of).set(i64::try_from(playing).unwrap_or(i64::MAX));
            let matches = self.ladder_matches.get_or_create_owned(&of);
            matches.inc_by(played.saturating_sub(matches.get()));
            for (why, count) in [("gone", lost.gone), ("silent", lost.silent)] {
                let counter = self.ladder_lost.get_or_create_owned(&[("game", game.name()), ("why", why)]);
                counter.inc_by(count.saturating_sub(counter.get()));
            }
        }
    }

    fn count(&self, rooms: &Rooms) {
        for game in Game::ALL {
            let game = game.name();
            for phase in ["lobby", "playing", "over"] {
                self.rooms.get_or_create(&[("game", game), ("phase", phase)]).set(0);
            }
            for kind in ["person", "bot"] {
                self.players.get_or_create(&[("game", game), ("kind", kind)]).set(0);
            }
            self.watchers.get_or_create(&[("game", game)]).set(0);
        }
        let (mut bytes, mut cut) = (0, 0);
        for room in rooms.all() {
            let info = room.info.borrow();
            let game = info.game.name();
            self.rooms.get_or_create(&[("game", game), ("phase", info.phase)]).inc();
            for player in info.players.iter().filter(|player| !player.seat.is_empty()) {
                let kind = if player.bot { "bot" } else { "person" };
                self.players.get_or_create(&[("game", game), ("kind", kind)]).inc();
            }
            let watchers = i64::try_from(info.watchers).unwrap_or(i64::MAX);
            self.watchers.get_or_create(&[("game", game)]).inc_by(watchers);
            bytes += room.journal.length();
            cut += i64::from(!room.journal.is_open());
        }
        self.journal_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
        self.journals_cut.set(cut);
    }
}

mod process {
    /// Memory in bytes, processor time in seconds, and open files; 0 if unknown.
    #[cfg(target_os = "linux")]
    pub(super) fn now() -> (i64, f64, i64) {
        use std::fs;

        let pages =
            fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<i64>().ok());
        let page = i64::try_from(rustix::param::page_size()).unwrap_or(4_096);
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        #[expect(clippy::cast_precision_loss, reason = "seconds, with more digits than anybody looks at")]
        let processor = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
        let files = fs::read_dir("/proc/self/fd").map_or(0, |files| i64::try_from(files.count()).unwrap_or(i64::MAX));
        (pages.unwrap_or(0).saturating_mul(page), processor, files)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn now() -> (i64, f64, i64) {
        (0, 0.0, 0)
    }
}

/// Converts OpenMetrics to the classic text format.
pub(crate) fn classic(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        if let Some(of_family) = line.strip_prefix("# HELP ") {
            help = of_family;
        } else if let Some((family, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            // In this format a family has the name of its samples.
            let (ending, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                same => ("", same),
            };
            let help = help.strip_prefix(family).unwrap_or_default();
            let _ = write!(text, "# HELP {family}{ending}{help}\n# TYPE {family}{ending} {kind}\n");
        } else if !line.starts_with('#') {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
