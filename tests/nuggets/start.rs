use std::net::{SocketAddr, UdpSocket};

use testkit::{TempDir, peer::Peer, process::Process};

use super::{CORRIDOR, HALL, Server, has_ipv6, server, start_at};

#[test]
fn the_port_is_announced_at_once_in_one_line_even_into_a_pipe() {
    let server = Server::start(&[]);
    assert_eq!(server.process.stdout(), format!("Ready to play, waiting at port {}\n", server.port));
    assert_ne!(server.port, 0);
}

#[test]
fn standard_error_says_how_to_join() {
    let server = Server::start(&["--seed", "17"]);
    let port = server.port;
    let stderr = server.process.wait_stderr("the hints", |stderr| stderr.contains("--bot").then(|| stderr.to_owned()));
    assert!(stderr.contains("the built-in map with seed 17 on 127.0.0.1"), "{stderr}");
    for command in [
        format!("cargo run -p nuggets-client -- 127.0.0.1 {port} yourname\n"),
        format!("cargo run -p nuggets-client -- 127.0.0.1 {port}\n"),
        format!("cargo run -p nuggets-client -- 127.0.0.1 {port} --bots 3 --level easy\n"),
    ] {
        assert!(stderr.contains(&command), "{command:?} is not in\n{stderr}");
    }
}

/// Joins, looks on, walks and leaves.
fn visit(address: SocketAddr) {
    let (ann, watcher) = (Peer::new(address), Peer::new(address));
    let welcome = ann.play("Ann");
    assert_eq!((welcome.letter, welcome.size, welcome.gold), ('A', (7, 14), [0, 0, 250]));
    let (size, gold, display) = watcher.spectate();
    assert_eq!((size, gold), ((7, 14), [0, 0, 250]));
    assert_eq!(display.matches('A').count(), 1, "\n{display}");

    ann.send("KEY ?");
    assert_eq!(ann.receive(), b"ERROR unknown keystroke");
    // One of the two is possible, and moves her in both pictures.
    ann.send("KEY H");
    ann.send("KEY L");
    let seen = ann.expect("DISPLAY\n");
    assert_ne!(seen, format!("DISPLAY\n{}", welcome.display));
    watcher.expect("DISPLAY\n");

    watcher.send("KEY Q");
    assert_eq!(watcher.expect("QUIT "), "QUIT Thanks for watching!");
    ann.send("KEY Q");
    assert_eq!(ann.expect("QUIT "), "QUIT Thanks for playing!");
}

#[test]
fn one_can_play_and_look_on_over_ipv4() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "3"]);
    visit(server.v4());
}

#[test]
fn one_can_play_and_look_on_over_ipv6() {
    if !has_ipv6() {
        return;
    }
    let maps = TempDir::new();
    let server = Server::everywhere(&["--bind", "::1", &maps.file("hall.txt", HALL), "3"]);
    visit(server.v6());
}

#[test]
fn without_bind_both_families_reach_the_same_game() {
    let server = Server::everywhere(&[]);
    let ann = Peer::new(server.v4());
    assert_eq!(ann.play("Ann").letter, 'A');
    let stderr = |text: &'static str| server.process.wait_stderr(text, |stderr| stderr.contains(text).then_some(()));
    if has_ipv6() {
        assert_eq!(Peer::new(server.v6()).play("Bob").letter, 'B');
        stderr("all addresses (IPv4 and IPv6)");
    } else {
        stderr("all IPv4 addresses");
    }
}

#[test]
fn several_addresses_share_one_port_and_one_game() {
    if !has_ipv6() {
        return;
    }
    let server = Server::everywhere(&["--bind", "127.0.0.1", "--bind", "::1"]);
    let (ann, bob) = (Peer::new(server.v4()), Peer::new(server.v6()));
    assert_eq!(ann.play("Ann").letter, 'A');
    assert_eq!(bob.play("Bob").letter, 'B');
    // What one does, the other hears: here that there are two now, then that there is one.
    ann.expect("DISPLAY\n");
    bob.send("KEY Q");
    ann.expect("DISPLAY\n");
}

#[test]
fn a_port_that_is_asked_for_is_the_port() {
    let asked = (0..10).any(|_| {
        let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        start_at(free).is_some_and(|process| process.port() == free)
    });
    assert!(asked);
}

#[test]
fn an_end_of_standard_input_is_no_end_of_the_server() {
    let maps = TempDir::new();
    let mut command = server();
    command.args(["--bind", "127.0.0.1", &maps.file("corridor.txt", CORRIDOR)]);
    let mut process = Process::start_with_stdin(&mut command);
    let server = SocketAddr::from(([127, 0, 0, 1], process.port()));
    process.close_stdin();
    let ann = Peer::new(server);
    ann.play("Ann");
    ann.send("KEY ?");
    ann.expect("ERROR unknown keystroke");
    assert!(process.is_running());
}

#[test]
fn the_same_map_and_seed_give_the_same_piles_and_places() {
    let picture = |seed: &str| {
        let server = Server::start(&["--seed", seed]);
        let (ann, watcher) = (server.peer(), server.peer());
        (ann.play("Ann").display, watcher.spectate().2)
    };
    assert_eq!(picture("5"), picture("5"));
    assert_ne!(picture("5"), picture("6"));
}

#[test]
fn without_a_seed_no_two_servers_are_alike_and_the_seed_is_told() {
    let picture = || {
        let server = Server::start(&[]);
        let seed = server.process.wait_stderr("the seed", |stderr| {
            let (seed, _) = stderr.split_once("with seed ")?.1.split_once(' ')?;
            Some(seed.to_owned())
        });
        (server.peer().spectate().2, seed)
    };
    let ((one, seed), (other, _)) = (picture(), picture());
    assert_ne!(one, other);
    let again = Server::start(&["--seed", &seed]);
    assert_eq!(again.peer().spectate().2, one);
}
