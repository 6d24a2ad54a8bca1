//! Runs the tests of `web/test/browser`, which open the page in a real browser.

use std::{path::Path, process::Command};

#[test]
#[ignore = "needs Node, Chromium, and `npm ci` in crates/arcade/web; .ci/run installs and runs them"]
fn the_page_works_in_a_real_browser() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    // Each case has its own time limit. `timeout` ends the run if Node does not exit.
    let status = Command::new("timeout")
        .args(["--kill-after=10", "1200", "npm", "run", "--silent", "browser"])
        .env("ARCADE_PROGRAM", env!("CARGO_BIN_EXE_arcade"))
        .current_dir(web)
        .status()
        .unwrap();
    assert!(status.success(), "the tests in the browser: {status}");
}
