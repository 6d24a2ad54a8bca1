//! The options of an attack.

use clap::builder::PossibleValuesParser;
use cmdkit::whole_number;

use super::attacks;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How long the attacks last; before that the innocents are alone for a tenth of it
    #[arg(long, value_name = "MINUTES", default_value_t = 60.0, value_parser = minutes, allow_negative_numbers = true)]
    pub(crate) minutes: f64,

    /// Only this attack, may be repeated; `--list` has them
    #[arg(long, value_name = "NAME", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(attacks::ALL.map(|attack| attack.name)))]
    pub(crate) only: Vec<String>,

    /// Print the attacks and end
    #[arg(long)]
    pub(crate) list: bool,

    /// From how many hosts each attack comes: 127.0.0.10 and the following ones
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole_number(1..=100_u8, 10))]
    pub(crate) hosts: u8,

    /// What is drawn at random; the report says it
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

// A day at most, and not nothing.
fn minutes(typed: &str) -> Result<f64, String> {
    let minutes = typed.parse().ok().filter(|minutes: &f64| *minutes > 0.0 && *minutes <= 1_440.0);
    minutes.ok_or_else(|| "a number of minutes above 0 and up to 1440, as in 60 or 0.5".to_owned())
}
