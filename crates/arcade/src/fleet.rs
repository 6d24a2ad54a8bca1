//! The other hubs of an arcade of several, and what this one shares with them: `docs/fleet.md`.
//!
//! A hub that is one of several is a *node*. A task keeps its entry and those of its rooms in the directory, and a view of all others.
//! Nothing here knows what a room is: its row is a text.

mod codes;
mod command;
mod common;
pub(crate) mod copies;
pub(crate) mod dial;
pub(crate) mod feeds;
mod handing;
mod identity;
mod moving;
pub(crate) mod plea;
pub(crate) mod seal;
mod shared;
mod task;
mod view;
mod watching;

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::bail;
use mesh::{Directory, Durability, Events, Journals, Limits, MeshError, Name, Nats, OUTAGE, Plea, Promise};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};
use tracing::warn;

use self::{
    command::Command,
    common::Secrets,
    copies::Copies,
    feeds::{Feeds, Owned},
    seal::RelayKey,
    shared::Shared,
    task::{Pulse, Task, Tools},
};
pub(crate) use self::{
    handing::{Kept, Settled},
    shared::{Event, Refused},
    view::{NodeShown, Remote},
};

/// Commands that wait for the task.
const MAX_COMMANDS: usize = 1_024;
/// How long a name or a code of a room is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a node waits at the start until it is in the directory. Longer than another one that has crashed stays there.
const WELCOME: Duration = Duration::from_secs(30);
/// How long the directory may take to hear that the node leaves.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where a node joins, and as what.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Addresses of NATS servers.
    pub(crate) servers: Vec<String>,
    /// The name of the arcade, with which the names of streams and buckets begin.
    pub(crate) arcade: Name,
    /// The name of the node.
    pub(crate) name: Name,
    /// The host at which native clients and other nodes reach it.
    pub(crate) host: String,
    /// Its page, as `HOST:PORT`.
    pub(crate) address: String,
    /// What of its rooms survives the node.
    pub(crate) durability: Durability,
    /// The rules that it knows, as rooms need them.
    pub(crate) runs: Vec<String>,
}

/// A room that the data directory has.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) room: String,
    /// The rules that it needs.
    pub(crate) needs: String,
}

/// This node among the others.
#[derive(Debug)]
pub(crate) struct Fleet {
    name: Name,
    host: Arc<str>,
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
    pulse: watch::Receiver<Pulse>,
    broker: Option<Nats>,
    /// Copies of its rooms.
    pub(crate) copies: Arc<Copies>,
    /// What watchers at other nodes are shown.
    pub(crate) feeds: Feeds,
    secrets: Secrets,
    // Each socket that is passed on to another node has a clone.
    relayed: Arc<()>,
}

/// A node that has reached the broker and is not in the directory yet.
pub(crate) struct Joining {
    fleet: Arc<Fleet>,
    directory: Arc<dyn Directory>,
    settings: mesh::Settings,
    commands: mpsc::Receiver<Command>,
    pulse: watch::Sender<Pulse>,
    events: mpsc::Sender<Event>,
}

fn place(servers: Vec<String>, arcade: Name) -> mesh::Place {
    mesh::Place { servers, prefix: arcade, limits: Limits::default() }
}

/// Reaches the broker, and creates there what is missing. `data` is the data directory, which is locked; `secret` is that of the hub, which
/// becomes that of all if this is the first one. Gives what happens to rooms later.
///
/// # Errors
/// When no server answers, when it cannot be used, and when the data directory cannot be written.
pub(crate) async fn connect(
    settings: Settings,
    data: &Path,
    (most_rooms, secret): (usize, &str),
) -> anyhow::Result<(Joining, mpsc::Receiver<Event>)> {
    let identity = identity::open(data)?;
    let Settings { servers, arcade, name, host, address, durability, runs } = settings;
    let nats = Nats::connect(&place(servers, arcade.clone())).await?;
    let secrets = Secrets::establish(&nats, (data, &arcade), secret).await?;
    let node = mesh::Settings { name, identity, address, most_rooms, runs, outage: OUTAGE };
    let nats_of = || Arc::new(nats.clone());
    let shared: (Arc<dyn Directory>, Arc<dyn Journals>, Arc<dyn Events>) = (nats_of(), nats_of(), nats_of());
    Ok(begin((node, durability), &host, shared, secrets, Some(nats)))
}

