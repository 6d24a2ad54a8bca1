//! Results in a work queue.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::stream::Put;
use crate::{Answer, Delivery, MAX_APPEND, MeshError, Name, Nats, Receipt, Results, Trouble, value};

/// How long the queue is asked for something: the node that answers may lag behind that which has stored it.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Serialize, Deserialize)]
struct Head {
    id: Name,
}

impl Nats {
    async fn submit_result(&self, id: &Name, body: &Bytes) -> Result<bool, MeshError> {
        let what = format!("submit the result of {id}");
        let stream = &self.0.results;
        let bytes = value::write(&Head { id: id.clone() }, body).filter(|_| body.len() <= MAX_APPEND);
        let bytes = bytes.ok_or_else(|| {
            let why = format!("it has more than {MAX_APPEND} bytes");
            MeshError::new(Trouble::Full, what.clone(), stream.place(), why, "say less in it")
        })?;
        let put = stream.put(&what, stream.subject(id), Some(bytes), (None, Some(id.as_str()))).await?;
        Ok(matches!(put, Put::Stored(_)))
    }

    async fn take_result(&self) -> Result<Option<Delivery>, MeshError> {
        let what = "take a result";
        let stream = &self.0.results;
        loop {
            let batch = self.0.consumer.batch().max_messages(1).expires(LOOK).messages().await;
            let mut batch = batch.map_err(|error| stream.away(what, error))?;
            let Some(message) = batch.next().await else { return Ok(None) };
            let message = message.map_err(|error| stream.away(what, error))?;
            let Some(receipt) = message.reply.as_ref().map(|reply| Receipt(reply.to_string())) else { continue };
            // One that a later version wrote stays until a node of that version takes it.
            let Ok((Head { id }, body)) = value::read::<Head>(&message.payload) else {
                self.skip();
                continue;
            };
            return Ok(Some(Delivery { id, body, receipt }));
        }
    }
}

impl Results for Nats {
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>> {
        Box::pin(self.submit_result(id, body))
    }

    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>> {
        Box::pin(self.take_result())
    }

    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let what = "acknowledge a result";
            // With an answer: an acknowledgement that is lost would deliver the result again.
            self.0.results.request(what, receipt.0.clone(), Bytes::from_static(b"+ACK")).await
        })
    }
}
