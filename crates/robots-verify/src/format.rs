//! The wire format of robots, as data.
//!
//! Integers are big-endian, a text is a length of one byte and that many bytes of UTF-8, a list or a map is a count of
//! four bytes and the items, an enumeration is a tag of one byte and the fields of that variant.

use netcore::wire::Decode;
use robots::{
    PlayerId,
    protocol::{MAX_CLIENT_MESSAGE, MAX_DATAGRAM, MAX_PICTURE_ITEMS, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE},
};

/// The direction of the explained messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// From a client to a server.
    Client,
    /// From a server to a client.
    Server,
    /// From a client to its GUI.
    Display,
    /// From a GUI to its client.
    Input,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Client, Self::Server, Self::Display, Self::Input];

    /// Its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Display => "display",
            Self::Input => "input",
        }
    }

    /// The wire format of a message.
    pub(crate) const fn message(self) -> &'static Shape {
        match self {
            Self::Client => &Shape::Enum(&CLIENT_MESSAGE),
            Self::Server => &Shape::Enum(&SERVER_MESSAGE),
            Self::Display => &Shape::Enum(&DRAW_MESSAGE),
            Self::Input => &Shape::Enum(&INPUT_MESSAGE),
        }
    }

    /// The longest accepted message, in bytes.
    pub(crate) const fn max_message(self) -> usize {
        match self {
            Self::Client => MAX_CLIENT_MESSAGE,
            Self::Server => MAX_SERVER_MESSAGE,
            Self::Display => MAX_DATAGRAM,
            // A move: its tag and a direction.
            Self::Input => 2,
        }
    }

    /// The maximum number of items in a list.
    pub(crate) const fn max_items(self) -> u32 {
        match self {
            // Their messages contain no lists.
            Self::Client | Self::Input => 0,
            Self::Server => MAX_SERVER_ITEMS,
            Self::Display => MAX_PICTURE_ITEMS,
        }
    }

    /// The maximum number of entries in a map: one for each player number, and at most the maximum length of a list.
    pub(crate) fn max_entries(self) -> u32 {
        self.max_items().min(PlayerId::MAX_KEYS)
    }
}

/// The wire format of a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    U8,
    U16,
    U32,
    PlayerId,
    BombId,
    /// Column and row of a field, two bytes each.
    Position,
    /// Its field, and its timer of two bytes.
    Bomb,
    /// Its length in one byte, then UTF-8.
    Text,
    /// Its tag in one byte, then the fields of the variant.
    Enum(&'static Enum),
    /// The count in four bytes, then the items.
    List(&'static Shape),
    /// The count in four bytes, then the number of a player and these fields for each entry.
    Map(&'static [FieldShape]),
}

/// A field of a message and the wire format of its value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FieldShape {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Enum {
    pub(crate) name: &'static str,
    /// Its variants; the tag of each is its index.
    pub(crate) variants: &'static [Variant],
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// The fields after its tag.
    pub(crate) fields: &'static [FieldShape],
}

impl Shape {
    /// The minimum size of a value in bytes.
    pub(crate) fn least(&self) -> usize {
        match self {
            Self::U8 | Self::PlayerId | Self::Text => 1,
            Self::U16 => 2,
            Self::U32 | Self::BombId | Self::Position | Self::List(_) | Self::Map(_) => 4,
            Self::Bomb => 6,
            Self::Enum(Enum { variants, .. }) => {
                1 + variants.iter().map(|variant| least(variant.fields)).min().unwrap_or(0)
            }
        }
    }

    /// The minimum size of an item of this list or an entry of this map in bytes.
    pub(crate) fn least_item(&self) -> usize {
        match self {
            Self::List(item) => item.least(),
            // Includes the player's number.
            map => 1 + least(map.fields()),
        }
    }

    /// The fields after the player's number in each entry of this map.
    pub(crate) const fn fields(&self) -> &'static [FieldShape] {
        match self {
            Self::Map(fields) => fields,
            _ => &[],
        }
    }
}

