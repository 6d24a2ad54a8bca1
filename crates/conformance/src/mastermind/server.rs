mod client;
mod clients;
mod games;
mod input;
mod player;
mod rules;

use crate::{
    judge::{Judge, ScenarioResult},
    launch::Launcher,
    ports::free_tcp_port,
    tester::{Options, Tester},
};
use client::{Client, Server};
use player::Player;
use rules::{LISTENS, ROOM, RULES};

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

struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
}

impl Subject<'_> {
    fn start(&self, judge: &mut Judge) -> anyhow::Result<Server> {
        let port = free_tcp_port()?;
        let address = self.launcher.address().unwrap_or_else(|| ([127, 0, 0, 1], port).into());
        let run = judge.start(self.launcher, &[("port", port.to_string())])?;
        Ok(Server { run, address, options: self.options, clients: 0 })
    }

    fn connect(&self, judge: &mut Judge) -> ScenarioResult<Client> {
        let mut server = self.start(judge)?;
        let client = Client::connect(judge, &mut server)?;
        Ok(Client { _server: Some(server), ..client })
    }

    fn take_seat(&self, judge: &mut Judge, name: &str) -> ScenarioResult<Player> {
        self.connect(judge)?.take_seat(judge, name)
    }
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let subject = Subject { launcher, options: *options };
    judge.play("a whole game", |judge| games::lost(judge, &subject))?;
    if judge.has_failed(&LISTENS) || judge.has_failed(&ROOM) {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    let scenes = games::scenes(&subject).into_iter().chain(input::scenes(&subject));
    judge.side_by_side(scenes.chain(clients::scenes(&subject)).collect())
}
