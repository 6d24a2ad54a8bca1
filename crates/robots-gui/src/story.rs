//! Events between two pictures: whose bomb hit which player.
//!
//! A picture contains no owners of bombs. A robot that places a bomb does not move, so the owner is the player on that
//! field before and after. The owner stays unknown if several players were there or a picture was lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::Time;
use robots::{Blast, Board, GamePicture, Parameters, PlayerId, Position};

use crate::roster::called;

const NEWS: Duration = Duration::from_secs(3);
/// How long the user's own robot is marked after a respawn.
const POINTING: Duration = Duration::from_millis(1_200);
/// Of each phase of the blinking mark, on or off.
const BLINK: Duration = Duration::from_millis(200);
const MAX_NAMES: usize = 3;
/// For one picture, more than a window shows.
const MAX_BLASTS: usize = 1_024;

type Fuse = (Position, u32);

#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    // Set in the lobby. Unknown if the GUI started during a game.
    radius: Option<u16>,
    bomb_timer: Option<u16>,
    // A field may have several bombs. The size of a picture bounds this map.
    owners: BTreeMap<Fuse, Vec<Option<PlayerId>>>,
    news: Option<(Time, String)>,
    came_back: Option<Time>,
}

impl Story {
    pub(crate) fn lobby(&mut self, parameters: &Parameters) {
        *self = Self {
            radius: Some(parameters.explosion_radius),
            bomb_timer: Some(parameters.bomb_timer),
            ..Self::default()
        };
    }

    pub(crate) fn game(&mut self, now: Time, own: Option<PlayerId>, before: Option<&GamePicture>, game: &GamePicture) {
        let before = before.filter(|before| before.turn.checked_add(1) == Some(game.turn));
        let mut old = std::mem::take(&mut self.owners);
        for (fuse, count) in fuses(game) {
            let mut owners = before.and_then(|_| old.remove(&fuse)).unwrap_or_default();
            let new = count.saturating_sub(owners.len());
            owners.truncate(count);
            owners.extend(self.placed_by(before, game, fuse, new));
            self.owners.insert(fuse, owners);
        }
        let Some(before) = before else { return };
        // The remaining old bombs have exploded.
        let victims: Vec<PlayerId> =
            game.scores.iter().filter(|(id, score)| before.scores.get(id) < Some(score)).map(|(&id, _)| id).collect();
        if victims.is_empty() {
            return;
        }
        let board = board(before);
        let blasts: Vec<(Blast, &Vec<Option<PlayerId>>)> = old
            .iter()
            .take(MAX_BLASTS)
            .filter_map(|(&(position, _), owners)| Some((Blast::new(&board, position, self.radius?), owners)))
            .collect();
        let culprits = |victim: PlayerId| -> BTreeSet<Option<PlayerId>> {
            let Some(&position) = before.player_positions.get(&victim) else { return BTreeSet::new() };
            blasts
                .iter()
                .filter(|(blast, _)| blast.contains(position))
                .flat_map(|(_, owners)| (*owners).clone())
                .collect()
        };
        if let Some(own) = own.filter(|own| victims.contains(own)) {
            self.came_back = Some(now);
            self.news = Some((now, got_you(game, own, &culprits(own))));
        } else if let Some(own) = own {
            let hit: Vec<PlayerId> =
                victims.into_iter().filter(|&victim| culprits(victim).contains(&Some(own))).collect();
            if !hit.is_empty() {
                self.news = Some((now, format!("Your bomb got {}", names(game, &hit))));
            }
        } else {
            let by: Vec<Option<PlayerId>> = culprits(victims[0]).into_iter().collect();
            let text = match by[..] {
                [Some(by)] if victims == [by] => format!("{} got caught by a bomb of its own", names(game, &victims)),
                [Some(by)] => format!("A bomb of {} got {}", names(game, &[by]), names(game, &victims)),
                _ => format!("A bomb got {}", names(game, &victims)),
            };
            self.news = Some((now, text));
        }
    }

    fn placed_by(
        &self,
        before: Option<&GamePicture>,
        game: &GamePicture,
        (position, explodes): Fuse,
        new: usize,
    ) -> Vec<Option<PlayerId>> {
        let fresh = self.bomb_timer.is_some_and(|timer| u32::from(game.turn) + u32::from(timer) == explodes);
        let stood = |picture: &GamePicture, id: PlayerId| picture.player_positions.get(&id) == Some(&position);
        let able: Vec<Option<PlayerId>> = match before {
            Some(before) if fresh => {
                let there = game.player_positions.keys().copied();
                there.filter(|&id| stood(before, id) && stood(game, id)).map(Some).collect()
            }
            _ => vec![],
        };
        if able.len() == new { able } else { vec![None; new] }
    }

