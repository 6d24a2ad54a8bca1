use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::HeaderMap;
use netcore::{HostId, Network, Rate, RateTable, Time, TokenBucket};
use tracing::warn;

use super::{address::PublicUrl, shares::RefusalKind};
use crate::proxied::Proxies;

/// The cost limit of one host per second: see [`REQUEST`] and [`FILE`].
pub(crate) const REQUESTS: Rate = Rate { per_second: 1_000, burst: 20_000 };
/// The cost of an API request, a page or a socket: a burst of 1,000, then 50 a second.
pub(crate) const REQUEST: u32 = 20;
/// The cost of a static file, which is in memory. A page has some 60 files, and a class may share an address.
pub(crate) const FILE: u32 = 1;
/// The cost of frames for an event stream of another node.
pub(crate) const FRAMES: u32 = 4;
/// Warnings of each kind: a burst of ten, then one a minute.
const COMPLAINTS: Rate = Rate { per_second: 1, burst: 10 * COMPLAINT };
const COMPLAINT: u32 = 60;
/// Hosts and networks with their own limits. Further hosts share one.
pub(crate) const MAX_HOSTS: usize = 20_000;
/// Entries of `X-Forwarded-For` that are read, from the end.
const MAX_FORWARDED: usize = 16;

#[derive(Debug)]
pub(crate) struct Callers {
    pub(crate) proxies: Proxies,
    pub(crate) names: HostNames,
    start: Instant,
    // The bucket limits all hosts outside the table.
    requests: Mutex<(RateTable<Network>, TokenBucket)>,
    // The last warning of each kind is not repeated.
    complaints: Mutex<BTreeMap<&'static str, (TokenBucket, String)>>,
}

impl Callers {
    pub(crate) fn new(proxies: Proxies, names: HostNames) -> Self {
        let requests = Mutex::new((RateTable::new(REQUESTS, MAX_HOSTS), TokenBucket::new(REQUESTS, Time::ZERO)));
        Self { proxies, names, start: Instant::now(), requests, complaints: Mutex::default() }
    }

    /// Logs a warning for the operator, since a refused client can rarely solve the problem. Repetitions are logged
    /// once.
    pub(crate) fn complain(&self, kind: RefusalKind, text: &str) {
        let now = self.now();
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let (bucket, last) =
            complaints.entry(kind.name()).or_insert_with(|| (TokenBucket::new(COMPLAINTS, now), String::new()));
        if last.as_str() != text && bucket.take(now, COMPLAINT) {
            text.clone_into(last);
            warn!("{text}");
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    /// Returns the time to wait if the host exceeds its rate.
    pub(crate) fn request(&self, host: HostId, cost: u32) -> Option<Duration> {
        let now = self.now();
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let (hosts, others) = &mut *requests;
        let wait = |ready: Option<Time>| Some(ready.map_or(Duration::ZERO, |at| at.since(now)));
        let ready = hosts.ready_at(now, host, cost);
        if ready != Some(now) {
            wait(ready)
        } else if hosts.charge(now, host, cost) || others.take(now, cost) {
            None
        } else {
            wait(others.ready_at(now, cost))
        }
    }

    pub(crate) fn is_proxy(&self, peer: SocketAddr) -> bool {
        self.proxies.contains(peer.ip())
    }

    /// The last address that is not a trusted proxy. Each proxy appends the address of its client, and clients may
    /// forge earlier entries.
    pub(crate) fn client(&self, peer: SocketAddr, forwarded: &Forwarding) -> SocketAddr {
        let mut client = peer;
        let mut entries = forwarded.clients().take(MAX_FORWARDED);
        while self.is_proxy(client) {
            let Some(entry) = entries.next() else { break };
            let bare = entry.trim_start_matches('[').trim_end_matches(']');
            let address = bare.parse().map(|ip: IpAddr| SocketAddr::new(ip, peer.port())).or_else(|_| entry.parse());
            let Ok(address) = address else { break };
            client = address;
        }
        client
    }
}

/// The headers of reverse proxies. `X-Forwarded-*` take precedence over `Forwarded`, because a proxy that sets them may
/// pass on a forged `Forwarded`.
#[derive(Debug, Default)]
pub(crate) struct Forwarding {
    x_for: String,
    x_proto: String,
    // RFC 7239.
    standard: String,
}

impl Forwarding {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        // Neither a second header line nor bytes that are not ASCII may hide the last entry.
        let join = |name: &str| {
            let lines = headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
            lines.collect::<Vec<_>>().join(",")
        };
        Self { x_for: join("x-forwarded-for"), x_proto: join("x-forwarded-proto"), standard: join("forwarded") }
    }

    // Last first.
    fn clients(&self) -> impl Iterator<Item = &str> {
        let is_older = !self.x_for.is_empty();
        let list = if is_older { &self.x_for } else { &self.standard };
        list.rsplit(',').map(move |entry| if is_older { entry.trim() } else { parameter(entry, "for") })
    }

    /// The scheme between the client and the first proxy.
    pub(crate) fn is_https(&self) -> bool {
        let first = |list: &str| list.split(',').next().unwrap_or_default().trim().to_ascii_lowercase();
        let proto = if self.x_proto.is_empty() {
            parameter(&first(&self.standard), "proto").to_owned()
        } else {
            first(&self.x_proto)
        };
        proto == "https"
    }
}

// A parameter of an element of `Forwarded`, or an empty text. Elements end at each comma, even within quotes, so that a
// forged quotation mark cannot hide the entries of proxies.
fn parameter<'a>(element: &'a str, name: &str) -> &'a str {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    found.map_or("", |(_, value)| value.trim().trim_matches('"'))
}

