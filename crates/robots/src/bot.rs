//! A player that plays by itself: keeps out of blasts and hunts the others.

use alloc::{collections::BTreeSet, vec, vec::Vec};
use netcore::MinStd;

use crate::{
    board::{Board, Direction, Position},
    client::{Client, GameState},
    explosion::Blast,
    messages::{Action, InputMessage, PlayerId},
};

// How many turns it looks ahead. Whatever explodes later can still be walked away from then.
const HORIZON: usize = 10;
// How many bombs it looks at: the work of a turn stays within a bound, whatever a server says.
const MAX_BOMBS: usize = 4_096;
// How many fields it searches for a way to another robot.
const MAX_SEARCH: usize = 2_048;

/// How well a [`Bot`] plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Slow, sees a bomb when it is nearly too late, and makes many mistakes.
    Easy,
    /// A person beats it about half of the time.
    #[default]
    Normal,
    /// Acts in every turn, sees all bombs and makes no mistakes.
    Hard,
}

/// What a level is made of. Shares are of a hundred turns.
#[derive(Debug, Clone, Copy)]
struct Skill {
    /// Turns in which it does nothing.
    idle: usize,
    /// Turns in which it does not look at bombs.
    careless: usize,
    /// It sees only bombs that explode within so many turns.
    foresight: usize,
    /// Of the bombs that could reach somebody, so many are put down.
    eager: usize,
}

impl Level {
    const fn skill(self) -> Skill {
        match self {
            Self::Easy => Skill { idle: 30, careless: 20, foresight: 3, eager: 40 },
            Self::Normal => Skill { idle: 15, careless: 5, foresight: 4, eager: 50 },
            Self::Hard => Skill { idle: 0, careless: 0, foresight: HORIZON + 1, eager: 100 },
        }
    }
}

/// Chooses what a robot does that plays by itself.
///
/// It never goes, and never puts down a bomb, where it sees no way out of the blasts to come, unless there is none at
/// all. Within that it walks towards the nearest robot, and puts down a bomb when its blast would reach one, or when
/// blocks are all around. Below [`Level::Hard`] it now and then does nothing, does not look, or sees bombs late.
///
/// The same pictures, the same seed and the same level lead to the same actions.
///
/// ```
/// use netcore::{Client as _, Time, wire::ShortText};
/// use robots::{Bot, Client, Parameters, ServerMessage};
///
/// let mut client = Client::new(ShortText::try_from("bot")?, None);
/// let mut bot = Bot::new(1);
/// assert_eq!(bot.next_input(&client), None, "the server has said nothing yet");
/// let server_name = ShortText::try_from("here")?;
/// let parameters = Parameters {
///     server_name, players_count: 2, size_x: 5, size_y: 5, game_length: 9, explosion_radius: 1, bomb_timer: 3,
/// };
/// assert!(client.message(ServerMessage::Hello(parameters)));
/// let input = bot.next_input(&client).expect("it wants to play");
/// client.act(Time::ZERO, input);
/// assert_eq!(client.take_outgoing().as_deref(), Some(&b"\x00\x03bot"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bot {
    dice: MinStd,
    skill: Skill,
}

impl Bot {
    /// One that draws its whims from `seed` and plays as well as it can.
    pub fn new(seed: u32) -> Self {
        Self::with_level(seed, Level::Hard)
    }

    /// One that draws its whims and its mistakes from `seed`.
    pub fn with_level(seed: u32, level: Level) -> Self {
        // Not one of the seeds that give nothing but zeros.
        Self { dice: MinStd::new(1 + seed % 2_147_483_646), skill: level.skill() }
    }

    /// What to give to [`act`](netcore::Client::act) after a picture was due; `None` for doing nothing.
    pub fn next_input(&mut self, client: &Client) -> Option<InputMessage> {
        client.parameters()?;
        let own = client.own_player();
        let Some(game) = client.game() else {
            // Any input means that it wants to play.
            return own.is_none().then_some(Action::PlaceBomb);
        };
        let here = *game.positions().get(&own?)?;
        self.act(game, own?, here)
    }

