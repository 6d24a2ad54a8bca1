//! Tests clients of nuggets.

mod host;
mod rules;

use std::time::{Duration, Instant};

use self::host::{Host, NAME, display, shown};
use crate::{
    judge::{Choice, Judge, Played, scene},
    launch::Launcher,
    rule::Rule,
    terminal::Terminal,
    tester::{Options, Tester},
};

/// The tester of clients.
pub static TESTER: Tester = Tester {
    kind: "nuggets-client",
    is_server: false,
    usual: "{host} {port} {name}",
    known: &["host", "port", "name"],
    needed: &["host", "port"],
    rules: rules::RULES,
    play,
};

/// By when a client that gets no answer has asked again.
const AGAIN: Duration = Duration::from_secs(3);

/// Longer than programs wait between two messages that they repeat for ever.
const REPEATED: Duration = Duration::from_millis(2500);

type Scenario = fn(&mut Host<'_>) -> Played;

/// Rules that a scenario is meant to show. One without such rules may show any.
type Meant = &'static [&'static Rule];

/// What is played with a client, each time with another server.
const SCENARIOS: [(&str, Meant, Scenario); 8] = [
    ("a game", &[], game),
    ("a long table", &[&rules::LONG], long_table),
    ("a server that says little", &[&rules::ONCE], quiet),
    ("a full game", &[&rules::QUIT, &rules::TEXT], refused),
    ("damaged messages", &[&rules::ERRORS, &rules::DISPLAYS, &rules::MALFORMED], hostile),
    ("messages of strangers", &[&rules::STRANGERS], strangers),
    ("the end of input", &[&rules::INPUT], end_of_input),
    ("a silent server", &[&rules::AGAIN], silence),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let terminal = terminal(launcher, options)?;
    let played = SCENARIOS.map(|(name, meant, scenario)| {
        scene(name, move |judge| scenario(&mut Host::new(judge, terminal, launcher, options)?))
            .shows(meant.iter().copied())
    });
    let arguments =
        scene("wrong arguments", move |judge| arguments(judge, terminal, launcher, options)).shows([&rules::ARGUMENTS]);
    judge.side_by_side(played.into_iter().chain([arguments]).collect())
}

// Keys, and the end that the player wants.
fn game(host: &mut Host<'_>) -> Played {
    host.welcome()?;
    for (gone, &key) in b"lLjJkKyYuUbBnNHh.7x".iter().enumerate() {
        host.key(key, &rules::KEYS, "")?;
        host.judge.check(&rules::ONCE, true, String::new);
        host.send(format!("GOLD {} {gone} {}", usize::from(gone > 0), 250 - gone).as_bytes());
        host.send(&display(gone));
    }
    host.key(b'Q', &rules::KEYS, "")?;
    host.quit("Thanks for playing!");
    Ok(())
}

// The table of as many players as there are letters, with names as long as a server keeps them.
fn long_table(host: &mut Host<'_>) -> Played {
    host.welcome()?;
    let row = |letter: u8| format!("{} {:10} {}", char::from(letter), letter, "n".repeat(50));
    let table: Vec<String> = (b'A'..=b'Z').map(row).collect();
    host.long_quit(&format!("GAME OVER:\n{}", table.join("\n")))
}

// A client that does not play when its input and output are pipes, but does at a terminal, is tested at one.
fn terminal(launcher: &dyn Launcher, options: &Options) -> anyhow::Result<Terminal> {
    if !launcher.chooses_terminal() {
        return Ok(Terminal::No);
    }
    for terminal in [Terminal::No, Terminal::Whole] {
        // What is found here is found again in the scenarios.
        let mut judge = Judge::new(rules::RULES, Choice::default());
        judge.play("a look", |judge| Host::new(judge, terminal, launcher, options)?.welcome())?;
        if judge.passes() {
            return Ok(terminal);
        }
    }
    Ok(Terminal::No)
}

// Nobody moves for a while. A client that repeats its first message without need does so now.
fn quiet(host: &mut Host<'_>) -> Played {
    host.welcome()?;
    host.listen(Instant::now() + REPEATED.min(host.options.patience))?;
    host.judge.check(&rules::ONCE, true, String::new);
    Ok(())
}

