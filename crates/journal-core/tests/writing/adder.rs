use netcore::{
    Admission, DecodeError, Engine, Framing, Input, Outbox, Outcome, Phase, Protocol, Recorded, StateError, Status,
    Time,
};
use serde::{Deserialize, Serialize};

/// Sums up the bytes that it receives, one per message, and sends the sum to all peers. `!` is malformed, `q` closes
/// its sender, `x` panics, `-` has no effect, and each second is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adder {
    pub(crate) sum: u64,
    start: u64,
    seconds: u64,
}

impl Adder {
    pub(crate) const fn new(start: u64) -> Self {
        Self { sum: start, start, seconds: 0 }
    }
}

pub(crate) struct OneByte;

impl Protocol for OneByte {
    type Request = u8;
    type Decoder = ();
    const MAX_MESSAGE: usize = 1;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        Ok((!bytes.is_empty()).then_some(1))
    }

    fn decode((): &mut (), message: &[u8], _: Framing) -> Result<u8, DecodeError> {
        match message {
            [b'!'] => Err(DecodeError::invalid("a shout", 0)),
            [byte] => Ok(*byte),
            _ => Err(DecodeError::Incomplete),
        }
    }

    fn admits(_: Result<&u8, DecodeError>) -> Admission {
        Admission::Admitted
    }
}

impl Engine for Adder {
    type Protocol = OneByte;

    fn input(&mut self, _: Time, input: Input<'_, u8>, out: &mut Outbox) {
        match input {
            Input::Message { message: b'x', .. } => panic!("an invariant is broken"),
            Input::Message { peer, message: b'q' } => {
                out.send(peer, "bye".into());
                out.close(peer);
            }
            Input::Message { message: b'-', .. } => return,
            Input::Message { message, .. } => self.sum += u64::from(message),
            Input::Elapsed => self.seconds += 1,
            _ => {}
        }
        out.send_everyone(self.sum.to_string().into());
    }

    fn deadline(&self) -> Option<Time> {
        Some(Time::from_millis(1_000 * (self.seconds + 1)))
    }

    fn outcome(&self) -> Option<Outcome> {
        None
    }

    fn status(&self) -> Status {
        Status { phase: Phase::Playing, taken: 0, seats: 1 }
    }
}

impl Recorded for Adder {
    const GAME: &'static str = "adder";
    const RULES: u32 = 4;
    const OLDEST_RULES: u32 = 3;
    type Setup = u64;
    type State = Self;

    fn setup(&self) -> u64 {
        self.start
    }

    fn from_setup(setup: u64) -> Result<Self, StateError> {
        Ok(Self::new(setup))
    }

    fn state(&self) -> Self {
        self.clone()
    }

    fn restore(setup: u64, state: Self) -> Result<Self, StateError> {
        if state.start == setup { Ok(state) } else { Err("a sum that began elsewhere".into()) }
    }
}
