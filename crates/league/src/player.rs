use std::{
    net::{Ipv4Addr, UdpSocket},
    time::{Duration, Instant},
};

use cmdkit::is_steering;
use conformance::{Launcher as _, Owner, Program, Run};
use tokio::task::JoinHandle;

use crate::{
    bot::Bot,
    hosting::SeatAddress,
    rules::{BotLevel, Game},
    setup::Entrant,
};

/// How long to wait for the exit status of a program that has left the game.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// In letters.
const MAX_QUOTED: usize = 200;

/// Dropping it ends the program with all child processes.
pub(crate) enum Player {
    Bot(JoinHandle<anyhow::Result<()>>),
    Program {
        run: Box<dyn Run>,
        // Receives pictures for a GUI, which are not read.
        _gui: Option<UdpSocket>,
    },
}

impl Player {
    /// Only bots use `seed`. Fails if the system cannot run the command.
    pub(crate) fn start(entrant: &Entrant, game: Game, place: &SeatAddress, seed: u64) -> anyhow::Result<Self> {
        let name = entrant.name.clone();
        if let Some(bot) = entrant.bot() {
            let BotLevel(level) = bot?;
            let bot = Bot { name, level, seed, server: place.address };
            return Ok(Self::Bot(tokio::spawn(bot.play(game))));
        }
        let program = entrant.program(game)?;
        place.network.enter(|| Self::start_program(&program, name, place))?
    }

    fn start_program(program: &Program, name: String, place: &SeatAddress) -> anyhow::Result<Self> {
        let seat = place.address;
        let any = (Ipv4Addr::LOCALHOST, 0);
        let gui = program.takes("gui").then(|| UdpSocket::bind(any)).transpose()?;
        let mut values = vec![
            ("host", seat.ip().to_string()),
            ("port", seat.port().to_string()),
            ("server", seat.to_string()),
            ("name", name),
        ];
        if let Some(gui) = &gui {
            values.push(("gui", gui.local_addr()?.to_string()));
        }
        if program.takes("own-port") {
            // Another process could take the port first, which is rare.
            values.push(("own-port", UdpSocket::bind(any)?.local_addr()?.port().to_string()));
        }
        Ok(Self::Program { run: program.start(&values)?, _gui: gui })
    }

    /// The owners of the player's connections; `None` without a process.
    pub(crate) fn owner(&self) -> Option<Owner> {
        match self {
            Self::Bot(_) => Some(Owner::Process(std::process::id())),
            Self::Program { run, .. } => run.id().map(Owner::Family),
        }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.ends(Instant::now())
    }

    /// Ends the player. Returns its standard error; a bot has none.
    pub(crate) fn end(self) -> String {
        match self {
            Self::Bot(_) => String::new(),
            Self::Program { run, .. } => run.end(),
        }
    }

    pub(crate) fn ends(&mut self, by: Instant) -> bool {
        match self {
            Self::Bot(task) => task.is_finished(),
            Self::Program { run, .. } => run.exit(by).is_some(),
        }
    }

    /// Describes the exit, with the last line of standard error; `None` while the program runs.
    pub(crate) fn exit_report(&mut self) -> Option<String> {
        let Self::Program { run, .. } = self else { return None };
        let exit = run.exit(Instant::now() + EXIT_TIMEOUT)?;
        let said = run.errors().pop().map_or_else(String::new, |line| format!(": {}", quoted(&line)));
        Some(format!("it ended with {exit}{said}"))
    }
}

fn quoted(line: &str) -> String {
    let plain = line.trim().chars().map(|letter| if is_steering(letter) { '\u{fffd}' } else { letter });
    let mut quoted: String = plain.take(MAX_QUOTED).collect();
    if line.trim().chars().nth(MAX_QUOTED).is_some() {
        quoted += " ...";
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_lines_have_no_control_characters() {
        assert_eq!(quoted("  \u{1b}[2Jboo\u{202e}\r"), "\u{fffd}[2Jboo\u{fffd}");
        assert_eq!(quoted(&"x".repeat(201)), format!("{} ...", "x".repeat(200)));
    }
}
