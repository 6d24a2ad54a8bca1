//! Pages that look at the lobby, in a thread of their own.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Sender},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{client_async, tungstenite::Message};

use crate::worker::Worker;

/// How long pages are open before they are counted.
pub(crate) const SETTLE: Duration = Duration::from_secs(1);
/// Rooms that a page shows at once, and those of them whose pictures are in sight.
const SHOWN: usize = 60;
const IN_SIGHT: usize = 12;

/// Open pages.
#[derive(Debug)]
pub(crate) struct Pages {
    bytes: Arc<AtomicU64>,
    since: Instant,
    count: u32,
    worker: Worker<()>,
}

impl Pages {
    /// Opens so many pages, which look at the first rooms and at the pictures of some of them.
    pub(crate) fn open(hub: SocketAddr, count: u32, rooms: Vec<String>) -> anyhow::Result<Self> {
        let bytes = Arc::<AtomicU64>::default();
        let (opened, is_open) = mpsc::channel();
        let counter = Arc::clone(&bytes);
        let worker = Worker::start("pages", move |stopped| async move {
            let mut pages = JoinSet::new();
            for page in 0..count {
                // Different pages show different rooms.
                let rooms: Vec<String> =
                    rooms.iter().cycle().skip(page as usize).take(IN_SIGHT.min(rooms.len())).cloned().collect();
                pages.spawn(look(hub, rooms, Arc::clone(&counter), opened.clone()));
            }
            drop(opened);
            tokio::select! {
                _ = stopped => Ok(()),
                // They never end by themselves, unless they fail.
                Some(page) = pages.join_next() => page?,
            }
        })?;
        for _ in 0..count {
            if is_open.recv().is_err() {
                break;
            }
        }
        bytes.store(0, Ordering::Relaxed);
        Ok(Self { bytes, since: Instant::now(), count, worker })
    }

    /// Closes them. Returns what each was told after its first view, in bytes a second.
    pub(crate) fn close(self) -> anyhow::Result<f64> {
        let seconds = self.since.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "far from the limits of a float")]
        let bytes = self.bytes.load(Ordering::Relaxed) as f64;
        self.worker.stop()?;
        Ok(bytes / seconds / f64::from(self.count.max(1)))
    }
}

// One page.
async fn look(hub: SocketAddr, rooms: Vec<String>, bytes: Arc<AtomicU64>, opened: Sender<()>) -> anyhow::Result<()> {
    let stream = TcpStream::connect(hub).await?;
    let (mut page, _) = client_async(format!("ws://{hub}/live"), stream).await.context("a page is not let in")?;
    let says = json!({ "look": { "game": null, "text": "", "from": 0, "count": SHOWN }, "pictures": rooms });
    page.send(Message::text(says.to_string())).await?;
    let mut opened = Some(opened);
    loop {
        let message = page.next().await.context("the hub closed the socket of a page")??;
        if let Message::Close(close) = &message {
            anyhow::bail!("the hub closed the socket of a page: {close:?}");
        }
        bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        // The first view.
        if let Some(opened) = opened.take() {
            let _ = opened.send(());
        }
    }
}
