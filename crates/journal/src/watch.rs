use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use cmdkit::file_name;
use termkit::{Palette, Source, Stage, StageEvent};
use tokio::{runtime, select, time};

use crate::{
    actions::Action,
    args::ReplayArgs,
    files::head_of,
    games::{Game, for_game, unknown},
    panics,
    playback::Playback,
    screen::{Reaction, ReplayScreen},
};

/// A piece of work; keys are read in between.
const PIECE: Duration = Duration::from_millis(12);
/// The same while the replay moves to a position.
const LONG_PIECE: Duration = Duration::from_millis(30);
/// Limits one step of the match, in case the program was stopped.
const LONGEST: Duration = Duration::from_millis(250);
/// The interval between updates while the match is playing.
const TICK: Duration = Duration::from_millis(16);

pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let head = head_of(&args.file)?;
    for_game!(head, E => replay::<E>(args), Err(unknown(&head).context(file_name(&args.file))))
}

fn replay<E: Game>(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let playback = Playback::<E>::open(&args.file, args.seat.seat.as_deref())?;
    if args.text || !io::stdout().is_terminal() {
        print_lines(&args.file, playback)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !io::stdin().is_terminal() {
        bail!("standard input is not a terminal, so no keys can be read; --text prints all actions");
    }
    let screen = ReplayScreen::new(playback, Palette::from_environment(), args.speed);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let trouble = runtime.block_on(show(screen))?;
    if let Some(trouble) = trouble {
        print_trouble(&args.file, &trouble);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_lines<E: Game>(path: &Path, mut playback: Playback<E>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut wrote = Ok(());
    let mut report = |action: &Action| {
        if let Some(words) = action.words::<E>()
            && wrote.is_ok()
        {
            wrote = writeln!(out, "{words}");
        }
    };
    while playback.forward_and(&mut report) {}
    wrote?;
    out.flush()?;
    match playback.trouble() {
        Some(trouble) => bail!("{}: {trouble}", file_name(path)),
        None => Ok(()),
    }
}

// Called after the screen is closed.
fn print_trouble(path: &Path, trouble: &str) {
    // If standard error is closed, the message is lost.
    let _ = writeln!(io::stderr(), "journal: {}: {trouble}", file_name(path));
}

async fn show<E: Game>(mut screen: ReplayScreen<E>) -> anyhow::Result<Option<String>> {
    let mut stage = Stage::enter(true, Source::Terminal).context("cannot set up the terminal")?;
    // Must follow the hook of the screen, which restores the terminal.
    panics::install();
    let mut last = Instant::now();
    loop {
        stage.draw(|frame| screen.draw(frame.area(), frame.buffer_mut()));
        let pause = if screen.is_busy() { Duration::ZERO } else { TICK };
        select! {
            biased;
            event = stage.next(true) => match event {
                StageEvent::Key(typed) => {
                    stage.change();
                    match screen.key(typed) {
                        Reaction::Nothing => {}
                        Reaction::Leave => break,
                        Reaction::Redraw => stage.invalidate(),
                        Reaction::Suspend => {
                            stage.suspend();
                            last = Instant::now();
                        }
                    }
                }
                StageEvent::Leave | StageEvent::Gone(_) => break,
                StageEvent::Byte(_) | StageEvent::End | StageEvent::Frame | StageEvent::Mouse(_) => {}
            },
            () = time::sleep(pause), if screen.is_moving() => {}
        }
        let now = Instant::now();
        let piece = if screen.is_busy() { LONG_PIECE } else { PIECE };
        if screen.elapse((now - last).min(LONGEST), now + piece) {
            stage.change();
        }
        last = now;
    }
    Ok(screen.playback().trouble().map(str::to_owned))
}
