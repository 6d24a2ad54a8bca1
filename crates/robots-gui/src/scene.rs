//! The visible part of a board, and the appearance of its fields.
//!
//! Fields are square: as many columns wide as half rows high. So two fields may share a row of text, as the halves of a
//! block character. A field's text is in a row of its own.

use ratatui::{
    buffer::Buffer,
    layout::{Position as Place, Rect, Size},
    style::{Color, Modifier, Style},
};
use robots::{Blast, GamePicture, PlayerId, Position};
use termkit::{Palette, Shade};

use crate::roster::{colour, label, style};

/// In turns.
pub(crate) const SMOKE: u8 = 2;

const STONE: Shade = Shade(Color::Rgb(96, 92, 86), Color::DarkGray);
const HOT: Shade = Shade(Color::Rgb(235, 60, 35), Color::Red);
/// By age, from one turn.
const COOLING: [(&str, Shade); SMOKE as usize] =
    [("▒", Shade(Color::Rgb(255, 130, 30), Color::Yellow)), ("░", Shade(Color::Rgb(200, 120, 50), Color::Yellow))];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Field {
    block: bool,
    // The age of the explosion in turns.
    heat: Option<u8>,
    // In reach of a bomb that explodes next turn, if this is displayed.
    endangered: bool,
    // Of the bomb that explodes first.
    timer: Option<u16>,
    // The robot in view, or else the one with the lowest number.
    robot: Option<PlayerId>,
    others: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    Floor,
    Smoke(u8),
    Block {
        endangered: bool,
    },
    Blast,
    /// Below the robot in view, to make it easy to find.
    Own(PlayerId),
}

/// Its size depends on the window, not on the board.
#[derive(Debug)]
pub(crate) struct Scene {
    corner: Place,
    window: Size,
    fields: Vec<Field>,
    in_view: Option<PlayerId>,
    pointed_at: Option<(Place, Style)>,
    palette: Palette,
}

/// With row 0 at the top; `None` off the board.
pub(crate) fn place(game: &GamePicture, position: Position) -> Option<Place> {
    let row = game.size_y.checked_sub(1)?.checked_sub(position.y)?;
    (position.x < game.size_x).then_some(Place::new(position.x, row))
}

/// The rows of text that `fields` of `side` columns take.
pub(crate) fn text_rows(fields: u16, side: u16) -> u32 {
    (u32::from(fields) * u32::from(side)).div_ceil(2)
}

impl Scene {
    /// `window` is in fields, and `corner` is its top left field. `smoke` has fields and the ages of their explosions.
    pub(crate) fn new(
        game: &GamePicture,
        smoke: &[(Position, u8)],
        corner: Place,
        window: Size,
        in_view: Option<PlayerId>,
        palette: Palette,
    ) -> Self {
        let fields = vec![Field::default(); usize::from(window.width) * usize::from(window.height)];
        let mut scene = Self { corner, window, fields, in_view, pointed_at: None, palette };
        for &block in &game.blocks {
            scene.mark(game, block, |field| field.block = true);
        }
        for &(covered, age) in smoke.iter().rev() {
            scene.mark(game, covered, |field| field.heat = Some(age));
        }
        for &covered in &game.explosions {
            scene.mark(game, covered, |field| field.heat = Some(0));
        }
        for bomb in &game.bombs {
            let timer = bomb.timer;
            scene.mark(game, bomb.position, |field| field.timer = Some(field.timer.map_or(timer, |it| it.min(timer))));
        }
        for (&id, &position) in &game.player_positions {
            scene.mark(game, position, |field| {
                field.others = field.robot.is_some();
                if field.robot.is_none() || Some(id) == in_view {
                    field.robot = Some(id);
                }
            });
        }
        scene
    }

    pub(crate) fn with_danger(mut self, game: &GamePicture, blasts: &[Blast]) -> Self {
        for row in 0..self.window.height {
            for column in 0..self.window.width {
                let (Some(x), Some(y)) = (self.corner.x.checked_add(column), self.corner.y.checked_add(row)) else {
                    continue;
                };
                let Some(y) = game.size_y.checked_sub(1).and_then(|top| top.checked_sub(y)) else { continue };
                let position = Position::new(x, y);
                if blasts.iter().any(|blast| blast.contains(position)) {
                    self.mark(game, position, |field| field.endangered = true);
                }
            }
        }
        self
    }

    pub(crate) fn pointing_at(mut self, game: &GamePicture, id: PlayerId) -> Self {
        let found = game.player_positions.get(&id).and_then(|&position| place(game, position));
        self.pointed_at = found.map(|place| (place, style(self.palette, id, false)));
        self
    }

