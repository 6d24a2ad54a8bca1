//! A mastermind server with a solo room: `mastermind_server PORT`. Lifelines and hints are left to you
//! (`docs/protocols/mastermind.md`). It needs only the standard library: `rustc mastermind_server.rs`.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    hash::{BuildHasher as _, RandomState},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

/// Shared by all threads: the connections, the messages about each seat, and the number of games.
#[derive(Default)]
struct Room {
    clients: BTreeMap<usize, TcpStream>,
    seats: BTreeMap<usize, Vec<String>>,
    games: usize,
}

type Game = Option<(String, usize)>;

fn send(mut to: &TcpStream, line: &str) {
    // The reading thread detects a client that has disconnected or does not read.
    let _ = to.write_all(format!("{line}\n").as_bytes());
}

impl Room {
    /// Sends a message to all clients, and later to new ones.
    fn record(&mut self, seat: usize, line: String) {
        self.clients.values().for_each(|stream| send(stream, &line));
        self.seats.entry(seat).or_default().push(line);
    }

    fn begin(&mut self, seat: usize, length: usize, repeats: bool) -> (String, usize) {
        self.games += 1;
        let mut digits: Vec<char> = ('1'..='8').collect();
        let mut draw = |place| {
            // The standard library's only random numbers are the keys of hash tables.
            let at = usize::try_from(RandomState::new().hash_one(place) % digits.len() as u64).unwrap_or(0);
            if repeats { digits[at] } else { digits.swap_remove(at) }
        };
        let code = (0..length).map(&mut draw).collect();
        self.seats.entry(seat).or_default().truncate(1);
        self.record(seat, format!("GAME {seat} {} {length} {}", self.games, if repeats { "yes" } else { "no" }));
        (code, 1)
    }

    /// Returns whether the message is valid in the current state.
    fn handle(&mut self, me: &TcpStream, seat: &mut usize, game: &mut Game, line: &str) -> bool {
        let (kind, rest) = line.split_once(' ').map_or((line, None), |(kind, rest)| (kind, Some(rest)));
        match (&*kind.to_ascii_uppercase(), rest, &mut *game) {
            ("PLAY", Some(name), None) if *seat == 0 && !name.is_empty() => {
                *seat = (1..=self.seats.len() + 1).find(|seat| !self.seats.contains_key(seat)).unwrap_or(1);
                send(me, &format!("OK {seat}"));
                let shown = name.chars().take(24).map(|letter| if matches!(letter, ' '..='~') { letter } else { '_' });
                self.record(*seat, format!("SEAT {seat} {}", shown.collect::<String>()));
                *game = Some(self.begin(*seat, 4, false));
            }
            ("GUESS", Some(guess), Some((code, turn)))
                if guess.len() == code.len() && guess.chars().all(|digit| matches!(digit, '1'..='8')) =>
            {
                let red = code.chars().zip(guess.chars()).filter(|(one, other)| one == other).count();
                let count = |of: &str, digit| of.chars().filter(|other| *other == digit).count();
                let shared: usize = ('1'..='8').map(|digit| count(code, digit).min(count(guess, digit))).sum();
                self.record(*seat, format!("ROW {seat} {turn} {guess} {red} {}", shared - red));
                if red == code.len() || *turn == 10 {
                    let how = if red == code.len() { "won" } else { "lost" };
                    self.record(*seat, format!("OVER {seat} {how} {turn} 0 {code}"));
                    *game = None;
                } else {
                    *turn += 1;
                }
            }
            ("RESIGN", None, Some((code, turn))) => {
                self.record(*seat, format!("OVER {seat} resigned {} 0 {code}", *turn - 1));
                *game = None;
            }
            ("NEW", None, None) if *seat > 0 => *game = Some(self.begin(*seat, 4, false)),
            ("NEW", Some(rules), None) if *seat > 0 => match rules.split_once(' ') {
                Some((length @ ("4" | "5" | "6" | "7" | "8"), repeats @ ("yes" | "no"))) => {
                    *game = Some(self.begin(*seat, length.parse().unwrap_or(4), repeats == "yes"));
                }
                _ => return false,
            },
            _ => return false,
        }
        if let Some((_, turn)) = game {
            send(me, &format!("TURN {turn} blocked blocked 0"));
        }
        true
    }
}

fn serve(stream: &TcpStream, room: &Mutex<Room>, seat: &mut usize) -> io::Result<()> {
    let (mut arriving, mut game) = (BufReader::new(stream), None);
    loop {
        let mut line = Vec::new();
        arriving.by_ref().take(66).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let line = line.strip_suffix(b"\n").filter(|line| line.strip_suffix(b"\r").unwrap_or(line).len() <= 64);
        let Some(line) = line else {
            send(stream, "BYE a line has at most 64 bytes");
            return Ok(());
        };
        // Each byte is one letter, regardless of its encoding.
        let line: String = line.strip_suffix(b"\r").unwrap_or(line).iter().map(|byte| char::from(*byte)).collect();
        if line.eq_ignore_ascii_case("QUIT") {
            send(stream, "BYE thanks for playing");
            return Ok(());
        }
        if !room.lock().unwrap_or_else(PoisonError::into_inner).handle(stream, seat, &mut game, &line) {
            send(stream, "NO you cannot say that now");
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = env::args().nth(1).ok_or("mastermind_server PORT")?.parse()?;
    let room = Arc::new(Mutex::new(Room::default()));
    for (number, stream) in TcpListener::bind(("0.0.0.0", port))?.incoming().enumerate() {
        let (stream, room) = (stream?, Arc::clone(&room));
        stream.set_nodelay(true)?;
        // A client that does not read delays other clients only briefly.
        stream.set_write_timeout(Some(Duration::from_millis(100)))?;
        thread::spawn(move || {
            {
                let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
                send(&stream, "ROOM solo 4 8 no");
                room.seats.values().flatten().for_each(|line| send(&stream, line));
                room.clients.extend(stream.try_clone().map(|copy| (number, copy)));
            }
            let mut seat = 0;
            // Treated like a closed connection.
            let _ = serve(&stream, &room, &mut seat);
            let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
            room.clients.remove(&number);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            if room.seats.remove(&seat).is_some() {
                room.clients.values().for_each(|stream| send(stream, &format!("LEFT {seat}")));
            }
        });
    }
    Ok(())
}
