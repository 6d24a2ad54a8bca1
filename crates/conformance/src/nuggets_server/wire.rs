//! UDP clients of one server. They read messages leniently: rules about the form are judged separately.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    iter,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender, TrySendError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nuggets::{
    Letter,
    grid::{Cell, Grid},
    protocol::{MAX_DATAGRAM, printable},
};

/// How often a reader checks whether it should stop.
const BREATH: Duration = Duration::from_millis(50);
/// The length of the queue. A longer burst loses datagrams, as on any network.
const WAITING: usize = 4096;

pub(super) fn key_message(key: u8) -> [u8; 5] {
    [b'K', b'E', b'Y', b' ', key]
}

pub(super) enum Arrival {
    Datagram(Vec<u8>),
    Refused,
}

struct End {
    socket: Arc<UdpSocket>,
    over: Arc<AtomicBool>,
    pauses: Arc<AtomicU64>,
    reader: JoinHandle<()>,
}

/// Threads read each client's socket immediately, since the system drops unread datagrams.
pub(super) struct Wire {
    server: SocketAddr,
    // `None` for closed clients.
    ends: Vec<Option<End>>,
    sender: SyncSender<(usize, Arrival)>,
    arrivals: Receiver<(usize, Arrival)>,
}

impl Wire {
    pub(super) fn new(server: SocketAddr) -> Self {
        let (sender, arrivals) = mpsc::sync_channel(WAITING);
        Self { server, ends: Vec::new(), sender, arrivals }
    }

    pub(super) fn open(&mut self) -> io::Result<usize> {
        let any: SocketAddr = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = Arc::new(UdpSocket::bind(any)?);
        socket.connect(self.server)?;
        socket.set_read_timeout(Some(BREATH))?;
        let (over, pauses) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let number = self.ends.len();
        let reader = thread::spawn({
            let (socket, over, pauses) = (Arc::clone(&socket), Arc::clone(&over), Arc::clone(&pauses));
            let sender = self.sender.clone();
            move || receive(number, &socket, &over, &pauses, &sender)
        });
        self.ends.push(Some(End { socket, over, pauses, reader }));
        Ok(number)
    }

    /// The wait for an answer detects a server that has ended.
    pub(super) fn send(&self, client: usize, datagram: &[u8]) {
        let Some(End { socket, .. }) = &self.ends[client] else { return };
        // The first attempt may only report that an earlier datagram had no receiver.
        if socket.send(datagram).is_err() {
            let _ = socket.send(datagram);
        }
    }

    pub(super) fn close(&mut self, client: usize) {
        if let Some(end) = self.ends[client].take() {
            end.over.store(true, Ordering::Relaxed);
            let _ = end.reader.join();
        }
    }

    /// Counts each reader's pauses. After all counts have increased, all earlier datagrams are received.
    pub(super) fn pauses(&self) -> Vec<u64> {
        self.ends.iter().flatten().map(|end| end.pauses.load(Ordering::SeqCst)).collect()
    }

    pub(super) fn next(&self, by: Instant) -> Option<(usize, Arrival)> {
        self.arrivals.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for end in self.ends.iter().flatten() {
            end.over.store(true, Ordering::Relaxed);
        }
    }
}

fn receive(
    number: usize,
    socket: &UdpSocket,
    over: &AtomicBool,
    pauses: &AtomicU64,
    sender: &SyncSender<(usize, Arrival)>,
) {
    let mut buffer = vec![0; MAX_DATAGRAM + 1];
    while !over.load(Ordering::Relaxed) {
        let arrival = match socket.recv(&mut buffer) {
            Ok(length) => Arrival::Datagram(buffer[..length].to_vec()),
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset) => {
                Arrival::Refused
            }
            Err(error) => {
                pauses.fetch_add(1, Ordering::SeqCst);
                // Any other error of the socket may be permanent.
                if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) {
                    thread::sleep(BREATH);
                }
                continue;
            }
        };
        // A full queue drops the datagram.
        if let Err(TrySendError::Disconnected(_)) = sender.try_send((number, arrival)) {
            return;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LenientMessage<'a> {
    Ok(Letter),
    Grid { rows: u16, cols: u16 },
    Gold { collected: u32, purse: u32, remaining: u32 },
    Display(&'a [u8]),
    Quit(&'a [u8]),
    Error,
}

/// Kind and values must be recognizable.
pub(super) fn parse_leniently(datagram: &[u8]) -> Option<LenientMessage<'_>> {
    let end = datagram.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    let text = &datagram[..end];
    let (kind, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count());
    let words = || rest.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-').filter(|word| !word.is_empty());
    let numbers: Vec<u32> = words().map_while(|word| std::str::from_utf8(word).ok()?.parse().ok()).collect();
    let size = |number: &u32| u16::try_from(*number).ok();
    match (kind.to_ascii_uppercase().as_slice(), &numbers[..]) {
        (b"OK", _) => {
            words().next()?.first().map(u8::to_ascii_uppercase).and_then(Letter::from_byte).map(LenientMessage::Ok)
        }
        (b"GRID", [rows, cols, ..]) => Some(LenientMessage::Grid { rows: size(rows)?, cols: size(cols)? }),
        (b"GOLD", &[collected, purse, remaining, ..]) => Some(LenientMessage::Gold { collected, purse, remaining }),
        (b"DISPLAY", _) => {
            let start = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
            Some(LenientMessage::Display(&rest[start..]))
        }
        (b"QUIT", _) => Some(LenientMessage::Quit(rest.strip_prefix(b" ").unwrap_or(rest))),
        (b"ERROR", _) => Some(LenientMessage::Error),
        _ => None,
    }
}

/// Truncates rows or pads them with blanks.
pub(super) fn fitted(text: &[u8], rows: u16, cols: u16) -> Vec<u8> {
    let mut lines: VecDeque<&[u8]> = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n').collect();
    // An additional newline at the start adds a row.
    while lines.len() > usize::from(rows) && lines.front().is_some_and(|line| line.is_empty()) {
        lines.pop_front();
    }
    let mut fitted = Vec::new();
    for _ in 0..rows {
        let line = lines.pop_front().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        fitted.extend(line.iter().copied().chain(iter::repeat(b' ')).take(usize::from(cols)));
        fitted.push(b'\n');
    }
    fitted
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) letter: u8,
    pub(super) purse: u32,
    pub(super) name: String,
}