    fn mark(&mut self, game: &GamePicture, position: Position, change: impl FnOnce(&mut Field)) {
        let Some(place) = place(game, position) else { return };
        let index = self.index(place.x, place.y);
        if let Some(field) = index.and_then(|index| self.fields.get_mut(index)) {
            change(field);
        }
    }

    fn index(&self, x: u16, y: u16) -> Option<usize> {
        let (column, row) = (x.checked_sub(self.corner.x)?, y.checked_sub(self.corner.y)?);
        let inside = column < self.window.width && row < self.window.height;
        inside.then(|| usize::from(row) * usize::from(self.window.width) + usize::from(column))
    }

    /// The top left field is at the top left corner of `area`.
    pub(crate) fn render(&self, side: u16, area: Rect, buffer: &mut Buffer) {
        for y in 0..area.height {
            let [upper, lower] = [2 * u32::from(y), 2 * u32::from(y) + 1].map(|half| half / u32::from(side));
            for x in 0..area.width {
                let [upper, lower] = [upper, lower].map(|row| self.ground(x / side, row));
                let (symbol, style) = if upper == lower { self.whole(upper) } else { self.halves(upper, lower) };
                if let Some(cell) = buffer.cell_mut((area.x + x, area.y + y)) {
                    cell.set_symbol(symbol).set_style(style);
                }
            }
        }
        for row in 0..self.window.height {
            // The middle of the rows that belong to these fields alone.
            let (first, end) = (text_rows(row, side), (u32::from(row) + 1) * u32::from(side) / 2);
            let Ok(y) = u16::try_from(first + (end - first).saturating_sub(1) / 2) else { return };
            for column in 0..self.window.width {
                if let Some(x) = column.checked_mul(side).filter(|_| y < area.height) {
                    self.write_field(column, row, Rect::new(area.x + x, area.y + y, side, 1), buffer);
                }
            }
        }
    }

    fn ground(&self, column: u16, row: u32) -> Ground {
        let place = u16::try_from(row)
            .ok()
            .and_then(|row| self.index(self.corner.x.checked_add(column)?, self.corner.y.checked_add(row)?));
        let Some(&field) = place.and_then(|index| self.fields.get(index)) else { return Ground::Floor };
        match field {
            Field { robot: Some(id), .. } if self.in_view == Some(id) => Ground::Own(id),
            Field { heat: Some(0), .. } => Ground::Blast,
            Field { block: true, endangered, .. } => Ground::Block { endangered },
            Field { heat: Some(age), .. } => Ground::Smoke(age),
            _ => Ground::Floor,
        }
    }

    fn whole(&self, ground: Ground) -> (&'static str, Style) {
        match ground {
            Ground::Floor => (" ", Style::new()),
            Ground::Smoke(age) => {
                let (symbol, shade) = COOLING[usize::from(age.clamp(1, SMOKE) - 1)];
                (symbol, self.palette.style(shade, Modifier::empty()))
            }
            Ground::Block { .. } => ("█", self.solid(ground)),
            Ground::Blast => ("*", self.solid(ground).add_modifier(Modifier::REVERSED)),
            Ground::Own(_) => (" ", self.solid(ground).add_modifier(Modifier::REVERSED)),
        }
    }

    fn halves(&self, upper: Ground, lower: Ground) -> (&'static str, Style) {
        let empty = |ground| matches!(ground, Ground::Floor | Ground::Smoke(_));
        match (empty(upper), empty(lower)) {
            (true, true) => (" ", Style::new()),
            (false, true) => ("▀", self.solid(upper)),
            (true, false) => ("▄", self.solid(lower)),
            (false, false) => match self.solid(lower).fg {
                Some(below) => ("▀", self.solid(upper).bg(below)),
                None => ("█", self.solid(upper)),
            },
        }
    }

    fn solid(&self, ground: Ground) -> Style {
        match ground {
            Ground::Floor | Ground::Smoke(_) => Style::new(),
            Ground::Block { endangered: true } => self.palette.style(HOT, Modifier::BOLD),
            // Dimmed without colours.
            Ground::Block { endangered: false } => match self.palette.colour(STONE) {
                Some(stone) => Style::new().fg(stone),
                None => Style::new().add_modifier(Modifier::DIM),
            },
            Ground::Blast => self.palette.style(HOT, Modifier::empty()),
            Ground::Own(id) => self.palette.style(colour(id), Modifier::empty()),
        }
    }

