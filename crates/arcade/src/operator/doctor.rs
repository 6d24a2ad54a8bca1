//! `arcade doctor`: what keeps a hub from working on this machine, and what to do about it.

use std::{
    fs,
    io::Write as _,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    process::ExitCode,
    time::{Duration, SystemTime},
};

use cmdkit::EXIT_FAILURE;
use netshell::{bind_tcp, bind_udp, raise_open_files};

use crate::{
    args::Args, hub::resources::MAX_ROOMS, operator::commands::ask, operator::results, operator::wire::Request,
};

/// How long a connection to the own page may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// Free space below which journals may soon be cut, in bytes.
const SPACE: u64 = 512 << 20;
/// Free space in `/dev/shm` below which journals do without it, in bytes.
const SHM_SPACE: u64 = 32 << 20;
/// Open files for a room with some players.
const FILES_A_ROOM: u64 = 10;
/// Any day before this program was written, in seconds since the Unix epoch.
const PAST: u64 = 1_760_000_000;

/// Looks at everything, and prints a line for each. The exit code is 1 if something has to be done.
pub(crate) fn examine(args: &Args) -> anyhow::Result<ExitCode> {
    let running = ask(&args.data, &Request::Status).ok();
    let bind = args.page_addresses();
    let held = running.as_ref().and_then(|status| status["ports"].as_u64()).unwrap_or_default();
    // What it is about, and how it is, or else what to do.
    let findings = [
        ("data", data(&args.data)),
        ("page", running.map_or_else(|| page(args.port, &bind), |status| reach(status["port"].as_u64(), &bind))),
        ("ports", ports(args, &args.room_addresses(), held)),
        ("files", files(raise_open_files())),
        ("disk", space(&existing(&args.data), SPACE, "journals grow with every match")),
        ("shm", shm()),
        ("db", results::look(args)),
        ("clock", clock(&args.data)),
    ];
    let mut out = std::io::stdout().lock();
    for (what, verdict) in &findings {
        match verdict {
            Ok(text) => writeln!(out, "ok    {what:<6} {text}")?,
            Err(text) => writeln!(out, "TO DO {what:<6} {text}")?,
        }
    }
    out.flush()?;
    let well = findings.iter().all(|(_, verdict)| verdict.is_ok());
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

fn data(path: &Path) -> Result<String, String> {
    let shown = path.display();
    if !path.exists() {
        let parent = existing(path);
        return writable(&parent)
            .map(|()| format!("'{shown}' will be made"))
            .map_err(|error| format!("'{shown}' cannot be made ({error}); choose another directory with --data"));
    }
    writable(path).map_err(|error| format!("'{shown}' cannot be written ({error}); give it to the user of the hub"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = fs::metadata(path).map_or(0, |about| about.permissions().mode());
        if mode & 0o077 != 0 {
            return Err(format!("others can look into '{shown}', which holds seeds and tokens; chmod 700 '{shown}'"));
        }
    }
    Ok(format!("'{shown}' can be written, and only by its owner"))
}

fn writable(directory: &Path) -> std::io::Result<()> {
    let probe = directory.join(format!(".doctor-{}", std::process::id()));
    fs::write(&probe, b"x")?;
    fs::remove_file(probe)
}

// The directory itself, or the nearest one above it that exists.
fn existing(path: &Path) -> std::path::PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.ancestors().find(|path| path.exists()).unwrap_or(&path).to_owned()
}

fn page(port: u16, bind: &[IpAddr]) -> Result<String, String> {
    match bind_tcp(bind, port) {
        Ok(_) => Ok(format!("no hub runs with this data; TCP port {port} is free for its page")),
        Err(error) => Err(error.naming("--port").to_string()),
    }
}

fn reach(port: Option<u64>, bind: &[IpAddr]) -> Result<String, String> {
    let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
    for ip in bind {
        let ip = if ip.is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { *ip };
        let address = SocketAddr::new(ip, port);
        if let Err(error) = TcpStream::connect_timeout(&address, PATIENCE) {
            return Err(format!(
                "the hub runs, but {address} does not answer ({error}); look at its log and at the firewall"
            ));
        }
    }
    Ok(format!("the hub runs, and TCP port {port} answers"))
}

fn ports(args: &Args, bind: &[IpAddr], held: u64) -> Result<String, String> {
    let Some(range) = args.ports.clone() else {
        return Ok(
            "rooms take any free ports; with a firewall, give a range with --ports and open it for UDP and TCP".into()
        );
    };
    let (first, last) = (*range.start(), *range.end());
    let all = range.clone().count() as u64;
    let free = range.filter(|&port| bind_udp(bind, port).is_ok() && bind_tcp(bind, port).is_ok()).count() as u64;
    // Those of the running hub are not free, and need not be.
    if free + held < all.min(3) || free + held == 0 {
        return Err(format!("of the ports {first} to {last} only {free} are free; choose another range with --ports"));
    }
    Ok(format!("{free} of the ports {first} to {last} are free"))
}

fn files(limit: Option<u64>) -> Result<String, String> {
    let Some(limit) = limit else { return Ok("there is no limit on open files".into()) };
    let rooms = limit / FILES_A_ROOM;
    if rooms < 100 {
        return Err(format!(
            "only {limit} files may be open, enough for about {rooms} rooms; raise it with `ulimit -n` or LimitNOFILE="
        ));
    }
    Ok(format!("{limit} files may be open, enough for about {} rooms", rooms.min(MAX_ROOMS as u64)))
}

fn shm() -> Result<String, String> {
    let path = Path::new("/dev/shm");
    if !path.is_dir() {
        return Ok("there is no /dev/shm; journals are written before messages are sent".into());
    }
    writable(path)
        .map_err(|error| format!("/dev/shm cannot be written ({error}); moves wait for the disk without it"))?;
    space(path, SHM_SPACE, "moves wait for the disk without it")
}

#[cfg(unix)]
fn space(path: &Path, least: u64, why: &str) -> Result<String, String> {
    let free = match rustix::fs::statvfs(path) {
        Ok(about) => about.f_bavail.saturating_mul(about.f_frsize),
        Err(error) => return Err(format!("the file system of '{}' cannot be looked at ({error})", path.display())),
    };
    let (mebibytes, path) = (free >> 20, path.display());
    if free < least {
        return Err(format!("'{path}' has {mebibytes} MiB left: {why}; make room"));
    }
    Ok(format!("'{path}' has {mebibytes} MiB left"))
}

#[cfg(not(unix))]
fn space(path: &Path, _: u64, _: &str) -> Result<String, String> {
    Ok(format!("'{}' was not measured on this system", path.display()))
}

fn clock(data: &Path) -> Result<String, String> {
    let now = SystemTime::now();
    let since = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if since < PAST {
        return Err("the clock is years behind; journals and results would have wrong dates, so set it (NTP)".into());
    }
    let newest = fs::read_dir(data.join("journals")).ok().into_iter().flatten().flatten();
    let newest = newest.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max();
    if newest.is_some_and(|newest| newest > now + Duration::from_mins(1)) {
        return Err("the clock is behind the newest journal; set it (NTP)".into());
    }
    Ok("the clock is not behind".into())
}
