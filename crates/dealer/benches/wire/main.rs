//! Measures rounds per second over loopback against bare loops of the same exchanges in the same run.
//!
//! - One text player: the real player in a separate process, playing by the best table. The bare loop is two processes
//!   that exchange the same number of bytes without pauses.
//! - 64 binary players on one dealer with 64 tables, driven by one process that answers every question with STAND, so
//!   an exchange is a round. The bare loop is one process that answers 64 sockets, driven by the same loop.
//!
//! Timing begins with the first round. The two programs alternate in nine pairs of short runs, and the table shows the
//! medians, so other load spoils one pair but not the result.
//!
//! `cargo bench -p dealer` prints the table; `-- --rounds N` changes the length of the runs.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

#[cfg(target_os = "linux")]
mod bare;

#[cfg(target_os = "linux")]
mod compare {
    use std::{
        env,
        io::{self, BufRead, Read, Write},
        net::TcpStream,
        process::{Command, Stdio},
        thread,
        time::Instant,
    };

    use blackjack::{StateSpace, exact::Solver};
    use clap::Parser;
    use testkit::measured::Measured;

    use crate::bare::{self, Exchange};

    const CONNECTIONS: u32 = 64;
    const PAIRS: usize = 9;
    /// The dealer logs this name only once the player is seated.
    const NAME: &str = "Measured";

    pub(crate) fn main() {
        let arguments: Vec<String> = env::args().collect();
        let value = |name: &str| {
            let at = arguments.iter().position(|word| word == name)?;
            Some(arguments.get(at + 1).and_then(|number| number.parse::<u32>().ok()).expect("a number"))
        };
        if let Some(port) = value("--player") {
            return play(port);
        }
        if arguments.iter().any(|word| word == "--bare") {
            return bare::serve();
        }
        let rounds = value("--rounds").unwrap_or(20_000);
        let questions = questions_a_round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of exchanges")]
        let exchanges = (f64::from(rounds) * questions) as u32;
        println!("median of {PAIRS} pairs of runs, exchanges a second");
        compare("one text player", questions, || one_text_player(rounds) * questions, || one_bare_pair(exchanges));
        let each = rounds * 4 / CONNECTIONS;
        compare("64 binary players", 1.0, || many_binary_players(each), || many_bare(each));
    }

    // `ours` and the bare loop return exchanges per second; a round of `ours` takes `questions` exchanges.
    fn compare(what: &str, questions: f64, ours: impl Fn() -> f64, bare: impl Fn() -> f64) {
        let mut pairs: Vec<[f64; 3]> = vec![];
        for _ in 0..PAIRS {
            let (ours, bare) = (ours(), bare());
            pairs.push([ours, bare, ours / bare]);
        }
        let sorted = |column: usize| {
            let mut values: Vec<f64> = pairs.iter().map(|pair| pair[column]).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let [ours, bare, ratios] = [0, 1, 2].map(sorted);
        let middle = PAIRS / 2;
        println!(
            "{what}: {:.0} ({:.0} rounds); bare {:.0}; ratio {:.2} ({:.2} to {:.2})",
            ours[middle],
            ours[middle] / questions,
            bare[middle],
            ratios[middle],
            ratios[0],
            ratios[PAIRS - 1]
        );
    }

    // The average when playing by the best table.
    fn questions_a_round() -> f64 {
        let solver = Solver::new();
        let values = solver.action_values(&solver.best(StateSpace::Soft));
        StateSpace::Soft.states().map(|state| values.values(state).visits).sum()
    }

    // Measured from the moment when the player is seated.
    fn one_text_player(rounds: u32) -> f64 {
        let (dealer, mut told) = Measured::start_with_stderr(&mut dealer(rounds, 1));
        let port = dealer.port.to_string();
        let mut player = itself().args(["--player", &port]).stdout(Stdio::null()).spawn().expect("it runs");
        let mut line = String::new();
        while !line.contains(NAME) {
            line.clear();
            assert!(told.read_line(&mut line).expect("text") > 0, "the dealer is gone before the first round");
        }
        let start = Instant::now();
        // Keeps the dealer's log from filling the pipe.
        let rest = thread::spawn(move || io::copy(&mut told, &mut io::sink()));
        assert!(player.wait().expect("it runs").success());
        let seconds = start.elapsed().as_secs_f64();
        drop(dealer);
        rest.join().expect("it reads").expect("a pipe");
        f64::from(rounds) / seconds
    }

    fn one_bare_pair(exchanges: u32) -> f64 {
        let bare = bare(Exchange::Text);
        let mut stream = connect(bare.port);
        let (question, mut reply) = (Exchange::Text.question(), Exchange::Text.reply());
        let mut exchange = || {
            stream.write_all(&question).expect("loopback");
            stream.read_exact(&mut reply).expect("loopback");
        };
        // An answer shows that the other side has accepted the connection.
        exchange();
        let start = Instant::now();
        (0..exchanges).for_each(|_| exchange());
        f64::from(exchanges) / start.elapsed().as_secs_f64()
    }

    fn many_binary_players(each: u32) -> f64 {
        let dealer = Measured::start(&mut dealer(each, CONNECTIONS));
        drive(dealer.port, each, b"\0\0\0\x05\x01\x01Ann", true)
    }

    fn many_bare(each: u32) -> f64 {
        let bare = bare(Exchange::Binary);
        drive(bare.port, each, &Exchange::Binary.question(), false)
    }

    fn dealer(rounds: u32, tables: u32) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dealer"));
        let (rounds, tables) = (rounds.to_string(), tables.to_string());
        command.args(["0", &rounds, "--tables", &tables, "--bind", "127.0.0.1", "--delay-ms", "0", "--seed", "1"]);
        command
    }

    fn itself() -> Command {
        Command::new(env::current_exe().expect("a path"))
    }

    fn bare(exchange: Exchange) -> Measured {
        Measured::start(itself().args(["--bare", exchange.word()]))
    }

    fn play(port: u32) {
        let port = port.to_string();
        let arguments = ["player", NAME, "127.0.0.1", &port, "--log", "error", "--best"];
        player::run(player::Args::try_parse_from(arguments).expect("well known")).expect("it plays");
    }

    fn connect(port: u16) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("loopback");
        stream.set_nodelay(true).expect("loopback");
        stream
    }

    fn drive(port: u16, each: u32, first: &[u8], plays: bool) -> f64 {
        let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(port)).collect();
        // A deal, and a result with the next deal.
        let (mut deal, mut reply) = (vec![0; 28], Exchange::Binary.reply());
        if plays {
            for stream in &mut streams {
                stream.write_all(first).expect("loopback");
                stream.read_exact(&mut deal).expect("loopback");
            }
        }
        let answer = Exchange::Binary.question();
        let start = Instant::now();
        // No deal follows the last round.
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
