//! The other hubs (*nodes*) of an arcade: `docs/fleet.md`. A task maintains the directory entries of this node and a
//! view of the other nodes. Rows of rooms are opaque text here.

mod command;
mod common;
pub(crate) mod copies;
pub(crate) mod seal;
mod task;
mod view;
pub(crate) use self::{
    command::{ClaimError, Event, HandoverError, Settled},
    view::{NodeStatus, Remote},
};

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::bail;
use mesh::{
    Append, Appended, Directory, Durability, Events, Fence, Follow, JournalStreams, LeaseGrant, LeaseRequest, Limits,
    MeshError, Name, Nats, OUTAGE, Sequence, Summaries,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};
use tracing::warn;

use self::{
    command::{Command, Shared},
    common::Secrets,
    copies::Copies,
    seal::RelayKey,
    task::{Pulse, Task, Tools},
};

const MAX_COMMANDS: usize = 1_024;
/// The timeout of claims for the name or a code of a room.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a starting node waits for its entry: longer than the entry of a crashed node remains.
const WELCOME: Duration = Duration::from_secs(30);
/// The timeout of leaving the directory.
const FAREWELL: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) servers: Vec<String>,
    /// The prefix of its streams and buckets.
    pub(crate) arcade: Name,
    pub(crate) name: Name,
    /// Where native clients and other nodes reach this node.
    pub(crate) host: String,
    /// `HOST:PORT` of its page.
    pub(crate) address: String,
    pub(crate) durability: Durability,
    /// The number of streams of copies; `None` for that of the arcade.
    pub(crate) streams: Option<u32>,
    /// Supported rules, as in [`Claim::needs`].
    pub(crate) runs: Vec<String>,
}

/// A room in the data directory.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) room: String,
    /// The required rules.
    pub(crate) needs: String,
}

#[derive(Debug)]
pub(crate) struct Fleet {
    name: Name,
    host: Arc<str>,
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
    pulse: watch::Receiver<Pulse>,
    broker: Option<Nats>,
    pub(crate) copies: Arc<Copies>,
    pub(crate) feeds: Feeds,
    secrets: Secrets,
    // Cloned by each socket that is relayed to another node.
    relayed: Arc<()>,
}

/// A node that has reached the broker but is not in the directory yet.
pub(crate) struct Joining {
    fleet: Arc<Fleet>,
    directory: Arc<dyn Directory>,
    summaries: Arc<dyn Summaries>,
    settings: mesh::Settings,
    commands: mpsc::Receiver<Command>,
    pulse: watch::Sender<Pulse>,
    events: mpsc::Sender<Event>,
}

fn place(servers: Vec<String>, arcade: Name, streams: Option<u32>) -> mesh::BrokerSettings {
    mesh::BrokerSettings { servers, prefix: arcade, limits: Limits::default(), streams }
}

/// `data` is the locked data directory. `secret` becomes the common secret if this is the first node. Also returns the
/// events of rooms.
pub(crate) async fn connect(
    settings: Settings,
    data: &Path,
    (most_rooms, secret): (usize, &str),
) -> anyhow::Result<(Joining, mpsc::Receiver<Event>)> {
    let identity = common::open_identity(data)?;
    let Settings { servers, arcade, name, host, address, durability, streams, runs } = settings;
    let nats = Nats::connect(&place(servers, arcade.clone(), streams)).await?;
    let secrets = Secrets::establish(&nats, (data, &arcade), secret).await?;
    let streams = nats.has_streams();
    let node = mesh::Settings { name, identity, address, most_rooms, runs, streams, outage: OUTAGE };
    let nats_of = || Arc::new(nats.clone());
    let shared =
        SharedState { directory: nats_of(), summaries: nats_of(), journals: nats.journals(), events: nats_of() };
    Ok(begin((node, durability), &host, shared, secrets, Some(nats)))
}

struct SharedState {
    directory: Arc<dyn Directory>,
    summaries: Arc<dyn Summaries>,
    journals: JournalStreams,
    events: Arc<dyn Events>,
}