fn begin(
    (settings, durability): (mesh::Settings, Durability),
    host: &str,
    (directory, journals, shown): (Arc<dyn Directory>, Arc<dyn Journals>, Arc<dyn Events>),
    secrets: Secrets,
    broker: Option<Nats>,
) -> (Joining, mpsc::Receiver<Event>) {
    let shared = Arc::<Shared>::default();
    *shared.key() = RelayKey::read(&secrets.relay);
    let (commands, receiver) = mpsc::channel(MAX_COMMANDS);
    let (pulse, beats) = watch::channel(Pulse::default());
    // One for each room.
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
    (Joining { fleet, directory, settings, commands: receiver, pulse, events }, happens)
}

impl Joining {
    /// This node, as it will be.
    pub(crate) const fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// Joins, with the rooms that this data directory has. Gives those of them whose names other nodes have.
    ///
    /// # Errors
    /// When the directory does not answer, or another node has the name.
    pub(crate) async fn join(self, rooms: &[Claim]) -> anyhow::Result<Vec<String>> {
        let Self { fleet, directory, settings, commands, pulse, events } = self;
        let mut awaited = vec![];
        let mut claims = vec![];
        for Claim { room, needs } in rooms {
            let (answer, answered) = oneshot::channel();
            claims.push(((room.parse()?, needs.clone()), answer));
            awaited.push((room, answered));
        }
        let name = settings.name.clone();
        let (shared, copies) = (Arc::clone(&fleet.shared), Arc::clone(&fleet.copies));
        let tools = Tools { directory, shared, copies, secrets: fleet.secrets.clone() };
        let task = Task::new(settings, tools, claims, (pulse, events));
        tokio::spawn(task.run(commands));
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
                bail!("another node is called '{name}'; choose another name with --node, or stop it")
            }
            Err(_) => {
                bail!("the directory of the arcade did not answer for {WELCOME:?}; see whether most NATS servers run")
            }
        }
    }
}

impl Fleet {
    /// The name of this node.
    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The host at which native clients reach its rooms.
    pub(crate) fn host(&self) -> Arc<str> {
        Arc::clone(&self.host)
    }

    /// Whether the directory has this node, as far as it knows. Otherwise what it knows of others may be old.
    pub(crate) fn is_present(&self) -> bool {
        self.pulse.borrow().present
    }

    /// How long a change takes to come back from the directory: of the last heartbeat, or of one that is on its way.
    pub(crate) fn lag(&self) -> Duration {
        self.pulse.borrow().lag
    }

    /// The results of all nodes, on their way to the database.
    pub(crate) fn results(&self) -> Option<Arc<dyn mesh::Results>> {
        self.broker.clone().map(|broker| Arc::new(broker) as Arc<dyn mesh::Results>)
    }

    /// Results that this node has moved to the dead letters.
    pub(crate) fn dead_letters(&self) -> u64 {
        self.broker.as_ref().map_or(0, mesh::Results::dead_letters)
    }

    /// Values of the directory, and copies of rooms, that were skipped, since a later version wrote them or they are damaged.
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

    /// The nodes, this one among them.
    pub(crate) fn nodes(&self) -> Vec<NodeShown> {
        self.shared.view().nodes()
    }

    /// The node that has a room, if it is another one.
    pub(crate) fn owner_of(&self, room: &str) -> Option<NodeShown> {
        self.shared.view().owner(&room.parse().ok()?).filter(|owner| owner.name != self.name)
    }

    /// The room of a code, if it is one of another node.
    pub(crate) fn room_of(&self, code: &str) -> Option<String> {
        let room = self.shared.view().coded(&code.parse().ok()?)?;
        self.owner_of(room.as_str()).map(|_| room.to_string())
    }

    /// The highest number that any room has, or had while this node was there.
    pub(crate) fn highest(&self) -> u32 {
        self.shared.view().highest()
    }

    /// What the tokens of all nodes are made with.
    pub(crate) fn secret(&self) -> &str {
        &self.secrets.secret
    }

    /// What the tokens of the nodes were made with whose common secret this data directory had before.
    pub(crate) fn former_secrets(&self) -> &[String] {
        &self.secrets.former
    }

