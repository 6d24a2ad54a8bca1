use std::net::SocketAddr;

use testkit::{TempDir, peer::Peer, process::Process};

use super::{CORRIDOR, Server, has_ipv6, server};

#[test]
fn port_is_announced_in_one_line_and_join_command_on_stderr() {
    let server = Server::start(&["--seed", "17"]);
    let port = server.port;
    assert_eq!(server.process.stdout(), format!("Ready to play, waiting at port {port}\n"));
    assert_ne!(port, 0);
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

#[test]
fn several_addresses_share_one_port_and_one_game() {
    for bind in [&[][..], &["--bind", "127.0.0.1", "--bind", "::1"]] {
        if !has_ipv6() && !bind.is_empty() {
            continue;
        }
        let server = Server::everywhere(bind);
        let ann = Peer::new(server.v4());
        assert_eq!(ann.play("Ann").letter, 'A');
        let open = match (bind, has_ipv6()) {
            ([], true) => "all addresses (IPv4 and IPv6)",
            ([], false) => "all IPv4 addresses",
            _ => "127.0.0.1",
        };
        server.process.wait_stderr(open, |stderr| stderr.contains(open).then_some(()));
        if has_ipv6() {
            let bob = Peer::new(server.v6());
            assert_eq!(bob.play("Bob").letter, 'B');
            ann.expect("DISPLAY\n");
            bob.send("KEY Q");
            ann.expect("DISPLAY\n");
        }
    }
}

#[test]
fn server_continues_after_the_end_of_standard_input() {
    let maps = TempDir::new();
    let mut command = server();
    command.args(["--bind", "127.0.0.1", &maps.file("corridor.txt", CORRIDOR)]);
    let mut process = Process::start_with_stdin(&mut command);
    let server = SocketAddr::from(([127, 0, 0, 1], process.port()));
    process.close_stdin();
    let ann = Peer::new(server);
    ann.play("Ann");
    ann.request("KEY ?", "ERROR unknown keystroke");
    assert!(process.is_running());
}

#[test]
fn a_random_seed_is_printed_and_reproduces_the_game() {
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
