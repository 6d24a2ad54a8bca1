use std::collections::BTreeMap;

use async_nats::Subscriber;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use super::stream::PATIENCE;
use crate::{Answer, FollowSummaries, MeshError, Name, Nats, Summaries, Summary, value};

impl Nats {
    fn summary_subject(&self, node: &str) -> String {
        format!("{}.summaries.{node}", self.0.broker.prefix())
    }
}

impl Summaries for Nats {
    fn publish<'a>(&'a self, summary: &'a Summary) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let what = "publish a summary of rooms";
            let events = &self.0.events;
            let rows = serde_json::to_vec(&summary.rows).map_err(|error| events.away(what, error))?;
            let Some(bytes) = value::write(summary, &rows) else { return Ok(()) };
            let client = self.0.broker.client();
            // Without a connection, the client queues a limited number of messages.
            let sent = client.publish(self.summary_subject(summary.node.as_str()), bytes);
            let sent = timeout(PATIENCE, sent).await.map_err(|error| events.away(what, error))?;
            sent.map_err(|error| events.away(what, error))
        })
    }

    fn summaries(&self) -> Answer<'_, Result<Box<dyn FollowSummaries>, MeshError>> {
        Box::pin(async move {
            let what = "follow the summaries of rooms";
            let (client, events) = (self.0.broker.client(), &self.0.events);
            let subscriber = client.subscribe(self.summary_subject("*")).await;
            let subscriber = subscriber.map_err(|error| events.away(what, error))?;
            // The server has the subscription before the node joins.
            client.flush().await.map_err(|error| events.away(what, error))?;
            let follow: Box<dyn FollowSummaries> = Box::new(Following { nats: self.clone(), subscriber });
            Ok(follow)
        })
    }
}

struct Following {
    nats: Nats,
    subscriber: Subscriber,
}

impl FollowSummaries for Following {
    fn next(&mut self) -> Answer<'_, Result<Summary, MeshError>> {
        Box::pin(async move {
            loop {
                let message = self.subscriber.next().await;
                let message = message.ok_or_else(|| {
                    self.nats.0.events.away("follow the summaries of rooms", "the connection has ended")
                })?;
                let read = value::read::<Summary>(&message.payload).ok().and_then(|(summary, body)| {
                    let rows = serde_json::from_slice::<BTreeMap<Name, String>>(&body).ok()?;
                    Some(Summary { rows, ..summary })
                });
                match read {
                    Some(summary) => return Ok(summary),
                    None => self.nats.skip(),
                }
            }
        })
    }
}
