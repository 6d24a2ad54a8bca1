//! The task of a node: feeds the state machine with inputs, and performs its outputs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use mesh::{
    Acquisition, Delta, Directory, Durability, ENTRY_AGE_SECONDS, Entry, Fence, FollowSummaries, Input, Key,
    LeaseGrant, LeaseRequest, MeshError, Name, Node, Opening, Output, Placement, Reply, Revision, Summaries, Ticket,
    Value, Written,
};
use netcore::Time;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinSet,
    time::{Instant, interval, sleep, sleep_until},
};
use tracing::{debug, error, info, warn};

use super::{
    command::{Answer, ClaimError, Command, Event, Handovers, Settled, Shared},
    common::Secrets,
    copies::Copies,
    seal::{self, RelayKey},
};

const MAX_CHANGES: usize = 1_024;
/// How often the task checks whether the node is still present.
const LOOK: Duration = Duration::from_secs(1);
/// The pause between searches for copies of closed rooms.
const DISCARD_PAUSE: Duration = Duration::from_secs(30);
/// How often unchanged entries are written again, before they expire.
const TOUCH: Duration = Duration::from_secs(ENTRY_AGE_SECONDS / 24);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pulse {
    /// Whether the directory has the node.
    pub(super) present: bool,
    /// The delay until the directory returns a change.
    pub(super) lag: Duration,
    /// Whether another data directory uses its name.
    pub(super) name_taken: bool,
}

#[derive(Debug)]
enum Completion {
    Reply(Ticket, Reply),
    Code { code: Name, room: Name, claimed: Result<Revision, ClaimError>, answer: Option<Answer> },
    LeaseGranted(Ticket, Option<LeaseGrant>),
    Key(Option<RelayKey>),
    Discarded(Result<usize, MeshError>),
    Summarized(Result<(), MeshError>),
}

pub(super) struct Task {
    start: Instant,
    node: Node,
    own: Key,
    directory: Arc<dyn Directory>,
    summaries: Arc<dyn Summaries>,
    shared: Arc<Shared>,
    copies: Arc<Copies>,
    secrets: Secrets,
    // Fences with which copies are removed, and where these are.
    fences: BTreeMap<Name, (Fence, Placement)>,
    // Callers that wait for the name of a room.
    waiting: BTreeMap<Name, Answer>,
    // Rooms that the hub has or is opening.
    rooms: BTreeSet<Name>,
    codes: Codes,
    handovers: Handovers,
    tasks: JoinSet<Completion>,
    // When the next search for copies of closed rooms may start.
    next_discard: Instant,
    // When the heartbeat in flight was sent.
    sent: Option<Instant>,
    pulse: watch::Sender<Pulse>,
    events: mpsc::Sender<Event>,
    left: Option<oneshot::Sender<()>>,
}

pub(super) struct Tools {
    pub(super) directory: Arc<dyn Directory>,
    pub(super) summaries: Arc<dyn Summaries>,
    pub(super) shared: Arc<Shared>,
    pub(super) copies: Arc<Copies>,
    pub(super) secrets: Secrets,
}

impl Task {
    /// Claims these rooms of the data directory.
    pub(super) fn new(
        settings: mesh::Settings,
        Tools { directory, summaries, shared, copies, secrets }: Tools,
        claims: Vec<((Name, String), Answer)>,
        (pulse, events): (watch::Sender<Pulse>, mpsc::Sender<Event>),
    ) -> Self {
        let own = Key::Node(settings.name.clone());
        let mut task = Self {
            start: Instant::now(),
            node: Node::new(settings),
            own,
            directory,
            summaries,
            shared,
            copies,
            secrets,
            fences: BTreeMap::new(),
            waiting: BTreeMap::new(),
            rooms: BTreeSet::new(),
            codes: Codes::default(),
            handovers: Handovers::default(),
            tasks: JoinSet::new(),
            next_discard: Instant::now(),
            sent: None,
            pulse,
            events,
            left: None,
        };
        // Before the directory is read, so that existing entries match these rooms.
        for ((room, needs), answer) in claims {
            task.open(room, (needs, true), answer);
        }
        task
    }

