//! Tests nuggets clients.

mod host;
mod rules;

use std::time::{Duration, Instant};

use self::host::{HOST, Host, NAME, display, shown};
use crate::{
    judge::{Judge, Played, scene},
    launch::{Exit, Launcher},
    refusal::{Desk, MORE, Refusal, refusal},
    rule::Rule,
    terminal::Terminal,
    tester::{Options, Tester},
};

pub static TESTER: Tester = Tester {
    kind: "nuggets-client",
    is_server: false,
    usual: "{host} {port} {name}",
    known: &["host", "port", "name"],
    needed: &["host", "port"],
    rules: rules::RULES,
    takes_part: &[&rules::KEYS, &rules::WATCHES, &rules::QUIT, &rules::TEXT],
    play,
};

/// The time by which a client without an answer must have repeated its message at least once.
const AGAIN: Duration = Duration::from_secs(3);

/// The time by which a client that has sent KEY Q twice without an answer must have left.
const LONELY: Duration = Duration::from_secs(6);

/// Longer than the interval at which programs repeat a message forever.
const REPEATED: Duration = Duration::from_millis(2500);

type Scenario = fn(&mut Host<'_>) -> Played;

/// The rules that a scenario is designed to observe. If there are none, it may observe any rule.
type Meant = &'static [&'static Rule];

/// The scenarios with a client, each with a separate server.
const SCENARIOS: [(&str, Meant, Scenario); 14] = [
    ("a game", &[], game),
    ("a player who leaves", &[&rules::KEYS, &rules::QUIT, &rules::FAREWELL], leaves_by_key),
    ("a long table", &[&rules::LONG], long_table),
    ("a server that sends little", &[&rules::ONCE], quiet),
    ("a full game", &[&rules::REFUSED], refused),
    ("messages from other addresses", &[&rules::STRANGERS], strangers),
    ("a silent server", &[&rules::AGAIN], silence),
    ("a lost first message", &[&rules::LATE], late),
    ("every character", &[&rules::ANY_KEY], any_key),
    ("many keys in one batch", &[&rules::MANY_KEYS], many_keys),
    ("a big map", &[&rules::BIG_MAP], big_map),
    ("QUIT with percent signs", &[&rules::EXACT_TEXT], |host| {
        host.greeted()?;
        host.enter(b"GRID 3 14", &display(0))?;
        host.quit_as(b"QUIT 100 %s %d%% \\n", "100 %s %d%% \\n", &rules::EXACT_TEXT)
    }),
    ("QUIT without text", &[&rules::EMPTY_TEXT], |host| {
        host.greeted()?;
        host.enter(b"GRID 3 14", &display(0))?;
        host.quit_as(b"QUIT ", "", &rules::EMPTY_TEXT)
    }),
    ("QUIT with a zero byte", &[&rules::QUIT_NUL], |host| {
        host.greeted()?;
        host.enter(b"GRID 3 14", &display(0))?;
        host.quit_as(b"QUIT It was a pleasure.\0", "It was a pleasure.", &rules::QUIT_NUL)
    }),
];

/// Scenarios that end the input, which requires a pipe.
const PIPED: [(&str, &Rule, Scenario); 2] = [
    ("the end of the input", &rules::INPUT, end_of_input),
    ("the end of the input without an answer", &rules::LEAVES, leaves),
];

/// Clients that are started with another name.
const CALLS: [(&str, &Rule, Option<&str>); 3] = [
    ("a name of one character", &rules::SHORT_NAME, Some("x")),
    ("a name with special characters", &rules::ODD_NAME, Some(" 100%s  of \"it\", \\n & $HOME ")),
    ("no name", &rules::SPECTATES, None),
];

