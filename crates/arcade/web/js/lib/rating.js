import { number, say, sayIfKnown } from './text.js';

/** @typedef {import('../games/types.js').Standing} Standing */

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
  if (rated) return [say('counts.rated'), classText(board)].filter(Boolean).join(': ');
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
