//! A robots client: `robots_client -d GUI -n NAME -p PORT -s SERVER`. It joins and forwards keys. It draws only the
//! lobby: the pictures of the game are left to you. It needs only the standard library: `rustc robots_client.rs`.

use std::{
    env,
    error::Error,
    io::{self, BufReader, Read, Write as _},
    net::{Ipv6Addr, TcpStream, ToSocketAddrs as _, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Reads messages of the server, and keeps the bytes of the current one.
struct Arriving {
    stream: BufReader<TcpStream>,
    message: Vec<u8>,
}

impl Arriving {
    fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        let before = self.message.len();
        self.message.resize(before + count, 0);
        self.stream.read_exact(&mut self.message[before..])?;
        Ok(&self.message[before..])
    }

    fn skip(&mut self, count: usize) -> Result<(), Box<dyn Error>> {
        self.take(count)?;
        Ok(())
    }

    fn texts(&mut self, count: usize) -> Result<(), Box<dyn Error>> {
        for _ in 0..count {
            let length = self.take(1)?[0];
            str::from_utf8(self.take(length.into())?)?;
        }
        Ok(())
    }

    /// Does not trust the count: items are read as they arrive.
    fn items(&mut self, item: fn(&mut Self) -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
        let count = u32::from_be_bytes(self.take(4)?.try_into()?);
        (0..count).try_for_each(|_| item(self))
    }

    fn event(&mut self) -> Result<(), Box<dyn Error>> {
        match self.take(1)?[0] {
            0 => self.skip(8)?,
            1 => {
                self.take(4)?;
                self.items(|robots| robots.skip(1))?;
                self.items(|blocks| blocks.skip(4))?;
            }
            2 => self.skip(5)?,
            3 => self.skip(4)?,
            tag => return Err(format!("an event with the tag {tag}").into()),
        }
        Ok(())
    }

    /// The tag of the next message. Storing its content is left to you: a picture of the game needs it.
    fn next(&mut self) -> Result<u8, Box<dyn Error>> {
        self.message.clear();
        let tag = self.take(1)?[0];
        match tag {
            0 => {
                self.texts(1)?;
                self.take(11)?;
            }
            1 => {
                self.take(1)?;
                self.texts(2)?;
            }
            2 => self.items(|players| {
                players.take(1)?;
                players.texts(2)
            })?,
            3 => {
                self.take(2)?;
                self.items(Self::event)?;
            }
            4 => self.items(|scores| scores.skip(5))?,
            _ => return Err(format!("a message with the tag {tag}").into()),
        }
        Ok(tag)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|word| word == name).ok_or_else(|| format!("{name} is missing"))?;
        arguments.get(at + 1).cloned().ok_or_else(|| format!("nothing follows {name}"))
    };
    let (name, gui) = (option("-n")?.into_bytes(), option("-d")?);
    let join = [&[0, u8::try_from(name.len())?], &name[..]].concat();
    let keys = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, option("-p")?.parse()?))?; // takes IPv4 too
    let gui = gui.to_socket_addrs()?.next().ok_or("the GUI has no address")?;
    let screen = UdpSocket::bind(if gui.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" })?;
    let mut server = TcpStream::connect(option("-s")?)?;
    server.set_nodelay(true)?;
    let mut arriving = Arriving { stream: BufReader::new(server.try_clone()?), message: Vec::new() };
    let plays = Arc::new(AtomicBool::new(false));
    let in_game = Arc::clone(&plays);
    // In the lobby, each key joins. In a game, it is forwarded with its tag increased by one.
    thread::spawn(move || -> io::Result<()> {
        let mut key = [0; 16];
        loop {
            let length = keys.recv(&mut key)?;
            match &key[..length] {
                [0..=1] | [2, 0..=3] if !in_game.load(Ordering::SeqCst) => server.write_all(&join)?,
                [tag @ 0..=1] => server.write_all(&[tag + 1])?,
                [2, direction @ 0..=3] => server.write_all(&[3, *direction])?,
                _ => {}
            }
        }
    });
    let (mut hello, mut players) = (Vec::new(), Vec::new());
    loop {
        match arriving.next()? {
            0 => hello.clone_from(&arriving.message),
            1 => players.push(arriving.message[1..].to_vec()),
            2 => plays.store(true, Ordering::SeqCst),
            4 => {
                plays.store(false, Ordering::SeqCst);
                players.clear();
            }
            _ => {}
        }
        if matches!(arriving.message[0], 0 | 1 | 4) {
            let count = u32::try_from(players.len())?.to_be_bytes();
            // The GUI may not be running yet.
            let _ = screen.send_to(&[&hello[..], &count, &players.concat()].concat(), gui);
        }
    }
}