static REFUSALS: [Refusal; 8] = [
    refusal(&rules::MISSING, "without arguments", &[("host", None), ("port", None), ("name", None)]),
    refusal(&rules::MISSING, "without the port", &[("port", None), ("name", None)]),
    refusal(&rules::PORT_WORD, "with the port 'abc'", &[("port", Some("abc"))]),
    refusal(&rules::PORT_RANGE, "with port 0", &[("port", Some("0"))]),
    refusal(&rules::PORT_RANGE, "with the server's port plus 65536", &[("port", Some("{port+65536}"))]),
    refusal(&rules::TRAILING, "with an 'x' after the server's port", &[("port", Some("{port}x"))]),
    refusal(&rules::EXTRA, "with two extra arguments", &[(MORE, Some("one")), (MORE, Some("two"))]),
    refusal(&rules::UNKNOWN_OPTION, "with the option --no-such-option", &[(MORE, Some("--no-such-option"))]),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    // Errors in any game are recorded first, since they would break other rules in the other scenarios.
    let ([(name, _, scenario)], others) = SCENARIOS.split_at(1) else { return Ok(()) };
    let start =
        |judge: &mut Judge, terminal, scenario: Scenario| scenario(&mut Host::new(judge, terminal, launcher, options)?);
    judge.play(name, |judge| start(judge, Terminal::Shell, *scenario))?;
    let played = others.iter().map(|&(name, meant, scenario)| {
        scene(name, move |judge| start(judge, Terminal::Shell, scenario)).shows(meant.iter().copied())
    });
    let piped = PIPED.iter().map(|&(name, rule, scenario)| {
        scene(name, move |judge| start(judge, Terminal::Output, scenario)).shows([rule])
    });
    let damaged = DAMAGED.iter().map(|&(name, rule, messages)| {
        scene(name, move |judge| goes_on(&mut Host::new(judge, Terminal::Shell, launcher, options)?, rule, messages()))
            .shows([rule, &rules::NO_CRASH])
    });
    let calls = CALLS.into_iter().filter(|(_, _, name)| name.is_none() || launcher.takes("name"));
    let calls = calls.map(|(title, rule, name)| {
        let play = move |judge: &mut Judge| {
            let mut host = Host::called(judge, Terminal::Shell, launcher, options, (name, HOST))?;
            host.greeted_by(rule).map(drop)
        };
        scene(title, play).shows([rule])
    });
    let at_name = scene("a host name", move |judge| {
        Host::called(judge, Terminal::Shell, launcher, options, (Some(NAME), "localhost"))?.greeted_at_name()
    });
    let watches = scene("a spectator", move |judge| {
        let mut host = Host::called(judge, Terminal::Shell, launcher, options, (None, HOST))?;
        host.greeted_by(&rules::SPECTATES)?;
        host.enter(b"GRID 3 14", &display(0))?;
        host.key(b'Q', &rules::WATCHES, "")
    });
    let values = || Ok((vec![("host", HOST.into()), ("port", "2021".into()), ("name", NAME.into())], None));
    let refusals = Desk { launcher, options: *options, explains: &rules::EXPLAINS, values }.scenes(&REFUSALS);
    let others = [at_name.shows([&rules::HOST_NAME]), watches.shows([&rules::WATCHES])];
    judge.side_by_side(played.chain(piped).chain(damaged).chain(calls).chain(others).chain(refusals).collect())
}

// Keys, and an end by the player.
fn game(host: &mut Host<'_>) -> Played {
    if host.welcome()? {
        for (gone, &key) in b"lLjJkKyYuUbBnNHh".iter().enumerate() {
            host.key(key, &rules::KEYS, "")?;
            host.judge.check(&rules::ONCE, true, String::new);
            host.send(format!("GOLD {} {gone} {}", usize::from(gone > 0), 250 - gone).as_bytes());
            host.send(&display(gone));
        }
    }
    host.quit("GAME OVER:\nA         16 Tess\nB        234 Bob")
}

// A client may leave when Q is typed, but should rather wait for QUIT.
fn leaves_by_key(host: &mut Host<'_>) -> Played {
    if !host.welcome()? {
        return Ok(());
    }
    host.key(b'Q', &rules::KEYS, "")?;
    host.farewell("Thanks for playing!")
}

