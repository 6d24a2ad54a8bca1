//! Classes: private spaces with a join code, for pupils behind one address.
//!
//! A member is a browser with a name that only the class shows. In rooms of the class each member counts as a host of
//! its own, so quotas for each host become quotas for each browser, and `--players` bounds all of them together. The
//! file of a class has its members and results; it and the journals of its rooms are removed at the end.

mod draw;
mod follow;
mod results;
mod tournament;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, bail};
use cmdkit::{read_file, replace_file};
use journal_core::{Retention, RetentionClass, StoredJournal, SystemDisk};
use netcore::HostId;
use rand::{TryRng as _, rngs::SysRng, seq::SliceRandom as _};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::unix_now;
use tokio::{
    sync::{mpsc, watch},
    task::{block_in_place, spawn_blocking},
    time::timeout,
};
use tracing::{info, warn};

use self::{
    follow::{Running, choose},
    tournament::{Pairing, Tournament},
};
pub(crate) use self::{
    results::{csv, scores},
    tournament::System,
};
use super::{
    Hub, OpenError,
    codes::AttemptResult,
    files::{make_private, remove_if_there},
    shares::{RefusalKind, Shares},
};
use crate::{
    games::{Game, Options},
    message::message,
    player_name::{check_label, check_name},
    room::{
        Room,
        file::{Access, CLASS_DIRECTORY, CODE, Owner, class_directory, draw_code, read_code},
        observer::ClassResult,
        roster::BrowserKey,
    },
};

/// The maximum number of classes of a hub.
pub(crate) const MAX_CLASSES: usize = 64;
/// The maximum number of members of a class, and of its rooms.
pub(crate) const MAX_CLASS_PLAYERS: u32 = 256;
/// The maximum number of teachers of a class. Beyond it, the link of the second one expires.
pub(crate) const MAX_TEACHERS: usize = 8;
/// The maximum number of results of a class. Beyond it, the oldest are forgotten.
pub(crate) const MAX_CLASS_RESULTS: usize = 4_096;
/// The maximum number of players in the results of a class, which keeps its file below [`MAX_FILE`].
pub(crate) const MAX_RESULT_PLAYERS: usize = 16_384;
/// Results of classes that wait to be stored.
pub(crate) const MAX_QUEUED_RESULTS: usize = 1_024;
/// The maximum number of sockets of one member of a class.
pub(crate) const MAX_SOCKETS_OF_MEMBER: usize = 4;
/// In bytes.
const MAX_FILE: usize = 16 << 20;
const EXTENSION: &str = "json";
/// How long the rooms of an ended class may take to close.
const CLOSING: Duration = Duration::from_mins(1);
/// The reasons that players receive.
const ENDED: &str = "the class has ended";
const ROUND_OVER: &str = "the round of the tournament is over";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    // Never assigned again.
    number: u32,
    key: BrowserKey,
    pub(crate) name: String,
}

/// A match of members, with the rank and the score of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassMatch {
    pub(crate) id: String,
    pub(crate) room: String,
    pub(crate) game: String,
    pub(crate) title: String,
    /// In milliseconds since the Unix epoch.
    pub(crate) ended: u64,
    pub(crate) players: Vec<MatchPlayer>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MatchPlayer {
    pub(crate) name: String,
    pub(crate) rank: u32,
    pub(crate) score: i64,
    /// Before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) left: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassFile {
    code: String,
    pub(crate) name: String,
    /// The maximum number of members.
    pub(crate) players: u32,
    // The oldest first.
    teachers: Vec<Owner>,
    /// The names that members choose from. If it is empty, they choose any name.
    pub(crate) list: Vec<String>,
    pub(crate) members: Vec<Member>,
    next: u32,
    /// The oldest first.
    pub(crate) results: Vec<ClassMatch>,
    /// The last one.
    #[serde(default)]
    pub(crate) tournament: Option<Tournament>,
}

impl ClassFile {
    /// The names of the list that no member has.
    pub(crate) fn free_names(&self) -> Vec<&str> {
        let names = self.list.iter().map(String::as_str);
        names.filter(|name| !self.members.iter().any(|member| member.name == **name)).collect()
    }