    /// `summaries` are those of all nodes since before this one joined.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>, mut summaries: Box<dyn FollowSummaries>) {
        let (changes, mut deltas) = mpsc::channel(MAX_CHANGES);
        tokio::spawn(watch(Arc::clone(&self.directory), changes));
        let mut touches = interval(TOUCH);
        self.input(Input::Elapsed);
        loop {
            let due = self.node.deadline();
            let due = self.start + due.since(Time::ZERO).min(self.now().plus(LOOK).since(Time::ZERO));
            tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.obey(command),
                    None => return,
                },
                Some(delta) = deltas.recv() => self.see(delta),
                summary = summaries.next() => match summary {
                    Ok(summary) => self.shared.view().summarize(summary),
                    // The client of the broker has ended, and with it the hub.
                    Err(error) => return error!("{error}"),
                },
                Some(completion) = self.tasks.join_next() => match completion {
                    Ok(completion) => self.take(completion),
                    Err(error) => error!("a request to the directory failed: {error}"),
                },
                _ = touches.tick() => self.touch(),
                () = sleep_until(due) => self.input(Input::Elapsed),
            }
            self.beat();
            self.make_room();
        }
    }

    // Removes the copies of closed rooms if the stream of copies is full.
    fn make_room(&mut self) {
        let now = Instant::now();
        if self.next_discard <= now && self.copies.take_full() {
            self.next_discard = now + DISCARD_PAUSE;
            let discarding = self.copies.discard_ended(Arc::clone(&self.directory));
            self.tasks.spawn(async move { Completion::Discarded(discarding.await) });
        }
    }

    fn is_heartbeat(&self, key: &Key) -> bool {
        matches!((key, &self.own), (Key::Node(name) | Key::Heartbeat(name), Key::Node(own)) if name == own)
    }

    fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    fn beat(&self) {
        let present = self.node.is_present(self.now());
        let on_its_way = self.sent.map_or(Duration::ZERO, |sent| sent.elapsed());
        let now = self.now();
        self.copies.set_lease(self.node.publishes_until().filter(|until| *until > now).map(|until| until.since(now)));
        self.pulse.send_if_modified(|pulse| {
            let before = *pulse;
            pulse.present = present;
            pulse.lag = if self.sent.is_some() { pulse.lag.max(on_its_way) } else { pulse.lag };
            *pulse != before
        });
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Open(room, needs, answer) => self.open(room, (needs, false), answer),
            Command::Restored(room) => self.input(Input::Restored(room)),
            Command::Code { code, room, answer } => self.claim(code, room, Some(answer)),
            Command::Show(room, row) => self.input(Input::Row(room, row)),
            Command::Close(room) => {
                self.waiting.remove(&room);
                self.rooms.remove(&room);
                self.handovers.remove(&room);
                self.copies.end(&room);
                self.codes.release(&room, &self.directory);
                self.input(Input::Close(room));
            }
            Command::Drain => self.input(Input::Drain),
            Command::HandOver(room, answer) => {
                // Dropping the reply reports that the room is not here.
                if self.rooms.contains(&room) {
                    self.handovers.begin(room.clone(), answer);
                    self.input(Input::HandOver(room));
                }
            }
            Command::CancelHandover(room) => {
                self.handovers.remove(&room);
                self.input(Input::CancelHandover(room));
            }
            Command::Suspended(room, answer) => {
                if self.handovers.suspended(&room, answer) {
                    self.input(Input::Suspended(room));
                }
            }
            Command::Follow(room, answer) => {
                self.handovers.follow(&room, answer);
                self.note_new_owner(&room);
            }
            Command::GrantLease(request, answer) => {
                let promise = self.node.grant_lease(self.now(), &request);
                // The other node may take the rooms as soon as it has the reply.
                self.beat();
                let _ = answer.send(promise);
            }
            Command::Leave(answer) => {
                self.left = Some(answer);
                self.input(Input::Leave);
            }
        }
    }

    fn open(&mut self, room: Name, (needs, returns): (String, bool), answer: Answer) {
        self.rooms.insert(room.clone());
        self.waiting.insert(room.clone(), answer);
        let opening = Opening { needs, returns, ..Opening::new(self.copies.durability(), String::new()) };
        self.input(Input::Open(room, opening));
    }

    fn see(&mut self, delta: Delta) {
        match &delta {
            Delta::Put(key, _) if self.is_heartbeat(key) => {
                if let Some(sent) = self.sent.take() {
                    self.pulse.send_modify(|pulse| pulse.lag = sent.elapsed());
                }
            }
            // An earlier version's node has drawn another secret, because the previous one had expired.
            Delta::Put(Key::Common(name), entry) if !self.secrets.agrees(name, &entry.value) => self.keep_secrets(),
            Delta::Removed(Key::Common(_), _) => self.keep_secrets(),
            _ => {}
        }
        self.shared.view().apply(&delta);
        let room = match &delta {
            Delta::Put(Key::Room(room), _) if self.handovers.is_followed(room) => Some(room.clone()),
            _ => None,
        };
        self.input(Input::Delta(delta));
        if let Some(room) = room {
            self.note_new_owner(&room);
        }
    }

    fn note_new_owner(&mut self, room: &Name) {
        let node = self.shared.view().settled_at(room).cloned();
        if let Some(node) = node.filter(|node| Key::Node(node.clone()) != self.own) {
            self.handovers.settled(room, Settled::At(node));
        }
    }

    fn take(&mut self, completion: Completion) {
        match completion {
            Completion::Reply(ticket, reply) => self.input(Input::Reply(ticket, reply)),
            Completion::Code { code, room, claimed, answer } => {
                if let Ok(revision) = claimed {
                    self.codes.note(code, room.clone(), revision);
                    // The room may have closed meanwhile.
                    if !self.rooms.contains(&room) {
                        self.codes.release(&room, &self.directory);
                    }
                }
                // The receiver may no longer wait.
                let _ = answer.map(|answer| answer.send(claimed.map(drop)));
            }
            Completion::LeaseGranted(ticket, promise) => self.input(Input::LeaseGranted(ticket, promise)),
            Completion::Key(Some(key)) => *self.shared.key() = Some(key),
            Completion::Summarized(published) => {
                if let Err(error) = published {
                    debug!("{error}");
                }
            }
            // The key is written again within an hour, or when it is removed.
            Completion::Key(None) => {}
            Completion::Discarded(Ok(count)) => {
                warn!("the stream of copies of rooms is full; removed {count} copies of closed rooms");
            }
            Completion::Discarded(Err(error)) => {
                warn!("the stream of copies of rooms is full, and no copy can be removed: {error}");
            }
        }
    }

    fn input(&mut self, input: Input) {
        let mut outputs = vec![];
        self.node.input(self.now(), input, &mut outputs);
        for output in outputs {
            self.perform(output);
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Write(ticket, request) => {
                if self.is_heartbeat(&request.key) {
                    self.sent.get_or_insert_with(Instant::now);
                }
                let directory = Arc::clone(&self.directory);
                self.tasks.spawn(async move {
                    let written = request.perform(&*directory).await;
                    Completion::Reply(ticket, written.map_or(Reply::Failed, Reply::Written))
                });
            }
            Output::RequestLease(ticket, request) => self.request_lease(ticket, request),
            Output::Summarize(summary) => {
                let summaries = Arc::clone(&self.summaries);
                self.tasks.spawn(async move { Completion::Summarized(summaries.publish(&summary).await) });
            }
            Output::Own(room, fence, how, placement) => self.own(room, (fence, placement), how),
            Output::ClaimFailed(room) => {
                self.rooms.remove(&room);
                if let Some(answer) = self.waiting.remove(&room) {
                    let _ = answer.send(Err(ClaimError::Taken));
                }
            }
            Output::Lost(room) => {
                warn!(room = %room, "another hub owns this room now; it ends here");
                self.handovers.remove(&room);
                self.copies.lose(&room);
                self.release(&room);
                // The channel has capacity for each room.
                let _ = self.events.try_send(Event::Lost(room));
            }
            Output::NameTaken => {
                self.pulse.send_modify(|pulse| pulse.name_taken = true);
                warn!("another data directory uses the name of this node; waiting until it is released");
            }
            Output::Left => {
                info!("this node has left the arcade");
                if let Some(left) = self.left.take() {
                    let _ = left.send(());
                }
            }
            Output::Closed(room) => {
                let fence = self.fences.remove(&room);
                self.copies.remove(room, fence);
            }
            Output::Suspend(room) => self.handovers.suspend(&room),
            Output::HandoverRefused(room, why) => self.handovers.refuse(&room, why),
            Output::HandedOver(room) => {
                self.release(&room);
                self.handovers.handed_over(&room);
            }
        }
    }

    // Another node owns the room or is about to.
    fn release(&mut self, room: &Name) {
        self.rooms.remove(room);
        self.fences.remove(room);
        self.copies.end(room);
        // The codes belong to the new owner.
        self.codes.remove_room(room);
    }

    fn own(&mut self, room: Name, claim: (Fence, Placement), how: Acquisition) {
        let answer = self.waiting.remove(&room);
        // After a power failure, the disk may lack delivered outputs.
        let is_safer_there = how == Acquisition::Recovered && self.copies.durability() == Durability::Cluster;
        let reads = how == Acquisition::TakenOver || is_safer_there && self.rooms.contains(&room);
        // An earlier run had this room, but the data directory no longer has it.
        let is_unknown = matches!(how, Acquisition::New | Acquisition::Recovered) && !self.rooms.contains(&room);
        if !is_unknown {
            self.fences.insert(room.clone(), claim);
            self.copies.own(&room, claim, reads);
        }
        if reads {
            self.rooms.insert(room.clone());
            self.handovers.settled(&room, Settled::Back);
            if let Some(answer) = answer {
                // The files of the hub may not have the current state of the room.
                let _ = answer.send(Err(ClaimError::Taken));
            }
            let _ = self.events.try_send(Event::TakenOver(room));
        } else if is_unknown || answer.is_some_and(|answer| answer.send(Ok(())).is_err()) {
            self.rooms.remove(&room);
            self.input(Input::Close(room));
        }
    }
}

