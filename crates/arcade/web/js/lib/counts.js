// What matches count for, in words.

/** @typedef {import('../games/types.js').Standing} Standing */

/** Why a match is casual. @type {Record<string, string>} */
const WHY = {
  seed: 'its seed was chosen',
  options: 'its options were chosen',
  rules: 'it had other rules than its room',
  hints: 'the hub gave hints',
  unfinished: 'it was broken off',
  alone: 'nobody else played',
  pair: 'both names have met three times today from one address',
  unproven: 'the name is not proven',
  again: 'it was not the first attempt of the day',
  earlier: 'it is from before there were boards',
};

/**
 * A room or a match in a line: which board it counts for, or why it does not.
 * @param {{ class?: string, rated?: boolean, casual?: string }} what
 */
export function countsText({ class: board, rated, casual }) {
  if (rated) return `Rated (${board})`;
  return casual === undefined ? '' : `Casual: ${WHY[casual] ?? casual}`;
}

/**
 * What a player has on a board: a rating with its uncertainty, or a mean.
 * @param {Standing} standing
 */
export const standingText = ({ rating, uncertainty, mean }) =>
  rating === null ? `${(mean ?? 0).toFixed(2)} turns` : `${rating} ± ${uncertainty}`;
