//! A robots server with the options of the course. Robots move and place blocks. Bombs are left to you
//! (`docs/protocols/robots.md`). It needs only the standard library: `rustc robots_server.rs`.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    env,
    error::Error,
    hash::{BuildHasher as _, RandomState},
    io::{Read as _, Write as _},
    net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// From the reading threads to the game's thread: the client and its action.
enum Input {
    Came(TcpStream),
    Said(Vec<u8>),
    Left,
}

#[derive(Default)]
struct Client {
    stream: Option<TcpStream>,
    robot: Option<u8>,
    act: Vec<u8>,
}

struct Server {
    options: HashMap<String, String>,
    state: u64,
    clients: BTreeMap<usize, Client>,
    players: Vec<Vec<u8>>,
    /// Sent to new clients.
    history: Vec<Vec<u8>>,
    robots: Vec<(u16, u16)>,
    blocks: BTreeSet<(u16, u16)>,
    /// When turn 0 was sent, and the number of the next turn.
    game: Option<(Instant, u32)>,
}

fn at((x, y): (u16, u16)) -> Vec<u8> {
    [x.to_be_bytes(), y.to_be_bytes()].concat()
}

fn list(head: &[u8], items: &[Vec<u8>]) -> Vec<u8> {
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    [head, &count.to_be_bytes(), &items.concat()].concat()
}

impl Server {
    fn option(&self, name: &str) -> Result<u16> {
        Ok(self.options.get(name).ok_or_else(|| format!("{name} is missing"))?.parse()?)
    }

    fn draw_spot(&mut self) -> Result<(u16, u16)> {
        let mut draw = |size: u16| {
            self.state = self.state * 48271 % 2_147_483_647;
            u16::try_from(self.state % u64::from(size))
        };
        let (x, y) = (self.options["-x"].parse()?, self.options["-y"].parse()?);
        Ok((draw(x)?, draw(y)?))
    }

    fn send_all(&mut self, message: Vec<u8>) {
        for client in self.clients.values_mut() {
            // Drops a client that has disconnected or does not read.
            client.stream = client.stream.take().filter(|mut stream| stream.write_all(&message).is_ok());
        }
        self.history.push(message);
    }

