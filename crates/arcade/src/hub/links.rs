//! Codes by which a name goes to another device: each is for one name, once, and for a while.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use netcore::HostId;

use super::{
    refusal::{Kind, Refusal},
    shares::{Share, Shares},
};
use crate::room::access::{self, CODE};

/// How long a code is valid.
pub(crate) const LINK_LIVES: Duration = Duration::from_mins(10);
/// Codes that are valid at the same time, shared out over hosts.
pub(crate) const MAX_LINKS: usize = 1_024;

/// The codes that are valid.
#[derive(Debug)]
pub(crate) struct Links {
    shares: Arc<Shares>,
    codes: Mutex<BTreeMap<String, Link>>,
}

#[derive(Debug)]
struct Link {
    name: String,
    until: Instant,
    _share: Share,
}

impl Default for Links {
    fn default() -> Self {
        Self { shares: Shares::new(Kind::Links, MAX_LINKS), codes: Mutex::default() }
    }
}

impl Links {
    /// A code for a name. It replaces the one before.
    ///
    /// # Errors
    /// When there are too many, or the system has no random numbers.
    pub(crate) fn draw(&self, host: HostId, name: &str) -> Result<anyhow::Result<String>, Refusal> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        codes.retain(|_, link| link.until > now && link.name != name);
        let share = self.shares.take(host, 1)?;
        Ok(two().inspect(|code| {
            let link = Link { name: name.to_owned(), until: now + LINK_LIVES, _share: share };
            codes.insert(code.clone(), link);
        }))
    }

    /// The name that a code is for, which is not valid any more then.
    pub(crate) fn redeem(&self, typed: &str) -> Option<String> {
        let letters: String = typed.chars().filter(|letter| !matches!(letter, '-' | ' ')).collect();
        let (first, second) = letters.split_at_checked(CODE)?;
        let code = access::read(first)? + "-" + &access::read(second)?;
        let link = self.codes.lock().unwrap_or_else(PoisonError::into_inner).remove(&code)?;
        (link.until > Instant::now()).then_some(link.name)
    }
}

// Longer than the code of a room, since it is worth more.
fn two() -> anyhow::Result<String> {
    Ok(access::draw()? + "-" + &access::draw()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_valid_once_and_the_last_one_of_a_name() {
        let links = Links::default();
        let ann = HostId::of("10.0.0.1:1");
        let first = links.draw(ann, "Ann").unwrap().unwrap();
        let code = links.draw(ann, "Ann").unwrap().unwrap();
        let bob = links.draw(ann, "Bob").unwrap().unwrap();
        assert_eq!(links.redeem(&first), None);
        assert_eq!(links.redeem(&code.to_uppercase().replace('-', " ")).as_deref(), Some("Ann"));
        assert_eq!(links.redeem(&code), None);
        assert_eq!(links.redeem(&bob).as_deref(), Some("Bob"));
        for wrong in ["", "a", "abcdef", "abcdef-abcde\u{107}", "\u{107}\u{107}\u{107}abcdefabcdef"] {
            assert_eq!(links.redeem(wrong), None, "{wrong}");
        }
        let names = (0..10_000).map(|number| links.draw(ann, &format!("x{number}"))).take_while(Result::is_ok).count();
        assert_eq!(names, MAX_LINKS / 2, "a host has at most half of them");
    }
}