// The table with one player for each letter, and names of the maximum length that a server keeps.
fn long_table(host: &mut Host<'_>) -> Played {
    host.greeted()?;
    host.enter(b"GRID 3 14", &display(0))?;
    let row = |letter: u8| format!("{} {:10} {}", char::from(letter), letter, "n".repeat(50));
    let table: Vec<String> = (b'A'..=b'Z').map(row).collect();
    let text = format!("GAME OVER:\n{}", table.join("\n"));
    host.quit_as(format!("QUIT {text}").as_bytes(), &text, &rules::LONG)
}

// No player moves for a while. A client that repeats its first message unnecessarily does so in this time.
fn quiet(host: &mut Host<'_>) -> Played {
    host.welcome()?;
    host.listen(Instant::now() + REPEATED.min(host.options.patience));
    host.judge.check(&rules::ONCE, true, String::new);
    Ok(())
}

fn refused(host: &mut Host<'_>) -> Played {
    host.greeted()?;
    let text = "Game is full: no more players can join.";
    host.quit_as(format!("QUIT {text}").as_bytes(), text, &rules::REFUSED)
}

fn strangers(host: &mut Host<'_>) -> Played {
    if !host.welcome()? {
        host.judge.leave_out_for([&rules::STRANGERS], &rules::KEYS);
        return Ok(());
    }
    for message in [&b"GOLD 1 2 3"[..], b"DISPLAY\n@", b"QUIT by another server"] {
        host.send_as_stranger(message)?;
        let text = format!(" after {} from another address", shown(message));
        // Two keys are typed, since the first may be sent before the message is read.
        host.key(b'h', &rules::STRANGERS, &text)?;
        host.key(b'l', &rules::STRANGERS, &text)?;
    }
    Ok(())
}

fn end_of_input(host: &mut Host<'_>) -> Played {
    host.end_input().map(drop)
}

fn silence(host: &mut Host<'_>) -> Played {
    let first = host.greeted()?;
    let next = host.next(Instant::now() + AGAIN.max(host.options.patience));
    host.judge.require(&rules::AGAIN, next.as_ref() == Some(&first), || {
        format!("expected {} again while the server does not answer, received it once", shown(&first))
    })
}

// The first message is lost.
fn late(host: &mut Host<'_>) -> Played {
    host.greeted()?;
    if host.next(Instant::now() + AGAIN.max(host.options.patience)).is_none() {
        // Whether the client repeats it is judged elsewhere.
        host.judge.leave_out_for([&rules::LATE], &rules::AGAIN);
        return Ok(());
    }
    host.enter(b"GRID 3 14", &display(0))?;
    if host.judge.has_failed(&rules::KEYS) {
        host.judge.leave_out_for([&rules::LATE], &rules::KEYS);
        return Ok(());
    }
    host.wake(&rules::LATE).map(drop)
}

// QUIT is lost, or the server has ended.
fn leaves(host: &mut Host<'_>) -> Played {
    if host.end_input()? {
        let exit = host.run.exit(Instant::now() + LONELY.max(host.options.patience));
        host.judge.check(&rules::LEAVES, exit.is_some(), || {
            format!(
                "expected the client to exit without a QUIT after KEY Q, but {}",
                Exit::told(exit.as_ref(), "the client")
            )
        });
    }
    Ok(())
}

// All keys except Q, which may make the client leave. If keys of the game fail, other letters provide no further
// information.
fn any_key(host: &mut Host<'_>) -> Played {
    if !host.welcome()? {
        host.judge.leave_out_for([&rules::ANY_KEY], &rules::KEYS);
        return Ok(());
    }
    let is_known = host.judge.has_failed(&rules::KEYS);
    for key in (b'!'..=b'~').filter(|key| *key != b'Q' && !(is_known && key.is_ascii_alphabetic())) {
        host.key(key, &rules::ANY_KEY, "")?;
    }
    Ok(())
}

