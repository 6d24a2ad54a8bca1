use std::{
    net::{Ipv4Addr, UdpSocket},
    time::{Duration, Instant},
};

use robots::ServerMessage;

use super::{
    JOIN, LOBBY, TO_GUI,
    extremes::{ADDRESS, accepted},
    picture::encoded,
    scenes::begin,
    script::{opening, parameters, players},
    session::{CommandLine, Session, USUAL},
};
use crate::{
    judge::{Judge, ScenarioResult},
    ports::{free_udp_port, take_tcp_port},
    refusal::ValidValues,
    robots::context::Context,
    rule::Rule,
};

const MOMENT: Duration = Duration::from_millis(20);
pub(super) const NAME_OF_255: &str = concat!(
    "Żółć! a name as long as the protocol allows, a name as long as the protocol allows, a name as long as the prot",
    "ocol allows, a name as long as the protocol allows, a name as long as the protocol allows, a name as long as the protocol allows,............"
);

pub(super) fn values() -> anyhow::Result<ValidValues> {
    let (held, server) = take_tcp_port()?;
    let values = vec![
        ("gui", format!("127.0.0.1:{}", free_udp_port()?)),
        ("name", "tester".to_owned()),
        ("port", free_udp_port()?.to_string()),
        ("server", format!("127.0.0.1:{server}")),
    ];
    Ok((values, Some(held)))
}

pub(super) fn named(
    context: &Context<'_>,
    judge: &mut Judge,
    rule: &'static Rule,
    name: &'static str,
) -> ScenarioResult {
    let mut session = Session::launch(context, judge, CommandLine { name, ..USUAL })?;
    session.send(&ServerMessage::Hello(parameters(2, (4, 3), 20, 1, 5)?), &LOBBY)?;
    session.expect_join_for(rule)?;
    session.expect_only_joins(rule)
}

pub(super) fn addressed(
    context: &Context<'_>,
    judge: &mut Judge,
    rule: &'static Rule,
    command_line: &[CommandLine],
) -> ScenarioResult {
    let messages = [ServerMessage::Hello(parameters(2, (4, 3), 20, 1, 5)?), accepted("Ann", ADDRESS)?];
    let mut wrong = Vec::new();
    for &command_line in command_line {
        match Session::attempt(context, command_line, &messages)? {
            Ok(shows) if shows || command_line.gui == USUAL.gui => return judge.require(rule, true, String::new),
            Ok(_) => {
                wrong.push(format!(
                    "with -d {} and a port: expected a picture at the GUI, received none",
                    command_line.gui
                ));
            }
            Err(why) => wrong.push(why),
        }
    }
    judge.broken(rule, || wrong.join("; "))
}

/// The inputs come from another address than the GUI's.
pub(super) fn to_gui(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    begin(session)?;
    let other = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    other.send_to(&[2, 2], (Ipv4Addr::LOCALHOST, session.port))?;
    session.expect_forwarded(&[3, 2], rule, "Move Down from another port")?;
    session.send(&ServerMessage::Turn { turn: 1, events: vec![] }, rule)
}

pub(super) fn late_gui(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let port = free_udp_port()?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let from_other_port = sender.try_clone()?;
    let mut session = Session::launch_with_gui(context, judge, USUAL, sender, format!("{}:{port}", USUAL.gui))?;
    let (setup, all) = (parameters(4, (4, 3), 20, 1, 5)?, players(4)?);
    let mut messages = vec![ServerMessage::Hello(setup)];
    messages.extend(opening(&all).into_iter().take(3));
    for message in &messages {
        session.server.send_in_parts([&encoded(message)[..]].into_iter());
    }
    // The client joins after it has read all of them, or never.
    let blamed = if session.judge.has_failed(&JOIN) { &JOIN } else { rule };
    session.expect_join_for(blamed)?;
    session.gui = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
    session.skip_pictures(&messages);
    let last = &opening(&all)[3];
    session.server.send(&encoded(last));
    // Detects a client that replies to the sender of the last input.
    from_other_port.set_nonblocking(true)?;
    let by = context.options.deadline();
    while Instant::now() < by && !has_datagram(&session.gui)? {
        if from_other_port.recv(&mut [0]).is_ok() {
            return session.judge.broken(&TO_GUI, || {
                "expected a picture at the GUI, but the sender of an input received it".to_owned()
            });
        }
    }
    session.expect_picture(last, rule)
}

fn has_datagram(socket: &UdpSocket) -> ScenarioResult<bool> {
    socket.set_read_timeout(Some(MOMENT))?;
    Ok(socket.peek(&mut [0]).is_ok())
}
