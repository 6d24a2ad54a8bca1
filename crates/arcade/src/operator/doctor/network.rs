//! Checks of ports that this machine itself can make.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    ops::RangeInclusive,
    time::Duration,
};

use netshell::{bind_tcp, bind_udp};

/// For connections and datagrams to this machine.
const PATIENCE: Duration = Duration::from_secs(3);
/// Silent ports after which no others are tried.
const MAX_SILENT: usize = 3;

/// Checks the port of the page if no hub runs.
pub(super) fn page(port: u16, bind: &[IpAddr]) -> Result<String, String> {
    // Held until the check is over.
    let _listeners = bind_tcp(bind, port).map_err(|error| error.naming("--port").to_string())?;
    // Port 0 is any free port and cannot be tried.
    for address in addresses(bind, port).into_iter().filter(|address| address.port() != 0) {
        connect(address).map_err(|error| firewall("TCP", &[address], &error))?;
    }
    Ok(format!("no hub runs with this data; TCP port {port} is free for its page{}", outside(bind)))
}

pub(super) fn running(port: Option<u64>, bind: &[IpAddr]) -> Result<String, String> {
    let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
    for address in addresses(bind, port) {
        connect(address).map_err(|error| {
            format!("the hub runs, but {address} does not respond ({error}); check its log, --bind and the firewall")
        })?;
    }
    Ok(format!("the hub runs, and TCP port {port} responds{}", outside(bind)))
}

/// A running hub uses `held` of the ports.
pub(super) fn ports(range: Option<RangeInclusive<u16>>, bind: &[IpAddr], held: u64) -> Result<String, String> {
    let Some(range) = range else {
        return Ok(
            "rooms use any free ports; with a firewall, set a range with --ports and open it for UDP and TCP".into()
        );
    };
    let (first, last) = (*range.start(), *range.end());
    let all = range.clone().count() as u64;
    let mut free = 0;
    let (mut silent, mut why) = (vec![], String::new());
    for port in range {
        let (Ok(udp), Ok(_tcp)) = (bind_udp(bind, port), bind_tcp(bind, port)) else { continue };
        free += 1;
        for address in addresses(bind, port) {
            if silent.len() < MAX_SILENT
                && let Err(error) = connect(address).and_then(|()| send(&udp, address))
            {
                silent.push(address);
                why = error;
            }
        }
    }
    // The ports of the running hub need not be free.
    if free + held < all.min(3) || free + held == 0 {
        return Err(format!("only {free} of the ports {first} to {last} are free; choose another range with --ports"));
    }
    if !silent.is_empty() {
        return Err(firewall("UDP and TCP", &silent, &why));
    }
    let others = all - free;
    let taken = match (others, held) {
        (0, _) => String::new(),
        (_, 0) => format!(", and {others} are in use"),
        _ => format!(", and {others} are in use, by the {held} rooms of the hub or by other programs"),
    };
    Ok(format!("{free} of the ports {first} to {last} are free for UDP and TCP{taken}{}", outside(bind)))
}

// Where clients on this machine and elsewhere would connect.
fn addresses(bind: &[IpAddr], port: u16) -> BTreeSet<SocketAddr> {
    let reached = bind.iter().flat_map(|&ip| match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => vec![Ipv4Addr::LOCALHOST.into()].into_iter().chain(outward(ip.into())),
        IpAddr::V6(ip) if ip.is_unspecified() => vec![Ipv6Addr::LOCALHOST.into()].into_iter().chain(outward(ip.into())),
        ip => vec![ip].into_iter().chain(None),
    });
    reached.map(|ip| SocketAddr::new(ip, port)).collect()
}

// The local address for connections to other machines. Connecting a datagram socket sends no data. The destinations are
// reserved for documentation.
fn outward(any: IpAddr) -> Option<IpAddr> {
    let probe = UdpSocket::bind((any, 0)).ok()?;
    probe.connect(if any.is_ipv4() { "192.0.2.1:9" } else { "[2001:db8::1]:9" }).ok()?;
    let ip = probe.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

fn connect(address: SocketAddr) -> Result<(), String> {
    TcpStream::connect_timeout(&address, PATIENCE).map(drop).map_err(|error| error.to_string())
}

fn send(sockets: &[UdpSocket], address: SocketAddr) -> Result<(), String> {
    let send = || -> std::io::Result<()> {
        let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        UdpSocket::bind((any, 0))?.send_to(b"doctor", address)?;
        let is_for = |socket: &&UdpSocket| {
            socket.local_addr().is_ok_and(|at| {
                at.ip() == address.ip() || at.ip().is_unspecified() && at.is_ipv4() == address.is_ipv4()
            })
        };
        let socket = sockets.iter().find(is_for).ok_or(std::io::ErrorKind::AddrNotAvailable)?;
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.recv_from(&mut [0; 8])?;
        Ok(())
    };
    send().map_err(|error| error.to_string())
}

fn firewall(what: &str, silent: &[SocketAddr], why: &str) -> String {
    let silent: Vec<_> = silent.iter().map(ToString::to_string).collect();
    format!(
        "{} cannot be reached from this machine ({why}); open the ports for {what} in its firewall",
        silent.join(", ")
    )
}

// What this machine cannot check.
fn outside(bind: &[IpAddr]) -> String {
    let outer: Vec<_> =
        addresses(bind, 0).iter().map(SocketAddr::ip).filter(|ip| !ip.is_loopback()).map(|ip| ip.to_string()).collect();
    if outer.is_empty() {
        return "; only this machine or a proxy on it can reach it".into();
    }
    format!(
        ", at {} too; whether a firewall or router blocks other machines can only be checked from there",
        outer.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: [IpAddr; 1] = [IpAddr::V4(Ipv4Addr::LOCALHOST)];

    /// Another program may take a released port before it is tried.
    const ATTEMPTS: usize = 10;

    #[test]
    fn used_ports_are_not_free() {
        let taken = bind_udp(&HERE, 0).unwrap();
        let port = taken[0].local_addr().unwrap().port();
        let verdict = ports(Some(port..=port), &HERE, 0);
        assert!(verdict.is_err_and(|text| text.contains("only 0 of the ports")));
        let verdict = ports(Some(port..=port), &HERE, 1);
        assert!(verdict.is_ok_and(|text| text.contains("1 are in use, by the 1 rooms of the hub")));
        drop(taken);
        let is_free = || {
            let port = bind_udp(&HERE, 0).unwrap()[0].local_addr().unwrap().port();
            ports(Some(port..=port), &HERE, 0).is_ok_and(|text| text.contains("1 of the ports"))
        };
        assert!((0..ATTEMPTS).any(|_| is_free()));
    }

    #[test]
    fn unreachable_page_is_reported() {
        let listener = bind_tcp(&HERE, 0).unwrap();
        let port = listener[0].local_addr().unwrap().port();
        assert!(
            running(Some(port.into()), &HERE).is_ok_and(|text| text.contains(&format!("TCP port {port} responds")))
        );
        assert!(
            page(port, &HERE).is_err_and(|text| text.contains("is in use at 127.0.0.1; choose another with --port"))
        );
        drop(listener);
        let is_gone = || {
            let port = bind_tcp(&HERE, 0).unwrap()[0].local_addr().unwrap().port();
            running(Some(port.into()), &HERE).is_err_and(|text| text.contains("does not respond"))
                && page(port, &HERE).is_ok_and(|text| {
                    text.contains("is free for its page; only this machine or a proxy on it can reach it")
                })
        };
        assert!((0..ATTEMPTS).any(|_| is_gone()));
    }
}
