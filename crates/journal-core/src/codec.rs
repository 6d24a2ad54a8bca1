//! Encodes values with bincode 2.0.1, standard configuration. No other module depends on bincode.
//!
//! bincode is unmaintained (RUSTSEC-2025-0141, ignored in `deny.toml`), and version 3.0.0 does not compile on purpose.
//! We pin 2.0.1 because the format is small, documented and finished: integers take 1 to 9 bytes, lengths precede their
//! items, and the number of a variant precedes its fields. `wincode_writes_the_same_bytes` shows that another crate is
//! compatible.

use ::serde::{Serialize, de::DeserializeOwned};
use bincode::{
    config::{Configuration, Limit, standard},
    enc::write::Writer,
    error::{DecodeError, EncodeError},
    serde,
};
use netcore::Fingerprint;

/// Limits the memory of a decoded value: a length in a damaged file may be wrong.
const MAX_VALUE: usize = 64 << 20;

const CONFIG: Configuration<bincode::config::LittleEndian, bincode::config::Varint, Limit<MAX_VALUE>> =
    standard().with_limit::<MAX_VALUE>();

struct Bounded<'a> {
    out: &'a mut Vec<u8>,
    max: usize,
}

impl Writer for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        if self.out.len() + bytes.len() > self.max {
            return Err(EncodeError::Other("the record is too long"));
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }
}

#[derive(Default)]
struct Hashing {
    hash: Fingerprint,
    // Not hashed yet: the hash takes eight bytes at a time, however the encoding is split.
    pending: Vec<u8>,
    length: usize,
}

impl Hashing {
    const BLOCK: usize = 4 << 10;

    fn hash_pending(&mut self) {
        self.hash.add_bytes(&self.pending);
        self.pending.clear();
    }
}

impl Writer for Hashing {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), EncodeError> {
        self.length += bytes.len();
        while self.pending.len() + bytes.len() >= Self::BLOCK {
            let (front, rest) = bytes.split_at(Self::BLOCK - self.pending.len());
            self.pending.extend_from_slice(front);
            self.hash_pending();
            bytes = rest;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }
}

pub(crate) fn hash(value: &impl Serialize) -> (u64, usize) {
    let mut hashing = Hashing::default();
    let encoded = serde::encode_into_writer(value, &mut hashing, CONFIG).is_ok();
    debug_assert!(encoded, "plain data can always be encoded");
    hashing.hash_pending();
    (hashing.hash.value(), hashing.length)
}

pub(crate) fn hash_encoded(bytes: &[u8]) -> u64 {
    let mut hash = Fingerprint::new();
    let blocks = bytes.chunks_exact(Hashing::BLOCK);
    let rest = blocks.remainder();
    blocks.chain([rest]).for_each(|block| hash.add_bytes(block));
    hash.value()
}

/// Returns `false` and leaves `out` unchanged if it would exceed `max` bytes.
pub(crate) fn encode_within(value: &impl Serialize, out: &mut Vec<u8>, max: usize) -> bool {
    let before = out.len();
    let encoded = serde::encode_into_writer(value, Bounded { out, max }, CONFIG).is_ok();
    if !encoded {
        out.truncate(before);
    }
    encoded
}

pub(crate) fn encode(value: &impl Serialize, out: &mut Vec<u8>) {
    let encoded = encode_within(value, out, usize::MAX);
    debug_assert!(encoded, "plain data can always be encoded");
}

/// Decodes the front of `bytes` and returns the length of that part; `None` if it is invalid.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, usize)> {
    serde::decode_from_slice(bytes, CONFIG).ok()
}

