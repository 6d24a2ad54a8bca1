use std::{
    fmt,
    net::{Ipv6Addr, SocketAddr, ToSocketAddrs},
    str::FromStr,
};

use anyhow::Context;

use crate::values::are_digits;

const RIGHT: &str = "expected host:port, as in localhost:2022, 127.0.0.1:2022 or [::1]:2022";

/// A host and a port: `name:port`, `1.2.3.4:port`, `[::1]:port` or `::1:port`. The last colon separates them.
///
/// ```
/// let there: cmdkit::HostPort = "::1:2022".parse()?;
/// assert_eq!((&*there.host, there.port), ("::1", 2022));
/// assert_eq!(there.to_string(), "[::1]:2022");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// Without brackets.
    pub host: String,
    /// Never 0.
    pub port: u16,
}

impl HostPort {
    /// Without duplicates, in the order to try them.
    pub fn resolve(&self) -> anyhow::Result<Vec<SocketAddr>> {
        resolve(&self.host, self.port)
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        host_port(typed)
    }
}

pub fn host_port(typed: &str) -> Result<HostPort, String> {
    let (host, port) = typed.rsplit_once(':').ok_or_else(|| format!("the port is missing; {RIGHT}"))?;
    let bare = without_brackets(host);
    if bare.contains(['[', ']', ':']) && !is_ipv6(bare) {
        // Probably an IPv6 address whose last group was taken for the port.
        return Err(format!("invalid host '{host}' before the last colon; {RIGHT}"));
    }
    if bare.trim().is_empty() {
        return Err(format!("the host is missing; {RIGHT}"));
    }
    match port.parse() {
        Ok(number) if are_digits(port) && number > 0 => Ok(HostPort { host: bare.to_owned(), port: number }),
        _ if port.is_empty() => Err(format!("the port is missing; {RIGHT}")),
        // Probably swapped.
        _ if are_digits(host) => {
            Err(format!("invalid port '{port}': expected a number from 1 to 65535 after the host; {RIGHT}"))
        }
        _ => Err(format!("invalid port '{port}': expected a number from 1 to 65535; {RIGHT}")),
    }
}

/// Parses a [`HostPort`] whose port may be omitted; `port` is the default.
///
/// ```
/// assert_eq!(cmdkit::host_port_or(2022)("localhost")?.to_string(), "localhost:2022");
/// # Ok::<(), String>(())
/// ```
pub fn host_port_or(port: u16) -> impl Fn(&str) -> Result<HostPort, String> + Clone {
    move |typed| {
        if are_digits(typed) {
            return Err(format!("the host before the port '{typed}' is missing; {RIGHT}"));
        }
        let inside = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match inside.filter(|inside| is_ipv6(inside)) {
            Some(inside) => inside,
            None if typed.contains(':') => match host_port(typed) {
                // The last group is not a port.
                Err(_) if is_ipv6(typed) => typed,
                done => return done,
            },
            None if typed.trim().is_empty() => return Err(format!("the host is missing; {RIGHT}")),
            None => typed,
        };
        Ok(HostPort { host: host.to_owned(), port })
    }
}

/// Parses a host, by name or IP address, optionally in brackets, if the port is the next argument. `port` is for the
/// example in an error.
///
/// ```
/// assert_eq!(cmdkit::host(2000)("[::1]")?, "::1");
/// assert!(cmdkit::host(2000)("localhost:2000").is_err());
/// # Ok::<(), String>(())
/// ```
pub fn host(port: u16) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |typed| {
        let host = without_brackets(typed);
        if host.trim().is_empty() {
            Err("expected a name or an address, as in localhost, 127.0.0.1 or ::1".into())
        } else if host.contains(':') && !is_ipv6(host) {
            Err(format!("expected a host without a port; the port is the next argument, as in localhost {port}"))
        } else {
            Ok(host.to_owned())
        }
    }
}

fn without_brackets(typed: &str) -> &str {
    let inside = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inside.filter(|inside| is_ipv6(inside)).unwrap_or(typed)
}

