//! What is in sight now and what is only remembered.

use nuggets::{
    Cell, Client,
    client::map_below,
    grid::{ROCK, ROOM},
    visibility::{Field, Sight, Sighter, Vision},
};

/// Tells the cells that the player sees now from those that it remembers.
///
/// A DISPLAY does not say which is which, so sight is computed anew from the player's place, on the map as far as it is
/// known. What is unknown lets no sight through. So a cell whose only line of sight passes a gap that the player never
/// saw may be taken for a remembered one; never the other way round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    // The DISPLAY that this is about.
    displays: u64,
    // The map as far as it is known, below gold and players.
    map: Vec<u8>,
    sighter: Sighter,
    // None for a spectator, who sees everything.
    sight: Option<Sight>,
}

impl Seen {
    /// Takes in the client's last DISPLAY.
    pub(crate) fn update(&mut self, client: &Client) {
        let text = client.display();
        if self.displays == client.displays() && self.map.len() == text.len() {
            return;
        }
        self.displays = client.displays();
        if self.map.len() != text.len() {
            self.map = vec![ROCK; text.len()];
        }
        for (known, &shown) in self.map.iter_mut().zip(text) {
            // Most players stand in a room.
            *known = map_below(*known, shown).unwrap_or(ROOM);
        }
        self.sight = client.size().zip(client.position()).and_then(|((rows, cols), place)| {
            let field = Field::new(&self.map, rows, cols)?;
            let offset = place.row.checked_mul(cols.checked_add(1)?)?.checked_add(place.col)?;
            Some(self.sighter.sight(field, Cell(offset), Vision::default()))
        });
    }

    /// Whether what the last DISPLAY shows as `shown` at `cell` is in sight now.
    pub(crate) fn is_visible(&self, cell: Cell, shown: u8) -> bool {
        // Gold and players are shown only where they are seen.
        matches!(shown, b'*' | b'@' | b'A'..=b'Z') || self.sight.as_ref().is_none_or(|sight| sight.contains(cell))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use netcore::{Client as _, Time};
    use nuggets::{Grid, Name, Participant, view::SELF};

    /// A client that was let in and is shown these rows, the longest of which is as wide as the map.
    pub(crate) fn client(part: Participant, rows: &[&str]) -> Client {
        let mut client = Client::new(part, Time::ZERO);
        let width = rows.iter().map(|row| row.len()).max().unwrap();
        let grid = format!("GRID {} {width}", rows.len());
        for datagram in ["OK A", &grid, "GOLD 0 0 250"] {
            client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
        }
        let rows: Vec<String> = rows.iter().map(|row| format!("{row:width$}")).collect();
        show(&mut client, &rows.iter().map(String::as_str).collect::<Vec<_>>());
        client
    }

    fn show(client: &mut Client, rows: &[&str]) {
        client.receive(Time::ZERO, format!("DISPLAY\n{}\n", rows.join("\n")).as_bytes()).unwrap();
    }

    pub(crate) fn player() -> Participant {
        Participant::Player(Name::new(b"Ann").unwrap())
    }

    // The display with what is remembered, or unknown, as a blank.
    fn visible(seen: &Seen, client: &Client) -> Vec<String> {
        let shown = |(offset, &byte): (usize, &u8)| {
            let cell = Cell(u16::try_from(offset).unwrap());
            char::from(if byte == b'\n' || seen.is_visible(cell, byte) { byte } else { b' ' })
        };
        let text: String = client.display().iter().enumerate().map(shown).collect();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_passage_sees_its_neighbours_and_remembers_the_room() {
        let mut client = client(player(), &["+---+   ", "|..@|   ", "|...### ", "+---+   "]);
        let mut seen = Seen::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["+---+   ", "|..@|   ", "|...#   ", "+---+   "]);
        show(&mut client, &["+---+   ", "|...|   ", "|...#@# ", "+---+   "]);
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["        ", "    |   ", "    #@# ", "    +   "]);
    }

    #[test]
    fn gold_and_players_do_not_stand_in_the_way_and_are_always_in_sight() {
        let client = client(player(), &["+-----+", "|@*B..|", "+-----+"]);
        let mut seen = Seen::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["+-----+", "|@*B..|", "+-----+"]);
    }

    // On every spot of a map with pillars and passages, all over the place, against sight on the map itself.
    #[test]
    fn what_is_remembered_is_never_taken_for_visible_and_seldom_the_other_way_round() {
        const MAP: &[u8] =
            b"+-----------+  +----+ \n|...........|  |....| \n|..+-+..||..#####...| \n|..|.|......|  |....| \n\
            |..#...-...+|  +---#+ \n|......|....|      #  \n|...........########  \n+-----------+         \n";
        let (grid, _) = Grid::parse(MAP).unwrap();
        let mut sighter = Sighter::default();
        let mut known: Vec<u8> = MAP.iter().map(|&byte| if byte == b'\n' { byte } else { b' ' }).collect();
        let rows = ["                      "; 8];
        let mut client = client(player(), &rows);
        let mut seen = Seen::default();
        let (mut visible, mut missed) = (0, 0);
        let spots: Vec<Cell> =
            (0..).map(Cell).zip(MAP).filter(|(_, byte)| b".#".contains(byte)).map(|(cell, _)| cell).collect();
        for step in 0..2 * spots.len() {
            let place = spots[step * 37 % spots.len()];
            let truth = sighter.sight(Field::from(&grid), place, Vision::default());
            for cell in truth.cells() {
                known[cell.index()] = grid.at(cell);
            }
            let mut shown = known.clone();
            shown[place.index()] = SELF;
            client.receive(Time::ZERO, &[b"DISPLAY\n", &shown[..]].concat()).unwrap();
            seen.update(&client);
            for (cell, &shown) in (0..).map(Cell).zip(&shown).filter(|&(_, shown)| !b" \n".contains(shown)) {
                let guessed = seen.is_visible(cell, shown);
                assert!(!guessed || truth.contains(cell), "step {step}: {}", grid.position(cell));
                visible += usize::from(truth.contains(cell));
                missed += usize::from(truth.contains(cell) && !guessed);
            }
        }
        assert!(known == MAP && missed * 100 < visible, "{missed} of {visible}");
    }

    #[test]
    fn a_spectator_sees_everything() {
        let client = client(Participant::Spectator, &["+-+ +-+", "|A###.|", "+-+ +-+"]);
        let mut seen = Seen::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["+-+ +-+", "|A###.|", "+-+ +-+"]);
    }

    #[test]
    fn the_floor_below_a_player_is_remembered() {
        // A player in a passage that was seen before blocks sight as the passage does.
        let mut client = client(player(), &["...###..", ".@.###..", "...###.."]);
        let mut seen = Seen::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client)[1], ".@.#    ");
        show(&mut client, &["...###..", ".@.B##..", "...###.."]);
        seen.update(&client);
        assert_eq!(visible(&seen, &client)[1], ".@.B    ");
    }
}
