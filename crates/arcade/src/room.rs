//! One room: its host, the ways in which it is reached, its end, and what the lobby shows of it.

pub(crate) mod access;
pub(crate) mod addresses;
mod asides;
mod begin;
pub(crate) mod bots;
pub(crate) mod costs;
pub(crate) mod counters;
mod delay;
mod door;
mod ending;
pub(crate) mod feed;
pub(crate) mod file;
mod forward;
#[cfg(test)]
pub(crate) mod fragile;
mod fuse;
pub(crate) mod guard;
pub(crate) mod holds;
mod host_codes;
pub(crate) mod hosts;
pub(crate) mod info;
mod instrumented;
pub(crate) mod invite;
mod kept;
pub(crate) mod keys;
pub(crate) mod known;
pub(crate) mod ledger;
pub(crate) mod log;
pub(crate) mod mailbox;
pub(crate) mod mask;
pub(crate) mod members;
pub(crate) mod news;
mod observer;
pub(crate) mod owner;
mod owning;
pub(crate) mod pages;
mod people;
pub(crate) mod place;
pub(crate) mod ready;
pub(crate) mod register;
mod talk;
pub(crate) mod transport;
mod watched;

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use journal_core::{Copying, JournalEnd, JournalWatch, Writing};
use netcore::{Leave, Time};
use netshell::{Clock, Precision, serve};
use servekit::Sockets;
use tokio::{sync::watch, time::sleep};
use tracing::{info, warn};

pub(crate) use self::ending::Fate;
use self::{
    access::Access,
    addresses::Addresses,
    begin::{Begun, begin},
    bots::{Bots, come_back},
    door::Doorkeeper,
    ending::{Ending, Stopped},
    file::RoomFile,
    fuse::Broken,
    guard::{Guard, Removals},
    holds::Holds,
    hosts::Hosts,
    info::{Info, phase},
    invite::Invites,
    keys::Keys,
    known::Seats,
    mask::Mask,
    members::Members,
    news::News,
    observer::{Chronicle, Present},
    pages::Pages,
    place::Place,
    register::{Description, Register},
    talk::Speech,
    transport::{Gate, WebSockets},
    watched::Stage,
};
use crate::games::{Counts, Game, shown::Show};

/// How long a room whose engine has panicked keeps its port before it begins anew, so that one that fails at once fills neither disk nor
/// log.
const BROKEN_PAUSE: Duration = Duration::from_secs(1);
/// How long the answers to a turn gather. No player sees that: nothing but the end of the next turn depends on them.
const GATHERING: Duration = Duration::from_millis(20);

/// A room that is open.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) game: Game,
    /// Who may enter.
    pub(crate) access: Access,
    pub(crate) gate: Gate,
    pub(crate) info: watch::Receiver<Info>,
    /// What its pages are told of it.
    pub(crate) news: News,
    /// The number of its journal.
    pub(crate) number: u64,
    /// What others are told of addresses.
    pub(crate) mask: Mask,
    /// The address at which a program on this machine reaches it.
    pub(crate) address: SocketAddr,
    pub(crate) bots: Bots,
    pub(crate) removals: Arc<Removals>,
    /// What is known of its seats besides what they say.
    pub(crate) known: Arc<Seats>,
    hosts: Arc<Hosts>,
    /// What its journal says of its seats.
    pub(crate) register: Arc<Register>,
    /// Who belongs to it.
    pub(crate) members: Arc<Members>,
    /// The pages that are open at it.
    pub(crate) pages: Arc<Pages>,
    speech: Speech,
    /// Seats that are kept free, and who is asked for a rematch.
    pub(crate) holds: Arc<Holds>,
    pub(crate) invites: Arc<Invites>,
    /// How its journal is doing.
    pub(crate) journal: JournalWatch,
    // Changes what is shown of it; gone with the room.
    sender: std::sync::Weak<watch::Sender<Info>>,
    broken: Broken,
    file: Mutex<RoomFile>,
    ending: Ending,
}

impl Room {
    /// Asks the room to end. A room that is to be closed is closed, also if it was to end in another way before.
    pub(crate) fn stop(&self, leave: Leave, fate: Fate) {
        self.ending.stop(leave, fate);
    }

    /// Closes the room for good, and tells everybody in it why.
    pub(crate) fn close(&self, why: &str) {
        info!(room = self.file().id, why, "the room is closed");
        if let Some(sender) = self.sender.upgrade() {
            sender.send_modify(|info| info.closing = Some(why.to_owned()));
        }
        self.stop(Leave::Over, Fate::Closed);
    }

