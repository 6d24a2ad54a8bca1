//! The sockets of a group of processes, from the files that Linux keeps of them. Other systems have no such files, and nothing is told.

use std::fs;

/// The UDP ports at which processes of this group receive.
pub(crate) fn udp_ports(group: u32) -> Option<Vec<u16>> {
    let inodes: Vec<String> = members(group).into_iter().flat_map(sockets).collect();
    // A system may lack IPv6, and with it the second table.
    let tables = [fs::read_to_string("/proc/net/udp").ok()?, fs::read_to_string("/proc/net/udp6").unwrap_or_default()];
    let mut ports: Vec<u16> =
        tables.iter().flat_map(|table| table.lines().skip(1).filter_map(|row| port(row, &inodes))).collect();
    ports.sort_unstable();
    ports.dedup();
    Some(ports)
}

fn members(group: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|process| group_of(*process) == Some(group)).collect()
}

// The name of the program stands in brackets and may contain anything. Behind it: the state, the parent, the group.
fn group_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    status.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
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
        let group = group_of(std::process::id()).unwrap();
        assert!(udp_ports(group).unwrap().contains(&socket.local_addr().unwrap().port()));
        assert_eq!(udp_ports(0), Some(vec![]));
    }
}
