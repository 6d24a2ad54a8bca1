//! A computer player: it avoids blasts and hunts the other robots.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec,
    vec::Vec,
};
use netcore::Level;

use crate::{
    board::{Board, Direction, Position},
    client::Client,
    explosion::Blast,
    minstd::MinStd,
    protocol::{Action, InputMessage, PlayerId},
    view::GameView,
};

// Turns that the bot looks ahead. It can walk away from later explosions.
const HORIZON: usize = 10;
// The maximum number of bombs considered, so that a hostile server cannot make a turn expensive.
const MAX_BOMBS: usize = 4_096;
// The maximum number of fields searched for a path.
const MAX_SEARCH: usize = 2_048;
// A robot is idle after this number of turns without a step.
const IDLE_TURNS: u16 = 8;
// In one walking turn in this many, the bot places a block instead, to make up for destroyed ones.
const BUILDS: usize = 8;

/// Shares are in percent.
#[derive(Debug, Clone, Copy)]
struct Skill {
    /// Turns that it passes.
    idle: usize,
    /// Remaining turns when it ignores all bombs.
    careless: usize,
    /// It notices only bombs that explode within this many turns.
    foresight: usize,
    /// Opportunities to hit a player that it uses.
    eager: usize,
}

impl Skill {
    const fn of(level: Level) -> Self {
        match level {
            Level::Easy => Self { idle: 30, careless: 20, foresight: 3, eager: 40 },
            Level::Normal => Self { idle: 15, careless: 5, foresight: 4, eager: 50 },
            Level::Hard => Self { idle: 5, careless: 3, foresight: 7, eager: 80 },
        }
    }
}

/// Chooses the actions of a robot.
///
/// If possible, the bot moves and places bombs only where it can escape all coming blasts. It walks towards the nearest
/// robot, and places a bomb if the blast would reach one, or if blocks surround the bot. It prefers idle robots and
/// blasts a way to them. It sometimes passes, ignores bombs, or notices them late.
///
/// The server's messages, the seed and the level determine its actions.
///
/// ```
/// use netcore::{Client as _, Time, wire::ShortText};
/// use robots::{Bot, Client};
///
/// let mut client = Client::new(ShortText::try_from("bot")?, None);
/// let mut bot = Bot::new(1);
/// assert_eq!(bot.next_input(&client), None, "no message has arrived yet");
/// // A Hello: a server "here" for 2 players on 5 x 5 fields, 9 turns, radius 1, timer 3.
/// client.receive(Time::ZERO, b"\x00\x04here\x02\x00\x05\x00\x05\x00\x09\x00\x01\x00\x03")?;
/// let input = bot.next_input(&client).expect("it wants to play");
/// client.act(Time::ZERO, input);
/// assert_eq!(client.take_outgoing().as_deref(), Some(&b"\x00\x03bot"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bot {
    dice: MinStd,
    skill: Skill,
    seen: BTreeMap<PlayerId, Sighting>,
}

/// The last position of a robot and the turn of its last step. A respawn is not a step.
#[derive(Debug, Clone, Copy)]
struct Sighting {
    position: Position,
    stepped: u16,
}

impl Bot {
    /// A bot of [`Level::Hard`]. `seed` determines its random choices.
    pub fn new(seed: u32) -> Self {
        Self::with_level(seed, Level::Hard)
    }

    /// A bot of this level. `seed` determines its random choices and mistakes.
    pub fn with_level(seed: u32, level: Level) -> Self {
        // A seed of 0 modulo 2147483647 would yield only zeros.
        Self { dice: MinStd::new(1 + seed % 2_147_483_646), skill: Skill::of(level), seen: BTreeMap::new() }
    }

