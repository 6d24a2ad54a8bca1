//! Players with unusual names, and clients that connect, wait or leave before the game.

use std::time::Instant;

use blackjack::{DealerMessage, PlayerMessage};

use super::{
    Subject,
    rules::{
        ALONE, LATE_ANSWER, LATE_JOIN, LONG_NAME, NO_CRASH, ODD_NAME, PORT_TAKEN, RESTART, SAME_NAME, SHORT_NAME,
        SPEAKS_SECOND, VISITOR, WAITS,
    },
    seat::{Heard, Seat, Style},
    table::Table,
};
use crate::{
    judge::{Judge, Played, Scene, scene},
    ports::{free_tcp_port, take_tcp_port},
    rule::Rule,
};

/// Names that a player may have.
const NAMES: &[(&str, &Rule, &[&str])] = &[
    ("a name of 64 characters", &LONG_NAME, &["aNameOf64CharactersIsTheLongestThatThereIs0123456789abcdefghijkl"]),
    ("a name of one character", &SHORT_NAME, &["x"]),
    ("a name with special characters", &ODD_NAME, &["%s%n%d\"'\\`$(x);&|<>~"]),
    ("two players with the same name", &SAME_NAME, &["twin", "twin"]),
];

/// Scenes that break one rule if any error occurs.
pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    let several = subject.launcher.takes("players");
    let names = NAMES.iter().filter(|(_, _, names)| names.len() == 1 || several);
    let names = names.map(|&(title, rule, names)| {
        let play = move |judge: &mut Judge| judge.under(rule, |judge| named(judge, subject, names));
        scene(title, play).shows([rule, &NO_CRASH])
    });
    let mut scenes: Vec<_> = names.collect();
    if several {
        scenes.push(scene("a player joins long after another", |judge| waits(judge, subject)).shows([&WAITS]));
    }
    scenes.extend([
        scene("a client that joins late", |judge| slow(judge, subject)).shows([&SPEAKS_SECOND, &LATE_JOIN]),
        scene("a player that answers late", |judge| late_answer(judge, subject)).shows([&LATE_ANSWER]),
        scene("a visitor", |judge| judge.under(&VISITOR, |judge| visitor(judge, subject))).shows([&VISITOR, &NO_CRASH]),
        scene("the only player leaves", |judge| alone(judge, subject)).shows([&ALONE, &NO_CRASH]),
        scene("restart on the same port", |judge| judge.under(&RESTART, |judge| restart(judge, subject)))
            .shows([&RESTART]),
        scene("a port in use", |judge| taken(judge, subject)).shows([&PORT_TAKEN]),
    ]);
    scenes
}

fn named(judge: &mut Judge, subject: &Subject<'_>, names: &[&str]) -> Played {
    let mut dealer = subject.start(judge, 1, names.len())?;
    let mut seats = Vec::new();
    for (number, name) in (1..).zip(names) {
        let mut seat = Seat::connect(judge, &mut dealer, number)?;
        // A greedy player has several questions, so the remaining bytes of a JOIN that was read in part appear as an
        // invalid answer.
        seat.style = Style::Greedy;
        seat.join(name)?;
        seats.push(seat);
    }
    Table::of(dealer, seats).play(judge, 0, 1)
}

fn waits(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 2)?;
    let mut first = Seat::connect(judge, &mut dealer, 1)?;
    first.style = Style::Modest;
    first.join("tester1")?;
    let heard = first.listen(judge, Instant::now() + subject.options.patience / 20);
    judge.require(&WAITS, heard == Heard::Nothing, || {
        format!("expected nothing before the second of two players has joined, received {heard}")
    })?;
    let mut second = Seat::connect(judge, &mut dealer, 2)?;
    second.style = Style::Modest;
    second.join("tester2")?;
    judge.under(&WAITS, |judge| Table::of(dealer, vec![first, second]).play(judge, 0, 1))
}

fn slow(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    let mut seat = Seat::connect(judge, &mut dealer, 1)?;
    seat.style = Style::Modest;
    let heard = seat.listen(judge, Instant::now() + subject.options.patience / 20);
    judge.require(&SPEAKS_SECOND, !matches!(heard, Heard::Message(_)), || {
        format!("expected nothing before JOIN, received {heard}")
    })?;
    seat.join("tester1")?;
    judge.under(&LATE_JOIN, |judge| Table::of(dealer, vec![seat]).play(judge, 0, 1))
}

fn late_answer(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let Some(seat) = table.seats.first_mut() else { return Ok(()) };
    let early = seat.listen(judge, Instant::now() + subject.options.patience / 10);
    seat.say(&PlayerMessage::Stand);
    let heard = if early == Heard::Nothing { seat.listen(judge, subject.options.deadline()) } else { early };
    judge.check(&LATE_ANSWER, matches!(heard, Heard::Message(DealerMessage::Result(_))), || {
        format!("expected RESULT after a late STAND, received {heard}")
    });
    Ok(())
}

fn visitor(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    drop(Seat::connect(judge, &mut dealer, 1)?);
    Table::sit(judge, dealer, &[Style::Modest])?.play(judge, 0, 1)
}

fn alone(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, 2, &[Style::Modest])?;
    table.deal(judge, 0, 2)?;
    table.asked(judge, 0)?;
    table.seats.clear();
    let exit = table.dealer.run.exit(subject.options.deadline());
    judge.check(&ALONE, exit.is_some(), || {
        "expected the dealer to exit after its only player has left, but it is still running".to_owned()
    });
    Ok(())
}

fn restart(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let port = free_tcp_port()?;
    for _ in 0..2 {
        let dealer = subject.start_at(judge, port, 1, 1)?;
        let mut table = Table::sit(judge, dealer, &[Style::Modest])?;
        table.play(judge, 0, 1)?;
        table.dealer.run.exit(subject.options.deadline());
    }
    Ok(())
}

fn taken(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let (held, port) = take_tcp_port()?;
    let mut dealer = subject.start_at(judge, port, 1, 1)?;
    judge.refuses(&PORT_TAKEN, &mut *dealer.run, subject.options.deadline(), "the dealer, started on a port in use");
    drop(held);
    Ok(())
}
