//! Well-behaved players of every kind, which record how late they are answered and what they lose.

use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    fmt::Display,
    future, io,
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use ::nuggets::{Participant, Typist};
use bytes::Bytes;
use clientkit::{Ended, Pilot, Wire, blackjack_bot, mastermind_bot, robots_bot, run};
use futures_util::{SinkExt as _, StreamExt as _};
use netcore::{Client, Gone, Level, Link, Time, wire::ShortText};
use netshell::Clock;
use tokio::{
    sync::oneshot,
    time::{MissedTickBehavior, interval, sleep, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::{
    attacks::Target,
    driver::{Arrivals, Worker},
    page::{self, Browser, Entry, Http, PATIENCE, word},
    robots::TURN,
};

/// The pause between two keys of a player.
const KEY_PAUSE: Duration = Duration::from_millis(200);
/// The pause between two attempts to reconnect.
const RETRY: Duration = Duration::from_secs(1);
/// A key without a meaning, which the server answers with an error to its sender alone: one answer for each, independent of the other
/// players and of what blocks the key before it.
const PROBE: &[u8] = b"KEY x";
const PROBE_ANSWER: &[u8] = b"ERROR";
/// An answer that takes longer counts as none.
const LOST: Duration = Duration::from_secs(5);
/// The longest pause between two decisions of a pilot in a browser.
const LOOK: Duration = Duration::from_millis(100);
/// How long the hub may read nothing.
const STALL: Duration = Duration::from_secs(10);
/// The pause between two pages.
const PAGE_PAUSE: Duration = Duration::from_millis(250);
/// The requests of the reader in turn. The last one asks for a room to play in.
const PAGES: [(&str, &str); 4] =
    [("GET", "/"), ("GET", "/api/rooms"), ("GET", "/api/leaders?game=nuggets"), ("POST", "/api/play/nuggets")];

/// The kind of answer that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The answer to its key or its message.
    Key,
    /// The next turn.
    Turn,
    /// A page.
    Page,
    /// A change in the lobby.
    Lobby,
}

/// A well-behaved player.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Innocent {
    pub(crate) name: &'static str,
    pub(crate) waits: Waits,
    /// Whether its matches have results.
    pub(crate) plays: bool,
}

pub(crate) const ALL: [Innocent; 8] = [
    Innocent { name: "NuggetsUdp", waits: Waits::Key, plays: true },
    Innocent { name: "NuggetsPage", waits: Waits::Key, plays: true },
    Innocent { name: "RobotsTcp", waits: Waits::Turn, plays: true },
    Innocent { name: "RobotsPage", waits: Waits::Turn, plays: true },
    Innocent { name: "BlackjackTcp", waits: Waits::Key, plays: true },
    Innocent { name: "MastermindTcp", waits: Waits::Key, plays: true },
    Innocent { name: "LobbyPage", waits: Waits::Lobby, plays: false },
    Innocent { name: "Reader", waits: Waits::Page, plays: false },
];

/// The address from which an innocent comes: 127.0.0.2 and the following ones.
pub(crate) fn home(place: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, u8::try_from(place + 2).unwrap_or(2))
}

/// The place of an innocent, and its records.
#[derive(Debug, Clone)]
struct Seat {
    name: &'static str,
    from: Ipv4Addr,
    hub: SocketAddr,
    recorder: Recorder,
}

impl Seat {
    // Records the loss of the seat, and pauses before the next one.
    async fn lost(&self, why: String) {
        self.recorder.lost(why);
        sleep(RETRY).await;
    }
}

/// Starts all of them on a thread of their own. They play until they are stopped, and then return the records of each in the order of
/// [`ALL`].
pub(crate) fn start(target: Target, attacked: Attacked) -> io::Result<Worker<Vec<Meter>>> {
    Worker::start("innocents", |stopped| live(target, attacked, stopped))
}