    // Returns the name of the member, which has one already if it joined before.
    fn join(&mut self, key: BrowserKey, name: &str) -> anyhow::Result<String> {
        if let Some(member) = self.members.iter().find(|member| member.key == key) {
            return Ok(member.name.clone());
        }
        if u32::try_from(self.members.len()).is_ok_and(|members| members >= self.players) {
            bail!(message!("class_full", "this class has {count} players already", count = self.players));
        }
        if self.list.is_empty() {
            check_name(name)?;
        } else if !self.list.iter().any(|listed| listed == name) {
            bail!(message!("class_names", "choose your name from the list of the class"));
        }
        let folded = name.to_lowercase();
        if self.members.iter().any(|member| member.name.to_lowercase() == folded) {
            bail!(message!("class_name_taken", "another player of the class has this name; choose another"));
        }
        self.members.push(Member { number: self.next, key, name: name.to_owned() });
        self.next += 1;
        Ok(name.to_owned())
    }

    fn record(&mut self, result: ClassResult) {
        if self.results.iter().rev().any(|before| before.id == result.id) {
            return;
        }
        let is_member = |name: &str| self.members.iter().any(|member| member.name == name);
        let players = result.rows.into_iter().filter(|row| is_member(&row.name));
        let players =
            players.map(|row| MatchPlayer { name: row.name, rank: row.rank, score: row.score, left: row.left });
        let players: Vec<_> = players.collect();
        if players.is_empty() {
            return;
        }
        if let Some(tournament) = &mut self.tournament {
            tournament.record(&result.room, &players);
        }
        let ClassResult { id, room, title, game, .. } = result;
        let game = game.name().to_owned();
        self.results.push(ClassMatch { id, room, game, title, ended: unix_now(), players });
        let mut count: usize = self.results.iter().map(|result| result.players.len()).sum();
        let mut surplus = self.results.len().saturating_sub(MAX_CLASS_RESULTS);
        for (number, result) in self.results.iter().enumerate() {
            if number >= surplus && count <= MAX_RESULT_PLAYERS {
                break;
            }
            count -= result.players.len();
            surplus = surplus.max(number + 1);
        }
        self.results.drain(..surplus);
    }
}

/// What a client of a class may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClassRole {
    Teacher,
    Member(String),
}

#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) code: String,
    path: PathBuf,
    pub(crate) sockets: Arc<Shares>,
    // `None` once the class has ended.
    state: Mutex<Option<ClassFile>>,
    // Held while rooms are opened or a round is drawn, so that two teachers open no room twice, and none after the end.
    opening: Mutex<()>,
    removed: watch::Sender<()>,
}

impl Class {
    fn new(path: PathBuf, file: ClassFile) -> Arc<Self> {
        // A host may take at most half, and at most what is free. With twice as many, each member always has its share.
        let all = 2 * file.players as usize * MAX_SOCKETS_OF_MEMBER;
        let sockets = Shares::with_cap(RefusalKind::Sockets, all, MAX_SOCKETS_OF_MEMBER);
        let (opening, removed) = Default::default();
        Arc::new(Self { code: file.code.clone(), path, sockets, state: Mutex::new(Some(file)), opening, removed })
    }

