//! Minimal servers that count bytes and answer.

use std::{
    env,
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use rustix::{
    buffer::spare_capacity,
    event::epoll::{self, CreateFlags, EventData, EventFlags},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    Text,
    Binary,
}

impl Exchange {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Binary => "binary",
        }
    }

    pub(crate) fn question(self) -> Vec<u8> {
        if self == Self::Text { b"STAND\0".to_vec() } else { b"\0\0\0\x01\x07".to_vec() }
    }

    /// In text, assumes card names of medium length.
    pub(crate) fn reply(self) -> Vec<u8> {
        vec![0; if self == Self::Text { 88 } else { 6 + 28 }]
    }
}

/// One connection for text, any number for binary.
pub(crate) fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("bare at port {}", listener.local_addr().expect("bound").port());
    std::io::stdout().flush().expect("a reader");
    if env::args().any(|word| word == Exchange::Text.word()) {
        pair(&listener);
    } else {
        many(listener);
    }
}

fn pair(listener: &TcpListener) {
    let (mut stream, _) = listener.accept().expect("a connection");
    stream.set_nodelay(true).expect("a connection");
    let (mut question, reply) = (Exchange::Text.question(), Exchange::Text.reply());
    while stream.read_exact(&mut question).is_ok() && stream.write_all(&reply).is_ok() {}
}

fn many(listener: TcpListener) {
    let epoll = epoll::create(CreateFlags::CLOEXEC).expect("the system has it");
    let (sender, incoming) = std::sync::mpsc::channel::<TcpStream>();
    let watched = epoll.try_clone().expect("a descriptor");
    thread::spawn(move || {
        for (number, stream) in (0..).zip(listener.incoming()) {
            let stream = stream.expect("a connection");
            stream.set_nodelay(true).expect("a connection");
            stream.set_nonblocking(true).expect("a connection");
            let shared = stream.try_clone().expect("a descriptor");
            sender.send(shared).expect("the loop runs");
            epoll::add(&watched, &stream, EventData::new_u64(number), EventFlags::IN | EventFlags::ET)
                .expect("watched");
            std::mem::forget(stream);
        }
    });
    let mut streams: Vec<TcpStream> = vec![];
    let (mut question, reply) = ([0; 64], Exchange::Binary.reply());
    let mut events = Vec::with_capacity(256);
    loop {
        epoll::wait(&epoll, spare_capacity(&mut events), None).expect("events");
        for event in events.drain(..) {
            let number = usize::try_from(event.data.u64()).expect("few");
            while streams.len() <= number {
                streams.push(incoming.recv().expect("connections come in order"));
            }
            let mut stream = &streams[number];
            loop {
                match stream.read(&mut question) {
                    Ok(0) => break,
                    Ok(_) => stream.write_all(&reply).expect("loopback"),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => break,
                }
            }
        }
    }
}
