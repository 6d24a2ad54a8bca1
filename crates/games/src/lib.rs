//! The list of games, and their messages in words.

#![no_std]
#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

extern crate alloc;

mod description;

pub use blackjack;
pub use four_in_a_row;
pub use mastermind;
pub use nuggets;
pub use robots;
pub use turnbased;

pub use crate::description::{Describe, Description, blackjack_message, plain};

/// Calls another macro with all games, in the order shown to users.
///
/// `native` games have wire protocols of their own: the module that a program has for each, its name as a variant, and its engine.
/// `turn_based` games share the protocol of [`turnbased`]: the name as a variant, and the rules. Arguments are passed
/// in front of the lists.
///
/// ```ignore
/// macro_rules! names {
///     (native { $($module:ident $name:ident $engine:ty;)* } turn_based { $($table:ident $rules:ty;)* }) => {
///         const NAMES: &[&str] = &[$(stringify!($name),)* $(stringify!($table),)*];
///     };
/// }
/// games::list!(names);
/// ```
#[macro_export]
macro_rules! list {
    ($callback:ident $($argument:tt)*) => {
        $callback! {
            $($argument)*
            native {
                nuggets Nuggets $crate::nuggets::Server;
                robots Robots $crate::robots::Server;
                blackjack Blackjack $crate::blackjack::Server;
                mastermind Mastermind $crate::mastermind::Server;
            }
            turn_based {
                FourInARow $crate::four_in_a_row::Position;
            }
        }
    };
}
