//! Reads the pictures that a client sends.

use std::collections::BTreeMap;

use robots::{Bomb, DrawMessage, GamePicture, Parameters, Player, PlayerId, Position};

/// The bytes of a datagram that are not read yet. An error says which byte is wrong and why.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Read<T> = Result<T, String>;

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Read<&[u8]> {
        let (at, length) = (self.at, self.bytes.len());
        self.at = at.saturating_add(count);
        self.bytes
            .get(at..self.at)
            .ok_or_else(|| format!("{count} bytes are due at byte {at}, and it has {length} in all"))
    }

    fn u8(&mut self) -> Read<u8> {
        Ok(self.take(1)?.first().copied().unwrap_or_default())
    }

    fn u16(&mut self) -> Read<u16> {
        Ok(self.take(2)?.iter().fold(0, |value, &byte| value << 8 | u16::from(byte)))
    }

    fn u32(&mut self) -> Read<u32> {
        Ok(self.take(4)?.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }

    fn text<T: TryFrom<String>>(&mut self) -> Read<T> {
        let length = self.u8()?.into();
        let at = self.at;
        let text = String::from_utf8(self.take(length)?.to_vec())
            .map_err(|_| format!("the text at byte {at} is not UTF-8"))?;
        T::try_from(text).map_err(|_| format!("the text at byte {at} is too long"))
    }

    fn position(&mut self) -> Read<Position> {
        Ok(Position { x: self.u16()?, y: self.u16()? })
    }

    fn player(&mut self) -> Read<Player> {
        Ok(Player { name: self.text()?, address: self.text()? })
    }

    // Each item has a byte at least, so a wrong count ends at the end of the datagram.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.u32()?;
        (0..count).map(|_| item(self)).collect()
    }

    fn map<T>(&mut self, mut value: impl FnMut(&mut Self) -> Read<T>) -> Read<BTreeMap<PlayerId, T>> {
        let entries = self.list(|reader| Ok((PlayerId(reader.u8()?), value(reader)?)))?;
        let count = entries.len();
        let map: BTreeMap<_, _> = entries.into_iter().collect();
        if map.len() == count { Ok(map) } else { Err("a map has a player twice".to_owned()) }
    }

    fn message(&mut self) -> Read<DrawMessage> {
        match self.u8()? {
            0 => {
                let parameters = Parameters {
                    server_name: self.text()?,
                    players_count: self.u8()?,
                    size_x: self.u16()?,
                    size_y: self.u16()?,
                    game_length: self.u16()?,
                    explosion_radius: self.u16()?,
                    bomb_timer: self.u16()?,
                };
                Ok(DrawMessage::Lobby { parameters, players: self.map(Self::player)? })
            }
            1 => Ok(DrawMessage::Game(GamePicture {
                server_name: self.text()?,
                size_x: self.u16()?,
                size_y: self.u16()?,
                game_length: self.u16()?,
                turn: self.u16()?,
                players: self.map(Self::player)?,
                player_positions: self.map(Self::position)?,
                blocks: self.list(Self::position)?,
                bombs: self.list(|reader| Ok(Bomb { position: reader.position()?, timer: reader.u16()? }))?,
                explosions: self.list(Self::position)?,
                scores: self.map(Self::u32)?,
            })),
            tag => Err(format!("the tag {tag} is neither 0 (Lobby) nor 1 (Game)")),
        }
    }
}

/// Reads a datagram. The lists that have no order come sorted.
pub(super) fn read(bytes: &[u8]) -> Read<DrawMessage> {
    let mut reader = Reader { bytes, at: 0 };
    let message = reader.message()?;
    let rest = bytes.len().saturating_sub(reader.at);
    if rest > 0 {
        return Err(format!("{rest} bytes are left over behind the message of {} bytes", reader.at));
    }
    Ok(sorted(message))
}

/// With the lists sorted that have no order.
pub(super) fn sorted(mut message: DrawMessage) -> DrawMessage {
    if let DrawMessage::Game(game) = &mut message {
        game.blocks.sort_unstable();
        game.bombs.sort_unstable();
        game.explosions.sort_unstable();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_protocol_are_read() {
        let lobby = [0, 1, b's', 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 0, 0, 0];
        assert!(matches!(read(&lobby), Ok(DrawMessage::Lobby { players, .. }) if players.is_empty()));
        let game = [
            1, 1, b's', 0, 2, 0, 3, 0, 4, 0, 1, 0, 0, 0, 1, 0, 1, b'a', 1, b'b', 0, 0, 0, 1, 0, 0, 1, 0, 2, 0, 0, 0, 1,
            0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
        ];
        let Ok(DrawMessage::Game(picture)) = read(&game) else { panic!("{:?}", read(&game)) };
        assert_eq!(picture.bombs, [Bomb { position: Position { x: 1, y: 1 }, timer: 6 }]);
        for length in 0..game.len() {
            assert!(read(&game[..length]).is_err());
        }
        let why = read(&[&game[..], &[0]].concat()).unwrap_err();
        assert_eq!(why, "1 bytes are left over behind the message of 60 bytes");
    }
}
