//! A blackjack player: `player NAME HOST PORT`. Make it better: it stands on 17, whatever the dealer shows. It needs
//! only the standard library: `rustc player.rs`.
#![allow(clippy::print_stdout, reason = "programs for people print")]

use std::{
    env,
    error::Error,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

const RANKS: [&str; 13] =
    ["Ace", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Jack", "Queen", "King"];

/// The total of a hand. An ace counts 11 unless the total would exceed 21.
fn total(hand: &[usize]) -> usize {
    let sum: usize = hand.iter().map(|rank| (rank + 1).min(10)).sum();
    if hand.contains(&0) && sum <= 11 { sum + 10 } else { sum }
}

fn rank(card: &str) -> Option<usize> {
    RANKS.iter().position(|rank| card.split(' ').next() == Some(rank))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, host, port] = &arguments[..] else { return Err("player NAME HOST PORT".into()) };
    let mut connection = TcpStream::connect((&**host, port.parse()?))?;
    connection.set_nodelay(true)?;
    connection.write_all(format!("JOIN {name}\0").as_bytes())?;
    let mut arriving = BufReader::new(connection.try_clone()?);
    let (mut hand, mut reward) = (Vec::new(), 0);
    loop {
        // A read may return a part of a message, or several.
        let mut message = Vec::new();
        arriving.by_ref().take(257).read_until(0, &mut message)?;
        message.pop_if(|last| *last == 0).ok_or("the dealer has gone or sends no messages")?;
        let message = String::from_utf8(message)?;
        match message.split_once(' ').unwrap_or((&message, "")) {
            ("BEGIN", "") => hand.clear(),
            ("CARD", card) => hand.push(rank(card).ok_or_else(|| format!("there is no card '{card}'"))?),
            ("DEALER", card) if rank(card).is_some() => {}
            ("DECISION", "") => connection.write_all(if total(&hand) < 17 { b"HIT\0" } else { b"STAND\0" })?,
            ("RESULT", "WIN") => reward += 1,
            ("RESULT", "PUSH") => {}
            ("RESULT", "LOOSE" | "LOSE" | "BUST") => reward -= 1,
            ("QUIT", "") => break,
            _ => return Err(format!("the dealer says '{message}'").into()),
        }
    }
    println!("reward {reward}");
    Ok(())
}
