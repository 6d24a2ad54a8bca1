mod test_server;

use std::time::{Duration, Instant};

use self::test_server::{HOST, NAME, TestServer, display, quoted_bytes};
use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::{Exit, Launcher},
    refusal::{MORE, Refusal, RefusalTest, Values},
    rule::{Rule, rules},
    terminal::Terminal,
    tester::{Options, Tester},
};
use Scenario::{Damaged, Game, Join, Piped, Refused};

pub static TESTER: Tester = Tester {
    kind: "nuggets-client",
    is_server: false,
    usual: "{host} {port} {name}",
    known: &["host", "port", "name"],
    needed: &["host", "port"],
    rules: RULES,
    takes_part: &[&KEYS, &WATCHES, &QUIT, &TEXT],
    play,
};

/// Within this time, a client must repeat an unanswered message.
const REPEAT_TIME: Duration = Duration::from_secs(3);

/// Within this time, a client must exit if KEY Q, sent twice, gets no answer.
const LONELY: Duration = Duration::from_secs(6);

/// Longer than the period of a message that a program repeats forever.
const REPEATED: Duration = Duration::from_millis(2500);

enum Scenario {
    /// The name, the other rules that it observes by design, and the actions.
    Game(&'static str, &'static [&'static Rule], fn(&mut TestServer<'_>) -> ScenarioResult),
    /// Ends the input, which requires a pipe.
    Piped(&'static str, fn(&mut TestServer<'_>) -> ScenarioResult),
    Join(&'static str, Option<&'static str>),
    /// The client must survive these. If it exits at one kind, the others are still tested.
    Damaged(&'static str, fn() -> Vec<Vec<u8>>),
    Refused(&'static str, Values),
}

rules! {
    for Scenario;
    FIRST: Protocol(3, "Requirements: Network protocol, PLAY") "first-message" in "protocols/nuggets.md#a-client",
        "The client sends PLAY, one space and its name as the first message",
        "Send the name exactly as given, including blanks, without a newline or a zero byte.";
    SHORT_NAME: Protocol(1, "Requirements: Network protocol, PLAY") "short-name" in "protocols/nuggets.md#a-client",
        "The client sends a name of one character unchanged",
        "Take the whole argument, however short it is.",
        Join("a name of one character", Some("x"));
    ODD_NAME: Protocol(1, "Requirements: Network protocol, PLAY") "odd-name" in "protocols/nuggets.md#a-client",
        "The client sends all blanks, percent signs and other characters of a name",
        "Do not join or split words, and do not use the name as a format.",
        Join("a name with special characters", Some(" 100%s  of \"it\", \\n & $HOME "));
    SPECTATES: Protocol(2, "Requirements: Client, join as spectator") "spectates" in "protocols/nuggets.md#a-client",
        "Without a name the client sends SPECTATE as the first message",
        "Check whether there is a third argument.",
        Join("no name", None);
    WATCHES: Protocol(2, "Requirements: Client interface, spectator keystrokes") "watches" in "protocols/nuggets.md#a-client",
        "A spectator starts with GRID, without an OK, and sends Q when the user types it",
        "Do not wait for OK: the spectator has no letter.";
    HOST_NAME: Protocol(1, "Requirements: Client, hostname or IP address") "host-name" in "protocols/nuggets.md#the-command-line",
        "The client accepts a host name, such as localhost",
        "inet_addr accepts only numeric addresses. Use getaddrinfo with the address family of your socket.";
    FORM: Protocol(2, "Requirements: Network protocol") "message-form" in "protocols/nuggets.md#messages",
        "Each message is exactly PLAY and a name, SPECTATE, or KEY and one character",
        "The length of the datagram ends a message: send strlen bytes, without the zero byte or a newline.";
    ADDRESS: Protocol(2, "Requirements: Network protocol") "one-address" in "protocols/nuggets.md#messages",
        "The client sends all messages from one UDP port",
        "Open one socket and keep it. The server identifies a client by its address and port.";
    ONCE: Protocol(1, "Requirements: Network protocol, PLAY") "joins-once" in "protocols/nuggets.md#a-client",
        "The client does not repeat PLAY or SPECTATE after the server has accepted it",
        "Repeat PLAY only until OK or GRID arrives, then stop the timer.",
        Game("a server that sends little", &[], quiet);
    KEYS: Protocol(5, "Requirements: Network protocol, KEY") "keys-as-typed" in "protocols/nuggets.md#a-client",
        "The client sends each typed key as one KEY, in order, and nothing else",
        "Switch the terminal to single keys (no line buffer, no echo), and send one KEY for each byte read.";
    ANY_KEY: Protocol(1, "Requirements: Network protocol, KEY") "any-key" in "protocols/nuggets.md#a-client",
        "The client sends every printable character, even if it is not a key of the game",
        "Do not filter keys: the server answers unknown ones with ERROR.",
        Game("every character", &[], any_key);
    MANY_KEYS: Protocol(1, "Requirements: Network protocol, KEY") "many-keys" in "protocols/nuggets.md#a-client",
        "The client sends a hundred quickly typed keys one by one, without loss or repetition",
        "A read may return many keys: send a KEY for each byte.",
        Game("many keys in one batch", &[], many_keys);
    DISPLAYS: Protocol(2, "Requirements: Network protocol, DISPLAY") "any-display" in "protocols/nuggets.md#a-client",
        "The client handles repeated DISPLAYs and DISPLAYs after a delay",
        "Draw the last DISPLAY received. Do not count DISPLAYs or wait for one after each KEY.",
        Damaged("repeated DISPLAYs", || [1, 2, 1, 1].map(display).to_vec());
    BIG_MAP: Protocol(2, "Requirements: Valid maps") "big-map" in "protocols/nuggets.md#a-client",
        "The client handles a map of 90 rows and 280 columns",
        "A DISPLAY may have 65,507 bytes. Allocate a buffer for the size in GRID, or for the largest datagram.",
        Game("a big map", &[], big_map);
    STATE_AGAIN: Advice "state-again" in "protocols/nuggets.md#a-client",
        "The client accepts a second OK, GRID, GOLD and DISPLAY",
        "A server repeats its answer if it receives PLAY twice. Use the repeated state as the latest one.",
        Damaged("repeated first messages", || all(&[b"OK A", b"GRID 3 14", b"GOLD 0 0 250", &display(0)]));
    ERRORS: Protocol(2, "Requirements: Malformed messages, ERROR") "goes-on-after-error" in "protocols/nuggets.md#a-client",
        "The client continues after ERROR",
        "Show ERROR to the user, and do not stop.",
        Damaged("ERROR", || {
            let long = [b"ERROR ", &[b'x'; 1000][..]].concat();
            all(&[b"ERROR unknown keystroke", b"ERROR %s%n%s%n", b"ERROR \x1b[2J\x07", &long])
        });
    MALFORMED: Protocol(1, "Requirements: Malformed messages") "malformed-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after messages of unknown kinds",
        "Compare the whole first word, and ignore a message whose first word is unknown.",
        Damaged("messages of unknown kinds", || {
            all(&[b"HELLO you", b"%s%n%s%n", b"ok A", b"KEY Q", b"QUITTING"])
        });
    NO_WORDS: Protocol(1, "Requirements: Malformed messages") "no-words-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after empty and binary datagrams",
        "A datagram may have 0 bytes, and bytes above 127.",
        Damaged("binary datagrams", || all(&[b"", b"\0", b"\xff\xfe\xfd", &[b'x'; 65_507]]));
    BAD_NUMBERS: Protocol(1, "Requirements: Malformed messages") "bad-numbers-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after OK, GRID and GOLD with missing or invalid values",
        "Check the result of sscanf and the range of numbers before you use them.",
        Damaged("damaged numbers", || {
            let large = b"GOLD 99999999999999999999 0 0";
            all(&[b"OK", b"OK ab", b"GRID", b"GRID x y", b"GRID -3 -4", b"GOLD", b"GOLD 1", b"GOLD a b c", large])
        });
    BAD_DISPLAYS: Protocol(1, "Requirements: Malformed messages") "bad-displays-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after a DISPLAY whose rows do not fit the grid",
        "Count rows and columns before you draw: reading a missing one exceeds the buffer.",
        Damaged("damaged DISPLAYs", || {
            let (mut cut, long) = (display(3), [b"DISPLAY\n", &[b'x'; 65_499][..]].concat());
            cut.pop();
            all(&[b"DISPLAY", b"DISPLAY\n", &cut, &long])
        });
    WHITE_SPACE: Protocol(1, "Requirements: Malformed messages") "white-space" in "protocols/nuggets.md#a-client",
        "The client continues after messages with trailing zeros and newlines, or several spaces between numbers",
        "Accept different white space: the servers of the course differ.",
        Damaged("messages with extra white space", || {
            let display = [&display(4)[..], b"\0"].concat();
            all(&[b"OK A\0", b"GRID  3   14\n", b"GOLD 0  0   250\0", &display, b"ERROR that is no key\n\0"])
        });
    QUIT: Protocol(3, "Requirements: Network protocol, QUIT") "quit-ends" in "protocols/nuggets.md#a-client",
        "The client exits with status 0 after QUIT",
        "Restore the terminal and exit with status 0. QUIT is the normal end, whatever its text is.";
    TEXT: Protocol(3, "Requirements: Network protocol, QUIT") "quit-text" in "protocols/nuggets.md#a-client",
        "The client prints the text of QUIT on standard output",
        "End the full-screen mode before you print. Otherwise the text disappears with the screen.";
    EXACT_TEXT: Protocol(1, "Requirements: Network protocol, QUIT") "exact-text" in "protocols/nuggets.md#a-client",
        "The client prints the text of QUIT unchanged, including percent signs and backslashes",
        "Print it with puts or with printf and %s, not as a format.",
        Game("QUIT with percent signs", &[], |server| {
            server.receive_first()?;
            server.enter(b"GRID 3 14", &display(0))?;
            server.quit_as(b"QUIT 100 %s %d%% \\n", "100 %s %d%% \\n", &EXACT_TEXT)
        });
    EMPTY_TEXT: Protocol(1, "Requirements: Network protocol, QUIT") "empty-text" in "protocols/nuggets.md#a-client",
        "The client exits with status 0 after a QUIT with an empty text",
        "The text after QUIT may be empty.",
        Game("QUIT without text", &[], |server| {
            server.receive_first()?;
            server.enter(b"GRID 3 14", &display(0))?;
            server.quit_as(b"QUIT ", "", &EMPTY_TEXT)
        });
    QUIT_NUL: Advice "quit-with-zero" in "protocols/nuggets.md#a-client",
        "The client prints the text and exits after a QUIT with a trailing zero byte",
        "Some servers send the zero byte of the string: accept it.",
        Game("QUIT with a zero byte", &[], |server| {
            server.receive_first()?;
            server.enter(b"GRID 3 14", &display(0))?;
            server.quit_as(b"QUIT It was a pleasure.\0", "It was a pleasure.", &QUIT_NUL)
        });
    REFUSED: Protocol(2, "Requirements: Network protocol, QUIT") "refused" in "protocols/nuggets.md#a-client",
        "The client prints the text and exits if it receives QUIT instead of OK",
        "The game may be full. Handle QUIT from the first message on.",
        Game("a full game", &[], refused);
    FAREWELL: Advice "waits-for-quit" in "protocols/nuggets.md#a-client",
        "After the user types Q, the client waits for QUIT and prints its text",
        "Send KEY Q like any other key, and exit at the QUIT that answers it.",
        Game("a player who leaves", &[&KEYS, &QUIT], leaves_by_key);
    SILENT: Advice "silent-after-quit" in "protocols/nuggets.md#a-client",
        "The client sends nothing after QUIT",
        "The game is over: do not answer QUIT with KEY Q.";
    LONG: Protocol(2, "Requirements: Network protocol, QUIT") "long-quit" in "protocols/nuggets.md#a-client",
        "The client prints the whole table of 26 players from one QUIT and exits",
        "A datagram may have 65,507 bytes. recvfrom discards what does not fit into its buffer.",
        Game("a long table", &[], long_table);
    INPUT: Protocol(2, "Requirements: Client, EOF on stdin") "end-of-input" in "protocols/nuggets.md#a-client",
        "The client sends KEY Q at the end of standard input",
        "A read that returns 0 bytes is the end of the input. EOF is not a character: store it in an int.",
        Piped("the end of the input", end_of_input);
    NO_CRASH: Protocol(2, "Requirements: Malformed messages") "no-crash" in "protocols/nuggets.md#a-client",
        "The client does not crash, whatever a server sends",
        "Check lengths before you copy, and the result of a parser before you use it.",
        Damaged("DISPLAY with percent signs", || {
            all(&[
                b"DISPLAY\n+------------+\n|%s%s%s%s%s%s|\n+------------+\n",
                b"DISPLAY\n+------------+\n|%n%n%n%n%n%n|\n+------------+\n",
            ])
        });
    MISSING: Protocol(1, "Requirements: Client, verify its arguments") "missing-arguments" in "protocols/nuggets.md#the-command-line",
        "Without arguments, or without the port, the client exits with a nonzero status",
        "Check argc before you use argv.",
        Refused("without arguments", &[("host", None), ("port", None), ("name", None)]),
        Refused("without the port", &[("port", None), ("name", None)]);
    PORT_WORD: Protocol(1, "Requirements: Client, verify its arguments") "bad-port" in "protocols/nuggets.md#the-command-line",
        "If the port is not a number, the client exits with a nonzero status",
        "Check that the whole word is a number, with the end pointer of strtol.",
        Refused("with the port 'abc'", &[("port", Some("abc"))]);
    PORT_RANGE: Protocol(1, "Requirements: Client, verify its arguments") "port-range" in "protocols/nuggets.md#the-command-line",
        "If the port is 0 or above 65535, the client exits with a nonzero status",
        "A port is from 1 to 65535: htons drops the higher bits.",
        Refused("with port 0", &[("port", Some("0"))]),
        Refused("with the server's port plus 65536", &[("port", Some("{port+65536}"))]);
    STRANGERS: Advice "strangers-ignored" in "protocols/nuggets.md#a-client",
        "The client ignores messages from addresses other than the server's",
        "Connect the UDP socket to the server: the system then drops datagrams from other addresses.",
        Game("messages from other addresses", &[], other_addresses);
    AGAIN: Advice "asks-again" in "protocols/nuggets.md#a-client",
        "The client repeats its first message until the server answers",
        "Datagrams may get lost: wait with a timeout, and send the first message again.",
        Game("a silent server", &[], silence);
    LATE: Advice "late-server" in "protocols/nuggets.md#a-client",
        "The client joins the game if its first message was lost and the second is answered",
        "Send the first message again from the same socket.",
        Game("a lost first message", &[], late);
    LEAVES: Advice "leaves-alone" in "protocols/nuggets.md#a-client",
        "The client exits if no QUIT answers the KEY Q that it sent at the end of the input",
        "QUIT may get lost: wait a moment, send KEY Q again, and exit.",
        Piped("the end of the input without an answer", leaves);
    TRAILING: Advice "trailing-letters" in "protocols/nuggets.md#the-command-line",
        "If letters follow the port, the client exits with a nonzero status",
        "strtol returns the end of the number, which must be the end of the word.",
        Refused("with an 'x' after the server's port", &[("port", Some("{port}x"))]);
    EXTRA: Protocol(1, "Requirements: Client, verify its arguments") "extra-argument" in "protocols/nuggets.md#the-command-line",
        "With an extra argument, the client exits with a nonzero status",
        "Compare argc with the exact number.",
        Refused("with two extra arguments", &[(MORE, Some("one")), (MORE, Some("two"))]);
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/nuggets.md#the-command-line",
        "With an unknown option, the client exits with a nonzero status",
        "Reject each argument that you do not know.",
        Refused("with the option --no-such-option", &[(MORE, Some("--no-such-option"))]);
    EXPLAINS: Advice "explains" in "protocols/nuggets.md#the-command-line",
        "A client that rejects its arguments prints the reason on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    // First, since an error that occurs in any game would break other rules in the other scenarios.
    let start = move |judge: &mut Judge, terminal, call, scenario: fn(&mut TestServer<'_>) -> ScenarioResult| {
        scenario(&mut TestServer::new(judge, terminal, launcher, options, call)?)
    };
    let usual = (Some(NAME), HOST);
    judge.play("a game", |judge| start(judge, Terminal::Shell, usual, game))?;
    let mut refusals = Vec::new();
    let mut scenes = Vec::new();
    for &(rule, ref scenario) in SCENARIOS {
        scenes.push(match *scenario {
            Game(name, also, scenario) => scene(name, move |judge| start(judge, Terminal::Shell, usual, scenario))
                .shows(also.iter().copied().chain([rule])),
            Piped(name, scenario) => {
                scene(name, move |judge| start(judge, Terminal::Output, usual, scenario)).shows([rule])
            }
            Join(_, Some(_)) if !launcher.takes("name") => continue,
            Join(title, name) => scene(title, move |judge| {
                let mut server = TestServer::new(judge, Terminal::Shell, launcher, options, (name, HOST))?;
                server.receive_first_as(rule).map(drop)
            })
            .shows([rule]),
            Damaged(name, messages) => scene(name, move |judge| {
                continues_after(
                    &mut TestServer::new(judge, Terminal::Shell, launcher, options, usual)?,
                    rule,
                    messages(),
                )
            })
            .shows([rule, &NO_CRASH]),
            Refused(how, values) => {
                refusals.push(Refusal { rule, how, values });
                continue;
            }
        });
    }
    let at_name = scene("a host name", |judge| {
        TestServer::new(judge, Terminal::Shell, launcher, options, (Some(NAME), "localhost"))?.receive_first_by_name()
    });
    let watches = scene("a spectator", |judge| {
        let mut server = TestServer::new(judge, Terminal::Shell, launcher, options, (None, HOST))?;
        server.receive_first_as(&SPECTATES)?;
        server.enter(b"GRID 3 14", &display(0))?;
        server.key(b'Q', &WATCHES, "")
    });
    scenes.extend([at_name.shows([&HOST_NAME]), watches.shows([&WATCHES])]);
    let values = || Ok((vec![("host", HOST.into()), ("port", "2021".into()), ("name", NAME.into())], None));
    scenes.extend(RefusalTest { launcher, options: *options, explains: &EXPLAINS, values }.scenes(refusals));
    judge.side_by_side(scenes)
}

fn game(server: &mut TestServer<'_>) -> ScenarioResult {
    if server.start_session()? {
        for (gone, &key) in b"lLjJkKyYuUbBnNHh".iter().enumerate() {
            server.key(key, &KEYS, "")?;
            server.judge.check(&ONCE, true, String::new);
            server.send(format!("GOLD {} {gone} {}", usize::from(gone > 0), 250 - gone).as_bytes());
            server.send(&display(gone));
        }
    }
    server.quit("GAME OVER:\nA         16 Tess\nB        234 Bob")
}

// A client may leave when Q is typed, but should rather wait for QUIT.
fn leaves_by_key(server: &mut TestServer<'_>) -> ScenarioResult {
    if !server.start_session()? {
        return Ok(());
    }
    server.key(b'Q', &KEYS, "")?;
    server.farewell("Thanks for playing!")
}

// Names have the maximum length that servers keep.
fn long_table(server: &mut TestServer<'_>) -> ScenarioResult {
    server.receive_first()?;
    server.enter(b"GRID 3 14", &display(0))?;
    let row = |letter: u8| format!("{} {:10} {}", char::from(letter), letter, "n".repeat(50));
    let table: Vec<String> = (b'A'..=b'Z').map(row).collect();
    let text = format!("GAME OVER:\n{}", table.join("\n"));
    server.quit_as(format!("QUIT {text}").as_bytes(), &text, &LONG)
}

// A needless repetition of the first message happens within this time.
fn quiet(server: &mut TestServer<'_>) -> ScenarioResult {
    server.start_session()?;
    server.receive_until(Instant::now() + REPEATED.min(server.options.patience));
    server.judge.check(&ONCE, true, String::new);
    Ok(())
}

fn refused(server: &mut TestServer<'_>) -> ScenarioResult {
    server.receive_first()?;
    let text = "Game is full: no more players can join.";
    server.quit_as(format!("QUIT {text}").as_bytes(), text, &REFUSED)
}

fn other_addresses(server: &mut TestServer<'_>) -> ScenarioResult {
    if !server.start_session()? {
        server.judge.leave_out_for([&STRANGERS], &KEYS);
        return Ok(());
    }
    for message in [&b"GOLD 1 2 3"[..], b"DISPLAY\n@", b"QUIT by another server"] {
        server.send_from_other_address(message)?;
        let text = format!(" after {} from another address", quoted_bytes(message));
        // Two keys, since the client may send the first before it reads the message.
        server.key(b'h', &STRANGERS, &text)?;
        server.key(b'l', &STRANGERS, &text)?;
    }
    Ok(())
}

fn end_of_input(server: &mut TestServer<'_>) -> ScenarioResult {
    server.end_input().map(drop)
}

fn silence(server: &mut TestServer<'_>) -> ScenarioResult {
    let first = server.receive_first()?;
    let next = server.next(Instant::now() + REPEAT_TIME.max(server.options.patience));
    server.judge.require(&AGAIN, next.as_ref() == Some(&first), || {
        format!("expected {} again while the server does not answer, received it once", quoted_bytes(&first))
    })
}

fn late(server: &mut TestServer<'_>) -> ScenarioResult {
    server.receive_first()?;
    if server.next(Instant::now() + REPEAT_TIME.max(server.options.patience)).is_none() {
        // Another scenario judges repetition.
        server.judge.leave_out_for([&LATE], &AGAIN);
        return Ok(());
    }
    server.enter(b"GRID 3 14", &display(0))?;
    if server.judge.has_failed(&KEYS) {
        server.judge.leave_out_for([&LATE], &KEYS);
        return Ok(());
    }
    server.await_keys(&LATE).map(drop)
}

// The client gets no QUIT, as if it were lost or the server had ended.
fn leaves(server: &mut TestServer<'_>) -> ScenarioResult {
    if server.end_input()? {
        let exit = server.run.exit(Instant::now() + LONELY.max(server.options.patience));
        server.judge.check(&LEAVES, exit.is_some(), || {
            format!(
                "expected the client to exit without a QUIT after KEY Q, but {}",
                Exit::describe(exit.as_ref(), "the client")
            )
        });
    }
    Ok(())
}

// All keys except Q, at which the client may leave. If keys of the game fail, others provide no information.
fn any_key(server: &mut TestServer<'_>) -> ScenarioResult {
    if !server.start_session()? {
        server.judge.leave_out_for([&ANY_KEY], &KEYS);
        return Ok(());
    }
    let is_known = server.judge.has_failed(&KEYS);
    for key in (b'!'..=b'~').filter(|key| *key != b'Q' && !(is_known && key.is_ascii_alphabetic())) {
        server.key(key, &ANY_KEY, "")?;
    }
    Ok(())
}

fn many_keys(server: &mut TestServer<'_>) -> ScenarioResult {
    if !server.start_session()? {
        server.judge.leave_out_for([&MANY_KEYS], &KEYS);
        return Ok(());
    }
    let keys: Vec<u8> = b"ljku".iter().copied().cycle().take(100).collect();
    server.keys(&keys, &MANY_KEYS)
}

fn big_map(server: &mut TestServer<'_>) -> ScenarioResult {
    server.receive_first()?;
    let row = [&[b'.'; 280][..], b"\n"].concat();
    server.enter(b"GRID 90 280", &[b"DISPLAY\n", &row.repeat(90)[..]].concat())?;
    if server.judge.has_failed(&KEYS) {
        return server.survives(&BIG_MAP, " after a DISPLAY of 90 rows of 280 columns");
    }
    server.await_keys(&BIG_MAP).map(drop)
}

fn all(messages: &[&[u8]]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| message.to_vec()).collect()
}

fn continues_after(server: &mut TestServer<'_>, rule: &'static Rule, messages: Vec<Vec<u8>>) -> ScenarioResult {
    let sends_keys = server.start_session()?;
    let mut before = String::new();
    for message in messages {
        server.send(&message);
        let now = quoted_bytes(&message);
        let after = format!(" after the server sent {before}{now}");
        if sends_keys {
            // Two keys, since the client may send the first before it reads the message.
            for key in *b"hl" {
                server.key(key, rule, &after)?;
            }
        } else {
            server.survives(rule, &after)?;
        }
        before = format!("{now} and ");
    }
    Ok(())
}
