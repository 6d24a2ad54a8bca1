//! Each scenario is for one rule about robots and bombs.

use robots::{Action, Blast, Direction, Position};

use super::{
    BLAST,
    openings::{one_field, row, start_game},
    setup::Setup,
};
use crate::{
    judge::{Judge, ScenarioResult},
    robots::context::Context,
    rule::Rule,
};

pub(super) struct Script {
    /// From left to right: the numbers of the robots on a field, `.` for none, or `#` for a block.
    pub(super) fields: &'static str,
    pub(super) radius: u16,
    pub(super) timer: u16,
    /// A robot's number with `*` for a bomb, `#` for a block, `<`, `>`, `^` or `v` for a move. In a turn of `-`, no
    /// robot acts. With `x`, the player leaves after the previous turn.
    pub(super) turns: &'static str,
}

pub(super) const fn script(fields: &'static str, turns: &'static str) -> Script {
    Script { fields, radius: 1, timer: 2, turns }
}

impl Script {
    pub(super) fn play(&self, context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
        let fields = || (0..).zip(self.fields.split(' '));
        let find = |text: String| fields().find_map(|(x, field)| field.contains(&text).then_some((x, 0)));
        let robots: Vec<_> = (0..=9).map_while(|robot: u8| find(robot.to_string())).collect();
        let usual = row(context, u16::try_from(fields().count())?);
        let (players, radius, bomb_timer) = (u8::try_from(robots.len())?, self.radius, self.timer);
        let setup = Setup { bomb_timer, players, radius, ..usual };
        let setup = match find("#".to_owned()) {
            Some((x, y)) => Setup { blocks: 1, ..setup }.with_opening(|opening| {
                opening.robots.iter().map(|robot| (robot.x, robot.y)).eq(robots.iter().copied())
                    && opening.blocks.contains(&Position::new(x, y))
            })?,
            None if fields().count() == 1 => setup,
            None => setup.with_robots(&robots)?,
        };
        play_turns(context, judge, rule, setup, self.turns)
    }
}

/// `turns` are as in a [`Script`].
pub(super) fn play_turns(
    context: &Context<'_>,
    judge: &mut Judge,
    rule: &'static Rule,
    setup: Setup,
    turns: &str,
) -> ScenarioResult {
    let mut session = start_game(context, judge, setup)?;
    for turn in turns.split(' ') {
        if let Some(robot) = turn.strip_suffix('x') {
            session.leave(robot.parse()?);
            continue;
        }
        let actions: Vec<_> = turn.split('+').filter_map(action).collect();
        if actions.is_empty() {
            session.pass(1, rule)?;
        } else {
            session.together(&actions, rule)?;
        }
    }
    Ok(())
}

fn action(text: &str) -> Option<(usize, Action)> {
    let (robot, action) = text.split_at_checked(1)?;
    let action = match action {
        "*" => Action::PlaceBomb,
        "#" => Action::PlaceBlock,
        "<" => Action::Move(Direction::Left),
        ">" => Action::Move(Direction::Right),
        "^" => Action::Move(Direction::Up),
        "v" => Action::Move(Direction::Down),
        _ => return None,
    };
    Some((robot.parse().ok()?, action))
}

/// The bomb's arms end at its radius and at blocks that hide others.
pub(super) fn single_bomb(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    // On a board whose sizes are not powers of 2, rebirths show whether all bits of a draw are used.
    let setup = Setup { radius: 2, blocks: 20, size: (9, 7), ..row(context, 9) };
    let setup = setup.with_opening(|opening| {
        let mut board = opening.board.clone();
        for block in &opening.blocks {
            board.put_block(*block);
        }
        let [center, other] = opening.robots[..] else { return false };
        let blocks = |radius| Blast::new(&board, center, radius).blocks().count();
        let hits = Blast::new(&board, center, 2).contains(other);
        !board.is_block(center) && center != other && hits && blocks(2) > blocks(1) && blocks(3) > blocks(2)
    })?;
    play_turns(context, judge, &BLAST, setup, "0* - -")
}

pub(super) fn far_edge(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { players: 1, size: (2, 3), ..row(context, 2) }.with_robots(&[(1, 2)])?;
    // A robot that had left the board would end elsewhere.
    play_turns(context, judge, rule, setup, "0> - 0^ - 0v -")
}

pub(super) fn rebirth_on_block(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { players: 1, blocks: 20, ..row(context, 2) };
    let setup = setup.with_opening(|opening| {
        opening.blocks.len() == 2 && opening.draws.field(&opening.board) != opening.robots[0]
    })?;
    play_turns(context, judge, rule, setup, "0* - -")
}

pub(super) fn blocks_under_robots(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { blocks: 6, ..row(context, 3) };
    let setup = setup.with_opening(|opening| opening.robots.iter().any(|robot| opening.blocks.contains(robot)))?;
    play_turns(context, judge, rule, setup, "-")
}

pub(super) fn action_before_leaving(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = start_game(context, judge, one_field(context, 2))?;
    session.act(1, &[Action::PlaceBlock]);
    let leaver = session.clients.remove(1);
    leaver.connection.end_sending();
    session.play(0, &[], rule)?;
    drop(leaver);
    session.pass(1, rule)
}
