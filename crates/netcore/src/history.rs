//! A history for peers that join late.

use alloc::{sync::Arc, vec::Vec};
use bytes::{Bytes, BytesMut};
use core::fmt;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, SeqAccess, Visitor},
    ser::SerializeSeq,
};

/// The maximum size of a segment in bytes. A longer frame is a segment of its own.
const SEGMENT: usize = 16 << 10;

/// Appends frames to a history, and returns snapshots of it.
///
/// Short frames share segments. Snapshots share finished segments; the growing one is copied at most once between two
/// appends.
///
/// ```
/// let mut writer = netcore::HistoryWriter::new();
/// writer.append(|out| out.extend_from_slice(b"one"));
/// let history = writer.snapshot();
/// let frame = writer.append(|out| out.extend_from_slice(b"two"));
/// assert_eq!(frame, &b"two"[..]);
/// assert_eq!((history.len(), writer.snapshot().len()), (3, 6));
/// ```
#[derive(Debug, Clone, Default)]
pub struct HistoryWriter {
    finished: Arc<Vec<Segment>>,
    finished_bytes: usize,
    growing: BytesMut,
    // The end offsets of the frames in `growing`.
    ends: Vec<u32>,
    // The growing segment at the last snapshot; valid while the lengths are equal.
    copied: Segment,
    scratch: BytesMut,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Segment {
    bytes: Bytes,
    ends: Arc<[u32]>,
}

impl HistoryWriter {
    /// An empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the frame that `write` puts into an empty buffer, and returns it. It must be shorter than 4 GiB.
    pub fn append(&mut self, write: impl FnOnce(&mut BytesMut)) -> Bytes {
        write(&mut self.scratch);
        let frame = self.scratch.split().freeze();
        if frame.is_empty() {
            return frame;
        }
        if self.growing.len() + frame.len() > SEGMENT {
            self.finish();
        }
        if frame.len() > SEGMENT {
            let ends = Arc::new([end(frame.len())]);
            self.push(Segment { bytes: frame.clone(), ends });
        } else {
            self.growing.extend_from_slice(&frame);
            self.ends.push(end(self.growing.len()));
        }
        frame
    }

    /// The history so far.
    pub fn snapshot(&mut self) -> History {
        self.copied = self.last();
        self.history()
    }

    /// As [`snapshot`](HistoryWriter::snapshot), but does not cache a copy of the growing segment.
    pub fn history(&self) -> History {
        History { finished: Arc::clone(&self.finished), last: self.last(), bytes: self.len() }
    }

    fn last(&self) -> Segment {
        if self.copied.bytes.len() == self.growing.len() {
            return self.copied.clone();
        }
        Segment { bytes: Bytes::copy_from_slice(&self.growing), ends: self.ends.as_slice().into() }
    }

    /// The length of the history in bytes.
    pub fn len(&self) -> usize {
        self.finished_bytes + self.growing.len()
    }

    /// Whether the history is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn finish(&mut self) {
        self.copied = Segment::default();
        if !self.growing.is_empty() {
            let bytes = self.growing.split().freeze();
            let ends = self.ends.as_slice().into();
            self.ends.clear();
            self.push(Segment { bytes, ends });
        }
    }

    fn push(&mut self, segment: Segment) {
        self.finished_bytes += segment.bytes.len();
        // Copies the list, not the bytes, and only while an older snapshot exists.
        Arc::make_mut(&mut self.finished).push(segment);
    }
}

/// Shares finished segments; copies only the growing one.
impl From<History> for HistoryWriter {
    fn from(History { finished, last, bytes }: History) -> Self {
        Self {
            finished_bytes: bytes - last.bytes.len(),
            finished,
            growing: BytesMut::from(&last.bytes[..]),
            ends: last.ends.to_vec(),
            copied: last,
            scratch: BytesMut::new(),
        }
    }
}

fn end(offset: usize) -> u32 {
    debug_assert!(u32::try_from(offset).is_ok(), "frames are bounded far below 4 GiB");
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// A snapshot of a history: concatenated frames. Clones share the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    finished: Arc<Vec<Segment>>,
    last: Segment,
    bytes: usize,
}

impl History {
    /// The bytes, in non-empty segments of complete frames, for stream links.
    pub fn segments(&self) -> impl Iterator<Item = &Bytes> {
        let last = (!self.last.bytes.is_empty()).then_some(&self.last);
        self.finished.iter().chain(last).map(|segment| &segment.bytes)
    }

    /// The frames, for links with one message per frame. Copies no bytes.
    pub fn frames(&self) -> impl Iterator<Item = Bytes> {
        self.finished.iter().chain([&self.last]).flat_map(|Segment { bytes, ends }| {
            let mut start = 0;
            ends.iter().map(move |&end| {
                let end = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
                bytes.slice(core::mem::replace(&mut start, end)..end)
            })
        })
    }

