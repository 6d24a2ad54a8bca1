import { number, say, sayIfKnown } from './text.js';

/** @typedef {import('../games/types.js').Standing} Standing */
/** A class of a player's record, as the hub sends it. @typedef {{ provisional: boolean, matches: number, history: [time: string, rating: number][] }} RatingHistory */

/**
 * Empty for the standard class.
 * @param {string} name
 */
export function classText(name) {
  if (name === 'standard') return '';
  const [, pegs, repeats] = /^(\d+)(-repeats)?$/.exec(name) ?? [];
  if (pegs === undefined) return sayIfKnown(`rating.${name}`, name);
  return say(repeats ? 'rating.pegs.repeats' : 'rating.pegs', { count: Number(pegs) });
}

/**
 * The class, or the reason why it is casual.
 * @param {{ class?: string, rated?: boolean, casual?: string }} what
 */
export function ratedText({ class: board = '', rated, casual }) {
  if (rated && casual === undefined) return [say('counts.rated'), classText(board)].filter(Boolean).join(': ');
  return casual === undefined ? '' : say('counts.casual', { why: sayIfKnown(`counts.${casual}`, casual) });
}

/** Rated matches until a player has a rating and a rank. */
export const PLACEMENT = 10;

/** @param {number} match */
export const placementText = (match) => say('result.placement', { match, matches: PLACEMENT });

/**
 * A rating with its uncertainty, an average, or the number of placement matches.
 * @param {Standing} standing
 */
export const standingText = ({ rating, uncertainty, mean, provisional, matches }) =>
  provisional && rating !== null ? placementText(matches) : rating === null ? say('players.turns', { turns: number(mean ?? 0, 2) }) : say('players.uncertain', { rating, uncertainty: uncertainty ?? 0 });

/**
 * The rating after the last match and its change, or the number of placement matches.
 * @param {RatingHistory} record
 */
export function ratingAfter({ provisional, matches, history }) {
  if (provisional) return placementText(matches);
  const [before, rating] = [history[history.length - 2]?.[1], history[history.length - 1][1]];
  if (before === undefined || matches === PLACEMENT) return say('result.rating', { rating });
  if (rating === before) return say('result.rating.same', { rating });
  const change = (rating > before ? '+' : '−') + number(Math.abs(rating - before));
  return say(rating > before ? 'result.rating.up' : 'result.rating.down', { rating, change });
}
