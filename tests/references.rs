//! Our programs play with the reference programs in Python, which were written from the protocol pages alone.

use std::{
    net::{Ipv4Addr, UdpSocket},
    process::Command,
    time::Duration,
};

use testkit::{TempDir, process::Process};

use crate::programs::{self, program};

/// A map that is explored within a second.
const MAP: &str = "\
+-------+
|.......|      +-----+
|.......########.....|
+---#---+      |.....|
    ###########......|
              +------+
";
/// How long a datagram is waited for before the GUI types again.
const AGAIN: Duration = Duration::from_millis(100);

/// A reference program.
fn reference(file: &str) -> Command {
    let [python, options, script] = programs::reference(file);
    let mut command = Command::new(python);
    command.args([options, script]);
    command
}

fn start(mut command: Command, arguments: &[&str]) -> Process {
    Process::start(command.args(arguments))
}

fn map(folder: &TempDir) -> String {
    folder.file("map.txt", MAP)
}

#[test]
fn the_reference_player_plays_at_our_dealer() {
    let dealer = start(program("dealer"), &["0", "40", "--delay-ms", "0", "--bind", "127.0.0.1"]);
    let player = Process::run(reference("player.py").args(["Ann", "127.0.0.1", &dealer.port().to_string()]));
    assert!(player.ended(0).stdout.starts_with("40 rounds, reward "));
    dealer.wait().ended(0);
}

#[test]
fn our_player_plays_at_the_reference_dealer_in_text() {
    let dealer = start(reference("dealer.py"), &["0", "40", "--players", "2"]);
    let port = dealer.port().to_string();
    let players = ["Ann", "Bob"].map(|name| start(program("player"), &[name, "127.0.0.1", &port, "--best"]));
    for player in players {
        player.wait().ended(0);
    }
    dealer.wait().ended(0);
}

#[test]
fn the_reference_client_explores_our_map_of_nuggets() {
    let folder = TempDir::new();
    let server = start(program("nuggets-server"), &[&map(&folder), "7", "--bind", "127.0.0.1"]);
    let client = Process::run(reference("nuggets_client.py").args([
        "127.0.0.1",
        &server.port().to_string(),
        "Ann",
        "--explore",
    ]));
    assert_eq!(client.ended(0).stdout, "GAME OVER:\nA        250 Ann\n");
    server.wait().ended(0);
}

#[test]
fn our_bots_collect_the_gold_of_the_reference_server() {
    let folder = TempDir::new();
    let server = start(reference("nuggets_server.py"), &[&map(&folder), "7"]);
    let port = server.port().to_string();
    let bots = start(program("nuggets-client"), &["--bots", "2", "--delay-ms", "1", "127.0.0.1", &port, "bot"]);
    let table = server.wait().ended(0).stdout;
    assert!(["GAME OVER:", " bot1", " bot2"].iter().all(|part| table.contains(part)), "{table}");
    bots.wait().ended(0);
}

/// A GUI that joins, and plays by placing bombs, until the game is over.
fn play_robots(server: Command, arguments: &[&str], mut client: Command) {
    let options = ["-c", "1", "-x", "4", "-y", "3", "-l", "20", "-d", "20", "-p", "0", "-b", "2", "-e", "1", "-k", "3"];
    let server = start(server, &[&options, arguments].concat());
    let gui = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    gui.set_read_timeout(Some(AGAIN)).unwrap();
    let port = {
        let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        free.local_addr().unwrap().port()
    };
    client.args(["-n", "Ann", "-p", &port.to_string(), "-d", &gui.local_addr().unwrap().to_string()]);
    let client = start(client, &["-s", &format!("127.0.0.1:{}", server.port())]);
    let (mut picture, mut games, mut bombs) = (vec![0; 65_536], 0, 0);
    loop {
        let Ok((length, _)) = gui.recv_from(&mut picture) else {
            assert!(client.is_running(), "{}", client.stderr());
            gui.send_to(&[0], (Ipv4Addr::LOCALHOST, port)).unwrap();
            continue;
        };
        let message: robots::DrawMessage = netcore::wire::read_datagram(&picture[..length], 65_536).unwrap();
        match message {
            robots::DrawMessage::Lobby { .. } if games > 0 => break,
            robots::DrawMessage::Lobby { .. } => {}
            robots::DrawMessage::Game(game) => {
                games += 1;
                bombs += game.bombs.len();
                gui.send_to(&[0], (Ipv4Addr::LOCALHOST, port)).unwrap();
            }
        }
    }
    assert!(games == 21 && bombs > 0, "{games} pictures of the game, {bombs} bombs");
}

#[test]
fn the_reference_client_plays_robots_on_our_server() {
    play_robots(program("robots-server"), &["--bind", "127.0.0.1"], reference("robots_client.py"));
}

#[test]
fn our_client_plays_robots_on_the_reference_server() {
    play_robots(reference("robots_server.py"), &["-n", "reference"], program("robots-client"));
}

#[test]
fn the_reference_client_of_mastermind_finds_the_codes_of_the_reference_server() {
    let server = start(reference("mastermind_server.py"), &["0"]);
    let port = server.port().to_string();
    let client = Process::run(reference("mastermind_client.py").args(["Ann", "127.0.0.1", &port, "--games", "3"]));
    let games = client.ended(0).stdout;
    assert!(games.lines().count() == 3 && games.lines().all(|game| game.starts_with("won after ")), "{games}");
}

#[test]
fn the_text_game_in_python_and_ours_ask_alike() {
    // The texts differ; what a program reads does not.
    let heads = ["Turn #: ", "lifeline#1: ", "lifeline#2: ", "Code  : ", "Red: ", "White: "];
    let typed = "4\nno\n1111\nnonsense\nlifeline#2\nlifeline#1\n2222\n";
    let asked = [reference("mastermind_play.py"), program("mastermind-play")].map(|mut command| {
        let folder = TempDir::new();
        let mut game = Process::start_with_stdin(command.env("XDG_DATA_HOME", folder.path()));
        game.write(typed);
        let said = game.wait().ended(0).stdout;
        // The numbers of answers depend on the code. A prompt may stand before what is said next.
        let kept =
            said.lines().filter_map(|line| heads.into_iter().find_map(|head| Some((head, line.split_once(head)?.1))));
        kept.map(|(head, rest)| match head {
            "Red: " | "White: " => head.to_owned(),
            "Code  : " => format!("{head}{} stars", rest.matches('*').count()),
            _ => format!("{head}{rest}"),
        })
        .collect::<Vec<_>>()
    });
    assert_eq!(asked[0], asked[1]);
}
