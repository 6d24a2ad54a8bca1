//! A server or the floor, with 27 clients.

use std::{
    net::UdpSocket,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use nuggets::{Direction, Grid};
use socket2::SockRef;
use testkit::measured::Measured;

use crate::{CLIENTS, PLAYERS, table::Cost};

const PATIENCE: Duration = Duration::from_secs(5);

/// The last client is the spectator.
pub(crate) struct Host {
    process: Measured,
    clients: Vec<UdpSocket>,
    grid: Option<Grid>,
    frames: Vec<Vec<u8>>,
    buffer: Vec<u8>,
    dice: u64,
}

impl Host {
    pub(crate) fn floor(bytes: usize) -> Self {
        let itself = std::env::current_exe().expect("this program has a path");
        let host = Self::of(Command::new(itself).args(["--floor", &bytes.to_string()]), None);
        for client in &host.clients {
            client.send(b"PLAY floor").expect("sent");
        }
        host
    }

    fn of(command: &mut Command, grid: Option<Grid>) -> Self {
        let process = Measured::start(command);
        let clients = sockets(process.port);
        Self { process, clients, grid, frames: vec![vec![]; CLIENTS], buffer: vec![0; 1 << 16], dice: 1 }
    }

    /// The server under test, with a full table and a KEY from each address, and with a journal in `directory`.
    pub(crate) fn server(map: &Path, directory: Option<&Path>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nuggets-server"));
        // Enough gold that no random walk ends the game.
        command.arg(map).args(["17", "--bind", "127.0.0.1", "--gold", "1000000", "--log", "off"]);
        if let Some(directory) = directory {
            command.arg("--journal").arg(directory);
        }
        let text = std::fs::read(map).expect("the map is there");
        let grid = Grid::parse(&text).expect("a map of the repository").0;
        let mut host = Self::of(&mut command, Some(grid));
        for index in 0..CLIENTS {
            let hello: &[u8] = if index < PLAYERS { b"PLAY bench" } else { b"SPECTATE" };
            host.clients[index].send(hello).expect("sent");
            // The server sends a DISPLAY to all clients when a player joins, but only to the spectator when that joins.
            let told = if index < PLAYERS { 0 } else { index };
            (told..=index).rev().for_each(|other| host.await_display(other));
            // Without a KEY, the server limits its displays.
            host.clients[index].send(b"KEY ?").expect("sent");
        }
        host
    }

    pub(crate) fn display_bytes(&self) -> usize {
        self.frames[0].len()
    }

    pub(crate) fn peak_memory_mb(&self) -> f64 {
        self.process.peak_memory_mb()
    }

    /// Each move begins after all clients have received the previous one.
    pub(crate) fn measure(&mut self, moves: usize) -> Cost {
        let before = self.process.cpu();
        let mut latencies: Vec<Duration> = (0..moves)
            .map(|number| {
                let player = number % PLAYERS;
                let key = self.moving_key(player);
                let start = Instant::now();
                self.clients[player].send(&[b'K', b'E', b'Y', b' ', key]).expect("sent");
                // From the last client in order of sending, so that the reader does not wake for each datagram.
                (0..CLIENTS).rev().for_each(|client| self.await_display(client));
                start.elapsed()
            })
            .collect();
        latencies.sort_unstable();
        let moves = u32::try_from(moves).expect("not that many");
        Cost { cpu: self.process.cpu().saturating_sub(before) / moves, latencies }
    }

    /// The number of moves per second that all clients receive, with eight keys in flight.
    pub(crate) fn moving_keys_per_second(&mut self, keys: usize) -> f64 {
        const FLIGHT: usize = 8;
        let start = Instant::now();
        let mut moves = 0u32;
        for flight in 0..keys / FLIGHT {
            for number in 0..FLIGHT {
                let player = (flight * FLIGHT + number) % PLAYERS;
                let key = self.moving_key(player);
                self.clients[player].send(&[b'K', b'E', b'Y', b' ', key]).expect("sent");
            }
            // A swap can make a player's key impossible. The response to an unassigned key follows the displays of the
            // successful moves.
            self.clients[0].send(b"KEY ?").expect("sent");
            let mut told = 0u32;
            while self.await_answer(0, &[b"DISPLAY\n", b"ERROR"]) == 0 {
                told += 1;
            }
            for client in 1..CLIENTS {
                (0..told).for_each(|_| self.await_display(client));
            }
            moves += told;
        }
        f64::from(moves) / start.elapsed().as_secs_f64()
    }

    /// Sends `keys` keys at `rate` per second. Every tenth moves its player; the others are unassigned and cause an
    /// ERROR each. Returns their number, the number of responses, and the seconds taken.
    pub(crate) fn mixed_keys(&mut self, keys: usize, rate: u32) -> (usize, usize, f64) {
        let answers = |client: &UdpSocket| {
            let client = client.try_clone().expect("a second handle");
            client.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
            thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                let mut count = 0;
                while let Ok(length) = client.recv(&mut buffer) {
                    count += usize::from(buffer[..length].starts_with(b"ERROR"));
                }
                count
            })
        };
        let readers: Vec<_> = self.clients.iter().map(answers).collect();
        let start = Instant::now();
        // Alternates two opposite steps, each of which is possible after the previous one.
        let there: Vec<u8> = (0..PLAYERS).map(|player| self.moving_key(player)).collect();
        let back = |key| b"lhkjnbuy"[b"hljkyubn".iter().position(|&other| other == key).expect("a step")];
        for number in 0..keys {
            let player = number % PLAYERS;
            let key = match number % 10 {
                0 if (number / PLAYERS).is_multiple_of(2) => there[player],
                0 => back(there[player]),
                _ => b'?',
            };
            self.clients[player].send(&[b'K', b'E', b'Y', b' ', key]).expect("sent");
            // At most a few milliseconds early.
            let due = Duration::from_secs_f64(f64::from(u32::try_from(number).unwrap_or(0)) / f64::from(rate));
            if let Some(early) = due.checked_sub(start.elapsed() + Duration::from_millis(2)) {
                thread::sleep(early);
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let answered = readers.into_iter().map(|reader| reader.join().expect("a count")).sum();
        (keys - keys.div_ceil(10), answered, seconds)
    }

    // The floor sends no other datagrams.
    fn await_display(&mut self, client: usize) {
        let kinds: &[&[u8]] = if self.grid.is_some() { &[b"DISPLAY\n"] } else { &[b""] };
        self.await_answer(client, kinds);
    }

    // Reads until a datagram of one of these kinds arrives, and returns its kind. Stores a DISPLAY.
    fn await_answer(&mut self, client: usize, kinds: &[&[u8]]) -> usize {
        loop {
            let length = self.clients[client].recv(&mut self.buffer).expect("an answer in time");
            let datagram = &self.buffer[..length];
            if datagram.starts_with(b"DISPLAY\n") {
                self.frames[client].clear();
                self.frames[client].extend_from_slice(datagram);
            }
            if let Some(kind) = kinds.iter().position(|kind| datagram.starts_with(kind)) {
                return kind;
            }
        }
    }

    fn moving_key(&mut self, player: usize) -> u8 {
        let Some(grid) = &self.grid else { return b'h' };
        let text = &self.frames[player][8..];
        let at = text.iter().position(|&byte| byte == b'@').expect("the player sees itself");
        let cell = nuggets::Cell(u16::try_from(at).expect("within a datagram"));
        let ways: Vec<Direction> = Direction::ALL.into_iter().filter(|&way| grid.step(cell, way).is_some()).collect();
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pick = usize::try_from(self.dice >> 33).expect("31 bits") % ways.len();
        ways[pick].key()
    }
}

fn sockets(port: u16) -> Vec<UdpSocket> {
    let open = || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        // The system may limit the size, but one display at a time fits.
        let _ = SockRef::from(&socket).set_recv_buffer_size(4 << 20);
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        socket.connect(("127.0.0.1", port)).expect("loopback");
        socket
    };
    (0..CLIENTS).map(|_| open()).collect()
}
