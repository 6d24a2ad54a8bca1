use std::net::{IpAddr, SocketAddr, UdpSocket};

use cmdkit::HostPort;

/// The addresses of a server, formatted for people and for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The same at all addresses.
    pub port: u16,
    /// Addresses with their ports, as in `127.0.0.1:2022 [::1]:2022`.
    pub addresses: String,
    /// As in `all addresses (IPv4 and IPv6)` or `127.0.0.1 and ::1`.
    pub open: String,
    /// The host name or address for a client on this machine.
    pub host: String,
    /// The address for other machines, if the server listens on all addresses and the machine is in a network.
    pub outward: Option<IpAddr>,
    /// A line, with its newline, about how other machines reach the server; empty if they cannot.
    pub elsewhere: String,
}

impl Reach {
    pub fn at(addresses: &[SocketAddr]) -> Self {
        // As `netshell::bind_tcp` opens them.
        let is_dual_stack = !addresses.iter().any(SocketAddr::is_ipv4);
        let open: Vec<String> = addresses.iter().map(|address| open_at(address.ip(), is_dual_stack)).collect();
        let host = match addresses.first().map(SocketAddr::ip) {
            Some(ip) if !ip.is_unspecified() => ip.to_string(),
            _ => "localhost".to_owned(),
        };
        let is_ipv4_open = |ip: IpAddr| ip.is_unspecified() && (ip.is_ipv4() || is_dual_stack);
        let everywhere = addresses.iter().any(|address| is_ipv4_open(address.ip()));
        let outward = everywhere.then(outward_address).flatten();
        let elsewhere = outward.map_or_else(String::new, |ip| {
            format!("From another machine of your network, use {ip} instead of {host}.\n")
        });
        let port = addresses.first().map_or(0, SocketAddr::port);
        let addresses: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
        Self { port, addresses: addresses.join(" "), open: open.join(" and "), host, outward, elsewhere }
    }

    /// Host and port, with brackets around an IPv6 address.
    pub fn host_and_port(&self) -> String {
        HostPort { host: self.host.clone(), port: self.port }.to_string()
    }
}

// Connecting a datagram socket only consults the routing table; 192.0.2.1 is reserved for documentation.
fn outward_address() -> Option<IpAddr> {
    let probe = UdpSocket::bind("0.0.0.0:0").ok()?;
    probe.connect("192.0.2.1:9").ok()?;
    let ip = probe.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

fn open_at(ip: IpAddr, is_dual_stack: bool) -> String {
    match ip {
        IpAddr::V6(ip) if ip.is_unspecified() && is_dual_stack => "all addresses (IPv4 and IPv6)".to_owned(),
        IpAddr::V6(ip) if ip.is_unspecified() => "all IPv6 addresses".to_owned(),
        IpAddr::V4(ip) if ip.is_unspecified() => "all IPv4 addresses".to_owned(),
        ip => ip.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_given_addresses_is_reached_at_the_first() {
        let addresses = ["[::1]:7".parse().unwrap(), "127.0.0.1:7".parse().unwrap()];
        let hosted = Reach::at(&addresses);
        assert_eq!((&*hosted.open, &*hosted.host, &*hosted.elsewhere), ("::1 and 127.0.0.1", "::1", ""));
        assert_eq!(hosted.host_and_port(), "[::1]:7");
        assert_eq!(Reach::at(&addresses[1..]).host_and_port(), "127.0.0.1:7");
    }

    #[test]
    fn a_server_on_all_addresses_is_reached_by_name() {
        let hosted = Reach::at(&["[::]:7".parse().unwrap()]);
        assert_eq!((&*hosted.open, &*hosted.host), ("all addresses (IPv4 and IPv6)", "localhost"));
        assert_eq!(hosted.host_and_port(), "localhost:7");
        let split = Reach::at(&["[::]:7".parse().unwrap(), "127.0.0.1:7".parse().unwrap()]);
        assert_eq!((&*split.open, split.outward), ("all IPv6 addresses and 127.0.0.1", None));
    }
}
