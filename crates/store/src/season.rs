//! A season is a quarter of the calendar in UTC, such as `2026-4`.

const DAY: u64 = 86_400_000;
/// Days in 400 years of the Gregorian calendar.
const ERA: u64 = 146_097;

/// The season of boards that count matches of all time.
pub const ALL_TIME: &str = "";

pub const fn day_of(unix_millis: u64) -> u64 {
    unix_millis / DAY
}

/// The season of a time in milliseconds since the Unix epoch.
///
/// ```
/// assert_eq!(store::season_of(1_798_761_599_999), "2026-4");
/// assert_eq!(store::season_of(1_798_761_600_000), "2027-1");
/// ```
pub fn season_of(unix_millis: u64) -> String {
    // Years start in March here, so that the leap day is the last day of a year. 1 March of the year 0 is day 0.
    let days = day_of(unix_millis) + 719_468;
    let day_of_era = days % ERA;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March, every five months have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = days / ERA * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{}", (month - 1) / 3 + 1)
}

pub fn is_season(text: &str) -> bool {
    text.split_once('-').is_some_and(|(year, quarter)| {
        year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()) && matches!(quarter, "1" | "2" | "3" | "4")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn season_is_a_quarter_of_the_calendar() {
        for (seconds, season) in [
            (0, "1970-1"),
            (951_782_399, "2000-1"),
            (951_868_799, "2000-1"),
            (954_547_199, "2000-1"),
            (954_547_200, "2000-2"),
            (1_751_327_999, "2025-2"),
            (1_751_328_000, "2025-3"),
            (1_790_812_800, "2026-4"),
            (4_102_444_799, "2099-4"),
        ] {
            assert_eq!(season_of(seconds * 1_000), season, "{seconds}");
        }
        assert!(is_season("2026-4") && !is_season("2026-5") && !is_season("26-1") && !is_season(""));
    }
}
