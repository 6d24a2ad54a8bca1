use std::{sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::stream::Put;
use crate::{Answer, Delivery, ErrorKind, MAX_APPEND, MAX_DELIVERIES, MeshError, Name, Nats, Receipt, Results, value};

/// How long a request waits: the server that responds may lag behind the one that stored the result.
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
            MeshError::new(ErrorKind::Full, what.clone(), stream.place(), why, "shorten it")
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
            let info = message.info().map_err(|error| stream.away(what, error))?;
            let (count, sequence) = (u64::try_from(info.delivered).unwrap_or(1), info.stream_sequence);
            let message = message.message;
            match value::read::<Head>(&message.payload) {
                Ok((Head { id }, body)) => {
                    return Ok(Some(Delivery { id, body: Some(body), count, receipt, message: message.payload }));
                }
                Err(_) => self.skip(),
            }
            // Damaged, or of a later version: skips the first deliveries, so that nodes of that version can take it.
            if count >= MAX_DELIVERIES {
                let id = stream.key(&message.subject).and_then(|id| id.parse().ok());
                let unnamed = || format!("unnamed-{sequence}").try_into().map_err(|error| stream.away(what, error));
                let id = id.map_or_else(unnamed, Ok)?;
                return Ok(Some(Delivery { id, body: None, count, receipt, message: message.payload }));
            }
        }
    }

    async fn give_up_result(&self, delivery: &Delivery) -> Result<(), MeshError> {
        let what = format!("move the result of {} to the dead letters", delivery.id);
        let dead = &self.0.dead;
        // After a lost reply, the next delivery stores it again, and the stream detects the duplicate by its id.
        let id = Some(delivery.id.as_str());
        dead.put(&what, dead.subject(&delivery.id), Some(delivery.message.clone()), (None, id)).await?;
        self.0.results.request(&what, delivery.receipt.0.clone(), Bytes::from_static(b"+TERM")).await?;
        self.0.dead_letters.fetch_add(1, Ordering::Relaxed);
        Ok(())
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
            // A lost acknowledgement would cause a redelivery.
            self.0.results.request(what, receipt.0.clone(), Bytes::from_static(b"+ACK")).await
        })
    }

    fn give_up<'a>(&'a self, delivery: &'a Delivery) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(self.give_up_result(delivery))
    }

    fn dead_letters(&self) -> u64 {
        self.0.dead_letters.load(Ordering::Relaxed)
    }
}
