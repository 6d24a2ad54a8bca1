use std::{
    collections::HashMap,
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, bail};
use cmdkit::become_owner;
use netshell::{bind_tcp, shutdown};
use store::{JournalNote, Match};
use tokio::net::TcpListener;
use tracing::warn;

use crate::{
    args::Args,
    hub::{
        callers::{Callers, HostNames},
        resources::{Resources, Settings},
    },
    proxied::Proxies,
    replays::Replays,
    results::matches::{self, Progress, Start},
    web::{
        connections::Server,
        film::{self, Film},
    },
};

/// Listed matches of a journal.
const MAX_MATCHES: usize = 10_000;

/// Serves the page until the process receives a signal. Fails without a match.
pub(crate) fn show(args: &Args, file: &Path, port: u16) -> anyhow::Result<ExitCode> {
    args.log.start("warn")?;
    if file.is_dir() {
        bail!("'{}' is a directory; give one of its journals", file.display());
    }
    let path = std::path::absolute(file)?;
    // Root reads the file as its owner, who could replace it by a link to another file.
    become_owner(path.parent().unwrap_or(&path))?;
    let matches = matches(&path).with_context(|| format!("cannot replay '{}'", file.display()))?;
    if matches.is_empty() {
        bail!("no match has begun in '{}'", file.display());
    }
    let settings = Settings::default();
    let resources = Resources::new(&settings, Callers::new(Proxies::default(), HostNames::default()));
    let journal = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let replays = Replays::with_unfinished(path.parent().map(PathBuf::from).unwrap_or_default());
    let shown_here = Film { journal, matches, replays, resources: Arc::clone(&resources) };
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let mut listeners = bind_tcp(&[address], port).map_err(|error| error.naming("--port"))?;
    let listener = listeners.pop().context("no address to listen on")?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = shutdown().context("cannot handle signals")?;
        let listener = TcpListener::from_std(listener)?;
        let port = listener.local_addr()?.port();
        let shown = match shown_here.matches.as_slice() {
            [only] => format!("The replay is at http://localhost:{port}/matches/{}", only.id),
            all => format!("The replays of {} matches are at http://localhost:{port}/", all.len()),
        };
        let server = Server::new(resources, film::router(Arc::new(shown_here)), None);
        tokio::spawn(server.clone().accept(listener));
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{shown}").and_then(|()| stdout.flush())?;
        drop(stdout);
        stop.await;
        server.finish().await;
        anyhow::Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Includes unfinished matches.
fn matches(path: &Path) -> anyhow::Result<Vec<Match>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let note = JournalNote { room: name.clone(), title: name, ..JournalNote::default() };
    let mut matches = vec![];
    let read = matches::read(path, Start::Record(note, HashMap::new()), |over| {
        if matches.len() < MAX_MATCHES {
            matches.push(over);
        }
        true
    });
    match read {
        Ok(progress) => matches.extend(progress.iter().flat_map(Progress::running)),
        Err(error) if matches.is_empty() => return Err(error),
        Err(error) => warn!("showing only the matches before the damage: {error:#}"),
    }
    matches.sort_by_key(|found| found.begins);
    Ok(matches)
}
