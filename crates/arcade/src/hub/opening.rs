use std::sync::Arc;

use netcore::HostId;
use serde::Deserialize;
use tokio::runtime::Handle;

use super::{Hub, OpenError, resources::Resources};
use crate::{
    fleet::{ClaimError, Fleet},
    games::Options,
    room::{
        Room,
        file::{Access, CODE, Owner, RoomFile, draw_code},
    },
};

/// How many names are tried if other nodes have them.
const ATTEMPTS: usize = 16;

impl Hub {
    /// `maker` is `None` for rooms that the hub opens.
    pub(crate) fn open(
        self: &Arc<Self>,
        options: &Options,
        maker: Option<HostId>,
        permanent: bool,
    ) -> Result<Arc<Room>, OpenError> {
        self.open_with(options, maker, |file| {
            file.permanent = permanent;
            Ok(())
        })
    }

    // `set` completes the room file.
    pub(super) fn open_with(
        self: &Arc<Self>,
        options: &Options,
        maker: Option<HostId>,
        set: impl FnOnce(&mut RoomFile) -> anyhow::Result<()>,
    ) -> Result<Arc<Room>, OpenError> {
        let id = self.reserve_name(options, maker)?;
        self.open_as(&id, options, maker, set)
    }

    /// Checks the limits before the room is opened, since the other hubs may take seconds to accept its name. May block.
    pub(super) fn reserve_name(&self, options: &Options, maker: Option<HostId>) -> Result<String, OpenError> {
        if self.rooms.is_draining() {
            return Err(OpenError::Draining);
        }
        if options.game().is_example() && !self.examples {
            let name = options.game().name();
            return Err(anyhow::anyhow!("this hub does not offer {name}; start it with --examples").into());
        }
        self.has_place(options, maker)?;
        match &self.cluster {
            None => Ok(self.rooms.files.name(options.game().name())?),
            Some(cluster) => self.claim_name(&cluster.fleet, options),
        }
    }

    /// `id` is a reserved name, which is released after an error. May block.
    pub(super) fn open_as(
        self: &Arc<Self>,
        id: &str,
        options: &Options,
        maker: Option<HostId>,
        set: impl FnOnce(&mut RoomFile) -> anyhow::Result<()>,
    ) -> Result<Arc<Room>, OpenError> {
        let mut file = RoomFile::new(id.to_owned(), options.clone());
        file.maker = maker;
        let opened = set(&mut file).map_err(OpenError::from).and_then(|()| {
            let _opening = self.rooms.opening();
            self.has_place(options, maker)?;
            Ok(self.run(file)?)
        });
        match &opened {
            Ok(room) => self.announce(room),
            Err(_) => self.release_name(id),
        }
        opened
    }

    /// May block.
    pub(super) fn release_name(&self, id: &str) {
        if let Some(cluster) = &self.cluster {
            Handle::current().block_on(cluster.fleet.close(id));
        }
    }

    fn has_place(&self, options: &Options, maker: Option<HostId>) -> Result<(), OpenError> {
        let makers: Vec<_> = self.rooms.all().iter().map(|room| room.file().maker).collect();
        self.resources.room(makers.into_iter(), maker).map_err(OpenError::TooMany)?;
        if options.has_own_map() {
            let rooms = self.rooms.all();
            let drawn = rooms.iter().filter(|room| room.file().options.has_own_map());
            let makers: Vec<_> = drawn.map(|room| room.file().maker).collect();
            Resources::own_map(makers.into_iter(), maker).map_err(OpenError::TooMany)?;
        }
        Ok(())
    }

    // May block.
    fn claim_name(&self, fleet: &Fleet, options: &Options) -> Result<String, OpenError> {
        let needs = options.game().rules();
        for _ in 0..ATTEMPTS {
            let id = self.rooms.files.name_above(options.game().name(), fleet.highest())?;
            match Handle::current().block_on(fleet.open(&id, &needs)) {
                Ok(()) => return Ok(id),
                Err(ClaimError::Taken) => {}
                Err(away @ ClaimError::Away) => return Err(OpenError::Unclaimed(away)),
            }
        }
        Err(OpenError::Unclaimed(ClaimError::Taken))
    }

    /// May block.
    pub(super) fn claim_code(&self, code: &str, room: &str) -> Result<(), ClaimError> {
        match &self.cluster {
            Some(cluster) => Handle::current().block_on(cluster.fleet.claim_code(code, room)),
            None => Ok(()),
        }
    }

    pub(crate) fn open_usual(self: &Arc<Self>) -> anyhow::Result<()> {
        for options in Options::permanent(self.examples) {
            if !self.has_permanent(&options) {
                self.open(&options, None, true)?;
            }
        }
        Ok(())
    }

    /// Whether the game has a permanent room, with or without the daily puzzle as in `options`.
    pub(super) fn has_permanent(&self, options: &Options) -> bool {
        let same = |other: &Options| other.game() == options.game() && other.is_daily() == options.is_daily();
        self.rooms.all().iter().map(|room| room.file()).any(|room| room.permanent && same(&room.options))
    }
}

/// In bytes.
pub(crate) const MAX_WORD: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Visibility {
    #[default]
    Public,
    Link,
    Word,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RoomProperties {
    pub(crate) name: Option<String>,
    visibility: Visibility,
    word: Option<String>,
}

impl Hub {
    /// Returns the room and the token of its owner.
    pub(crate) fn open_owned(
        self: &Arc<Self>,
        options: &Options,
        host: HostId,
        properties: RoomProperties,
    ) -> Result<(Arc<Room>, String), OpenError> {
        let (token, owner) = Owner::draw(host)?;
        let room = self.open_with(options, Some(host), |file| {
            file.access = self.access(&file.id, &properties)?;
            (file.owner, file.name) = (Some(owner), properties.name);
            Ok(())
        })?;
        Ok((room, token))
    }

    fn access(&self, id: &str, properties: &RoomProperties) -> anyhow::Result<Access> {
        match (properties.visibility, &properties.word) {
            (Visibility::Public, None) => Ok(Access::Public),
            (Visibility::Link, None) => loop {
                let code = draw_code(CODE)?;
                if self.rooms.all().iter().any(|room| room.access.code() == Some(&*code)) {
                    continue;
                }
                match self.claim_code(&code, id) {
                    Ok(()) => return Ok(Access::Link(code)),
                    Err(ClaimError::Taken) => {}
                    Err(away @ ClaimError::Away) => return Err(away.into()),
                }
            },
            (Visibility::Word, Some(word)) if (1..=MAX_WORD).contains(&word.trim().len()) => {
                Ok(Access::Word(self.secret().word(id, word)))
            }
            (Visibility::Word, _) => {
                anyhow::bail!("a room with the visibility 'word' has a 'word' of 1 to {MAX_WORD} bytes")
            }
            (_, Some(_)) => anyhow::bail!("only a room with the visibility 'word' has a 'word'"),
        }
    }
}