async fn live(target: Target, attacked: Attacked, stopped: oneshot::Receiver<()>) -> anyhow::Result<Vec<Meter>> {
    let recorders: Vec<Recorder> = ALL.iter().map(|_| Recorder::new(&attacked)).collect();
    let seat = |place: usize| Seat {
        name: ALL[place].name,
        from: home(place),
        hub: target.hub,
        recorder: recorders[place].clone(),
    };
    let Target { nuggets, robots, blackjack, mastermind, .. } = target.clone();
    let all = async {
        tokio::join!(
            native_nuggets(seat(0), nuggets.address),
            browser_nuggets(seat(1), nuggets.id),
            native_robots(seat(2), robots.address),
            browser_robots(seat(3), robots.id),
            native_blackjack(seat(4), blackjack.address),
            native_mastermind(seat(5), mastermind.address),
            lobby(seat(6), mastermind.id),
            reader(seat(7)),
        )
    };
    tokio::select! {
        _ = all => {}
        _ = stopped => {}
    }
    Ok(recorders.iter().map(Recorder::take).collect())
}

/// Whether the attacks have begun.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attacked(Arc<AtomicBool>);

impl Attacked {
    /// Marks the start.
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The records of an innocent in one phase.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How late answers came.
    pub(crate) answers: Vec<Duration>,
    /// Refusals and missing answers.
    pub(crate) failed: u64,
    /// Lost seats and sockets.
    pub(crate) lost: u64,
    /// Matches that were played to their end.
    pub(crate) matches: u64,
    /// The reasons for failures and losses, and how often each came.
    pub(crate) why: BTreeMap<String, u64>,
}

/// The records of an innocent in both phases.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) alone: Seen,
    pub(crate) attacked: Seen,
}

/// Writes the records of an innocent in the current phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    meter: Rc<RefCell<Meter>>,
    attacked: Attacked,
}

impl Meter {
    /// Matches that were played to their end, in both phases.
    pub(crate) const fn matches(&self) -> u64 {
        self.alone.matches + self.attacked.matches
    }
}

impl Recorder {
    pub(crate) fn new(attacked: &Attacked) -> Self {
        Self { meter: Rc::default(), attacked: attacked.clone() }
    }

    /// Records how late an answer came.
    pub(crate) fn answered(&self, late: Duration) {
        self.write(|seen| seen.answers.push(late));
    }

    /// Records a refusal or a missing answer.
    pub(crate) fn failed(&self, why: impl Into<String>) {
        self.write(|seen| {
            seen.failed += 1;
            *seen.why.entry(why.into()).or_default() += 1;
        });
    }

    /// Records the loss of a seat or a socket.
    pub(crate) fn lost(&self, why: impl Into<String>) {
        self.write(|seen| {
            seen.lost += 1;
            *seen.why.entry(why.into()).or_default() += 1;
        });
    }

    /// Records a match that was played to its end.
    pub(crate) fn ended(&self) {
        self.write(|seen| seen.matches += 1);
    }

    /// Takes the records.
    pub(crate) fn take(&self) -> Meter {
        self.meter.take()
    }

    fn write(&self, write: impl FnOnce(&mut Seen)) {
        let mut meter = self.meter.borrow_mut();
        write(if self.attacked.has_begun() { &mut meter.attacked } else { &mut meter.alone });
    }
}

// Plays until the client is over. The error is how the connection ended.
async fn play_native<C, W, P>(wire: &mut Wire, client: &mut Watched<C, W>, pilot: P) -> Result<(), String>
where
    C: Client<Error: Display>,
    W: Watch<C>,
    P: Pilot<C>,
{
    match run(wire, client, &mut Steered(pilot), future::pending()).await {
        Ended::Over | Ended::Stopped => Ok(()),
        Ended::Lost(why) => Err(why),
    }
}

impl Seat {
    // Connects to a room, and retries.
    async fn connection(&self, room: SocketAddr) -> Wire {
        loop {
            match timeout(PATIENCE, Wire::stream((self.from, 0).into(), room, |_| ())).await {
                Ok(Ok(wire)) => return wire,
                Ok(Err(error)) => self.recorder.failed(format!("no connection: {error}")),
                Err(_) => self.recorder.failed("no connection in time"),
            }
            sleep(RETRY).await;
        }
    }
}

