//! Pseudonyms, which replace the addresses of clients in rooms, for players and in results.
//!
//! A pseudonym is a unique local IPv6 address with a port. Its first 64 bits represent the host and the rest the
//! connection, so that engines, budgets and shares recognize a host. The key of the room derives it, so it outlives a
//! restart of the hub and differs between rooms.
//!
//! Results store a code instead of a host: a keyed hash of the day and the address, or its 48-bit network for IPv6. It
//! shows whether two names had the same host on that day, in all rooms, but no address.

use std::{
    fmt::{self, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use hmac::{Hmac, Mac};
use netcore::{HostId, Link};
use rand::{TryRng as _, rngs::SysRng};
use sha2::Sha256;

/// The first byte of unique local addresses that no registry assigns.
pub(super) const LOCAL: u8 = 0xfd;
/// In bytes.
const CODE: usize = 12;

/// Derived from the secret of the hub.
pub(crate) struct Keys {
    pub(crate) mask: Mask,
    /// The same in all rooms.
    pub(crate) hosts: HostCodes,
    /// For the daily puzzles and challenges, which are the same in all rooms.
    pub(crate) days: [u8; 32],
}

impl Keys {
    /// The seed of the daily challenge of a game.
    pub(crate) fn challenge(&self, game: &str, day: u32) -> [u8; 32] {
        code(&self.days, &format!("challenge\n{game}\n{day}"))
    }
}

/// The seed of a bot in a daily challenge with this seed.
pub(super) fn bot_seed(challenge: &[u8; 32], name: &str) -> u64 {
    let code = code(challenge, &format!("bot\n{name}"));
    code.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[derive(Clone)]
pub(crate) struct Mask([u8; 32]);

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask")
    }
}

impl Mask {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Random, for a new seat of a browser.
    pub(crate) fn seat(&self, host: HostId) -> Result<SocketAddr, rand::rngs::SysError> {
        let mut random = [0; 10];
        SysRng.try_fill_bytes(&mut random)?;
        Ok(address(self.network(host), random))
    }

    /// The address of a client in the room.
    ///
    /// Over datagrams that is the true address, which no message contains. A browser's seat already has a pseudonym.
    pub(crate) fn room_address(&self, link: Link, of: SocketAddr) -> SocketAddr {
        if link != Link::Stream {
            return of;
        }
        let of = SocketAddr::new(of.ip().to_canonical(), of.port());
        let code = code(&self.0, &format!("address\n{of}"));
        let mut rest = [0; 10];
        rest.copy_from_slice(&code[..10]);
        address(self.network(of.into()), rest)
    }

    /// The host of all pseudonyms of `host`.
    pub(crate) fn host(&self, host: HostId) -> HostId {
        HostId::V6Network(u64::from_be_bytes(self.network(host)))
    }

    fn network(&self, host: HostId) -> [u8; 8] {
        // Spelled out, because pseudonyms must not change between versions.
        let host = match host {
            HostId::V4(ip) => Ipv4Addr::from(ip).to_string(),
            HostId::V6Network(number) => format!("{number:016x}/64"),
            HostId::Other => "other".to_owned(),
        };
        let code = code(&self.0, &format!("host\n{host}"));
        let mut network = [LOCAL; 8];
        network[1..].copy_from_slice(&code[..7]);
        network
    }
}

#[derive(Clone)]
pub(crate) struct HostCodes([u8; 32]);

impl fmt::Debug for HostCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostCodes")
    }
}

impl HostCodes {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Empty if the host is unknown.
    pub(super) fn code(&self, host: HostId, day: u64) -> String {
        let host = match host {
            HostId::V4(octets) => format!("{octets:?}"),
            HostId::V6Network(network) => format!("{:x}/48", network >> 16),
            HostId::Other => return String::new(),
        };
        code(&self.0, &format!("{day}\n{host}")).iter().take(CODE).fold(String::new(), |mut code, byte| {
            let _ = write!(code, "{byte:02x}");
            code
        })
    }
}

fn code(key: &[u8; 32], text: &str) -> [u8; 32] {
    // HMAC accepts keys of any length.
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).unwrap_or_else(|_| unreachable!());
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

fn address(network: [u8; 8], rest: [u8; 10]) -> SocketAddr {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&network);
    octets[8..].copy_from_slice(&rest[..8]);
    let port = u16::from_be_bytes([rest[8], rest[9]]).max(1);
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(octets)), port)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn host_stays_one_host_and_its_seats_differ() {
        let mask = Mask::new([7; 32]);
        let host = HostId::of("10.0.0.1:1");
        let seats: BTreeSet<SocketAddr> = (0..70_000).map(|_| mask.seat(host).unwrap()).collect();
        assert_eq!(seats.len(), 70_000, "more than there are ports");
        let masked = mask.host(host);
        assert!(seats.iter().all(|&seat| HostId::from(seat) == masked));
        assert_ne!(masked, mask.host(HostId::of("10.0.0.2:1")));
        assert_ne!(masked, Mask::new([8; 32]).host(host));
    }

    #[test]
    fn pseudonyms_are_stable_and_have_the_form_of_addresses() {
        let mask = Mask::new([7; 32]);
        let shown = |text: &str| mask.room_address(Link::Stream, text.parse().unwrap());
        let one = shown("10.0.0.1:4000");
        assert_eq!(one, shown("[::ffff:10.0.0.1]:4000"));
        assert_eq!(one.to_string().parse(), Ok(one));
        assert_eq!(HostId::from(one), mask.host(HostId::of("10.0.0.1:9")));
        assert!(one != shown("10.0.0.1:4001") && HostId::from(one) == shown("10.0.0.1:4001").into());
        assert_ne!(HostId::from(one), shown("10.0.0.2:4000").into());
        let seat = "10.0.0.1:4000".parse().unwrap();
        assert_eq!([Link::Datagram, Link::Message].map(|link| mask.room_address(link, seat)), [seat; 2]);
    }

    #[test]
    fn host_code_depends_on_day_key_and_host_or_network() {
        let codes = HostCodes::new([7; 32]);
        let code = |text: &str| codes.code(HostId::of(text), 5);
        assert_eq!(code("192.0.2.7:1").len(), 2 * CODE);
        assert_ne!(code("192.0.2.7:1"), codes.code(HostId::of("192.0.2.7:1"), 6));
        assert_ne!(code("192.0.2.7:1"), code("192.0.2.8:1"));
        assert_ne!(code("192.0.2.7:1"), HostCodes::new([8; 32]).code(HostId::of("192.0.2.7:1"), 5));
        assert_eq!(
            code("[2001:db8:1:2::1]:1"),
            code("[2001:db8:1:ffff::9]:1"),
            "one customer has a network of 48 bits"
        );
        assert_ne!(code("[2001:db8:1::1]:1"), code("[2001:db8:2::1]:1"));
    }
}
