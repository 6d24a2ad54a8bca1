//! Its lobby and its game.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Instant,
};

use netcore::wire::ShortText;
use robots::{
    Action, Blast, Board, BombId, Direction, Event, MinStd, Parameters, Player, PlayerId, Position, ServerMessage,
};

use super::{C, Server};

pub(super) struct Game {
    turn: u16,
    pub(super) due: Instant,
    board: Board,
    robots: Vec<Position>,
    scores: Vec<u32>,
    // Id, field and the turn of the explosion.
    bombs: Vec<(BombId, Position, u32)>,
    next_bomb: u32,
    actions: Vec<Option<Action>>,
    pub(super) left: BTreeSet<usize>,
}

impl Server {
    fn draw(&mut self, bound: u16) -> u16 {
        u16::try_from(self.draws.draw() % u32::from(bound)).unwrap()
    }

    fn draw_field(&mut self) -> Position {
        let Parameters { size_x, size_y, .. } = self.parameters;
        let early = self.is(C::YBeforeX).then(|| self.draw(size_y));
        let x = self.draw(size_x);
        Position { x, y: early.unwrap_or_else(|| self.draw(size_y)) }
    }

    pub(super) fn act(&mut self, index: usize, action: Action) {
        let (crime, peer) = (self.crime, &mut self.peers[index]);
        let Some(game) = &mut self.game else {
            peer.remembered = (crime == C::RemembersLobby).then_some(action);
            return;
        };
        let seat = match peer.seat {
            Some(seat) => seat,
            None if crime == C::ObserverPlays => 0,
            None => return,
        };
        let board = &game.board;
        let possible = match action {
            Action::Move(way) => board.step(game.robots[seat], way).is_some_and(|to| !board.is_block(to)),
            Action::PlaceBomb | Action::PlaceBlock => true,
        };
        match crime {
            C::FirstCounts if game.actions[seat].is_some() => {}
            C::PossibleCounts if !possible => {}
            C::DropsActions if seat == 2 => {}
            _ => game.actions[seat] = Some(action),
        }
    }

    pub(super) fn join(&mut self, index: usize, name: ShortText) {
        let peer = &mut self.peers[index];
        if let Some(game) = &mut self.game {
            if let (C::JoinDisplaces, Some(seat)) = (self.crime, peer.seat) {
                game.actions[seat] = None;
            }
            return;
        }
        if peer.seat.is_some() && self.crime != C::JoinsTwice {
            return;
        }
        peer.seat = Some(self.players.len());
        let address = peer.stream.peer_addr().unwrap();
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        let address = match self.crime {
            C::AddressWithoutPort => address.ip().to_string(),
            C::AddressOfOther => "127.0.0.1:1".to_owned(),
            _ => address.to_string(),
        };
        let id = PlayerId(self.next_id + u8::from(self.is(C::IdsFromOne)));
        self.next_id += 1;
        let player = Player { name, address: address.parse().unwrap() };
        self.players.push((id, player.clone()));
        self.tell(&ServerMessage::AcceptedPlayer { id, player });
        if self.players.len() == usize::from(self.parameters.players_count) {
            self.start();
        }
    }

    fn start(&mut self) {
        self.log.clear();
        let players = if self.is(C::StartsEmpty) { BTreeMap::new() } else { self.players.iter().cloned().collect() };
        self.tell(&ServerMessage::GameStarted { players });
        let mut board = Board::new(self.parameters.size_x, self.parameters.size_y);
        let (mut events, mut robots) = (vec![], vec![]);
        for id in (0..self.parameters.players_count).map(PlayerId) {
            let position = self.draw_field();
            robots.push(position);
            events.push(Event::PlayerMoved { id, position });
        }
        for _ in 0..self.initial {
            let position = self.draw_field();
            if board.put_block(position) || self.is(C::BlockTwiceAtStart) {
                events.push(Event::BlockPlaced { position });
            }
        }
        if self.is(C::BlockTwiceAtStart) && board.blocks().next().is_some() {
            events.push(events.last().unwrap().clone());
        }
        let mut actions = vec![None; robots.len()];
        for peer in &self.peers {
            if let Some(seat) = peer.seat {
                actions[seat] = peer.remembered;
            }
        }
        let scores = vec![0; robots.len()];
        let due = Instant::now() + self.duration;
        let bombs = vec![];
        self.game =
            Some(Game { turn: 0, due, board, robots, scores, bombs, next_bomb: 0, actions, left: BTreeSet::new() });
        self.tell(&ServerMessage::Turn { turn: 0, events });
        if self.parameters.game_length == 0 {
            self.end();
        }
    }