/// A player of nuggets over datagrams.
async fn native_nuggets(seat: Seat, room: SocketAddr) {
    let Ok(name) = ::nuggets::Name::new(seat.name.as_bytes()) else { return };
    for number in 0.. {
        let mut wire = match Wire::datagrams((seat.from, 0).into(), room) {
            Ok(wire) => wire,
            Err(error) => {
                seat.lost(error.to_string()).await;
                continue;
            }
        };
        let client = ::nuggets::Client::new(Participant::Player(name.clone()), Time::ZERO);
        let mut client = Watched::new(client, Keys::new(seat.recorder.clone()));
        let played = play_native(&mut wire, &mut client, Typist::new(Level::Hard, Some(KEY_PAUSE), number)).await;
        match (played, client.client.end()) {
            (Ok(()), Some(end)) if end.is_game_over() => seat.recorder.ended(),
            (Ok(()), end) => seat.lost(end.map_or_else(|| "left".into(), |end| format!("{end:?}"))).await,
            (Err(why), _) => seat.lost(why).await,
        }
    }
}

/// A player of robots over a connection.
async fn native_robots(seat: Seat, room: SocketAddr) {
    let Ok(name) = ShortText::try_from(seat.name) else { return };
    for number in 0.. {
        let mut wire = seat.connection(room).await;
        let (client, pilot) = robots_bot(name.clone(), wire.address().ok(), Level::Normal, number);
        let mut client = Watched::new(client, Turns::new(seat.recorder.clone()));
        let played = play_native(&mut wire, &mut client, pilot).await;
        seat.lost(played.err().unwrap_or_else(|| "over".into())).await;
    }
}

/// A player of blackjack over a connection.
async fn native_blackjack(seat: Seat, room: SocketAddr) {
    let Ok(name) = blackjack::Name::new(seat.name.as_bytes()) else { return };
    loop {
        let mut wire = seat.connection(room).await;
        let (client, pilot) = blackjack_bot(name.clone(), Level::Easy);
        let mut client = Watched::new(client, Answers::new(seat.recorder.clone()));
        match play_native(&mut wire, &mut client, pilot).await {
            Ok(()) => seat.recorder.ended(),
            Err(why) => seat.lost(why).await,
        }
    }
}

/// A player of mastermind over a connection.
async fn native_mastermind(seat: Seat, room: SocketAddr) {
    let Ok(name) = mastermind::Name::new(seat.name.as_bytes()) else { return };
    for number in 0.. {
        let mut wire = seat.connection(room).await;
        let (client, pilot) = mastermind_bot(name.clone(), Level::Hard, number);
        let mut client = Watched::new(client, Answers::new(seat.recorder.clone()));
        let played = play_native(&mut wire, &mut client, pilot).await;
        seat.lost(played.err().unwrap_or_else(|| "over".into())).await;
    }
}

// Plays over a socket until the client is over. The error is how the socket ended. Sets `token` once the hub has sent that of the seat.
async fn play_in_browser<C, W, P>(
    browser: &mut Browser,
    is_binary: bool,
    client: &mut Watched<C, W>,
    pilot: P,
    token: &mut Option<String>,
) -> Result<(), String>
where
    C: Client<Error: Display>,
    W: Watch<C>,
    P: Pilot<C>,
{
    let clock = Clock::start();
    let mut pilot = Steered(pilot);
    // Why nothing more can be sent. The last messages of the hub are read nevertheless.
    let mut broken = None;
    loop {
        pilot.act(client, clock.now());
        while let Some(message) = client.take_outgoing() {
            if broken.is_some() {
                continue;
            }
            let frame = if is_binary { Message::Binary(message) } else { Message::Text(text(&message)) };
            match timeout(STALL, browser.send(frame)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => broken = Some(page::failure(&error)),
                Err(_) => return Err("takes nothing".into()),
            }
        }
        if client.is_over() {
            return Ok(());
        }
        let now = clock.now();
        let due = client.deadline(now).into_iter().chain(pilot.due(client)).chain([now.plus(LOOK)]).min();
        let message = tokio::select! {
            message = browser.next() => message,
            () = sleep_until(clock.instant(due.unwrap_or(now))) => {
                if client.deadline(now).is_some_and(|deadline| deadline <= clock.now()) {
                    client.elapsed(clock.now());
                }
                continue;
            }
        };
        if let Some(why) = page::end(message.as_ref()) {
            let over = client.is_over();
            client.disconnected(clock.now(), Gone::Broken);
            return if over { Ok(()) } else { Err(broken.unwrap_or(why)) };
        }
        let bytes = match message {
            Some(Ok(Message::Text(text))) if page::is_from_hub(&text) => {
                *token = page::token(&text).or(token.take());
                continue;
            }
            Some(Ok(Message::Text(text))) => Bytes::from(text),
            Some(Ok(Message::Binary(bytes))) => bytes,
            _ => continue,
        };
        if let Err(error) = client.receive(clock.now(), &bytes) {
            return Err(format!("malformed: {error}"));
        }
    }
}