/// Without duplicates, in the order to try them.
pub fn resolve(host: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    let found = (host, port).to_socket_addrs().with_context(|| format!("cannot find the host '{host}'"))?;
    let mut addresses: Vec<SocketAddr> = vec![];
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    anyhow::ensure!(!addresses.is_empty(), "the host '{host}' has no address");
    Ok(addresses)
}

/// Accepts the zone that a link-local address needs.
pub(crate) fn is_ipv6(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_colon_separates_the_port_and_brackets_are_optional() {
        for (typed, host, port) in [
            ("localhost:2022", "localhost", 2022),
            ("127.0.0.1:1", "127.0.0.1", 1),
            ("[::1]:65535", "::1", 65535),
            ("::1:2022", "::1", 2022),
            ("::1:2", "::1", 2),
            ("[fe80::1%eth0]:007", "fe80::1%eth0", 7),
            ("::ffff:1.2.3.4:5", "::ffff:1.2.3.4", 5),
        ] {
            assert_eq!(host_port(typed), Ok(HostPort { host: host.to_owned(), port }), "{typed}");
        }
    }

    #[test]
    fn shown_values_parse_again() {
        for typed in ["localhost:2022", "[::1]:9", "1.2.3.4:5"] {
            assert_eq!(host_port(typed).unwrap().to_string(), typed);
        }
    }

    #[test]
    fn invalid_input_is_reported() {
        for (typed, wrong) in [
            ("", "the port is missing"),
            ("localhost", "the port is missing"),
            ("localhost:", "the port is missing"),
            (":2022", "the host is missing"),
            (" :2022", "the host is missing"),
            ("[]:2022", "'[]' before the last colon"),
            ("::1", "':' before the last colon"),
            ("[::1]", "'[:' before the last colon"),
            ("[::1:2022", "'[::1' before the last colon"),
            ("[localhost]:2022", "'[localhost]' before the last colon"),
            ("a:b:2022", "'a:b' before the last colon"),
            ("localhost:0", "invalid port '0'"),
            ("localhost:65536", "invalid port '65536'"),
            ("localhost:-1", "invalid port '-1'"),
            ("localhost:+1", "invalid port '+1'"),
            ("localhost:2022x", "invalid port '2022x'"),
            ("localhost:1.5", "invalid port '1.5'"),
            ("localhost: 80", "invalid port ' 80'"),
        ] {
            let said = host_port(typed).unwrap_err();
            assert!(said.contains(wrong) && said.ends_with("or [::1]:2022"), "{typed:?}: {said}");
        }
    }

    #[test]
    fn omitted_port_is_replaced_by_the_default() {
        let read = |typed: &str| host_port_or(2022)(typed).map(|there| there.to_string());
        for (typed, there) in [
            ("localhost", "localhost:2022"),
            ("localhost:7", "localhost:7"),
            ("192.0.2.7", "192.0.2.7:2022"),
            ("[::1]", "[::1]:2022"),
            ("[::1]:7", "[::1]:7"),
            ("::1", "[::1]:2022"),
            ("::1:7", "[::1]:7"),
            ("fe80::a:b", "[fe80::a:b]:2022"),
        ] {
            assert_eq!(read(typed).as_deref(), Ok(there), "{typed}");
        }
        for (typed, wrong) in [
            ("", "the host is missing"),
            ("2022", "the host before the port '2022' is missing"),
            ("localhost:", "the port is missing"),
            (":2022", "the host is missing"),
            ("2022:localhost", "invalid port 'localhost': expected a number from 1 to 65535 after the host"),
        ] {
            assert!(read(typed).unwrap_err().starts_with(wrong), "{typed}");
        }
    }

    #[test]
    fn addresses_are_unique_and_unknown_hosts_are_named() {
        let addresses = host_port("127.0.0.1:80").unwrap().resolve().unwrap();
        assert_eq!(addresses, ["127.0.0.1:80".parse().unwrap()]);
        let error = host_port("no..host:80").unwrap().resolve().unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot find the host 'no..host'"), "{error:#}");
    }
}
