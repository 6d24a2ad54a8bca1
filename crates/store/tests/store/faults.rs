//! Writes that fail at any step: a file that cannot grow, a connection that breaks, or a cancelled caller. Each match
//! is stored and counted once if the call is repeated.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use store::{Match, MatchFilter, RoomTime, Store, Trouble};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::support::{self, check, entry, on_each};

const GAME: &str = "robots";

fn a_match(number: u32) -> Match {
    support::a_match(number, GAME, vec![entry(1, "Ann", 0), entry(2, "Bob", 0)])
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// The next message does not arrive.
    Request,
    /// The next message arrives, and its response is lost.
    Response,
}

/// A proxy that ends a connection after the given number of messages.
#[derive(Debug, Clone, Default)]
struct Proxy(Arc<Mutex<Option<(usize, Cut)>>>);

impl Proxy {
    async fn start(server: SocketAddr) -> (Self, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (proxy, address) = (Self::default(), listener.local_addr().unwrap());
        let accepting = proxy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(server).await.unwrap();
                tokio::spawn(accepting.clone().forward(client, server));
            }
        });
        (proxy, address)
    }

    fn plan(&self, messages: usize, cut: Cut) {
        *self.0.lock().unwrap() = Some((messages, cut));
    }

    fn cancel(&self) -> bool {
        self.0.lock().unwrap().take().is_some()
    }

    fn next_cut(&self) -> Option<Cut> {
        let mut plan = self.0.lock().unwrap();
        if let Some((messages @ 1.., _)) = &mut *plan {
            *messages -= 1;
            return None;
        }
        plan.take().map(|(_, cut)| cut)
    }

    async fn forward(self, mut client: TcpStream, mut server: TcpStream) {
        let (mut request, mut response) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        let mut is_cut = false;
        loop {
            tokio::select! {
                length = client.read(&mut request) => {
                    let length = length.unwrap_or(0);
                    let cut = if length > 0 { self.next_cut() } else { None };
                    is_cut = cut == Some(Cut::Response);
                    if length == 0 || cut == Some(Cut::Request) {
                        return;
                    }
                    let _ = server.write_all(&request[..length]).await;
                }
                length = server.read(&mut response) => {
                    let length = length.unwrap_or(0);
                    if length == 0 || is_cut {
                        return;
                    }
                    let _ = client.write_all(&response[..length]).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn connection_that_breaks_at_any_step_stores_each_match_once() {
    on_each(async |open, server| {
        let Some(server) = server else { return };
        let prepared = open();
        prepared.prepare().await.unwrap();
        let (user, host) = server.split_once('@').unwrap();
        let (host, database) = host.split_once('/').unwrap();
        let (proxy, at) = Proxy::start(host.parse().unwrap()).await;
        let store = Store::server(&format!("{user}@{at}/{database}")).unwrap();
        let mut number = 0;
        for cut in [Cut::Request, Cut::Response] {
            for step in 0.. {
                number += 1;
                proxy.plan(step, cut);
                let first = store.record(&a_match(number)).await;
                if proxy.cancel() {
                    assert!(first.unwrap() && step > 10, "{step}");
                    break;
                }
                // Before its first statement, the store replaces a broken connection.
                if let Err(error) = first {
                    assert_eq!(error.trouble(), Trouble::Away, "{cut:?} at {step}: {error:?}");
                    // If only the response to COMMIT is lost, the match is stored.
                    let again = store.record(&a_match(number)).await.unwrap();
                    assert!(again || cut == Cut::Response, "{cut:?} at {step}");
                }
                check(&store, GAME, number, 2).await;
            }
            for step in 0.. {
                proxy.plan(step, cut);
                let _ = store.note_examined("a.journal", 7, RoomTime::default()).await;
                let _ = store.claim("Ann", &[1; 32], 7).await;
                let _ = store.matches(&MatchFilter { limit: 1, ..MatchFilter::default() }).await;
                let is_over = proxy.cancel();
                store.note_examined("a.journal", 7, RoomTime::default()).await.unwrap();
                assert_eq!(store.journal("a.journal").await.unwrap().examined, 7);
                store.claim("Ann", &[1; 32], 7).await.unwrap();
                assert_eq!(store.names_of(&[1; 32]).await.unwrap(), ["Ann"]);
                if is_over {
                    break;
                }
            }
        }
        store.close().await;
        prepared.close().await;
    })
    .await;
}

#[tokio::test]
async fn cancelled_caller_leaves_no_broken_connection() {
    on_each(async |open, _| {
        let store = open();
        store.prepare().await.unwrap();
        for number in 1..=20 {
            let limit = Duration::from_micros(u64::from(number) * 150);
            let first = timeout(limit, store.record(&a_match(number))).await;
            let again = store.record(&a_match(number)).await.unwrap();
            if let Ok(first) = first {
                assert_ne!(first.unwrap(), again);
            }
        }
        check(&store, GAME, 20, 2).await;
        store.close().await;
    })
    .await;
}

/// A limit on the size of files needs a separate process, so this program runs itself.
#[cfg(target_os = "linux")]
mod full_disk {
    use std::{env, path::PathBuf, process::Command};

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use testkit::TempDir;

    use super::*;

    const DIRECTORY: &str = "ARCADE_TEST_DIRECTORY";

    #[test]
    fn write_that_fails_at_any_step_is_done_once_when_it_is_repeated() {
        let directory = TempDir::new();
        let output = Command::new("sh")
            // Otherwise the signal would end the process.
            .args(["-c", r#"trap '' XFSZ; exec "$0" "$@""#])
            .arg(env::current_exe().unwrap())
            .args(["--exact", "faults::full_disk::with_files_of_limited_size", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[tokio::test]
    #[ignore = "for a process that has its own limit on the size of files"]
    async fn with_files_of_limited_size() {
        let Some(directory) = env::var_os(DIRECTORY).map(PathBuf::from) else { return };
        // Each match needs additional space.
        let large = |number| Match { title: "x".repeat(20_000), ..a_match(number) };
        let store = Store::file(&directory.join("results.db")).unwrap();
        store.prepare().await.unwrap();
        assert!(store.record(&large(1)).await.unwrap());
        let limit = |current| {
            let maximum = getrlimit(Resource::Fsize).maximum;
            setrlimit(Resource::Fsize, Rlimit { current, maximum }).unwrap();
        };
        let log = directory.join("results.db-wal");
        let mut failures = 0;
        // Each limit stops the growth of the log at another position of a match.
        for number in 2.. {
            let length = log.metadata().map_or(0, |about| about.len());
            limit(Some(length + u64::from(number - 2) * 1_000));
            let first = store.record(&large(number)).await;
            limit(None);
            let Err(error) = first else { break };
            assert!(matches!(error.trouble(), Trouble::NoSpace | Trouble::Disk), "{error:?}");
            failures += 1;
            assert!(store.record(&large(number)).await.unwrap_or_else(|error| panic!("{number}: {error:?}")));
            check(&store, GAME, number, 2).await;
            let length = log.metadata().map_or(0, |about| about.len());
            limit(Some(length));
            // After a checkpoint, the log has space.
            let _ = store.note_examined("a.journal", u64::from(number), RoomTime::default()).await;
            limit(None);
            store.note_examined("a.journal", u64::from(number), RoomTime::default()).await.unwrap();
            assert_eq!(store.journal("a.journal").await.unwrap().examined, u64::from(number));
        }
        assert!(failures > 20, "{failures}");
    }
}