    /// Ends the room here, since another hub has it: nobody is told that its match is over.
    pub(crate) fn give_up(&self) {
        self.bots.abort();
        self.stop(Leave::Resumable, Fate::Closed);
    }

    /// Suspends the room, so that another hub goes on with it. Returns whether it was not about to end in another way.
    pub(crate) fn suspend(&self) -> bool {
        let is_suspended = self.ending.suspend();
        if is_suspended {
            self.bots.abort();
        }
        is_suspended
    }

    /// Whether it was suspended, so that another hub goes on with it.
    pub(crate) fn is_suspended(&self) -> bool {
        self.ending.fate() == Fate::Moved
    }

    /// Says in how many seconds bots come, if they do.
    pub(crate) fn announce_bots(&self, seconds: Option<u64>) {
        let Some(sender) = self.sender.upgrade() else { return };
        sender.send_if_modified(|info| std::mem::replace(&mut info.bots_in, seconds) != seconds);
    }

    /// What is written down of the room.
    pub(crate) fn file(&self) -> MutexGuard<'_, RoomFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What becomes of it when its task has ended.
    pub(crate) fn fate(&self) -> Fate {
        if self.ending.is_unasked() && self.broken.is_set() { Fate::Renewed } else { self.ending.fate() }
    }

    /// Whether somebody wants it to be closed for good.
    pub(crate) fn is_to_close(&self) -> bool {
        self.ending.is_to_close()
    }
}

/// Opens a room as its file says, at these sockets: a new one, or one that comes back. `held` is dropped when it has ended. The future
/// runs it to its end and gives its journal.
///
/// # Errors
/// When the options do not go together, or the journal cannot be had.
#[expect(clippy::too_many_lines, reason = "a sequence of steps that share their results")]
pub(crate) fn open(
    mut file: RoomFile,
    (place, copy): (&Place, Option<Arc<dyn Copying>>),
    Keys { mask, hosts, days }: Keys,
    sockets: Sockets,
    port: u16,
    held: impl Send + 'static,
) -> anyhow::Result<(Arc<Room>, impl Future<Output = JournalEnd> + Send + 'static)> {
    let options = file.options.clone();
    let listen = sockets.addresses()?;
    let address = reachable(&listen, port);
    let writing = Writing { copy, ..place.writing.clone() };
    // Before anything is sent to them.
    let back = come_back(&mut file.bots, options.game(), address);
    let journal = file.journal.as_ref().map(|name| place.journals.join(name));
    let counts = if file.ladder { Counts::of_the_ladder() } else { Counts::of(&options) };
    let description = Description {
        room: file.id.clone(),
        title: options.title(),
        class: counts.class.clone(),
        casual: counts.casual.unwrap_or_default().to_owned(),
    };
    let Begun { host, broken, journal, id, end, status, before } =
        begin(&options.clone().keyed(days), journal.as_deref(), (place, &writing), (&listen, &description.facts()))?;
    if before.is_none() {
        file.begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    }
    let journal_name = journal.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    file.journal = Some(journal_name.clone());
    file.port = port;
    let of_bots = Arc::<Addresses>::default();
    let mut info = Info {
        id: file.id.clone(),
        game: options.game(),
        title: description.title.clone(),
        phase: phase(status.phase),
        taken: status.taken,
        seats: status.seats,
        port,
        players: vec![],
        watchers: 0,
        result: file.result.clone(),
        r#match: None,
        permanent: file.permanent,
        name: file.name.clone(),
        visibility: file.access.name(),
        code: file.access.code().map(str::to_owned),
        owned: file.owner.is_some(),
        locked: file.locked,
        options: options.shown(),
        counts,
        closing: None,
        bots_in: None,
        show: Show::default(),
        site: place.site.clone(),
        people: 0,
        elsewhere: 0,
    };
    let known = Arc::new(Seats::new(hosts));
    // They are known as bots before anybody is counted.
    of_bots.set().extend(back.iter().filter_map(|(seating, _)| Some((seating.address?, seating.level))));
    let present = Present::of(before.as_ref(), Arc::clone(&of_bots), &mut info);
    let (members, pages, holds) = (Arc::<Members>::default(), Arc::<Pages>::default(), Arc::<Holds>::default());
    let invites = Arc::new(Invites::new(Arc::clone(&pages), Arc::clone(&holds)));
    members.set_locked(file.locked);
    file.barred.iter().for_each(|&host| members.bar(host));
    let who = (Arc::clone(&known), Arc::clone(&members), Arc::clone(&holds));
    for player in &info.players {
        if let Some(address) = player.address.as_deref().and_then(|address| address.parse().ok()) {
            members.join(address, &player.name, &player.seat);
        }
    }
    let mut keeper = Doorkeeper::new(options.game(), mask.clone(), who, Arc::clone(&of_bots))
        .with_costs(Arc::clone(&present.hosts), Arc::clone(&place.costs));
    if let Some(before) = &before {
        keeper.resume(&before.peers, &before.roster);
    }
    let who = (Arc::clone(&known), Arc::clone(&of_bots));
    let register = Arc::new(Register::new(end.facts(), &description, who, &info.players));
    let (sender, receiver) = watch::channel(info);
    let sender = Arc::new(sender);
    let bots =
        Bots::new(options.game(), address, receiver.clone(), (of_bots, mask.clone()), back).with_pace(file.ladder);
    let (gate, web) = WebSockets::new(Arc::clone(&place.bans), Arc::clone(&known), place.keep_seats);
    let removals = Arc::<Removals>::default();
    let hosts = Arc::clone(&present.hosts);
    let stage = Stage { info: Arc::clone(&sender), register: Arc::clone(&register), delay: place.watch_delay };
    let host = host(stage, keeper)
        .with_observer(Chronicle {
            info: Arc::clone(&sender),
            present,
            known: Arc::clone(&known),
            members: Arc::clone(&members),
            pages: Arc::clone(&pages),
            invites: Arc::clone(&invites),
            ledger: Arc::clone(&place.ledger),
            journal: (id, journal_name),
            log: Arc::clone(&place.log),
            left: BTreeSet::new(),
        })
        .with_warden(Guard::new(
            options.game(),
            Arc::clone(&place.bans),
            Arc::clone(&removals),
            mask.clone(),
            Arc::clone(&hosts),
            Arc::clone(&known),
        ))
        .with_transport(web)
        .with_gathering(if options.game().is_timed() { GATHERING } else { Duration::ZERO });
    let mut host = sockets.let_in_within(host, &place.connections)?;
    let mut at = Time::ZERO;
    if let Some(before) = before {
        at = before.at;
        if options.is_daily() {
            // Days go on while the hub is away.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            at = at.max(Time::ZERO.plus(now.saturating_sub(Duration::from_secs(file.begun))));
        }
        host.resume(at, before.peers);
        for (address, frames) in before.farewells {
            host.repeat_farewell(at, address, frames);
        }
    }
    let (ending, stopped) = Ending::new();
    let name = file.id.clone();
    let room = Arc::new(Room {
        game: file.options.game(),
        access: file.access.clone(),
        gate,
        news: News::of(receiver.clone()),
        info: receiver,
        number: id,
        mask,
        address,
        bots,
        removals,
        known,
        hosts,
        register,
        members,
        pages,
        speech: Speech::default(),
        holds,
        invites,
        journal: end.watch(),
        sender: Arc::downgrade(&sender),
        broken: broken.clone(),
        file: Mutex::new(file),
        ending,
    });
    let run = run(name, host, at, stopped, end, (sender, held, broken));
    Ok((room, run))
}