fn begin(
    (settings, durability): (mesh::Settings, Durability),
    host: &str,
    SharedState { directory, summaries, journals, events: shown }: SharedState,
    secrets: Secrets,
    broker: Option<Nats>,
) -> (Joining, mpsc::Receiver<Event>) {
    let shared = Arc::<Shared>::default();
    *shared.key() = RelayKey::read(&secrets.relay);
    let (commands, receiver) = mpsc::channel(MAX_COMMANDS);
    let (pulse, beats) = watch::channel(Pulse::default());
    let (events, happens) = mpsc::channel(mesh::MAX_ROOMS);
    let copies = Arc::new(Copies::new(durability, journals, events.clone()));
    let fleet = Fleet {
        name: settings.name.clone(),
        host: host.into(),
        shared,
        commands,
        pulse: beats,
        broker,
        copies,
        feeds: Feeds::new(shown),
        secrets,
        relayed: Arc::default(),
    };
    let fleet = Arc::new(fleet);
    (Joining { fleet, directory, summaries, settings, commands: receiver, pulse, events }, happens)
}

impl Joining {
    pub(crate) const fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// Joins with these rooms. Returns those whose names other nodes own.
    pub(crate) async fn join(self, rooms: &[Claim]) -> anyhow::Result<Vec<String>> {
        let Self { fleet, directory, summaries, settings, commands, pulse, events } = self;
        let mut awaited = vec![];
        let mut claims = vec![];
        for Claim { room, needs } in rooms {
            let (answer, answered) = oneshot::channel();
            claims.push(((room.parse()?, needs.clone()), answer));
            awaited.push((room, answered));
        }
        let name = settings.name.clone();
        let (shared, copies) = (Arc::clone(&fleet.shared), Arc::clone(&fleet.copies));
        let following = summaries.summaries().await?;
        let tools = Tools { directory, summaries, shared, copies, secrets: fleet.secrets.clone() };
        let task = Task::new(settings, tools, claims, (pulse, events));
        tokio::spawn(task.run(commands, following));
        let joined = async {
            let mut pulse = fleet.pulse.clone();
            let _ = pulse.wait_for(|pulse| pulse.present).await;
            let mut taken = vec![];
            for (room, answered) in awaited {
                if answered.await != Ok(Ok(())) {
                    taken.push(room.clone());
                }
            }
            taken
        };
        match timeout(WELCOME, joined).await {
            Ok(taken) => Ok(taken),
            Err(_) if fleet.pulse.borrow().name_taken => {
                bail!("another node has the name '{name}'; choose another one with --node, or stop that node")
            }
            Err(_) => {
                bail!(
                    "the directory of the arcade did not respond for {WELCOME:?}; check that most NATS servers \
                    are running"
                )
            }
        }
    }
}

