use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    time::{Duration, Instant},
};

use robots::{Action, ServerMessage};

use super::{
    ACCEPTED, BAD_BYTES, BAD_NAME, IPV6, LOBBY_ACTIONS, MANY_CLIENTS, NO_CRASH, PIECES, PLAYED_ONCE, SECOND_JOIN,
    TAKEN_PORT, UNDISTURBED,
    session::{Kind, Session},
    setup::{Client, Received, Setup},
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    net::Connection,
    robots::{context::Context, show},
    rule::Rule,
};

/// How long an exiting server may outlive its connections.
const ENDING: Duration = Duration::from_millis(200);

pub(super) fn small(context: &Context<'_>) -> Setup {
    Setup {
        bomb_timer: 3,
        players: 2,
        duration: context.turn(),
        radius: 2,
        blocks: 0,
        length: 2,
        name: "Żółw",
        seed: context.options.drawn(1234),
        size: (7, 4),
        robots: Vec::new(),
    }
}

pub(super) fn whole_lobby(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    // Another scenario tests blocks on robots.
    let setup = Setup { blocks: 5, ..small(context) };
    let setup = setup.with_opening(|opening| opening.robots.iter().all(|robot| !opening.blocks.contains(robot)))?;
    let mut session = Session::open(context, judge, setup)?;
    let ann = session.connect("Ann")?;
    session.join(ann, "Ann with ó")?;
    session.connect("an observer")?;
    let bob = session.connect("Bob")?;
    session.join(bob, "Bob")?;
    session.start()?;
    session.finish(&PLAYED_ONCE)
}

pub(super) fn early_actions(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = Session::open(context, judge, small(context))?;
    let (ann, bob) = (session.connect("Ann")?, session.connect("Bob")?);
    for name in [None, Some("Ann")] {
        if let Some(name) = name {
            session.join_for(ann, name, &LOBBY_ACTIONS)?;
        }
        session.act(ann, &[Action::PlaceBomb]);
        // Bob joins after the server has read it.
        session.clients[ann].wait_until_read(&session.host, context.options.deadline());
    }
    session.join_for(bob, "Bob", &LOBBY_ACTIONS)?;
    session.start()?;
    session.finish(&LOBBY_ACTIONS)
}

pub(super) fn coalesced(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    context.needs(judge, &LOBBY_ACTIONS)?;
    let mut session = Session::open(context, judge, small(context))?;
    let ann = session.connect("Ann")?;
    session.clients[ann].send_bytes(&[1, 3, 0, 2, 0, 3, b'A', b'n', b'n']);
    session.accepted(ann, "Ann", rule)
}

pub(super) fn second_join(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 3, ..small(context) })?;
    let ann = session.connect("Ann")?;
    session.join(ann, "Ann")?;
    session.send_join(ann, "Ann again")?;
    // Any reaction of the server precedes its response to Bob.
    let mut bob = context.connect_unchecked(session.judge, &mut session.host, "Bob")?;
    bob.join("Bob")?;
    let message = session.broadcast(&ACCEPTED, "an AcceptedPlayer of \"Bob\"", Kind::Accepted)?;
    let Some(message @ ServerMessage::AcceptedPlayer { player, .. }) = &message else { return Ok(()) };
    session.judge.check(&SECOND_JOIN, *player.name != *"Ann again", || {
        format!("expected nothing after the second Join of a connection, received {}", show::message(message))
    });
    Ok(())
}

/// The bytes arrive one by one, while the server serves other clients.
pub(super) fn pieces(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 1, length: 8, ..small(context) })?;
    let ann = session.connect("Ann")?;
    session.connect("an observer")?;
    // They stay connected, since disconnects are not tested here.
    let mut others = Vec::new();
    for byte in [0, 3, b'A', b'n'] {
        session.clients[ann].send_bytes(&[byte]);
        session.clients[ann].wait_until_read(&session.host, context.options.deadline());
        // Serving another client shows that the server has read the piece and does not block on the rest.
        let mut other = context.connect_unchecked(session.judge, &mut session.host, "a second client")?;
        let what = "Hello at a second client while the first has sent a part of a Join";
        other.expect(session.judge, &PIECES, context.options.deadline(), what)?;
        others.push(other);
    }
    session.clients[ann].send_bytes(b"n");
    session.accepted(ann, "Ann", &PIECES)?;
    session.judge.check(&PIECES, true, String::new);
    session.start()?;
    // A Move in two pieces is played in the turn after its second piece.
    for _ in 0..2 {
        let way = session.any_way(0);
        session.clients[ann].send_bytes(&[3]);
        session.turn(&PIECES)?;
        if let Some(model) = &mut session.model {
            model.sent(0, &[Action::Move(way)]);
        }
        // Directions are numbered in their order.
        session.clients[ann].send_bytes(&[way as u8]);
        session.turn(&PIECES)?;
    }
    session.finish(&PIECES)
}

