//! A game with the parameters of a running server, judged as far as its options are known.

use std::{net::SocketAddr, time::Duration};

use robots::{Action, ServerMessage};

use super::{
    BUSY, HELLO, LATE,
    lobby::small,
    session::Session,
    setup::{Host, Setup},
};
use crate::{
    judge::{Judge, ScenarioResult},
    robots::context::Context,
};

/// The tester leaves longer games.
const TURNS: u16 = 20;

pub(super) fn play(context: &Context<'_>, judge: &mut Judge, address: SocketAddr) -> ScenarioResult {
    let run = judge.start(context.launcher, &[])?;
    // The duration of its turns is unknown. All other parameters are in its Hello.
    let known = Setup { duration: context.options.patience * 6, ..small(context) };
    let mut host = Host::new(run, address, known.parameters()?);
    let mut first = context.connect_unchecked(judge, &mut host, "the first client")?;
    let hello = first.expect(judge, &HELLO, context.options.deadline(), "Hello after connecting")?;
    let ServerMessage::Hello(parameters) = hello else {
        return judge.broken(&HELLO, || "expected Hello as the first message, received another".to_owned());
    };
    drop(first);
    let (players, length) = (parameters.players_count, parameters.game_length);
    let known = Setup {
        players,
        length,
        size: (parameters.size_x, parameters.size_y),
        radius: parameters.explosion_radius,
        bomb_timer: parameters.bomb_timer,
        ..known
    };
    host.parameters = parameters;
    let mut session = Session::at(context, judge, host, known, false);
    let mut probe = context.connect(session.judge, &mut session.host, "a client")?;
    // A server with waiting players or a running game cannot be tested.
    if !matches!(probe.next(std::time::Instant::now() + Duration::from_millis(300)), super::setup::Received::Timeout) {
        return Ok(());
    }
    drop(probe);
    for number in 0..players {
        let name = format!("player {number}");
        let index = session.connect(&name)?;
        session.join(index, &name)?;
    }
    session.start()?;
    for turn in 0..length.min(TURNS) {
        if turn == length.min(TURNS) / 2 {
            session.connect("a late joiner")?;
            session.judge.check(&LATE, true, String::new);
        }
        for player in 0..usize::from(players) {
            let action = match (usize::from(turn) + player) % 6 {
                0 => Action::PlaceBomb,
                3 => Action::PlaceBlock,
                _ => Action::Move(session.any_way(player)),
            };
            session.act(player, &[action]);
        }
        session.turn(&BUSY)?;
    }
    if session.is_running() { Ok(()) } else { session.ended() }
}
