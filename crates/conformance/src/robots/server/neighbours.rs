//! Many clients, and clients that disturb others.

use std::{
    io::Write as _,
    net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr},
    thread,
    time::{Duration, Instant},
};

use robots::Action;

use super::{
    BAD_BYTES, LISTENS, MANY_CLIENTS,
    lobby::small,
    openings::{one_field, start_game},
    session::Session,
    setup::{Host, Setup},
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    net::Connection,
    robots::context::Context,
    rule::Rule,
};

const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const MANY: usize = 500;
/// More than a process may open files in a test.
const PASSING: usize = 1_100;
const RESETS: usize = 5;
const MOMENT: Duration = Duration::from_millis(500);
const FLOOD_TURNS: u16 = 4;
const FLOOD_MESSAGES: usize = 64;

pub(super) fn resets(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, Setup { players: 1, ..small(context) })?;
    let ann = session.connect("Ann")?;
    session.connect("an observer")?;
    reset_connections(context, &mut session, rule)?;
    session.join(ann, "Ann")?;
    session.start()?;
    reset_connections(context, &mut session, rule)?;
    session.finish_turns(rule)
}

// Closing a connection with unread data resets it.
fn reset_connections(context: &Context<'_>, session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    session.host.suspect = Some(rule);
    for _ in 0..RESETS {
        let client =
            context.connect_unchecked(session.judge, &mut session.host, "a client that resets its connection")?;
        client.connection.stream.set_read_timeout(Some(context.options.patience))?;
        let received = client.connection.stream.peek(&mut [0]);
        let kept = received.is_ok_and(|bytes| bytes > 0);
        if !kept {
            // A crashed server's connections close slightly before the system reports its exit.
            let _ = session.host.run.exit(Instant::now() + MOMENT);
        }
        session.judge.require(rule, kept, || {
            "expected Hello after other clients reset their connections, received none".to_owned()
        })?;
    }
    Ok(())
}

pub(super) fn flood(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { players: 1, length: FLOOD_TURNS, ..small(context) };
    let mut session = start_game(context, judge, setup)?;
    let flooder = context.connect(session.judge, &mut session.host, "a client that floods the server")?;
    session.host.suspect = Some(rule);
    let mut stream = flooder.connection.stream.try_clone()?;
    thread::scope(|scope| {
        // A Join has the most bytes for the least work, and an observer's Join is ignored.
        let flood = [[0, 254].as_slice(), &[b'x'; 254]].concat().repeat(FLOOD_MESSAGES);
        scope.spawn(move || while stream.write_all(&flood).is_ok() {});
        let played = session.finish_turns(rule);
        // Ends the thread. The server may have closed the connection already.
        let _ = flooder.connection.stream.shutdown(Shutdown::Both);
        played
    })
}

pub(super) fn visitors(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut host = context.host(judge, &small(context))?;
    // Like the following clients, it stays connected until it has received Hello.
    context.connect_unchecked(judge, &mut host, "the first client")?.connection.more(context.options.deadline());
    for number in 0..PASSING {
        // Not recorded, since the recordings would all be the same.
        let opened = Connection::to_server(&mut *host.run, host.address, context.options.deadline());
        let mut received = false;
        if let Ok(mut connection) = opened {
            received = connection.more(context.options.deadline());
        }
        if !received {
            context.needs(judge, &MANY_CLIENTS)?;
        }
        judge.require(rule, received, || {
            format!(
                "expected Hello after {number} clients that connected and left, received none{}",
                host.run.exit_clause()
            )
        })?;
    }
    Ok(())
}

