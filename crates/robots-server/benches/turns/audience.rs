//! Those who only look on: everything that comes is read and forgotten.

use std::{
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread::{self, JoinHandle},
};

use tokio::{
    io::AsyncReadExt,
    runtime::Builder,
    sync::{Notify, mpsc},
};

/// Connections that a thread of their own reads.
pub(crate) struct Audience {
    newcomers: mpsc::UnboundedSender<TcpStream>,
    end: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Audience {
    /// Nobody yet.
    pub(crate) fn empty() -> Self {
        let (newcomers, mut queue) = mpsc::unbounded_channel::<TcpStream>();
        let end = Arc::new(Notify::new());
        let ended = Arc::clone(&end);
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let admit = async {
                    while let Some(stream) = queue.recv().await {
                        stream.set_nonblocking(true).expect("a socket");
                        let mut stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
                        tokio::spawn(async move {
                            let mut buffer = [0; 4096];
                            while matches!(stream.read(&mut buffer).await, Ok(1..)) {}
                        });
                    }
                    std::future::pending::<()>().await;
                };
                tokio::select! { () = admit => {} () = ended.notified() => {} }
            });
        });
        Self { newcomers, end, thread: Some(thread) }
    }

    /// So many at once.
    pub(crate) fn gather(address: SocketAddr, count: usize) -> Self {
        let audience = Self::empty();
        for _ in 0..count {
            audience.add(TcpStream::connect(address).expect("loopback"));
        }
        audience
    }

    /// One more.
    pub(crate) fn add(&self, stream: TcpStream) {
        self.newcomers.send(stream).expect("the thread runs");
    }

    /// All of them leave.
    pub(crate) fn leave(self) {
        drop(self);
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        self.end.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
