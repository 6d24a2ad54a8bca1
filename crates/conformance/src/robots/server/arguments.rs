use std::time::Duration;

use super::{SAYS_WHY, lobby::small, setup::Setup};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    launch::{EXTRA, Values},
    ports::free_tcp_port,
    refusal,
    robots::context::Context,
    rule::Rule,
};

type Arguments = Vec<(&'static str, String)>;

fn usual(context: &Context<'_>) -> ScenarioResult<Arguments> {
    Ok(small(context).values(&free_tcp_port()?.to_string()))
}

fn with(mut values: Arguments, name: &'static str, value: Option<&str>) -> Arguments {
    match (values.iter().position(|(given, _)| *given == name), value) {
        (Some(index), Some(value)) => value.clone_into(&mut values[index].1),
        (None, Some(value)) => values.push((name, value.to_owned())),
        (index, None) => drop(index.map(|index| values.remove(index))),
    }
    values
}

pub(super) fn refused(
    context: &Context<'_>,
    judge: &mut Judge,
    rule: &'static Rule,
    wrong: refusal::Values,
) -> ScenarioResult {
    let mut refuses = |values: Values<'_>, why: &str| {
        let mut run = context.start(judge, values)?;
        if context.ends(judge, rule, &mut *run, why) {
            judge.check(&SAYS_WHY, !run.errors().is_empty(), || {
                format!("the server, {why}: expected an error message on standard error, received none")
            });
        }
        ScenarioResult::Ok(())
    };
    if wrong.is_empty() {
        // The course starts each program without arguments.
        refuses(&[], "started without arguments")?;
    }
    for &(name, value) in wrong {
        let why = match value {
            Some(word) if name == EXTRA => format!("started with the extra argument '{word}'"),
            Some(value) => format!("started with the {name} '{value}'"),
            None => format!("started without an option for '{name}'"),
        };
        if name == EXTRA && !context.launcher.takes(EXTRA) {
            return Err(Halt::Broken);
        }
        refuses(&with(usual(context)?, name, value), &why)?;
    }
    Ok(())
}

pub(super) fn zero(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    // Only our own servers reject them, so a server that runs has not broken `wrong-arguments`.
    for name in ["players", "x", "y", "bomb-timer"] {
        let mut run = context.start(judge, &with(usual(context)?, name, Some("0")))?;
        judge.refuses(rule, &mut *run, context.options.deadline(), &format!("the server, started with the {name} 0"));
    }
    Ok(())
}

pub(super) fn help(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    if !context.launcher.takes(EXTRA) {
        return Err(Halt::Broken);
    }
    let mut run = context.start(judge, &[(EXTRA, "-h".to_owned())])?;
    let line = run.line(context.options.deadline());
    let exit = run.exit(context.options.deadline());
    let code = exit.as_ref().and_then(|exit| exit.code);
    // A program may print its help to standard error.
    let kept = if line.is_some() { code.is_some() } else { code == Some(0) && !run.errors().is_empty() };
    judge.require(rule, kept, || {
        let printed = line.map_or("nothing", |_| "text");
        let how = exit.map_or_else(|| "is still running".to_owned(), |exit| format!("ended with {exit}"));
        format!("expected help on standard output and an exit after -h, received {printed}, and the server {how}")
    })
}

pub(super) fn largest(context: &Context<'_>, judge: &mut Judge, _: &'static Rule) -> ScenarioResult {
    let setup = Setup {
        bomb_timer: u16::MAX,
        players: u8::MAX,
        duration: Duration::from_millis(u32::MAX.into()),
        radius: u16::MAX,
        blocks: u16::MAX,
        length: u16::MAX,
        seed: u32::MAX,
        size: (u16::MAX, u16::MAX),
        ..small(context)
    };
    let mut host = context.host(judge, &setup)?;
    context.connect(judge, &mut host, "a client")?;
    Ok(())
}

/// In the order of [`Setup::values`].
const LONG_NAMES: [&str; 11] = [
    "--bomb-timer",
    "--players-count",
    "--turn-duration",
    "--explosion-radius",
    "--initial-blocks",
    "--game-length",
    "--server-name",
    "--port",
    "--seed",
    "--size-x",
    "--size-y",
];

pub(super) fn long_options(context: &Context<'_>, judge: &mut Judge, _: &'static Rule) -> ScenarioResult {
    if !context.launcher.takes(EXTRA) {
        return Err(Halt::Broken);
    }
    let setup = Setup { duration: Duration::from_secs(1), ..small(context) };
    let port = free_tcp_port()?;
    let words = LONG_NAMES.into_iter().zip(setup.values(&port.to_string()));
    let extra: Arguments = words.flat_map(|(name, (_, value))| [(EXTRA, name.to_owned()), (EXTRA, value)]).collect();
    let mut host = context.host_with(judge, &setup, port, &extra)?;
    context.connect(judge, &mut host, "a client of a server with long options")?;
    Ok(())
}
