use testkit::{TempDir, process::Process};

use super::server;
use crate::programs::workspace;

#[test]
fn check_map_reports_breaches_by_row_and_column() {
    let place = TempDir::new();
    let ours = |name: &str| workspace().join("maps").join(name).display().to_string();
    let (main, brawl) = (ours("main.txt"), ours("brawl.txt"));
    let broken = place.file("broken.txt", "+--#\n|..|\n+--+\n");
    let foreign = place.file("foreign.txt", "..x\n");
    let empty = place.file("empty.txt", "");
    let cases: [(&[&str], i32, &[&str]); 6] = [
        (&[], 0, &["the built-in map: the map follows all rules\n"]),
        (&[&main], 0, &["travels in fragments on Ethernet", "the map follows all rules\n"]),
        (&[&brawl], 0, &["fits one Ethernet frame", "the map follows all rules\n"]),
        (
            &[&broken],
            1,
            &["2 room spots are too few", "row 1, column 4: a passage breaks a corner", "columns count from 1\n"],
        ),
        (&[&foreign], 1, &["row 1, column 3: 'x'", "columns count from 1\n"]),
        (&[&empty], 1, &["the map is empty"]),
    ];
    for (map, code, told) in cases {
        let finished = Process::run(server().arg("--check-map").args(map));
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(code), ""), "{map:?}");
        for told in told {
            assert!(finished.stdout.contains(told), "{map:?}: {}", finished.stdout);
        }
    }
    let missing = place.path().join("missing.txt");
    let finished = Process::run(server().arg("--check-map").arg(&missing));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "an error and no report");
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
}
