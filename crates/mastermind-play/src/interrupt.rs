//! Ctrl-C while a line is waited for.

#[cfg(unix)]
pub(crate) use unix::{Whole, end_quietly, hide_typing};

#[cfg(unix)]
mod unix {
    use std::{
        io::{self, Read, Write},
        os::unix::net::UnixStream,
        process,
        sync::{Mutex, MutexGuard, PoisonError},
        thread,
    };

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use signal_hook::{consts::SIGQUIT, low_level::pipe};

    /// What is to be seen again, while what is typed is not. Whoever holds it is not interrupted.
    static BEFORE: Mutex<Option<Before>> = Mutex::new(None);

    /// How the terminal was before typing was hidden, and the question that is to be answered.
    struct Before {
        modes: Termios,
        prompt: String,
    }

    /// While this lives, no signal ends the program: a file is being written.
    pub(crate) struct Whole {
        _held: MutexGuard<'static, Option<Before>>,
    }

    impl Whole {
        pub(crate) fn begin() -> Self {
            Self { _held: before() }
        }
    }

    fn before() -> MutexGuard<'static, Option<Before>> {
        BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes SIGQUIT and the signals of [`sigkit::ending`] end the program as the end of its input does, whatever it waits
    /// for, and SIGTSTP stop it with a terminal that shows what is typed. To be called before any other thread is started.
    ///
    /// # Errors
    /// When the system refuses, or there can be no thread.
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
                let _ = rustix::io::write(rustix::stdio::stdout(), b"\n");
                process::exit(0);
            }
        })?;
        Ok(())
    }

    /// Lets the answer to `prompt` be unseen until the value goes. `None` where standard input is no terminal.
    pub(crate) fn hide_typing(prompt: &str) -> Option<Hidden> {
        let mut held = before();
        *held = Some(Before { modes: hide()?, prompt: prompt.to_owned() });
        Some(Hidden)
    }

    /// Hides typing and answers the modes before that.
    fn hide() -> Option<Termios> {
        let as_it_was = tcgetattr(rustix::stdio::stdin()).ok()?;
        let mut modes = as_it_was.clone();
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &modes).ok()?;
        Some(as_it_was)
    }

    /// Stops the program until the shell goes on with it. A question whose answer is unseen is then asked again.
    fn stop() {
        let mut before = before();
        let hidden = restore(&mut before);
        let _ = termkit::stops::stop();
        if let Some(prompt) = hidden
            && let Some(modes) = hide()
        {
            let _ = rustix::io::write(rustix::stdio::stdout(), prompt.as_bytes());
            *before = Some(Before { modes, prompt });
        }
    }

    /// What is typed is unseen.
    pub(crate) struct Hidden;

    impl Drop for Hidden {
        fn drop(&mut self) {
            restore(&mut before());
            // The end of the line was not seen either.
            let _ = io::stdout().write_all(b"\n");
        }
    }

    /// Lets typing be seen again, if it was hidden, and answers the question that it was hidden for.
    fn restore(before: &mut Option<Before>) -> Option<String> {
        let Before { modes, prompt } = before.take()?;
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &modes);
        Some(prompt)
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::{Whole, end_quietly, hide_typing};

#[cfg(not(unix))]
mod elsewhere {
    use std::io;

    /// Nothing has to be waited for here: the system ends the program when it likes.
    pub(crate) struct Whole;

    impl Whole {
        pub(crate) const fn begin() -> Self {
            Self
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as where something can fail")]
    pub(crate) fn end_quietly() -> io::Result<()> {
        Ok(())
    }

    /// What is typed cannot be hidden here.
    pub(crate) fn hide_typing(_: &str) -> Option<std::convert::Infallible> {
        None
    }
}
