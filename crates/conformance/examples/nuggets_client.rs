//! A nuggets client: `nuggets_client HOST PORT [NAME]`. It sends typed keys one by one, and shows the newest picture.
//! Without a name, it watches. It needs only the standard library: `rustc nuggets_client.rs`.
#![allow(clippy::print_stdout, reason = "programs for people print")]

use std::{
    env,
    error::Error,
    io::{IsTerminal as _, Read as _, stdin, stdout},
    net::UdpSocket,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// The seconds after which the first message is repeated. The client gives up after the last one.
const REPEATS: [u64; 4] = [1, 3, 7, 15];

fn main() -> Result<(), Box<dyn Error>> {
    // Single keys without echo. Without a terminal, there are no modes to set.
    let modes = |words: &[&str]| drop(Command::new("stty").args(words).stderr(Stdio::null()).status());
    modes(&["-icanon", "-echo"]);
    let played = play();
    modes(&["icanon", "echo"]);
    played
}

fn play() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (host, port, name) = match &arguments[..] {
        [host, port] => (host, port, None),
        [host, port, name] => (host, port, Some(name)),
        _ => return Err("nuggets_client HOST PORT [NAME]".into()),
    };
    let port: u16 = port.parse().ok().filter(|port| *port > 0).ok_or_else(|| format!("{port} is no port"))?;
    let server = UdpSocket::bind("0.0.0.0:0")?;
    server.connect((&**host, port))?; // takes datagrams of this address only
    server.set_read_timeout(Some(Duration::from_millis(20)))?;
    let greeting = name.map_or("SPECTATE".to_owned(), |name| format!("PLAY {name}"));
    server.send(greeting.as_bytes())?;
    // A separate thread, since reading keys blocks. It ends with the input or the program.
    let (typed, keys) = mpsc::sync_channel(0);
    thread::spawn(move || stdin().lock().bytes().map_while(Result::ok).all(|key| typed.send(key).is_ok()));
    let (start, mut repeats, mut is_in, mut leaves) = (Instant::now(), &REPEATS[..], false, None);
    let mut buffer = vec![0; 65_536];
    loop {
        if let [next, later @ ..] = repeats
            && start.elapsed() > Duration::from_secs(*next)
        {
            if later.is_empty() {
                return Err("nobody answers".into());
            }
            repeats = later;
            server.send(greeting.as_bytes())?;
        }
        match (leaves, if is_in { keys.try_recv() } else { Err(mpsc::TryRecvError::Empty) }) {
            (None, Ok(key)) => drop(server.send(&[b"KEY ", &[key][..]].concat())),
            (None, Err(mpsc::TryRecvError::Disconnected)) => {
                leaves = Some(Instant::now());
                drop(server.send(b"KEY Q"));
            }
            // The key or its answer was lost.
            (Some(since), _) if since.elapsed() > Duration::from_secs(2) => {
                return Ok(server.send(b"KEY Q").map(drop)?);
            }
            _ => {}
        }
        // The server may be unreachable for a moment.
        let Ok(length) = server.recv(&mut buffer) else { continue };
        repeats = &[];
        let message = String::from_utf8_lossy(&buffer[..length]);
        match message.split_once([' ', '\n']) {
            Some(("DISPLAY", rows)) => {
                is_in = true;
                if stdout().is_terminal() {
                    println!("\x1b[H\x1b[2J{rows}");
                }
            }
            Some(("ERROR", why)) => eprintln!("{why}"),
            Some(("QUIT", why)) => {
                println!("{}", why.trim_end_matches(['\0', '\n']));
                return Ok(());
            }
            _ => {}
        }
    }
}
