//! Opens a room, with a new journal or from the end of its last one, and runs it.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use journal_core::{Copying, Facts, Head, JournalEnd, Parts, Resumable, Writing};
use netcore::{EngineRoom, Leave, Link, Phase, Recorded, Status, Time};
use netshell::{Clock, ConnectionBudget, Host, Precision, Streams, serve};
use servekit::Sockets;
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    time::sleep,
};
use tracing::{info, warn};

use super::{
    Room, RoomOutcome,
    admission::Hints,
    bans::{Bans, Guard, Requests},
    bots::{Bots, reopen},
    ending::{EndRequest, Stopped},
    file::{RoomFile, class_directory},
    hub_room::{Broken, Counters, HubRoom, PreviousRun, Setting},
    info::{Info, News, Site},
    ledger::Ledger,
    log::Log,
    observer::{ClassResult, Presence, Reports, RoomObserver},
    pseudonyms::Keys,
    register::{Description, Register},
    roster::{Alias, EndNotice, Roster},
    transport::WebSockets,
};
use crate::{
    games::{Counts, GameKind, Options, PageState, with_kind, with_options},
    proxied::{ProxiedListener, Proxies},
};

/// How long a room whose engine has panicked keeps its port before it restarts. A room that fails immediately therefore
/// does not fill the disk or the log.
const BROKEN_PAUSE: Duration = Duration::from_secs(1);
/// How long the replies to a turn are batched. Players do not notice it: only the end of the next turn depends on them.
const GATHERING: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct RoomContext {
    pub(crate) journals: PathBuf,
    pub(crate) writing: Writing,
    /// Shared by native clients of all rooms and pages.
    pub(crate) connections: ConnectionBudget,
    pub(crate) bans: Arc<Bans>,
    pub(crate) ledger: Arc<Ledger>,
    /// Of rooms of classes, whose results the ledger does not get.
    pub(crate) class_results: mpsc::Sender<ClassResult>,
    pub(crate) hints: Arc<Hints>,
    /// How long a seat is retained after its page has lost the connection.
    pub(crate) keep_seats: Duration,
    pub(crate) watch_delay: Duration,
    /// Keyed by the names of games.
    pub(crate) counters: HashMap<&'static str, Counters>,
    /// `None` if there is only one hub.
    pub(crate) site: Option<Site>,
    pub(crate) proxies: Proxies,
    pub(crate) log: Arc<Log>,
}

impl RoomContext {
    /// Journal names of hubs that share a database have different prefixes.
    pub(crate) fn front(&self, game: &str) -> String {
        self.site.as_ref().map_or_else(|| game.to_owned(), |site| format!("{game}-{}", site.node))
    }

    fn counters_of(&self, game: &str) -> Counters {
        self.counters.get(game).cloned().unwrap_or_default()
    }
}

type MakeHost = Box<dyn FnOnce(Setting, Option<&PreviousRun>) -> Host + Send>;

/// A host without transports, and its journal.
struct Begun {
    host: MakeHost,
    journal: PathBuf,
    id: u64,
    end: JournalEnd,
    status: Status,
    before: Option<PreviousRun>,
}

// Without `journal`, or if it cannot be resumed, the room starts a new one with these facts.
fn begin(
    options: &Options,
    (directory, journal): (&Path, Option<&Path>),
    (place, writing): (&RoomContext, &Writing),
    (listen, facts): (&[SocketAddr], &Facts),
) -> anyhow::Result<Begun> {
    if let Some(path) = journal {
        let resumed = with_kind!(options.game(), K => resume::<<K as GameKind>::Engine>(path, writing));
        match resumed {
            Ok(begun) => return Ok(begun),
            Err(error) => warn!("cannot resume '{}', so its room restarts: {error:#}", path.display()),
        }
    }
    #[cfg(test)]
    if let Options::Nuggets(kind) = options {
        return new(super::fixtures::Fragile(kind.engine()?), directory, (place, writing), (listen, facts));
    }
    with_options!(options, kind => new(kind.engine()?, directory, (place, writing), (listen, facts)))
}

fn new<E: Recorded + PageState + Send + 'static>(
    engine: E,
    directory: &Path,
    (place, writing): (&RoomContext, &Writing),
    (listen, facts): (&[SocketAddr], &Facts),
) -> anyhow::Result<Begun> {
    let status = engine.status();
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let head = Head::new(&engine, env!("CARGO_PKG_VERSION"), listen.to_vec(), begun).with_facts(facts);
    let id = head.id;
    let created = writing.create_as(directory, &place.front(E::GAME), EngineRoom::new(engine), head);
    let (journal, (room, hold, end)): (_, Parts<E>) =
        created.with_context(|| format!("cannot create a journal in '{}'", directory.display()))?;
    let host =
        Box::new(|setting, _: Option<&PreviousRun>| Host::new(HubRoom::new(room, setting, None)).with_hold(hold));
    Ok(Begun { host, journal, id, end, status, before: None })
}