    fn opening(&self) -> MutexGuard<'_, ()> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, Option<ClassFile>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if the class has ended.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&ClassFile) -> T) -> Option<T> {
        self.state().as_ref().map(read)
    }

    /// Changes the class and waits for the disk. Without success nothing has changed.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut ClassFile) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let mut state = self.state();
        let mut file = state.clone().ok_or_else(over)?;
        let done = change(&mut file)?;
        if state.as_ref() != Some(&file) {
            replace_file(&self.path, &serde_json::to_vec(&file)?)
                .with_context(|| format!("cannot write '{}'", self.path.display()))?;
            *state = Some(file);
        }
        Ok(done)
    }

    /// The role of the client with this token of a teacher or this key of a browser.
    pub(crate) fn role(&self, token: &str, key: Option<&BrowserKey>) -> Option<ClassRole> {
        let state = self.state();
        let file = state.as_ref()?;
        if file.teachers.iter().any(|teacher| teacher.has(token)) {
            return Some(ClassRole::Teacher);
        }
        let member = file.members.iter().find(|member| Some(&member.key) == key)?;
        Some(ClassRole::Member(member.name.clone()))
    }

    /// The name of the member with this key, and the host that it counts as.
    pub(crate) fn member(&self, key: &BrowserKey) -> Option<(String, HostId)> {
        let state = self.state();
        let member = state.as_ref()?.members.iter().find(|member| member.key == *key)?;
        Some((member.name.clone(), self.host(member.number + 1)))
    }

    /// The host as which the teachers count.
    pub(crate) fn teachers(&self) -> HostId {
        self.host(0)
    }

    // In a block of addresses that are never assigned.
    fn host(&self, number: u32) -> HostId {
        let hash = Sha256::digest(format!("{}\n{number}", self.code));
        HostId::V4([0xf0 | (hash[0] & 0x0f), hash[1], hash[2], hash[3]])
    }

    /// Adds a teacher, and returns the token.
    pub(crate) fn add_teacher(&self) -> anyhow::Result<String> {
        let (token, teacher) = Owner::draw(HostId::Other)?;
        self.change(|file| {
            if file.teachers.len() >= MAX_TEACHERS {
                file.teachers.remove(1);
            }
            file.teachers.push(teacher);
            Ok(())
        })?;
        Ok(token)
    }

    /// Whether a member may take a seat in this room: those of a tournament are for two players.
    pub(crate) fn may_play(&self, room: &str, name: &str) -> bool {
        let state = self.state();
        let tournament = state.as_ref().and_then(|file| file.tournament.as_ref());
        tournament.and_then(|tournament| tournament.players_of(room)).is_none_or(|players| players.contains(&name))
    }

    pub(crate) fn join(&self, key: BrowserKey, name: &str) -> anyhow::Result<String> {
        self.change(|file| file.join(key, name))
    }

    // The name is free again.
    fn remove(&self, name: &str) -> anyhow::Result<()> {
        self.change(|file| {
            file.members.retain(|member| member.name != name);
            Ok(())
        })?;
        self.removed.send_replace(());
        Ok(())
    }

    /// Waits until the member with this key is removed.
    pub(crate) async fn removed(&self, key: &BrowserKey) {
        let mut removed = self.removed.subscribe();
        while self.member(key).is_some() {
            // The sender lives as long as the class.
            let _ = removed.changed().await;
        }
    }

    /// Sets the names that new members choose from.
    pub(crate) fn set_list(&self, names: &[String]) -> anyhow::Result<()> {
        let mut list: Vec<String> = vec![];
        for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            if check_name(name).is_err() {
                bail!(message!("class_list", "'{name}' cannot be a name", name = name));
            }
            if !list.iter().any(|listed| listed.to_lowercase() == name.to_lowercase()) {
                list.push(name.to_owned());
            }
        }
        self.change(|file| {
            if list.len() > MAX_CLASS_PLAYERS as usize {
                bail!(message!("class_list_long", "a list has up to {count} names", count = MAX_CLASS_PLAYERS));
            }
            file.list = list;
            Ok(())
        })
    }
}

#[derive(Debug)]
pub(crate) struct Classes {
    directory: PathBuf,
    journals: PathBuf,
    open: Mutex<BTreeMap<String, Arc<Class>>>,
    // Codes of classes whose files could not be read. The files stay for the operator, as do their rooms and journals.
    damaged: BTreeSet<String>,
}

