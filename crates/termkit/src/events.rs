use std::{
    io::{self, IsTerminal},
    thread::{self, JoinHandle},
};

use crate::keys::Event;

/// Starts a thread that passes events to `sink` until it returns `false` or the terminal hangs up.
///
/// For a tokio channel, the sink is `move |event| sender.blocking_send(event).is_ok()`.
pub fn listen(mut sink: impl FnMut(Event) -> bool + Send + 'static) -> io::Result<JoinHandle<()>> {
    if !io::stdin().is_terminal() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "standard input is not a terminal"));
    }
    let mut source = source::Source::new()?;
    thread::Builder::new().name("terminal events".into()).spawn(move || {
        loop {
            match source.next() {
                Ok(Some(event)) => {
                    if !sink(event) {
                        return;
                    }
                }
                Ok(None) => {}
                Err(_) => {
                    sink(Event::Gone);
                    return;
                }
            }
        }
    })
}

/// Reads the terminal without crossterm, whose reader loops forever after the terminal has hung up
/// (crossterm-rs/crossterm#793), and can leave a key unread that arrives with a resize.
#[cfg(all(unix, not(target_vendor = "apple")))]
mod source {
    use std::{
        collections::VecDeque,
        io::{self, Read},
        os::unix::net::UnixStream,
    };

    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        io::{Errno, read},
    };
    use signal_hook::{SigId, consts::SIGWINCH, low_level};

    use super::Event;
    use crate::decode::Decoder;

    pub(super) struct Source {
        resized: UnixStream,
        signal: SigId,
        decoder: Decoder,
        ready: VecDeque<Event>,
    }

    impl Source {
        pub(super) fn new() -> io::Result<Self> {
            let (resized, sender) = UnixStream::pair()?;
            resized.set_nonblocking(true)?;
            sender.set_nonblocking(true)?;
            let signal = low_level::pipe::register(SIGWINCH, sender)?;
            Ok(Self { resized, signal, decoder: Decoder::default(), ready: VecDeque::new() })
        }

        /// `None` for an incomplete event; an error means that the terminal has hung up.
        pub(super) fn next(&mut self) -> io::Result<Option<Event>> {
            if self.ready.is_empty() {
                self.wait()?;
            }
            Ok(self.ready.pop_front())
        }

        fn wait(&mut self) -> io::Result<()> {
            let stdin = io::stdin();
            let mut waited = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.resized, PollFlags::IN)];
            let patience = self.decoder.patience().and_then(|patience| Timespec::try_from(patience).ok());
            match poll(&mut waited, patience.as_ref()) {
                Ok(0) => self.ready.extend(self.decoder.timeout()),
                Ok(_) => {}
                Err(Errno::INTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            let [keys, sizes] = waited.map(|fd| fd.revents());
            if keys.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if sizes.contains(PollFlags::IN) {
                while matches!(self.resized.read(&mut [0; 64]), Ok(1..)) {}
                self.ready.push_back(Event::Resized);
            }
            if keys.contains(PollFlags::IN) {
                let mut bytes = [0; 1024];
                match read(&stdin, &mut bytes) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(count) => {
                        let events = bytes[..count].iter().flat_map(|&byte| self.decoder.byte(byte));
                        self.ready.extend(events.flatten());
                    }
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(())
        }
    }

    impl Drop for Source {
        fn drop(&mut self) {
            low_level::unregister(self.signal);
        }
    }
}

/// Crossterm's reader, for Windows, and for macOS, whose `poll` does not work on terminals (console-rs/console#169).
#[cfg(not(all(unix, not(target_vendor = "apple"))))]
mod source {
    use std::io;

    use ratatui::crossterm::event::{self, Event as Raw, MouseButton, MouseEvent, MouseEventKind};

    use super::Event;
    use crate::{Gesture, Key, Mouse};

    pub(super) struct Source;

    impl Source {
        #[expect(clippy::unnecessary_wraps, reason = "as where something can fail")]
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        #[expect(clippy::unused_self, reason = "as where there is something to remember")]
        pub(super) fn next(&mut self) -> io::Result<Option<Event>> {
            Ok(match event::read()? {
                Raw::Key(key) => Key::from_event(&key).map(Event::Key),
                Raw::Mouse(event) => mouse(event).map(Event::Mouse),
                Raw::Resize(..) => Some(Event::Resized),
                _ => None,
            })
        }
    }

    fn mouse(MouseEvent { kind, column, row, .. }: MouseEvent) -> Option<Mouse> {
        let gesture = match kind {
            MouseEventKind::Down(MouseButton::Left) => Gesture::Press,
            MouseEventKind::ScrollUp => Gesture::WheelUp,
            MouseEventKind::ScrollDown => Gesture::WheelDown,
            _ => return None,
        };
        Some(Mouse { gesture, column, row })
    }
}
