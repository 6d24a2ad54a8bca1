use std::{
    fs::{self, File},
    io,
    net::UdpSocket,
    process::{self, Stdio},
    thread,
};

use nix::sched::{CloneFlags, setns, unshare};
use rustix::{
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, sendto, socket_with},
    process::{getegid, geteuid},
};

use super::{NETWORK, guard_command};

/// Must be called before any other thread starts. If it fails, the process is unchanged.
pub(crate) fn confine_network() -> Result<(), String> {
    // Another process tries first, to avoid a partial change.
    let tried = guard_command(&[NETWORK]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let tried = tried.map_err(|error| error.to_string())?;
    if !tried.status.success() {
        return Err(String::from_utf8_lossy(&tried.stderr).trim().to_owned());
    }
    isolate().map_err(|error| error.to_string())
}

/// Exists as long as this value, or a socket or process in it. This process must be confined.
#[derive(Debug)]
pub(crate) struct Namespace(File);

impl Namespace {
    pub(crate) fn new() -> io::Result<Self> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            raise_loopback()?;
            File::open("/proc/thread-self/ns/net").map(Self)
        })
    }

    pub(crate) fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_thread(|| {
            setns(&self.0, CloneFlags::CLONE_NEWNET)?;
            Ok(work())
        })
    }
}

// In a new thread, whose namespace may change.
fn in_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

pub(super) fn attempt() -> ! {
    let isolated = isolate();
    if let Err(error) = &isolated {
        cmdkit::print_stderr(&error.to_string());
    }
    process::exit(i32::from(isolated.is_err()));
}

fn isolate() -> io::Result<()> {
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        become_user(CloneFlags::CLONE_NEWNET)?;
    }
    raise_loopback()?;
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    socket.send_to(b"?", socket.local_addr()?).map(drop)
}

/// Only this user is in the namespace, which allows the namespaces in `others`.
pub(super) fn become_user(others: CloneFlags) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | others)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

// In a new network, loopback is down. This message brings it up, see rtnetlink(7).
fn raise_loopback() -> io::Result<()> {
    const LOOPBACK: i32 = 1;
    const RTM_NEWLINK: u16 = 16;
    const REQUEST_WITH_ANSWER: u16 = 5;
    const UP: u32 = 1;
    const LENGTH: u32 = 32;
    // The error in the answer, 0 or negative, follows a header of 16 bytes.
    const ERROR: std::ops::Range<usize> = 16..20;

    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let mut message = Vec::new();
    message.extend(LENGTH.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
    // Unused: the sequence number, the port, the family and the type of the link.
    message.extend([0; 12]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    sendto(&socket, &message, SendFlags::empty(), &netlink::SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 256];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let error = answer.get(ERROR).filter(|_| length >= ERROR.end).and_then(|bytes| bytes.try_into().ok());
    match error.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}