    /// The length in bytes.
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the history is empty.
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// Serialized as a list of frames. Deserialization rebuilds the segments.
impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.finished.iter().chain([&self.last]).map(|segment| segment.ends.len()).sum();
        let mut list = serializer.serialize_seq(Some(count))?;
        for frame in self.frames() {
            list.serialize_element(&frame)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Frames)
    }
}

struct Frames;

impl<'de> Visitor<'de> for Frames {
    type Value = History;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of frames")
    }

    // Reads one frame at a time, so that memory grows only with received bytes.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<History, A::Error> {
        let mut writer = HistoryWriter::new();
        while let Some(frame) = list.next_element::<Bytes>()? {
            if frame.is_empty() || u32::try_from(frame.len()).is_err() {
                return Err(A::Error::invalid_length(frame.len(), &"a frame of 1 byte to 4 GiB"));
            }
            writer.append(|out| out.extend_from_slice(&frame));
        }
        Ok(writer.snapshot())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn bytes(history: &History) -> Vec<u8> {
        let bytes: Vec<u8> = history.segments().flatten().copied().collect();
        assert_eq!(bytes.len(), history.len());
        assert!(history.segments().all(|segment| !segment.is_empty()));
        bytes
    }

    #[test]
    fn a_snapshot_holds_everything_appended_before_it() {
        let (mut writer, mut written, mut frames, mut kept) = (HistoryWriter::new(), vec![], vec![], vec![]);
        for round in 0..2_000_usize {
            let length = if round % 700 == 350 { SEGMENT + round } else { round % 50 };
            let frame: Vec<u8> = (0..length).map(|at| u8::try_from((round * 31 + at) % 251).unwrap()).collect();
            assert_eq!(writer.append(|out| out.extend_from_slice(&frame)), frame);
            written.extend_from_slice(&frame);
            if !frame.is_empty() {
                frames.push(frame);
            }
            if round % 97 == 0 {
                kept.push((writer.snapshot(), written.len(), frames.len()));
            }
        }
        for (history, length, count) in kept {
            assert_eq!(bytes(&history), written[..length]);
            assert!(history.frames().eq(frames[..count].iter().cloned()), "frame by frame as well");
        }
        assert!(written.len() > 4 * SEGMENT);
    }

    #[test]
    fn history_with_a_snapshot_after_each_frame_has_few_segments() {
        let mut writer = HistoryWriter::new();
        let mut history = History::default();
        for _ in 0..65_536 {
            writer.append(|out| out.extend_from_slice(&[7; 25]));
            history = writer.snapshot();
        }
        assert_eq!(history.len(), 25 * 65_536);
        assert!(history.segments().count() <= 25 * 65_536 / SEGMENT + 2);
    }

    #[test]
    fn a_history_can_be_continued_from_any_snapshot_and_from_its_serialized_form() {
        let frame = |round: usize| {
            vec![u8::try_from(round % 251).unwrap(); if round % 400 == 7 { SEGMENT + 1 } else { round % 90 }]
        };
        let mut writer = HistoryWriter::new();
        for round in 0..1_000 {
            if round % 83 == 0 {
                let history = writer.history();
                assert_eq!(history, writer.snapshot());
                let paper = serde_json::to_string(&history).unwrap();
                let read: History = serde_json::from_str(&paper).unwrap();
                assert_eq!(read, history, "cut into the same segments");
                let mut all = [writer.clone(), HistoryWriter::from(history), HistoryWriter::from(read)];
                for later in round..round + 500 {
                    for writer in &mut all {
                        writer.append(|out| out.extend_from_slice(&frame(later)));
                    }
                }
                let [untouched, again, read] = all.map(|mut writer| writer.snapshot());
                assert!(again == untouched && read == untouched);
            }
            writer.append(|out| out.extend_from_slice(&frame(round)));
        }
    }

    #[test]
    fn snapshots_and_continued_histories_share_finished_segments() {
        let mut writer = HistoryWriter::new();
        for _ in 0..2_000 {
            writer.append(|out| out.extend_from_slice(&[7; 25]));
        }
        let places = |history: &History| history.segments().map(|segment| segment.as_ptr()).collect::<Vec<_>>();
        let again = HistoryWriter::from(writer.history());
        let (one, other) = (places(&writer.history()), places(&again.history()));
        assert_eq!(one[..one.len() - 1], other[..one.len() - 1], "finished segments");
        assert!(one.len() > 1);
        assert_eq!(places(&writer.snapshot()), places(&writer.history()), "the growing one is copied once");
    }

    #[test]
    fn an_empty_frame_is_rejected_when_a_history_is_read() {
        assert!(serde_json::from_str::<History>("[[1],[2,3]]").is_ok_and(|history| bytes(&history) == [1, 2, 3]));
        for wrong in ["[[1],[]]", "[[256]]", "[1]", "{}", "7"] {
            assert!(serde_json::from_str::<History>(wrong).is_err(), "{wrong}");
        }
    }
}