    fn act(&mut self, game: &GameState, own: PlayerId, here: Position) -> Option<Action> {
        if self.happens(self.skill.idle) {
            return None;
        }
        let board = game.board();
        let others: Vec<Position> =
            game.positions().iter().filter(|&(&id, _)| id != own).map(|(_, &position)| position).collect();
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

        // A bomb that is put down in the coming turn explodes as one would that now has a timer longer by one.
        let bomb = Blast::new(board, here, game.explosion_radius());
        let fuse = usize::from(game.bomb_timer()) + 1;
        let may_bomb = longest == HORIZON && danger.survival(board, here, Some((fuse, bomb))) == HORIZON;
        let prey = others.iter().any(|&other| bomb.contains(other));
        if may_bomb && prey && self.roll(4) > 0 && !self.happens(100 - self.skill.eager) {
            return Some(Action::PlaceBomb);
        }
        // Somebody who stands here as well is in the bomb's reach already, so the way leads to somebody else.
        let elsewhere: BTreeSet<Position> = others.into_iter().filter(|&other| other != here).collect();
        let way = way_to(board, here, &elsewhere);
        if let Some(choice) = safe().find(|&(_, to)| Some(to) == way) {
            return choice.0;
        }
        if may_bomb && way.is_none() && !elsewhere.is_empty() && self.roll(4) == 0 {
            return Some(Action::PlaceBomb);
        }
        // Anywhere that is safe, and rather not here.
        safe().max_by_key(|&(_, to)| to != here).and_then(|(action, _)| action)
    }

    // Whether something happens that happens in so many of a hundred cases. What never happens draws no number.
    fn happens(&mut self, percent: usize) -> bool {
        percent > 0 && self.roll(100) < percent
    }

    fn roll(&mut self, sides: usize) -> usize {
        usize::try_from(self.dice.draw()).unwrap_or_default() / 64 % sides
    }
}

// What will explode, by the number of turns until then.
struct Danger {
    blasts: [Vec<Blast>; HORIZON + 2],
}

impl Danger {
    // Looks at those bombs that explode within `foresight` turns and whose blasts can reach a field that can be walked to in
    // time.
    fn new(game: &GameState, here: Position, foresight: usize) -> Self {
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

    // Whether a bomb explodes over `position` in that many turns.
    fn covers(&self, turns: usize, position: Position, own: Option<(usize, Blast)>) -> bool {
        self.blasts[turns].iter().any(|blast| blast.contains(position))
            || own.is_some_and(|(fuse, blast)| fuse == turns && blast.contains(position))
    }

    // How many turns a robot can live that stands on `first` after the coming turn, up to `HORIZON`. `own` is a bomb
    // that it puts down, with the turns until it explodes.
    fn survival(&self, board: &Board, first: Position, own: Option<(usize, Blast)>) -> usize {
        let mut reached = vec![first];
        for turn in 1..=HORIZON {
            // An explosion hits those who stand there when its turn begins.
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

// The neighbouring field that way, if a robot can go there.
fn step(board: &Board, from: Position, way: Direction) -> Option<Position> {
    board.step(from, way).filter(|&to| !board.is_block(to))
}

// The first field of a shortest way to one of `goals`; `None` if none is found near enough.
fn way_to(board: &Board, here: Position, goals: &BTreeSet<Position>) -> Option<Position> {
    let mut met = BTreeSet::from([here]);
    // Fields in the order in which they are reached, each with the first of its way.
    let mut reached = vec![(here, None)];
    let mut at = 0;
    while let Some(&(field, first)) = reached.get(at)
        && at < MAX_SEARCH
    {
        if goals.contains(&field) {
            return first;
        }
        for next in Direction::ALL.into_iter().filter_map(|way| step(board, field, way)) {
            if met.insert(next) {
                reached.push((next, first.or(Some(next))));
            }
        }
        at += 1;
    }
    None
}
