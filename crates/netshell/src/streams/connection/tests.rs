use std::sync::{Arc, Mutex};

use super::*;
use crate::{
    ConnectionBudget, Limits,
    streams::{ready::ReadyList, tests::Fake},
};

const MANY: usize = 4 << 20;

fn sender() -> Fake {
    Fake { sends: Arc::new(Mutex::new(BytesMut::zeroed(MANY))), ..Fake::default() }
}

fn read(connection: &Connection<Fake>) -> usize {
    MANY - connection.stream.sends.lock().unwrap().len()
}

fn connection(stream: Fake, rate: Rate) -> Connection<Fake> {
    let source = ReadyList::new().source(());
    let address: SocketAddr = "10.0.0.1:1".parse().unwrap();
    let permit = ConnectionBudget::from(Limits { connections: 2 }).open(address.into()).unwrap();
    Connection::new(stream, source, (address, permit), rate, &Broadcasts::default(), Time::ZERO)
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

const FAST: Rate = Rate { per_second: 1 << 30, burst: 1 << 30 };

// Serves the connection up to a thousand times each millisecond. Returns the number of bytes read.
fn read_for(connection: &mut Connection<Fake>, millis: u64) -> usize {
    let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
    for now in (0..millis).map(at) {
        for _ in 0..1_000 {
            if connection.service(now, &shared, &mut buffer) != Serviced::Bytes {
                break;
            }
            buffer.clear();
            assert!(!connection.processed(&Progress::Decoded, &mut buffer, true));
        }
    }
    read(connection)
}

#[test]
fn connection_reads_at_most_its_rate_plus_one_chunk() {
    for (per_second, burst) in [(10_000, 20_000), (1 << 20, 8 << 10), (0, 8 << 10)] {
        let read = read_for(&mut connection(sender(), Rate { per_second, burst }), 3_000);
        let most = burst as usize + 3 * per_second as usize + CHUNK;
        assert!(read <= most, "{read} of {most} bytes");
        assert!(read + 2 * CHUNK >= most, "and no less: {read} of {most} bytes");
    }
}

#[test]
fn after_its_turn_a_connection_continues_where_it_stopped() {
    let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
    let mut connection = connection(sender(), FAST);
    assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Bytes);
    let _ = buffer.split_to(10);
    assert!(connection.processed(&Progress::Decoded, &mut buffer, false), "more at once");
    let _ = buffer.split_to(10);
    assert!(!connection.processed(&Progress::Decoded, &mut buffer, true), "the others first");
    assert!(buffer.is_empty());
    assert_eq!(connection.service(at(1), &shared, &mut buffer), Serviced::Bytes);
    assert_eq!((buffer.len(), read(&connection)), (CHUNK - 20, CHUNK));
    assert!(!connection.processed(&Progress::Incomplete, &mut buffer, false));
    assert_eq!(connection.service(at(2), &shared, &mut buffer), Serviced::Bytes);
    assert_eq!(buffer.len(), 2 * CHUNK - 20, "an unfinished message comes before what follows it");
}

#[test]
fn unterminated_text_is_reported_once_after_two_seconds() {
    let (shared, mut buffer) = (Broadcasts::default(), BytesMut::from(&b"JOIN Ann"[..]));
    let mut connection = connection(Fake::default(), FAST);
    assert!(!connection.processed(&Progress::Incomplete, &mut buffer, false));
    assert!(connection.left_unfinished(at(0), true));
    assert_eq!(connection.unended(at(1_999)), None);
    assert_eq!(connection.elapsed(at(1_999), &shared, Duration::ZERO), Ok(true));
    assert_eq!(connection.unended(at(2_000)).as_deref(), Some("JOIN Ann"));
    assert!(!connection.left_unfinished(at(2_000), true), "once");
    assert_eq!(connection.elapsed(at(9_000), &shared, Duration::ZERO), Ok(false));
}

#[test]
fn a_closed_connection_is_sent_its_queue_and_lingers_for_a_bounded_time() {
    let (mut shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
    let mut connection = connection(Fake::default(), FAST);
    connection.send(&shared, Bytes::from_static(b"farewell"));
    connection.close(at(0), &shared);
    connection.send(&shared, Bytes::from_static(b"not for it"));
    shared.push(Bytes::from_static(b"nor this"));
    assert_eq!(connection.service(at(1), &shared, &mut buffer), Serviced::Waits);
    assert_eq!(connection.elapsed(at(1_999), &shared, Duration::ZERO), Ok(true));
    connection.stream.takes = true;
    assert_eq!(connection.service(at(1_999), &shared, &mut buffer), Serviced::Waits);
    assert_eq!((&connection.stream.written[..], connection.stream.finished), (&b"farewell"[..], true));
    // Time for which the process was stopped does not count, now or at later checks.
    assert_eq!(connection.elapsed(at(4_500), &shared, Duration::from_millis(2_501)), Ok(true));
    assert_eq!(connection.elapsed(at(4_500), &shared, Duration::ZERO), Ok(true));
    assert_eq!(connection.elapsed(at(4_501), &shared, Duration::ZERO), Err(DisconnectReason::Lagging));
    connection.stream.has_left = true;
    assert_eq!(connection.service(at(4_501), &shared, &mut buffer), Serviced::Done);
}

#[test]
fn half_closed_connection_receives_messages_until_it_is_closed() {
    let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
    let mut connection = connection(Fake { has_left: true, takes: true, ..Fake::default() }, FAST);
    assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Left);
    assert!(!connection.is_connected(), "the host is told once");
    connection.send(&shared, Bytes::from_static(b"result"));
    connection.close(at(0), &shared);
    assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Done);
    assert_eq!(connection.stream.written, b"result");
}

#[test]
fn stream_is_not_read_after_a_malformed_message() {
    let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
    let mut connection = connection(sender(), FAST);
    assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Bytes);
    let wrong = netcore::DecodeError::Incomplete;
    assert!(!connection.processed(&Progress::Malformed(wrong), &mut buffer, false));
    assert!(!connection.is_open() && connection.is_connected());
    assert_eq!(connection.service(at(1), &shared, &mut buffer), Serviced::Waits);
    assert_eq!(read(&connection), CHUNK);
}
