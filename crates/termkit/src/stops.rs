//! SIGTSTP, with which the shell stops a program: the terminal has to be restored first.
//!
//! A handler would replace the default action, which does not stop a program that no shell could continue. Instead, a
//! thread waits for the blocked signal. [`Screen::suspend`] restores the terminal and raises the signal with its
//! default action. A program without a screen restores the terminal itself and calls [`stop`].
//!
//! [`Screen::suspend`]: crate::Screen::suspend

use std::{io, thread};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};

/// Blocks SIGTSTP and calls `sink` for each one, until `sink` returns `false`.
///
/// Must be called before any other thread starts: a thread that does not block the signal would stop the program.
pub fn listen(mut sink: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    let stop = SigSet::from(Signal::SIGTSTP);
    stop.thread_block()?;
    thread::Builder::new().name("stop signals".into()).spawn(move || while stop.wait().is_ok() && sink() {})?;
    Ok(())
}

/// Stops the program with the default action of SIGTSTP. Has no effect without job control.
pub fn stop() -> io::Result<()> {
    let before = SigSet::from(Signal::SIGTSTP).thread_swap_mask(SigmaskHow::SIG_UNBLOCK)?;
    let raised = raise(Signal::SIGTSTP);
    before.thread_set_mask()?;
    Ok(raised?)
}
