/**
 * The seats with the highest score; none if all scores are equal.
 * @param {[string, number][]} scores
 */
export function highest(scores) {
  const most = Math.max(...scores.map(([, score]) => score));
  const first = scores.filter(([, score]) => score === most).map(([seat]) => seat);
  return first.length < scores.length ? first : [];
}

/**
 * The rank by score; null if the seat has no score, or if all scores are equal.
 * @param {Record<string, number>} scores
 * @param {string} seat
 */
export function rankOf(scores, seat) {
  const all = Object.values(scores);
  const own = scores[seat];
  return own === undefined || all.every((score) => score === own) ? null : all.filter((score) => score > own).length + 1;
}
