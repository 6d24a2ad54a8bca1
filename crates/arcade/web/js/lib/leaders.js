// The leaders of a match.

/**
 * The seats with the highest score; none if all scores are equal.
 * @param {[string, number][]} scores
 */
export function highest(scores) {
  const most = Math.max(...scores.map(([, score]) => score));
  const first = scores.filter(([, score]) => score === most).map(([seat]) => seat);
  return first.length < scores.length ? first : [];
}
