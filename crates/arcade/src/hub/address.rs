use std::net::SocketAddr;

use cmdkit::HostPort;
use qrcode::{
    QrCode,
    render::{svg, unicode::Dense1x2},
};
use serde::Serialize;
use servekit::Reach;

pub(crate) const PORT: u16 = 8080;
/// The longest address that is drawn, in bytes.
const MAX_ADDRESS: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Address {
    pub(crate) here: String,
    /// `None` if other machines cannot reach the page.
    pub(crate) friends: Option<String>,
    #[serde(skip)]
    pub(crate) port: u16,
}

impl Address {
    /// With TLS, friends use `name`, which the certificate contains.
    pub(crate) fn at(listen: &[SocketAddr], tls: bool, name: Option<&str>) -> Self {
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
        let by_address = outward.or(named.copied()).map(|address| address.to_string());
        let friends = by_address.map(|address| match name.filter(|_| tls) {
            Some(name) => HostPort { host: name.to_owned(), port: reach.port }.to_string(),
            None => address,
        });
        let friends = friends.map(url);
        Self { here, friends, port: reach.port }
    }

    /// States who can reach the page, and rooms at these `ports`.
    pub(crate) fn explain(&self, page: bool, rooms: bool, ports: &str) -> String {
        let page_port = self.port;
        let open = match (page, rooms) {
            (false, false) => {
                return "Only this machine can reach the hub; --bind 0.0.0.0 opens it to your network.\n".into();
            }
            (true, true) => format!("the page (TCP port {page_port}) and the rooms ({ports})"),
            (true, false) => format!("the page (TCP port {page_port}), but not the rooms"),
            (false, true) => format!("the rooms ({ports}), but not the page"),
        };
        let friends = self.friends.as_ref().map_or_else(String::new, |friends| format!("Friends:   {friends}\n"));
        let makers = if page { " All visitors of the page can open rooms and play." } else { "" };
        format!(
            "{friends}Open to every machine that can reach this one: {open}.{makers} The host's commands and \
             /metrics work on this machine only.\n"
        )
    }

    /// The address for friends as a square picture of block characters, for a dark terminal.
    pub(crate) fn blocks(&self) -> Option<String> {
        let code = QrCode::new(self.friends.as_ref()?).ok()?;
        let picture = code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
        Some(picture + "\n")
    }

    /// The host of the page, unless it means this machine only.
    pub(crate) fn for_friends(&self, host: Option<&str>, secure: bool, path: &str) -> String {
        let local = |host: &str| {
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            name == "localhost" || name == "[::1]" || name.starts_with("127.")
        };
        let scheme = if secure { "https" } else { "http" };
        let base = match (host.filter(|host| !local(host)), &self.friends) {
            (Some(host), _) => format!("{scheme}://{host}/"),
            (None, Some(friends)) => friends.clone(),
            (None, None) => self.here.clone(),
        };
        base + path.trim_start_matches('/')
    }
}

/// An SVG, or `None` if the address is too long.
pub(crate) fn picture(address: &str) -> Option<String> {
    if address.len() > MAX_ADDRESS {
        return None;
    }
    let code = QrCode::new(address).ok()?;
    // Some cameras do not read light on dark.
    let colours = (svg::Color("#000"), svg::Color("#fff"));
    Some(code.render::<svg::Color>().dark_color(colours.0).light_color(colours.1).min_dimensions(240, 240).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(addresses: &[&str]) -> Address {
        with(addresses, false, None)
    }

    fn with(addresses: &[&str], tls: bool, name: Option<&str>) -> Address {
        Address::at(&addresses.iter().map(|address| address.parse().unwrap()).collect::<Vec<_>>(), tls, name)
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
    fn with_tls_friends_use_the_name_of_the_certificate() {
        let address = with(&["192.0.2.7:8443", "127.0.0.1:8443"], true, Some("play.example.org"));
        assert_eq!(address.here, "https://localhost:8443/");
        assert_eq!(address.friends.as_deref(), Some("https://play.example.org:8443/"));
        let address = with(&["192.0.2.7:443"], true, None);
        assert_eq!(address.friends.as_deref(), Some("https://192.0.2.7:443/"));
        assert_eq!(with(&["127.0.0.1:443"], true, Some("play.example.org")).friends, None);
        assert_eq!(
            with(&["192.0.2.7:80"], false, Some("play.example.org")).friends.as_deref(),
            Some("http://192.0.2.7:80/")
        );
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
