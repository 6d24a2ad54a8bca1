//! The changes of the directory, also after the broker was away.

use std::{sync::Arc, time::Duration};

use mesh::{Delta, Directory, MeshError, Revision};
use tokio::{sync::mpsc, time::sleep};
use tracing::{info, warn};

/// How long after an error the directory is watched again.
const PAUSE: Duration = Duration::from_secs(1);

/// Passes on all changes, until nobody takes them any more.
pub(super) async fn watch(directory: Arc<dyn Directory>, changes: mpsc::Sender<Delta>) {
    let mut last = None;
    let mut is_away = false;
    while !changes.is_closed() {
        let Err(error) = follow(&*directory, &changes, &mut last, &mut is_away).await else { return };
        if !std::mem::replace(&mut is_away, true) {
            warn!("{error}; matches go on, and what is known of other nodes may be old");
        }
        sleep(PAUSE).await;
    }
}

async fn follow(
    directory: &dyn Directory,
    changes: &mpsc::Sender<Delta>,
    last: &mut Option<Revision>,
    is_away: &mut bool,
) -> Result<(), MeshError> {
    let mut watch = directory.watch(*last).await?;
    loop {
        let delta = watch.next().await?;
        if std::mem::take(is_away) {
            info!("the directory answers again");
        }
        match &delta {
            Delta::Reset => *last = None,
            delta => *last = (*last).max(delta.resumes_after()),
        }
        if changes.send(delta).await.is_err() {
            return Ok(());
        }
    }
}
