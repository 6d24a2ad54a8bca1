use std::{
    sync::Arc,
    task::{Context, Poll},
};

use super::Sink;
use crate::{Copying, Facts, Snapshot, codec};

impl Sink {
    pub(crate) const fn copy(&self) -> Option<&Arc<dyn Copying>> {
        self.copy.as_ref()
    }

    pub(crate) fn begin_copy(&self, base: Snapshot, facts: &Facts) {
        let Some(copy) = &self.copy else { return };
        let (mut head, position) = (vec![], base.offset);
        codec::encode(&self.head.clone().with_facts(facts).with_base(Some(base)), &mut head);
        copy.begin(self.head.id, position, head);
    }

    /// The position that is safe here, and in the copy if outputs wait for it.
    pub(crate) fn reached_with_copy(&self) -> u64 {
        let copied = self.copy().and_then(|copy| copy.reached());
        self.reached().min(copied.unwrap_or(u64::MAX))
    }

    pub(crate) fn poll_with_copy(&self, above: u64, context: &Context<'_>) -> Poll<()> {
        let Some(copy) = self.copy().filter(|copy| copy.reached().is_some()) else {
            return self.poll_reached(above, context);
        };
        copy.wake(context);
        match self.poll_reached(above, context) {
            Poll::Ready(()) if self.reached_with_copy() > above || self.failure().is_some() => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}
