//! Test vectors for the page. The Rust tests of a game write them and compare them with the stored file.

use std::{env, fs, path::Path};

use serde_json::Value;

/// If `WRITE_VECTORS` is set, writes the file first.
#[track_caller]
pub(crate) fn check(game: &str, vectors: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../arcade/web/test/vectors/{game}.json"));
    let text = format!("{vectors:#}\n");
    if env::var_os("WRITE_VECTORS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "'{}' is not what the rules say; renew it with `WRITE_VECTORS=1 cargo test -p {game} --test rules page`, and have the tests of \
         the page agree with it",
        path.display()
    );
}

/// Numbers below the argument, the same in every run.
pub(crate) fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |end| {
        state = state * 48_271 % 2_147_483_647;
        usize::try_from(state).unwrap_or_default() % end
    }
}