/// Fails unless the value uses all of `bytes`.
pub(crate) fn decode_all<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match serde::decode_from_slice(bytes, CONFIG) {
        Ok((value, length)) if length == bytes.len() => Ok(value),
        Ok((_, length)) => Err(format!("{} bytes too many", bytes.len() - length)),
        Err(DecodeError::UnexpectedEnd { .. }) => Err("it ends too early".to_owned()),
        Err(DecodeError::LimitExceeded) => Err("a length in it is too large".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use netcore::{DisconnectReason, Leave, Link, Outcome, PeerId, Role, Time};
    use wincode::{
        SchemaRead, SchemaWrite,
        config::{Config, Configuration, deserialize_exact, serialize},
    };

    use super::*;
    use crate::{Head, Mark, Note, Peer, Snapshot};

    // Compares both encodings. `mirror` is the value as tuples, because wincode's derived code for structs contains
    // `unsafe`: a struct is encoded as its fields in order, a variant as its number and its fields.
    fn same<C: Config + Copy, T, M>(config: C, value: &T, mirror: &M)
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug,
        M: SchemaWrite<C, Src = M> + for<'a> SchemaRead<'a, C, Dst = M> + PartialEq + Debug,
    {
        let mut bytes = vec![];
        encode(value, &mut bytes);
        let others = serialize(mirror, config).unwrap();
        assert_eq!(bytes, others, "{value:?}");
        assert_eq!(deserialize_exact::<M, C>(&bytes, config).unwrap(), *mirror);
        assert_eq!(decode_all::<T>(&others).unwrap(), *value);
    }

    type PeerMirror = (u64, u32, u32, String);

    fn peer(number: u64, role: Role, link: Link, address: &str) -> (Peer, PeerMirror) {
        let peer = Peer { peer: PeerId(number), role, link, address: address.to_owned() };
        (peer, (number, role as u32, link as u32, address.to_owned()))
    }

    #[test]
    fn wincode_writes_the_same_bytes() {
        let config = Configuration::default().with_varint_encoding();
        for number in [0, 1, 250, 251, 65_535, 65_536, 0xFFFF_FFFF, 0x1_0000_0000, u64::MAX] {
            same(config, &number, &number);
            same(config, &Note::Resumed { at: number }, &(2_u32, number));
            same(config, &Note::Suspended { at: number }, &(3_u32, number));
        }
        for why in
            [DisconnectReason::Left, DisconnectReason::Broken, DisconnectReason::Lagging, DisconnectReason::Interrupted]
        {
            same(config, &why, &(why as u32));
        }
        for leave in [Leave::Over, Leave::Resumable] {
            same(config, &leave, &(leave as u32));
        }
        for outcome in [Outcome::Finished, Outcome::Deserted, Outcome::Stopped] {
            same(config, &Note::Over(outcome), &(4_u32, outcome as u32));
        }
        same(config, &Note::Broken, &5_u32);

        let (ann, mirror) = peer(3, Role::Player, Link::Stream, "127.0.0.1:40001");
        same(config, &ann, &mirror);
        let (bob, other) = peer(u64::MAX, Role::Watcher, Link::Message, "[::1]:2");
        same(config, &bob, &other);

        let mark = Mark { time: Time::from_millis(90_000), arrivals: 300, digest: 0xFEDC_BA98_7654_3210 };
        let numbers = (90_000_000_000_u64, 300_u64, 0xFEDC_BA98_7654_3210_u64);
        same(config, &Note::Mark(mark), &(0_u32, numbers));

        let state: Vec<u8> = (0..=255).collect();
        let peers = vec![(0, ann), (1_000, bob)];
        let snapshot =
            Snapshot { mark, offset: 70_000, sum: 0x1234_5678, next_peer: PeerId(4), peers, state: state.clone() };
        let fields =
            (numbers, 70_000_u64, 0x1234_5678_u32, 4_u64, vec![(0_u32, mirror), (1_000_u32, other)], state.clone());
        same(config, &Note::Snapshot(snapshot.clone()), &(1_u32, fields.clone()));

        let listen = vec!["127.0.0.1:65535".parse().unwrap()];
        let text = |text: &str| text.to_owned();
        let mut head = Head::test(listen, state.clone());
        head.base = Some(snapshot);
        let v4 = vec![(0_u32, [127_u8, 0, 0, 1], 65_535_u16)];
        same(config, &head, &(9_u64, text("chess"), 7_u32, text("1.2.3"), 1_763_793_471_u64, v4, Some(fields), state));
        let mut localhost = [0_u8; 16];
        localhost[15] = 1;
        let head = Head::test(vec!["[::1]:9".parse().unwrap()], vec![]);
        let v6 = vec![(1_u32, localhost, 9_u16)];
        let nothing: Option<u64> = None;
        let (chess, version, setup) = (text("chess"), text("1.2.3"), Vec::<u8>::new());
        same(config, &head, &(9_u64, chess, 7_u32, version, 1_763_793_471_u64, v6, nothing, setup));
    }

    #[test]
    fn a_number_of_64_bits_has_the_same_bytes_in_a_field_of_128() {
        for number in [0, 250, 251, 65_536, 1 << 32, u64::MAX] {
            let (mut narrow, mut wide) = (vec![], vec![]);
            encode(&number, &mut narrow);
            encode(&u128::from(number), &mut wide);
            assert_eq!(narrow, wide, "{number}");
            assert_eq!(decode_all::<u128>(&narrow), Ok(number.into()));
        }
        let mut bytes = vec![];
        encode(&(1_u128 << 64), &mut bytes);
        assert_eq!(decode_all::<u128>(&bytes), Ok(1 << 64));
        assert!(decode_all::<u64>(&bytes).is_err(), "an older version rejects it and guesses nothing");
    }

    #[test]
    fn hash_depends_on_the_bytes_alone() {
        let parts: Vec<Vec<u8>> = (0..40).map(|length| vec![7; length * length * 3]).collect();
        let mut bytes = vec![];
        encode(&parts, &mut bytes);
        assert!(bytes.len() > 4 * Hashing::BLOCK);
        assert_eq!(hash(&parts), (hash_encoded(&bytes), bytes.len()));
        for at in [0, 1, Hashing::BLOCK - 1, Hashing::BLOCK, bytes.len() - 1] {
            bytes[at] ^= 1;
            assert_ne!(hash(&parts).0, hash_encoded(&bytes), "byte {at}");
            bytes[at] ^= 1;
        }
        let text = "x".repeat(Hashing::BLOCK - 3);
        let mut bytes = vec![];
        encode(&text, &mut bytes);
        assert_eq!((hash(&text), bytes.len()), ((hash_encoded(&bytes), Hashing::BLOCK), Hashing::BLOCK));
    }

    #[test]
    fn a_value_that_is_too_long_leaves_the_buffer_unchanged() {
        let mut out = vec![7];
        assert!(!encode_within(&[1_u8; 10], &mut out, 10));
        assert_eq!(out, [7]);
        assert!(encode_within(&[1_u8; 9], &mut out, 10));
        assert_eq!(out.len(), 10);
    }

    #[test]
    fn trailing_bytes_are_rejected() {
        assert_eq!(decode_all::<u64>(&[5]), Ok(5));
        assert_eq!(decode_all::<u64>(&[5, 6]), Err("1 bytes too many".to_owned()));
        assert_eq!(decode_all::<u64>(&[251, 6]), Err("it ends too early".to_owned()));
        // Lengths that do not fit into memory.
        let claim = [253, 255, 255, 255, 255, 255, 255, 255, 127];
        assert!(decode_all::<Vec<u8>>(&claim).is_err() && decode_all::<String>(&claim).is_err());
    }
}