    /// Claims the name of a room that is about to be opened, for a node that knows the rules that it needs. It is shown to others when it has
    /// a row.
    pub(crate) async fn open(&self, room: &str, needs: &str) -> Result<(), Refused> {
        let Ok(name) = room.parse::<Name>() else { return Err(Refused::Taken) };
        let claimed = self.ask(|answer| Command::Open(name.clone(), needs.to_owned(), answer)).await;
        if claimed == Err(Refused::Away) {
            self.close(room).await;
        }
        claimed
    }

    /// Claims a code of a room of this node.
    pub(crate) async fn claim_code(&self, code: &str, room: &str) -> Result<(), Refused> {
        let (Ok(code), Ok(room)) = (code.parse(), room.parse()) else { return Err(Refused::Taken) };
        self.ask(|answer| Command::Code { code, room, answer }).await
    }

    async fn ask(&self, command: impl FnOnce(oneshot::Sender<Result<(), Refused>>) -> Command) -> Result<(), Refused> {
        let (answer, answered) = oneshot::channel();
        let asked = async {
            self.commands.send(command(answer)).await.ok()?;
            answered.await.ok()
        };
        timeout(PATIENCE, asked).await.ok().flatten().unwrap_or(Err(Refused::Away))
    }

    /// Shows the row of a room to the other nodes, a second later at most.
    pub(crate) async fn show(&self, room: &str, row: String) {
        self.tell(room, |room| Command::Show(room, row)).await;
    }

    /// The hub has the state of a room that it has taken over.
    pub(crate) async fn restored(&self, room: &str) {
        self.tell(room, Command::Restored).await;
    }

    /// A room is over.
    pub(crate) async fn close(&self, room: &str) {
        self.tell(room, Command::Close).await;
    }

    async fn tell(&self, room: &str, command: impl FnOnce(Name) -> Command) {
        match room.parse() {
            // Without a task the hub ends.
            Ok(name) => drop(self.commands.send(command(name)).await),
            Err(error) => warn!("a room cannot be shown to other nodes: {error}"),
        }
    }

    /// This node takes no more rooms.
    pub(crate) async fn drain(&self) {
        let _ = self.commands.send(Command::Drain).await;
    }

    /// The process ends; its rooms tell nobody anything more. The directory hears it, if it can be reached.
    pub(crate) async fn leave(&self) {
        let (answer, answered) = oneshot::channel();
        let left = async {
            self.commands.send(Command::Leave(answer)).await.ok()?;
            answered.await.ok()
        };
        if timeout(FAREWELL, left).await.is_err() {
            warn!("the directory does not answer, so other nodes show this one for some seconds more");
        }
    }

    /// What another node is promised.
    pub(crate) async fn promise(&self, plea: Plea) -> Option<Promise> {
        let (answer, answered) = oneshot::channel();
        self.commands.send(Command::Promise(plea, answer)).await.ok()?;
        answered.await.ok()
    }

    /// The fence under which this node publishes a room, if it is one of its own.
    pub(crate) fn owned(&self, room: &str) -> Option<Owned> {
        let fence = self.copies.of(room)?.fence();
        Some(Owned { name: room.parse().ok()?, fence })
    }

    /// Counts a socket that is passed on to another node, while what it gives is held.
    pub(crate) fn relaying(&self) -> Arc<()> {
        Arc::clone(&self.relayed)
    }

    /// Sockets that are passed on to other nodes.
    pub(crate) fn relayed(&self) -> usize {
        Arc::strong_count(&self.relayed) - 1
    }

    /// Proves a request to another node.
    pub(crate) fn seal(&self, request: &seal::Request<'_>) -> Option<String> {
        self.shared.key().as_ref().map(|key| key.seal(seal::now(), request))
    }

    /// What another node has proven of a request.
    pub(crate) fn unseal(&self, text: &str, method: &str, path: &str) -> Option<seal::Relayed> {
        self.shared.key().as_ref()?.unseal(seal::now(), text, (method, path))
    }
}

/// How the broker is.
///
/// # Errors
/// What is wrong, in a sentence.
pub(crate) async fn examine(servers: Vec<String>, arcade: Name) -> Result<String, MeshError> {
    let version = Nats::look(&place(servers, arcade)).await?;
    Ok(format!("NATS {version} with JetStream answers"))
}

#[cfg(test)]
mod tests;
