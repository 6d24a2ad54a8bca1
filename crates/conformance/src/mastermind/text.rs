mod dialogue;
mod games;
mod rules;

use crate::{
    judge::{Judge, scene},
    launch::Launcher,
    rule::Rule,
    terminal::Terminal,
    tester::{Options, Tester},
};
use dialogue::Dialogue;
use rules::{RULES, SHOWN};

pub static TESTER: Tester = Tester {
    kind: "mastermind-text",
    is_server: false,
    usual: "",
    known: &[],
    needed: &[],
    rules: RULES,
    takes_part: &[&rules::ANSWERS, &rules::FEEDBACK, &rules::LOSS, &rules::WIN],
    play,
};

struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
    terminal: Terminal,
}

impl Subject<'_> {
    fn start(&self, judge: &mut Judge) -> anyhow::Result<Dialogue> {
        Dialogue::start(judge, self.launcher, self.options, self.terminal)
    }
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let mut subject = Subject { launcher, options: *options, terminal: Terminal::No };
    judge.play("the first turn", |judge| games::first_turn(judge, &subject))?;
    if judge.has_failed(&SHOWN) {
        if !launcher.chooses_terminal() {
            return Ok(());
        }
        // Output that stays in a buffer on a pipe is visible at a terminal, so the other rules can still be judged.
        subject.terminal = Terminal::Whole;
    }
    // ScenarioResult for any selection of rules: an error in a plain game must not be attributed to other scenarios.
    let mut scenes = vec![
        scene("a lost game", |judge| games::lost(judge, &subject, 4, false)),
        scene("a won game", |judge| games::won(judge, &subject)),
    ];
    scenes.extend(games::scenes(&subject));
    judge.side_by_side(scenes)?;
    if launcher.chooses_terminal() {
        let subject = Subject { terminal: Terminal::Whole, ..subject };
        let terminal: &'static Rule = &rules::TERMINAL;
        let scenes = vec![
            scene("a game at a terminal", |judge| {
                judge.under(terminal, |judge| games::lost(judge, &subject, 4, false))
            })
            .shows([terminal]),
        ];
        judge.side_by_side(scenes)?;
    } else {
        judge.leave_out([&rules::TERMINAL], "the option --terminal excludes this scenario");
    }
    Ok(())
}