fn text(message: &Bytes) -> Utf8Bytes {
    Utf8Bytes::from(String::from_utf8_lossy(message).into_owned())
}

impl Seat {
    // Opens a socket of the room, at the seat of the token if there is one, and retries.
    async fn socket(&self, room: &str, token: &mut Option<String>) -> Browser {
        loop {
            let entry = Entry { seat: token.clone(), ..Entry::default() };
            match page::enter(self.from, self.hub, room, &entry).await {
                Ok(browser) => return browser,
                Err(why) => {
                    self.recorder.failed(format!("no socket: {why}"));
                    *token = None;
                }
            }
            sleep(RETRY).await;
        }
    }
}

/// A player of nuggets in a browser.
async fn browser_nuggets(seat: Seat, room: String) {
    let Ok(name) = ::nuggets::Name::new(seat.name.as_bytes()) else { return };
    let mut token = None;
    for number in 0.. {
        let mut browser = seat.socket(&room, &mut token).await;
        let client = ::nuggets::Client::with_link(Link::Message, Participant::Player(name.clone()), Time::ZERO);
        let mut client = Watched::new(client, Keys::new(seat.recorder.clone()));
        let typist = Typist::new(Level::Hard, Some(KEY_PAUSE), number);
        let played = play_in_browser(&mut browser, false, &mut client, typist, &mut token).await;
        match (played, client.client.end()) {
            (_, Some(end)) if end.is_game_over() => {
                seat.recorder.ended();
                token = None;
            }
            (Ok(()), end) => {
                token = None;
                seat.lost(end.map_or_else(|| "left".into(), |end| format!("{end:?}"))).await;
            }
            (Err(why), _) => seat.lost(why).await,
        }
    }
}

/// A player of robots in a browser.
async fn browser_robots(seat: Seat, room: String) {
    let Ok(name) = ShortText::try_from(seat.name) else { return };
    let mut token = None;
    for number in 0.. {
        let mut browser = seat.socket(&room, &mut token).await;
        let (client, pilot) = robots_bot(name.clone(), None, Level::Normal, number);
        let mut client = Watched::new(client, Turns::new(seat.recorder.clone()));
        if let Err(why) = play_in_browser(&mut browser, true, &mut client, pilot, &mut token).await {
            seat.recorder.lost(why);
        }
        sleep(RETRY).await;
    }
}

/// Opens the lobby, takes and leaves a seat in this room of mastermind, and measures when the lobby shows it.
async fn lobby(seat: Seat, room: String) {
    loop {
        match page::lobby(seat.from, seat.hub, &room, None).await {
            // After a loss it opens another socket, which gets the whole view again.
            Ok(mut lobby) => {
                if let Err(why) = follow(&seat, &mut lobby, &room).await {
                    seat.recorder.lost(why);
                }
            }
            Err(why) => seat.recorder.failed(format!("no socket: {why}")),
        }
        sleep(RETRY).await;
    }
}

