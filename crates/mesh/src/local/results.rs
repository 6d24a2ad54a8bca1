use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use bytes::Bytes;
use netcore::Time;

use super::full;
use crate::{
    Answer, Delivery, Local, MeshError, Name, Receipt, Results,
    results::{MAX_RESULTS, REMEMBERED_SECONDS, TAKEN_SECONDS},
};

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
    remembered: BTreeMap<Name, Time>,
    // Oldest first.
    order: VecDeque<(Time, Name)>,
    dead: u64,
}

#[derive(Debug)]
struct Waiting {
    id: Name,
    body: Bytes,
    /// When the lease of the consumer ends.
    taken: Time,
    count: u64,
}

impl Queue {
    fn submit(&mut self, now: Time, id: &Name, body: &Bytes) -> Result<bool, MeshError> {
        while let Some((at, _)) = self.order.front()
            && now.since(*at) > Duration::from_secs(REMEMBERED_SECONDS)
            && let Some((_, id)) = self.order.pop_front()
        {
            self.remembered.remove(&id);
        }
        if self.remembered.contains_key(id) || self.waiting.iter().any(|waiting| waiting.id == *id) {
            return Ok(false);
        }
        if self.waiting.len() as u64 >= MAX_RESULTS || self.order.len() as u64 >= MAX_RESULTS {
            return Err(full("submit a result", MAX_RESULTS));
        }
        self.waiting.push_back(Waiting { id: id.clone(), body: body.clone(), taken: Time::ZERO, count: 0 });
        self.remembered.insert(id.clone(), now);
        self.order.push_back((now, id.clone()));
        Ok(true)
    }

    fn take(&mut self, now: Time) -> Option<Delivery> {
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.taken <= now)?;
        waiting.taken = now.plus(Duration::from_secs(TAKEN_SECONDS));
        waiting.count += 1;
        let (receipt, message) = (Receipt(waiting.id.to_string()), waiting.body.clone());
        Some(Delivery { id: waiting.id.clone(), body: Some(message.clone()), count: waiting.count, receipt, message })
    }
}

impl Results for Local {
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>> {
        Box::pin(async move { self.state().results.submit(self.now(), id, body) })
    }

    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>> {
        Box::pin(async move { Ok(self.state().results.take(self.now())) })
    }

    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            self.state().results.waiting.retain(|waiting| waiting.id.as_str() != receipt.0);
            Ok(())
        })
    }

    fn give_up<'a>(&'a self, delivery: &'a Delivery) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let queue = &mut self.state().results;
            queue.waiting.retain(|waiting| waiting.id != delivery.id);
            queue.dead += 1;
            Ok(())
        })
    }

    fn dead_letters(&self) -> u64 {
        self.state().results.dead
    }
}
