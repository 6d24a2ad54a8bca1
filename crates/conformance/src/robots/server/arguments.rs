use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use robots::Parameters;

use super::{
    lobby::small,
    rules::{
        BELOW_ZERO, HELP, LARGEST_VALUES, LONG_OPTIONS, LONG_SERVER_NAME, NO_ARGUMENTS, NOT_A_NUMBER, REQUIRED_OPTIONS,
        SAYS_WHY, STRAY_WORD, TOO_LARGE, UNKNOWN_OPTION, WRONG_ARGUMENTS, ZERO,
    },
    setup::{Host, Setup},
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    launch::{EXTRA, Values},
    ports::free_tcp_port,
    robots::context::Context,
    rule::Rule,
};

type Arguments = Vec<(&'static str, String)>;

impl Context<'_> {
    fn refuses(&self, judge: &mut Judge, rule: &'static Rule, values: Values<'_>, why: &str) -> ScenarioResult {
        let mut run = self.start(judge, values)?;
        if self.ends(judge, rule, &mut *run, why) {
            let says = !run.errors().is_empty();
            judge.check(&SAYS_WHY, says, || {
                format!("the server, {why}: expected an error message on standard error, received none")
            });
        }
        Ok(())
    }

    fn refuses_each(&self, judge: &mut Judge, rule: &'static Rule, wrong: &[(&'static str, &str)]) -> ScenarioResult {
        for (name, value) in wrong {
            let mut values = usual(self)?;
            values.iter_mut().filter(|(given, _)| given == name).for_each(|(_, given)| (*value).clone_into(given));
            self.refuses(judge, rule, &values, &format!("started with the {name} '{value}'"))?;
        }
        Ok(())
    }
}

fn usual(context: &Context<'_>) -> ScenarioResult<Arguments> {
    Ok(small(context).values(&free_tcp_port()?.to_string()))
}

/// The course starts each program without arguments.
pub(super) fn none(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    context.refuses(judge, &NO_ARGUMENTS, &[], "started without arguments")
}

pub(super) fn required(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    for missing in ["players", "x", "y"] {
        let mut values = usual(context)?;
        values.retain(|(name, _)| *name != missing);
        context.refuses(judge, &REQUIRED_OPTIONS, &values, &format!("started without an option for '{missing}'"))?;
    }
    Ok(())
}

pub(super) fn no_port(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    context.refuses_each(judge, &WRONG_ARGUMENTS, &[("port", "port")])
}

pub(super) fn below_zero(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    context.refuses_each(judge, &BELOW_ZERO, &[("x", "-1"), ("seed", "-1"), ("turn", "-5")])
}

pub(super) fn too_large(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let wrong =
        [("players", "256"), ("y", "65536"), ("port", "65536"), ("bomb-timer", "70000"), ("seed", "4294967296")];
    context.refuses_each(judge, &TOO_LARGE, &wrong)
}

pub(super) fn not_a_number(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    context.refuses_each(
        judge,
        &NOT_A_NUMBER,
        &[("players", "2x"), ("length", "1.5"), ("radius", ""), ("blocks", "0x1f")],
    )
}

pub(super) fn zero(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    // Only our own servers reject them, so a server that runs has not broken `wrong-arguments`.
    for name in ["players", "x", "y", "bomb-timer"] {
        let mut values = usual(context)?;
        values.iter_mut().filter(|(given, _)| *given == name).for_each(|(_, given)| "0".clone_into(given));
        let mut run = context.start(judge, &values)?;
        judge.refuses(&ZERO, &mut *run, context.options.deadline(), &format!("the server, started with the {name} 0"));
    }
    Ok(())
}

pub(super) fn long_name(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let name = "n".repeat(256);
    context.refuses_each(judge, &LONG_SERVER_NAME, &[("name", &*name)])
}

fn with_extra(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule, word: &str) -> ScenarioResult {
    if !context.launcher.takes(EXTRA) {
        return Err(Halt::Broken);
    }
    let mut values = usual(context)?;
    values.push((EXTRA, word.to_owned()));
    context.refuses(judge, rule, &values, &format!("started with the extra argument '{word}'"))
}

pub(super) fn unknown(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    with_extra(context, judge, &UNKNOWN_OPTION, "--no-such-option")
}

pub(super) fn stray(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    with_extra(context, judge, &STRAY_WORD, "stray")
}

pub(super) fn help(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    if !context.launcher.takes(EXTRA) {
        return Err(Halt::Broken);
    }
    let mut run = context.start(judge, &[(EXTRA, "-h".to_owned())])?;
    let line = run.line(context.options.deadline());
    let exit = run.exit(context.options.deadline());
    let code = exit.as_ref().and_then(|exit| exit.code);
    // A program may write its help to standard error, where it also writes errors.
    let kept = if line.is_some() { code.is_some() } else { code == Some(0) && !run.errors().is_empty() };
    judge.require(&HELP, kept, || {
        let printed = line.map_or("nothing", |_| "text");
        let how = exit.map_or_else(|| "is still running".to_owned(), |exit| format!("ended with {exit}"));
        format!("expected help on standard output and an exit after -h, received {printed}, and the server {how}")
    })
}

pub(super) fn largest(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
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
    judge.check(&LARGEST_VALUES, true, String::new);
    Ok(())
}

pub(super) fn long_options(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    if !context.launcher.takes(EXTRA) {
        return Err(Halt::Broken);
    }
    let setup = Setup { duration: Duration::from_secs(1), ..small(context) };
    let port = free_tcp_port()?;
    let Parameters { size_x, size_y, .. } = setup.parameters()?;
    let words = [
        ("--bomb-timer", setup.bomb_timer.to_string()),
        ("--players-count", setup.players.to_string()),
        ("--turn-duration", setup.duration.as_millis().to_string()),
        ("--explosion-radius", setup.radius.to_string()),
        ("--initial-blocks", setup.blocks.to_string()),
        ("--game-length", setup.length.to_string()),
        ("--server-name", setup.name.to_owned()),
        ("--port", port.to_string()),
        ("--seed", setup.seed.to_string()),
        ("--size-x", size_x.to_string()),
        ("--size-y", size_y.to_string()),
    ];
    let extra: Arguments =
        words.into_iter().flat_map(|(name, value)| [(EXTRA, name.to_owned()), (EXTRA, value)]).collect();
    let run = context.start(judge, &extra)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut host = Host::new(run, address, setup.parameters()?);
    context.connect(judge, &mut host, "a client of a server with long options")?;
    judge.check(&LONG_OPTIONS, true, String::new);
    Ok(())
}
