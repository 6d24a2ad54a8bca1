use std::{
    collections::BTreeMap,
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use netcore::{Client as _, Time};
use nuggets::{Client, Explorer, Name, Participant};
use testkit::{
    peer::{Peer, numbers},
    process::Process,
    seeds::for_each_seed,
};

use crate::{
    kills::{Lives, Mortal, hundred_kills},
    programs::program,
};

/// Bots in this process, which check all messages that they receive.
const BOTS: usize = 4;
/// Bots in a separate process, as users start them.
const OTHERS: &str = "2";
/// Messages between two kills while bots join, at most.
const JOINING: u64 = 40;
/// Messages between two kills of a game, at most.
const MESSAGES: u64 = 300;
/// One key in this many is followed by a long malformed message, so that the journal grows until it contains snapshots.
const NOISE: u64 = 4;
/// Time without messages before a bot presses another key, since the previous key may have been lost with the server.
const AGAIN: Duration = Duration::from_millis(20);
/// All nuggets of a game.
const GOLD: u32 = 250;

/// The state that a player received. Later messages must not contradict it.
#[derive(Default)]
struct Told {
    letter: Option<String>,
    grid: Option<String>,
    purse: u32,
    remaining: Option<u32>,
    display: Vec<u8>,
    /// The text of QUIT.
    quit: Option<String>,
}

impl Told {
    fn take(&mut self, datagram: &[u8]) {
        let text = String::from_utf8_lossy(datagram).into_owned();
        let (kind, rest) = text.split_once([' ', '\n']).unwrap_or((&text, ""));
        match kind {
            "OK" => same(&mut self.letter, rest),
            "GRID" => same(&mut self.grid, rest),
            "QUIT" => same(&mut self.quit, rest),
            "GOLD" => {
                let [_, purse, remaining] = numbers(&text, "GOLD");
                assert!(purse >= self.purse, "the purse of {} was {}: {text}", self.name(), self.purse);
                assert!(self.remaining.is_none_or(|before| remaining <= before), "{:?}: {text}", self.remaining);
                (self.purse, self.remaining) = (purse, Some(remaining));
            }
            "DISPLAY" => {
                let known = self.display.iter().zip(rest.bytes());
                let lost = known.filter(|&(&before, now)| before != b' ' && now == b' ').count();
                assert_eq!(lost, 0, "{} spots are not known any more to {}\n{rest}", lost, self.name());
                self.display = rest.into();
            }
            _ => {}
        }
    }

    fn name(&self) -> &str {
        self.letter.as_deref().unwrap_or("?")
    }
}

// A repeated message must have the same content.
fn same(known: &mut Option<String>, told: &str) {
    assert_eq!(known.get_or_insert_with(|| told.to_owned()), told);
}

/// Plays until QUIT arrives, or until the server has stopped permanently, since its last datagrams may be lost. The
/// client is never restarted.
fn play(server: SocketAddr, name: &str, lives: &Lives) -> Told {
    let _bot = lives.bot();
    let peer = Peer::new(server);
    let start = Instant::now();
    let now = || Time::ZERO.plus(start.elapsed());
    let mut client = Client::new(Participant::Player(Name::new(name.as_bytes()).unwrap()), now());
    let (mut explorer, mut told, mut pressed) = (Explorer::new(), Told::default(), 0);
    let (mut joined, noise) = (false, format!("KEY {}", "?".repeat(1_000)));
    while !client.is_over() {
        while let Some(message) = client.take_outgoing() {
            peer.send(message);
        }
        let first = peer.receive_by(Instant::now() + AGAIN);
        let silent = first.is_none();
        if silent && !lives.silence() {
            break;
        }
        // Reads all pending messages before it chooses a key. A bot that reads slower than other bots play loses messages.
        for datagram in first.into_iter().chain(peer.pending()) {
            told.take(&datagram);
            client.receive(now(), &datagram).unwrap();
            lives.0.change(|state| state.messages += 1);
        }
        client.elapsed(now());
        let moved = client.displays() != pressed;
        if !joined && client.is_joined() {
            joined = true;
            lives.0.change(|state| state.joined += 1);
        }
        if (moved || silent)
            && lives.0.lock().begun
            && let Some(key) = explorer.next_key(&client)
        {
            pressed = client.displays();
            if pressed.is_multiple_of(NOISE) {
                peer.send(&noise);
            }
            client.act(now(), nuggets::Command::Key(key));
        }
    }
    told
}

/// Plays one game while killing its server up to `kills` times. Returns the number of kills.
fn game(seed: u64, kills: u32) -> u32 {
    let mut server = Mortal::start("nuggets-server", &["--bind", "127.0.0.1", "--seed", &seed.to_string()], seed);
    let (address, lives) = (server.address(), Lives::default());
    let (told, stdout, others, killed) = thread::scope(|scope| {
        let lives = &lives;
        let ending = lives.ending();
        let bots: Vec<_> =
            (0..BOTS).map(|bot| scope.spawn(move || play(address, &format!("bot {bot}"), lives))).collect();
        // Play starts after all bots have joined. Otherwise a game may end before a lost PLAY is sent again.
        while !lives.wait_joined(server.below(JOINING), BOTS) && server.kills < kills {
            assert!(server.kill(), "a game that has not begun goes on");
        }
        let others = ["--bots", OTHERS, "127.0.0.1", &server.port.to_string(), "walker"];
        let others = Process::start(program("nuggets-client").args(others));
        let last = format!("walker{OTHERS}");
        server.process().wait_stderr("that the others play", |log| log.contains(&last).then_some(()));
        lives.0.change(|state| state.begun = true);
        while server.kills < kills {
            let messages = server.below(MESSAGES);
            if !lives.wait(messages, BOTS) || !server.kill() {
                break;
            }
        }
        while lives.wait_unless(MESSAGES, BOTS, || !server.is_running()) {}
        let killed = server.kills;
        let stdout = server.wait();
        drop(ending);
        (bots.into_iter().map(|bot| bot.join().unwrap()).collect::<Vec<Told>>(), stdout, others, killed)
    });
    let others = others.wait().ended(0);
    check(&told, &stdout, &others.stdout);
    killed
}

// Checks that the players and the host received the same result.
fn check(told: &[Told], stdout: &str, others: &str) {
    let over = told.iter().find_map(|told| told.quit.as_deref()).expect("somebody is told that it is over");
    let rows = over.strip_prefix("GAME OVER:\n").unwrap_or_else(|| panic!("{over:?} is no game over"));
    let rows: BTreeMap<&str, (u32, &str)> =
        rows.lines().map(|row| (&row[..1], (row[2..12].trim().parse().unwrap(), &row[13..]))).collect();
    assert_eq!(rows.values().map(|&(purse, _)| purse).sum::<u32>(), GOLD, "{over}");
    assert_eq!(rows.len(), BOTS + OTHERS.parse::<usize>().unwrap(), "nobody has joined twice: {over}");
    for (bot, told) in told.iter().enumerate() {
        assert!(told.quit.as_deref().is_none_or(|quit| quit == over), "{over}\n{:?}", told.quit);
        let (purse, name) = rows[told.name()];
        assert_eq!(name, format!("bot {bot}"));
        // The last datagrams of a game may be lost.
        let fits = told.purse == purse || told.quit.is_none() && told.purse < purse;
        assert!(fits, "{name} was told {}: {over}", told.purse);
    }
    assert_eq!(others, format!("{over}\n"));
    // A server that was killed after the end of the game may not have printed the table.
    let tables = stdout.matches("GAME OVER:").count();
    assert!(tables == 0 || tables == 1 && stdout.contains(&format!("\n{over}\n")), "{over}\n{stdout}");
}

#[test]
fn killed_server_loses_nothing_that_it_sent() {
    for_each_seed(2, |seed| assert!(game(seed, 5) > 0));
}

#[test]
#[ignore = "part of `just prove`"]
fn killed_a_hundred_times_it_loses_nothing_that_it_sent() {
    hundred_kills(game);
}
