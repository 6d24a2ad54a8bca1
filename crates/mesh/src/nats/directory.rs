//! The directory in buckets. Heartbeats and lasting entries have their own.

use async_nats::jetstream::message::StreamMessage;
use bytes::Bytes;
use futures_util::future::{Either, select};

use super::{
    log::Reader,
    stream::{Put, Stream, is_removal},
};
use crate::{Answer, Delta, Directory, Entry, ErrorKind, Key, MeshError, Nats, Revision, Value, Watch, Written, value};

/// Attempts of a write that competes with other writers.
const ATTEMPTS: usize = 8;

impl Nats {
    fn bucket(&self, key: &Key) -> &Stream {
        match key {
            Key::Heartbeat(_) => &self.0.heartbeats,
            Key::Lasting(_) => &self.0.common,
            Key::Node(_) | Key::Room(_) | Key::Code(_) | Key::Common(_) => &self.0.directory,
        }
    }

    fn decode(&self, revision: u64, payload: &Bytes) -> Entry {
        let value = value::read(payload).map_or(Value::Unknown, |(value, _)| value);
        if value == Value::Unknown {
            self.skip();
        }
        Entry { revision: Revision(revision), value }
    }

    fn present(&self, message: &StreamMessage) -> Option<Entry> {
        (!is_removal(Some(&message.headers))).then(|| self.decode(message.sequence, &message.payload))
    }

    async fn write_entry(
        &self,
        key: &Key,
        value: Option<&Value>,
        expected: Option<Revision>,
    ) -> Result<Written, MeshError> {
        let what = format!("write the entry {key} of the directory");
        let stream = self.bucket(key);
        let subject = stream.subject(key);
        let bytes = match value {
            None => None,
            Some(value) => Some(value::write(value, &[]).ok_or_else(|| {
                let why = format!("it is longer than {} bytes", value::MAX_HEAD);
                MeshError::new(ErrorKind::Setup, what.clone(), stream.place(), why, "shorten it")
            })?),
        };
        let mut last = expected.map_or(0, |expected| expected.0);
        for _ in 0..ATTEMPTS {
            match stream.put(&what, subject.clone(), bytes.clone(), (Some(last), None)).await? {
                Put::Stored(revision) => return Ok(Written::Stored(Revision(revision))),
                Put::Known | Put::WrongLast => {}
            }
            let there = stream.last(&what, &subject).await?;
            let entry = there.as_ref().and_then(|there| self.present(there));
            if expected.is_some() || entry.is_some() {
                return Ok(Written::Conflict(entry));
            }
            last = there.map_or(0, |there| there.sequence);
        }
        Err(stream.away(&what, "other nodes keep changing it"))
    }
}

impl Directory for Nats {
    fn write<'a>(
        &'a self,
        key: &'a Key,
        value: Option<&'a Value>,
        expected: Option<Revision>,
    ) -> Answer<'a, Result<Written, MeshError>> {
        Box::pin(self.write_entry(key, value, expected))
    }

    fn entry<'a>(&'a self, key: &'a Key) -> Answer<'a, Result<Option<Entry>, MeshError>> {
        Box::pin(async move {
            let what = format!("read the entry {key} of the directory");
            let bucket = self.bucket(key);
            let there = bucket.last(&what, &bucket.subject(key)).await?;
            Ok(there.and_then(|there| self.present(&there)))
        })
    }

    fn watch(&self, since: Option<Revision>) -> Answer<'_, Result<Box<dyn Watch>, MeshError>> {
        Box::pin(async move {
            let what = "watch the directory";
            let stream = &self.0.directory;
            let state = stream.info(what).await?.state;
            // The history before the first message is lost, also that of a bucket before it was recreated.
            let since = since.filter(|since| (state.first_sequence..=state.last_sequence + 1).contains(&(since.0 + 1)));
            let after = since.map(|since| since.0);
            let messages = Reader::begin(stream, what.to_owned(), stream.subject(">"), after).await?;
            let what = "watch the heartbeats".to_owned();
            let heartbeats = &self.0.heartbeats;
            let heartbeats = Reader::begin(heartbeats, what, heartbeats.subject(">"), None).await?;
            let begins = after.is_none();
            let watch: Box<dyn Watch> = Box::new(Watching { nats: self.clone(), messages, heartbeats, begins });
            Ok(watch)
        })
    }
}

struct Watching {
    nats: Nats,
    messages: Reader,
    heartbeats: Reader,
    begins: bool,
}

impl Watch for Watching {
    fn next(&mut self) -> Answer<'_, Result<Delta, MeshError>> {
        Box::pin(async move {
            if std::mem::take(&mut self.begins) {
                return Ok(Delta::Reset);
            }
            loop {
                // Heartbeats must not queue behind the rows of thousands of rooms. Dropping the other future loses no
                // message.
                let next = select(Box::pin(self.heartbeats.next()), Box::pin(self.messages.next())).await;
                let (next, bucket) = match next {
                    Either::Left((next, _)) => (next, &self.nats.0.heartbeats),
                    Either::Right((next, _)) => (next, &self.nats.0.directory),
                };
                let (revision, message) = next?;
                let Some(key) = bucket.key(&message.subject).and_then(|key| key.parse::<Key>().ok()) else {
                    self.nats.skip();
                    continue;
                };
                if is_removal(message.headers.as_ref()) {
                    return Ok(Delta::Removed(key, Revision(revision)));
                }
                return Ok(Delta::Put(key, self.nats.decode(revision, &message.payload)));
            }
        })
    }
}