impl Classes {
    pub(super) fn open(directory: PathBuf, journals: &Path) -> anyhow::Result<Self> {
        make_private(&directory)?;
        let (mut open, mut damaged) = (BTreeMap::new(), BTreeSet::new());
        for entry in fs::read_dir(&directory).with_context(|| format!("cannot read '{}'", directory.display()))? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != EXTENSION) {
                continue;
            }
            match read(&path) {
                Ok(file) => {
                    let class = Class::new(path, file);
                    open.insert(class.code.clone(), class);
                }
                Err(error) => {
                    warn!(
                        "the class '{}' does not run: {error:#}; its file, rooms and journals are kept until it is \
                         repaired or removed",
                        path.display()
                    );
                    damaged.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
                }
            }
        }
        let classes = Self { directory, journals: journals.to_owned(), open: Mutex::new(open), damaged };
        classes.remove_remains();
        Ok(classes)
    }

    // The hub may have been killed while a class ended.
    fn remove_remains(&self) {
        let Ok(entries) = fs::read_dir(&self.journals) else { return };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        for code in names.filter_map(|name| name.strip_prefix(CLASS_DIRECTORY).map(str::to_owned)) {
            if self.get(&code).is_none() && !self.is_damaged(&code) {
                self.remove_journals(&code);
            }
        }
    }

    fn remove_journals(&self, code: &str) {
        let path = self.journals.join(class_directory(code));
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                warn!(%error, "cannot remove '{}', the journals of an ended class; the next start will", path.display());
            }
            _ => {}
        }
    }

    /// Applies the limits of the operator to the journals of each class that no room needs.
    pub(super) fn prune(&self, retention: &Retention, is_of_room: impl Fn(&str) -> bool) {
        let codes: Vec<String> = self.map().keys().cloned().collect();
        for directory in codes.iter().map(|code| class_directory(code)) {
            let worth = |journal: &StoredJournal| match journal.path.file_name().and_then(|name| name.to_str()) {
                Some(name) if !is_of_room(&format!("{directory}/{name}")) => RetentionClass::Removable(0),
                _ => RetentionClass::Exempt,
            };
            let path = self.journals.join(&directory);
            match journal_core::prune(&SystemDisk, &path, retention, SystemTime::now(), worth) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    warn!(%error, "cannot remove old journals of a class");
                }
                _ => {}
            }
        }
    }

    fn map(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Class>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each with its code.
    pub(crate) fn names(&self) -> Vec<String> {
        let classes: Vec<Arc<Class>> = self.map().values().cloned().collect();
        classes.iter().filter_map(|class| class.read(|file| format!("{} ({})", class.code, file.name))).collect()
    }

    pub(crate) fn get(&self, code: &str) -> Option<Arc<Class>> {
        self.map().get(code).cloned()
    }

    /// Whether the hub did not restore this class since its file is damaged.
    pub(crate) fn is_damaged(&self, code: &str) -> bool {
        self.damaged.contains(code)
    }
}

fn read(path: &Path) -> anyhow::Result<ClassFile> {
    let bytes = read_file(path, MAX_FILE)?;
    if bytes.len() > MAX_FILE {
        bail!("it is larger than {MAX_FILE} bytes");
    }
    let file: ClassFile = serde_json::from_slice(&bytes)?;
    let is_named = path.file_stem().is_some_and(|stem| stem == file.code.as_str());
    if !is_named || read_code(&file.code, CODE).as_ref() != Some(&file.code) {
        bail!("it is not the file of that class");
    }
    Ok(file)
}

fn over() -> anyhow::Error {
    message!("class_over", "this class has ended").into()
}

impl Hub {
    /// Opens a class, and returns the token of its first teacher. Waits for the disk.
    pub(crate) fn open_class(&self, name: &str, players: u32) -> anyhow::Result<(Arc<Class>, String)> {
        if self.cluster().is_some() {
            bail!("a hub of an arcade of several has no classes; start one hub without --nats for them");
        }
        check_label(name)?;
        let (token, teacher) = Owner::draw(HostId::Other)?;
        let mut open = self.classes.map();
        if open.len() >= MAX_CLASSES {
            bail!(
                "the hub has {MAX_CLASSES} classes already; end one of them on the page of its teacher, or with end-class"
            );
        }
        let is_taken = |code: &str| {
            open.contains_key(code)
                || self.classes.is_damaged(code)
                || self.rooms.all().iter().any(|room| room.access.code() == Some(code))
        };
        let code = loop {
            let code = draw_code(CODE)?;
            if !is_taken(&code) {
                break code;
            }
        };
        let file = ClassFile {
            code: code.clone(),
            name: name.to_owned(),
            players,
            teachers: vec![teacher],
            list: vec![],
            members: vec![],
            next: 0,
            results: vec![],
            tournament: None,
        };
        let path = self.classes.directory.join(format!("{code}.{EXTENSION}"));
        replace_file(&path, &serde_json::to_vec(&file)?)
            .with_context(|| format!("cannot write '{}'", path.display()))?;
        let class = Class::new(path, file);
        open.insert(code, Arc::clone(&class));
        Ok((class, token))
    }