    /// The next input; `None` to pass. Call this after each change of the state.
    pub fn next_input(&mut self, client: &Client) -> Option<InputMessage> {
        client.parameters()?;
        let own = client.own_player();
        let Some(game) = client.game() else {
            // Any input in the lobby joins.
            return own.is_none().then_some(Action::PlaceBomb);
        };
        self.watch(game);
        let here = *game.positions().get(&own?)?;
        self.act(game, own?, here)
    }

    fn watch(&mut self, game: &GameView) {
        let turn = game.turn();
        self.seen.retain(|id, sighting| game.positions().contains_key(id) && sighting.stepped <= turn);
        for (&id, &position) in game.positions() {
            let sighting = self.seen.entry(id).or_insert(Sighting { position, stepped: turn });
            let [x, y] = [position.x.abs_diff(sighting.position.x), position.y.abs_diff(sighting.position.y)];
            if u32::from(x) + u32::from(y) == 1 {
                sighting.stepped = turn;
            }
            sighting.position = position;
        }
    }

    fn act(&mut self, game: &GameView, own: PlayerId, here: Position) -> Option<Action> {
        if self.happens(self.skill.idle) {
            return None;
        }
        let board = game.board();
        let others = || game.positions().iter().filter(|&(&id, _)| id != own);
        let is_idle = |id: &PlayerId| self.seen.get(id).is_some_and(|seen| game.turn() - seen.stepped >= IDLE_TURNS);
        let idle: BTreeSet<Position> = others().filter(|(id, _)| is_idle(id)).map(|(_, &position)| position).collect();
        let others: BTreeSet<Position> = others().map(|(_, &position)| position).collect();
        let foresight = if self.happens(self.skill.careless) { 0 } else { self.skill.foresight };
        let danger = Danger::new(game, here, foresight);
        let first = self.roll(Direction::ALL.len());
        let ways = || Direction::ALL.into_iter().cycle().skip(first).take(Direction::ALL.len());

        let mut moves: Vec<(Option<Action>, Position)> = vec![(None, here)];
        moves.extend(ways().filter_map(|way| {
            let to = step(board, here, way)?;
            Some((Some(Action::Move(way)), to))
        }));
        let lasting: Vec<usize> = moves.iter().map(|&(_, to)| danger.survival(board, to, None)).collect();
        let longest = lasting.iter().copied().max().unwrap_or_default();
        let safe = || moves.iter().zip(&lasting).filter(|&(_, &turns)| turns == longest).map(|(&choice, _)| choice);

        // A bomb placed in the coming turn explodes a turn later than a full timer now.
        let bomb = Blast::new(board, here, game.explosion_radius());
        let fuse = usize::from(game.bomb_timer()) + 1;
        let may_bomb = longest == HORIZON && danger.survival(board, here, Some((fuse, bomb))) == HORIZON;
        // A second bomb would not hit an idle robot more often.
        let spent = |target: &Position| {
            idle.contains(target)
                && game.bombs().any(|bomb| Blast::new(board, bomb.position, game.explosion_radius()).contains(*target))
        };
        let mut prey = others.iter().filter(|&target| bomb.contains(*target) && !spent(target)).peekable();
        if may_bomb && prey.peek().is_some() && self.roll(4) > 0 {
            let is_easy = prey.any(|target| idle.contains(target));
            if is_easy || !self.happens(100 - self.skill.eager) {
                return Some(Action::PlaceBomb);
            }
        }
        // A robot on the same field is in reach already.
        let elsewhere = |targets: &BTreeSet<Position>| targets.iter().copied().filter(|&other| other != here).collect();
        let (idle, elsewhere): (BTreeSet<_>, BTreeSet<_>) = (elsewhere(&idle), elsewhere(&others));
        let way = way_to(board, here, &idle, true).or_else(|| way_to(board, here, &elsewhere, false));
        let digs = way.is_some_and(|next| board.is_block(next));
        if !digs && lasting[0] == HORIZON && self.roll(BUILDS) == 0 {
            return Some(Action::PlaceBlock);
        }
        if let Some(choice) = safe().find(|&(_, to)| Some(to) == way) {
            return choice.0;
        }
        let obstructed = digs || way.is_none() && !elsewhere.is_empty();
        if may_bomb && obstructed && self.roll(if digs { 2 } else { 4 }) == 0 {
            return Some(Action::PlaceBomb);
        }
        safe().max_by_key(|&(_, to)| to != here).and_then(|(action, _)| action)
    }