pub(super) fn row(line: &str) -> Option<Row> {
    let line = line.trim_start();
    let letter = line.bytes().next().filter(u8::is_ascii_uppercase)?;
    let rest = line.get(1..)?.trim_start_matches([':', ',', ' ', '\t']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let purse = rest.get(..digits)?.parse().ok()?;
    let name = rest.get(digits..)?;
    Some(Row { letter, purse, name: name.strip_prefix([' ', '\t']).unwrap_or(name).to_owned() })
}

/// Of a message in a report, in bytes.
const SHOWN: usize = 60;
const NAMED: usize = 4;

pub(super) fn quoted_bytes(bytes: &[u8]) -> String {
    let text = printable(bytes.get(..SHOWN).unwrap_or(bytes), b"");
    if bytes.len() > SHOWN { format!("'{text}...' ({} bytes)", bytes.len()) } else { format!("'{text}'") }
}

pub(super) fn misshape(text: &[u8], rows: u16, cols: u16) -> Option<String> {
    if text.starts_with(b"\n") && cols > 0 {
        return Some("starts with an empty row".to_owned());
    }
    let Some(lines) = text.strip_suffix(b"\n") else {
        return Some("has no newline after its last row".to_owned());
    };
    let lines: Vec<&[u8]> = lines.split(|&byte| byte == b'\n').collect();
    if lines.len() != usize::from(rows) {
        return Some(format!("has {} rows", lines.len()));
    }
    let (number, line) = (1..).zip(lines).find(|(_, line)| line.len() != usize::from(cols))?;
    Some(format!("has {} bytes in row {number}", line.len()))
}

pub(super) fn differences(grid: &Grid, expected: &[u8], display: &[u8]) -> String {
    if display.is_empty() {
        return format!("expected {} bytes, received nothing", expected.len());
    }
    if expected.len() != display.len() {
        return format!("expected {} bytes, received {}", expected.len(), display.len());
    }
    let all =
        (0..=u16::MAX).map(Cell).zip(expected.iter().zip(display)).filter(|(_, (expected, shown))| expected != shown);
    let count = all.clone().count();
    let named = all.take(NAMED).map(|(cell, (expected, shown))| {
        format!(
            "expected '{}' at {}, received '{}'",
            printable(&[*expected], b""),
            grid.position(cell),
            printable(&[*shown], b"")
        )
    });
    let text = named.collect::<Vec<_>>().join("; ");
    match count.saturating_sub(NAMED) {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_wrong_forms_leniently() {
        assert_eq!(parse_leniently(b"GRID 3  9\n\0"), Some(LenientMessage::Grid { rows: 3, cols: 9 }));
        assert_eq!(
            parse_leniently(b"GOLD 1, 2, 3\n"),
            Some(LenientMessage::Gold { collected: 1, purse: 2, remaining: 3 })
        );
        assert_eq!(parse_leniently(b"ERROR. Invalid keystroke.\n"), Some(LenientMessage::Error));
        assert_eq!(parse_leniently(b"DISPLAY \n..\n"), Some(LenientMessage::Display(b"..\n")));
        assert_eq!(parse_leniently(b"QUIT"), Some(LenientMessage::Quit(b"")));
        assert_eq!(
            [&b"OK B\n"[..], b"OK b"].map(parse_leniently),
            [Letter::from_byte(b'B').map(LenientMessage::Ok); 2]
        );
        assert_eq!([&b""[..], b"\0", b"HELLO", b"GOLD -1 x"].map(parse_leniently), [None, None, None, None]);
    }

    #[test]
    fn truncates_and_pads_rows() {
        assert_eq!(fitted(b"abc\r\nd", 3, 2), b"ab\nd \n  \n");
        assert_eq!(fitted(b"\nab\ncd\n", 2, 2), b"ab\ncd\n");
    }

    #[test]
    fn reads_table_rows() {
        let wanted = Row { letter: b'A', purse: 39, name: "Ann B".to_owned() };
        for line in ["A         39 Ann B", "A   39 Ann B", " A: 39\tAnn B"] {
            assert_eq!(row(line), Some(wanted.clone()), "{line}");
        }
        assert_eq!(["GAME OVER:", "", "a 3 x"].map(row), [None, None, None]);
    }

    #[test]
    fn explains_wrong_shapes() {
        let wrong = |text: &[u8]| misshape(text, 2, 3).unwrap_or_default();
        assert_eq!(wrong(b"abc\ndef\n"), "");
        assert_eq!(wrong(b"abc\ndef"), "has no newline after its last row");
        assert_eq!(wrong(b"\nabc\ndef"), "starts with an empty row");
        assert_eq!(wrong(b"abc\ndef\nghi\n"), "has 3 rows");
        assert_eq!(wrong(b"abc\ndefg\n"), "has 4 bytes in row 2");
    }
}
