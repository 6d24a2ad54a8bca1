//! Writing to a stream that may be full, closed, or without a reader.
//!
//! A program must not end or block because its output is not read: a thread writes from a bounded queue. Texts that do
//! not fit, or that cannot be written, are dropped.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

#[cfg(unix)]
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

/// Each text counts [`ENTRY`] more than its length.
const MAX_BYTES: usize = 4 << 20;
const ENTRY: usize = 64;

#[derive(Debug, Clone)]
pub struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    // Never locked during a write.
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    texts: VecDeque<Vec<u8>>,
    // Includes the text that is being written.
    bytes: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// `failed` receives the first write error; later ones are not reported.
    pub fn start(stream: impl Write + Send + 'static, failed: impl FnOnce(io::Error) + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let queue = Self { shared: Arc::clone(&shared) };
        #[cfg(unix)]
        let _mask = SigtstpMask::begin();
        thread::spawn(move || write(&shared, stream, failed));
        queue
    }

    /// Queues a text to be written in one piece. Returns `false` if there is no room and the text is dropped.
    pub fn push(&self, text: Vec<u8>) -> bool {
        let mut state = self.shared.state();
        let bytes = state.bytes + text.len() + ENTRY;
        let fits = bytes <= MAX_BYTES;
        if fits {
            state.bytes = bytes;
            state.texts.push_back(text);
            self.shared.changed.notify_all();
        }
        fits
    }

    /// Waits for at most `patience`. Returns whether everything is written.
    pub fn finish(&self, patience: Duration) -> bool {
        let done = self.shared.changed.wait_timeout_while(self.shared.state(), patience, |state| state.bytes > 0);
        let (state, _) = done.unwrap_or_else(PoisonError::into_inner);
        state.bytes == 0
    }
}

/// Blocks SIGTSTP in threads that are started while this value exists. A program that draws on the terminal handles the
/// signal in one thread, which first gives the terminal back; any other thread would stop the program before.
#[cfg(unix)]
struct SigtstpMask(Option<SigSet>);

#[cfg(unix)]
impl SigtstpMask {
    fn begin() -> Self {
        Self(SigSet::from(Signal::SIGTSTP).thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
    }
}

#[cfg(unix)]
impl Drop for SigtstpMask {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            let _ = before.thread_set_mask();
        }
    }
}

fn write(shared: &Shared, mut stream: impl Write, failed: impl FnOnce(io::Error)) {
    let mut failed = Some(failed);
    loop {
        let waiting = shared.changed.wait_while(shared.state(), |state| state.texts.is_empty());
        let text = waiting.unwrap_or_else(PoisonError::into_inner).texts.pop_front();
        let Some(text) = text else { continue };
        if let Err(error) = stream.write_all(&text).and_then(|()| stream.flush())
            && let Some(failed) = failed.take()
        {
            failed(error);
        }
        shared.state().bytes -= text.len() + ENTRY;
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[derive(Clone, Default)]
    struct Unread {
        read: Arc<(Mutex<bool>, Condvar)>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Unread {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (read, changed) = &*self.read;
            drop(changed.wait_while(read.lock().unwrap(), |read| !*read).unwrap());
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn unread_stream_does_not_block() {
        let stream = Unread::default();
        let queue = Queue::start(stream.clone(), |error| panic!("{error}"));
        let text = [b'x'; 1_000];
        let accepted = (0..10_000).filter(|_| queue.push(text.to_vec())).count();
        assert_eq!(accepted, MAX_BYTES / (text.len() + ENTRY));
        assert!(!queue.finish(Duration::from_millis(1)));
        *stream.read.0.lock().unwrap() = true;
        stream.read.1.notify_all();
        assert!(queue.finish(Duration::from_secs(30)));
        assert_eq!(stream.written.lock().unwrap().len(), accepted * text.len());
    }

    #[test]
    fn broken_stream_is_reported_once() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (sender, errors) = sync_channel(9);
        let queue = Queue::start(Broken, move |error| sender.send(error.kind()).unwrap());
        assert!(queue.push(b"one".to_vec()) && queue.push(b"two".to_vec()) && queue.finish(Duration::from_secs(30)));
        assert_eq!(errors.try_iter().collect::<Vec<_>>(), [io::ErrorKind::BrokenPipe]);
    }
}
