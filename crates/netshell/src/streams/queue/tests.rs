use super::*;
use crate::streams::stream::SEND_BUFFER;
use netcore::HistoryWriter;
use proptest::prelude::*;

/// Accepts the scripted number of bytes at each call; 0 means `WouldBlock`.
fn taker<'a>(
    script: &'a mut dyn Iterator<Item = usize>,
    taken: &'a mut Vec<u8>,
) -> impl FnMut(&[IoSlice<'_>]) -> io::Result<usize> + 'a {
    move |slices| match script.next().unwrap_or(0) {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        room => {
            let before = taken.len();
            for slice in slices {
                let left = room - (taken.len() - before);
                taken.extend_from_slice(&slice[..slice.len().min(left)]);
            }
            Ok(taken.len() - before)
        }
    }
}

fn history(bytes: usize) -> History {
    let mut writer = HistoryWriter::new();
    let all = (0..251).collect::<Vec<u8>>().repeat(bytes / 251 + 1);
    for frame in all[..bytes].chunks(997) {
        writer.append(|out| out.extend_from_slice(frame));
    }
    writer.snapshot()
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

proptest! {
    #[test]
    fn queues_write_all_bytes_in_order_for_any_write_sizes(
        parts in prop::collection::vec((0..3u8, 0..40_000usize), 0..12),
        rooms in prop::collection::vec(0..30_000usize, 0..60),
        slow in prop::collection::vec(0..9_000usize, 0..20),
    ) {
        // The first receives everything, the second only broadcast messages.
        let mut shared = Broadcasts::default();
        let mut queues = [Queue::new(&shared), Queue::new(&shared)];
        let (mut sent, mut taken) = ([vec![], vec![]], [vec![], vec![]]);
        let mut rooms = [rooms.into_iter(), slow.into_iter()];
        for (index, (kind, length)) in parts.into_iter().enumerate() {
            let frame = vec![u8::try_from(index).unwrap(); length];
            match kind {
                0 if length > 0 => {
                    for sent in &mut sent {
                        sent.extend_from_slice(&frame);
                    }
                    shared.push(frame.into());
                }
                0 => {}
                1 => {
                    sent[0].extend_from_slice(&frame);
                    queues[0].push(&shared, frame.into());
                }
                _ => {
                    let log = history(length);
                    log.segments().for_each(|segment| sent[0].extend_from_slice(segment));
                    queues[0].replay(&shared, Time::ZERO, &log);
                }
            }
            for (who, queue) in queues.iter_mut().enumerate() {
                queue.write(&shared, Time::ZERO, taker(&mut rooms[who], &mut taken[who])).unwrap();
                prop_assert_eq!(&sent[who][..taken[who].len()], &taken[who][..]);
            }
            shared.drop_before(queues[0].place.min(queues[1].place));
        }
        for (who, queue) in queues.iter_mut().enumerate() {
            let mut endless = std::iter::repeat(7_777);
            while queue.write(&shared, Time::ZERO, taker(&mut endless, &mut taken[who])).unwrap() != Written::All {}
            prop_assert_eq!(&sent[who], &taken[who]);
            prop_assert_eq!((queue.own_cost, queue.history, shared.cost_from(queue.place)), (0, 0, 0));
        }
        shared.drop_before(shared.end());
        prop_assert!(shared.frames.is_empty());
    }
}

#[test]
fn a_message_written_directly_continues_where_it_stopped() {
    let mut shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    shared.push(Bytes::from_static(b"all of it"));
    assert!(queue.is_next(&shared));
    queue.wrote(&shared, 9);
    assert!(queue.is_empty(&shared));
    shared.push(Bytes::from_static(b"part of it"));
    queue.wrote(&shared, 4);
    let mut taken = vec![];
    queue.write(&shared, Time::ZERO, taker(&mut [100].into_iter(), &mut taken)).unwrap();
    assert_eq!(taken, b" of it");
}

#[test]
fn a_connection_that_reads_nothing_lags_above_the_bounds() {
    let mut shared = Broadcasts::default();
    for length in [1, 1_000] {
        let (behind, frame) = (Queue::new(&shared), Bytes::from(vec![7; length]));
        let most = MAX_LAG / (length + OVERHEAD);
        (0..most).for_each(|_| shared.push(frame.clone()));
        assert!(!behind.lags(&shared, Time::ZERO), "{length}");
        shared.push(frame.clone());
        assert!(behind.lags(&shared, Time::ZERO), "{length}");
        assert!(!Queue::new(&shared).lags(&shared, Time::ZERO), "a new connection does not lag");
    }
    let mut queue = Queue::new(&shared);
    (0..=MAX_OWN / OVERHEAD).for_each(|_| queue.push(&shared, Bytes::from_static(b"x")));
    assert!(queue.lags(&shared, Time::ZERO));
}

#[test]
fn a_connection_that_catches_up_has_higher_limits() {
    let mut shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    queue.replay(&shared, Time::ZERO, &history(3 * PROGRESS));
    (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
    assert!(!queue.lags(&shared, at(29_999)));
    assert!(queue.lags(&shared, at(30_000)));
    // A trickle is no progress.
    let mut taken = vec![];
    queue.write(&shared, at(29_000), taker(&mut [PROGRESS - 1].into_iter(), &mut taken)).unwrap();
    assert!(queue.lags(&shared, at(30_000)));
    queue.write(&shared, at(29_500), taker(&mut [1].into_iter(), &mut taken)).unwrap();
    assert!(!queue.lags(&shared, at(59_000)));
    assert!(queue.lags(&shared, at(60_000)));
    let mut forgiven = queue.clone();
    forgiven.extend_limits(Duration::from_secs(3));
    assert!(!forgiven.lags(&shared, at(62_000)));
    (0..=MAX_CATCH_UP / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
    assert!(queue.lags(&shared, at(29_500)));
}

#[test]
fn slow_reader_is_not_dropped_while_the_system_accepts_bytes_in_lumps() {
    // A third of the doubled buffer plus the largest TCP segment, read at 8 KiB per second.
    let lump = 2 * SEND_BUFFER / 3 + (64 << 10);
    let pause = 1_000 * u64::try_from(lump).unwrap() / 8_192;
    let shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    queue.replay(&shared, Time::ZERO, &history(5 * lump));
    let mut taken = vec![];
    for count in 1..=5 {
        let now = at(count * pause);
        assert!(!queue.lags(&shared, now), "dropped before lump {count}");
        while taken.len() < usize::try_from(count).unwrap() * lump {
            let room = usize::try_from(count).unwrap() * lump - taken.len();
            queue.write(&shared, now, taker(&mut [room].into_iter(), &mut taken)).unwrap();
        }
    }
    assert!(queue.is_empty(&shared));
}

#[test]
fn a_connection_that_reads_faster_than_the_broadcast_is_kept_after_its_history() {
    let mut shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    queue.replay(&shared, Time::ZERO, &history(6 * MAX_LAG));
    let mut taken = vec![];
    let mut furthest = 0;
    // Two bytes are read for each byte that is sent.
    let frame = Bytes::from(vec![7; 32_000]);
    for step in 0.. {
        shared.push(frame.clone());
        let mut room = [64_000].into_iter();
        queue.write(&shared, at(step), taker(&mut room, &mut taken)).unwrap();
        assert!(!queue.lags(&shared, at(step)), "dropped at step {step}");
        furthest = furthest.max(shared.cost_from(queue.place));
        if queue.is_empty(&shared) {
            break;
        }
    }
    assert!(furthest > 2 * MAX_LAG as u64, "it lagged by more than the usual limit: {furthest}");
    assert!(!queue.catches_up(), "it has caught up");
    (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
    assert!(queue.lags(&shared, Time::ZERO));
}

#[test]
fn a_connection_that_stops_reading_after_its_history_is_dropped() {
    let mut shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    queue.replay(&shared, Time::ZERO, &history(PROGRESS));
    (0..2 * MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
    let mut taken = vec![];
    queue.write(&shared, at(1), taker(&mut [PROGRESS + 500].into_iter(), &mut taken)).unwrap();
    assert!(!queue.lags(&shared, at(2)) && queue.catches_up());
    assert!(queue.lags(&shared, at(30_001)), "no progress");
    (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
    assert!(queue.lags(&shared, at(2)), "the lag has grown by more than the usual limit");
}

#[test]
fn one_connection_does_not_delay_the_others() {
    let shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    queue.replay(&shared, Time::ZERO, &history(4 * BURST));
    let mut taken = vec![];
    let mut endless = std::iter::repeat(usize::MAX);
    for round in 1..=3 {
        assert_eq!(queue.write(&shared, Time::ZERO, taker(&mut endless, &mut taken)).unwrap(), Written::Some);
        assert_eq!(taken.len(), round * BURST);
    }
    queue.write(&shared, Time::ZERO, taker(&mut endless, &mut taken)).unwrap();
    assert!(queue.is_empty(&shared));
}

#[test]
fn a_closed_connection_receives_no_later_messages() {
    let mut shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    shared.push(Bytes::from_static(b"before"));
    queue.close(&shared);
    shared.push(Bytes::from_static(b"after"));
    queue.close(&shared);
    let mut taken = vec![];
    let written = queue.write(&shared, Time::ZERO, taker(&mut std::iter::repeat(100), &mut taken)).unwrap();
    assert_eq!((written, &taken[..]), (Written::All, &b"before"[..]));
    assert!(queue.is_empty(&shared) && !queue.is_next(&shared));
}

#[test]
fn a_broken_connection_is_an_error() {
    let shared = Broadcasts::default();
    let mut queue = Queue::new(&shared);
    queue.push(&shared, Bytes::from_static(b"x"));
    assert!(queue.write(&shared, Time::ZERO, |_| Err(io::ErrorKind::BrokenPipe.into())).is_err());
    assert!(queue.write(&shared, Time::ZERO, |_| Ok(0)).is_err());
}