// Takes and leaves the seat until an error. Also returns when the socket of the lobby has ended, which is recorded.
async fn follow(seat: &Seat, lobby: &mut Browser, room: &str) -> Result<(), String> {
    loop {
        let mut browser = page::enter(seat.from, seat.hub, room, &Entry::default()).await?;
        page::say(&mut browser, format!("PLAY {}", seat.name)).await?;
        let seated = timeout(LOST, page::receive(&mut browser, |text| text.starts_with("SEAT"))).await;
        seated.map_err(|_| "no seat in time".to_owned())??;
        let since = Instant::now();
        let is_shown = shown(seat, lobby, room, true).await;
        let took = since.elapsed();
        // In any case, since the hub retains a seat that no player has left permanently.
        page::leave(browser).await;
        if !is_shown? {
            return Ok(());
        }
        seat.recorder.answered(took);
        if !shown(seat, lobby, room, false).await? {
            return Ok(());
        }
        sleep(RETRY).await;
    }
}

// Waits until the lobby shows that this innocent is in the room, or that it is not. Returns whether the socket of the lobby is open.
async fn shown(seat: &Seat, lobby: &mut Browser, room: &str, sits: bool) -> Result<bool, String> {
    let wanted = async {
        match page::receive(lobby, |text| page::has_player(text, room, seat.name) == Some(sits)).await {
            Ok(_) => true,
            Err(why) => {
                seat.recorder.lost(why);
                false
            }
        }
    };
    timeout(LOST, wanted).await.map_err(|_| "the lobby did not show a change".to_owned())
}

/// Reads pages.
async fn reader(seat: Seat) {
    let mut http = Http::new(seat.from, seat.hub);
    let mut pauses = interval(PAGE_PAUSE);
    pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for (method, path) in PAGES.into_iter().cycle() {
        pauses.tick().await;
        let start = Instant::now();
        match http.request(method, path, &[], "").await {
            Ok(answer) if answer.status == 200 => seat.recorder.answered(start.elapsed()),
            Ok(answer) => seat.recorder.failed(format!("{path}: {}", answer.status)),
            Err(error) => seat.recorder.failed(format!("{path}: {}", word(&error))),
        }
    }
}

/// Observes the messages of a client.
trait Watch<C> {
    /// Observes an outgoing message. Returns another one that follows it.
    fn sent(&mut self, _: &Bytes) -> Option<Bytes> {
        None
    }

    /// Observes received bytes, after the client has processed them.
    fn received(&mut self, client: &C, bytes: &[u8]);
}

/// A client and its observer.
#[derive(Debug)]
struct Watched<C, W> {
    client: C,
    watch: W,
    more: VecDeque<Bytes>,
}

impl<C, W> Watched<C, W> {
    const fn new(client: C, watch: W) -> Self {
        Self { client, watch, more: VecDeque::new() }
    }
}

impl<C: Client, W: Watch<C>> Client for Watched<C, W> {
    type Action = C::Action;
    type Error = C::Error;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), C::Error> {
        self.client.receive(now, bytes)?;
        self.watch.received(&self.client, bytes);
        Ok(())
    }

    fn act(&mut self, now: Time, action: C::Action) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        if let Some(message) = self.more.pop_front() {
            return Some(message);
        }
        let message = self.client.take_outgoing()?;
        self.more.extend(self.watch.sent(&message));
        Some(message)
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.client.deadline(now)
    }

    fn elapsed(&mut self, now: Time) {
        self.client.elapsed(now);
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}

/// The pilot of a [`Watched`] client.
#[derive(Debug)]
struct Steered<P>(P);

impl<C: Client, W: Watch<C>, P: Pilot<C>> Pilot<Watched<C, W>> for Steered<P> {
    fn act(&mut self, watched: &mut Watched<C, W>, now: Time) {
        self.0.act(&mut watched.client, now);
    }

    fn due(&self, watched: &Watched<C, W>) -> Option<Time> {
        self.0.due(&watched.client)
    }

    fn leave(&mut self, watched: &mut Watched<C, W>, now: Time) {
        self.0.leave(&mut watched.client, now);
    }
}

/// The answer to the last message, by its time.
#[derive(Debug)]
struct Pending {
    recorder: Recorder,
    since: Option<Instant>,
}