    pub(super) fn turn(&mut self) {
        let mut game = self.game.take().unwrap();
        game.turn += 1;
        game.due = if self.is(C::Drifts) { Instant::now() } else { game.due } + self.duration;
        let (mut explosions, mut events) = (vec![], vec![]);
        let (mut hits, mut gone) = (vec![0; game.robots.len()], vec![]);
        let turn = u32::from(game.turn);
        let due: Vec<_> = game.bombs.iter().copied().filter(|bomb| bomb.2 == turn).collect();
        game.bombs.retain(|bomb| bomb.2 != turn);
        let radius = self.parameters.explosion_radius.saturating_add(u16::from(self.is(C::LongBlast)));
        for (id, center, _) in due {
            let blast = Blast::new(&game.board, center, radius);
            let mut robots_destroyed = vec![];
            for ((id, &robot), hits) in PlayerId::all().zip(&game.robots).zip(&mut hits) {
                if blast.contains(robot) {
                    *hits += 1;
                    robots_destroyed.push(id);
                }
            }
            let blocks_destroyed: Vec<_> = blast.blocks().collect();
            if self.is(C::OneAfterTheOther) {
                for &block in &blocks_destroyed {
                    game.board.remove_block(block);
                }
            }
            gone.extend_from_slice(&blocks_destroyed);
            explosions.push(Event::BombExploded { id, robots_destroyed, blocks_destroyed });
        }
        for block in gone {
            game.board.remove_block(block);
        }
        for ((seat, id), hits) in PlayerId::all().enumerate().zip(hits) {
            if hits > 0 {
                game.scores[seat] += if self.is(C::CountsHits) { hits } else { 1 };
                game.robots[seat] = self.draw_field();
                if !self.is(C::NoRebirth) {
                    events.push(Event::PlayerMoved { id, position: game.robots[seat] });
                }
                game.actions[seat] = None;
                continue;
            }
            let action = if self.is(C::PlaysAgain) { game.actions[seat] } else { game.actions[seat].take() };
            let walks = self.is(C::LeaverWalks) && game.left.contains(&seat);
            let action = if walks { Some(Action::PlaceBomb) } else { action };
            if let Some(action) = action {
                events.extend(self.play(&mut game, id, action));
            }
        }
        let turn = game.turn + u16::from(self.is(C::SkipsTurn));
        let over = game.turn >= self.parameters.game_length;
        self.game = Some(game);
        let order = if self.is(C::ExplosionsLast) { [events, explosions] } else { [explosions, events] };
        self.tell(&ServerMessage::Turn { turn, events: order.concat() });
        if over && self.is(C::LateEnd) {
            self.ending = Some(Instant::now() + self.duration);
        } else if over {
            self.end();
        }
    }

    fn play(&self, game: &mut Game, id: PlayerId, action: Action) -> Option<Event> {
        let seat = usize::from(id.0);
        let from = game.robots[seat];
        match action {
            Action::PlaceBomb => {
                if self.is(C::NoBombOnBlock) && game.board.is_block(from) {
                    return None;
                }
                let bomb = BombId(game.next_bomb);
                game.next_bomb += u32::from(!self.is(C::SameBombId));
                let timer = u32::from(self.parameters.bomb_timer) + u32::from(self.is(C::SlowBombs));
                game.bombs.push((bomb, from, u32::from(game.turn) + timer));
                Some(Event::BombPlaced { id: bomb, position: from })
            }
            Action::PlaceBlock => {
                let new = game.board.put_block(from) || self.is(C::BlockTwice);
                (new && !self.is(C::NoBlocks)).then_some(Event::BlockPlaced { position: from })
            }
            Action::Move(way) => {
                let way = match way {
                    Direction::Up if self.is(C::UpIsDown) => Direction::Down,
                    Direction::Down if self.is(C::UpIsDown) => Direction::Up,
                    way => way,
                };
                let position = match game.board.step(from, way) {
                    None if self.is(C::NoEdge) => from,
                    to => to?,
                };
                if game.board.is_block(position) && !self.is(C::WalksIntoBlocks) {
                    return None;
                }
                game.robots[seat] = position;
                Some(Event::PlayerMoved { id, position })
            }
        }
    }

    pub(super) fn end(&mut self) {
        let game = self.game.take().unwrap();
        let (zeros, lost) = (!self.is(C::NoZeros), self.is(C::LosesScores));
        let scores = PlayerId::all().zip(game.scores).filter(|(_, score)| zeros || *score > 0);
        let scores = scores.map(|(id, score)| (id, if lost { 0 } else { score })).collect();
        self.tell(&ServerMessage::GameEnded { scores });
        self.log.clear();
        self.players.clear();
        for peer in &mut self.peers {
            (peer.seat, peer.remembered) = (None, None);
        }
        if !self.is(C::IdsGoOn) {
            self.next_id = 0;
        }
        if self.is(C::Resets) {
            self.draws = MinStd::new(self.seed);
        }
    }
}
