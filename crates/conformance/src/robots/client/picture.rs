//! Decoded pictures, sorted for comparison.

use bytes::BytesMut;
use netcore::wire::{Encode, read_datagram, read_message};
use robots::{
    DrawMessage, GamePicture,
    protocol::{MAX_PICTURE_ITEMS, encode},
};

pub(super) fn encoded(message: &impl Encode) -> BytesMut {
    let mut bytes = BytesMut::new();
    encode(message, &mut bytes);
    bytes
}

pub(super) fn read(bytes: &[u8]) -> Result<DrawMessage, String> {
    let message: DrawMessage =
        read_datagram(bytes, MAX_PICTURE_ITEMS).map_err(|wrong| format!("{wrong}, in {} bytes", bytes.len()))?;
    // Decoding merges a repeated player.
    if encoded(&message).len() < bytes.len() {
        return Err("a map contains a player twice".to_owned());
    }
    Ok(sorted(message))
}

/// Ignores further bytes.
pub(super) fn read_front(bytes: &[u8]) -> Option<DrawMessage> {
    read_message(bytes, bytes.len(), MAX_PICTURE_ITEMS).ok().flatten().map(|(message, _)| sorted(message))
}

pub(super) fn sorted(mut message: DrawMessage) -> DrawMessage {
    if let DrawMessage::Game(game) = &mut message {
        game.blocks.sort_unstable();
        game.bombs.sort_unstable();
        game.explosions.sort_unstable();
    }
    message
}

/// Omits the parts that have their own rules.
pub(super) fn frame(picture: &GamePicture) -> GamePicture {
    let mut frame = picture.clone();
    frame.player_positions.clear();
    frame.blocks.clear();
    frame.bombs.clear();
    frame.explosions.clear();
    frame.scores.clear();
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_map_with_repeated_player() {
        let player = [7, 1, b'a', 1, b'b'];
        let lobby = |players: &[u8]| [&[0, 1, b's', 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 0, 0], players].concat();
        assert!(read(&lobby(&[&[1][..], &player].concat())).is_ok());
        let twice = read(&lobby(&[&[2][..], &player, &player].concat()));
        assert_eq!(twice.unwrap_err(), "a map contains a player twice");
    }
}