pub(super) fn wrong_bytes(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 1, ..small(context) })?;
    let ann = session.connect("Ann")?;
    for (bytes, what) in [(&[4][..], "the unknown tag 4"), (&[0xff; 40], "the unknown tag 255")] {
        disconnected(context, &mut session, bytes, what, &BAD_BYTES)?;
    }
    let late = context.connect(session.judge, &mut session.host, "a client")?;
    session.join_for(ann, "Ann", &UNDISTURBED)?;
    session.start()?;
    closes(context, &mut session, late, &[9], "the unknown tag 9", &BAD_BYTES)?;
    session.finish(&PLAYED_ONCE)?;
    session.judge.require(&UNDISTURBED, true, String::new)
}

pub(super) fn disconnected(
    context: &Context<'_>,
    session: &mut Session<'_>,
    bytes: &[u8],
    what: &str,
    rule: &'static Rule,
) -> ScenarioResult {
    let client = context.connect(session.judge, &mut session.host, "a client")?;
    closes(context, session, client, bytes, what, rule)
}

fn closes(
    context: &Context<'_>,
    session: &mut Session<'_>,
    mut client: Client,
    bytes: &[u8],
    what: &str,
    rule: &'static Rule,
) -> ScenarioResult {
    client.connection.send(bytes);
    let by = context.options.deadline();
    let closed = loop {
        match client.next(by) {
            Received::Message(_) => {}
            received => break matches!(received, Received::Closed),
        }
    };
    session.judge.require(rule, closed, || {
        format!("expected the end of the connection after {what} ({}), but it is still open", show::bytes(bytes))
    })?;
    // An exiting server closes this connection slightly before its exit.
    session.host.suspect = Some(rule);
    if let Some(exit) = session.host.run.exit(Instant::now() + ENDING) {
        if exit.is_crash(&session.host.run.errors()) {
            session.judge.retract(rule);
            session.judge.leave_out_for([rule], &NO_CRASH);
            return Err(Halt::Broken);
        }
        return session
            .judge
            .broken(rule, || format!("expected the server to continue after {what}, but it ended with {exit}"));
    }
    for client in &mut session.clients {
        let by = Instant::now() + Duration::from_millis(1);
        let lost = !client.connection.more(by) && client.connection.closed;
        session.judge.require(&UNDISTURBED, !lost, || {
            format!("{}: expected an open connection after another client sent {what}, but it was closed", client.label)
        })?;
    }
    Ok(())
}

pub(super) fn bad_name(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 1, ..small(context) })?;
    disconnected(context, &mut session, &[0, 3, b'a', 0xff, b'b'], "a Join whose name is not UTF-8", &BAD_NAME)?;
    let ann = session.connect("Ann")?;
    session.join_for(ann, "Ann", &UNDISTURBED)
}

pub(super) fn many(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = Session::open(context, judge, small(context))?;
    for number in 1..=25 {
        let mut client =
            context.connect_unchecked(session.judge, &mut session.host, &format!("client {number} of 25"))?;
        client.expect(session.judge, &MANY_CLIENTS, context.options.deadline(), "Hello")?;
        session.clients.push(client);
    }
    session.join(24, "the last one")?;
    session.judge.require(&MANY_CLIENTS, true, String::new)
}

pub(super) fn over_ipv6(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        // The system has no IPv6.
        return Ok(());
    }
    let mut session = Session::open(context, judge, small(context))?;
    let first = session.connect("a client over IPv4")?;
    let address = SocketAddr::from((Ipv6Addr::LOCALHOST, session.host.address.port()));
    // It stays open, since another scenario tests immediate disconnects.
    let probe = Connection::once(address, context.options.patience);
    if probe.is_err() {
        // A server with only one client at a time also rejects a second one over IPv4.
        session.connect("a second client over IPv4")?;
        return session.judge.broken(&IPV6, || {
            format!(
                "expected connections to {} and {address}, but the server accepts only the former",
                session.host.address
            )
        });
    }
    session.host.address = address;
    let second = session.connect("a client over IPv6")?;
    session.join(second, "six")?;
    session.join(first, "four")?;
    session.judge.require(&IPV6, true, String::new)
}

pub(super) fn taken_port(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    // Taken for both families, so that a server cannot bind it on either.
    let taken =
        TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    let port = taken.local_addr()?.port();
    let mut run = context.host_at(judge, &small(context), &port.to_string())?;
    context.ends(judge, &TAKEN_PORT, &mut *run, "started on a port in use");
    Ok(())
}