impl Pending {
    /// Starts to wait for an answer, unless another one is pending. Returns whether it does.
    fn ask(&mut self) -> bool {
        match self.since {
            Some(since) if since.elapsed() < LOST => return false,
            Some(_) => self.recorder.failed("no answer"),
            None => {}
        }
        self.since = Some(Instant::now());
        true
    }

    fn answered(&mut self) {
        if let Some(since) = self.since.take() {
            self.recorder.answered(since.elapsed());
        }
    }
}

/// Nuggets: each key is followed by one without a meaning, and its answer is measured.
#[derive(Debug)]
struct Keys(Pending);

impl Keys {
    const fn new(recorder: Recorder) -> Self {
        Self(Pending { recorder, since: None })
    }
}

impl Watch<::nuggets::Client> for Keys {
    fn sent(&mut self, message: &Bytes) -> Option<Bytes> {
        (message.starts_with(b"KEY ") && self.0.ask()).then(|| Bytes::from_static(PROBE))
    }

    fn received(&mut self, _: &::nuggets::Client, bytes: &[u8]) {
        if bytes.starts_with(PROBE_ANSWER) {
            self.0.answered();
        }
    }
}

/// Blackjack and mastermind: the next message answers, since no other player is at the table.
#[derive(Debug)]
struct Answers {
    pending: Pending,
    // The last game of mastermind that has ended. The connection stays open.
    over: Option<u32>,
}

impl Answers {
    const fn new(recorder: Recorder) -> Self {
        Self { pending: Pending { recorder, since: None }, over: None }
    }
}

impl Watch<blackjack::Client> for Answers {
    fn sent(&mut self, _: &Bytes) -> Option<Bytes> {
        self.pending.ask();
        None
    }

    fn received(&mut self, _: &blackjack::Client, _: &[u8]) {
        self.pending.answered();
    }
}

impl Watch<mastermind::Client> for Answers {
    fn sent(&mut self, _: &Bytes) -> Option<Bytes> {
        self.pending.ask();
        None
    }

    fn received(&mut self, client: &mastermind::Client, _: &[u8]) {
        self.pending.answered();
        if let Some(board) = client.board()
            && board.over.is_some()
            && self.over.replace(board.number) != Some(board.number)
        {
            self.pending.recorder.ended();
        }
    }
}

/// Robots: when turns arrive. They are measured after their match, by the schedule that they show, except a last one that arrives
/// together with the end.
#[derive(Debug)]
struct Turns {
    recorder: Recorder,
    arrivals: Arrivals,
    // The turn that arrived last in this match.
    last: Option<u16>,
}

impl Turns {
    fn new(recorder: Recorder) -> Self {
        Self { recorder, arrivals: Arrivals::default(), last: None }
    }
}

impl Watch<::robots::Client> for Turns {
    fn received(&mut self, client: &::robots::Client, _: &[u8]) {
        let Some(game) = client.game() else {
            if self.last.take().is_some() {
                let arrivals = std::mem::take(&mut self.arrivals);
                for late in arrivals.lateness(Duration::from_millis(TURN)) {
                    self.recorder.answered(late);
                }
                self.recorder.ended();
            }
            return;
        };
        // Before the first turn no player has a position. Several turns may have arrived together.
        let first = match self.last {
            None if game.positions().is_empty() => return,
            None => 0,
            Some(last) => last + 1,
        };
        for turn in first..=game.turn() {
            self.arrivals.push(turn, SystemTime::now());
        }
        self.last = Some(game.turn());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_belong_to_the_current_phase() {
        let attacked = Attacked::default();
        let recorder = Recorder::new(&attacked);
        recorder.answered(Duration::from_millis(3));
        attacked.begin();
        recorder.clone().lost("close 4003");
        recorder.failed("429");
        let Meter { alone, attacked } = recorder.take();
        assert_eq!((alone.answers.len(), alone.failed, alone.lost), (1, 0, 0));
        assert_eq!((attacked.answers.len(), attacked.failed, attacked.lost), (0, 1, 1));
        assert_eq!(attacked.why.keys().collect::<Vec<_>>(), ["429", "close 4003"]);
    }
}
