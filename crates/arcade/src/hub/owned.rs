//! Rooms that somebody owns, and how they are opened.

use std::sync::Arc;

use netcore::HostId;
use serde::Deserialize;

use super::{Hub, OpenError};
use crate::{
    fleet::Refused,
    games::Options,
    room::{
        Room,
        file::{Access, CODE, Owner, draw_code},
    },
};

/// The longest word of a room, in bytes.
pub(crate) const MAX_WORD: usize = 64;

/// Who is to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Visibility {
    #[default]
    Public,
    Link,
    Word,
}

/// What somebody wants of a room besides its options.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Wish {
    pub(crate) name: Option<String>,
    visibility: Visibility,
    word: Option<String>,
}

impl Hub {
    /// Opens a room that belongs to somebody at `host`. Gives the token of its owner too.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when the wish is not possible.
    pub(crate) fn open_owned(
        self: &Arc<Self>,
        options: &Options,
        host: HostId,
        wish: Wish,
    ) -> Result<(Arc<Room>, String), OpenError> {
        let (token, owner) = Owner::draw(host)?;
        let room = self.open_with(options, Some(host), |file| {
            file.access = self.access(&file.id, &wish)?;
            (file.owner, file.name) = (Some(owner), wish.name);
            Ok(())
        })?;
        Ok((room, token))
    }

    fn access(&self, id: &str, wish: &Wish) -> anyhow::Result<Access> {
        match (wish.visibility, &wish.word) {
            (Visibility::Public, None) => Ok(Access::Public),
            (Visibility::Link, None) => loop {
                let code = draw_code(CODE)?;
                if self.rooms.all().iter().any(|room| room.access.code() == Some(&*code)) {
                    continue;
                }
                match self.claim_code(&code, id) {
                    Ok(()) => return Ok(Access::Link(code)),
                    Err(Refused::Taken) => {}
                    Err(away @ Refused::Away) => return Err(away.into()),
                }
            },
            (Visibility::Word, Some(word)) if (1..=MAX_WORD).contains(&word.len()) => {
                Ok(Access::Word(self.secret().word(id, word)))
            }
            (Visibility::Word, _) => {
                anyhow::bail!("a room with the visibility 'word' has a 'word' of 1 to {MAX_WORD} bytes")
            }
            (_, Some(_)) => anyhow::bail!("only a room with the visibility 'word' has a 'word'"),
        }
    }
}
