//! Ctrl-C while a line is waited for.

#[cfg(unix)]
pub(crate) use unix::{ask_unseen, end_quietly, write_whole};

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

    /// Set while typing is hidden. Signals wait for whoever holds the lock.
    static BEFORE: Mutex<Option<Before>> = Mutex::new(None);

    /// How the terminal was before typing was hidden, and what is shown instead.
    struct Before {
        modes: Termios,
        prompt: String,
        // How many characters the answer has up to now, and should have.
        typed: usize,
        length: usize,
    }

    impl Before {
        /// Hides typing and shows the prompt with its stars.
        ///
        /// The terminal then edits no lines: each byte is read as it is typed.
        fn begin(prompt: String, typed: usize, length: usize) -> Option<Self> {
            let as_it_was = tcgetattr(rustix::stdio::stdin()).ok()?;
            let mut modes = as_it_was.clone();
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &modes).ok()?;
            write(&prompt);
            // The terminal remembers the end of the prompt as its saved cursor.
            write_to_terminal("\x1b7");
            let before = Self { modes: as_it_was, prompt, typed, length };
            before.show();
            Some(before)
        }

        /// Writes a star for each character, and how many there are, behind the prompt. The cursor stays behind the stars.
        fn show(&self) {
            let Self { typed, length, .. } = *self;
            let stars = "*".repeat(typed);
            write_to_terminal(&format!("\x1b8\x1b[K{stars}  {typed}/{length}\x1b8{stars}"));
        }
    }

    fn before() -> MutexGuard<'static, Option<Before>> {
        BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// While the result lives, no signal ends the program: a file is being written.
    pub(crate) fn write_whole() -> impl Sized {
        before()
    }

    /// Makes SIGQUIT and the signals of [`sigkit::ending`] end the program as the end of its input does, whatever it waits
    /// for, and SIGTSTP stop it with a terminal that shows what is typed. To be called before any other thread is started.
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
            // It ends with the program, so nothing else can come.
            if told.read_exact(&mut [0]).is_ok() {
                let mut before = before();
                restore(&mut before);
                // Behind the ^C that the terminal shows. Standard output may be gone, and may be held by whoever waits for
                // a reader, so that it is not waited for.
                write("\n");
                process::exit(0);
            }
        })?;
        Ok(())
    }

    /// Shows `prompt`, and stars for what is typed, until the result is dropped. `None` where standard input is no terminal.
    pub(crate) fn ask_unseen(prompt: &str, length: usize) -> Option<Hidden> {
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

    /// Stops the program until the shell continues it. A prompt whose answer is hidden is then shown again.
    fn stop() {
        let mut before = before();
        let hidden = restore(&mut before);
        let _ = termkit::stops::stop();
        *before = hidden.and_then(|Before { prompt, typed, length, .. }| Before::begin(prompt, typed, length));
    }

    /// Typing is hidden, and stars are shown instead.
    pub(crate) struct Hidden;

    impl Hidden {
        /// Shows that so many characters are typed.
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
            // The end of the line was not seen either.
            let _ = io::stdout().write_all(b"\n");
        }
    }

    /// Restores the terminal if typing was hidden, and returns the state of the prompt.
    fn restore(before: &mut Option<Before>) -> Option<Before> {
        let hidden = before.take()?;
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &hidden.modes);
        Some(hidden)
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::{ask_unseen, end_quietly, write_whole};

// The system ends the program when it likes, and what is typed cannot be hidden.
#[cfg(not(unix))]
mod elsewhere {
    use std::io;

    pub(crate) const fn write_whole() -> impl Sized {}

    #[expect(clippy::unnecessary_wraps, reason = "as where something can fail")]
    pub(crate) fn end_quietly() -> io::Result<()> {
        Ok(())
    }

    pub(crate) const fn ask_unseen(_: &str, _: usize) -> Option<Hidden> {
        None
    }

    /// Typing is hidden, which it never is here.
    pub(crate) enum Hidden {}

    impl Hidden {
        pub(crate) const fn show(&self, _: usize) {
            match *self {}
        }
    }
}
