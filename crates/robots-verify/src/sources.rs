use std::{
    fs::File,
    io::{self, Read},
    net::SocketAddr,
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, bail};
use cmdkit::EXIT_FAILURE;
use netshell::{bind_tcp, bind_udp};
use serde_json::{Map, Value as Json};
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream, UdpSocket},
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::sleep,
};

use crate::{
    args::Args,
    explain::Explainer,
    kind::Kind,
    printer::{Printer, Source},
    text::{TransportKind, counted},
};

/// Further connections are closed.
const MAX_CONNECTIONS: usize = 64;
const MAX_DATAGRAM: usize = 65_535;
/// In bytes.
const CHUNK: usize = 16 << 10;
/// When the system is out of resources, before the next connection is accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// Network sources never end.
pub(crate) async fn explain(args: &Args, printer: &Printer) -> anyhow::Result<ExitCode> {
    match &args.file {
        Some(path) if args.udp => file_as_datagram(path, args.messages, printer).await,
        Some(path) => file_as_stream(path, args.messages, printer).await,
        None => listen(args, printer).await,
    }
}

async fn listen(args: &Args, printer: &Printer) -> anyhow::Result<ExitCode> {
    let (kind, port) = (args.messages, args.port.unwrap_or_default());
    let mut tasks = JoinSet::new();
    if args.udp {
        let sockets = bind_udp(&args.bind, port)?;
        announce(printer, kind, "UDP", sockets.first().map(std::net::UdpSocket::local_addr)).await?;
        let count = Arc::new(AtomicU64::new(0));
        for socket in sockets {
            tasks.spawn(datagrams(UdpSocket::from_std(socket)?, kind, Arc::clone(&count), printer.clone()));
        }
    } else {
        let listeners = bind_tcp(&args.bind, port)?;
        announce(printer, kind, "TCP", listeners.first().map(std::net::TcpListener::local_addr)).await?;
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let count = Arc::new(AtomicU64::new(0));
        for listener in listeners {
            let listener = TcpListener::from_std(listener)?;
            tasks.spawn(connections(listener, kind, Arc::clone(&room), Arc::clone(&count), printer.clone()));
        }
    }
    // A task ends only with an error.
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(ExitCode::SUCCESS)
}

async fn announce(
    printer: &Printer,
    kind: Kind,
    over: &str,
    address: Option<io::Result<SocketAddr>>,
) -> anyhow::Result<()> {
    let port = address.transpose()?.map_or(0, |address| address.port());
    let words = format!("Ready to explain {} messages, waiting at {over} port {port}", kind.name());
    let fields = [("port", port.into()), ("over", over.into()), ("messages", kind.name().into())];
    Ok(printer.print_note(&Source::default(), &words, &fields).await?)
}

async fn datagrams(socket: UdpSocket, kind: Kind, count: Arc<AtomicU64>, printer: Printer) -> anyhow::Result<()> {
    let mut buffer = vec![0; MAX_DATAGRAM];
    loop {
        let (length, address) = socket.recv_from(&mut buffer).await.context("cannot receive")?;
        let number = count.fetch_add(1, Ordering::Relaxed) + 1;
        let report = Explainer::datagram(kind, number, &buffer[..length]);
        printer.report(&report, &source(None, address), TransportKind::Datagram).await?;
    }
}

async fn connections(
    listener: TcpListener,
    kind: Kind,
    room: Arc<Semaphore>,
    count: Arc<AtomicU64>,
    printer: Printer,
) -> anyhow::Result<()> {
    let mut failing = false;
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                failing = false;
                let number = count.fetch_add(1, Ordering::Relaxed) + 1;
                let source = source(Some(number), address);
                let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
                    let words = format!("rejected: {MAX_CONNECTIONS} connections are open");
                    printer.print_note(&source, &words, &[("event", "turned away".into())]).await?;
                    continue;
                };
                let printer = printer.clone();
                tokio::spawn(async move {
                    // If output cannot be written, the whole program ends.
                    let _ = connection(stream, kind, &source, &printer).await;
                    drop(permit);
                });
            }
            Err(error) => {
                if !failing {
                    let words = format!("cannot accept a connection: {error}; retrying");
                    printer.print_note(&Source::default(), &words, &[("event", words.as_str().into())]).await?;
                }
                failing = true;
                sleep(PAUSE).await;
            }
        }
    }
}

