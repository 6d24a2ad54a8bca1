use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
    thread,
};

use blackjack::{DealerMessage, Dialect, Name, PlayerMessage, Score};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;
use testkit::{PATIENCE, TempDir, seeds::for_each_seed};

use super::{Client, Dealer};
use crate::{
    kills::{Lives, Mortal, hundred_kills},
    programs::program,
};

/// Rounds at each table.
const ROUNDS: u64 = 60;
/// Players of two tables.
const PLAYERS: usize = 6;
const GAME: &str = "--bind 127.0.0.1 --players 3 --tables 2 --delay-ms 0 --json";
/// Messages between two kills, at most.
const MESSAGES: u64 = 200;

/// Plays until it is told that there are no more rounds; joins by the same name whenever the dealer was killed.
fn play(dealer: SocketAddr, (name, dialect): (&str, Dialect), seed: u64, lives: &Lives) -> Score {
    let _bot = lives.bot();
    let mut dice = Pcg64::seed_from_u64(seed);
    let (mut told, mut life) = (Score::default(), 0);
    while let Some(next) = lives.after(life) {
        life = next;
        // It may be killed before it knows of us.
        let Ok(stream) = TcpStream::connect(dealer) else { continue };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Client::new(stream, dialect);
        let mut say = Some(PlayerMessage::Join(Name::new(name.as_bytes()).unwrap()));
        loop {
            if let Some(message) = say.take() {
                // Whether it is there to hear it is found out by reading on.
                let _ = client.stream.write_all(&message.to_bytes(dialect));
            }
            let Some(message) = client.read() else { break };
            lives.0.change(|state| state.messages += 1);
            match message {
                DealerMessage::Decision => {
                    say = Some(if dice.random_range(0..3) == 0 { PlayerMessage::Hit } else { PlayerMessage::Stand });
                }
                DealerMessage::Result(verdict) => told.add(verdict),
                DealerMessage::Quit => return told,
                _ => {}
            }
        }
    }
    told
}

/// One match whose dealer is killed so many times, if the match is long enough; gives how often it was.
fn tables(seed: u64, kills: u32) -> u32 {
    let (rounds, number) = (ROUNDS.to_string(), seed.to_string());
    let arguments: Vec<&str> = ["0", &rounds, "--seed", &number].into_iter().chain(GAME.split(' ')).collect();
    let mut dealer = Mortal::start("dealer", &arguments, seed);
    let (address, lives) = (dealer.address(), Lives::default());
    let names = ["Ann", "Bob", "Cy", "Dee", "Eve", "Flo"];
    let told = thread::scope(|scope| {
        let lives = &lives;
        let bots: Vec<_> = (seed..)
            .zip(names)
            .zip([Dialect::Text, Dialect::Binary].into_iter().cycle())
            .map(|((seed, name), dialect)| scope.spawn(move || play(address, (name, dialect), seed, lives)))
            .collect();
        while dealer.kills < kills {
            let messages = dealer.below(MESSAGES);
            if !lives.wait(messages, PLAYERS) || !dealer.kill() {
                break;
            }
            lives.0.change(|state| state.again += 1);
        }
        // Whoever is still there then was not told of the end.
        let killed = dealer.kills;
        let stdout = dealer.wait();
        lives.0.change(|state| state.ended = true);
        (bots.into_iter().map(|bot| bot.join().unwrap()).collect::<Vec<Score>>(), stdout, killed)
    });
    let (told, stdout, killed) = told;
    check(&names, &told, &stdout, killed);
    killed
}

// The standings that the host was shown hold all that the players were told.
fn check(names: &[&str], told: &[Score], stdout: &str, kills: u32) {
    let mut seats = 0;
    for line in stdout.lines().filter(|line| line.starts_with('{')) {
        let standings: Value = serde_json::from_str(line).unwrap();
        for seat in standings["seats"].as_array().unwrap() {
            let player = names.iter().position(|name| seat["name"] == **name).unwrap();
            let Score { wins, pushes, losses, busts } = told[player];
            let mut missed = 0;
            for (kind, told) in [("wins", wins), ("pushes", pushes), ("losses", losses), ("busts", busts)] {
                let stands = seat[kind].as_u64().unwrap_or_else(|| panic!("{kind} is not in {seat}"));
                assert!(stands >= told, "{} was told of {told} {kind}: {seat}", names[player]);
                missed += stands - told;
            }
            // What had left the dealer, and was lost on the way when it was killed.
            assert!(missed <= u64::from(kills), "{} was not told of {missed}: {seat}", names[player]);
            assert_eq!(seat["rounds"].as_u64(), Some(ROUNDS), "{seat}");
            seats += 1;
        }
    }
    // A dealer that was killed after the end may have been too late to write it down.
    assert!(seats == PLAYERS || kills > 0 && seats % 3 == 0, "{stdout}");
}

#[test]
fn a_dealer_that_is_killed_goes_on_with_all_that_it_has_told() {
    for_each_seed(2, |seed| assert!(tables(seed, 5) > 0));
}

#[test]
#[ignore = "part of `just prove`"]
fn killed_a_hundred_times_it_goes_on_with_all_that_it_has_told() {
    hundred_kills(tables);
}

#[test]
fn a_signal_suspends_the_tables_of_a_dealer_with_a_journal() {
    let place = TempDir::new();
    let mut command = program("dealer");
    command.args("--bind 127.0.0.1 0 5 --delay-ms 0 --seed 17 --json --journal".split(' ')).arg(place.path());
    let dealer = Dealer::of(&mut command);
    let mut ann = dealer.text("Ann");
    ann.until_asked();
    ann.stand();
    // The first round counts, and the second is called off.
    assert!(ann.until_asked().starts_with("RESULT "));
    dealer.process.terminate();
    let port = dealer.port;
    let finished = dealer.process.wait().ended(0);
    assert!(!finished.stdout.contains("seats"), "{}", finished.stdout);
    assert!(finished.stderr.contains("continues the match"), "{}", finished.stderr);
    assert_eq!(ann.rest(), b"", "she is not told that it is over");

    let again = Dealer::of(program("dealer").arg("--resume").arg(place.path()));
    assert_eq!(again.port, port);
    let told = again.text("Ann").stand_to_the_end();
    assert_eq!(told.iter().filter(|text| text.starts_with("RESULT ")).count(), 4, "{told:?}");
    let finished = again.process.wait().ended(0);
    assert!(finished.stdout.contains("\"name\":\"Ann\",\"rounds\":5,"), "{}", finished.stdout);
}
