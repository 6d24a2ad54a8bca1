//! The codes of the rooms of this node.

use std::{collections::BTreeMap, sync::Arc};

use mesh::{Directory, Entry, Key, MeshError, Name, Revision, Value, Written};
use tracing::warn;

use super::shared::Refused;

/// The codes that this node has claimed.
#[derive(Debug, Default)]
pub(super) struct Codes(BTreeMap<Name, Claimed>);

#[derive(Debug, Clone)]
struct Claimed {
    room: Name,
    revision: Revision,
}

impl Codes {
    /// Notes a code that was claimed.
    pub(super) fn note(&mut self, code: Name, room: Name, revision: Revision) {
        self.0.insert(code, Claimed { room, revision });
    }

    /// Gives up the codes of a room.
    pub(super) fn release(&mut self, room: &Name, directory: &Arc<dyn Directory>) {
        for (code, Claimed { revision, .. }) in self.0.extract_if(.., |_, claimed| claimed.room == *room) {
            let directory = Arc::clone(directory);
            tokio::spawn(async move {
                // Otherwise it goes when it is old enough.
                let _ = directory.write(&Key::Code(code), None, Some(revision)).await;
            });
        }
    }

    /// Forgets the codes of a room that somebody else has.
    pub(super) fn forget(&mut self, room: &Name) {
        self.0.retain(|_, claimed| claimed.room != *room);
    }

    /// All of them, to be claimed again before they are too old to be kept.
    pub(super) fn all(&self) -> Vec<(Name, Name)> {
        self.0.iter().map(|(code, claimed)| (code.clone(), claimed.room.clone())).collect()
    }
}

/// Claims a code for a room, or writes again that the room has it. Gives when.
pub(super) async fn claim(directory: &dyn Directory, code: &Name, room: &Name) -> Result<Revision, Refused> {
    try_claim(directory, code, room).await.unwrap_or_else(|error| {
        warn!("a code cannot be claimed: {error}");
        Err(Refused::Away)
    })
}

async fn try_claim(
    directory: &dyn Directory,
    code: &Name,
    room: &Name,
) -> Result<Result<Revision, Refused>, MeshError> {
    let (key, value) = (Key::Code(code.clone()), Value::Code(room.clone()));
    let mut expected = None;
    loop {
        match directory.write(&key, Some(&value), expected).await? {
            Written::Stored(revision) => return Ok(Ok(revision)),
            // An earlier attempt, or an earlier run.
            Written::Conflict(Some(Entry { revision, value: Value::Code(of) })) if of == *room => {
                expected = Some(revision);
            }
            Written::Conflict(None) if expected.is_some() => expected = None,
            Written::Conflict(_) => return Ok(Err(Refused::Taken)),
        }
    }
}

#[cfg(test)]
mod tests {
    use mesh::Local;
    use netcore::Time;

    use super::*;

    #[tokio::test]
    async fn a_code_is_for_one_room() {
        let mesh = Local::new(|| Time::ZERO);
        let name = |text: &str| text.parse::<Name>().unwrap();
        let (code, room, other) = (name("abcdef"), name("nuggets-1"), name("nuggets-2"));
        let first = claim(&mesh, &code, &room).await.unwrap();
        assert_eq!(claim(&mesh, &code, &other).await, Err(Refused::Taken));
        let again = claim(&mesh, &code, &room).await.unwrap();
        assert!(again > first, "it is young again");
        let (mut codes, directory) = (Codes::default(), Arc::new(mesh.clone()) as Arc<dyn Directory>);
        codes.note(code.clone(), room.clone(), again);
        codes.release(&other, &directory);
        assert_eq!(codes.all(), [(code.clone(), room.clone())]);
        codes.release(&room, &directory);
        assert_eq!(codes.all(), []);
        while mesh.entry(&Key::Code(code.clone())).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
        claim(&mesh, &code, &other).await.unwrap();
    }
}
