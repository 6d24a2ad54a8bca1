//! By what names the hub may be called.
//!
//! A page of another site can have its own name lead to this machine (DNS rebinding): to a browser, the hub is then part of that site.
//! What such a request cannot change is the name itself, in `Host`. So requests are answered under known names only: those that the
//! operator gives, `localhost`, and addresses of this machine. A name that is an address has no DNS that could lead it elsewhere.

use std::net::IpAddr;

/// The longest name, in bytes; that of the domain name system.
const MAX_NAME: usize = 253;

/// The names of the hub.
#[derive(Debug, Default)]
pub(crate) struct HostNames {
    // In lower case, without ports.
    given: Vec<String>,
    own: Vec<IpAddr>,
}

impl HostNames {
    /// The names that the operator gives, and the addresses of this machine that are known.
    pub(crate) fn new(given: Vec<String>, own: Vec<IpAddr>) -> Self {
        Self { given, own: own.into_iter().map(|ip| ip.to_canonical()).collect() }
    }

    /// Whether the hub may be called so in a `Host` header. `arrived` is the address of this machine at which the request came.
    pub(crate) fn knows(&self, host: &str, arrived: Option<IpAddr>) -> bool {
        let name = without_port(host);
        if let Ok(ip) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            let ip = ip.to_canonical();
            let is_given = self.given.iter().any(|name| name.parse() == Ok(ip));
            return ip.is_loopback()
                || is_given
                || self.own.contains(&ip)
                || arrived.is_some_and(|arrived| arrived.to_canonical() == ip);
        }
        let name = name.strip_suffix('.').unwrap_or(name);
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        is("localhost") || self.given.iter().any(|known| is(known))
    }
}

// The name in a `Host` header.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // Not within an address of IPv6.
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => {
            if name.contains(':') && !name.ends_with(']') { host } else { name }
        }
        _ => host,
    }
}

/// Parses a name of the hub, as in `play.example.org` or `203.0.113.5`.
pub(crate) fn host_name(typed: &str) -> Result<String, String> {
    if let Ok(ip) = typed.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(ip.to_canonical().to_string());
    }
    let name = typed.strip_suffix('.').unwrap_or(typed);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    if name.len() <= MAX_NAME && name.split('.').all(is_label) {
        Ok(name.to_ascii_lowercase())
    } else {
        Err("give the name alone, as it stands in the address of the page: play.example.org".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_knows_its_addresses_and_the_names_that_it_was_given() {
        let names = ["Play.Example.org", "203.0.113.5"].map(|name| host_name(name).unwrap());
        let names = HostNames::new(names.into(), vec!["192.0.2.7".parse().unwrap()]);
        let arrived = Some("2001:db8::7".parse().unwrap());
        for known in [
            "localhost",
            "localhost:8080",
            "LOCALHOST:1",
            "localhost.",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]:8080",
            "[::1]",
            "play.example.org",
            "PLAY.example.org:443",
            "play.example.org.:80",
            "203.0.113.5",
            "192.0.2.7:8080",
            "[::ffff:192.0.2.7]:1",
            "[2001:db8::7]:8080",
        ] {
            assert!(names.knows(known, arrived), "{known}");
        }
        for strange in [
            "",
            "evil.example",
            "evil.example:8080",
            "play.example.org.evil.example",
            "xplay.example.org",
            "localhost.evil.example",
            "192.0.2.8",
            "[2001:db8::8]:80",
            "127.0.0.1.evil.example",
            "localhost:80:80",
            "here",
        ] {
            assert!(!names.knows(strange, arrived), "{strange}");
        }
        assert!(!HostNames::default().knows("[2001:db8::7]", None));
    }

    #[test]
    fn a_name_is_given_without_scheme_port_or_path() {
        assert_eq!(host_name("Play.example.ORG."), Ok("play.example.org".to_owned()));
        assert_eq!(host_name("[2001:db8::1]"), Ok("2001:db8::1".to_owned()));
        let long = "x".repeat(64);
        for wrong in ["", ".", "a..b", "https://play.example.org", "play.example.org:80", "a/b", "*", "ä", &long] {
            assert!(host_name(wrong).is_err(), "{wrong}");
        }
    }
}
