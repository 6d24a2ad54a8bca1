//! `arcade`: hosts all games in one process, with a web page to play and to watch.

mod args;
mod assets;
mod games;
mod hub;
mod line;
mod pump;
mod room;
mod seats;
mod transport;
mod web;

use std::{
    fs,
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context as _;
use cmdkit::{EXIT_USAGE, Usage};
use journal::{MAX_SIZE, Scribe, SyncPolicy, Writing};
use netcore::Leave;
use netshell::{bind_tcp, raise_open_files, shutdown};
use tokio::net::TcpListener;

use crate::{args::Args, hub::Hub, room::Place};

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "" }, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("info")?;
    let open_files = raise_open_files();
    let journals = args.data.join("journals");
    fs::create_dir_all(&journals).with_context(|| format!("cannot make the directory '{}'", journals.display()))?;
    let bind = if args.bind.is_empty() { vec![IpAddr::V4(Ipv4Addr::LOCALHOST)] } else { args.bind.clone() };
    let listeners = bind_tcp(&bind, args.port)?;
    let writing = Writing { scribe: Scribe::start()?, sync: SyncPolicy::Interval, max: MAX_SIZE };
    let hub = Hub::new(&args.data, Place { bind, journals, writing, open_files })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = shutdown().context("cannot listen for signals")?;
        hub.open_usual()?;
        tokio::spawn(Arc::clone(&hub).publish());
        let port =
            listeners.first().and_then(|listener| listener.local_addr().ok()).map_or(0, |address| address.port());
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "The arcade is open at http://localhost:{port}/").and_then(|()| stdout.flush())?;
        drop(stdout);
        for listener in listeners {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            let router = web::router(Arc::clone(&hub)).into_make_service_with_connect_info::<SocketAddr>();
            tokio::spawn(async move { axum::serve(listener, router).await });
        }
        stop.await;
        hub.stop(Leave::Over).await;
        anyhow::Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}
