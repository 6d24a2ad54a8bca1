//! Sockets from Linux `/proc`. On other systems none is found.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
};

use crate::processes::family;

/// Of a process, its descendants and its group.
pub(crate) fn udp_ports(root: u32) -> Option<Vec<u16>> {
    let inodes = Owner::Family(root).inodes();
    let rows = table("udp")?.into_iter().filter(|row| inodes.contains(&row.inode));
    let mut ports: Vec<u16> = rows.map(|row| row.local.port()).collect();
    ports.sort_unstable();
    ports.dedup();
    Some(ports)
}

/// Bytes that the process at this end of a connection to `server` has not read, if known.
pub(crate) fn unread(address: SocketAddr, server: SocketAddr) -> Option<u32> {
    // The kernel's table takes some ten milliseconds, to visit all buckets of a large hash table.
    #[cfg(target_os = "linux")]
    if let Some(bytes) = diagnosis::unread(address, server) {
        return Some(bytes);
    }
    table("tcp")?.into_iter().find(|row| (row.local, row.remote) == (address, server)).map(|row| row.unread)
}

/// Queries single sockets over netlink: see `sock_diag(7)`.
#[cfg(target_os = "linux")]
mod diagnosis {
    use std::net::{IpAddr, SocketAddr};

    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    const IPPROTO_TCP: u8 = 6;
    /// In bytes: `nlmsghdr` and `inet_diag_req_v2`.
    const HEADER: usize = 16;
    const REQUEST: usize = 56;
    /// The offset of `idiag_rqueue`: after the header, four single bytes, an `inet_diag_sockid` and the timer.
    const UNREAD: usize = HEADER + 4 + 48 + 4;

    /// `None` if the system does not know the socket.
    pub(super) fn unread(local: SocketAddr, remote: SocketAddr) -> Option<u32> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG)).ok()?;
        send(&socket, &request(local, remote)?, SendFlags::empty()).ok()?;
        let mut answer = [0; 512];
        let (length, _) = recv(&socket, &mut answer, RecvFlags::empty()).ok()?;
        let answer = answer.get(..length)?;
        let kind = u16::from_ne_bytes(*answer.get(4..)?.first_chunk()?);
        (kind == SOCK_DIAG_BY_FAMILY).then_some(())?;
        Some(u32::from_ne_bytes(*answer.get(UNREAD..)?.first_chunk()?))
    }

    fn request(local: SocketAddr, remote: SocketAddr) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(HEADER + REQUEST);
        bytes.extend(u32::try_from(HEADER + REQUEST).ok()?.to_ne_bytes());
        bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        bytes.extend(NLM_F_REQUEST.to_ne_bytes());
        // Unused sequence number and port.
        bytes.extend([0; 8]);
        let family = if local.is_ipv4() { AF_INET } else { AF_INET6 };
        bytes.extend([family, IPPROTO_TCP, 0, 0]);
        // Any state.
        bytes.extend(u32::MAX.to_ne_bytes());
        bytes.extend(local.port().to_be_bytes());
        bytes.extend(remote.port().to_be_bytes());
        for ip in [local.ip(), remote.ip()] {
            let mut octets = [0; 16];
            match ip {
                IpAddr::V4(ip) => octets[..4].copy_from_slice(&ip.octets()),
                IpAddr::V6(ip) => octets = ip.octets(),
            }
            bytes.extend(octets);
        }
        // Any interface, and no cookie.
        bytes.extend(0_u32.to_ne_bytes());
        bytes.extend([u8::MAX; 8]);
        Some(bytes)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Owner {
    Process(u32),
    /// A process, all its descendants, and its group.
    Family(u32),
}

impl Owner {
    pub fn is_shown() -> bool {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
        let address = socket.as_ref().ok().and_then(|socket| socket.local_addr().ok());
        address.is_some_and(|address| Self::Process(std::process::id()).has_udp(address))
    }

    /// If several sockets share the address, all must belong to the owner.
    pub fn has_udp(self, address: SocketAddr) -> bool {
        let sends = |local: SocketAddr| {
            local.port() == address.port() && (local.ip() == address.ip() || local.ip().is_unspecified())
        };
        self.has_all(table("udp").unwrap_or_default().into_iter().filter(|row| sends(row.local)))
    }

    pub fn has_tcp(self, address: SocketAddr, server: SocketAddr) -> bool {
        let rows = table("tcp").unwrap_or_default().into_iter();
        self.has_all(rows.filter(|row| (row.local, row.remote) == (address, server)))
    }

