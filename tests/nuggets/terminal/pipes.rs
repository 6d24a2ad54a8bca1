use std::{process::Command, sync::mpsc};

use testkit::process::{Finished, Process};

use super::support::{KillableServer, Server, client, path, welcome};

const MAP: &str = "+---+\n|@.*|\n+---+\n";

fn run(arguments: &[&str], typed: &[u8]) -> Finished {
    let mut process = Process::start_with_stdin(client().args(arguments));
    process.write(typed);
    process.wait()
}

#[test]
fn bytes_from_a_pipe_are_keys_and_only_the_final_text_is_printed() {
    let server = Server::with_map(MAP);
    let finished = run(&["127.0.0.1", &server.port(), "Ann"], b"hh?\n\xc3Q");
    assert_eq!((finished.code, &*finished.stdout, &*finished.stderr), (Some(0), "Thanks for playing!\n", ""));
    server.wait_for(&["PLAY Ann", "KEY h", "KEY h", "KEY ?", "KEY \\n", "KEY Q"]);
}

#[test]
fn bots_print_the_final_table_once_after_their_own_lines() {
    let server = Server::start(|message| match message {
        [b'P', b'L', b'A', b'Y', ..] => welcome(MAP, true),
        _ => vec![b"QUIT GAME OVER:\nA        250 zed1".to_vec()],
    });
    // Both outputs share a pipe, which shows their order.
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" 2>&1", &path(), "--bots", "3", "127.0.0.1", &server.port(), "zed"]);
    let finished = Process::run(&mut command);
    let mut lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!((lines.len(), finished.code), (6, Some(0)), "{}", finished.stdout);
    assert_eq!(lines[0], format!("3 bots play at 127.0.0.1:{} (level normal); Ctrl-C stops them.", server.port()));
    lines[1..4].sort_unstable();
    let accounts = ["zed1", "zed2", "zed3"].map(|name| format!("bot A ({name}): 1 keys, 250 nuggets"));
    assert_eq!(lines[1..4], accounts);
    assert_eq!(lines[4..], ["GAME OVER:", "A        250 zed1"]);
    for name in ["zed1", "zed2", "zed3"] {
        server.wait_for_many(&format!("PLAY {name}"), 1);
    }
}

#[test]
#[ignore = "waits for the 15 s that a bot does; .ci/run runs it"]
fn bots_report_a_closed_port_once() {
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let finished = run(&["--bots", "9", "127.0.0.1", &closed], b"");
    let lines: Vec<&str> = finished.stderr.lines().collect();
    let said = format!("nuggets-client: no server listens at 127.0.0.1 port {closed}; is the port correct?");
    assert_eq!(lines[1..], [said]);
    assert_eq!((lines.len(), finished.code), (2, Some(1)));
}

#[test]
fn bots_that_want_a_rematch_play_one_game_after_the_other() {
    let (sender, receiver) = mpsc::channel();
    (0..2).for_each(|_| sender.send(()).unwrap());
    let server = Server::start(move |message| match message {
        [b'P', b'L', b'A', b'Y', ..] => welcome(MAP, true),
        _ if receiver.try_recv().is_ok() => vec![b"QUIT GAME OVER:\nA        250 zed".to_vec()],
        _ => vec![b"QUIT Closing time.".to_vec()],
    });
    let finished = run(&["--headless", "--rematch", "127.0.0.1", &server.port(), "zed"], b"");
    assert_eq!(finished.stdout, "GAME OVER:\nA        250 zed\n".repeat(2) + "Closing time.\n", "each game once");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    server.wait_for(&["PLAY zed", "KEY L", "PLAY zed", "KEY L", "PLAY zed", "KEY L"]);
}

#[test]
#[ignore = "waits for the 15 s that a bot does; .ci/run runs it"]
fn bot_whose_server_is_gone_reports_it_and_fails() {
    let server = KillableServer::start();
    let mut command = client();
    let bot = Process::start(command.args(["--headless", "127.0.0.1", &server.port().to_string(), "zed"]));
    server.admit(b"PLAY zed", MAP);
    server.answer(b"KEY L", b"GOLD 0 0 250");
    // As after a kill, the port closes without a message.
    drop(server);
    let finished = bot.wait_for_end();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains("the server's port is closed; waiting 15 s"), "{}", finished.stderr);
    let last = finished.stderr.lines().last().unwrap_or_default();
    assert_eq!(last, "nuggets-client: 1 of 1 bots lost the server: its port is closed");
}

#[test]
fn wrong_usage_names_what_is_wrong_and_exits_with_2() {
    let cases: [(&[&str], &str); 8] = [
        (&[], "required arguments"),
        (&["localhost", "12x", "Ann"], "'12x' for '[PORT]': expected a whole number from 1 to 65535, as in 2000"),
        (&["localhost:5000", "5000"], "expected a host without a port"),
        (&["localhost", "5000", "--bots", "27"], "'27' for '--bots <COUNT>': expected a whole number from 1 to 26"),
        (&["localhost", "5000", "--delay-ms", "60001"], "expected a whole number from 0 to 60000, as in 80"),
        (&["localhost", "5000", "Ann", "--level", "easy"], "--level requires"),
        (&["5000", "localhost", "Ann"], "the order is host, port, name, as in localhost 2000 Ann"),
        (
            &["Ann", "localhost", "5000"],
            "'localhost' for '[PORT]': expected a whole number from 1 to 65535, as in 2000; the order",
        ),
    ];
    for (arguments, said) in cases {
        let finished = run(arguments, b"");
        assert_eq!((finished.code, &*finished.stdout), (Some(2), ""), "{arguments:?}");
        assert!(finished.stderr.contains(said), "{arguments:?}: {}", finished.stderr);
    }
}

#[test]
fn the_help_wraps_at_the_width_of_the_terminal() {
    for columns in ["60", "80"] {
        let help = Process::run(client().arg("--help").env("COLUMNS", columns)).stdout;
        let width: usize = columns.parse().unwrap();
        assert!(help.lines().all(|line| line.chars().count() <= width), "{help}");
        // A line ends only where the next word does not fit.
        let (_, prose) = help.split_once("On the screen").unwrap();
        let lines: Vec<&str> = prose.lines().collect();
        for pair in lines[1..].windows(2).filter(|pair| !pair[0].is_empty() && !pair[1].is_empty()) {
            let next = pair[1].split(' ').next().unwrap();
            assert!(pair[0].len() + 1 + next.len() > width, "{pair:?}");
        }
    }
}
