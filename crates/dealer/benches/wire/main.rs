//! Rounds a second over loopback, against bare loops of the same exchanges measured in the same run.
//!
//! - One text player: the real player in a process of its own, playing by the best table. Bare: two processes that send
//!   each other as many bytes, waiting for nothing else.
//! - 64 binary players on one dealer that has 64 tables, driven by one process that stands at every question, so that an
//!   exchange is a round. Bare: one process that answers 64 sockets as the system says that they are ready; driven by the
//!   same loop.
//!
//! Each is measured three times, ours and bare in turn, and the best of three is shown.
//! `cargo bench -p dealer` prints the table; `-- --rounds N` makes runs longer or shorter.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

#[cfg(target_os = "linux")]
mod bare;

#[cfg(target_os = "linux")]
mod compare {
    use std::{
        env,
        io::{Read, Write},
        net::TcpStream,
        process::{Command, Stdio},
        time::Instant,
    };

    use blackjack::{StateSpace, exact::Solver};
    use clap::Parser;
    use testkit::measured::Measured;

    use crate::bare::{self, Exchange};

    /// Connections of the second comparison.
    const CONNECTIONS: u32 = 64;
    const TIMES: usize = 3;

    pub(crate) fn main() {
        let arguments: Vec<String> = env::args().collect();
        let value = |name: &str| {
            let at = arguments.iter().position(|word| word == name)?;
            Some(arguments.get(at + 1).and_then(|number| number.parse::<u32>().ok()).expect("a number"))
        };
        if let Some(port) = value("--player") {
            return play(port);
        }
        if let Some(port) = value("--driver") {
            return drive_bare(port, value("--exchanges").expect("how many"));
        }
        if arguments.iter().any(|word| word == "--bare") {
            return bare::serve();
        }
        let rounds = value("--rounds").unwrap_or(60_000);
        one_text_player(rounds);
        many_binary_players(rounds * 4);
    }

    // What a round costs on average in questions, playing by the best table.
    fn questions_a_round() -> f64 {
        let solver = Solver::new();
        let values = solver.action_values(&solver.best(StateSpace::Soft));
        StateSpace::Soft.states().map(|state| values.values(state).visits).sum()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of exchanges")]
    fn one_text_player(rounds: u32) {
        let questions = questions_a_round();
        let exchanges = (f64::from(rounds) * questions) as u32;
        let (mut ours, mut floor) = (0.0_f64, 0.0_f64);
        for _ in 0..TIMES {
            let dealer = dealer(rounds, 1);
            ours = ours.max(f64::from(rounds) / timed(&["--player", &dealer.port.to_string()]));
            let bare = bare(Exchange::TEXT);
            let arguments = ["--driver", &bare.port.to_string(), "--exchanges", &exchanges.to_string()];
            floor = floor.max(f64::from(exchanges) / timed(&arguments));
        }
        println!("one text player: {ours:.0} rounds/s, {:.0} exchanges/s", ours * questions);
        println!("  bare pair: {floor:.0} exchanges/s; ratio {:.2}", ours * questions / floor);
    }

    fn many_binary_players(rounds: u32) {
        let each = rounds / CONNECTIONS;
        let (mut ours, mut floor) = (0.0_f64, 0.0_f64);
        for _ in 0..TIMES {
            let dealer = dealer(each, CONNECTIONS);
            ours = ours.max(drive(dealer.port, each, b"\0\0\0\x05\x01\x01Ann", true));
            let bare = bare(Exchange::BINARY);
            floor = floor.max(drive(bare.port, each, &Exchange::BINARY.question(), false));
        }
        println!("{CONNECTIONS} binary players: {ours:.0} rounds/s");
        println!("  bare loop: {floor:.0} exchanges/s; ratio {:.2}", ours / floor);
    }

    fn dealer(rounds: u32, tables: u32) -> Measured {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dealer"));
        let (rounds, tables) = (rounds.to_string(), tables.to_string());
        let arguments =
            ["0", &rounds, "--tables", &tables, "--bind", "127.0.0.1", "--delay-ms", "0", "--quiet", "--seed", "1"];
        Measured::start(command.args(arguments))
    }

    fn itself() -> Command {
        Command::new(env::current_exe().expect("a path"))
    }

    fn bare(exchange: Exchange) -> Measured {
        Measured::start(itself().args(["--bare", exchange.word()]))
    }

    // Seconds that this program takes with these arguments.
    fn timed(arguments: &[&str]) -> f64 {
        let start = Instant::now();
        let status = itself().args(arguments).stdout(Stdio::null()).status().expect("it runs");
        assert!(status.success());
        start.elapsed().as_secs_f64()
    }

    fn play(port: u32) {
        let port = port.to_string();
        let arguments = ["player", "Ann", "127.0.0.1", &port, "--log", "error", "--state", "soft"];
        player::run(player::Args::try_parse_from(arguments).expect("well known")).expect("it plays");
    }

    fn drive_bare(port: u32, exchanges: u32) {
        let mut stream = connect(u16::try_from(port).expect("a port"));
        let (question, mut reply) = (Exchange::TEXT.question(), vec![0; Exchange::TEXT.reply]);
        for _ in 0..exchanges {
            stream.write_all(&question).expect("loopback");
            stream.read_exact(&mut reply).expect("loopback");
        }
    }

    fn connect(port: u16) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("loopback");
        stream.set_nodelay(true).expect("loopback");
        stream
    }

    // Exchanges a second over all connections: each is written to, then each is read.
    fn drive(port: u16, each: u32, first: &[u8], plays: bool) -> f64 {
        let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(port)).collect();
        // A deal, and a result with the next deal.
        let (mut deal, mut reply) = (vec![0; 28], vec![0; Exchange::BINARY.reply]);
        if plays {
            for stream in &mut streams {
                stream.write_all(first).expect("loopback");
                stream.read_exact(&mut deal).expect("loopback");
            }
        }
        let answer = Exchange::BINARY.question();
        let start = Instant::now();
        // The last round has no deal behind it.
        for _ in 1..each {
            for stream in &mut streams {
                stream.write_all(&answer).expect("loopback");
            }
            for stream in &mut streams {
                stream.read_exact(&mut reply).expect("loopback");
                assert!(!plays || reply.ends_with(b"\0\0\0\x01\x05"), "a question ends each exchange");
            }
        }
        f64::from(each - 1) * f64::from(CONNECTIONS) / start.elapsed().as_secs_f64()
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    compare::main();
    #[cfg(not(target_os = "linux"))]
    println!("The bare loops are written for Linux.");
}
