// Who is in front.

/**
 * The seats with the highest score, unless all have the same.
 * @param {[string, number][]} scores
 */
export function highest(scores) {
  const most = Math.max(...scores.map(([, score]) => score));
  const first = scores.filter(([, score]) => score === most).map(([seat]) => seat);
  return first.length < scores.length ? first : [];
}
