//! The visible part of a board, and the appearance of its fields.

use ratatui::{
    buffer::Buffer,
    layout::{Position as Place, Rect, Size},
    style::{Color, Modifier, Style},
};
use robots::{Blast, GamePicture, PlayerId, Position};
use termkit::Palette;

use crate::roster::{label, style};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them can be on a field")]
struct Field {
    block: bool,
    explosion: bool,
    // Whether a bomb that explodes next turn reaches it, if this is displayed.
    endangered: bool,
    // The timer of the bomb that explodes first.
    timer: Option<u16>,
    // The robot in view, or else the one with the lowest number.
    robot: Option<PlayerId>,
    others: bool,
}

/// The number of visible fields depends on the window, not on the board.
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

impl Scene {
    /// `window` is in fields, and `corner` is its top left field.
    pub(crate) fn new(
        game: &GamePicture,
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
        for &covered in &game.explosions {
            scene.mark(game, covered, |field| field.explosion = true);
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
    pub(crate) fn render(&self, field: Size, area: Rect, buffer: &mut Buffer) {
        for row in 0..self.window.height {
            for column in 0..self.window.width {
                let place = Place::new(self.corner.x.saturating_add(column), self.corner.y.saturating_add(row));
                let (x, y) = (area.x + column * field.width, area.y + row * field.height);
                self.render_field(place, Rect::new(x, y, field.width, field.height), buffer);
            }
        }
    }

    // The ground fills the field. In the middle row the robot is at the left and the bomb at the right.
    fn render_field(&self, place: Place, area: Rect, buffer: &mut Buffer) {
        let shown = self.index(place.x, place.y).and_then(|index| self.fields.get(index)).copied().unwrap_or_default();
        let own = shown.robot.filter(|&id| Some(id) == self.in_view);
        let ground = self.ground(shown, place);
        // So that the robot in view is easy to find.
        let filled = own.map_or(ground.fill, |id| (ground.fill.0, style(self.palette, id, true)));
        let all_over = |style: Style| if shown.explosion { style.add_modifier(Modifier::REVERSED) } else { style };
        let middle = area.y + (area.height - 1) / 2;
        let mut put = |x: u16, y: u16, byte: u8, style: Style| {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char(char::from(byte)).set_style(all_over(style));
            }
        };
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                put(x, y, filled.0, filled.1);
            }
        }
        // Wide fields have a margin so that the letters of neighbours do not touch.
        let margin = if area.width > 3 { (area.width - 2) / 2 } else { 0 };
        let (left, right) = (area.left() + margin.saturating_sub(u16::from(margin > 1)), area.right());
        if let Some((byte, style)) = ground.mark.filter(|_| shown.timer.is_none() && shown.robot.is_none()) {
            put(area.left() + margin, middle, byte, style);
        }
        if let Some(timer) = shown.timer {
            let free = area.width - if area.width > 3 { margin } else { 0 };
            let covered = shown.explosion || shown.block || shown.robot.is_some();
            let room = if area.width <= 3 && covered { 1 } else { usize::from(free) };
            let style = self.palette.style(Color::LightRed, Modifier::BOLD);
            let text = digits(timer, room);
            let start = right.saturating_sub(u16::try_from(text.len()).unwrap_or(area.width));
            for (x, byte) in (start..).zip(text.bytes()) {
                put(x, middle, byte, style);
            }
        }
        if let Some(id) = shown.robot {
            let style = style(self.palette, id, own.is_some());
            let (letter, number) = label(id);
            let crowd = shown.others.then_some(b'&');
            // The bomb's timer has precedence over the rest of the text.
            let free = area.width - u16::from(shown.timer.is_some());
            let text = [Some(letter), number, crowd].into_iter().flatten();
            for (x, byte) in (left..area.left() + free).zip(text) {
                put(x, middle, byte, style);
            }
        }
    }

    fn ground(&self, field: Field, place: Place) -> Ground {
        let plain = Style::new();
        let danger = self.palette.style(Color::LightRed, Modifier::BOLD);
        if field.explosion {
            return Ground { fill: (b'*', self.palette.style(Color::LightYellow, Modifier::BOLD)), mark: None };
        }
        if field.block {
            let style = if field.endangered { danger } else { self.palette.style(Color::Yellow, Modifier::empty()) };
            return Ground { fill: (b'#', style), mark: None };
        }
        let floor = plain.add_modifier(Modifier::DIM);
        let mark = match self.pointed_at {
            _ if field.endangered => (b'!', danger),
            Some((there, style)) if there.y == place.y => (b'-', style),
            Some((there, style)) if there.x == place.x => (b'|', style),
            _ => (b'.', floor),
        };
        Ground { fill: (b' ', plain), mark: Some(mark) }
    }
}

#[derive(Debug, Clone, Copy)]
struct Ground {
    fill: (u8, Style),
    mark: Option<(u8, Style)>,
}