    // With 0 no random number is drawn.
    fn happens(&mut self, percent: usize) -> bool {
        percent > 0 && self.roll(100) < percent
    }

    fn roll(&mut self, sides: usize) -> usize {
        usize::try_from(self.dice.draw()).unwrap_or_default() / 64 % sides
    }
}

struct Danger {
    blasts: [Vec<Blast>; HORIZON + 2],
}

impl Danger {
    // Considers bombs that explode within `foresight` turns and can hit a field in reach.
    fn new(game: &GameView, here: Position, foresight: usize) -> Self {
        let mut bombs: Vec<_> = game
            .bombs()
            .map(|bomb| (usize::from(bomb.timer), bomb.position))
            .filter(|&(timer, position)| {
                let near = position.x.abs_diff(here.x).min(position.y.abs_diff(here.y));
                timer <= foresight && usize::from(near) <= HORIZON
            })
            .take(MAX_BOMBS)
            .collect();
        bombs.sort_unstable();
        bombs.dedup();
        let mut blasts: [Vec<Blast>; HORIZON + 2] = Default::default();
        for (timer, position) in bombs {
            blasts[timer].push(Blast::new(game.board(), position, game.explosion_radius()));
        }
        Self { blasts }
    }

    fn covers(&self, turns: usize, position: Position, own: Option<(usize, Blast)>) -> bool {
        self.blasts[turns].iter().any(|blast| blast.contains(position))
            || own.is_some_and(|(fuse, blast)| fuse == turns && blast.contains(position))
    }

    // The number of turns that the robot can survive, up to `HORIZON`. `first` is its field after the coming turn,
    // `own` a bomb that it places, with the turns until the explosion.
    fn survival(&self, board: &Board, first: Position, own: Option<(usize, Blast)>) -> usize {
        let mut reached = vec![first];
        for turn in 1..=HORIZON {
            // Explosions hit robots at the start of a turn.
            reached.retain(|&position| !self.covers(turn + 1, position, own));
            let rests = |&position: &Position| (turn + 2..HORIZON + 2).all(|later| !self.covers(later, position, own));
            if reached.iter().any(rests) {
                return HORIZON;
            }
            if reached.is_empty() {
                return turn - 1;
            }
            for at in 0..reached.len() {
                let from = reached[at];
                reached.extend(Direction::ALL.into_iter().filter_map(|way| step(board, from, way)));
            }
            reached.sort_unstable();
            reached.dedup();
        }
        HORIZON
    }
}

fn step(board: &Board, from: Position, way: Direction) -> Option<Position> {
    board.step(from, way).filter(|&to| !board.is_block(to))
}

// The first field of a shortest path to one of `goals`. With `digs`, blocks do not obstruct it.
fn way_to(board: &Board, here: Position, goals: &BTreeSet<Position>, digs: bool) -> Option<Position> {
    if goals.is_empty() {
        return None;
    }
    let is_open = |next: &Position| digs || !board.is_block(*next);
    let mut met = BTreeSet::from([here]);
    // Each field with the first field of its path.
    let mut reached = vec![(here, None)];
    let mut at = 0;
    while let Some(&(field, first)) = reached.get(at)
        && at < MAX_SEARCH
    {
        if goals.contains(&field) {
            return first;
        }
        for next in Direction::ALL.into_iter().filter_map(|way| board.step(field, way)).filter(is_open) {
            if met.insert(next) {
                reached.push((next, first.or(Some(next))));
            }
        }
        at += 1;
    }
    None
}
