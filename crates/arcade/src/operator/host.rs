use std::{
    collections::BTreeSet,
    io::{self, IsTerminal as _, Write as _},
    net::{IpAddr, SocketAddr},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use cmdkit::LogFormat;
use journal_core::{MAX_SIZE, SyncPolicy, Writing};
use netshell::{bind_tcp, raise_open_files, request_to_end};
use servekit::Reach;
use store::Store;
#[cfg(unix)]
use tokio::signal::unix;
use tokio::{net::TcpListener, sync::mpsc, task::block_in_place, time::Instant};
use tracing::{error, info, warn};

#[cfg(unix)]
use super::control;
use super::{
    agones::{self, Sdk},
    data::{RESULTS, lock, prepare},
};
use crate::{
    args::Args,
    fleet::{self, Claim},
    games::offer_maps,
    hub::{
        Hub, Parts,
        address::{Address, PublicUrl},
        callers::{Callers, HostNames},
        classes::MAX_QUEUED_RESULTS,
        files::make_private,
        ladders::board::Ladders,
        lobby::Publisher,
        metrics::Metrics,
        ports::Ports,
        resources::{MAX_ROOMS, Resources, Settings},
        secret::Secret,
        threads::Threads,
    },
    results::Results,
    room::{bans::Bans, file::RoomFile, info::Site, opening::RoomContext},
    web::{self, connections::Server, tls::Tls},
};

/// Timeout for the replication of events at the end.
const COPYING: Duration = Duration::from_secs(3);

/// Runs until the process receives a signal or a command to end.
#[expect(clippy::too_many_lines, reason = "a sequence of steps that share their results")]
pub(crate) fn host(args: &Args) -> anyhow::Result<ExitCode> {
    let bases = args.public_url.iter().map(PublicUrl::base);
    anyhow::ensure!(
        bases.collect::<BTreeSet<_>>().len() < 2,
        "the page has one path, but the addresses in --public-url have several"
    );
    // Before rooms are restored, which may use these maps.
    if let Some(directory) = &args.maps {
        offer_maps(directory)?;
    }
    let sdk = args.agones.then(Sdk::from_env).transpose()?;
    let open_files = raise_open_files();
    let journals = args.data.join("journals");
    prepare(&args.data)?;
    make_private(&journals)?;
    // Until the process ends.
    let _lock = lock(&args.data, "stop it, or choose another directory with --data")?;
    let tls = args.certificate().map(|files| Tls::open(files, args.tls_names())).transpose()?.map(Arc::new);
    let listeners = bind_tcp(&args.page_addresses(), args.port).map_err(|error| error.naming("--port"))?;
    // At most one.
    let for_numbers = match args.metrics {
        Some(address) => bind_tcp(&[address.ip()], address.port()).map_err(|error| error.naming("--metrics"))?,
        None => vec![],
    };
    let writing = Writing::start(SyncPolicy::Interval, MAX_SIZE)?;
    let bans = Arc::new(Bans::open(args.data.join("bans"))?);
    let threads = Threads::start()?;
    let results = Results::new(store(args, &threads)?, journals.clone());
    let metrics = Metrics::new();
    let settings =
        Settings { sockets_per_host: args.sockets_per_host, rooms_per_host: args.rooms_per_host, open_files };
    let listen = local_addresses(&listeners)?;
    let numbers = local_addresses(&for_numbers)?;
    let own = listen.iter().chain(&numbers).map(SocketAddr::ip).chain(Reach::at(&listen).outward);
    let callers =
        Callers::new(args.proxies(), HostNames::new(args.public_url.clone(), args.advertise.clone(), own.collect()));
    let resources = Resources::new(&settings, callers);
    // First, since the arcade may refuse this hub.
    let port = listen.first().map_or(args.port, SocketAddr::port);
    let joining = match args.joins(port)? {
        Some(settings) => {
            let secret = Secret::open(&args.data)?.to_text();
            Some(threads.rest.block_on(fleet::connect(settings, &args.data, (MAX_ROOMS, &secret)))?)
        }
        None => None,
    };
    let fleet = joining.as_ref().map(|(joining, _)| Arc::clone(joining.fleet()));
    if let Some(shared) = fleet.as_ref().and_then(|fleet| fleet.results()) {
        results.share(shared);
    }
    let (class_results, results_of_classes) = mpsc::channel(MAX_QUEUED_RESULTS);
    let place = RoomContext {
        journals,
        writing,
        connections: resources.files.clone(),
        bans,
        ledger: Arc::clone(&results.ledger),
        class_results,
        keep_seats: Duration::from_secs(args.keep_seats),
        hints: Arc::default(),
        watch_delay: Duration::from_secs(args.watch_delay),
        counters: metrics.counters(),
        site: fleet.as_ref().map(|fleet| Site { node: fleet.name().to_owned(), host: fleet.host().to_string() }),
        proxies: args.proxies(),
        log: Arc::default(),
    };
    let parts = Parts {
        place,
        ports: Ports::new(args.room_addresses(), args.ports.clone()),
        results: Arc::clone(&results),
        metrics,
        resources,
        fleet: fleet.clone(),
        handles: threads.handles(),
        empty_rooms: Duration::from_secs(args.empty_rooms),
        owner_away: Duration::from_secs(args.owner_away),
        examples: args.examples,
    };
    let (hub, mut before) = Hub::new(&args.data, parts)?;
    let ended = threads.rest.block_on(async {
        let mut stop = Box::pin(request_to_end().context("cannot handle signals")?);
        #[cfg(unix)]
        renew_on_hang_up(tls.clone()).context("cannot handle signals")?;
        if let Some((joining, events)) = joining {
            let claim = |room: &RoomFile| Claim { room: room.id.clone(), needs: room.options.game().rules() };
            let taken = joining.join(&before.iter().map(claim).collect::<Vec<_>>()).await?;
            let (gone, stay) = before.into_iter().partition::<Vec<_>, _>(|room| taken.contains(&room.id));
            before = stay;
            for RoomFile { id, shared, .. } in gone {
                if shared {
                    info!(room = id, "another hub of the arcade had this room; it resumes from its copy");
                    hub.rooms.give_up(&id);
                } else {
                    warn!(
                        room = id,
                        "another hub of the arcade has a room of this name; this one stays in the data directory"
                    );
                }
            }
            tokio::spawn(Arc::clone(&hub).obey(events));
        }
        tokio::spawn(Arc::clone(&hub).record_class_results(results_of_classes));
        if !before.is_empty() {
            let rooms = before.len();
            hub.restore(before).await;
            info!("restored {} of {rooms} rooms", hub.rooms.all().len());
        }
        if !args.no_default_rooms {
            block_in_place(|| hub.open_usual())?;
        }
        results.start();
        if let Some(retention) = args.journal_keep {
            tokio::spawn(Arc::clone(&hub).prune(retention));
        }
        tokio::spawn(Arc::clone(&hub).release_unused_names());
        if hub.cluster().is_some() {
            tokio::spawn(Arc::clone(&hub).follow_name_changes());
        }
        results.prepared().await;
        // After the database: programs connect immediately, and their names are looked up.
        if !args.ladder.is_empty() {
            block_in_place(|| hub.open_ladders(&args.ladder, Duration::from_secs(args.reconnect)))?;
        }
        let cluster = hub.cluster().cloned();
        let publisher = Publisher::new(Arc::clone(&hub.rooms), Arc::clone(&results), Arc::clone(hub.lists()), cluster)?;
        tokio::spawn(async move {
            if let Err(error) = publisher.run().await {
                error!("the lobby is no longer updated: {error}");
            }
        });
        hub.listens(Address::at(&listen, tls.is_some(), args.public_url.first()));
        #[cfg(unix)]
        match control::listen(&args.data) {
            Ok(listener) => drop(tokio::spawn(control::serve(Arc::clone(&hub), listener))),
            Err(error) => warn!("the commands of the host are unavailable: {error:#}"),
        }
        let server = Server::new(Arc::clone(hub.resources()), web::router(Arc::clone(&hub)), tls);
        for listener in listeners {
            listener.set_nonblocking(true)?;
            tokio::spawn(server.clone().accept(TcpListener::from_std(listener)?));
        }
        for listener in for_numbers {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            info!("metrics for Prometheus are at http://{address}/metrics, without access control");
            let server = Server::new(Arc::clone(hub.resources()), web::health::only_numbers(Arc::clone(&hub)), None);
            tokio::spawn(server.accept(TcpListener::from_std(listener)?));
        }
        // A script may send requests as soon as this line is printed.
        announce(args, &hub, &listen)?;
        let agones = sdk.map(|sdk| agones::start(sdk, Arc::clone(&hub)));
        let patience = tokio::select! {
            () = &mut stop => Duration::from_secs(args.drain),
            patience = hub.shutdown_requested() => patience,
        };
        if let Some(fleet) = &fleet {
            fleet.drain().await;
        }
        hub.drain(Instant::now() + patience, stop).await;
        if let Some(fleet) = &fleet {
            if !fleet.copies.finish(Instant::now() + COPYING).await {
                warn!("some events of rooms are not replicated; they are in the data directory");
            }
            fleet.leave().await;
        }
        server.finish().await;
        results.finish().await;
        if let Some(agones) = agones {
            agones.shut_down().await;
        }
        anyhow::Ok(())
    });
    threads.shut_down();
    ended?;
    Ok(ExitCode::SUCCESS)
}

fn store(args: &Args, threads: &Threads) -> anyhow::Result<Store> {
    let _context = threads.rest.enter();
    Ok(match &args.database {
        Some(address) => {
            let file = args.data.join(RESULTS);
            if file.exists() {
                info!(
                    "results are in PostgreSQL; those in '{}' are missing until `arcade results copy` copies them",
                    file.display()
                );
            }
            Store::server(address)?
        }
        None => Store::file(&args.data.join(RESULTS))?,
    })
}

fn local_addresses(listeners: &[std::net::TcpListener]) -> io::Result<Vec<SocketAddr>> {
    listeners.iter().map(std::net::TcpListener::local_addr).collect()
}

fn announce(args: &Args, hub: &Hub, listen: &[SocketAddr]) -> anyhow::Result<()> {
    let Some(address) = hub.address() else { return Ok(()) };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "The arcade is open at {}", address.here).and_then(|()| stdout.flush())?;
    for board in hub.ladders().into_iter().flat_map(Ladders::all) {
        writeln!(stdout, "The ladder of {} is open to programs at port {}", board.game.name(), board.port)?;
    }
    if args.log.log_format == LogFormat::Json {
        // A program reads the output.
        info!(address = address.here, friends = address.friends, "the page is open");
        return Ok(());
    }
    let ports = args.ports.as_ref().map_or_else(
        || "any free UDP and TCP ports; --ports sets a range".to_owned(),
        |range| format!("UDP and TCP ports {} to {}", range.start(), range.end()),
    );
    let is_open = |address: IpAddr| !address.is_loopback();
    let page = listen.iter().any(|address| is_open(address.ip()));
    let rooms = args.room_addresses().into_iter().any(is_open);
    let mut text = address.explain(page, rooms, &ports);
    if stdout.is_terminal() {
        text += &address.blocks().unwrap_or_default();
    }
    // A reader of the first line may have closed the pipe.
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    Ok(())
}

#[cfg(unix)]
fn renew_on_hang_up(tls: Option<Arc<Tls>>) -> io::Result<()> {
    let mut hang_ups = unix::signal(unix::SignalKind::hangup())?;
    tokio::spawn(async move {
        while hang_ups.recv().await.is_some() {
            match tls.as_deref().map(|tls| block_in_place(|| tls.renew())) {
                None => info!("SIGHUP reloads the certificate of --tls, but this hub has none"),
                Some(Ok(())) => {}
                Some(Err(error)) => error!("keeping the previous certificate: {error}"),
            }
        }
    });
    Ok(())
}
