//! SIGTSTP, with which the shell stops a program: the terminal is to be given back before that.
//!
//! A handler would replace what the system does by default, which knows more than a program does: where nobody could
//! wake it again, nothing stops. So the signal is held back, a thread takes it, and [`Screen::suspend`], or [`stop`] where no
//! screen is drawn, lets one through when the terminal is in order.
//!
//! [`Screen::suspend`]: crate::Screen::suspend

use std::{io, thread};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};

/// Holds SIGTSTP back and tells `sink` of each one that comes, until that answers `false`.
///
/// To be called before any other thread is started: a thread that does not know of it would stop the program.
///
/// # Errors
/// When the system refuses, or there can be no thread.
pub fn listen(mut sink: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    let stop = SigSet::from(Signal::SIGTSTP);
    stop.thread_block()?;
    thread::Builder::new().name("stop signals".into()).spawn(move || while stop.wait().is_ok() && sink() {})?;
    Ok(())
}

/// Stops the program until it is told to go on. Where there is no job control nothing stops.
///
/// # Errors
/// When the system refuses.
pub fn stop() -> io::Result<()> {
    let before = SigSet::from(Signal::SIGTSTP).thread_swap_mask(SigmaskHow::SIG_UNBLOCK)?;
    let raised = raise(Signal::SIGTSTP);
    before.thread_set_mask()?;
    Ok(raised?)
}
