//! Programs that are started with wrong arguments and must say so.

use std::net::TcpListener;

use crate::{
    judge::{Judge, Played, Scene, scene},
    launch::Launcher,
    rule::Rule,
    tester::Options,
};

/// One way to start a program that it must refuse.
pub(crate) struct Refusal {
    /// The rule that is broken if it does not.
    pub(crate) rule: &'static Rule,
    /// What is wrong, behind `started`, as in `without arguments`.
    pub(crate) how: &'static str,
    /// Values instead of the right ones. An argument without a value is left out. `{port}` is the right port, and `{port+65536}` a number
    /// that becomes the right port in 16 bits: a program that takes it for a port finds somebody who listens there.
    pub(crate) values: &'static [(&'static str, Option<&'static str>)],
    /// Words behind the arguments.
    pub(crate) more: &'static [&'static str],
}

/// A refusal of other values than the right ones.
pub(crate) const fn refusal(
    rule: &'static Rule,
    how: &'static str,
    values: &'static [(&'static str, Option<&'static str>)],
) -> Refusal {
    Refusal { rule, how, values, more: &[] }
}

/// What all refusals of one kind of program have in common.
pub(crate) struct Desk<'s> {
    pub(crate) launcher: &'s dyn Launcher,
    pub(crate) options: Options,
    /// The rule that a program says why it does not start.
    pub(crate) explains: &'static Rule,
    /// Right values for all placeholders, and who listens at the address among them while the program runs, so that nothing but the wrong
    /// argument is a reason to end.
    pub(crate) values: fn() -> anyhow::Result<Given>,
}

pub(crate) type Given = (Vec<(&'static str, String)>, Option<TcpListener>);

impl<'s> Desk<'s> {
    /// A scenario for each refusal that can be shown with the placeholders of the command.
    pub(crate) fn scenes(self, refusals: &'static [Refusal]) -> impl Iterator<Item = Scene<'s>> {
        let Self { launcher, options, explains, values } = self;
        let can_be_shown = move |refusal: &&Refusal| {
            let mut names = refusal.values.iter().map(|(name, _)| name);
            refusal.values.is_empty() || names.any(|name| launcher.takes(name))
        };
        refusals.iter().filter(can_be_shown).map(move |refusal| {
            let play = move |judge: &mut Judge| refused(judge, launcher, &options, refusal, explains, values()?);
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
        values.retain(|(given, _)| given != name);
        let value = value.map(|value| value.replace("{port}", &port.to_string()));
        values.extend(value.map(|value| (*name, value.replace("{port+65536}", &(port + 65_536).to_string()))));
    }
    let mut run = judge.start_with(launcher, &values, refusal.more)?;
    let who = format!("the program, started {},", refusal.how);
    if judge.refuses(refusal.rule, &mut *run, options.deadline(), &who) {
        let told = run.errors();
        judge.check(explains, !told.is_empty(), || format!("{who} ended without a word on standard error"));
    }
    Ok(())
}
