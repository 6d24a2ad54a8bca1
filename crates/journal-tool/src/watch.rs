//! `journal replay`: the terminal.

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use cmdkit::file_name;
use termkit::{Palette, Source, Stage, StageEvent};
use tokio::{runtime, select, time};

use crate::{
    args::ReplayArgs,
    film::{Film, head_of},
    games::{Game, for_game, unknown},
    panics, text,
    theatre::{Reaction, Theatre},
};

/// How long a piece of work is: keys are heard in between.
const PIECE: Duration = Duration::from_millis(12);
/// The same while it is wound.
const LONG_PIECE: Duration = Duration::from_millis(30);
/// The most time that passes for a match in one go: while the program was stopped none did.
const LONGEST: Duration = Duration::from_millis(250);
/// How often a match that goes on is looked at.
const TICK: Duration = Duration::from_millis(16);

/// Runs `journal replay`.
///
/// # Errors
/// When the journal cannot be read or replayed, or the terminal refuses.
pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let head = head_of(&args.file)?;
    for_game!(head, E => replay::<E>(args), Err(unknown(&head).context(file_name(&args.file))))
}

fn replay<E: Game>(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let film = Film::<E>::open(&args.file, args.seat.seat.as_deref())?;
    if args.text || !io::stdout().is_terminal() {
        text::print(&args.file, film)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !io::stdin().is_terminal() {
        bail!("standard input is not a terminal, so there are no keys; --text prints what everybody did");
    }
    let theatre = Theatre::new(film, Palette::from_environment(), args.speed);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let trouble = runtime.block_on(show(theatre))?;
    if let Some(trouble) = trouble {
        tell(&args.file, &trouble);
    }
    Ok(ExitCode::SUCCESS)
}

// What stood on a screen that is gone.
fn tell(path: &Path, trouble: &str) {
    // Whoever closed standard error does not want to know.
    let _ = writeln!(io::stderr(), "journal: {}: {trouble}", file_name(path));
}

async fn show<E: Game>(mut theatre: Theatre<E>) -> anyhow::Result<Option<String>> {
    let mut stage = Stage::enter(true, Source::Terminal).context("cannot take the terminal over")?;
    // In front of the screen's own, which gives the terminal back.
    panics::install();
    let mut last = Instant::now();
    loop {
        stage.draw(|frame| theatre.draw(frame.area(), frame.buffer_mut()));
        let pause = if theatre.is_busy() { Duration::ZERO } else { TICK };
        select! {
            biased;
            event = stage.next(true) => match event {
                StageEvent::Key(typed) => {
                    stage.change();
                    match theatre.key(typed) {
                        Reaction::Nothing => {}
                        Reaction::Leave => break,
                        Reaction::Redraw => stage.forget(),
                        Reaction::Suspend => {
                            stage.suspend();
                            last = Instant::now();
                        }
                    }
                }
                StageEvent::Leave | StageEvent::Gone(_) => break,
                StageEvent::Byte(_) | StageEvent::End | StageEvent::Frame | StageEvent::Mouse(_) => {}
            },
            () = time::sleep(pause), if theatre.is_moving() => {}
        }
        let now = Instant::now();
        let piece = if theatre.is_busy() { LONG_PIECE } else { PIECE };
        if theatre.elapse((now - last).min(LONGEST), now + piece) {
            stage.change();
        }
        last = now;
    }
    Ok(theatre.film().trouble().map(str::to_owned))
}
