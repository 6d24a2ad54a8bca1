use blackjack::{StateSpace, exact::Solver};
use testkit::process::Process;

use super::Dealer;

const ROUNDS: u32 = 10_000;

#[test]
fn the_best_tables_earn_over_the_wire_what_they_are_worth() {
    let solver = Solver::new();
    for (arguments, space) in
        [(&["--best", "--binary"][..], StateSpace::Soft), (&["--best", "--state", "coarse"], StateSpace::Coarse)]
    {
        let dealer = Dealer::start(&format!("{ROUNDS} --delay-ms 0 --seed 1 --quiet"));
        let played = Process::run(&mut dealer.player(arguments)).ended(0);
        assert!(played.stdout.starts_with(&format!("Ann: {ROUNDS} rounds, ")), "{}", played.stdout);
        let (_, reward) = played.stdout.split_once("mean reward ").unwrap();
        let mean = reward.split_whitespace().next().unwrap();
        let finished = dealer.process.wait().ended(0);
        assert!(finished.stdout.contains(mean), "both count the same: {}{}", played.stdout, finished.stdout);
        // Three standard errors; what is printed is rounded to four digits.
        let bound = 3.0 * 0.95 / f64::from(ROUNDS).sqrt() + 5e-5;
        let (mean, exact): (f64, f64) = (mean.parse().unwrap(), solver.value(&solver.best(space)));
        assert!((mean - exact).abs() <= bound, "{mean} is not within {bound} of {exact}");
    }
}
