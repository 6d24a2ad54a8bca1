//! Which players are at one host, without telling which host that is.
//!
//! Results are told a code in place of a host: a keyed hash of its address, of IPv6 of the network of 48 bits, and of the day. So two names
//! of one host are known as such on that day and in all rooms, and what is stored tells neither an address nor who came back.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    net::{IpAddr, SocketAddr},
    sync::{Mutex, MutexGuard, PoisonError},
};

use hmac::{Hmac, Mac};
use netcore::HostId;
use sha2::Sha256;

use super::mask::LOCAL;

/// Hosts of a room whose pseudonyms are known; those of others count as one.
const MAX_HOSTS: usize = 4_096;
/// Bytes of a code.
const CODE: usize = 12;

/// The hosts of a room.
#[derive(Default)]
pub(crate) struct HostCodes {
    key: [u8; 32],
    // By the host of their pseudonyms.
    known: Mutex<BTreeMap<HostId, HostId>>,
}

impl std::fmt::Debug for HostCodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostCodes")
    }
}

impl HostCodes {
    /// Codes that are made with this key, which is that of all rooms.
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self { key, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<HostId, HostId>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The room is told this address in place of one at `host`.
    pub(crate) fn note(&self, shown: SocketAddr, host: HostId) {
        let shown = HostId::from(shown);
        let mut known = self.known();
        if known.len() >= MAX_HOSTS && !known.contains_key(&shown) {
            known.pop_first();
        }
        known.insert(shown, host);
    }

    /// What stands for the host at this address of the room on a day; empty if it is not known.
    pub(crate) fn code(&self, address: &str, day: u64) -> String {
        let Ok(address) = address.parse::<SocketAddr>() else { return String::new() };
        let is_pseudonym = matches!(address.ip(), IpAddr::V6(ip) if ip.octets()[0] == LOCAL);
        let host = match self.known().get(&address.into()) {
            Some(host) => *host,
            None if is_pseudonym => return String::new(),
            // Over datagrams a room is told the address itself.
            None => address.into(),
        };
        let host = match host {
            HostId::V4(octets) => format!("{octets:?}"),
            HostId::V6Network(network) => format!("{:x}/48", network >> 16),
            HostId::Other => return String::new(),
        };
        // A key of any length is possible; this one has the size of the hash.
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.key).unwrap_or_else(|_| unreachable!());
        mac.update(format!("{day}\n{host}").as_bytes());
        mac.finalize().into_bytes().iter().take(CODE).fold(String::new(), |mut code, byte| {
            // Writing to a string cannot fail.
            let _ = write!(code, "{byte:02x}");
            code
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::mask::Mask;

    #[test]
    fn a_host_has_one_code_a_day_in_all_rooms_and_its_address_is_not_in_it() {
        let [one, two] = [1, 2].map(|room| (Mask::new([room; 32]), HostCodes::new([7; 32])));
        let host = HostId::of("192.0.2.7:1");
        let code = |(mask, hosts): &(Mask, HostCodes), host: HostId, day| {
            let seat = mask.seat(host).unwrap();
            hosts.note(seat, host);
            hosts.code(&seat.to_string(), day)
        };
        let first = code(&one, host, 5);
        assert_eq!((first.len(), &first), (2 * CODE, &code(&two, host, 5)));
        assert_eq!(first, one.1.code("192.0.2.7:9", 5), "over datagrams");
        assert_ne!(first, code(&one, host, 6));
        assert_ne!(first, code(&one, HostId::of("192.0.2.8:1"), 5));
        assert_ne!(first, HostCodes::new([8; 32]).code("192.0.2.7:9", 5));
        // One customer has a network of IPv6.
        let v6 = |text: &str| code(&one, HostId::of(text), 5);
        assert_eq!(v6("[2001:db8:1:2::1]:1"), v6("[2001:db8:1:ffff::9]:1"));
        assert_ne!(v6("[2001:db8:1::1]:1"), v6("[2001:db8:2::1]:1"));
        // Nobody has said whose pseudonym this is.
        assert_eq!(two.1.code(&one.0.seat(HostId::of("192.0.2.9:1")).unwrap().to_string(), 5), "");
    }
}