impl Fleet {
    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }

    pub(crate) fn host(&self) -> Arc<str> {
        Arc::clone(&self.host)
    }

    /// Whether this node has an entry and an unexpired lease. If not, its view may be outdated.
    pub(crate) fn is_present(&self) -> bool {
        self.pulse.borrow().present
    }

    /// The delay until the directory returns a change: of the last heartbeat, or of the one in flight if longer.
    pub(crate) fn lag(&self) -> Duration {
        self.pulse.borrow().lag
    }

    /// The queue of results from all nodes, for the common database.
    pub(crate) fn results(&self) -> Option<Arc<dyn mesh::Results>> {
        self.broker.clone().map(|broker| Arc::new(broker) as Arc<dyn mesh::Results>)
    }

    pub(crate) fn dead_letters(&self) -> u64 {
        self.broker.as_ref().map_or(0, mesh::Results::dead_letters)
    }

    /// Skipped directory values and copies, which are damaged or of a later version.
    pub(crate) fn skipped(&self) -> u64 {
        self.broker.as_ref().map_or(0, Nats::skipped) + self.copies.skipped()
    }

    /// Counts the changes of [`rooms`](Self::rooms) and [`nodes`](Self::nodes).
    pub(crate) fn version(&self) -> u64 {
        self.shared.view().version()
    }

    /// The rooms of other nodes.
    pub(crate) fn rooms(&self) -> Vec<Remote> {
        self.shared.view().remotes(&self.name)
    }

    /// Includes this node.
    pub(crate) fn nodes(&self) -> Vec<NodeStatus> {
        self.shared.view().nodes()
    }

    /// The owner of the room, if it is another node.
    pub(crate) fn owner_of(&self, room: &str) -> Option<NodeStatus> {
        self.shared.view().owner(&room.parse().ok()?).filter(|owner| owner.name != self.name)
    }

    /// The room with this code, if another node owns it.
    pub(crate) fn room_of(&self, code: &str) -> Option<String> {
        let room = self.shared.view().coded(&code.parse().ok()?)?;
        self.owner_of(room.as_str()).map(|_| room.to_string())
    }

    /// The highest number of any room since this node started.
    pub(crate) fn highest(&self) -> u32 {
        self.shared.view().highest()
    }

    /// Common to all nodes; tokens are derived from it.
    pub(crate) fn secret(&self) -> &str {
        &self.secrets.secret
    }

    /// Former common secrets, whose tokens stay valid.
    pub(crate) fn former_secrets(&self) -> &[String] {
        &self.secrets.former
    }

    /// Claims the name of a new room that requires the rules `needs`. Other nodes list the room once it has a row.
    pub(crate) async fn open(&self, room: &str, needs: &str) -> Result<(), ClaimError> {
        let Ok(name) = room.parse::<Name>() else { return Err(ClaimError::Taken) };
        let claimed = self.request(|answer| Command::Open(name.clone(), needs.to_owned(), answer)).await;
        if claimed == Err(ClaimError::Away) {
            self.close(room).await;
        }
        claimed
    }

    pub(crate) async fn claim_code(&self, code: &str, room: &str) -> Result<(), ClaimError> {
        let (Ok(code), Ok(room)) = (code.parse(), room.parse()) else { return Err(ClaimError::Taken) };
        self.request(|answer| Command::Code { code, room, answer }).await
    }

    async fn request(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<(), ClaimError>>) -> Command,
    ) -> Result<(), ClaimError> {
        let (answer, answered) = oneshot::channel();
        let response = async {
            self.commands.send(command(answer)).await.ok()?;
            answered.await.ok()
        };
        timeout(PATIENCE, response).await.ok().flatten().unwrap_or(Err(ClaimError::Away))
    }

    /// Other nodes list the row within a second.
    pub(crate) async fn show(&self, room: &str, row: String) {
        self.send_command(room, |room| Command::Show(room, row)).await;
    }

    /// Reports that the hub has the state of a room that it has taken over.
    pub(crate) async fn restored(&self, room: &str) {
        self.send_command(room, Command::Restored).await;
    }

    pub(crate) async fn close(&self, room: &str) {
        self.send_command(room, Command::Close).await;
    }

    async fn send_command(&self, room: &str, command: impl FnOnce(Name) -> Command) {
        match room.parse() {
            // If the task has ended, the hub is ending.
            Ok(name) => drop(self.commands.send(command(name)).await),
            Err(error) => warn!("cannot publish a room to other nodes: {error}"),
        }
    }

    pub(crate) async fn drain(&self) {
        let _ = self.commands.send(Command::Drain).await;
    }

    /// Leaves the directory, if it responds. The rooms must no longer send output.
    pub(crate) async fn leave(&self) {
        let (answer, answered) = oneshot::channel();
        let left = async {
            self.commands.send(Command::Leave(answer)).await.ok()?;
            answered.await.ok()
        };
        if timeout(FAREWELL, left).await.is_err() {
            warn!("the directory does not respond, so other nodes list this one for a few more seconds");
        }
    }

    pub(crate) async fn grant_lease(&self, request: LeaseRequest) -> Option<LeaseGrant> {
        let (answer, answered) = oneshot::channel();
        self.commands.send(Command::GrantLease(request, answer)).await.ok()?;
        answered.await.ok()
    }

    pub(crate) fn owned(&self, room: &str) -> Option<OwnedRoom> {
        let fence = self.copies.of(room)?.fence();
        Some(OwnedRoom { name: room.parse().ok()?, fence })
    }

    /// Counts a socket that is relayed to another node until the returned value is dropped.
    pub(crate) fn relaying(&self) -> Arc<()> {
        Arc::clone(&self.relayed)
    }

    pub(crate) fn relayed(&self) -> usize {
        Arc::strong_count(&self.relayed) - 1
    }

    pub(crate) fn seal(&self, request: &seal::SealedRequest<'_>) -> Option<String> {
        self.shared.key().as_ref().map(|key| key.seal(seal::now(), request))
    }

    /// Verifies the signature of another node. Returns the client of the relayed request.
    pub(crate) fn unseal(&self, text: &str, method: &str, path: &str) -> Option<seal::Relayed> {
        self.shared.key().as_ref()?.unseal(seal::now(), text, (method, path))
    }
}

