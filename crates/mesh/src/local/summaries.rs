use std::{collections::VecDeque, sync::Arc};

use crate::{Answer, FollowSummaries, Local, MeshError, Summaries, Summary};

/// Summaries that a slow follower may lag behind.
const RETAINED: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Published {
    last: VecDeque<Arc<Summary>>,
    count: usize,
}

impl Summaries for Local {
    fn publish<'a>(&'a self, summary: &'a Summary) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let published = &mut self.state().summaries;
            published.last.push_back(Arc::new(summary.clone()));
            published.count += 1;
            if published.last.len() > RETAINED {
                published.last.pop_front();
            }
            self.changed();
            Ok(())
        })
    }

    fn summaries(&self) -> Answer<'_, Result<Box<dyn FollowSummaries>, MeshError>> {
        let next = self.state().summaries.count;
        let follow: Box<dyn FollowSummaries> = Box::new(Following { local: self.clone(), next });
        Box::pin(async move { Ok(follow) })
    }
}

struct Following {
    local: Local,
    // The number of the next summary.
    next: usize,
}

impl FollowSummaries for Following {
    fn next(&mut self) -> Answer<'_, Result<Summary, MeshError>> {
        let Self { local, next } = self;
        Box::pin(local.0.changes.wait(|| {
            let state = local.state();
            let Published { last, count } = &state.summaries;
            let first = count - last.len();
            *next = first.max(*next);
            let summary = last.get(*next - first)?;
            *next += 1;
            Some(Ok(Summary::clone(summary)))
        }))
    }
}
