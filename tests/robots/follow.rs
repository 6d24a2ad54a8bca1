use testkit::signpost::Signpost;

use super::scripted::{Gui, HELLO, LOBBY, STARTED, ScriptedServer, TURN_0, with_gui};

#[test]
fn a_client_follows_its_room_to_another_address() {
    let (signpost, gui) = (Signpost::new(), Gui::new());
    let (first, second) = (ScriptedServer::new(), ScriptedServer::new());
    let client = with_gui(&first.address(), &gui.address(), &["-n", "Ann", "--directory", &signpost.url()]);
    let mut connection = first.accept();
    connection.send(HELLO);
    gui.expect(LOBBY);
    // The connection is lost, and the directory does not locate the room, so the client retries the old address.
    drop(connection);
    let connection = first.accept();
    drop((connection, first));
    signpost.wait_for_request();
    signpost.respond("HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n");
    client.wait_stderr("a word about it", |text| text.contains("does not locate the room").then_some(()));
    signpost.set_location("robots", second.address().port());
    let mut connection = second.accept();
    connection.send(&[HELLO, STARTED, TURN_0].concat());
    gui.expect(LOBBY);
    assert_eq!(gui.game().turn, 0);
    let finished = client.stop();
    let said = format!("the directory locates the room at 127.0.0.1:{}", second.address().port());
    assert!(finished.stderr.contains(&said), "{}", finished.stderr);
}