/// Returns a line about the broker.
pub(crate) async fn examine(servers: Vec<String>, arcade: Name) -> Result<String, MeshError> {
    let version = Nats::check(&place(servers, arcade, None)).await?;
    Ok(format!("NATS {version} with JetStream responds"))
}

impl Fleet {
    /// Returns `Ok` once the room is to be suspended for another node, and `None` if the directory does not respond.
    pub(crate) async fn hand_over(&self, room: &str) -> Option<Result<(), HandoverError>> {
        let room: Name = room.parse().ok()?;
        let (answer, answered) = oneshot::channel();
        let _ = self.commands.send(Command::HandOver(room.clone(), answer)).await;
        if let Ok(answered) = timeout(PATIENCE, answered).await {
            return Some(answered.unwrap_or(Err(HandoverError::Lost)));
        }
        let _ = self.commands.send(Command::CancelHandover(room)).await;
        None
    }

    pub(crate) async fn cancel_hand_over(&self, room: &str) {
        self.send_command(room, Command::CancelHandover).await;
    }

    /// Reports that the room sends no more output and its copy is complete. Waits without a timeout until the directory
    /// has recorded the hand-over. Returns whether the room was handed over.
    pub(crate) async fn suspended(&self, room: &str) -> bool {
        let (answer, answered) = oneshot::channel();
        self.send_command(room, |room| Command::Suspended(room, answer)).await;
        answered.await.is_ok()
    }

    /// Waits until a handed-over room is resumed. Returns `None` if the outcome is unknown.
    pub(crate) async fn follow(&self, room: &str) -> Option<Settled> {
        let (answer, answered) = oneshot::channel();
        self.send_command(room, |room| Command::Follow(room, answer)).await;
        answered.await.ok()
    }

    /// Whether a room is being handed over, or its owner does not have its state yet.
    pub(crate) fn is_moving(&self, room: &str) -> bool {
        room.parse().is_ok_and(|room| self.shared.view().is_moving(&room))
    }
}

/// Streams of rooms for watchers at other nodes.
pub(crate) struct Feeds {
    events: Arc<dyn Events>,
    stored: AtomicU64,
    // Cloned by each running stream or socket.
    published: Arc<()>,
    followed: Arc<()>,
    fed: Arc<()>,
}

impl std::fmt::Debug for Feeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feeds").field("shown", &self.status()).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FeedsStatus {
    /// Events that this node has published.
    pub(crate) stored: u64,
    /// Rooms of this node that are published.
    pub(crate) published: usize,
    /// Rooms of other nodes that it follows.
    pub(crate) followed: usize,
    /// Sockets that receive the stream of a followed room.
    pub(crate) fed: usize,
}

impl Feeds {
    pub(crate) fn new(events: Arc<dyn Events>) -> Self {
        let (published, followed, fed) = (Arc::default(), Arc::default(), Arc::default());
        Self { events, stored: AtomicU64::new(0), published, followed, fed }
    }

    pub(crate) async fn publish(&self, room: &Name, event: &Append) -> Result<Appended, MeshError> {
        let appended = self.events.publish(room, event).await?;
        if matches!(appended, Appended::Stored(_)) {
            self.stored.fetch_add(1, Ordering::Relaxed);
        }
        Ok(appended)
    }

    pub(crate) async fn follow(&self, room: &Name, after: Option<Sequence>) -> Result<Box<dyn Follow>, MeshError> {
        self.events.follow(room, after).await
    }