    // The robot is at the left and the bomb at the right. `area` is a row of the field.
    fn write_field(&self, column: u16, row: u16, area: Rect, buffer: &mut Buffer) {
        let place = Place::new(self.corner.x.saturating_add(column), self.corner.y.saturating_add(row));
        let shown = self.index(place.x, place.y).and_then(|index| self.fields.get(index)).copied().unwrap_or_default();
        let ground = self.ground(column, u32::from(row));
        let filled = self.palette.colour(STONE).filter(|_| matches!(ground, Ground::Block { .. }));
        let on_ground = |style: Style| match (ground, filled) {
            (Ground::Blast, _) => self.solid(ground).add_modifier(Modifier::REVERSED | Modifier::BOLD),
            (_, Some(stone)) => style.bg(stone),
            _ => style,
        };
        let mut put = |x: u16, byte: u8, style: Style| {
            if let Some(cell) = buffer.cell_mut((x, area.y)) {
                cell.reset();
                cell.set_char(char::from(byte)).set_style(style);
            }
        };
        // Wide fields have a margin, so that letters of neighbours do not touch.
        let margin = if area.width > 3 { (area.width - 2) / 2 } else { 0 };
        let indent = match shown.timer {
            None if area.width > 4 => (area.width - 1) / 2,
            _ => margin.saturating_sub(u16::from(margin > 1)),
        };
        let (left, right) = (area.left() + indent, area.right());
        let is_free = matches!(ground, Ground::Floor) && shown.timer.is_none() && shown.robot.is_none();
        if is_free {
            let (byte, style) = self.mark_at(shown, place);
            put(area.left() + margin, byte, style);
        }
        let own = matches!(ground, Ground::Own(_));
        if let Some(timer) = shown.timer {
            let free = area.width - if area.width > 3 { margin } else { 0 };
            let covered = shown.heat == Some(0) || shown.block || shown.robot.is_some();
            let room = if area.width <= 3 && covered { 1 } else { usize::from(free) };
            let shade = if timer <= URGENT { HOT } else { Shade::from(Color::Reset) };
            let style = if own {
                self.solid(ground).add_modifier(Modifier::REVERSED | Modifier::BOLD)
            } else {
                on_ground(self.palette.style(shade, Modifier::BOLD))
            };
            let text = digits(timer, room);
            let start = right.saturating_sub(u16::try_from(text.len()).unwrap_or(area.width));
            for (x, byte) in (start..).zip(text.bytes()) {
                put(x, byte, style);
            }
        }
        if let Some(id) = shown.robot {
            let style = on_ground(style(self.palette, id, own));
            let (letter, number) = label(id);
            let crowd = shown.others.then_some(b'&');
            // The bomb's timer has precedence over the rest of the text.
            let free = area.width - u16::from(shown.timer.is_some());
            let text = [Some(letter), number, crowd].into_iter().flatten();
            for (x, byte) in (left..area.left() + free).zip(text) {
                put(x, byte, style);
            }
        }
    }

    fn mark_at(&self, field: Field, place: Place) -> (u8, Style) {
        match self.pointed_at {
            _ if field.endangered => (b'!', self.palette.style(HOT, Modifier::BOLD)),
            Some((there, style)) if there.y == place.y => (b'-', style),
            Some((there, style)) if there.x == place.x => (b'|', style),
            _ => (b'.', Style::new().add_modifier(Modifier::DIM)),
        }
    }
}

/// With fewer turns left, a bomb is red.
const URGENT: u16 = 2;

