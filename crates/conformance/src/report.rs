//! The results of a test and their output formats.

mod clean;
mod format;
mod html;
mod json;
mod junit;
mod lines;
mod markdown;
mod model;
mod tap;
mod text;

pub(crate) use clean::shortened;
pub use clean::{Escaped, clean};
pub use format::{Format, list};
pub use html::page as html_page;
pub(crate) use lines::of as message_lines;
pub use model::{Breach, Excerpt, Finding, Message, Outcome, Report, Scenario, Sender, Trouble, Verdict, WrongByte};
pub use text::Style;
