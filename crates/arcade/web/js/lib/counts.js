// What matches count for, in words.

import { number, say, sayOr } from './text.js';

/** @typedef {import('../games/types.js').Standing} Standing */

/**
 * A class of the matches of a game; nothing for the usual one.
 * @param {string} name
 */
export function classText(name) {
  if (name === 'standard') return '';
  const [, pegs, repeats] = /^(\d+)(-repeats)?$/.exec(name) ?? [];
  if (pegs === undefined) return sayOr(`class.${name}`, name);
  return say(repeats ? 'class.pegs.repeats' : 'class.pegs', { count: Number(pegs) });
}

/**
 * A room or a match in a line: which board it counts for, or why it does not.
 * @param {{ class?: string, rated?: boolean, casual?: string }} what
 */
export function countsText({ class: board = '', rated, casual }) {
  if (rated) return [say('counts.rated'), classText(board)].filter(Boolean).join(': ');
  return casual === undefined ? '' : say('counts.casual', { why: sayOr(`counts.${casual}`, casual) });
}

/**
 * What a player has on a board: a rating with its uncertainty, or a mean.
 * @param {Standing} standing
 */
export const standingText = ({ rating, uncertainty, mean }) =>
  rating === null ? say('players.turns', { turns: number(mean ?? 0, 2) }) : say('players.uncertain', { rating, uncertainty: uncertainty ?? 0 });