fn resume<E: Recorded + PageState + Send + 'static>(path: &Path, writing: &Writing) -> anyhow::Result<Begun> {
    let resumable = Resumable::<E>::open(&*writing.disk, path)?;
    anyhow::ensure!(resumable.room().engine().is_current(), "this version begins such matches in another way");
    let (journal, id) = (resumable.journal.clone(), resumable.head.id);
    let before = PreviousRun {
        at: resumable.time,
        peers: resumable.returning(),
        occupants: resumable.room().engine().roster(),
        wires: BTreeMap::new(),
        farewells: resumable.last_words(),
    };
    let (status, next) = (resumable.room().engine().status(), resumable.next_peer);
    let (room, hold, end) = resumable.resume(writing).context("it cannot be written")?;
    let host = Box::new(move |setting, before: Option<&PreviousRun>| {
        Host::new(HubRoom::new(room, setting, before)).with_hold(hold).with_first_peer(next)
    });
    Ok(Begun { host, journal, id, end, status, before: Some(before) })
}

/// `held` is dropped when the room has ended. The returned future runs the room and returns its journal.
///
/// Fails if the options contradict each other, or the journal cannot be opened.
#[expect(clippy::too_many_lines, reason = "a sequence of steps that share their results")]
pub(crate) fn open(
    mut file: RoomFile,
    (place, copy): (&RoomContext, Option<Arc<dyn Copying>>),
    keys: Keys,
    sockets: Sockets,
    port: u16,
    held: impl Send + 'static,
) -> anyhow::Result<(Arc<Room>, impl Future<Output = JournalEnd> + Send + 'static)> {
    let (game, options) = (file.options.game(), file.options.clone());
    let listen = sockets.addresses()?;
    let address = reachable(&listen, port);
    let writing = Writing { copy, ..place.writing.clone() };
    // The sockets are opened before anything is sent to the bots.
    let reopened = reopen(&mut file.bots, game, address);
    let journal = file.journal.as_ref().map(|name| place.journals.join(name));
    let journal_before = journal.is_some();
    let class = file.access.class().map(str::to_owned);
    let challenge =
        file.access.challenge().map(|challenge| (challenge.day, keys.challenge(game.name(), challenge.day)));
    let Keys { mask, hosts, days } = keys;
    let counts = match &class {
        _ if file.ladder => Counts::of_the_ladder(),
        Some(_) => Counts::of_a_class(&options),
        None if challenge.is_some() => Counts::of_a_challenge(),
        None => Counts::of(&options),
    };
    let directory = match &class {
        Some(code) => place.journals.join(class_directory(code)),
        None => place.journals.clone(),
    };
    let description = Description {
        room: file.id.clone(),
        title: options.title(),
        class: counts.class.clone(),
        casual: counts.casual.unwrap_or_default().to_owned(),
        day: challenge.map(|(day, _)| day),
    };
    let keyed = match challenge {
        Some((_, seed)) => options.clone().seeded(seed),
        None => options.clone().keyed(days),
    };
    let Begun { host, journal, id, end, status, mut before } =
        begin(&keyed, (&directory, journal.as_deref()), (place, &writing), (&listen, &description.facts()))?;
    if before.is_none() {
        file.begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    }
    let journal_name = journal.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let journal_name = file.access.journal(&journal_name);
    file.journal = Some(journal_name.clone());
    file.port = port;
    let roster = Arc::new(Roster::new(mask, hosts));
    if class.is_some() {
        roster.set_members_only();
    }
    if let Some((day, _)) = challenge {
        // Bots join after the person. A journal that cannot be resumed was an attempt.
        let has_joined = before.as_ref().map_or(journal_before, |before| {
            !before.occupants.is_empty() || status.phase != Phase::Lobby || file.result.is_some()
        });
        roster.set_challenge(day, has_joined);
    }
    // Bots are registered before clients are counted.
    for (seating, _) in &reopened {
        if let Some(address) = seating.address {
            roster.add_bot(address, seating.level, &seating.name);
        }
    }
    roster.set_locked(file.locked);
    roster.set_barred(file.barred.clone());
    if let Some(before) = &mut before {
        before.reveal_names(&end.facts().all());
        roster.resume(&before.peers, &before.occupants);
        for (name, address, wire) in before.renamed() {
            roster.set_alias(address, Some(Alias { wire: wire.clone(), name: name.to_owned() }));
        }
    }
    let mut info = Info::new(&file, counts, status, place.site.clone());
    let present = Presence::of(before.as_ref(), Arc::clone(&roster), &mut info);
    for player in &info.players {
        if let Some(address) = player.seat_address() {
            roster.add_member(address, &player.name, &player.seat);
        }
    }
    let register = Arc::new(Register::new(end.facts(), &description, Arc::clone(&roster), &info.players));
    let (sender, receiver) = watch::channel(info);
    let sender = Arc::new(sender);
    let bots = Bots::new(game, address, receiver.clone(), Arc::clone(&roster), reopened)
        .with_pace(file.ladder)
        .with_seed(challenge.map(|(_, seed)| seed));
    let (entrance, web) = WebSockets::new(Arc::clone(&place.bans), Arc::clone(&roster), place.keep_seats);
    let (requests, broken) = (Arc::<Requests>::default(), Broken::default());
    let setting = Setting {
        game,
        roster: Arc::clone(&roster),
        register: Arc::clone(&register),
        info: Arc::clone(&sender),
        counters: place.counters_of(game.name()),
        hints: Arc::clone(&place.hints),
        delay: place.watch_delay,
        broken: broken.clone(),
    };
    let host = host(setting, before.as_ref())
        .with_observer(RoomObserver {
            info: Arc::clone(&sender),
            present,
            reports: match class {
                Some(class) => Reports::Class { class, queue: place.class_results.clone() },
                None => Reports::Ledger(Arc::clone(&place.ledger)),
            },
            journal: (id, journal_name),
            log: Arc::clone(&place.log),
            left: BTreeMap::new(),
        })
        .with_warden(Guard::new(game, Arc::clone(&place.bans), Arc::clone(&requests), Arc::clone(&roster)))
        .with_transport(web)
        .with_gathering(if game.is_timed() { GATHERING } else { Duration::ZERO });
    let mut host = match sockets {
        // The hub itself connects programs to rooms of the ladder.
        Sockets::Tcp(listeners, rate) if place.proxies.send_headers() && !file.ladder => {
            let proxied = |listener| {
                let (proxies, roster) = (place.proxies.clone(), Arc::clone(&roster));
                // Bots connect without a header.
                let is_bot = move |peer| roster.bot_level(roster.mask.room_address(Link::Stream, peer)).is_some();
                let sends_header = move |peer: SocketAddr| {
                    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
                    proxies.contains(peer.ip()) && !is_bot(peer)
                };
                Ok(ProxiedListener::new(TcpListener::from_std(listener)?, sends_header))
            };
            let listeners = listeners.into_iter().map(proxied).collect::<io::Result<_>>()?;
            host.with_transport(Streams::over(listeners, rate, place.connections.clone()))
        }
        sockets => sockets.add_to_within(host, &place.connections)?,
    };
    let mut at = Time::ZERO;
    if let Some(before) = before {
        at = before.at;
        if options.is_daily() {
            // The clock of the room includes the time while the hub was not running.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            at = at.max(Time::ZERO.plus(now.saturating_sub(Duration::from_secs(file.begun))));
        }
        host.resume(at, before.peers);
        for (address, frames) in before.farewells {
            host.repeat_farewell(at, address, frames);
        }
    }
    let (ending, stopped) = EndRequest::new();
    let name = file.id.clone();
    let notice = EndNotice(Arc::clone(&roster));
    let room = Arc::new(Room {
        game,
        access: file.access.clone(),
        gate: entrance,
        news: News::of(receiver.clone()),
        info: receiver,
        number: id,
        address,
        bots,
        roster,
        journal: end.watch(),
        requests,
        register,
        sender: Arc::downgrade(&sender),
        broken: broken.clone(),
        file: Mutex::new(file),
        ending,
    });
    Ok((room, run(name, (host, at), stopped, end, (notice, sender, held, broken))))
}

