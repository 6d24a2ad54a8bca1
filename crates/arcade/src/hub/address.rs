use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use axum::http::{Uri, uri::PathAndQuery};
use cmdkit::HostPort;
use qrcode::{
    QrCode,
    render::{svg, unicode::Dense1x2},
};
use serde::Serialize;
use servekit::Reach;

pub(crate) const PORT: u16 = 8080;
/// The limit of DNS, in bytes.
const MAX_NAME: usize = 253;
/// In bytes. [`MAX_ADDRESS`] also fits the path of a room.
const MAX_PUBLIC: usize = 200;
/// The longest address in a QR code, in bytes.
const MAX_ADDRESS: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    // As in the `Origin` header: lower case, no default port.
    origin: String,
    host: String,
    // Empty, or as in `/games`.
    base: String,
}

impl PublicUrl {
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Without a port, and without brackets around an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.origin.starts_with("https:")
    }

    /// Removes the base path from a request, unless a reverse proxy has done so.
    pub(crate) fn strip_base(&self, uri: &mut Uri) {
        let Some(path) = uri.path_and_query().map(PathAndQuery::as_str) else { return };
        let Some(rest) = path.strip_prefix(&self.base).filter(|_| !self.base.is_empty()) else { return };
        let inside = match rest.chars().next() {
            None => "/".to_owned(),
            Some('/') => rest.to_owned(),
            Some('?') => format!("/{rest}"),
            Some(_) => return,
        };
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = inside.parse().ok();
        if let Ok(stripped) = Uri::from_parts(parts) {
            *uri = stripped;
        }
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}/", self.origin, self.base)
    }
}

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
        Err("expected only a host name, as in the address of the page: play.example.org".to_owned())
    }
}

