use std::{borrow::Borrow, net::TcpListener};

use crate::{
    judge::{Judge, ScenarioResult, Scene, scene},
    launch::Launcher,
    rule::Rule,
    tester::Options,
};

pub(crate) use crate::launch::EXTRA as MORE;

#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    /// Broken if the program accepts the arguments.
    pub(crate) rule: &'static Rule,
    /// A phrase after `started`, such as `without arguments`.
    pub(crate) how: &'static str,
    /// An argument without a value is omitted. `{port}` is correct, and `{port+65536}` becomes it in 16 bits. A program
    /// that uses it connects to a listening socket. [`MORE`] is an additional word after the arguments.
    pub(crate) values: Values,
}

pub(crate) type Values = &'static [(&'static str, Option<&'static str>)];

pub(crate) struct RefusalTest<'s> {
    pub(crate) launcher: &'s dyn Launcher,
    pub(crate) options: Options,
    /// A program must print why it does not start.
    pub(crate) explains: &'static Rule,
    /// Correct for all placeholders. A listener is at the address, so that the wrong argument is the only reason to
    /// exit.
    pub(crate) values: fn() -> anyhow::Result<ValidValues>,
}

pub(crate) type ValidValues = (Vec<(&'static str, String)>, Option<TcpListener>);

impl<'s> RefusalTest<'s> {
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
    (mut values, _held): ValidValues,
) -> ScenarioResult {
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