    fn input(&mut self, who: usize, input: Input) -> Result<()> {
        match input {
            Input::Came(stream) => {
                let name = self.options["-n"].as_bytes();
                let mut hello = [&[0, u8::try_from(name.len())?], name, &[u8::try_from(self.option("-c")?)?]].concat();
                for option in ["-x", "-y", "-l", "-e", "-b"] {
                    hello.extend(self.option(option)?.to_be_bytes());
                }
                let _ = (&stream).write_all(&[hello, self.history.concat()].concat());
                self.clients.insert(who, Client { stream: Some(stream), ..Client::default() });
            }
            // Its last action still counts.
            Input::Left => self.clients.entry(who).and_modify(|client| client.stream = None).or_default().stream = None,
            Input::Said(said) => {
                let count = u8::try_from(self.players.len())?;
                let Some(client) = self.clients.get_mut(&who) else { return Ok(()) };
                if self.game.is_some() && said[0] > 0 {
                    client.act = said;
                } else if let (None, None, 0, Some(stream)) = (self.game, client.robot, said[0], &client.stream) {
                    client.robot = Some(count);
                    let peer = stream.peer_addr()?;
                    // Writes an IPv4 address without its IPv6-mapped form.
                    let address = SocketAddr::new(peer.ip().to_canonical(), peer.port()).to_string();
                    let player = [&[count], &said[1..], &[u8::try_from(address.len())?], address.as_bytes()].concat();
                    self.players.push(player.clone());
                    self.send_all([vec![1], player].concat());
                    if self.players.len() == usize::from(self.option("-c")?) {
                        self.begin()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        self.history.clear();
        self.send_all(list(&[2], &self.players.clone()));
        (self.robots, self.blocks) = (Vec::new(), BTreeSet::new());
        let mut events = Vec::new();
        for robot in 0..u8::try_from(self.players.len())? {
            let spot = self.draw_spot()?;
            self.robots.push(spot);
            events.push([&[2, robot], &at(spot)[..]].concat());
        }
        for _ in 0..self.option("-k")? {
            let spot = self.draw_spot()?;
            if self.blocks.insert(spot) {
                events.push([&[3], &at(spot)[..]].concat());
            }
        }
        self.game = Some((Instant::now(), 0));
        self.end_turn(&events)
    }

    fn play_turn(&mut self) -> Result<()> {
        let (size_x, size_y, mut events) = (self.option("-x")?, self.option("-y")?, Vec::new());
        let mut acts: Vec<_> =
            self.clients.values().filter_map(|client| Some((client.robot?, client.act.clone()))).collect();
        acts.sort_unstable();
        for (robot, act) in acts {
            let (x, y) = self.robots[usize::from(robot)];
            match act[..] {
                [2] if self.blocks.insert((x, y)) => events.push([&[3], &at((x, y))[..]].concat()),
                [3, direction] => {
                    let target = match direction {
                        0 => (Some(x), y.checked_add(1)),
                        1 => (x.checked_add(1), Some(y)),
                        2 => (Some(x), y.checked_sub(1)),
                        _ => (x.checked_sub(1), Some(y)),
                    };
                    if let (Some(x), Some(y)) = target
                        && x < size_x
                        && y < size_y
                        && !self.blocks.contains(&(x, y))
                    {
                        self.robots[usize::from(robot)] = (x, y);
                        events.push([&[2, robot], &at((x, y))[..]].concat());
                    }
                }
                _ => {}
            }
        }
        self.end_turn(&events)
    }

    fn end_turn(&mut self, events: &[Vec<u8>]) -> Result<()> {
        let Some((began, turn)) = self.game else { return Ok(()) };
        let [.., high, low] = turn.to_be_bytes();
        self.send_all(list(&[3, high, low], events));
        self.clients.values_mut().for_each(|client| client.act.clear());
        self.game = Some((began, turn + 1));
        if turn == u32::from(self.option("-l")?) {
            let scores: Vec<Vec<u8>> =
                (0..u8::try_from(self.robots.len())?).map(|robot| vec![robot, 0, 0, 0, 0]).collect();
            self.send_all(list(&[4], &scores));
            (self.game, self.players, self.history) = (None, Vec::new(), Vec::new());
            self.clients.values_mut().for_each(|client| client.robot = None);
        }
        Ok(())
    }
}

/// Ends when the client disconnects or sends invalid bytes.
fn read(who: usize, mut stream: &TcpStream, inputs: &Sender<(usize, Input)>) -> Result<()> {
    loop {
        let mut more = |count: usize| {
            let mut bytes = vec![0; count];
            stream.read_exact(&mut bytes).map(|()| bytes)
        };
        let mut message = more(1)?;
        match message[0] {
            0 => {
                message.extend(more(1)?);
                message.extend(more(message[1].into())?);
                str::from_utf8(&message[2..])?;
            }
            1 | 2 => {}
            3 => message.extend(more(1)?),
            tag => return Err(format!("the tag {tag}").into()),
        }
        if let [3, direction] = message[..]
            && direction > 3
        {
            return Err("a direction that does not exist".into());
        }
        inputs.send((who, Input::Said(message)))?;
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let options: HashMap<_, _> = arguments.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let seed = options.get("-s").map_or_else(|| Ok(RandomState::new().hash_one(0) % (1 << 32)), |seed| seed.parse())?;
    let (clients, blocks, players, history, robots) = Default::default();
    let mut server = Server { options, state: seed, clients, players, history, robots, blocks, game: None };
    for option in ["-b", "-c", "-e", "-k", "-l", "-p", "-x", "-y"] {
        server.option(option)?;
    }
    let (turn, _) =
        (Duration::from_millis(server.option("-d")?.into()), server.options.get("-n").ok_or("-n is missing")?);
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, server.option("-p")?))?; // takes IPv4 too
    let (sender, inputs) = mpsc::channel();
    thread::spawn(move || {
        for (who, stream) in listener.incoming().map_while(std::result::Result::ok).enumerate() {
            let inputs = sender.clone();
            thread::spawn(move || -> Result<()> {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(Duration::from_millis(20)))?;
                inputs.send((who, Input::Came(stream.try_clone()?)))?;
                let _ = read(who, &stream, &inputs);
                let _ = stream.shutdown(std::net::Shutdown::Both);
                Ok(inputs.send((who, Input::Left))?)
            });
        }
    });
    loop {
        // Turns do not drift, since each is scheduled relative to turn 0.
        let due = server.game.map(|(began, next)| began + turn * next);
        let wait = due.map_or(Duration::from_secs(3600), |due| due.saturating_duration_since(Instant::now()));
        match inputs.recv_timeout(wait) {
            Ok((who, input)) => server.input(who, input)?,
            Err(RecvTimeoutError::Timeout) if due.is_some() => server.play_turn()?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
