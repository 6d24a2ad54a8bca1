//! Killed servers resume their match at the same port without losing sent data, over each transport. The simulation in
//! testkit kills servers at many more points.

use std::time::{Duration, Instant};

use netcore::{Client as _, Time};
use nuggets::{Client, Command, Explorer, Name, Participant};
use robots::ServerMessage;
use testkit::{TempDir, peer::Peer, process::Process};

use crate::{programs::program, robots::Client as Watcher};

const KILLS: usize = 4;

struct Server {
    name: &'static str,
    journals: TempDir,
    process: Process,
    port: u16,
}

impl Server {
    fn start(name: &'static str, arguments: &str) -> Self {
        let journals = TempDir::new();
        let mut command = program(name);
        let process = Process::start(command.args(arguments.split(' ')).arg("--journal").arg(journals.path()));
        let port = process.port();
        Self { name, journals, process, port }
    }

    fn kill(self) -> Self {
        let Self { name, journals, process, port } = self;
        process.kill();
        process.wait();
        let process = Process::start(program(name).arg("--resume").arg(journals.path()));
        assert_eq!(process.port(), port);
        Self { name, journals, process, port }
    }
}

#[test]
fn a_player_over_udp_continues_after_each_kill_to_the_end_of_the_game() {
    let mut server = Server::start("nuggets-server", "--bind 127.0.0.1 --seed 5 --sync always");
    let peer = Peer::new(([127, 0, 0, 1], server.port).into());
    let start = Instant::now();
    let now = || Time::ZERO.plus(start.elapsed());
    let mut client = Client::new(Participant::Player(Name::new(b"Ann").unwrap()), now());
    let (mut explorer, mut kills, mut received) = (Explorer::new(), 0, 0);
    let mut before = (None, 0, 250);
    while !client.is_over() {
        while let Some(message) = client.take_outgoing() {
            peer.send(message);
        }
        // The client repeats a key that was lost with the server.
        let first = peer.receive_by(Instant::now() + Duration::from_millis(20));
        for datagram in first.into_iter().chain(peer.pending()) {
            client.receive(now(), &datagram).unwrap();
            received += 1;
        }
        client.elapsed(now());
        if client.is_joined() && client.remaining() > 0 {
            let state = (client.letter(), client.purse(), client.remaining());
            assert!(before.0.is_none() || before.0 == state.0, "the letter was {:?} and is {:?}", before.0, state.0);
            assert!(before.1 <= state.1 && before.2 >= state.2, "{state:?} after {before:?}");
            before = state;
        }
        if kills < KILLS && received > 40 * (kills + 1) {
            server = server.kill();
            kills += 1;
        }
        if let Some(key) = explorer.next_key(&client) {
            client.act(now(), Command::Key(key));
        }
    }
    assert_eq!(kills, KILLS);
    let finished = server.process.wait().ended(0);
    assert!(finished.stdout.ends_with("GAME OVER:\nA        250 Ann\n"), "{}", finished.stdout);
}

#[test]
fn a_watcher_over_tcp_receives_the_same_game_after_each_kill() {
    let arguments = "--bind 127.0.0.1 -p 0 -c 1 -x 5 -y 5 -l 65535 -d 5 -s 7 --sync interval";
    let mut server = Server::start("robots-server", arguments);
    let client = |port| {
        let mut client = Watcher::connect(([127, 0, 0, 1], port).into());
        assert!(matches!(client.next(), ServerMessage::Hello(_)));
        client
    };
    let mut watcher = client(server.port);
    let mut ann = client(server.port);
    ann.join("Ann");
    while !matches!(watcher.next(), ServerMessage::AcceptedPlayer { .. }) {}
    let mut game: Vec<ServerMessage> = vec![];
    for _ in 0..KILLS {
        // Repeats all sent turns before new ones.
        for message in &game {
            assert_eq!(watcher.next(), *message);
        }
        game.extend((0..50).map(|_| watcher.next()));
        server = server.kill();
        watcher = client(server.port);
    }
    let turns = game[1..].iter().map(|message| match message {
        ServerMessage::Turn { turn, .. } => usize::from(*turn),
        other => panic!("{other:?}"),
    });
    assert!(matches!(game[0], ServerMessage::GameStarted { .. }) && turns.eq(0..game.len() - 1));
}
