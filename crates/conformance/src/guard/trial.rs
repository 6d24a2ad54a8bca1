//! Determines which guard modes this system allows.

use std::{ffi::OsStr, process::Stdio, sync::OnceLock};

use super::{
    mode::Mode,
    outside::Guard,
    words::{INSIDE, MYSELF, NOTHING},
};
use crate::limits::Limits;

/// The first mode that works on this system. It is determined once.
pub(crate) fn mode() -> Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    *MODE.get_or_init(|| Mode::ALL.into_iter().find(|mode| works(*mode)).unwrap_or(Mode::Plain))
}

fn works(mode: Mode) -> bool {
    let nothing = [INSIDE, NOTHING].map(str::to_owned);
    let mut command = Guard::command(OsStr::new(MYSELF), &nothing, &Limits::default(), mode, false);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Guard::start(&mut command).is_ok()
}