// In at most `room` columns. A larger number becomes nines and a plus, or only a plus.
fn digits(timer: u16, room: usize) -> String {
    let digits = timer.to_string();
    if digits.len() <= room { digits } else { format!("{}+", "9".repeat(room.saturating_sub(1))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, bomb, game, lines};

    fn whole(game: &GamePicture, in_view: Option<PlayerId>) -> Scene {
        Scene::new(game, &[], Place::ORIGIN, Size::new(game.size_x, game.size_y), in_view, Palette::MONO)
    }

    fn drawn(scene: &Scene, side: u16) -> Buffer {
        let rows = u16::try_from(text_rows(scene.window.height, side)).unwrap();
        let mut buffer = Buffer::empty(Rect::new(0, 0, scene.window.width * side, rows));
        scene.render(side, buffer.area, &mut buffer);
        buffer
    }

    fn row(game: &GamePicture, width: u16, in_view: Option<PlayerId>) -> String {
        lines(&drawn(&whole(game, in_view), width)).swap_remove(0)
    }

    #[test]
    fn everything_alone_in_two_and_three_columns() {
        let mut game = game(8, 1, &[("A", 1, 0)]);
        game.blocks = vec![at(2, 0)];
        game.explosions = vec![at(3, 0)];
        game.bombs = vec![bomb(4, 0, 5), bomb(5, 0, 12), bomb(6, 0, 100), bomb(7, 0, 65_535)];
        assert_eq!(row(&game, 2, None), ". A ██** 5129+9+");
        assert_eq!(row(&game, 3, None), ".  A  ███***  5 1210099+");
    }

    #[test]
    fn everything_in_large_fields() {
        let mut game = game(6, 1, &[("A", 1, 0), ("B", 2, 0), ("C", 2, 0)]);
        game.blocks = vec![at(3, 0)];
        game.explosions = vec![at(4, 0)];
        game.bombs = vec![bomb(2, 0, 5), bomb(4, 0, 12), bomb(5, 0, 65_535)];
        assert_eq!(
            lines(&drawn(&whole(&game, None), 4)),
            [" .   A   B&5████**12 99+", "            ████****"].map(str::to_owned)
        );
        assert_eq!(
            lines(&drawn(&whole(&game, None), 6)),
            [
                "                  ██████******",
                "  .     A    B&  5██████****12  999+",
                "                  ██████******"
            ]
            .map(ToOwned::to_owned)
        );
    }

    #[test]
    fn fields_of_an_odd_width_share_rows_of_text() {
        let mut game = game(3, 3, &[("A", 0, 1)]);
        game.blocks = vec![at(1, 2), at(0, 0), at(2, 0)];
        game.explosions = vec![at(1, 1), at(2, 1)];
        assert_eq!(
            lines(&drawn(&whole(&game, Some(PlayerId(0))), 3)),
            [".  ███.", "▄▄▄███▄▄▄", "A  ******", "███.  ███", "▀▀▀   ▀▀▀"].map(str::to_owned)
        );
    }

    #[test]
    fn items_on_one_field_are_all_drawn_if_they_fit() {
        let robots = [("A", 0, 0), ("B", 1, 0), ("C", 1, 0), ("D", 2, 0), ("E", 3, 0), ("F", 4, 0), ("G", 4, 0)];
        let mut game = game(7, 1, &robots);
        game.bombs = vec![bomb(0, 0, 9), bomb(0, 0, 4), bomb(2, 0, 10), bomb(4, 0, 3), bomb(5, 0, 7), bomb(6, 0, 70)];
        game.blocks = vec![at(3, 0), at(5, 0)];
        game.explosions = vec![at(2, 0), at(6, 0)];
        assert_eq!(row(&game, 2, None), "A4B&D+E█F3█7*+");
        assert_eq!(row(&game, 3, None), "A 4B& D*+E██F&3██7**+");
        assert_eq!(row(&game, 2, Some(PlayerId(2))), "A4C&D+E█F3█7*+");
    }

    #[test]
    fn kinds_of_fields_differ_in_colour_and_in_characters() {
        let mut game = game(6, 1, &[("A", 0, 0), ("B", 1, 0)]);
        game.explosions = vec![at(1, 0), at(2, 0)];
        game.blocks = vec![at(3, 0)];
        let smoke = [(at(4, 0), 1), (at(5, 0), 2)];
        let size = Size::new(game.size_x, game.size_y);
        let drawn_with =
            |palette| drawn(&Scene::new(&game, &smoke, Place::ORIGIN, size, Some(PlayerId(0)), palette), 4);
        let [mono, colour] = [Palette::MONO, Palette::COLOUR].map(drawn_with);
        assert_eq!(lines(&mono), [" A  *B******████▒▒▒▒░░░░", "    ********████▒▒▒▒░░░░"].map(str::to_owned));
        let reversed = |x| (0..2).all(|y| mono[(x, y)].modifier.contains(Modifier::REVERSED));
        assert_eq!((0..24).map(reversed).collect::<Vec<_>>(), [[true; 12], [false; 12]].concat());
        assert!(mono[(12, 0)].modifier.contains(Modifier::DIM), "a block is darker than the robot in view");
        let inks = [0, 8, 12, 16].map(|x| colour[(x, 1)].fg);
        assert_eq!(inks, [Color::LightYellow, Color::Red, Color::DarkGray, Color::Yellow]);
    }

    #[test]
    fn next_blasts_and_own_robot_can_be_marked() {
        let mut game = game(5, 3, &[("A", 4, 0)]);
        game.blocks = vec![at(2, 1)];
        let mut board = robots::Board::new(5, 3);
        board.put_block(at(2, 1));
        let blast = Blast::new(&board, at(0, 1), 4);
        let scene = whole(&game, None).with_danger(&game, &[blast]).pointing_at(&game, PlayerId(0));
        assert_eq!(lines(&drawn(&scene, 2)), ["! . . . |", "! ! ██. |", "! - - - A"].map(str::to_owned));
    }

    #[test]
    fn items_off_the_board_or_out_of_view_are_not_drawn() {
        let mut game = game(3, 2, &[("A", 3, 0), ("B", 0, 2), ("C", 65_535, 65_535), ("D", 0, 0)]);
        game.bombs = vec![bomb(3, 1, 1)];
        game.blocks = vec![at(1, 0), at(1, 1)];
        let scene = Scene::new(&game, &[], Place::new(1, 1), Size::new(2, 1), None, Palette::MONO);
        assert_eq!(lines(&drawn(&scene, 2)), ["██."]);
    }
}