// In at most `room` columns. A larger number becomes as many nines as fit and a plus, or a plus alone in one column.
fn digits(timer: u16, room: usize) -> String {
    let digits = timer.to_string();
    if digits.len() <= room { digits } else { format!("{}+", "9".repeat(room.saturating_sub(1))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, bomb, game, lines};

    fn whole(game: &GamePicture, in_view: Option<PlayerId>) -> Scene {
        Scene::new(game, Place::ORIGIN, Size::new(game.size_x, game.size_y), in_view, Palette::MONO)
    }

    fn drawn(scene: &Scene, width: u16, height: u16) -> Buffer {
        let field = Size::new(width, height);
        let mut buffer = Buffer::empty(Rect::new(0, 0, scene.window.width * width, scene.window.height * height));
        scene.render(field, buffer.area, &mut buffer);
        buffer
    }

    fn row(game: &GamePicture, width: u16, in_view: Option<PlayerId>) -> String {
        lines(&drawn(&whole(game, in_view), width, 1)).concat()
    }

    #[test]
    fn everything_alone_in_two_and_three_columns() {
        let mut game = game(8, 1, &[("A", 1, 0)]);
        game.blocks = vec![at(2, 0)];
        game.explosions = vec![at(3, 0)];
        game.bombs = vec![bomb(4, 0, 5), bomb(5, 0, 12), bomb(6, 0, 100), bomb(7, 0, 65_535)];
        assert_eq!(row(&game, 2, None), ". A ##** 5129+9+");
        assert_eq!(row(&game, 3, None), ".  A  ###***  5 1210099+");
    }

    #[test]
    fn everything_in_large_fields() {
        let mut game = game(6, 1, &[("A", 1, 0), ("B", 2, 0), ("C", 2, 0)]);
        game.blocks = vec![at(3, 0)];
        game.explosions = vec![at(4, 0)];
        game.bombs = vec![bomb(2, 0, 5), bomb(4, 0, 12), bomb(5, 0, 65_535)];
        assert_eq!(
            lines(&drawn(&whole(&game, None), 4, 2)),
            [" .   A   B&5####**12 99+", "            ####****"].map(str::to_owned)
        );
        assert_eq!(
            lines(&drawn(&whole(&game, None), 6, 3)),
            [
                "                  ######******",
                "  .    A     B&  5######****12  999+",
                "                  ######******"
            ]
            .map(ToOwned::to_owned)
        );
    }

    #[test]
    fn items_on_one_field_are_all_drawn_if_they_fit() {
        let robots = [("A", 0, 0), ("B", 1, 0), ("C", 1, 0), ("D", 2, 0), ("E", 3, 0), ("F", 4, 0), ("G", 4, 0)];
        let mut game = game(7, 1, &robots);
        game.bombs = vec![bomb(0, 0, 9), bomb(0, 0, 4), bomb(2, 0, 10), bomb(4, 0, 3), bomb(5, 0, 7), bomb(6, 0, 70)];
        game.blocks = vec![at(3, 0), at(5, 0)];
        game.explosions = vec![at(2, 0), at(6, 0)];
        assert_eq!(row(&game, 2, None), "A4B&D+E#F3#7*+");
        assert_eq!(row(&game, 3, None), "A 4B& D*+E##F&3##7**+");
        assert_eq!(row(&game, 2, Some(PlayerId(2))), "A4C&D+E#F3#7*+");
    }

    #[test]
    fn the_own_robot_fills_its_field_and_explosions_are_seen_without_colour() {
        let mut game = game(3, 1, &[("A", 0, 0), ("B", 1, 0)]);
        game.explosions = vec![at(1, 0)];
        let buffer = drawn(&whole(&game, Some(PlayerId(0))), 4, 2);
        let reversed = |x| (0..2).all(|y| buffer[(x, y)].modifier.contains(Modifier::REVERSED));
        let shown: Vec<bool> = (0..12).map(reversed).collect();
        assert_eq!(shown, [[true; 4], [true; 4], [false; 4]].concat());
        assert_eq!(lines(&buffer), [" A  *B**.", "    ****"].map(str::to_owned).map(|row| row.replace("**.", "** .")));
    }

    #[test]
    fn next_blasts_and_own_robot_can_be_marked() {
        let mut game = game(5, 3, &[("A", 4, 0)]);
        game.blocks = vec![at(2, 1)];
        let mut board = robots::Board::new(5, 3);
        board.put_block(at(2, 1));
        let blast = Blast::new(&board, at(0, 1), 4);
        let scene = whole(&game, None).with_danger(&game, &[blast]).pointing_at(&game, PlayerId(0));
        assert_eq!(lines(&drawn(&scene, 2, 1)), ["! . . . |", "! ! ##. |", "! - - - A"].map(str::to_owned));
    }

    #[test]
    fn items_off_the_board_or_out_of_view_are_not_drawn() {
        let mut game = game(3, 2, &[("A", 3, 0), ("B", 0, 2), ("C", 65_535, 65_535), ("D", 0, 0)]);
        game.bombs = vec![bomb(3, 1, 1)];
        game.blocks = vec![at(1, 0), at(1, 1)];
        let scene = Scene::new(&game, Place::new(1, 1), Size::new(2, 1), None, Palette::MONO);
        assert_eq!(lines(&drawn(&scene, 2, 1)), ["##."]);
    }
}