impl Task {
    fn claim(&mut self, code: Name, room: Name, answer: Option<Answer>) {
        let directory = Arc::clone(&self.directory);
        self.tasks.spawn(async move {
            let claimed = claim(&*directory, &code, &room).await;
            Completion::Code { code, room, claimed, answer }
        });
    }

    /// Writes entries again before they expire.
    fn touch(&mut self) {
        for (code, room) in self.codes.all() {
            self.claim(code, room, None);
        }
        self.keep_secrets();
    }

    /// Writes the secrets again, in case the broker has lost them.
    fn keep_secrets(&mut self) {
        let (directory, secrets) = (Arc::clone(&self.directory), self.secrets.clone());
        self.tasks.spawn(async move { Completion::Key(secrets.keep(&*directory).await.unwrap_or_default()) });
    }

    fn request_lease(&mut self, ticket: Ticket, request: LeaseRequest) {
        let node = self.shared.view().node(&request.to.node);
        let key = self.shared.key().clone();
        self.tasks.spawn(async move {
            let (Some(node), Some(key)) = (node, key) else { return Completion::LeaseGranted(ticket, None) };
            Completion::LeaseGranted(ticket, seal::request_lease(&node.address, &key, &request).await)
        });
    }
}

/// The pause before another watch after an error.
const PAUSE: Duration = Duration::from_secs(1);

