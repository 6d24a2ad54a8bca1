//! Explains the messages of robots byte by byte, for people who debug a program of their own.
//!
//! - [`format`](mod@format) describes the wire format as data. All explanations come from it. Tests compare it with the decoders
//!   of the crate `robots`, on complete, truncated and damaged messages.
//! - [`explain`] reads bytes in pieces of any size and gives a [`Report`] for each message.
//!   [`Note`]s point at what is well-formed and makes no sense.
//! - [`text`] writes a report for people, [`json`] for programs.
//!
//! None of these does input or output; the program has the sockets, files and standard output.
//!
//! ```
//! use robots_verify::{Explainer, Fault, Kind};
//!
//! let mut explainer = Explainer::new(Kind::Client);
//! // PlaceBomb, and a move into a direction that there is not.
//! let mut bytes = &[1, 3, 7][..];
//! let first = explainer.next(&mut bytes).unwrap();
//! assert_eq!((first.name, first.fault), (Some("PlaceBomb"), None));
//! let second = explainer.next(&mut bytes).unwrap();
//! assert_eq!(second.at, 1);
//! assert!(matches!(second.fault, Some(Fault::UnknownTag { at: 1, tag: 7, .. })));
//! ```

pub mod explain;
pub mod format;
pub mod json;
mod report;
mod sense;
pub mod text;

pub use explain::Explainer;
pub use format::Kind;
pub use report::{Around, Fault, Field, Label, Line, Note, Report, Value};
