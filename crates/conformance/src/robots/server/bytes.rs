use robots::{Action, Direction, ServerMessage};

use super::{
    PIECES,
    lobby::{disconnected, small},
    openings::one_field,
    session::{Kind, Session},
    setup::Setup,
};
use crate::{
    judge::{Judge, ScenarioResult},
    robots::{
        context::{Context, NAME_OF_256},
        show,
    },
    rule::Rule,
};

pub(super) const LONGEST: &str = NAME_OF_256.split_at(255).0;

pub(super) fn named(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule, name: &str) -> ScenarioResult {
    let mut session = Session::open(context, judge, small(context))?;
    session.connect("an observer")?;
    let index = session.connect("a player")?;
    session.join_for(index, name, rule)
}

pub(super) fn equal_names(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, small(context))?;
    for name in ["Ann", "Ann"] {
        let index = session.connect(name)?;
        session.join_for(index, name, rule)?;
    }
    session.start()
}

pub(super) fn comes_back(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 3, ..small(context) })?;
    session.connect("an observer")?;
    for _ in 0..2 {
        let index = session.connect("Ann")?;
        session.join_for(index, "Ann", rule)?;
        session.leave(index);
    }
    Ok(())
}

pub(super) fn server_name(context: &Context<'_>, judge: &mut Judge, _: &'static Rule) -> ScenarioResult {
    for name in ["", LONGEST] {
        let mut host = context.host(judge, &Setup { name, ..small(context) })?;
        context.connect(judge, &mut host, "a client")?;
    }
    Ok(())
}

pub(super) fn half_more(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    context.needs(judge, &PIECES)?;
    let setup = Setup { players: 1, size: (2, 1), ..one_field(context, 1) }.with_robots(&[(0, 0)])?;
    let mut session = Session::open(context, judge, setup)?;
    let ann = session.connect("Ann")?;
    session.clients[ann].send_bytes(&[0, 3, b'A', b'n', b'n', 3]);
    session.accepted(ann, "Ann", rule)?;
    session.start()?;
    if let Some(model) = &mut session.model {
        model.sent(0, &[Action::Move(Direction::Right)]);
    }
    session.clients[ann].send_bytes(&[Direction::Right as u8]);
    session.play(ann, &[], rule)
}

pub(super) fn before_bad(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, small(context))?;
    session.connect("an observer")?;
    let mut bob = context.connect(session.judge, &mut session.host, "Bob")?;
    bob.connection.send(&[0, 3, b'B', b'o', b'b', 9]);
    let Some(message) = session.broadcast(rule, "an AcceptedPlayer of \"Bob\"", Kind::Accepted)? else {
        return Ok(());
    };
    let kept = matches!(&message, ServerMessage::AcceptedPlayer { player, .. } if *player.name == *"Bob");
    session
        .judge
        .require(rule, kept, || format!("expected an AcceptedPlayer of \"Bob\", received {}", show::message(&message)))
}

pub(super) fn bad_direction(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 1, ..small(context) })?;
    for bytes in [[3, 4], [3, 255]] {
        disconnected(context, &mut session, &bytes, "a Move with an unknown direction", rule)?;
    }
    Ok(())
}

/// Names that some UTF-8 decoders wrongly accept.
pub(super) fn strict_utf8(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 9, ..small(context) })?;
    let names: [(&[u8], &str); 4] = [
        (&[0xed, 0xa0, 0x80], "half of a surrogate pair"),
        (&[0xc0, 0x80], "a zero in two bytes"),
        (&[0xf4, 0x90, 0x80, 0x80], "a number above 10FFFF"),
        (&[b'a', 0xe2, 0x82], "a truncated character"),
    ];
    for (name, what) in names {
        let bytes = [&[0, u8::try_from(name.len())?][..], name].concat();
        disconnected(context, &mut session, &bytes, &format!("a Join whose name is {what}"), rule)?;
    }
    Ok(())
}