    /// A class by its code as typed. A client that is in the class is not charged for wrong codes of others.
    pub(crate) async fn class_by_code(
        &self,
        host: HostId,
        typed: &str,
        is_inside: impl Fn(&Class) -> bool,
    ) -> AttemptResult<Arc<Class>> {
        let Some(code) = read_code(typed, CODE) else { return AttemptResult::Wrong };
        let class = self.classes.get(&code);
        let is_inside = class.as_ref().is_some_and(|class| is_inside(class));
        self.try_code(host, &code, is_inside, std::future::ready(class)).await
    }

    /// The rooms of a class, in the order of opening, without those that are about to close.
    pub(crate) fn rooms_of_class(&self, code: &str) -> Vec<Arc<Room>> {
        let mut rooms = self.rooms.all();
        rooms.retain(|room| room.access.class() == Some(code) && room.info.borrow().closing.is_none());
        rooms.sort_by_key(|room| {
            let id = room.file().id.clone();
            id.rsplit('-').next().and_then(|number| number.parse::<u32>().ok())
        });
        rooms
    }

    /// The host as which a request to the class counts, if the client is a member or a teacher.
    pub(crate) fn class_caller(&self, code: &str, token: &str, key: Option<&BrowserKey>) -> Option<HostId> {
        let class = self.classes.get(code)?;
        match class.role(token, key)? {
            ClassRole::Teacher => Some(class.teachers()),
            ClassRole::Member(_) => class.member(key?).map(|(_, host)| host),
        }
    }

    /// Opens a room of a class, which its teachers own. Waits for the disk.
    pub(crate) fn open_class_room(
        self: &Arc<Self>,
        class: &Class,
        options: &Options,
        name: Option<String>,
    ) -> Result<Arc<Room>, OpenError> {
        let _opening = class.opening();
        self.open_next_room(class, options, name)
    }

    fn open_next_room(
        self: &Arc<Self>,
        class: &Class,
        options: &Options,
        name: Option<String>,
    ) -> Result<Arc<Room>, OpenError> {
        let most = class.read(|file| file.players).ok_or_else(over)?;
        if self.rooms_of_class(&class.code).len() >= most as usize {
            return Err(anyhow::Error::from(message!(
                "class_rooms",
                "this class has {count} rooms; close one of them",
                count = most
            ))
            .into());
        }
        make_private(&self.classes.journals.join(class_directory(&class.code)))?;
        self.open_with(options, None, |file| {
            file.access = Access::Class(class.code.clone());
            file.owner = Some(Owner::with_token(&self.secret().class_owner(&file.id), HostId::Other));
            file.name = name;
            Ok(())
        })
    }

    /// Starts a tournament of all members with its first round. Waits for the disk.
    pub(crate) fn start_tournament(
        self: &Arc<Self>,
        class: &Class,
        system: System,
        game: Game,
    ) -> Result<(), OpenError> {
        let _opening = class.opening();
        let players = class.read(|file| file.members.iter().map(|member| member.name.clone()).collect());
        let mut players: Vec<String> = players.ok_or_else(over)?;
        if players.len() < 2 {
            return Err(anyhow::Error::from(message!("class_few", "a tournament has at least two players")).into());
        }
        players.shuffle(&mut Pcg64::new(SysRng.try_next_u64().map_err(anyhow::Error::from)?.into(), 0));
        self.close_tournament_rooms(class);
        class.change(|file| {
            file.tournament = Some(Tournament::new(system, game, players));
            Ok(())
        })?;
        self.open_round(class, 0)
    }

    /// Ends this round of the tournament, counted from 1, and opens the rooms of the next one. If some rooms of the present
    /// round could not be opened, opens them instead. No effect if another teacher has ended the round. Waits for the disk.
    pub(crate) fn next_round(self: &Arc<Self>, class: &Class, round: usize) -> Result<(), OpenError> {
        let _opening = class.opening();
        self.open_round(class, round)
    }

