//! The part of a board that is in view, and how its fields look.

use ratatui::{
    layout::{Position as Place, Size},
    style::{Color, Modifier, Style},
};
use robots::{GamePicture, PlayerId, Position};
use termkit::Palette;

use crate::looks::{label, style};

/// What is on a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Field {
    block: bool,
    explosion: bool,
    // Of several bombs the one that explodes first.
    timer: Option<u16>,
    // Of several robots the one in view, or else the first by number.
    robot: Option<PlayerId>,
    others: bool,
}

/// The fields in view, whatever the size of the board.
#[derive(Debug)]
pub(crate) struct Scene {
    corner: Place,
    window: Size,
    fields: Vec<Field>,
    in_view: Option<PlayerId>,
    palette: Palette,
}

/// Where a field stands when row 0 is at the bottom; `None` if it is not on the board.
pub(crate) fn place(game: &GamePicture, position: Position) -> Option<Place> {
    let row = game.size_y.checked_sub(1)?.checked_sub(position.y)?;
    (position.x < game.size_x).then_some(Place::new(position.x, row))
}

impl Scene {
    /// The fields of a window of so many fields whose top left one is `corner`.
    pub(crate) fn new(
        game: &GamePicture,
        corner: Place,
        window: Size,
        in_view: Option<PlayerId>,
        palette: Palette,
    ) -> Self {
        let fields = vec![Field::default(); usize::from(window.width) * usize::from(window.height)];
        let mut scene = Self { corner, window, fields, in_view, palette };
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

    /// How the field in a column and row of the board, counted from its top left, looks in `W` columns of the window.
    ///
    /// What lies on the ground fills the field; a robot stands at its left, a bomb at its right.
    pub(crate) fn cell<const W: usize>(&self, x: u16, y: u16) -> [(u8, Style); W] {
        let field = self.index(x, y).and_then(|index| self.fields.get(index)).copied().unwrap_or_default();
        let Field { block, explosion, timer, robot, others } = field;
        let plain = Style::new();
        let ground = match (explosion, block) {
            (true, _) => (b'*', self.palette.style(Color::Yellow, Modifier::BOLD)),
            (false, true) => (b'#', plain),
            (false, false) => (b' ', plain),
        };
        let mut cell = [ground; W];
        if !explosion && !block && timer.is_none() {
            cell[0] = (b'.', plain.add_modifier(Modifier::DIM));
        }
        if let Some(timer) = timer {
            let room = if explosion || block || robot.is_some() { 1 } else { W };
            let style = self.palette.style(Color::LightRed, Modifier::BOLD);
            for (cell, shown) in cell.iter_mut().rev().zip(digits(timer, room).bytes().rev()) {
                *cell = (shown, style);
            }
        }
        if let Some(id) = robot {
            let style = style(self.palette, id, Some(id) == self.in_view);
            let (letter, number) = label(id);
            let crowd = others.then_some(b'&');
            // A bomb is worth more than the rest of what there is to say.
            let free = W - usize::from(timer.is_some());
            let shown = [Some(letter), number, crowd].into_iter().flatten();
            for (cell, shown) in cell.iter_mut().take(free).zip(shown) {
                *cell = (shown, style);
            }
        }
        if explosion {
            for (_, style) in &mut cell {
                *style = style.add_modifier(Modifier::REVERSED);
            }
        }
        cell
    }
}

// A number in at most `room` columns; a larger one is as many nines as fit and a plus, in one column the plus alone.
fn digits(timer: u16, room: usize) -> String {
    let digits = timer.to_string();
    if digits.len() <= room { digits } else { format!("{}+", "9".repeat(room.saturating_sub(1))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, bomb, game};

    fn row<const W: usize>(game: &GamePicture, in_view: Option<PlayerId>) -> String {
        let window = Size::new(game.size_x, game.size_y);
        let scene = Scene::new(game, Place::ORIGIN, window, in_view, Palette::MONO);
        let cells = (0..game.size_x).flat_map(|x| scene.cell::<W>(x, 0));
        cells.map(|(byte, _)| char::from(byte)).collect()
    }

    #[test]
    fn everything_alone_in_two_and_three_columns() {
        let mut game = game(8, 1, &[("A", 1, 0)]);
        game.blocks = vec![at(2, 0)];
        game.explosions = vec![at(3, 0)];
        game.bombs = vec![bomb(4, 0, 5), bomb(5, 0, 12), bomb(6, 0, 100), bomb(7, 0, 65_535)];
        assert_eq!(row::<2>(&game, None), ". A ##** 5129+9+");
        assert_eq!(row::<3>(&game, None), ".  A  ###***  5 1210099+");
    }

    #[test]
    fn what_shares_a_field_is_all_seen_if_there_is_room() {
        let robots = [("A", 0, 0), ("B", 1, 0), ("C", 1, 0), ("D", 2, 0), ("E", 3, 0), ("F", 4, 0), ("G", 4, 0)];
        let mut game = game(7, 1, &robots);
        game.bombs = vec![bomb(0, 0, 9), bomb(0, 0, 4), bomb(2, 0, 10), bomb(4, 0, 3), bomb(5, 0, 7), bomb(6, 0, 70)];
        game.blocks = vec![at(3, 0), at(5, 0)];
        game.explosions = vec![at(2, 0), at(6, 0)];
        assert_eq!(row::<2>(&game, None), "A4B&D+E#F3#7*+");
        assert_eq!(row::<3>(&game, None), "A 4B& D*+E##F&3##7**+");
        assert_eq!(row::<2>(&game, Some(PlayerId(2))), "A4C&D+E#F3#7*+");
    }

    #[test]
    fn an_explosion_and_the_robot_in_view_are_seen_without_colour() {
        let mut game = game(3, 1, &[("A", 0, 0), ("B", 1, 0)]);
        game.explosions = vec![at(1, 0)];
        let scene = Scene::new(&game, Place::ORIGIN, Size::new(3, 1), Some(PlayerId(0)), Palette::MONO);
        let reversed = |x| scene.cell::<2>(x, 0).map(|(_, style)| style.add_modifier.contains(Modifier::REVERSED));
        assert_eq!([reversed(0), reversed(1), reversed(2)], [[true, false], [true, true], [false, false]]);
        assert_eq!(scene.cell::<2>(1, 0).map(|(byte, _)| byte), *b"B*");
    }

    #[test]
    fn what_is_off_the_board_or_out_of_view_is_left_out() {
        let mut game = game(3, 2, &[("A", 3, 0), ("B", 0, 2), ("C", 65_535, 65_535), ("D", 0, 0)]);
        game.bombs = vec![bomb(3, 1, 1)];
        game.blocks = vec![at(1, 0), at(1, 1)];
        let scene = Scene::new(&game, Place::new(1, 1), Size::new(2, 1), None, Palette::MONO);
        let shown = |x, y| scene.cell::<2>(x, y).map(|(byte, _)| byte);
        assert_eq!([shown(1, 1), shown(2, 1), shown(0, 1), shown(1, 0)], [*b"##", *b". ", *b". ", *b". "]);
    }
}
