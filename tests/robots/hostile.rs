use std::io::Write;

use robots::{Action, Event, ServerMessage};
use testkit::{eventually, stream::connect_from};

use super::{Client, Server};
use crate::programs::program;

#[test]
fn whoever_never_reads_is_dropped_and_the_others_play_on() {
    // Turn 0 of each game tells of some fifty thousand blocks: a quarter of a megabyte.
    let server = Server::start("-c 1 -x 300 -y 300 -l 0 -k 65535 -d 0 --log warn");
    let stalled = Client::connect(server.v4());
    let (mut ann, mut watcher) = (server.client(), server.client());
    let mut games = 0;
    while !server.process.stderr().contains("does not read") {
        ann.join("Ann");
        ann.await_end();
        watcher.await_end();
        games += 1;
        assert!(games < 400, "what waits for one who does not read is bounded");
    }
    // It is closed in time.
    drop(stalled.rest());
    ann.join("Ann");
    ann.await_end();
}

#[test]
fn a_thousand_connections_at_once_and_resets_in_the_middle_of_a_name() {
    netshell::raise_open_files();
    let server = Server::start("-c 1 -x 5 -y 5 -l 2 -d 20");
    let mut crowd: Vec<Client> = (0..1_000).map(|_| Client::connect(server.v4())).collect();
    for client in &mut crowd {
        client.hello();
    }
    for _ in 0..200 {
        // Closing with something unread resets the connection.
        Client::connect(server.v4()).write(b"\x00\xffhalf a name");
    }
    crowd[500].join("Ann");
    for client in &mut crowd {
        client.await_end();
    }
}

#[test]
fn out_of_descriptors_the_rest_play_on_and_others_get_in_when_somebody_leaves() {
    // Half of them for the server itself, and a dozen connections.
    let mut command = std::process::Command::new("sh");
    let binary = program("robots-server");
    command.args(["-c", "ulimit -n 24; exec \"$0\" \"$@\""]).arg(binary.get_program());
    command.args("--bind 127.0.0.1 -p 0 -c 1 -x 5 -y 5 -l 65535 -d 2".split(' '));
    let server = Server::of(&mut command);
    let mut ann = server.client();
    ann.join("Ann");
    let crowd: Vec<Client> = (0..40).map(|_| Client::connect(server.v4())).collect();
    server.process.wait_stderr("that there is no room is said", |log| log.contains("too many are open").then_some(()));
    // There is room for somebody from elsewhere.
    let mut carol = Client::over(connect_from([127, 0, 0, 2].into(), server.v4()));
    carol.hello();
    // Ann's game goes on meanwhile.
    ann.await_turn(50);
    ann.act(Action::PlaceBomb);
    ann.await_message(|message| match message {
        ServerMessage::Turn { events, .. } if !events.is_empty() => Some(()),
        _ => None,
    });
    drop(crowd);
    // The server hears of that in a moment.
    eventually("nobody gets in", || {
        let mut bob = Client::connect(server.v4());
        let is_in = bob.read().is_some();
        if is_in {
            bob.await_turn(1);
        }
        is_in
    });
}

#[test]
fn a_crowd_that_fills_its_bursts_with_actions_costs_another_player_no_turn() {
    netshell::raise_open_files();
    let server = Server::start("-c 2 -x 50 -y 50 -l 60000 -d 50 -k 0 -b 50000");
    let mut ann = server.client();
    let mut flooders: Vec<Client> = (0..300).map(|_| server.client()).collect();
    // One of the crowd plays, the others look on; all send what one may send at once, a byte an action,
    // and some go on with it.
    flooders[0].join("Eve");
    ann.join("Ann");
    ann.await_turn(1);
    let actions = vec![1; 60_000];
    for flooder in &mut flooders {
        flooder.stream.set_nonblocking(true).unwrap();
        let _ = flooder.stream.write(&actions);
    }
    // Ann puts down a bomb in each turn that she hears of, and each of them is there.
    let mut placed = 0;
    for _ in 0..40 {
        ann.act(Action::PlaceBomb);
        for flooder in &mut flooders[..4] {
            let _ = flooder.stream.write(&actions);
        }
        placed += ann.await_message(|message| match message {
            ServerMessage::Turn { events, .. } => {
                let bombs = events.iter().filter(|event| matches!(event, Event::BombPlaced { .. })).count();
                (bombs > 0).then_some(1)
            }
            _ => None,
        });
    }
    assert_eq!(placed, 40);
    // A newcomer is told everything while the flood goes on.
    server.client().await_turn(40);
}
