use testkit::TempDir;

use super::Dealer;
use crate::programs::program;

#[test]
fn a_signal_suspends_the_tables_of_a_dealer_with_a_journal() {
    let place = TempDir::new();
    let mut command = program("dealer");
    command.args("--bind 127.0.0.1 0 5 --delay-ms 0 --seed 17 --json --journal".split(' ')).arg(place.path());
    let dealer = Dealer::of(&mut command);
    let mut ann = dealer.text("Ann");
    ann.read_to_decision();
    ann.stand();
    // The first round counts, and the second is called off.
    assert!(ann.read_to_decision().starts_with("RESULT "));
    dealer.process.terminate();
    let port = dealer.port;
    let finished = dealer.process.wait().ended(0);
    assert!(!finished.stdout.contains("seats"), "{}", finished.stdout);
    assert!(finished.stderr.contains("continues the match"), "{}", finished.stderr);
    assert_eq!(ann.rest(), b"", "she is not told that it is over");

    let again = Dealer::of(program("dealer").arg("--resume").arg(place.path()));
    assert_eq!(again.port, port);
    let told = again.text("Ann").stand_to_the_end();
    assert_eq!(told.iter().filter(|text| text.starts_with("RESULT ")).count(), 4, "{told:?}");
    let finished = again.process.wait().ended(0);
    assert!(finished.stdout.contains("\"name\":\"Ann\",\"rounds\":5,"), "{}", finished.stdout);
}