    /// Counts a published room until the returned value is dropped, as the next two methods do for followers.
    pub(crate) fn publishing(&self) -> Arc<()> {
        Arc::clone(&self.published)
    }

    pub(crate) fn following(&self) -> Arc<()> {
        Arc::clone(&self.followed)
    }

    pub(crate) fn feeding(&self) -> Arc<()> {
        Arc::clone(&self.fed)
    }

    pub(crate) fn status(&self) -> FeedsStatus {
        let count = |held: &Arc<()>| Arc::strong_count(held) - 1;
        FeedsStatus {
            stored: self.stored.load(Ordering::Relaxed),
            published: count(&self.published),
            followed: count(&self.followed),
            fed: count(&self.fed),
        }
    }
}

/// A room that this node publishes.
#[derive(Debug, Clone)]
pub(crate) struct OwnedRoom {
    pub(crate) name: Name,
    pub(crate) fence: Fence,
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use mesh::{Holder, Local, Revision};
    use netcore::Time;
    use testkit::poll_until;
    use tokio::time::Instant;

    use super::*;

    fn mesh() -> Local {
        let start = Instant::now();
        Local::new(move || Time::ZERO.plus(start.elapsed()))
    }

    async fn join(mesh: &Local, name: &str, rooms: &[&str]) -> (Arc<Fleet>, Vec<String>, mpsc::Receiver<Event>) {
        join_knowing(mesh, name, rooms, &[]).await
    }

    async fn join_knowing(
        mesh: &Local,
        name: &str,
        rooms: &[&str],
        rules: &[&str],
    ) -> (Arc<Fleet>, Vec<String>, mpsc::Receiver<Event>) {
        let identity = format!("data-of-{name}").parse().unwrap();
        let address = format!("{name}.example:8080");
        let runs = rules.iter().map(|&rules| rules.to_owned()).collect();
        let settings = mesh::Settings {
            name: name.parse().unwrap(),
            identity,
            address,
            most_rooms: 9,
            runs,
            streams: true,
            outage: OUTAGE,
        };
        let shared = SharedState {
            directory: Arc::new(mesh.clone()),
            summaries: Arc::new(mesh.clone()),
            journals: mesh.journals(),
            events: Arc::new(mesh.clone()),
        };
        let (node, host) = ((settings, Durability::Node), format!("{name}.example"));
        let data = testkit::TempDir::new();
        let secrets = Secrets::establish(mesh, (data.path(), &"arcade".parse().unwrap()), name).await.unwrap();
        let (joining, events) = begin(node, &host, shared, secrets, None);
        let fleet = Arc::clone(joining.fleet());
        let claim = |&room: &&str| Claim { room: room.to_owned(), needs: String::new() };
        let rooms: Vec<Claim> = rooms.iter().map(claim).collect();
        let taken = joining.join(&rooms).await.unwrap();
        (fleet, taken, events)
    }

    #[tokio::test]
    async fn nodes_list_rooms_of_other_nodes_and_names_are_unique() {
        let mesh = mesh();
        let (ann, none, _events) = join(&mesh, "ann", &[]).await;
        assert!(none.is_empty() && ann.is_present());
        let (bob, _, _events) = join(&mesh, "bob", &[]).await;
        ann.open("nuggets-4", "").await.unwrap();
        assert_eq!(bob.open("nuggets-4", "").await, Err(ClaimError::Taken));
        ann.claim_code("abcdef", "nuggets-4").await.unwrap();
        assert_eq!(bob.claim_code("abcdef", "nuggets-5").await, Err(ClaimError::Taken));
        // A room without a row is not listed.
        assert_eq!(bob.rooms(), []);
        ann.show("nuggets-4", "one".into()).await;
        let shown = |row: &str| bob.rooms().into_iter().find(|room| &*room.row == row);
        let room = poll_until("the row", async || shown("one")).await;
        assert_eq!((room.room.as_str(), room.node.as_str(), bob.highest()), ("nuggets-4", "ann", 4));
        assert_eq!(bob.owner_of("nuggets-4").unwrap().address, "ann.example:8080");
        assert_eq!(bob.room_of("abcdef").as_deref(), Some("nuggets-4"));
        assert!(ann.owner_of("nuggets-4").is_none() && ann.room_of("abcdef").is_none() && ann.rooms().is_empty());
        ann.show("nuggets-4", "two".into()).await;
        poll_until("the next row", async || shown("two")).await;
        ann.close("nuggets-4").await;
        poll_until("that it is gone", async || bob.rooms().is_empty().then_some(())).await;
        poll_until("that its code is free", async || {
            bob.shared.view().coded(&"abcdef".parse().unwrap()).is_none().then_some(())
        })
        .await;
        bob.open("nuggets-4", "").await.unwrap();
        ann.leave().await;
        poll_until("that it has left", async || (bob.nodes().len() == 1).then_some(())).await;
    }

