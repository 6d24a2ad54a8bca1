//! Signals while the program waits for a line, and hidden input.

#[cfg(unix)]
pub(crate) use unix::{end_quietly, read_secret, write_whole};

#[cfg(unix)]
mod unix {
    use std::{
        io::{self, Read, Write},
        os::unix::net::UnixStream,
        process,
        sync::{Mutex, MutexGuard, PoisonError},
        thread,
    };

    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcsetattr};
    use signal_hook::{consts::SIGQUIT, low_level::pipe};

    /// Set during hidden input. The threads that handle signals wait for this lock.
    static BEFORE: Mutex<Option<Before>> = Mutex::new(None);

    struct Before {
        modes: Termios,
        prompt: String,
        typed: usize,
        length: usize,
    }

    impl Before {
        /// Disables line editing, so that each byte can be read as soon as it is typed.
        fn begin(prompt: String, typed: usize, length: usize) -> Option<Self> {
            let as_it_was = tcgetattr(rustix::stdio::stdin()).ok()?;
            let mut modes = as_it_was.clone();
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &modes).ok()?;
            write(&prompt);
            // Saves the cursor position at the end of the prompt.
            write_to_terminal("\x1b7");
            let before = Self { modes: as_it_was, prompt, typed, length };
            before.show();
            Some(before)
        }

        /// The cursor stays after the stars.
        fn show(&self) {
            let Self { typed, length, .. } = *self;
            let stars = "*".repeat(typed);
            write_to_terminal(&format!("\x1b8\x1b[K{stars}  {typed}/{length}\x1b8{stars}"));
        }
    }

    fn before() -> MutexGuard<'static, Option<Before>> {
        BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until the result is dropped, no signal ends the program.
    pub(crate) fn write_whole() -> impl Sized {
        before()
    }

    /// Makes SIGQUIT and the signals of [`sigkit::ending`] end the program like the end of its input, even while it is
    /// blocked. SIGTSTP stops it after restoring the terminal's echo. Must be called before any other thread starts.
    pub(crate) fn end_quietly() -> io::Result<()> {
        termkit::stops::listen(|| {
            stop();
            true
        })?;
        let (mut told, teller) = UnixStream::pair()?;
        for signal in sigkit::ending().chain([SIGQUIT]) {
            pipe::register(signal, teller.try_clone()?)?;
        }
        thread::Builder::new().name("signals".into()).spawn(move || {
            if told.read_exact(&mut [0]).is_ok() {
                let mut before = before();
                restore(&mut before);
                // A new line after the terminal's `^C`. Standard output may be closed, and a thread that is blocked on
                // its reader may hold the lock.
                write("\n");
                process::exit(0);
            }
        })?;
        Ok(())
    }

    /// Shows `prompt`, and stars for typed characters, until the result is dropped; `None` without a terminal as input.
    pub(crate) fn read_secret(prompt: &str, length: usize) -> Option<Hidden> {
        let mut before = before();
        *before = Some(Before::begin(prompt.to_owned(), 0, length)?);
        Some(Hidden)
    }

    fn write(text: &str) {
        let _ = rustix::io::write(rustix::stdio::stdout(), text.as_bytes());
    }

    fn write_to_terminal(text: &str) {
        if isatty(rustix::stdio::stdout()) {
            write(text);
        }
    }

    /// Shows the hidden-answer prompt again after the stop.
    fn stop() {
        let mut before = before();
        let hidden = restore(&mut before);
        let _ = termkit::stops::stop();
        *before = hidden.and_then(|Before { prompt, typed, length, .. }| Before::begin(prompt, typed, length));
    }

    pub(crate) struct Hidden;

    impl Hidden {
        #[expect(clippy::unused_self, reason = "there are stars only while typing is hidden")]
        pub(crate) fn show(&self, typed: usize) {
            if let Some(before) = &mut *before() {
                before.typed = typed;
                before.show();
            }
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            restore(&mut before());
            // The typed end of the line was hidden, too.
            let _ = io::stdout().write_all(b"\n");
        }
    }

    fn restore(before: &mut Option<Before>) -> Option<Before> {
        let hidden = before.take()?;
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &hidden.modes);
        Some(hidden)
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::{end_quietly, read_secret, write_whole};

// Elsewhere, the system ends the program, and typing cannot be hidden.
#[cfg(not(unix))]
mod elsewhere {
    use std::io;

    pub(crate) const fn write_whole() -> impl Sized {}

    #[expect(clippy::unnecessary_wraps, reason = "as where something can fail")]
    pub(crate) fn end_quietly() -> io::Result<()> {
        Ok(())
    }

    pub(crate) const fn read_secret(_: &str, _: usize) -> Option<Hidden> {
        None
    }

    /// Never constructed, since typing is never hidden here.
    pub(crate) enum Hidden {}

    impl Hidden {
        pub(crate) const fn show(&self, _: usize) {
            match *self {}
        }
    }
}