fn many_keys(host: &mut Host<'_>) -> Played {
    if !host.welcome()? {
        host.judge.leave_out_for([&rules::MANY_KEYS], &rules::KEYS);
        return Ok(());
    }
    let keys: Vec<u8> = b"ljku".iter().copied().cycle().take(100).collect();
    host.keys(&keys, &rules::MANY_KEYS)
}

fn big_map(host: &mut Host<'_>) -> Played {
    host.greeted()?;
    let row = [&[b'.'; 280][..], b"\n"].concat();
    host.enter(b"GRID 90 280", &[b"DISPLAY\n", &row.repeat(90)[..]].concat())?;
    if host.judge.has_failed(&rules::KEYS) {
        return host.survives(&rules::BIG_MAP, " after a DISPLAY of 90 rows of 280 columns");
    }
    host.wake(&rules::BIG_MAP).map(drop)
}

type Messages = fn() -> Vec<Vec<u8>>;

/// The kinds of messages that a client must survive, with the rule that it continues after them. A client that exits at one
/// kind is still tested with the other kinds.
const DAMAGED: [(&str, &Rule, Messages); 9] = [
    ("ERROR", &rules::ERRORS, || {
        let long = [b"ERROR ", &[b'x'; 1000][..]].concat();
        all(&[b"ERROR unknown keystroke", b"ERROR %s%n%s%n", b"ERROR \x1b[2J\x07", &long])
    }),
    ("repeated DISPLAYs", &rules::DISPLAYS, || [1, 2, 1, 1].map(display).to_vec()),
    ("repeated first messages", &rules::STATE_AGAIN, || all(&[b"OK A", b"GRID 3 14", b"GOLD 0 0 250", &display(0)])),
    ("messages with extra white space", &rules::WHITE_SPACE, || {
        let display = [&display(4)[..], b"\0"].concat();
        all(&[b"OK A\0", b"GRID  3   14\n", b"GOLD 0  0   250\0", &display, b"ERROR that is no key\n\0"])
    }),
    ("binary datagrams", &rules::NO_WORDS, || all(&[b"", b"\0", b"\xff\xfe\xfd", &[b'x'; 65_507]])),
    ("messages of unknown kinds", &rules::MALFORMED, || {
        all(&[b"HELLO you", b"%s%n%s%n", b"ok A", b"KEY Q", b"QUITTING"])
    }),
    ("damaged numbers", &rules::BAD_NUMBERS, || {
        let large = b"GOLD 99999999999999999999 0 0";
        all(&[b"OK", b"OK ab", b"GRID", b"GRID x y", b"GRID -3 -4", b"GOLD", b"GOLD 1", b"GOLD a b c", large])
    }),
    ("damaged DISPLAYs", &rules::BAD_DISPLAYS, || {
        let (mut cut, long) = (display(3), [b"DISPLAY\n", &[b'x'; 65_499][..]].concat());
        cut.pop();
        all(&[b"DISPLAY", b"DISPLAY\n", &cut, &long])
    }),
    ("DISPLAY with percent signs", &rules::NO_CRASH, || {
        all(&[
            b"DISPLAY\n+------------+\n|%s%s%s%s%s%s|\n+------------+\n",
            b"DISPLAY\n+------------+\n|%n%n%n%n%n%n|\n+------------+\n",
        ])
    }),
];

fn all(messages: &[&[u8]]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| message.to_vec()).collect()
}

/// Sends messages after which a client must continue: it still sends each of its keys.
fn goes_on(host: &mut Host<'_>, rule: &'static Rule, messages: Vec<Vec<u8>>) -> Played {
    let sends_keys = host.welcome()?;
    let mut before = String::new();
    for message in messages {
        host.send(&message);
        let now = shown(&message);
        let after = format!(" after the server sent {before}{now}");
        if sends_keys {
            // Two keys are typed, since the first may be sent before the message is read.
            for key in *b"hl" {
                host.key(key, rule, &after)?;
            }
        } else {
            host.survives(rule, &after)?;
        }
        before = format!("{now} and ");
    }
    Ok(())
}
