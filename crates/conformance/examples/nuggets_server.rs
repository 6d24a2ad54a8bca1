//! A nuggets server: `nuggets_server MAP [SEED]`. Players see the whole map: sight is left to you. It needs only the
//! standard library: `rustc nuggets_server.rs`.
#![allow(clippy::print_stdout, reason = "it prints its port and the table")]

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    net::{SocketAddr, UdpSocket},
};

type Spot = (usize, usize);

/// A player or, without a letter, the spectator.
struct Client {
    address: SocketAddr,
    letter: Option<char>,
    name: String,
    spot: Spot,
    purse: usize,
    is_here: bool,
}

struct Game {
    server: UdpSocket,
    rows: Vec<Vec<char>>,
    dice: u64,
    piles: BTreeMap<Spot, usize>,
    clients: Vec<Client>,
}

impl Game {
    /// A random number below this one (xorshift).
    fn random(&mut self, below: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice % below as u64).unwrap_or(0)
    }

    /// Room spots without gold or a player.
    fn free(&self) -> Vec<Spot> {
        let all = self.rows.iter().enumerate().flat_map(|(row, line)| (0..line.len()).map(move |column| (row, column)));
        let is_taken =
            |spot| self.clients.iter().any(|other| other.is_here && other.letter.is_some() && other.spot == spot);
        all.filter(|&spot| self.rows[spot.0][spot.1] == '.' && !self.piles.contains_key(&spot) && !is_taken(spot))
            .collect()
    }

    fn place_gold(&mut self) {
        for pile in 0..10 {
            let free = self.free();
            let spot = free[self.random(free.len())];
            let left = 250 - self.piles.values().sum::<usize>();
            let gold = if pile == 9 { left } else { 1 + self.random(2 * left / (10 - pile)).min(left - 10 + pile) };
            self.piles.insert(spot, gold);
        }
    }

    fn send(&self, client: &Client, text: &str) {
        if client.is_here {
            // Ignored: a client that has disconnected must not affect the others.
            let _ = self.server.send_to(text.as_bytes(), client.address);
        }
    }

    fn gold(&self, client: &Client, found: usize) {
        self.send(client, &format!("GOLD {found} {} {}", client.purse, self.piles.values().sum::<usize>()));
    }

    fn show(&self, client: &Client) {
        let mut rows = self.rows.clone();
        self.piles.keys().for_each(|spot| rows[spot.0][spot.1] = '*');
        for player in self.clients.iter().filter(|player| player.is_here) {
            if let Some(letter) = player.letter {
                rows[player.spot.0][player.spot.1] = if client.letter == player.letter { '@' } else { letter };
            }
        }
        let lines: String = rows.iter().map(|row| row.iter().collect::<String>() + "\n").collect();
        self.send(client, &format!("DISPLAY\n{lines}"));
    }

    fn send_snapshot(&self, client: &Client) {
        if let Some(letter) = client.letter {
            self.send(client, &format!("OK {letter}"));
        }
        self.send(client, &format!("GRID {} {}", self.rows.len(), self.rows[0].len()));
        self.gold(client, 0);
        self.show(client);
    }

    fn join(&mut self, name: &[u8], address: SocketAddr) {
        let letter = ('A'..='Z').find(|letter| self.clients.iter().all(|other| other.letter != Some(*letter)));
        let free = self.free();
        let refusal = match letter {
            _ if name.trim_ascii().is_empty() => Some("QUIT Sorry - you must provide player's name."),
            Some(_) if !free.is_empty() => None,
            _ => Some("QUIT Game is full: no more players can join."),
        };
        let spot = if refusal.is_none() { free[self.random(free.len())] } else { (0, 0) };
        let clean = |byte: &u8| if matches!(byte, b'\t' | b' '..=b'~') { char::from(*byte) } else { '_' };
        let name = name.iter().take(50).map(clean).collect();
        let new = Client { address, letter, name, spot, purse: 0, is_here: true };
        if let Some(text) = refusal {
            return self.send(&new, text);
        }
        self.clients.push(new);
        self.clients.last().into_iter().for_each(|new| self.send_snapshot(new));
        self.clients.iter().rev().skip(1).for_each(|other| self.show(other));
    }

    /// Swaps places with a player on the spot, and collects gold. Returns whether the move was possible.
    fn step(&mut self, who: usize, key: char) -> bool {
        let Some(way) = "hjklyubn".find(key) else { return false };
        let (down, right) = [(0, -1), (1, 0), (-1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)][way];
        let before = self.clients[who].spot;
        let target = (before.0.checked_add_signed(down), before.1.checked_add_signed(right));
        let (Some(row), Some(column)) = target else { return false };
        if !self.rows.get(row).and_then(|line| line.get(column)).is_some_and(|ground| matches!(ground, '.' | '#')) {
            return false;
        }
        let is_there = |other: &&mut Client| other.is_here && other.letter.is_some() && other.spot == (row, column);
        self.clients.iter_mut().filter(is_there).for_each(|other| other.spot = before);
        self.clients[who].spot = (row, column);
        self.clients[who].purse += self.piles.remove(&(row, column)).unwrap_or(0);
        true
    }

    fn key(&mut self, who: usize, key: char) {
        let (small, purse) = (key.to_ascii_lowercase(), self.clients[who].purse);
        match (key, self.clients[who].letter) {
            ('Q', letter) => {
                let doing = if letter.is_some() { "playing" } else { "watching" };
                self.send(&self.clients[who], &format!("QUIT Thanks for {doing}!"));
                self.clients[who].is_here = false;
                self.clients.iter().for_each(|client| self.show(client));
            }
            (_, Some(_)) if "hjklyubn".contains(small) => {
                let moved = self.step(who, small);
                while moved && key.is_ascii_uppercase() && self.step(who, small) {}
                let found = self.clients[who].purse - purse;
                for (other, client) in self.clients.iter().enumerate().filter(|_| found > 0) {
                    self.gold(client, if other == who { found } else { 0 });
                }
                self.clients.iter().filter(|_| moved).for_each(|client| self.show(client));
            }
            (_, Some(_)) => self.send(&self.clients[who], "ERROR unknown keystroke"),
            (_, None) => {}
        }
    }

    fn handle(&mut self, message: &[u8], address: SocketAddr) {
        let who = self.clients.iter().rposition(|client| client.address == address);
        let here = who.filter(|who| self.clients[*who].is_here);
        let kind = message.split(|byte| matches!(byte, b' ' | b'\n')).next().unwrap_or_default();
        match (message, who) {
            ([b'P', b'L', b'A', b'Y', b' ', name @ ..], None) => self.join(name, address),
            ([b'P', b'L', b'A', b'Y', b' ', ..], Some(_)) if here.is_none() => {
                drop(self.server.send_to(b"QUIT You have left this game and cannot join it again.", address));
            }
            (b"SPECTATE", who) if who.is_none_or(|who| self.clients[who].letter.is_none()) => {
                for old in self.clients.iter().filter(|other| other.letter.is_none() && other.address != address) {
                    self.send(old, "QUIT You have been replaced by a new spectator.");
                }
                self.clients.retain(|other| other.letter.is_some());
                let (letter, name, spot) = (None, String::new(), (0, 0));
                self.clients.push(Client { address, letter, name, spot, purse: 0, is_here: true });
                self.clients.last().into_iter().for_each(|new| self.send_snapshot(new));
            }
            ([b'K', b'E', b'Y', b' ', key], _) => here.into_iter().for_each(|who| self.key(who, char::from(*key))),
            _ if [&b"OK"[..], b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"].contains(&kind) => {}
            _ => drop(self.server.send_to(b"ERROR malformed message", address)),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let map = fs::read_to_string(arguments.first().ok_or("nuggets_server MAP [SEED]")?)?;
    let seed: u64 = arguments.get(1).map_or(Ok(u64::from(std::process::id())), |seed| seed.parse())?;
    if seed == 0 {
        return Err("a seed is a number from 1 on".into());
    }
    let rows = map.lines().map(|line| line.chars().collect()).collect();
    let server = UdpSocket::bind("0.0.0.0:0")?;
    println!("port {}", server.local_addr()?.port());
    let (piles, clients) = Default::default();
    let mut game = Game { server, rows, dice: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), piles, clients };
    game.place_gold();
    let mut buffer = vec![0; 65_536];
    while !game.piles.is_empty() {
        // A client with a closed port causes an error here.
        if let Ok((length, address)) = game.server.recv_from(&mut buffer) {
            game.handle(&buffer[..length], address);
        }
    }
    let row = |client: &Client| Some(format!("\n{} {:10} {}", client.letter?, client.purse, client.name));
    let table: String = game.clients.iter().filter_map(row).collect();
    game.clients.iter().for_each(|client| game.send(client, &format!("QUIT GAME OVER:{table}")));
    println!("GAME OVER:{table}");
    Ok(())
}
