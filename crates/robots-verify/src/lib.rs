//! Explains the messages of robots byte by byte, for people who debug a program of their own.
//!
//! - [`format`](mod@format) is the description of the wire format, as data: the one thing that explanations come from. Tests hold it
//!   against the decoders of the crate `robots`, on whole messages, on their fronts and on damaged ones.
//! - [`explain`] walks over bytes along that description, in pieces of any size, and gives a [`Report`] for each message ([`report`](mod@report)).
//! - [`sense`] finds what is well-formed and still cannot be meant.
//! - [`text`] writes a report for people, [`json`] for programs.
//!
//! None of these touches the world; sockets, files and standard output are the program's.
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
pub mod report;
pub mod sense;
pub mod text;

pub use explain::Explainer;
pub use format::Kind;
pub use report::{Around, Fault, Field, Label, Line, Report, Value};