async fn run(
    id: String,
    (host, at): (Host, Time),
    stopped: Stopped,
    end: JournalEnd,
    (notice, sender, _held, broken): (EndNotice, Arc<watch::Sender<Info>>, impl Send, Broken),
) -> JournalEnd {
    // Dropped after the sender, even if the room panics.
    let _notice = notice;
    let sender = sender;
    let mut moves = false;
    let leave = async {
        match stopped.await {
            // A journal that is no longer open cannot be resumed, so players receive the end of the match.
            Ok((Leave::Resumable, _)) if !end.is_open() => Leave::Over,
            Ok((leave, outcome)) => {
                moves = outcome == RoomOutcome::Moved;
                leave
            }
            // The hub has dropped the room.
            Err(_) => Leave::Over,
        }
    };
    // A millisecond is negligible compared with the network, and hundreds of precise timers would cost more than the
    // rooms.
    let clock = Clock::start_at(at).with_precision(Precision::Millisecond);
    match serve(host, clock, leave).await {
        Ok(outcome) => info!(room = id, ?outcome, "the room has ended"),
        Err(error) => warn!(room = id, %error, "the room has failed"),
    }
    end.close();
    // The match of a moving room continues elsewhere.
    if !moves {
        sender.send_modify(|info| info.phase = "over");
    }
    if broken.is_set() {
        sleep(BROKEN_PAUSE).await;
    }
    end
}

// For programs on this machine.
fn reachable(listen: &[SocketAddr], port: u16) -> SocketAddr {
    let ip = listen.first().map_or(Ipv4Addr::LOCALHOST.into(), |address| match address.ip() {
        // One socket for both families listens here too.
        ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        ip => ip,
    });
    SocketAddr::new(ip, port)
}
