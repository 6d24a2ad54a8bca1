//! A blackjack dealer for one player: `dealer PORT ROUNDS`. Start from here. `docs/protocols/blackjack.md` has the
//! rest. It needs only the standard library: `rustc dealer.rs`.

use std::{
    env,
    error::Error,
    hash::{BuildHasher as _, RandomState},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RANKS: [&str; 13] =
    ["Ace", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Jack", "Queen", "King"];
const SUITS: [&str; 4] = ["Clubs", "Diamonds", "Hearts", "Spades"];

/// The total of a hand of cards from 0 to 51. An ace counts 11 unless the total would exceed 21.
fn total(hand: &[usize]) -> usize {
    let sum: usize = hand.iter().map(|card| (card % 13 + 1).min(10)).sum();
    if hand.iter().any(|card| card % 13 == 0) && sum <= 11 { sum + 10 } else { sum }
}

fn name(card: usize) -> String {
    format!("{} of {}", RANKS[card % 13], SUITS[card / 13])
}

/// A deck in random order (Fisher and Yates).
fn shuffled() -> Vec<usize> {
    let mut deck: Vec<usize> = (0..52).collect();
    for last in (1..52_usize).rev() {
        // The standard library's only random numbers are the keys of hash tables.
        let random = RandomState::new().hash_one(last);
        deck.swap(last, usize::try_from(random % (last as u64 + 1)).unwrap_or(0));
    }
    deck
}

struct Player(BufReader<TcpStream>);

impl Player {
    fn send(&mut self, text: &str) -> Result<()> {
        Ok(self.0.get_mut().write_all(format!("{text}\0").as_bytes())?)
    }

    fn receive(&mut self) -> Result<String> {
        let mut message = Vec::new();
        self.0.by_ref().take(257).read_until(0, &mut message)?;
        message.pop_if(|last| *last == 0).ok_or("the player has left or sends no messages")?;
        Ok(String::from_utf8_lossy(&message).into_owned())
    }

    fn round(&mut self) -> Result<()> {
        let mut deck = shuffled();
        let mut draw = || deck.pop().ok_or("there are no more cards");
        let (mut hand, mut dealer) = (vec![draw()?, draw()?], vec![draw()?, draw()?]);
        self.send("BEGIN")?;
        for card in &hand {
            self.send(&format!("CARD {}", name(*card)))?;
        }
        self.send(&format!("DEALER {}", name(dealer[1])))?;
        loop {
            self.send("DECISION")?;
            match &*self.receive()? {
                "HIT" => hand.push(draw()?),
                "STAND" => break,
                other => return Err(format!("the player says '{other}'").into()),
            }
            self.send(&format!("CARD {}", name(hand[hand.len() - 1])))?;
            if total(&hand) > 21 {
                return self.send("RESULT BUST");
            }
        }
        while total(&dealer) < 17 {
            dealer.push(draw()?);
        }
        let (mine, theirs) = (total(&dealer), total(&hand));
        let wins = mine > 21 || theirs > mine;
        self.send(if wins {
            "RESULT WIN"
        } else if mine == theirs {
            "RESULT PUSH"
        } else {
            "RESULT LOOSE"
        })
    }
}

fn main() -> Result<()> {
    let arguments: Vec<u32> = env::args().skip(1).map(|word| word.parse()).collect::<std::result::Result<_, _>>()?;
    let [port, rounds] = arguments[..] else { return Err("dealer PORT ROUNDS".into()) };
    let (stream, _) = TcpListener::bind(("0.0.0.0", u16::try_from(port)?))?.accept()?;
    let mut player = Player(BufReader::new(stream));
    if !player.receive()?.starts_with("JOIN ") {
        return Err("that is no player".into());
    }
    for _ in 0..rounds {
        player.round()?;
    }
    player.send("QUIT")
}