pub(crate) fn public_url(typed: &str) -> Result<PublicUrl, String> {
    let is_plain = |segment: &str| {
        !matches!(segment, "" | "." | "..")
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
    };
    let parse = || {
        let uri = Some(typed).filter(|typed| typed.len() <= MAX_PUBLIC && !typed.contains('#'))?.parse::<Uri>().ok()?;
        let default = match uri.scheme_str()? {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
        let host = host_name(authority.host()).ok()?;
        let port = match authority.as_str().strip_prefix(authority.host())?.strip_prefix(':') {
            Some(port) => Some(port.parse::<u16>().ok()?).filter(|port| *port != default),
            None => None,
        };
        let named = match port {
            Some(port) => HostPort { host: host.clone(), port }.to_string(),
            None if host.contains(':') => format!("[{host}]"),
            None => host.clone(),
        };
        let base = uri.path().trim_end_matches('/');
        let is_path = base.is_empty() || base.split('/').skip(1).all(is_plain);
        let origin = format!("{}://{named}", uri.scheme_str()?);
        (is_path && uri.query().is_none()).then(|| PublicUrl { origin, host, base: base.to_owned() })
    };
    parse().ok_or_else(|| "expected the address of the page, as in https://play.example.org/games/".to_owned())
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Address {
    pub(crate) here: String,
    /// `None` if other machines cannot reach the page.
    pub(crate) friends: Option<String>,
    #[serde(skip)]
    pub(crate) port: u16,
    // Whether the operator has set `friends`.
    #[serde(skip)]
    is_public: bool,
}

impl Address {
    /// `friends` is `public`, if given.
    pub(crate) fn at(listen: &[SocketAddr], tls: bool, public: Option<&PublicUrl>) -> Self {
        let reach = Reach::at(listen);
        let loopback = |address: &SocketAddr| address.ip().is_loopback();
        let scheme = if tls { "https" } else { "http" };
        let url = |host: String| format!("{scheme}://{host}/");
        let here = if listen.iter().any(|address| loopback(address) || address.ip().is_unspecified()) {
            url(format!("localhost:{}", reach.port))
        } else {
            url(reach.host_and_port())
        };
        let named = listen.iter().find(|address| !loopback(address) && !address.ip().is_unspecified());
        let outward = reach.outward.map(|ip| SocketAddr::new(ip, reach.port));
        let by_address = outward.or(named.copied()).map(|address| url(address.to_string()));
        let friends = public.map(PublicUrl::to_string).or(by_address);
        Self { here, friends, port: reach.port, is_public: public.is_some() }
    }

    /// States who can reach the page, and rooms at `ports`.
    pub(crate) fn explain(&self, page: bool, rooms: bool, ports: &str) -> String {
        let page_port = self.port;
        let friends = self.friends.as_ref().map_or_else(String::new, |friends| format!("Friends:   {friends}\n"));
        let open = match (page, rooms) {
            (false, false) if self.is_public => {
                return friends + "Only this machine, and with it a reverse proxy here, can reach the hub.\n";
            }
            (false, false) => {
                return "Only this machine can reach the hub; --bind 0.0.0.0 opens it to your network.\n".into();
            }
            (true, true) => format!("the page (TCP port {page_port}) and the rooms ({ports})"),
            (true, false) => format!("the page (TCP port {page_port}), but not the rooms"),
            (false, true) => format!("the rooms ({ports}), but not the page"),
        };
        let makers = if page { " All visitors of the page can open rooms and play." } else { "" };
        format!(
            "{friends}Open to every machine that can reach this one: {open}.{makers} The host's commands and \
             /metrics work on this machine only.\n"
        )
    }

    /// The address for friends as a QR code of block characters, for a dark terminal.
    pub(crate) fn blocks(&self) -> Option<String> {
        let code = QrCode::new(self.friends.as_ref()?).ok()?;
        let picture = code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
        Some(picture + "\n")
    }

    /// The public address; otherwise the host of the page, unless it is local.
    pub(crate) fn for_friends(&self, host: Option<&str>, secure: bool, path: &str) -> String {
        let local = |host: &str| {
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            name == "localhost" || name == "[::1]" || name.starts_with("127.")
        };
        let scheme = if secure { "https" } else { "http" };
        let host = host.filter(|host| !self.is_public && !local(host));
        let base = match (host, &self.friends) {
            (Some(host), _) => format!("{scheme}://{host}/"),
            (None, Some(friends)) => friends.clone(),
            (None, None) => self.here.clone(),
        };
        base + path.trim_start_matches('/')
    }
}

/// A QR code as SVG, or `None` if the address is too long.
pub(crate) fn picture(address: &str) -> Option<String> {
    if address.len() > MAX_ADDRESS {
        return None;
    }
    let code = QrCode::new(address).ok()?;
    // Some cameras do not read light codes on dark ground.
    let colours = (svg::Color("#000"), svg::Color("#fff"));
    Some(code.render::<svg::Color>().dark_color(colours.0).light_color(colours.1).min_dimensions(240, 240).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(addresses: &[&str]) -> Address {
        with(addresses, false, None)
    }

    fn with(addresses: &[&str], tls: bool, public: Option<&str>) -> Address {
        let listen: Vec<_> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Address::at(&listen, tls, public.map(|public| public_url(public).unwrap()).as_ref())
    }

    #[test]
    fn public_url_has_a_scheme_a_host_and_perhaps_a_port_and_a_path() {
        for (typed, origin, whole) in [
            ("https://Play.example.ORG", "https://play.example.org", "https://play.example.org/"),
            ("https://play.example.org.:443/", "https://play.example.org", "https://play.example.org/"),
            ("http://192.0.2.7:80/a/b-1//", "http://192.0.2.7", "http://192.0.2.7/a/b-1/"),
            ("http://[2001:DB8::1]:8080/games", "http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080/games/"),
            ("https://[2001:db8::1]", "https://[2001:db8::1]", "https://[2001:db8::1]/"),
        ] {
            let url = public_url(typed).unwrap();
            assert_eq!((url.origin(), &*url.to_string()), (origin, whole));
        }
        let long = format!("https://play.example.org/{}", "x".repeat(MAX_PUBLIC));
        for wrong in [
            "",
            "play.example.org",
            "/games/",
            "ftp://a",
            "https://",
            "https:///games",
            "https://a@b",
            "https://a:x",
            "https://a:65536",
            "https://a/?q",
            "https://a/#b",
            "https://a//b",
            "https://a/../b",
            "https://a/b c",
            "https://a/%2e",
            "https://a/\"b",
            &long,
        ] {
            assert!(public_url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rejects_name_with_scheme_port_or_path() {
        assert_eq!(host_name("Play.example.ORG."), Ok("play.example.org".to_owned()));
        assert_eq!(host_name("[2001:db8::1]"), Ok("2001:db8::1".to_owned()));
        let long = "x".repeat(64);
        for wrong in ["", ".", "a..b", "https://play.example.org", "play.example.org:80", "a/b", "*", "ä", &long] {
            assert!(host_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_whole_segments_are_a_prefix() {
        let inside = |path: &str| {
            let mut uri = path.parse().unwrap();
            public_url("https://play.example.org/games/").unwrap().strip_base(&mut uri);
            uri.to_string()
        };
        for (path, rest) in [
            ("/games/learn?a=/games/", "/learn?a=/games/"),
            ("/games", "/"),
            ("/games?a", "/?a"),
            ("/games/games/", "/games/"),
            ("/gamesome", "/gamesome"),
            ("/learn", "/learn"),
            ("*", "*"),
        ] {
            assert_eq!(inside(path), rest);
        }
        assert_eq!(inside("http://localhost/games/learn"), "http://localhost/learn");
    }

    #[test]
    fn local_hub_is_described_as_local() {
        let address = at(&["127.0.0.1:8080"]);
        assert_eq!((&*address.here, &address.friends), ("http://localhost:8080/", &None));
        assert!(address.explain(false, false, "any free ports").starts_with("Only this machine can reach the hub"));
        let behind_a_proxy = address.explain(false, true, "UDP and TCP ports 2100 to 2199");
        assert!(
            behind_a_proxy.contains("the rooms (UDP and TCP ports 2100 to 2199), but not the page."),
            "{behind_a_proxy}"
        );
        assert_eq!(address.blocks(), None);
        assert_eq!(address.for_friends(Some("localhost:8080"), false, "/rooms/a-1"), "http://localhost:8080/rooms/a-1");
    }

    #[test]
    fn links_have_the_public_url() {
        let address = with(&["192.0.2.7:8443", "127.0.0.1:8443"], true, Some("https://play.example.org"));
        assert_eq!(address.here, "https://localhost:8443/");
        assert_eq!(address.friends.as_deref(), Some("https://play.example.org/"));
        assert_eq!(with(&["192.0.2.7:443"], true, None).friends.as_deref(), Some("https://192.0.2.7:443/"));
        let behind_a_proxy = with(&["127.0.0.1:8080"], false, Some("https://play.example.org/games/"));
        let link = behind_a_proxy.for_friends(Some("172.18.0.3:8080"), false, "/learn");
        assert_eq!(link, "https://play.example.org/games/learn");
        let text = behind_a_proxy.explain(false, false, "");
        assert!(text.starts_with("Friends:   https://play.example.org/games/\nOnly this machine,"), "{text}");
    }

    #[test]
    fn public_hub_is_shown_under_its_public_address() {
        let address = at(&["192.0.2.7:80", "127.0.0.1:80"]);
        assert_eq!(address.here, "http://localhost:80/");
        assert_eq!(address.friends.as_deref(), Some("http://192.0.2.7:80/"));
        assert_eq!(address.for_friends(Some("127.0.0.1:80"), false, ""), "http://192.0.2.7:80/");
        assert_eq!(address.for_friends(Some("play.example"), true, "/learn"), "https://play.example/learn");
        assert_eq!(at(&["[2001:db8::1]:80"]).here, "http://[2001:db8::1]:80/");
        assert!(address.blocks().is_some_and(|blocks| blocks.lines().count() > 10));
        assert!(picture("http://192.0.2.7:80/").unwrap().contains("<svg"));
        assert_eq!(picture(&"x".repeat(MAX_ADDRESS + 1)), None);
    }
}