    fn open_round(self: &Arc<Self>, class: &Class, present_round: usize) -> Result<(), OpenError> {
        let mut present = vec![];
        for room in self.rooms_of_class(&class.code) {
            let id = room.file().id.clone();
            let info = room.info.borrow();
            // A player who waits for the start of a round of blackjack has no seat yet.
            let people = info.players.iter().filter(|player| !player.bot);
            present.extend(people.map(|player| (id.clone(), player.name.clone())));
        }
        let is_present = |room: &str, name: &str| present.iter().any(|(at, who)| at == room && who == name);
        let needs_room = |pairing: &Pairing| pairing.other.is_some() && pairing.room.is_none();
        let is_new = class.change(|file| {
            let Some(tournament) = &mut file.tournament else {
                bail!(message!("no_tournament", "this class has no tournament"));
            };
            let is_present_round = tournament.played.len() == present_round;
            let is_new =
                is_present_round && !tournament.played.last().is_some_and(|round| round.iter().any(needs_room));
            if is_new {
                tournament.end_round(is_present);
                tournament.draw();
            }
            Ok(is_new)
        })?;
        if is_new {
            self.close_tournament_rooms(class);
        }
        let read = |file: &ClassFile| {
            let tournament = file.tournament.as_ref()?;
            let numbers = tournament.played.last()?.iter().enumerate().filter(|(_, pairing)| needs_room(pairing));
            let numbers: Vec<usize> = numbers.map(|(number, _)| number).collect();
            Some((Options::duel(tournament.game), tournament.played.len(), numbers))
        };
        let Some((options, round, numbers)) = class.read(read).flatten() else { return Ok(()) };
        for number in numbers {
            let room = self.open_next_room(class, &options, Some(format!("{round}.{}", number + 1)))?;
            let id = room.file().id.clone();
            class.change(|file| {
                let pairing = file.tournament.as_mut().and_then(|all| all.played.last_mut()?.get_mut(number));
                if let Some(pairing) = pairing {
                    pairing.room = Some(id);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    // Closes the rooms of decided matches.
    fn close_tournament_rooms(&self, class: &Class) {
        let rooms = class.read(|file| {
            let pairings = file.tournament.iter().flat_map(|tournament| tournament.played.iter().flatten());
            pairings.filter_map(|pairing| pairing.room.clone()).collect::<Vec<_>>()
        });
        for room in rooms.unwrap_or_default().iter().filter_map(|id| self.rooms.get(id)) {
            self.rooms.close(&room, ROUND_OVER);
        }
    }

    /// The room whose match a projector shows, if it showed `present` before.
    pub(crate) fn followed_room(&self, class: &Class, present: Option<&str>) -> Option<String> {
        let table = class.read(|file| file.tournament.as_ref().map(Tournament::table)).flatten().unwrap_or_default();
        let mut running = vec![];
        for room in self.rooms_of_class(&class.code) {
            let info = room.info.borrow();
            if info.phase != "playing" {
                continue;
            }
            let people = info.players.iter().filter(|player| !player.bot && !player.seat.is_empty());
            let places = people.clone().filter_map(|player| table.iter().position(|place| place.name == player.name));
            let in_tournament = class.read(|file| {
                file.tournament.as_ref().is_some_and(|tournament| tournament.players_of(&info.id).is_some())
            });
            running.push(Running {
                room: info.id.clone(),
                people: u32::try_from(people.clone().count()).unwrap_or(u32::MAX),
                scores: info.show.scores.values().copied().collect(),
                place: places.min().filter(|_| in_tournament == Some(true)),
            });
        }
        choose(&running, present)
    }

    /// Removes a member from the class and its rooms. The name is free again. Waits for the disk.
    pub(crate) fn remove_member(&self, class: &Class, name: &str) -> anyhow::Result<()> {
        class.remove(name)?;
        for room in self.rooms_of_class(&class.code) {
            let players = room.info.borrow().players.clone();
            players.iter().filter(|player| !player.bot && player.name == name).for_each(|player| room.remove(player));
        }
        Ok(())
    }

    /// Ends a class: closes its rooms, and removes its names, keys, results and journals. If the hub is killed meanwhile,
    /// the next start removes the rest.
    pub(crate) async fn end_class(&self, class: &Class) -> anyhow::Result<()> {
        block_in_place(|| {
            let mut state = class.state();
            remove_if_there(&class.path).with_context(|| format!("cannot remove '{}'", class.path.display()))?;
            *state = None;
            anyhow::Ok(())
        })?;
        self.classes.map().remove(&class.code);
        // A room that is being opened is closed as well.
        drop(block_in_place(|| class.opening()));
        let mut rooms = self.rooms.all();
        rooms.retain(|room| room.access.class() == Some(&*class.code));
        for room in &rooms {
            block_in_place(|| self.rooms.close(room, ENDED));
        }
        let closed = async {
            for room in &rooms {
                self.rooms.replacement(room).await;
            }
        };
        if timeout(CLOSING, closed).await.is_err() {
            warn!("some rooms of an ended class do not close");
        }
        block_in_place(|| self.classes.remove_journals(&class.code));
        info!("a class has ended; its data is removed");
        Ok(())
    }

    /// Stores the results of matches in rooms of classes.
    pub(crate) async fn record_class_results(self: Arc<Self>, mut results: mpsc::Receiver<ClassResult>) {
        while let Some(result) = results.recv().await {
            let Some(class) = self.classes.get(&result.class) else { continue };
            let recorded = spawn_blocking(move || {
                class.change(|file| {
                    file.record(result);
                    Ok(())
                })
            });
            if let Ok(Err(error)) = recorded.await {
                warn!("cannot store a result of a class: {error:#}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use testkit::TempDir;

    use super::{super::tests::hub, *};
    use crate::room::info::Row;

    fn class(players: u32) -> ClassFile {
        ClassFile {
            code: "abcdefgh".into(),
            name: "Networks".into(),
            players,
            teachers: vec![],
            list: vec![],
            members: vec![],
            next: 0,
            results: vec![],
            tournament: None,
        }
    }

    fn code(joined: anyhow::Result<String>) -> String {
        let message = joined.unwrap_err().downcast::<crate::message::Message>().unwrap();
        message.to_json()["code"].as_str().unwrap().to_owned()
    }

    #[test]
    fn members_are_bounded_and_have_different_names() {
        let mut class = class(3);
        assert_eq!(class.join([1; 32], "Ann").unwrap(), "Ann");
        assert_eq!(class.join([1; 32], "Eve").unwrap(), "Ann", "a browser keeps its name");
        assert_eq!(code(class.join([2; 32], "ANN")), "class_name_taken");
        assert_eq!(code(class.join([2; 32], "two  spaces")), "name_spaces");
        class.join([2; 32], "Łukasz").unwrap();
        class.join([3; 32], "שרה").unwrap();
        assert_eq!(code(class.join([4; 32], "Dan")), "class_full");
        assert_eq!(class.join([3; 32], "").unwrap(), "שרה", "a full class readmits its members");
    }

    #[test]
    fn names_of_a_list_are_given_once() {
        let mut class = class(3);
        class.list = vec!["Ann".into(), "Bob".into()];
        assert_eq!(code(class.join([1; 32], "Eve")), "class_names");
        class.join([1; 32], "Ann").unwrap();
        assert_eq!(class.free_names(), ["Bob"]);
        assert_eq!(code(class.join([2; 32], "Ann")), "class_name_taken");
    }

    fn row(rank: u32, name: &str) -> Row {
        Row { rank, name: name.into(), wire: None, seat: rank.to_string(), score: 1, left: false }
    }

    fn result(id: &str, rows: Vec<Row>) -> ClassResult {
        let (class, room, title) = ("abcdefgh".into(), "robots-1".into(), "2 robots".into());
        ClassResult { class, room, game: Game::Robots, title, id: id.into(), rows }
    }

    #[test]
    fn results_are_bounded_by_number_and_players() {
        let mut class = class(256);
        let names: Vec<String> = (0..256).map(|number| format!("Pupil {number}")).collect();
        for (number, name) in (0_u16..).zip(&names) {
            let mut key = [0; 32];
            key[..2].copy_from_slice(&number.to_le_bytes());
            class.join(key, name).unwrap();
        }
        let all: Vec<Row> = names.iter().map(|name| row(1, name)).collect();
        for number in 0..=MAX_RESULT_PLAYERS / 256 {
            class.record(result(&number.to_string(), all.clone()));
        }
        assert_eq!((class.results.len(), &*class.results[0].id), (MAX_RESULT_PLAYERS / 256, "1"));
        for number in 100..100 + MAX_CLASS_RESULTS {
            class.record(result(&number.to_string(), all[..1].to_vec()));
        }
        assert_eq!((class.results.len(), &*class.results[0].id), (MAX_CLASS_RESULTS, "100"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn ended_class_admits_no_client_and_opens_no_room() {
        let data = TempDir::new();
        let (hub, _) = hub(&data);
        let (class, teacher) = hub.open_class("Networks", 3).unwrap();
        class.join([1; 32], "Ann").unwrap();
        let room = hub.open_class_room(&class, &Options::usual(Game::Nuggets), None).unwrap();
        assert_eq!(class.role(&teacher, None), Some(ClassRole::Teacher));
        hub.end_class(&class).await.unwrap();
        assert_eq!((class.role(&teacher, None), class.role("", Some(&[1; 32]))), (None, None));
        assert!(class.join([2; 32], "Bob").is_err() && class.add_teacher().is_err());
        assert!(hub.open_class_room(&class, &Options::usual(Game::Nuggets), None).is_err());
        assert!(hub.start_tournament(&class, System::Swiss, Game::Nuggets).is_err());
        assert!(hub.rooms_of_class(&class.code).is_empty() && hub.rooms.get(&room.file().id).is_none());
        assert!(!class.path.exists() && !hub.classes.journals.join(class_directory(&class.code)).exists());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn limits_of_journals_apply_to_classes() {
        let data = TempDir::new();
        let (hub, _) = hub(&data);
        let (class, _) = hub.open_class("Networks", 3).unwrap();
        let room = hub.open_class_room(&class, &Options::usual(Game::Nuggets), None).unwrap();
        let used = hub.classes.journals.join(room.file().journal.clone().unwrap());
        let unused = used.with_file_name("nuggets-old.journal");
        fs::copy(&used, &unused).unwrap();
        let rooms = hub.rooms.files.journals().unwrap();
        hub.classes.prune(&Retention { count: Some(0), ..Retention::default() }, |file| rooms.has(file));
        assert!(used.exists() && !unused.exists());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn removed_member_is_noticed_and_its_name_is_free() {
        let data = TempDir::new();
        let (hub, _) = hub(&data);
        let (class, _) = hub.open_class("Networks", 3).unwrap();
        class.join([1; 32], "Ann").unwrap();
        class.join([2; 32], "Bob").unwrap();
        let mut removed = std::pin::pin!(class.removed(&[1; 32]));
        hub.remove_member(&class, "Bob").unwrap();
        assert!(removed.as_mut().now_or_never().is_none());
        hub.remove_member(&class, "Ann").unwrap();
        removed.await;
        class.join([3; 32], "Ann").unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn round_is_ended_once_by_two_teachers() {
        let data = TempDir::new();
        let (hub, _) = hub(&data);
        let (class, _) = hub.open_class("Networks", 3).unwrap();
        for (number, name) in (1..).zip(["Ann", "Bob", "Cid"]) {
            class.join([number; 32], name).unwrap();
        }
        for _ in 0..2 {
            hub.open_class_room(&class, &Options::usual(Game::Nuggets), None).unwrap();
        }
        hub.start_tournament(&class, System::RoundRobin, Game::Robots).unwrap();
        assert!(hub.open_class_room(&class, &Options::usual(Game::Nuggets), None).is_err());
        let played = || class.read(|file| file.tournament.as_ref().unwrap().played.len()).unwrap();
        for _ in 0..2 {
            hub.next_round(&class, 1).unwrap();
            assert_eq!((played(), hub.rooms_of_class(&class.code).len()), (2, 3));
        }
        hub.next_round(&class, 2).unwrap();
        assert_eq!(played(), 3);
    }

    #[test]
    fn results_contain_members_only_and_each_match_once() {
        let mut class = class(3);
        class.join([1; 32], "Ann").unwrap();
        let result = result("1-1", vec![row(1, "Teacher"), row(2, "Ann")]);
        class.record(result.clone());
        class.record(result.clone());
        class.record(ClassResult { id: "1-2".into(), rows: vec![row(1, "Teacher")], ..result });
        let names: Vec<_> =
            class.results.iter().map(|result| (&*result.players[0].name, result.players.len())).collect();
        assert_eq!(names, [("Ann", 1)]);
    }
}
