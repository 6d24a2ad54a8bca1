//! A blackjack client played by a policy.

use blackjack::{
    Client, Dialect, Name, Policy, Score, StateSpace,
    client::{Anomaly, ClientError, Meaning},
    learn::Choice,
};
use bytes::Bytes;
use netcore::{Framing, Gone, Time};

/// A player or a watcher.
#[derive(Debug)]
pub(crate) struct Guest {
    // `None` for a watcher.
    player: Option<(Box<Client>, Box<Policy>)>,
    /// The results that a player was told.
    pub(crate) score: Score,
    /// Whether it is told rounds again, which come without the questions that were answered.
    pub(crate) told_again: bool,
    /// How its connection ended.
    pub(crate) gone: Option<Gone>,
    /// What a watcher has received.
    pub(crate) heard: Vec<u8>,
    // What it says before all else.
    first: Option<Bytes>,
}

/// The name of the player with this number.
pub(crate) fn name(number: u8) -> Name {
    Name::new(format!("P{number}").as_bytes()).unwrap()
}

impl Guest {
    /// A client that looks on.
    pub(crate) fn watcher() -> Self {
        let (player, score) = (None, Score::default());
        Self { player, score, told_again: false, gone: None, heard: vec![], first: None }
    }

    /// A client that says this and then looks on.
    pub(crate) fn saying(first: Bytes) -> Self {
        Self { first: Some(first), ..Self::watcher() }
    }

    /// A player with this number.
    pub(crate) fn player(number: u8, framing: Framing, dialect: Dialect) -> Self {
        let client = Client::new(name(number), dialect, framing, StateSpace::Coarse);
        Self { player: Some((Box::new(client), Box::new(Policy::mimic()))), ..Self::watcher() }
    }

    /// The client of a player.
    pub(crate) fn client(&self) -> Option<&Client> {
        self.player.as_ref().map(|(client, _)| &**client)
    }

    /// The pictures that a watcher has received.
    pub(crate) fn pictures(&self) -> Vec<String> {
        let whole = self.heard.strip_suffix(b"\0").expect("whole pictures");
        whole.split(|&byte| byte == 0).map(|picture| String::from_utf8(picture.to_vec()).unwrap()).collect()
    }
}

impl netcore::Client for Guest {
    type Action = Choice;
    type Error = ClientError;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), ClientError> {
        let Some((client, policy)) = &mut self.player else {
            self.heard.extend(bytes);
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
        self.first.take().or_else(|| self.player.as_mut().and_then(|(client, _)| client.take_outgoing()))
    }

    fn deadline(&self, _: Time) -> Option<Time> {
        None
    }

    fn elapsed(&mut self, _: Time) {}

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.gone = Some(why);
        if let Some((client, _)) = &mut self.player {
            client.disconnected(now, why);
        }
    }

    fn is_over(&self) -> bool {
        self.client().map_or(self.gone.is_some(), netcore::Client::is_over)
    }
}
