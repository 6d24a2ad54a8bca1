use std::{
    collections::VecDeque,
    io,
    task::{Context, Poll},
    time::Duration,
};

use netcore::{GameEvent, Hold, Output, Status, Time};
use tracing::{info, warn};

/// Bytes of frames held back at a time; beyond it, the host accepts no input until some have been sent.
pub const MAX_HELD: usize = 4 << 20;
/// How long outputs wait before the host logs a warning. They are not sent even then: after a crash the match would
/// resume from a state before the one that players have seen.
pub const SLOW_HOLD: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_secs(5);
const ENTRY: usize = 64;

#[derive(Debug)]
pub(super) enum Delivered {
    Status(Status),
    Output(Output),
}

/// Outputs held back, oldest first, each with its position and the host's generation.
pub(super) struct HeldOutputs {
    hold: Box<dyn Hold + Send>,
    outputs: VecDeque<(u64, Delivered, u64)>,
    bytes: usize,
    // How long the oldest output has waited since the previous one was sent, up to `looked`.
    waited: Duration,
    looked: Time,
    // Stays set when the outputs are sent, so that the timer is not set for each of them.
    look_at: Option<Time>,
    is_stalled: bool,
}

impl HeldOutputs {
    pub(super) fn new(hold: Box<dyn Hold + Send>) -> Self {
        let (waited, looked) = (Duration::ZERO, Time::ZERO);
        Self { hold, outputs: VecDeque::new(), bytes: 0, waited, looked, look_at: None, is_stalled: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_HELD || self.hold.is_full()
    }

    pub(super) const fn wake_at(&self) -> Option<Time> {
        self.look_at
    }

    pub(super) fn poll_reached(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.hold.flush();
        match self.outputs.front() {
            Some(&(position, ..)) if self.hold.reached() < position => self.hold.poll_reached(position - 1, context),
            Some(_) => Poll::Ready(()),
            None => Poll::Pending,
        }
    }

    pub(super) fn check(&mut self, now: Time) -> io::Result<()> {
        let is_due = self.look_at.is_some_and(|at| at <= now);
        let Some(&(position, ..)) = self.outputs.front() else {
            self.look_at = self.look_at.filter(|_| !is_due);
            return Ok(());
        };
        if position > self.hold.reached()
            && let Some(why) = self.hold.failure()
        {
            return Err(io::Error::other(why));
        }
        // Excludes time during which the process was stopped, because the disk could not work either.
        self.waited += now.since(self.looked).min(LOOK);
        self.looked = now;
        if self.waited >= SLOW_HOLD && !self.is_stalled {
            self.is_stalled = true;
            self.hold.set_stalled(true);
            warn!("the disk does not respond: no output is sent until the input is stored");
        }
        if is_due {
            let left = SLOW_HOLD.saturating_sub(self.waited);
            self.look_at = Some(now.plus(if left.is_zero() { LOOK } else { left.min(LOOK) }));
        }
        Ok(())
    }

    pub(super) fn extend(&mut self, now: Time, outputs: impl Iterator<Item = Delivered>, generation: u64) {
        let position = self.hold.position();
        if self.outputs.is_empty() {
            self.restart_wait(now);
        }
        self.look_at.get_or_insert(now.plus(LOOK));
        for output in outputs {
            self.bytes += cost(&output);
            self.outputs.push_back((position, output, generation));
        }
    }

    pub(super) fn pop_reached(&mut self, now: Time) -> Option<(Delivered, u64)> {
        let &(position, ..) = self.outputs.front()?;
        if position > self.hold.reached() {
            return None;
        }
        let (_, output, generation) = self.outputs.pop_front()?;
        self.bytes -= cost(&output);
        self.restart_wait(now);
        Some((output, generation))
    }

    fn restart_wait(&mut self, now: Time) {
        if std::mem::take(&mut self.is_stalled) {
            self.hold.set_stalled(false);
            info!("the disk responds again");
        }
        self.waited = Duration::ZERO;
        self.looked = now;
    }
}

// Histories are shared and have no cost.
fn cost(delivered: &Delivered) -> usize {
    ENTRY
        + match delivered {
            Delivered::Output(Output::Send { frame, .. }) => frame.len(),
            Delivered::Output(Output::Event(GameEvent::Summary(text) | GameEvent::Notice { text, .. })) => text.len(),
            Delivered::Output(Output::Event(GameEvent::Ended { standings, .. })) => standings.len() * ENTRY,
            Delivered::Output(_) | Delivered::Status(_) => 0,
        }
}
