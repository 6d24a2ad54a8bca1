// The most informative guess: possible codes before and after each row.

import { say } from '../../lib/text.js';
import { COLOURS } from './protocol.js';

/** @typedef {import('./fold.js').Board} Board */

/** Longer codes are not enumerated. */
const LONGEST = 5;
/**
 * @param {string} guess
 * @param {string} code
 */
export function feedback(guess, code) {
  const red = [...guess].filter((peg, place) => code[place] === peg).length;
  const common = [...'12345678'].reduce((sum, peg) => sum + Math.min(code.split(peg).length, guess.split(peg).length) - 1, 0);
  return { red, white: common - red };
}

/**
 * The row that ruled out the largest part of the possible codes, in a sentence.
 * @param {Board} board
 * @returns {string | null} Null if there is no such row, or if there are too many codes.
 */
export function mostInformativeRow({ rules: { length, repeats }, lines }) {
  const rows = lines.filter((line) => line.kind === 'row');
  // A lifeline's information is not in the rows.
  if (length > LONGEST || rows.length < 2 || rows.length < lines.length || rows.some(({ guess }) => guess.startsWith('*'))) return null;
  let codes = [''];
  for (let at = 0; at < length; at += 1) {
    codes = codes.flatMap((front) => Array.from({ length: COLOURS }, (_, colour) => String(colour + 1)).filter((peg) => repeats || !front.includes(peg)).map((peg) => front + peg));
  }
  /** @type {{ turn: number, before: number, after: number } | null} */
  let best = null;
  for (const { turn, guess, red, white } of rows) {
    const before = codes.length;
    codes = codes.filter((code) => {
      const given = feedback(guess, code);
      return given.red === red && given.white === white;
    });
    // The row with the code itself does not count.
    if (red < length && (best === null || codes.length * best.before < best.after * before)) best = { turn, before, after: codes.length };
  }
  return best && say('mastermind.telling', best);
}
