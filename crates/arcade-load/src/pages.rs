//! Pages that look at the lobby, in a thread of their own.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use tokio::{net::TcpStream, sync::watch, task::JoinSet};
use tokio_tungstenite::{client_async, tungstenite::Message};

/// How long pages are open before they are counted.
pub(crate) const SETTLE: Duration = Duration::from_secs(1);
/// Rooms that a page shows at once, and those of them whose pictures are in sight.
const SHOWN: usize = 60;
const IN_SIGHT: usize = 12;

/// Open pages.
#[derive(Debug)]
pub(crate) struct Pages {
    end: watch::Sender<bool>,
    bytes: Arc<AtomicU64>,
    since: Instant,
    count: u32,
    thread: JoinHandle<anyhow::Result<()>>,
}

/// What pages were told.
#[derive(Debug)]
pub(crate) struct Told {
    /// Bytes a second and page, without the first view of each.
    pub(crate) rate: f64,
}

impl Pages {
    /// Opens so many pages, which look at the first rooms and at the pictures of some of them.
    ///
    /// # Errors
    /// When there is no thread for them, or the hub lets them not in.
    pub(crate) fn open(hub: SocketAddr, count: u32, rooms: Vec<String>) -> anyhow::Result<Self> {
        let (end, ends) = watch::channel(false);
        let bytes = Arc::<AtomicU64>::default();
        let (opened, is_open) = std::sync::mpsc::channel();
        let counter = Arc::clone(&bytes);
        let thread = thread::Builder::new().name("pages".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut pages = JoinSet::new();
                for page in 0..count {
                    // Different pages show different rooms.
                    let rooms: Vec<String> =
                        rooms.iter().cycle().skip(page as usize).take(IN_SIGHT.min(rooms.len())).cloned().collect();
                    pages.spawn(look(hub, rooms, Arc::clone(&counter), opened.clone(), ends.clone()));
                }
                while let Some(page) = pages.join_next().await {
                    page??;
                }
                anyhow::Ok(())
            })
        })?;
        for _ in 0..count {
            if is_open.recv().is_err() {
                break;
            }
        }
        bytes.store(0, Ordering::Relaxed);
        Ok(Self { end, bytes, since: Instant::now(), count, thread })
    }

    /// Closes them.
    ///
    /// # Errors
    /// When the hub has closed one before.
    pub(crate) fn close(self) -> anyhow::Result<Told> {
        let seconds = self.since.elapsed().as_secs_f64();
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.end.send_replace(true);
        self.thread.join().map_err(|_| anyhow!("the pages panicked"))??;
        #[expect(clippy::cast_precision_loss, reason = "far from the limits of a float")]
        let rate = bytes as f64 / seconds / f64::from(self.count.max(1));
        Ok(Told { rate })
    }
}

// One page, until all are closed.
async fn look(
    hub: SocketAddr,
    rooms: Vec<String>,
    bytes: Arc<AtomicU64>,
    opened: std::sync::mpsc::Sender<()>,
    mut ends: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let stream = TcpStream::connect(hub).await?;
    let (mut page, _) = client_async(format!("ws://{hub}/live"), stream).await.context("a page is not let in")?;
    let says = json!({ "look": { "game": null, "text": "", "from": 0, "count": SHOWN }, "pictures": rooms });
    page.send(Message::text(says.to_string())).await?;
    let mut opened = Some(opened);
    loop {
        tokio::select! {
            message = page.next() => {
                let message = message.context("the hub closed the socket of a page")??;
                if let Message::Close(close) = &message {
                    anyhow::bail!("the hub closed the socket of a page: {close:?}");
                }
                bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
                // The first view.
                if let Some(opened) = opened.take() {
                    let _ = opened.send(());
                }
            }
            _ = ends.wait_for(|end| *end) => return Ok(()),
        }
    }
}
