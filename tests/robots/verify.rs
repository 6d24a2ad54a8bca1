//! The program that explains messages. Unit tests check the explanations.

use std::{
    io::Write,
    net::{Ipv4Addr, Shutdown, TcpStream, UdpSocket},
    process::Command,
};

use testkit::{
    TempDir,
    process::{Finished, Process},
};

use crate::programs;

/// Two hexadecimal digits each, separated by spaces.
fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn program(arguments: &[&str]) -> Command {
    let mut command = programs::program("robots-verify");
    command.args(arguments).env("COLUMNS", "80");
    command
}

struct Listening {
    process: Process,
    port: u16,
}

impl Listening {
    fn start(arguments: &[&str]) -> Self {
        let process = Process::start(&mut program(&[&["-p", "0", "--bind", "127.0.0.1"], arguments].concat()));
        let port = process.port();
        Self { process, port }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    fn wait(&self, text: &str) -> String {
        self.process.wait_stdout(text, |stdout| stdout.contains(text).then(|| stdout.to_owned()))
    }

    /// Returns the output after the first empty line.
    fn stop(self) -> String {
        self.process.terminate();
        let Finished { code, stdout, stderr } = self.process.wait();
        assert_eq!((code, &*stderr), (Some(0), ""));
        stdout.split_once("\n\n").unwrap().1.to_owned()
    }
}

fn one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_connection_is_explained_byte_by_byte_and_at_its_end() {
    let listening = Listening::start(&["-m", "client"]);
    assert!(listening.process.stdout().starts_with("Ready to explain client messages, waiting at TCP port "));
    let mut stream = listening.connect();
    for byte in bytes("00 02 c3 b3 01 03 00 00 03 61") {
        stream.write_all(&[byte]).unwrap();
    }
    // While the connection is still open.
    listening.wait("direction: Up");
    let from = format!("#1 {}", stream.local_addr().unwrap());
    stream.shutdown(Shutdown::Write).unwrap();
    listening.wait("closed: ");
    let said = listening.stop();
    let (said, end) = said.split_at(said.rfind("\n\n#").unwrap() + 2);
    let summary = "closed: 3 whole messages in 7 bytes, then 3 bytes of an unfinished Join";
    assert_eq!(one_line(end), format!("{from} {summary}"));
    let heads: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix(&*from)).collect();
    assert_eq!(
        heads,
        [
            "  connected",
            "  message 1: Join, 4 bytes from byte 0",
            "  message 2: PlaceBomb, 1 byte from byte 4",
            "  message 3: Move, 2 bytes from byte 5",
            "  message 4: Join, 3 bytes from byte 7",
        ]
    );
    assert!(said.ends_with("  around it: 00 03 61 []\n\n"), "{said}");
}

#[test]
fn two_connections_are_explained_separately() {
    let listening = Listening::start(&["-m", "server"]);
    let (mut one, mut two) = (listening.connect(), listening.connect());
    let (from_one, from_two) = (one.local_addr().unwrap(), two.local_addr().unwrap());
    listening.wait("#2 ");
    let turn = bytes("03 00 07 00 00 00 01 02 03 00 02 00 04");
    // The first connection sends half of a message, and the second two messages in unaligned parts.
    one.write_all(&turn[..9]).unwrap();
    two.write_all(&turn[..4]).unwrap();
    two.write_all(&[&turn[4..], &turn[..]].concat()).unwrap();
    let said = listening.wait(&format!("{from_two}  message 2: Turn, 13 bytes from byte 13\n"));
    assert!(!said.contains(&format!("{from_one}  message")), "{said}");
    one.write_all(&turn[9..]).unwrap();
    listening.wait(&format!("{from_one}  message 1: Turn, 13 bytes from byte 0\n"));
    one.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    listening.wait(&format!("{from_one}  closed at an"));
    two.write_all(&turn).unwrap();
    listening.wait(&format!("{from_two}  message 3: Turn, 13 bytes from byte 26\n"));
    listening.stop();
}

#[test]
fn datagrams_are_explained_one_by_one() {
    let listening = Listening::start(&["-m", "input", "-u"]);
    assert!(listening.process.stdout().contains("input messages, waiting at UDP port "));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.connect((Ipv4Addr::LOCALHOST, listening.port)).unwrap();
    // A valid datagram, one with an extra byte, and another valid one.
    let from = socket.local_addr().unwrap();
    for (hex, head, end) in [
        ("02 03", "datagram 1: Move, 2 bytes", "direction: Left"),
        ("00 00", "datagram 2: PlaceBomb, 1 byte", "around it: 00 [00]"),
        ("01", "datagram 3: PlaceBlock, 1 byte", "PlaceBlock"),
    ] {
        socket.send(&bytes(hex)).unwrap();
        let (head, end) = (format!("{from}  {head}\n"), format!("{end}\n\n"));
        let is_said = |stdout: &str| (stdout.contains(&head) && stdout.ends_with(&end)).then_some(());
        listening.process.wait_stdout(&head, is_said);
    }
    listening.stop();
}

#[test]
fn files_are_explained_and_judged() {
    let folder = TempDir::new();
    let file = folder.path().join("game");
    let path = file.to_str().unwrap();
    for (content, udp, code, end) in [
        ("03 ff ff 00 00 00 00", false, 0, "the end: 1 whole message in 7 bytes, nothing left over\n\n"),
        ("03 ff ff 00 00 00", false, 1, "0 whole messages in 0 bytes, then 6 bytes of an unfinished Turn\n\n"),
        ("03 ff ff 00 00 00 00 05", true, 1, "around it: 03 ff ff 00 00 00 00 [05]\n\n"),
    ] {
        std::fs::write(&file, bytes(content)).unwrap();
        let mut arguments = vec!["-m", "server", "--file", path];
        arguments.extend(udp.then_some("-u"));
        let finished = Process::run(&mut program(&arguments));
        assert_eq!((finished.code, &*finished.stderr), (Some(code), ""));
        assert!(finished.stdout.ends_with(end), "{}", finished.stdout);
    }
    std::fs::write(&file, vec![0; 65_536]).unwrap();
    let finished = Process::run(&mut program(&["-m", "client", "-u", "--file", path]));
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("no datagram is that long"), "{}", finished.stderr);
}

#[test]
fn invalid_arguments_are_named_with_valid_ones() {
    for (arguments, said) in [
        (&[][..], "For example: "),
        (&["-m", "client"], "-p 2022 -m client"),
        (&["-m", "gui", "-p", "0"], "client, server, display, input"),
        (&["-m", "client", "-p", "0", "--file", "x"], "cannot be used with"),
        (&["-m", "client", "--file", "/no/such/file"], "cannot open /no/such/file"),
    ] {
        let finished = Process::run(&mut program(arguments));
        assert_eq!((finished.code, &*finished.stdout), (Some(1), ""), "{arguments:?}");
        assert!(finished.stderr.contains(said), "{arguments:?}: {}", finished.stderr);
    }
    let help = Process::run(&mut program(&["-h"]));
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("Examples:"));
}
