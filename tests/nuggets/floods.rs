use testkit::peer::Peer;

use super::{Server, other_host};

fn flood(sender: &Peer, message: &[u8], times: usize) -> u64 {
    let mut answers = 0;
    for sent in 1..=times {
        sender.send(message);
        // Drains the socket regularly, so that the replies fit its buffer.
        if sent % 64 == 0 || sent == times {
            answers += sender.pending().len() as u64;
        }
    }
    answers
}

#[test]
fn flood_from_one_host_does_not_block_other_hosts() {
    let Some(elsewhere) = other_host(2) else { return };
    let server = Server::start(&[]);
    let ann = server.peer();
    ann.play("Ann");
    let flooder = Peer::at(elsewhere, server.v4());
    let mut sent = 0;
    let mut newcomers = 0;
    while sent < 50_000 {
        for message in [&b"PLAY "[..], b"SPECTATEX", b"KEY Q", b"\xff\xfe"] {
            flood(&flooder, message, 250);
            sent += 250;
        }
        ann.request("KEY ?", "ERROR unknown keystroke");
        if newcomers < 5 {
            server.peer().request("PLAY Newcomer", "OK ");
            newcomers += 1;
        }
    }
    server.process.wait_stderr("what is dropped is logged", |log| log.contains("dropped a datagram").then_some(()));
    assert!(server.process.is_running());
}