    fn has_all(self, rows: impl Iterator<Item = Row>) -> bool {
        let mut rows = rows.peekable();
        let is_found = rows.peek().is_some();
        let inodes = if is_found { self.inodes() } else { Vec::new() };
        is_found && rows.all(|row| inodes.contains(&row.inode))
    }

    fn inodes(self) -> Vec<u64> {
        match self {
            Self::Process(id) => sockets(id),
            Self::Family(root) => family(root).into_iter().flat_map(|process| sockets(process.id)).collect(),
        }
    }
}

fn sockets(process: u32) -> Vec<u64> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let targets = files.filter_map(|file| fs::read_link(file.path()).ok());
    targets.filter_map(|target| target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()).collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Row {
    local: SocketAddr,
    remote: SocketAddr,
    unread: u32,
    inode: u64,
}

fn table(protocol: &str) -> Option<Vec<Row>> {
    let of = |name: String| fs::read_to_string(format!("/proc/thread-self/net/{name}"));
    // Without IPv6, the second table is missing.
    let tables = [of(protocol.to_owned()).ok()?, of(format!("{protocol}6")).unwrap_or_default()];
    Some(tables.iter().flat_map(|table| table.lines().skip(1).filter_map(row)).collect())
}

fn row(line: &str) -> Option<Row> {
    let mut columns = line.split_whitespace().skip(1);
    let (local, remote) = (address(columns.next()?)?, address(columns.next()?)?);
    // The second column after the addresses has the lengths of both queues.
    let unread = u32::from_str_radix(columns.nth(1)?.split_once(':')?.1, 16).ok()?;
    Some(Row { local, remote, unread, inode: columns.nth(4)?.parse().ok()? })
}

// 32-bit numbers in the byte order of the machine, and a port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(ip.get(8 * at..8 * (at + 1))?, 16).ok()?.to_ne_bytes());
    let ip: IpAddr = match ip.len() {
        8 => word(0)?.into(),
        32 => {
            let mut octets = [0; 16];
            for (at, chunk) in octets.chunks_exact_mut(4).enumerate() {
                chunk.copy_from_slice(&word(at)?);
            }
            octets.into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::Write as _,
        net::{TcpListener, TcpStream},
        process::{Command, Stdio, id},
    };

    use super::*;

    #[test]
    fn finds_a_socket_of_this_process() {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        assert!(udp_ports(id()).unwrap().contains(&socket.local_addr().unwrap().port()));
        assert_eq!(udp_ports(u32::MAX), Some(vec![]));
    }

    #[test]
    fn socket_belongs_only_to_its_process() {
        let mut other = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let (mine, others) = (Owner::Process(id()), Owner::Family(other.id()));
        assert!(Owner::is_shown());
        for at in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
            let Ok(socket) = UdpSocket::bind(at) else { continue };
            let seen = SocketAddr::from(([127, 0, 0, 1], socket.local_addr().unwrap().port()));
            assert_eq!([mine, others].map(|owner| owner.has_udp(seen)), [true, false], "{at}");
            drop(socket);
            assert!(!mine.has_udp(seen), "{at}");
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let client = TcpStream::connect(server).unwrap();
        let peer = client.local_addr().unwrap();
        let mut accepted = listener.accept().unwrap().0;
        accepted.write_all(b"abc").unwrap();
        assert_eq!([unread(peer, server), diagnosis::unread(peer, server)], [Some(3); 2]);
        let row = table("tcp").unwrap().into_iter().find(|row| (row.local, row.remote) == (peer, server));
        assert_eq!(row.map(|row| row.unread), Some(3), "the table agrees");
        assert_eq!([mine, others].map(|owner| owner.has_tcp(peer, server)), [true, false]);
        assert!(!mine.has_tcp(server, server));
        drop((client, accepted));
        assert!(!mine.has_tcp(peer, server));
        drop(other.stdin.take());
        other.wait().unwrap();
    }

    #[test]
    fn reads_addresses_of_both_families() {
        let part = |octets: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(octets));
        assert_eq!(address(&format!("{}:1F90", part([127, 0, 0, 1]))), "127.0.0.1:8080".parse().ok());
        let loopback = format!("{}{}", part([0; 4]).repeat(3), part([0, 0, 0, 1]));
        assert_eq!(address(&format!("{loopback}:0001")), "[::1]:1".parse().ok());
        let mapped = format!("{}{}{}", part([0; 4]).repeat(2), part([0, 0, 255, 255]), part([127, 0, 0, 1]));
        assert_eq!(address(&format!("{mapped}:0001")), "127.0.0.1:1".parse().ok());
        assert_eq!(["1:1", "x", "0100007F", "é234567:1"].map(address), [None; 4]);
    }
}