    pub(crate) fn news(&self, now: Time) -> Option<&str> {
        self.news.as_ref().filter(|(at, _)| now.since(*at) < NEWS).map(|(_, text)| &**text)
    }

    pub(crate) fn points(&self, now: Time) -> bool {
        self.pointing(now).is_some_and(|since| (since.as_millis() / BLINK.as_millis()).is_multiple_of(2))
    }

    pub(crate) fn is_moving(&self, now: Time) -> bool {
        self.pointing(now).is_some()
    }

    fn pointing(&self, now: Time) -> Option<Duration> {
        self.came_back.map(|at| now.since(at)).filter(|&since| since < POINTING)
    }

    /// `None` if the bomb radius is unknown.
    pub(crate) fn danger(&self, game: &GamePicture) -> Option<Vec<Blast>> {
        let radius = self.radius?;
        let board = board(game);
        let due: BTreeSet<Position> =
            game.bombs.iter().filter(|bomb| bomb.timer <= 1).map(|bomb| bomb.position).collect();
        Some(due.into_iter().take(MAX_BLASTS).map(|position| Blast::new(&board, position, radius)).collect())
    }
}

fn got_you(game: &GamePicture, own: PlayerId, culprits: &BTreeSet<Option<PlayerId>>) -> String {
    let others: Vec<PlayerId> = culprits.iter().flatten().copied().filter(|&id| id != own).collect();
    let known = !culprits.is_empty() && culprits.iter().all(Option::is_some);
    match (&others[..], known, culprits.contains(&Some(own))) {
        ([], true, _) => "Your own bomb got you".to_owned(),
        ([one], true, false) => format!("{}'s bomb got you", name(game, *one)),
        (all, true, false) => format!("Bombs of {} got you", names(game, all)),
        (all, true, true) => format!("Your own bomb got you, and that of {}", names(game, all)),
        _ => "A bomb got you".to_owned(),
    }
}

fn name(game: &GamePicture, id: PlayerId) -> String {
    called(id, game.players.get(&id).map_or("", |player| &player.name))
}

fn names(game: &GamePicture, ids: &[PlayerId]) -> String {
    let mut names: Vec<String> = ids.iter().take(MAX_NAMES).map(|&id| name(game, id)).collect();
    if ids.len() > MAX_NAMES {
        names.push(format!("{} more", ids.len() - MAX_NAMES));
    }
    match names.split_last() {
        Some((last, front)) if !front.is_empty() => format!("{} and {last}", front.join(", ")),
        _ => names.concat(),
    }
}

fn fuses(game: &GamePicture) -> BTreeMap<Fuse, usize> {
    let mut fuses = BTreeMap::new();
    for bomb in &game.bombs {
        *fuses.entry((bomb.position, u32::from(game.turn) + u32::from(bomb.timer))).or_default() += 1;
    }
    fuses
}