async fn connection(mut stream: TcpStream, kind: Kind, source: &Source, printer: &Printer) -> io::Result<()> {
    printer.print_note(source, "connected", &[("event", "connected".into())]).await?;
    let mut explainer = Explainer::new(kind);
    let mut buffer = vec![0; CHUNK];
    let why = loop {
        match stream.read(&mut buffer).await {
            Ok(0) => break "closed".to_owned(),
            Ok(length) => feed(&mut explainer, &buffer[..length], source, printer).await?,
            Err(error) => break format!("lost ({error})"),
        }
        if explainer.is_broken() {
            break "closed at an invalid byte".to_owned();
        }
    };
    end(explainer, &why, source, printer).await.map(drop)
}

async fn feed(explainer: &mut Explainer, mut bytes: &[u8], source: &Source, printer: &Printer) -> io::Result<()> {
    while let Some(report) = explainer.next(&mut bytes) {
        printer.report(&report, source, TransportKind::Stream).await?;
    }
    Ok(())
}

// Returns whether the whole stream was valid.
async fn end(explainer: Explainer, why: &str, source: &Source, printer: &Printer) -> io::Result<bool> {
    let (messages, at, broken) = (explainer.messages(), explainer.at(), explainer.is_broken());
    let unfinished = explainer.finish();
    let rest = match &unfinished {
        Some(report) => {
            printer.report(report, source, TransportKind::Stream).await?;
            let (length, name) = (counted(report.length as u64, "byte"), report.name.unwrap_or("message"));
            format!("then {length} of an unfinished {name}")
        }
        None if broken => "then an invalid one".to_owned(),
        None => "nothing left over".to_owned(),
    };
    let whole = format!("{} in {}", counted(messages, "whole message"), counted(at, "byte"));
    let fields = [
        ("event", why.into()),
        ("whole_messages", messages.into()),
        ("whole_bytes", at.into()),
        ("unfinished_bytes", unfinished.as_ref().map_or(0, |report| report.length).into()),
    ];
    printer.print_note(source, &format!("{why}: {whole}, {rest}"), &fields).await?;
    Ok(unfinished.is_none() && !broken)
}

async fn file_as_stream(path: &Path, kind: Kind, printer: &Printer) -> anyhow::Result<ExitCode> {
    let mut chunks = chunks(path)?;
    let (source, mut explainer) = (Source::default(), Explainer::new(kind));
    while let Some(chunk) = chunks.recv().await {
        let chunk = chunk.with_context(|| format!("cannot read {}", path.display()))?;
        feed(&mut explainer, &chunk, &source, printer).await?;
        if explainer.is_broken() {
            break;
        }
    }
    let right = end(explainer, "the end", &source, printer).await?;
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

async fn file_as_datagram(path: &Path, kind: Kind, printer: &Printer) -> anyhow::Result<ExitCode> {
    let (mut chunks, mut datagram) = (chunks(path)?, vec![]);
    while let Some(chunk) = chunks.recv().await {
        datagram.extend(chunk.with_context(|| format!("cannot read {}", path.display()))?);
        if datagram.len() > MAX_DATAGRAM {
            bail!("{} has more than {MAX_DATAGRAM} bytes, and no datagram is that long", path.display());
        }
    }
    let report = Explainer::datagram(kind, 1, &datagram);
    printer.report(&report, &Source::default(), TransportKind::Datagram).await?;
    Ok(if report.fault.is_none() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

// `-` is standard input. A separate thread reads, so that signals are handled while a pipe blocks.
fn chunks(path: &Path) -> anyhow::Result<mpsc::Receiver<io::Result<Vec<u8>>>> {
    let mut input: Box<dyn Read + Send> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot open {}", path.display()))?)
    };
    let (chunks, waiting) = mpsc::channel(1);
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            let chunk = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(buffer[..length].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = chunk.is_err();
            if chunks.blocking_send(chunk).is_err() || failed {
                return;
            }
        }
    });
    Ok(waiting)
}

fn source(connection: Option<u64>, address: SocketAddr) -> Source {
    let address = SocketAddr::new(address.ip().to_canonical(), address.port()).to_string();
    let mut fields = Map::new();
    if let Some(number) = connection {
        fields.insert("connection".to_owned(), Json::from(number));
    }
    fields.insert("from".to_owned(), Json::from(address.as_str()));
    let words = connection.map_or_else(|| address.clone(), |number| format!("#{number} {address}"));
    Source { words, fields }
}