    #[tokio::test]
    async fn returning_node_reclaims_its_rooms_and_releases_unknown_ones() {
        let mesh = mesh();
        let (ann, _, _events) = join(&mesh, "ann", &[]).await;
        for room in ["robots-1", "robots-2"] {
            ann.open(room, "").await.unwrap();
            ann.show(room, "row".into()).await;
        }
        let (bob, _, _events) = join(&mesh, "bob", &[]).await;
        bob.open("robots-3", "").await.unwrap();
        poll_until("its rooms", async || (bob.rooms().len() == 2).then_some(())).await;
        ann.leave().await;
        drop(ann);
        poll_until("that its rooms are gone", async || bob.rooms().is_empty().then_some(())).await;
        assert_eq!(bob.open("robots-2", "").await, Err(ClaimError::Taken), "its name is kept for it");
        // The file of one room is lost, and another has the name of a room of the other node.
        let (ann, taken, _events) = join(&mesh, "ann", &["robots-1", "robots-3"]).await;
        assert_eq!(taken, ["robots-3"]);
        ann.show("robots-1", "again".into()).await;
        let rooms = || bob.rooms().iter().map(|room| (room.room.to_string(), room.row.to_string())).collect::<Vec<_>>();
        poll_until("its room", async || (rooms() == [("robots-1".to_owned(), "again".to_owned())]).then_some(())).await;
        poll_until("the name", async || mesh_is_free(&bob, "robots-2").then_some(())).await;
    }

    #[tokio::test]
    async fn oversized_room_number_is_ignored() {
        let mesh = mesh();
        let (ann, _, _events) = join(&mesh, "ann", &[]).await;
        let (bob, _, _events) = join(&mesh, "bob", &[]).await;
        for room in ["robots-4294967295", "robots-7"] {
            ann.open(room, "").await.unwrap();
            ann.show(room, "row".into()).await;
        }
        poll_until("both rooms", async || (bob.rooms().len() == 2).then_some(())).await;
        assert_eq!(bob.highest(), 7);
    }

    fn mesh_is_free(fleet: &Fleet, room: &str) -> bool {
        fleet.shared.view().owner(&room.parse().unwrap()).is_none()
    }