fn board(game: &GamePicture) -> Board {
    let mut board = Board::new(game.size_x, game.size_y);
    for &block in &game.blocks {
        board.put_block(block);
    }
    board
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, bomb, game, parameters};

    const NOW: Time = Time::ZERO;

    // Ann, Bob and Cid are in a corner each. `skip` omits the first picture with the bombs.
    fn news_of(own: Option<u8>, placed: &[(u16, u16)], destroyed: &[u8], skip: bool) -> Option<String> {
        let mut story = Story::default();
        story.lobby(&parameters());
        let robots = [("Ann", 0, 0), ("Bob", 2, 0), ("Cid", 2, 2)];
        let picture = |turn: u16| {
            let mut picture = game(3, 3, &robots);
            picture.turn = turn;
            picture
        };
        let timer = parameters().bomb_timer;
        let own = own.map(PlayerId);
        let mut pictures = vec![picture(1)];
        for turn in 2..2 + timer {
            let mut picture = picture(turn);
            picture.bombs = placed.iter().map(|&(x, y)| bomb(x, y, timer + 2 - turn)).collect();
            pictures.push(picture);
        }
        let mut last = picture(2 + timer);
        for &id in destroyed {
            last.scores.insert(PlayerId(id), 1);
            last.player_positions.insert(PlayerId(id), at(1, 1));
        }
        pictures.push(last);
        if skip {
            pictures.remove(1);
        }
        let mut before: Option<GamePicture> = None;
        for picture in pictures {
            story.game(NOW, own, before.as_ref(), &picture);
            before = Some(picture);
        }
        assert_eq!(story.is_moving(NOW), own.is_some_and(|own| destroyed.contains(&own.0)));
        story.news(NOW).map(str::to_owned)
    }

    #[test]
    fn hits_name_the_owner_of_the_bomb() {
        let said = |own, placed: &[(u16, u16)], destroyed: &[u8]| news_of(own, placed, destroyed, false).unwrap();
        assert_eq!(said(Some(0), &[(2, 0)], &[0, 1]), "Bob's bomb got you");
        assert_eq!(said(Some(0), &[(0, 0)], &[0]), "Your own bomb got you");
        assert_eq!(said(Some(1), &[(0, 0), (2, 2)], &[0, 1, 2]), "Bombs of Ann and Cid got you");
        assert_eq!(said(Some(1), &[(0, 0), (2, 0)], &[0, 1]), "Your own bomb got you, and that of Ann");
        assert_eq!(said(Some(0), &[(0, 0)], &[1]), "Your bomb got Bob");
        assert_eq!(said(None, &[(2, 0)], &[0, 2]), "A bomb of Bob got Ann and Cid");
        assert_eq!(said(None, &[(2, 2)], &[2]), "Cid got caught by a bomb of its own");
        assert_eq!(news_of(Some(0), &[(2, 0)], &[2], false), None, "that of others is their business");
        assert_eq!(news_of(Some(0), &[(2, 0)], &[], false), None);
    }

    #[test]
    fn unknown_bomb_owners_are_not_named() {
        // The first picture with the bomb is missing.
        assert_eq!(news_of(Some(0), &[(2, 0)], &[0], true).unwrap(), "A bomb got you");
        assert_eq!(news_of(None, &[(2, 0)], &[0], true).unwrap(), "A bomb got Ann");
        // No player was on that field.
        assert_eq!(news_of(Some(0), &[(1, 0)], &[0], false).unwrap(), "A bomb got you");
    }

    #[test]
    fn bomb_owners_on_one_field_are_ambiguous_unless_both_placed() {
        let mut story = Story::default();
        story.lobby(&parameters());
        let first = game(3, 3, &[("Ann", 0, 0), ("Bob", 0, 0)]);
        let mut second = first.clone();
        second.turn += 1;
        let timer = parameters().bomb_timer;
        second.bombs = vec![bomb(0, 0, timer)];
        let owners = |story: &Story| story.owners.values().flatten().copied().collect::<Vec<_>>();
        story.game(NOW, None, Some(&first), &second);
        assert_eq!(owners(&story), [None]);
        let mut story = Story::default();
        story.lobby(&parameters());
        second.bombs.push(bomb(0, 0, timer));
        story.game(NOW, None, Some(&first), &second);
        assert_eq!(owners(&story), [Some(PlayerId(0)), Some(PlayerId(1))]);
    }

    #[test]
    fn news_and_marks_expire() {
        let mut story = Story { came_back: Some(NOW), news: Some((NOW, "x".to_owned())), ..Story::default() };
        let at = Time::from_millis;
        assert_eq!(
            [0, 199, 200, 400, 1_199, 1_200].map(|now| story.points(at(now))),
            [true, true, false, true, false, false]
        );
        assert_eq!([2_999, 3_000].map(|now| story.news(at(now)).is_some()), [true, false]);
        story.lobby(&parameters());
        assert!(story.news(NOW).is_none() && !story.is_moving(NOW));
    }

    #[test]
    fn the_blasts_of_the_coming_turn_need_the_radius() {
        let mut game = game(5, 5, &[]);
        game.bombs = vec![bomb(0, 0, 1), bomb(4, 4, 2), bomb(0, 0, 1)];
        assert_eq!(Story::default().danger(&game), None);
        let mut story = Story::default();
        story.lobby(&parameters());
        let danger = story.danger(&game).unwrap();
        assert_eq!(danger.len(), 1);
        assert!(danger[0].contains(at(0, 4)) && !danger[0].contains(at(4, 4)));
    }
}