fn refused(host: &mut Host<'_>) -> Played {
    host.greeted()?;
    host.quit("Game is full: no more players can join.");
    Ok(())
}

fn hostile(host: &mut Host<'_>) -> Played {
    host.welcome()?;
    let long = vec![b'x'; 65_507];
    let large = [b"DISPLAY\n", &long[8..]].concat();
    let error = [b"ERROR ", &long[..1000]].concat();
    let mut cut = display(3);
    cut.pop();
    let (first, second) = (display(1), display(2));
    let messages: [(&[u8], &'static Rule); 31] = [
        (b"ERROR unknown keystroke", &rules::ERRORS),
        (b"ERROR %s%n%s%n", &rules::ERRORS),
        (b"ERROR \x1b[2J\x07", &rules::ERRORS),
        (&error, &rules::ERRORS),
        (&first, &rules::DISPLAYS),
        (&second, &rules::DISPLAYS),
        (&first, &rules::DISPLAYS),
        (&first, &rules::DISPLAYS),
        (b"GOLD 0 0 250", &rules::DISPLAYS),
        (b"", &rules::MALFORMED),
        (b"\0", &rules::MALFORMED),
        (b"\xff\xfe\xfd", &rules::MALFORMED),
        (b"HELLO you", &rules::MALFORMED),
        (b"%s%n%s%n", &rules::MALFORMED),
        (b"OK", &rules::MALFORMED),
        (b"OK ab", &rules::MALFORMED),
        (b"ok A", &rules::MALFORMED),
        (b"GRID", &rules::MALFORMED),
        (b"GRID x y", &rules::MALFORMED),
        (b"GRID -3 -4", &rules::MALFORMED),
        (b"GOLD", &rules::MALFORMED),
        (b"GOLD 1", &rules::MALFORMED),
        (b"GOLD a b c", &rules::MALFORMED),
        (b"GOLD 99999999999999999999 0 0", &rules::MALFORMED),
        (b"DISPLAY", &rules::MALFORMED),
        (b"DISPLAY\n", &rules::MALFORMED),
        (&cut, &rules::MALFORMED),
        (&large, &rules::MALFORMED),
        (&long, &rules::MALFORMED),
        (b"KEY Q", &rules::MALFORMED),
        (b"QUITTING", &rules::MALFORMED),
    ];
    let mut before = String::new();
    for ((message, rule), &key) in messages.into_iter().zip(b"hl".iter().cycle()) {
        host.send(message);
        let now = shown(message);
        host.key(key, rule, &format!(" after the server sent {before}{now}"))?;
        before = format!("{now} and ");
    }
    host.quit("GAME OVER:\nA          4 Alice\nB        246 Bob");
    Ok(())
}

fn strangers(host: &mut Host<'_>) -> Played {
    host.welcome()?;
    for message in [&b"GOLD 1 2 3"[..], b"DISPLAY\n@", b"QUIT by a stranger"] {
        host.send_as_stranger(message)?;
        let text = format!(" after {} came from another address", shown(message));
        // Twice, since the first may be sent before the message is read.
        host.key(b'h', &rules::STRANGERS, &text)?;
        host.key(b'l', &rules::STRANGERS, &text)?;
    }
    Ok(())
}

fn end_of_input(host: &mut Host<'_>) -> Played {
    host.welcome()?;
    if host.end_input()? {
        host.quit("Thanks for playing!");
    }
    Ok(())
}

fn silence(host: &mut Host<'_>) -> Played {
    let first = host.greeted()?;
    let next = host.next(Instant::now() + AGAIN.min(host.options.patience));
    host.judge.require(&rules::AGAIN, next.as_ref() == Some(&first), || format!("{} came once", shown(&first)))
}

fn arguments(judge: &mut Judge, terminal: Terminal, launcher: &dyn Launcher, options: &Options) -> Played {
    for port in ["0", "65536", "abc"] {
        let values = [("host", "127.0.0.1".to_owned()), ("port", port.to_owned()), ("name", NAME.to_owned())];
        let exit = judge.start_at(terminal, launcher, &values)?.exit(options.deadline());
        judge.refused(&rules::ARGUMENTS, exit.as_ref(), &format!("with port {port} the client"));
    }
    Ok(())
}