#[derive(Debug, Default)]
pub(crate) struct HostNames {
    pub(crate) public: Vec<PublicUrl>,
    // In lower case, without ports.
    given: Vec<String>,
    own: Vec<IpAddr>,
}

impl HostNames {
    /// `advertised` is the host name for other hubs.
    pub(crate) fn new(public: Vec<PublicUrl>, advertised: Option<String>, own: Vec<IpAddr>) -> Self {
        let given = public.iter().map(|url| url.host().to_owned()).chain(advertised).collect();
        Self { public, given, own: own.into_iter().map(|ip| ip.to_canonical()).collect() }
    }

    /// The prefix of all paths, as in `/games`, or an empty text.
    pub(crate) fn base(&self) -> &str {
        self.public.first().map_or("", PublicUrl::base)
    }

    /// `arrived` is the local address that received the request.
    pub(crate) fn contains(&self, host: &str, arrived: Option<IpAddr>) -> bool {
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

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // Not a colon within an IPv6 address.
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => {
            if name.contains(':') && !name.ends_with(']') { host } else { name }
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;
    use crate::{hub::address::public_url, proxied::network};

    fn callers(proxies: &[&str]) -> Callers {
        let proxies: Vec<_> = proxies.iter().map(|proxy| network(proxy).unwrap()).collect();
        Callers::new(Proxies::new(&proxies, false), HostNames::default())
    }

    #[test]
    fn host_with_too_many_requests_waits() {
        let callers = callers(&[]);
        let ann = HostId::of("10.0.0.1:1");
        let requests = (0..2 * REQUESTS.burst).map(|_| callers.request(ann, REQUEST));
        let refused = requests.enumerate().find_map(|(number, wait)| wait.map(|wait| (number, wait)));
        assert!(refused.is_some_and(|(number, wait)| number >= 1_000 && wait <= Duration::from_secs(1)), "{refused:?}");
        assert_eq!(callers.request(HostId::of("10.0.0.2:1"), REQUEST), None);
    }

    #[test]
    fn large_network_makes_as_many_requests_as_a_few_hosts() {
        let callers = callers(&[]);
        let flood = (0..u64::from(REQUESTS.burst)).map(|number| callers.request(HostId::V6Network(number), REQUEST));
        let accepted = flood.filter(Option::is_none).count();
        assert!((16_000..18_000).contains(&accepted), "{accepted}");
        assert_eq!(callers.request(HostId::V6Network(1 << 16), REQUEST), None, "another customer");
    }

    #[test]
    fn class_behind_one_address_loads_the_page_in_one_batch() {
        let callers = callers(&[]);
        let school = HostId::of("10.0.0.1:1");
        for pupil in 0..60 {
            let costs = [REQUEST; 4].into_iter().chain([FILE; 80]);
            for cost in costs {
                assert_eq!(callers.request(school, cost), None, "pupil {pupil}");
            }
        }
        let wait = (0..2 * REQUESTS.burst).find_map(|_| callers.request(school, FILE));
        assert!(wait.is_some(), "files have a limit, too");
    }

    #[test]
    fn only_trusted_proxies_forward_addresses() {
        let peer: SocketAddr = "[::ffff:10.0.0.9]:5".parse().unwrap();
        let ip = |callers: &Callers, name: &'static str, value: &str| {
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), value.parse().unwrap())]);
            callers.client(peer, &Forwarding::of(&headers)).ip().to_string()
        };
        let proxy = "::ffff:10.0.0.9";
        let trusting = callers(&["10.0.0.9", "10.0.0.8"]);
        let older = "x-forwarded-for";
        for (name, value, client) in [
            (older, "1.2.3.4", "1.2.3.4"),
            (older, "6.6.6.6, 1.2.3.4, 10.0.0.8", "1.2.3.4"),
            (older, "6.6.6.6,[2001:db8::1]", "2001:db8::1"),
            (older, "1.2.3.4:99", "1.2.3.4"),
            (older, "6.6.6.6, junk", proxy),
            ("forwarded", "for=1.2.3.4", "1.2.3.4"),
            ("forwarded", "For=\"[2001:db8::1]:4711\"; proto=https", "2001:db8::1"),
            ("forwarded", "for=6.6.6.6, proto=http;for=1.2.3.4:99;by=10.0.0.8, for=10.0.0.8", "1.2.3.4"),
            ("forwarded", "for=\"6.6.6.6, for=1.2.3.4", "1.2.3.4"),
            ("forwarded", "for=6.6.6.6, for=_hidden", proxy),
            ("forwarded", "for=6.6.6.6, proto=https", proxy),
            ("x-real-ip", "1.2.3.4", proxy),
        ] {
            assert_eq!(ip(&trusting, name, value), client, "{name}: {value}");
            assert_eq!(ip(&callers(&[]), name, value), proxy, "{name}: {value}");
        }
        let both = [("forwarded", "for=6.6.6.6"), (older, "1.2.3.4")];
        let headers =
            HeaderMap::from_iter(both.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())));
        let client = trusting.client(peer, &Forwarding::of(&headers));
        assert_eq!(client.ip().to_string(), "1.2.3.4", "a proxy may pass a forged header that it does not know");
    }

    #[test]
    fn first_proxy_states_the_scheme() {
        let is_https = |name: &'static str, value: &str| {
            Forwarding::of(&HeaderMap::from_iter([(HeaderName::from_static(name), value.parse().unwrap())])).is_https()
        };
        for value in ["https", "HTTPS", "https, http", " https ,http"] {
            assert!(is_https("x-forwarded-proto", value), "{value}");
        }
        for value in ["", "http", "http, https", "https http"] {
            assert!(!is_https("x-forwarded-proto", value), "{value}");
        }
        assert!(is_https("forwarded", "for=1.2.3.4;proto=HTTPS;host=a, for=10.0.0.8;proto=http"));
        assert!(!is_https("forwarded", "for=1.2.3.4, proto=https") && !is_https("forwarded", "for=\"proto=https\""));
    }

    #[test]
    fn hub_accepts_its_addresses_and_given_names_only() {
        let public = ["https://Play.Example.org", "http://203.0.113.5:8080/"].map(|url| public_url(url).unwrap());
        let names = HostNames::new(public.into(), Some("node-1".into()), vec!["192.0.2.7".parse().unwrap()]);
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
            "node-1:8080",
            "192.0.2.7:8080",
            "[::ffff:192.0.2.7]:1",
            "[2001:db8::7]:8080",
        ] {
            assert!(names.contains(known, arrived), "{known}");
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
            assert!(!names.contains(strange, arrived), "{strange}");
        }
        assert!(!HostNames::default().contains("[2001:db8::7]", None));
    }
}
