//! Stores a match and counts it.

use crate::{
    Kind, Match, Store, StoreError,
    connection::Connection,
    count::{Counted, count},
    database::serialized,
    names::note_use,
};

/// A match that is to be stored.
pub type NewMatch = Match<Entry>;

/// A player in the result of a match.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// The rank, from 1; equal scores may share one.
    pub rank: u32,
    /// The name.
    pub name: String,
    /// How far it is to be trusted.
    pub kind: Kind,
    /// The seat in the game's own terms.
    pub seat: String,
    /// The score in the game's own unit.
    pub score: i64,
    /// Whether it counts as won.
    pub won: bool,
    /// Whether the player left before the end, which counts as the last place.
    pub quit: bool,
    /// What stands for its host on that day, without telling which it is; empty if that is not known.
    #[serde(default)]
    pub host: String,
    /// How well a bot plays, as its rating is called; empty for others, and if it is not known.
    #[serde(default)]
    pub level: String,
}

impl Store {
    /// Stores a match and counts it, all or nothing. Returns `false` if it is stored already.
    ///
    /// # Errors
    /// When the database does not take it. It can be tried again.
    pub async fn record(&self, new: &NewMatch) -> Result<bool, StoreError> {
        if new.players.is_empty() {
            return Ok(false);
        }
        serialized!(self, self.try_record(new))
    }

    // Any error, also one in between, closes the connection: then nothing of the transaction is stored.
    async fn try_record(&self, new: &NewMatch) -> Result<bool, StoreError> {
        let mut writer = self.writer.lease().await?;
        writer.begin().await?;
        let text = "INSERT INTO matches (id, game, title, room, journal, number, begins, ends, started, ended, complete, class, casual) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING";
        let values = [
            (&new.id).into(),
            (&new.game).into(),
            (&new.title).into(),
            (&new.room).into(),
            (&new.journal).into(),
            i64::from(new.number).into(),
            new.begins.into(),
            new.ends.into(),
            new.started.into(),
            new.ended.into(),
            i64::from(new.complete).into(),
            (&new.class).into(),
            (&new.casual).into(),
        ];
        let is_new = writer.execute(text, &values).await? == 1;
        if is_new {
            let counted = count(&mut writer, new).await?;
            if let Some(casual) = counted.casual {
                let text = "UPDATE matches SET casual = $2 WHERE id = $1";
                writer.execute(text, &[(&new.id).into(), casual.into()]).await?;
            }
            store_players(&mut writer, new, &counted).await?;
        }
        writer.execute("COMMIT", &[]).await?;
        writer.done();
        Ok(is_new)
    }
}

async fn store_players(writer: &mut Connection, new: &NewMatch, counted: &Counted) -> Result<(), StoreError> {
    for (place, player) in (0_i64..).zip(&new.players) {
        let text = "INSERT INTO players (match_id, place, standing, name, kind, seat, score, rating, game, ended, class, quit) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let values = [
            (&new.id).into(),
            place.into(),
            i64::from(player.rank).into(),
            (&player.name).into(),
            player.kind.number().into(),
            (&player.seat).into(),
            player.score.into(),
            counted.rating(player).into(),
            (&new.game).into(),
            new.ended.into(),
            (&new.class).into(),
            i64::from(player.quit).into(),
        ];
        writer.execute(text, &values).await?;
        if player.kind == Kind::Proven {
            note_use(writer, &player.name).await?;
        }
    }
    if new.players.iter().any(|player| player.kind != Kind::Bot) {
        let text = "INSERT INTO journals (file, room, title, examined, people) VALUES ($1, $2, $3, 0, 1) \
                    ON CONFLICT (file) DO UPDATE SET people = 1";
        writer.execute(text, &[(&new.journal).into(), (&new.room).into(), (&new.title).into()]).await?;
    }
    Ok(())
}