async fn run(
    id: String,
    host: netshell::Host,
    at: Time,
    stopped: Stopped,
    end: JournalEnd,
    (sender, _held, broken): (Arc<watch::Sender<Info>>, impl Send, Broken),
) -> JournalEnd {
    let mut moves = false;
    let leave = async {
        match stopped.await {
            // A journal that was cut cannot be resumed, so players are told that it is over.
            Ok((Leave::Resumable, _)) if !end.is_open() => Leave::Over,
            Ok((leave, fate)) => {
                moves = fate == Fate::Moved;
                leave
            }
            // The hub has forgotten the room.
            Err(_) => Leave::Over,
        }
    };
    // A millisecond is nothing beside the network, and hundreds of timers of their own would cost more than the rooms.
    let clock = Clock::start_at(at).with_precision(Precision::Millisecond);
    match serve(host, clock, leave).await {
        Ok(outcome) => info!(room = id, ?outcome, "the room has ended"),
        Err(error) => warn!(room = id, %error, "the room has failed"),
    }
    end.close();
    // Of a room that moves nobody is told that it is over.
    if !moves {
        sender.send_modify(|info| info.phase = "over");
    }
    if broken.is_set() {
        sleep(BROKEN_PAUSE).await;
    }
    end
}

// The address at which a program on this machine reaches a room.
fn reachable(listen: &[SocketAddr], port: u16) -> SocketAddr {
    let ip = listen.first().map_or(Ipv4Addr::LOCALHOST.into(), |address| match address.ip() {
        // One socket for both families listens here too.
        ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        ip => ip,
    });
    SocketAddr::new(ip, port)
}
