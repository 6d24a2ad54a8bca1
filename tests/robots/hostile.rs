use robots::{Action, ServerMessage};
use testkit::{eventually, stream::connect_from};

use super::{Client, Server};
use crate::programs::program;

#[test]
fn server_survives_a_thousand_connections_and_resets_within_a_name() {
    netshell::raise_open_files();
    let server = Server::start("-c 1 -x 5 -y 5 -l 2 -d 20");
    let mut crowd: Vec<Client> = (0..1_000).map(|_| Client::connect(server.v4())).collect();
    for client in &mut crowd {
        client.hello();
    }
    for _ in 0..200 {
        // Closing with unread data resets the connection.
        Client::connect(server.v4()).write(b"\x00\xffhalf a name");
    }
    crowd[500].join("Ann");
    for client in &mut crowd {
        client.await_end();
    }
}

#[test]
fn server_out_of_descriptors_accepts_clients_later() {
    // Half of the descriptors are for the server itself, the rest for a dozen connections.
    let mut command = std::process::Command::new("sh");
    let binary = program("robots-server");
    command.args(["-c", "ulimit -n 24; exec \"$0\" \"$@\""]).arg(binary.get_program());
    command.args("--bind 127.0.0.1 -p 0 -c 1 -x 5 -y 5 -l 65535 -d 2".split(' '));
    let server = Server::of(&mut command);
    let mut ann = server.client();
    ann.join("Ann");
    let crowd: Vec<Client> = (0..40).map(|_| Client::connect(server.v4())).collect();
    server.process.wait_stderr("that there is no room is said", |log| log.contains("too many are open").then_some(()));
    let mut carol = Client::over(connect_from([127, 0, 0, 2].into(), server.v4()));
    carol.hello();
    ann.await_turn(50);
    ann.act(Action::PlaceBomb);
    ann.await_message(|message| match message {
        ServerMessage::Turn { events, .. } if !events.is_empty() => Some(()),
        _ => None,
    });
    drop(crowd);
    // The server detects the disconnects after a moment.
    eventually("no client is accepted", || {
        let mut bob = Client::connect(server.v4());
        let is_in = bob.read().is_some();
        if is_in {
            bob.await_turn(1);
        }
        is_in
    });
}
