//! What others are told of the address of a player: a pseudonym in its place.
//!
//! A pseudonym is a unique local IPv6 address with a port. Its first 64 bits stand for the host and the rest for the connection, so a host
//! is one host to the engine, the budgets and the shares of a room, and nobody learns which. It is made with a key of the room, so
//! the same address has the same pseudonym there, also after a restart of the hub, and another one in any other room.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hmac::{Hmac, Mac};
use netcore::{HostId, Link};
use rand::{TryRng as _, rngs::SysRng};
use sha2::Sha256;

/// The first byte of unique local addresses that nobody assigns.
pub(super) const LOCAL: u8 = 0xfd;

/// The pseudonyms of a room.
#[derive(Clone)]
pub(crate) struct Mask([u8; 32]);

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask")
    }
}

impl Mask {
    /// Pseudonyms that are made with this key.
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The address for a new seat of a browser at `host`: no other seat has it, and nobody can guess it.
    pub(crate) fn seat(&self, host: HostId) -> Result<SocketAddr, rand::rngs::SysError> {
        let mut random = [0; 10];
        SysRng.try_fill_bytes(&mut random)?;
        Ok(address(self.network(host), random))
    }

    /// What a room is told of an address. Over datagrams the address is the seat, and no message shows it; that of a browser's seat is
    /// a pseudonym already.
    pub(crate) fn shown(&self, link: Link, of: SocketAddr) -> SocketAddr {
        if link != Link::Stream {
            return of;
        }
        let of = SocketAddr::new(of.ip().to_canonical(), of.port());
        let code = self.code(&format!("address\n{of}"));
        let mut rest = [0; 10];
        rest.copy_from_slice(&code[..10]);
        address(self.network(of.into()), rest)
    }

    /// The host of an address that is not shown to anybody, as the host of its pseudonyms.
    pub(crate) fn host(&self, host: HostId) -> HostId {
        HostId::V6Network(u64::from_be_bytes(self.network(host)))
    }

    fn network(&self, host: HostId) -> [u8; 8] {
        // Spelled out, since pseudonyms must stay the same from version to version.
        let host = match host {
            HostId::V4(ip) => Ipv4Addr::from(ip).to_string(),
            HostId::V6Network(number) => format!("{number:016x}/64"),
            HostId::Other => "other".to_owned(),
        };
        let code = self.code(&format!("host\n{host}"));
        let mut network = [LOCAL; 8];
        network[1..].copy_from_slice(&code[..7]);
        network
    }

    fn code(&self, text: &str) -> [u8; 32] {
        // A key of any length is possible; this one has the size of the hash.
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!());
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().into()
    }
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
    fn a_host_stays_one_host_and_its_seats_are_different() {
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
    fn pseudonyms_are_stable_and_in_the_form_of_addresses() {
        let mask = Mask::new([7; 32]);
        let shown = |text: &str| mask.shown(Link::Stream, text.parse().unwrap());
        let one = shown("10.0.0.1:4000");
        assert_eq!(one, shown("[::ffff:10.0.0.1]:4000"));
        assert_eq!(one.to_string().parse(), Ok(one));
        assert_eq!(HostId::from(one), mask.host(HostId::of("10.0.0.1:9")));
        assert!(one != shown("10.0.0.1:4001") && HostId::from(one) == shown("10.0.0.1:4001").into());
        assert_ne!(HostId::from(one), shown("10.0.0.2:4000").into());
        let seat = "10.0.0.1:4000".parse().unwrap();
        assert_eq!([Link::Datagram, Link::Message].map(|link| mask.shown(link, seat)), [seat; 2]);
    }
}
