//! The sockets of a program under test, from the files that Linux keeps of them. Other systems have no such files, and nothing is told.

use std::fs;

use crate::processes::family;

/// The UDP ports at which this process, what descends from it and its group receive.
pub(crate) fn udp_ports(root: u32) -> Option<Vec<u16>> {
    let inodes: Vec<String> = family(root).into_iter().flat_map(|process| sockets(process.id)).collect();
    // A system may lack IPv6, and with it the second table.
    let tables = [fs::read_to_string("/proc/net/udp").ok()?, fs::read_to_string("/proc/net/udp6").unwrap_or_default()];
    let mut ports: Vec<u16> =
        tables.iter().flat_map(|table| table.lines().skip(1).filter_map(|row| port(row, &inodes))).collect();
    ports.sort_unstable();
    ports.dedup();
    Some(ports)
}

// The inodes of its open sockets.
fn sockets(process: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let targets = files.filter_map(|file| fs::read_link(file.path()).ok());
    targets
        .filter_map(|target| Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

// The local port of a row whose socket is one of these.
fn port(row: &str, inodes: &[String]) -> Option<u16> {
    let mut columns = row.split_whitespace();
    let local = columns.nth(1)?;
    let inode = columns.nth(7)?;
    let (_, port) = local.rsplit_once(':')?;
    inodes.iter().any(|other| other == inode).then(|| u16::from_str_radix(port, 16).ok())?
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_socket_of_this_process_is_found() {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        assert!(udp_ports(std::process::id()).unwrap().contains(&socket.local_addr().unwrap().port()));
        assert_eq!(udp_ports(u32::MAX), Some(vec![]));
    }
}