pub(super) fn crowd(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut host = context.host(judge, &small(context))?;
    let _first = context.connect_unchecked(judge, &mut host, "the first client")?;
    let first = host.address;
    // Half of the clients use another address, if possible, since a server may limit the connections per host.
    let six = SocketAddr::from((Ipv6Addr::LOCALHOST, first.port()));
    let mut all = Vec::new();
    for number in 0..MANY {
        let opened = (number % 2 == 1).then(|| Connection::once(six, context.options.patience)).and_then(Result::ok);
        let opened = match opened {
            Some(connection) => Ok(connection),
            None => Connection::to_server(&mut *host.run, first, context.options.deadline()),
        };
        let received = opened.is_ok_and(|mut connection| {
            let received = connection.more(context.options.deadline());
            all.push(connection);
            received
        });
        judge.check(rule, received, || {
            format!("expected Hello on {MANY} simultaneous connections, received none on number {}", number + 1)
        });
        if !received {
            break;
        }
    }
    Ok(())
}

/// The port of an ended server is free immediately.
pub(super) fn restart(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = small(context);
    let mut host = context.host(judge, &setup)?;
    let client = context.connect(judge, &mut host, "a client of the first server")?;
    let Host { run, address, .. } = host;
    // The server closes first, so the system keeps its side of the connection for a while.
    drop(run);
    drop(client);
    let by = context.options.deadline();
    loop {
        let mut run = context.host_at(judge, &setup, &address.port().to_string())?;
        let opened = Connection::to_server(&mut *run, address, by);
        // The first server may need a moment to end.
        if opened.is_ok() || Instant::now() >= by {
            return judge.require(rule, opened.is_ok(), || {
                format!(
                    "expected connections to a new server on port {} after another one ended there, but it accepts none",
                    address.port()
                )
            });
        }
    }
}

pub(super) fn all_addresses(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    if !cfg!(target_os = "linux") {
        // Other systems may have only one loopback address.
        return Err(Halt::Broken);
    }
    let mut host = context.host(judge, &small(context))?;
    drop(context.connect(judge, &mut host, "a client of the usual address")?);
    if host.address.is_ipv6() {
        judge.leave_out_for([rule], &LISTENS);
        return Err(Halt::Broken);
    }
    host.address.set_ip(OTHER.into());
    let opened = Connection::once(host.address, context.options.patience);
    if opened.is_err() {
        // A server with only one client at a time also rejects a second one at the usual address.
        host.address.set_ip(Ipv4Addr::LOCALHOST.into());
        context.connect(judge, &mut host, "a second client of the usual address")?;
        host.address.set_ip(OTHER.into());
    }
    judge.require(rule, opened.is_ok(), || {
        format!("expected connections to 127.0.0.1 and {}, but the server accepts only the former", host.address)
    })
}

pub(super) fn own_buffers(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, small(context))?;
    let (ann, bob) = (session.connect("Ann")?, session.connect("Bob")?);
    for (index, piece) in [(ann, &[0, 3, b'A'][..]), (bob, &[0, 3]), (ann, b"n"), (bob, b"Bo"), (ann, b"n")] {
        session.clients[index].send_bytes(piece);
        session.clients[index].wait_until_read(&session.host, context.options.deadline());
        // Serving another client shows that the piece was read.
        drop(context.connect(session.judge, &mut session.host, "a third client")?);
    }
    session.accepted(ann, "Ann", rule)?;
    session.clients[bob].send_bytes(b"b");
    session.accepted(bob, "Bob", rule)
}

pub(super) fn partial_join(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut session = Session::open(context, judge, small(context))?;
    let ann = session.connect("Ann")?;
    let mut client = context.connect(session.judge, &mut session.host, "a client that leaves within a Join")?;
    client.connection.send(&[0, 5, b'H', b'a']);
    drop(client);
    session.host.suspect = Some(rule);
    // Serving another client shows that the server has also detected the end.
    for _ in 0..3 {
        drop(context.connect(session.judge, &mut session.host, "a later client")?);
    }
    session.join_for(ann, "Ann", rule)
}

/// The robot of a player that breaks the protocol stays, as after a leave.
pub(super) fn offender(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    context.needs(judge, &BAD_BYTES)?;
    let mut session = start_game(context, judge, one_field(context, 2))?;
    let mut offender = session.clients.remove(1);
    offender.connection.send(&[9]);
    session.together(&[(0, Action::PlaceBomb)], rule)?;
    session.pass(2, rule)
}
