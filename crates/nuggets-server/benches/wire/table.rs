use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Cost {
    /// Of the server, for each move.
    pub(crate) cpu: Duration,
    /// From sending a key until the last client has its DISPLAY, ascending.
    pub(crate) latencies: Vec<Duration>,
}

impl Cost {
    fn at(&self, percent: usize) -> Duration {
        self.latencies[(self.latencies.len() * percent / 100).min(self.latencies.len() - 1)]
    }
}

/// Prints the median over all rounds of each figure and of the ratios, and the range of the ratios. A row has the
/// server's cost, and that of the floor just before.
pub(crate) fn print(map: &str, [ours, floor]: [&str; 2], rows: &[[Cost; 2]]) {
    println!("{map:<14} {ours:>12} {floor:>12} {:>7}   rounds", "ratio");
    let percentile = |percent| move |cost: &Cost| cost.at(percent);
    line("CPU a move", rows, |cost| cost.cpu);
    line("p50", rows, percentile(50));
    line("p99", rows, percentile(99));
    line("max", rows, percentile(100));
}

fn line(name: &str, rows: &[[Cost; 2]], figure: impl Fn(&Cost) -> Duration) {
    let micros = |cost: &Cost| figure(cost).as_secs_f64() * 1e6;
    let mut ours: Vec<f64> = rows.iter().map(|[ours, _]| micros(ours)).collect();
    let mut floor: Vec<f64> = rows.iter().map(|[_, floor]| micros(floor)).collect();
    let mut ratios: Vec<f64> = ours.iter().zip(&floor).map(|(ours, floor)| ours / floor).collect();
    for figures in [&mut ours, &mut floor, &mut ratios] {
        figures.sort_by(f64::total_cmp);
    }
    let middle = rows.len() / 2;
    println!(
        "  {name:<12} {:>9.1} us {:>9.1} us {:>6.2}x   {:.2}x to {:.2}x",
        ours[middle],
        floor[middle],
        ratios[middle],
        ratios[0],
        ratios[ratios.len() - 1],
    );
}
