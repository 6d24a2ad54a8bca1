//! A hub that only reports the location of one room.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::PATIENCE;

pub const ROOM: &str = "room-1";
/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 8 << 10;

#[derive(Debug)]
pub struct Signpost {
    address: SocketAddr,
    answer: Arc<Mutex<Vec<u8>>>,
    asked: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Default for Signpost {
    fn default() -> Self {
        Self::new()
    }
}

impl Signpost {
    /// Responds with status 503 until a location is set.
    pub fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let answer = Arc::new(Mutex::new(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n".to_vec()));
        let (asked, over) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (answers, count, end) = (Arc::clone(&answer), Arc::clone(&asked), Arc::clone(&over));
        let thread = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let answer = answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // The client may have disconnected.
                let _ = reply(stream, &answer);
            }
        });
        Self { address, answer, asked, over, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/rooms/{ROOM}", self.address)
    }

    pub fn set_location(&self, game: &str, port: u16) {
        let body = format!(r#"{{"id":"{ROOM}","game":"{game}","port":{port},"host":"127.0.0.1","node":"x"}}"#);
        self.respond(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
    }

    pub fn respond(&self, answer: impl Into<Vec<u8>>) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer.into();
    }

    pub fn requests(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Waits for two further requests, since the first may have been in flight already.
    pub fn wait_for_request(&self) {
        let (before, begun) = (self.requests(), Instant::now());
        while self.requests() < before + 2 {
            assert!(begun.elapsed() < PATIENCE, "nobody asks the directory");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn reply(mut stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let (mut head, mut byte) = (vec![], [0]);
    while !head.ends_with(b"\r\n\r\n") && head.len() < MAX_HEAD && stream.read(&mut byte)? > 0 {
        head.extend(byte);
    }
    stream.write_all(answer)
}

impl Drop for Signpost {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
