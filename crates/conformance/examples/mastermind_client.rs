//! A mastermind client: `mastermind_client NAME HOST PORT [GAMES]`. It guesses the first code that matches the answers.
//! It needs only the standard library: `rustc mastermind_client.rs`.
#![allow(clippy::print_stdout, reason = "programs for people print")]

use std::{
    env,
    error::Error,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
};

fn feedback(code: &str, guess: &str) -> (usize, usize) {
    let red = code.bytes().zip(guess.bytes()).filter(|(one, other)| one == other).count();
    let count = |of: &str, digit| of.chars().filter(|other| *other == digit).count();
    let shared: usize = ('1'..='8').map(|digit| count(code, digit).min(count(guess, digit))).sum();
    (red, shared - red)
}

fn codes(length: usize, colours: usize, repeats: bool) -> Vec<String> {
    let mut codes = vec![String::new()];
    for _ in 0..length {
        let longer = |code: &String| {
            let free = ('1'..='8').take(colours).filter(|digit| repeats || !code.contains(*digit));
            free.map(|digit| format!("{code}{digit}")).collect::<Vec<_>>()
        };
        codes = codes.iter().flat_map(longer).collect();
    }
    codes
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, host, port, games @ ..] = &arguments[..] else { return Err("NAME HOST PORT [GAMES]".into()) };
    let mut games: u32 = games.first().map_or(Ok(1), |games| games.parse())?;
    let mut connection = TcpStream::connect((&**host, port.parse()?))?;
    connection.set_nodelay(true)?;
    let arriving = BufReader::new(connection.try_clone()?);
    let mut say = |line: String| connection.write_all(format!("{line}\n").as_bytes());
    let (mut colours, mut seat, mut possible) = (0, String::new(), Vec::new());
    // A read may return a part of a line, or several.
    for line in arriving.split(b'\n') {
        let line = String::from_utf8_lossy(&line?).trim_end_matches('\r').to_owned();
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ROOM", _, _, count, ..] => {
                if colours == 0 {
                    say(format!("PLAY {name}"))?;
                }
                colours = count.parse()?;
            }
            ["OK", number] => number.clone_into(&mut seat),
            ["GAME", whose, _, length, repeats] if whose == seat => {
                possible = codes(length.parse::<usize>()?.min(8), colours, repeats == "yes");
            }
            ["ROW", whose, _, guess, red, white] if whose == seat => {
                let answer = (red.parse()?, white.parse()?);
                possible.retain(|code| feedback(code, guess) == answer);
            }
            ["TURN", ..] if !possible.is_empty() => say(format!("GUESS {}", possible[possible.len() / 2]))?,
            ["OVER", whose, how, turns, ..] if whose == seat => {
                println!("{how} after {turns} turns");
                games = games.saturating_sub(1);
                say(if games > 0 { "NEW" } else { "QUIT" }.to_owned())?;
            }
            ["NO", ..] => return Err(format!("the server refuses: {line}").into()),
            ["BYE", ..] => return Ok(()),
            _ => {}
        }
    }
    Err("the server has gone".into())
}