fn least(fields: &[FieldShape]) -> usize {
    fields.iter().map(|field| field.shape.least()).sum()
}

const fn field(name: &'static str, shape: Shape) -> FieldShape {
    FieldShape { name, shape }
}

const fn variant(name: &'static str, fields: &'static [FieldShape]) -> Variant {
    Variant { name, fields }
}

const PLAYERS: Shape = Shape::Map(&[field("name", Shape::Text), field("address", Shape::Text)]);
const SCORES: Shape = Shape::Map(&[field("score", Shape::U32)]);
const POSITIONS: Shape = Shape::List(&Shape::Position);
const MOVE: &[FieldShape] = &[field("direction", Shape::Enum(&DIRECTION))];

const DIRECTION: Enum = Enum {
    name: "Direction",
    variants: &[variant("Up", &[]), variant("Right", &[]), variant("Down", &[]), variant("Left", &[])],
};

const CLIENT_MESSAGE: Enum = Enum {
    name: "ClientMessage",
    variants: &[
        variant("Join", &[field("name", Shape::Text)]),
        variant("PlaceBomb", &[]),
        variant("PlaceBlock", &[]),
        variant("Move", MOVE),
    ],
};

const INPUT_MESSAGE: Enum = Enum {
    name: "InputMessage",
    variants: &[variant("PlaceBomb", &[]), variant("PlaceBlock", &[]), variant("Move", MOVE)],
};

const SERVER_MESSAGE: Enum = Enum {
    name: "ServerMessage",
    variants: &[
        variant(
            "Hello",
            &[
                field("server_name", Shape::Text),
                field("players_count", Shape::U8),
                field("size_x", Shape::U16),
                field("size_y", Shape::U16),
                field("game_length", Shape::U16),
                field("explosion_radius", Shape::U16),
                field("bomb_timer", Shape::U16),
            ],
        ),
        variant(
            "AcceptedPlayer",
            &[field("id", Shape::PlayerId), field("name", Shape::Text), field("address", Shape::Text)],
        ),
        variant("GameStarted", &[field("players", PLAYERS)]),
        variant("Turn", &[field("turn", Shape::U16), field("events", Shape::List(&Shape::Enum(&EVENT)))]),
        variant("GameEnded", &[field("scores", SCORES)]),
    ],
};

const EVENT: Enum = Enum {
    name: "Event",
    variants: &[
        variant("BombPlaced", &[field("id", Shape::BombId), field("position", Shape::Position)]),
        variant(
            "BombExploded",
            &[
                field("id", Shape::BombId),
                field("robots_destroyed", Shape::List(&Shape::PlayerId)),
                field("blocks_destroyed", POSITIONS),
            ],
        ),
        variant("PlayerMoved", &[field("id", Shape::PlayerId), field("position", Shape::Position)]),
        variant("BlockPlaced", &[field("position", Shape::Position)]),
    ],
};

const DRAW_MESSAGE: Enum = Enum {
    name: "DrawMessage",
    variants: &[
        variant(
            "Lobby",
            &[
                field("server_name", Shape::Text),
                field("players_count", Shape::U8),
                field("size_x", Shape::U16),
                field("size_y", Shape::U16),
                field("game_length", Shape::U16),
                field("explosion_radius", Shape::U16),
                field("bomb_timer", Shape::U16),
                field("players", PLAYERS),
            ],
        ),
        variant(
            "Game",
            &[
                field("server_name", Shape::Text),
                field("size_x", Shape::U16),
                field("size_y", Shape::U16),
                field("game_length", Shape::U16),
                field("turn", Shape::U16),
                field("players", PLAYERS),
                field("player_positions", Shape::Map(&[field("position", Shape::Position)])),
                field("blocks", POSITIONS),
                field("bombs", Shape::List(&Shape::Bomb)),
                field("explosions", POSITIONS),
                field("scores", SCORES),
            ],
        ),
    ],
};
