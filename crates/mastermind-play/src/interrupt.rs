//! Ctrl-C while a line is waited for, and while the codebreaker works.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// Makes SIGINT and SIGTERM set a flag. Whoever insists ends the program at once.
///
/// # Errors
/// When the system refuses.
pub(crate) fn flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // First, so that it sees whether the flag was set before this signal.
        flag::register_conditional_shutdown(signal, cmdkit::EXIT_FAILURE.into(), Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

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
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM},
        low_level::pipe,
    };

    /// How the terminal was before typing was hidden, while it is. Whoever holds it is not interrupted.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    /// While this lives, no signal ends the program: a file is being written.
    pub(crate) struct Whole {
        _held: MutexGuard<'static, Option<Termios>>,
    }

    impl Whole {
        pub(crate) fn begin() -> Self {
            Self { _held: before() }
        }
    }

    fn before() -> MutexGuard<'static, Option<Termios>> {
        BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes SIGINT, SIGTERM and SIGHUP end the program as the end of its input does, whatever it waits for.
    ///
    /// # Errors
    /// When the system refuses, or there can be no thread.
    pub(crate) fn end_quietly() -> io::Result<()> {
        let (mut told, teller) = UnixStream::pair()?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
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

    /// Lets what is typed be unseen until the value goes. `None` where standard input is no terminal.
    pub(crate) fn hide_typing() -> Option<Hidden> {
        let mut held = before();
        let mut modes = tcgetattr(rustix::stdio::stdin()).ok()?;
        let as_it_was = modes.clone();
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &modes).ok()?;
        *held = Some(as_it_was);
        Some(Hidden)
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

    fn restore(before: &mut Option<Termios>) {
        if let Some(modes) = before.take() {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &modes);
        }
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
    pub(crate) fn hide_typing() -> Option<std::convert::Infallible> {
        None
    }
}