    #[tokio::test]
    async fn relayed_requests_are_signed() {
        let mesh = mesh();
        let (ann, _, _events) = join(&mesh, "ann", &[]).await;
        let (bob, _, _events) = join(&mesh, "bob", &[]).await;
        let relayed = seal::Relayed { client: "192.0.2.7:99".parse().unwrap(), secure: false };
        let proof = ann.seal(&seal::SealedRequest { method: "GET", path: "/rooms/a-1/socket", relayed }).unwrap();
        assert_eq!(bob.unseal(&proof, "GET", "/rooms/a-1/socket"), Some(relayed));
        assert_eq!(bob.unseal(&proof, "POST", "/rooms/a-1/socket"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn room_of_a_dead_node_moves_to_a_node_with_its_rules() {
        let mesh = mesh();
        let (ann, _, _ann_events) = join_knowing(&mesh, "ann", &[], &["nuggets-3"]).await;
        let (_bob, _, mut bob_events) = join_knowing(&mesh, "bob", &[], &["nuggets-2"]).await;
        let (cid, _, mut cid_events) = join_knowing(&mesh, "cid", &[], &["nuggets-3"]).await;
        ann.open("nuggets-1", "nuggets-3").await.unwrap();
        let left = Instant::now();
        ann.leave().await;
        assert_eq!(cid_events.recv().await, Some(Event::TakenOver("nuggets-1".parse().unwrap())));
        assert!(left.elapsed() > Duration::from_secs(10), "it may come back");
        assert!(bob_events.try_recv().is_err() && cid.owner_of("nuggets-1").is_none());
        // Ann returns too late, with the file of the room.
        let (_ann, taken, _events) = join_knowing(&mesh, "ann", &["nuggets-1"], &["nuggets-3"]).await;
        assert_eq!(taken, ["nuggets-1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn handover_reports_the_new_node_or_the_refusal() {
        let mesh = mesh();
        let (ann, _, _ann_events) = join(&mesh, "ann", &[]).await;
        let room = "nuggets-1";
        ann.open(room, "").await.unwrap();
        ann.show(room, "row".into()).await;
        ann.drain().await;
        assert_eq!(ann.hand_over(room).await, Some(Err(HandoverError::Refused(mesh::HandoverRefusal::NoNode))));
        let (bob, _, mut bob_events) = join(&mesh, "bob", &[]).await;
        let (cid, _, _cid_events) = join_knowing(&mesh, "cid", &[], &["nuggets-4"]).await;
        cid.drain().await;
        poll_until("that it drains", async || {
            ann.nodes().iter().find(|node| node.name.as_str() == "cid")?.draining.then_some(())
        })
        .await;
        poll_until("the room", async || (cid.rooms().len() == 1).then_some(())).await;
        assert_eq!(ann.hand_over(room).await, Some(Ok(())));
        assert!(!cid.is_moving(room), "it goes on until it is suspended");
        assert!(ann.suspended(room).await);
        assert_eq!(bob_events.recv().await, Some(Event::TakenOver(room.parse().unwrap())));
        // No node has its state yet, and all of them list it as before.
        poll_until("that it moves", async || cid.is_moving(room).then_some(())).await;
        assert_eq!(cid.rooms().len(), 1);
        bob.restored(room).await;
        assert_eq!(ann.follow(room).await, Some(Settled::At("bob".parse().unwrap())));
        poll_until("that it goes on", async || (!cid.is_moving(room)).then_some(())).await;
        assert_eq!(cid.owner_of(room).unwrap().name.as_str(), "bob");
        // The room is no longer being handed over, so further reports have no effect.
        assert!(!ann.suspended(room).await);
        assert_eq!(ann.follow(room).await, None);
    }

    #[tokio::test]
    async fn node_grants_a_lease_and_a_closed_address_is_gone() {
        let mesh = mesh();
        let (ann, _, _events) = join(&mesh, "ann", &[]).await;
        let (bob, _, _events) = join(&mesh, "bob", &[]).await;
        poll_until("each other", async || (ann.nodes().len() == 2 && bob.nodes().len() == 2).then_some(())).await;
        let life =
            async |name: &str| mesh.entry(&mesh::Key::Node(name.parse().unwrap())).await.unwrap().unwrap().life();
        let (own, other) = (life("ann").await.unwrap(), life("bob").await);
        let holder =
            |identity: &str, life| Holder { node: "ann".parse().unwrap(), identity: identity.parse().unwrap(), life };
        let request = |to| LeaseRequest { to, from: ("bob".parse().unwrap(), other) };
        // Ann still receives changes, so it grants at most the time until it would remove the entry of the other node.
        let grant = ann.grant_lease(request(holder("data-of-ann", own))).await;
        assert!(matches!(grant, Some(LeaseGrant::For(time)) if !time.is_zero() && time <= mesh::EXPIRY), "{grant:?}");
        // Another data directory at this address, and a life that is over.
        for gone in [holder("data-of-amy", own), holder("data-of-ann", Revision(0))] {
            assert_eq!(ann.grant_lease(request(gone)).await, Some(LeaseGrant::Gone));
        }
        let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
        let key = RelayKey::read(&RelayKey::draw().unwrap()).unwrap();
        let response = seal::request_lease(&closed.to_string(), &key, &request(holder("data-of-ann", own))).await;
        assert_eq!(response, Some(LeaseGrant::Gone));
    }
}