/// Forwards changes until the receiver is dropped.
pub(super) async fn watch(directory: Arc<dyn Directory>, changes: mpsc::Sender<Delta>) {
    let mut last = None;
    let mut is_away = false;
    while !changes.is_closed() {
        let Err(error) = follow(&*directory, &changes, &mut last, &mut is_away).await else { return };
        if !std::mem::replace(&mut is_away, true) {
            warn!("{error}; matches continue, and the state of other nodes may be outdated");
        }
        sleep(PAUSE).await;
    }
}

async fn follow(
    directory: &dyn Directory,
    changes: &mpsc::Sender<Delta>,
    last: &mut Option<Revision>,
    is_away: &mut bool,
) -> Result<(), MeshError> {
    let mut watch = directory.watch(*last).await?;
    loop {
        let delta = watch.next().await?;
        if std::mem::take(is_away) {
            info!("the directory responds again");
        }
        match &delta {
            Delta::Reset => *last = None,
            delta => *last = (*last).max(delta.resumes_after()),
        }
        if changes.send(delta).await.is_err() {
            return Ok(());
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Codes(BTreeMap<Name, Claimed>);

#[derive(Debug, Clone)]
struct Claimed {
    room: Name,
    revision: Revision,
}

impl Codes {
    pub(super) fn note(&mut self, code: Name, room: Name, revision: Revision) {
        self.0.insert(code, Claimed { room, revision });
    }

    pub(super) fn release(&mut self, room: &Name, directory: &Arc<dyn Directory>) {
        for (code, Claimed { revision, .. }) in self.0.extract_if(.., |_, claimed| claimed.room == *room) {
            let directory = Arc::clone(directory);
            tokio::spawn(async move {
                // If this fails, the entry expires.
                let _ = directory.write(&Key::Code(code), None, Some(revision)).await;
            });
        }
    }

    /// Another node owns the room and its codes.
    pub(super) fn remove_room(&mut self, room: &Name) {
        self.0.retain(|_, claimed| claimed.room != *room);
    }

    /// Codes with their rooms, to be claimed again before they expire.
    pub(super) fn all(&self) -> Vec<(Name, Name)> {
        self.0.iter().map(|(code, claimed)| (code.clone(), claimed.room.clone())).collect()
    }
}

/// Claims a code for a room, or renews the claim.
pub(super) async fn claim(directory: &dyn Directory, code: &Name, room: &Name) -> Result<Revision, ClaimError> {
    try_claim(directory, code, room).await.unwrap_or_else(|error| {
        warn!("cannot claim a code: {error}");
        Err(ClaimError::Away)
    })
}

async fn try_claim(
    directory: &dyn Directory,
    code: &Name,
    room: &Name,
) -> Result<Result<Revision, ClaimError>, MeshError> {
    let (key, value) = (Key::Code(code.clone()), Value::Code(room.clone()));
    let mut expected = None;
    loop {
        match directory.write(&key, Some(&value), expected).await? {
            Written::Stored(revision) => return Ok(Ok(revision)),
            // An earlier attempt, or an earlier run, has claimed the code.
            Written::Conflict(Some(Entry { revision, value: Value::Code(of) })) if of == *room => {
                expected = Some(revision);
            }
            Written::Conflict(None) if expected.is_some() => expected = None,
            Written::Conflict(_) => return Ok(Err(ClaimError::Taken)),
        }
    }
}

#[cfg(test)]
mod tests {
    use mesh::Local;
    use netcore::Time;

    use super::*;

    #[tokio::test]
    async fn code_belongs_to_one_room() {
        let mesh = Local::new(|| Time::ZERO);
        let name = |text: &str| text.parse::<Name>().unwrap();
        let (code, room, other) = (name("abcdef"), name("nuggets-1"), name("nuggets-2"));
        let first = claim(&mesh, &code, &room).await.unwrap();
        assert_eq!(claim(&mesh, &code, &other).await, Err(ClaimError::Taken));
        let again = claim(&mesh, &code, &room).await.unwrap();
        assert!(again > first, "it is young again");
        let (mut codes, directory) = (Codes::default(), Arc::new(mesh.clone()) as Arc<dyn Directory>);
        codes.note(code.clone(), room.clone(), again);
        codes.release(&other, &directory);
        assert_eq!(codes.all(), [(code.clone(), room.clone())]);
        codes.release(&room, &directory);
        assert_eq!(codes.all(), []);
        while mesh.entry(&Key::Code(code.clone())).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
        claim(&mesh, &code, &other).await.unwrap();
    }
}
