//! Tests mastermind servers with a solo room.

mod games;
mod people;
mod player;
mod rules;
mod typing;
mod visitor;

use crate::{
    judge::{Judge, Played},
    launch::Launcher,
    ports::free_tcp_port,
    tester::{Options, Tester},
};
use player::Player;
use rules::{LISTENS, ROOM, RULES};
use visitor::{Server, Visitor};

/// The tester of servers.
pub static TESTER: Tester = Tester {
    kind: "mastermind-server",
    is_server: true,
    usual: "{port}",
    known: &["port"],
    needed: &["port"],
    rules: RULES,
    takes_part: &[&rules::ROW, &rules::RESIGNED, &rules::LOST],
    play,
};

/// The server under test and how it is reached.
struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
}

impl Subject<'_> {
    fn start(&self, judge: &mut Judge) -> anyhow::Result<Server> {
        let port = free_tcp_port()?;
        let address = self.launcher.address().unwrap_or_else(|| ([127, 0, 0, 1], port).into());
        let run = judge.start(self.launcher, &[("port", port.to_string())])?;
        Ok(Server { run, address, options: self.options, visitors: 0 })
    }

    /// Starts the server and connects.
    fn visit(&self, judge: &mut Judge) -> Played<Visitor> {
        let mut server = self.start(judge)?;
        let visitor = Visitor::connect(judge, &mut server)?;
        Ok(Visitor { _server: Some(server), ..visitor })
    }

    /// Starts the server and takes a seat.
    fn sit(&self, judge: &mut Judge, name: &str) -> Played<Player> {
        self.visit(judge)?.sit(judge, name)
    }
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let subject = Subject { launcher, options: *options };
    judge.play("a whole game", |judge| games::lost(judge, &subject))?;
    if judge.has_failed(&LISTENS) || judge.has_failed(&ROOM) {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    let scenes = games::scenes(&subject).into_iter().chain(typing::scenes(&subject));
    judge.side_by_side(scenes.chain(people::scenes(&subject)).collect())
}
