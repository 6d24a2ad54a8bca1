//! The match that a projector shows, as a pure function of the running matches.

/// A running match of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) room: String,
    pub(crate) people: u32,
    /// The scores, if the hub knows them.
    pub(crate) scores: Vec<i64>,
    /// Of the better player in the table of the tournament, from 0.
    pub(crate) place: Option<usize>,
}

/// How much better another match has to be before the projector leaves the present one.
const STAY: u32 = 8;
/// The players of a tournament whose matches precede those of the others.
const TOP: usize = 4;

fn interest(running: &Running) -> u32 {
    let Running { people, scores, place, .. } = running;
    let leading = place.and_then(|place| TOP.checked_sub(place)).map_or(0, |above| u32::try_from(above).unwrap_or(0));
    4 * people.min(&8) + closeness(scores) + 3 * leading
}

// From 0 to 10 for the distance between the first two.
fn closeness(scores: &[i64]) -> u32 {
    let mut scores: Vec<i64> = scores.to_vec();
    scores.sort_unstable_by(|one, other| other.cmp(one));
    let [first, second, ..] = scores[..] else { return 0 };
    let most = first.unsigned_abs().max(second.unsigned_abs());
    let gap = first.abs_diff(second);
    let share = (10 * gap).checked_div(most).map(|share| share.min(10));
    share.map_or(5, |share| u32::try_from(10 - share).unwrap_or(0))
}

/// The room of the most interesting match: with many people, a close score, and leaders of the tournament. The present
/// one stays unless another one is clearly better.
pub(crate) fn choose(running: &[Running], present: Option<&str>) -> Option<String> {
    let value = |one: &Running| interest(one) + if present == Some(&*one.room) { STAY } else { 0 };
    let best = running.iter().max_by_key(|one| (value(one), std::cmp::Reverse(&one.room)));
    best.map(|best| best.room.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(room: &str, people: u32, scores: &[i64], place: Option<usize>) -> Running {
        Running { room: room.into(), people, scores: scores.to_vec(), place }
    }

    #[test]
    fn close_matches_of_many_people_and_leaders_come_first() {
        let few = running("robots-1", 2, &[3, 3], None);
        let many = running("robots-2", 4, &[], None);
        let close = running("robots-3", 2, &[9, 10], None);
        let clear = running("robots-4", 2, &[1, 10], None);
        let leaders = running("robots-5", 2, &[1, 10], Some(0));
        let best = |all: &[&Running]| choose(&all.iter().map(|one| (*one).clone()).collect::<Vec<_>>(), None).unwrap();
        assert_eq!(best(&[&clear, &close]), "robots-3");
        assert_eq!(best(&[&clear, &many]), "robots-2");
        assert_eq!(best(&[&close, &clear, &leaders]), "robots-5");
        assert_eq!(best(&[&few, &clear]), "robots-1");
        assert_eq!(choose(&[], Some("robots-1")), None);
    }

    #[test]
    fn projector_stays_unless_another_match_is_clearly_better() {
        let all = [
            running("robots-1", 2, &[5, 8], None),
            running("robots-2", 2, &[8, 8], None),
            running("robots-3", 6, &[], None),
        ];
        assert_eq!(choose(&all[..2], Some("robots-1")).as_deref(), Some("robots-1"));
        assert_eq!(choose(&all, Some("robots-1")).as_deref(), Some("robots-3"));
        assert_eq!(choose(&all[1..], Some("robots-1")).as_deref(), Some("robots-3"), "it has ended");
    }
}
