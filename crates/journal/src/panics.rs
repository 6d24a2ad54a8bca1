use std::{
    cell::{Cell, RefCell},
    panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind},
    sync::Once,
};

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static WORDS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the message and the location of a panic instead of printing them. State that `act` has changed must not be
/// used after a panic.
pub(crate) fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(install);
    let before = WATCHED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(act));
    WATCHED.set(before);
    done.map_err(|_| WORDS.take())
}

/// Called again after a screen has installed its own hook, which would restore the terminal at any panic.
pub(crate) fn install() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |panic| if WATCHED.get() { note(panic) } else { others(panic) }));
}

fn note(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let words = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let words = words.unwrap_or("it panics without a message");
    let place = panic.location().map(|place| format!(" (at {}:{})", place.file(), place.line())).unwrap_or_default();
    WORDS.set(format!("{}{place}", words.escape_debug()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_with_its_location() {
        let words = caught(|| panic!("no {}\n", "way")).unwrap_err();
        assert!(words.starts_with("no way\\n (at ") && words.contains("panics.rs:"), "{words}");
        assert_eq!(caught(|| 7), Ok(7));
    }
}
