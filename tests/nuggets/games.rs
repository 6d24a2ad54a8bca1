use testkit::TempDir;

use super::{CORRIDOR, Server, run_to_both_ends};

#[test]
fn with_rematch_the_next_game_is_at_the_same_port() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("corridor.txt", CORRIDOR), "--rematch"]);
    let (ann, bob, watcher) = (server.peer(), server.peer(), server.peer());
    let over = |name: &str| format!("GAME OVER:\nA        250 {name}");
    for name in ["first", "second", "third"] {
        // Letters restart from A, and former players may play again.
        assert_eq!(ann.play(name).letter, 'A');
        watcher.spectate();
        assert_eq!(run_to_both_ends(&ann), format!("QUIT {}", over(name)));
        assert_eq!(watcher.expect("QUIT "), format!("QUIT {}", over(name)));
        // Discards replies to Ann's surplus keys, which arrived after her seat was freed.
        ann.pending();
    }
    assert_eq!(bob.play("Bob").letter, 'A');
    assert!(server.process.is_running());
    server.process.terminate();
    let port = server.port;
    let finished = server.process.wait().ended(0);
    let games = [over("first"), over("second"), over("third")].join("\n");
    assert_eq!(finished.stdout, format!("Ready to play, waiting at port {port}\n{games}\n"));
}

#[test]
fn largest_map_can_be_played_and_watched() {
    let map = crate::programs::workspace().join("maps/continent.txt");
    let server = Server::start(&[map.to_str().unwrap(), "1"]);
    let (ann, watcher) = (server.peer(), server.peer());
    let welcome = ann.play("Ann");
    assert_eq!(welcome.display.len(), welcome.size.0 * (welcome.size.1 + 1));
    assert!(welcome.display.len() + 8 > 60_000);
    let (_, _, display) = watcher.spectate();
    assert_eq!(display.matches('A').count(), 1);
    ann.request("KEY ?", "ERROR unknown keystroke");
}
