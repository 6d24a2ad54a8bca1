use std::{
    io::{ErrorKind, Read},
    net::{SocketAddr, TcpStream},
    sync::mpsc::{Receiver, Sender, TryRecvError, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::process::nice;

/// The interval of reads. Observers on another machine would not wake this machine for each message, so these do not
/// either.
const SWEEP: Duration = Duration::from_millis(20);

/// Read by a separate thread.
pub(crate) struct Audience {
    newcomers: Option<Sender<TcpStream>>,
    thread: Option<JoinHandle<()>>,
}

impl Audience {
    pub(crate) fn empty() -> Self {
        let (newcomers, queue) = channel();
        Self { newcomers: Some(newcomers), thread: Some(thread::spawn(move || read(&queue))) }
    }

    pub(crate) fn gather(address: SocketAddr, count: usize) -> Self {
        let audience = Self::empty();
        for _ in 0..count {
            audience.add(TcpStream::connect(address).expect("loopback"));
        }
        audience
    }

    pub(crate) fn add(&self, stream: TcpStream) {
        stream.set_nonblocking(true).expect("a socket");
        self.newcomers.as_ref().expect("not dropped").send(stream).expect("the thread runs");
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        self.newcomers = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read(newcomers: &Receiver<TcpStream>) {
    // The measuring observer must not wait for this thread. On Linux, `nice` applies only to the calling thread.
    let _ = nice(19);
    let (mut streams, mut buffer) = (vec![], vec![0; 1 << 16]);
    loop {
        loop {
            match newcomers.try_recv() {
                Ok(stream) => streams.push(stream),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        streams.retain_mut(|stream| match stream.read(&mut buffer) {
            Ok(count) => count > 0,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        });
        thread::sleep(SWEEP);
    }
}
