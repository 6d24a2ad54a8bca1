//! Programs that are started with wrong arguments and must report an error.

use std::{borrow::Borrow, net::TcpListener};

use crate::{
    judge::{Judge, Played, Scene, scene},
    launch::Launcher,
    rule::Rule,
    tester::Options,
};

pub(crate) use crate::launch::EXTRA as MORE;

/// A set of arguments that a program must reject.
#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    /// The rule that is broken if the program accepts them.
    pub(crate) rule: &'static Rule,
    /// The error in the arguments, as a phrase after `started`, such as `without arguments`.
    pub(crate) how: &'static str,
    /// Values that replace the correct ones. An argument without a value is omitted. `{port}` is the correct port, and
    /// `{port+65536}` a number that becomes the correct port in 16 bits. A program that uses it as a port connects to a
    /// listening socket. [`MORE`] is a further word after the arguments.
    pub(crate) values: Values,
}

pub(crate) type Values = &'static [(&'static str, Option<&'static str>)];

/// A refusal with these values instead of the correct ones.
pub(crate) const fn refusal(rule: &'static Rule, how: &'static str, values: Values) -> Refusal {
    Refusal { rule, how, values }
}

/// The common parts of all refusals of one kind of program.
pub(crate) struct Desk<'s> {
    pub(crate) launcher: &'s dyn Launcher,
    pub(crate) options: Options,
    /// The rule that a program reports why it does not start.
    pub(crate) explains: &'static Rule,
    /// Correct values for all placeholders, and a listener at the address among them while the program runs, so that
    /// the wrong argument is the only reason to exit.
    pub(crate) values: fn() -> anyhow::Result<Given>,
}

pub(crate) type Given = (Vec<(&'static str, String)>, Option<TcpListener>);

impl<'s> Desk<'s> {
    /// A scenario for each refusal that can be shown with the placeholders of the command.
    pub(crate) fn scenes(
        self,
        refusals: impl IntoIterator<Item = impl Borrow<Refusal>>,
    ) -> impl Iterator<Item = Scene<'s>> {
        let Self { launcher, options, explains, values } = self;
        let can_be_shown =
            move |refusal: &Refusal| refusal.values.iter().any(|(name, _)| *name == MORE || launcher.takes(name));
        refusals.into_iter().map(|refusal| *refusal.borrow()).filter(can_be_shown).map(move |refusal| {
            let play = move |judge: &mut Judge| refused(judge, launcher, &options, &refusal, explains, values()?);
            scene("wrong arguments", play).shows([refusal.rule, explains])
        })
    }
}

fn refused(
    judge: &mut Judge,
    launcher: &dyn Launcher,
    options: &Options,
    refusal: &Refusal,
    explains: &'static Rule,
    (mut values, _held): Given,
) -> Played {
    let port: u32 =
        values.iter().find(|(name, _)| *name == "port").and_then(|(_, port)| port.parse().ok()).unwrap_or(0);
    for (name, value) in refusal.values {
        values.retain(|(given, _)| given != name || *name == MORE);
        let value = value.map(|value| value.replace("{port}", &port.to_string()));
        values.extend(value.map(|value| (*name, value.replace("{port+65536}", &(port + 65_536).to_string()))));
    }
    let mut run = judge.start(launcher, &values)?;
    let who = format!("the program, started {}", refusal.how);
    if judge.refuses(refusal.rule, &mut *run, options.deadline(), &who) {
        judge.check(explains, !run.errors().is_empty(), || {
            format!("{who}: expected an error message on standard error, received none")
        });
    }
    Ok(())
}
