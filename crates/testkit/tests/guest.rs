//! A blackjack client with a policy, or one that only receives.

use blackjack::{
    Client, Dialect, Name, Policy, Score, StateSpace,
    client::{Anomaly, ClientError, Meaning},
    learn::Choice,
};
use bytes::Bytes;
use netcore::{Framing, Gone, Time};

/// A player or a watcher.
#[derive(Debug, Default)]
pub(crate) struct Guest {
    /// `None` for a client that only receives.
    pub(crate) player: Option<(Client, Policy)>,
    pub(crate) score: Score,
    /// Rounds are replayed to it, without the questions that were already answered.
    pub(crate) told_again: bool,
    pub(crate) gone: Option<Gone>,
    /// The bytes received by a client that only receives.
    pub(crate) heard: Vec<u8>,
    /// The first bytes that it sends.
    pub(crate) first: Option<Bytes>,
}

impl Guest {
    pub(crate) fn player(name: Name, dialect: Dialect, framing: Framing) -> Self {
        let client = Client::new(name, dialect, framing, StateSpace::Coarse);
        Self { player: Some((client, Policy::mimic())), ..Self::default() }
    }

    /// The pictures that a watcher received.
    pub(crate) fn pictures(&self) -> Vec<&str> {
        str::from_utf8(&self.heard).unwrap().split_terminator('\0').collect()
    }
}

impl netcore::Client for Guest {
    type Action = Choice;
    type Error = ClientError;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), ClientError> {
        let Some((client, policy)) = &mut self.player else {
            self.heard.extend_from_slice(bytes);
            return Ok(());
        };
        client.receive(now, bytes)?;
        while let Some(event) = client.poll_event() {
            let again = matches!(event.anomaly, Some(Anomaly::Unasked | Anomaly::EarlyResult)) && self.told_again;
            assert!(again || event.anomaly.is_none(), "{event:?}");
            self.told_again &= event.meaning != Meaning::Asked;
            match event.meaning {
                Meaning::Asked => {
                    let state = client.state().expect("a decision was requested");
                    client.act(now, Choice::sure(policy.action(state)));
                }
                Meaning::Ended { verdict, .. } => self.score.add(verdict),
                _ => {}
            }
        }
        Ok(())
    }

    fn act(&mut self, now: Time, choice: Choice) {
        if let Some((client, _)) = &mut self.player {
            client.act(now, choice);
        }
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.first.take().or_else(|| self.player.as_mut()?.0.take_outgoing())
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.gone = Some(why);
        if let Some((client, _)) = &mut self.player {
            client.disconnected(now, why);
        }
    }

    fn is_over(&self) -> bool {
        self.player.as_ref().map_or(self.gone.is_some(), |(client, _)| client.is_over())
    }
}
