import { number, say } from '../../lib/text.js';

/**
 * @typedef {'coarse' | 'soft'} Space
 * @typedef {{ space: Space, running: boolean, rounds: number, mean: number, speed: number, pace: number | null, value: number, optimum: number,
 *   differs: number, cells: string, best: string, means: [number | null, number | null, number][], curve: [number, number][] }} Report
 * @typedef {{ total: number, soft: boolean, upcard: number }} State
 */

/**
 * In the order of a report: by total, hard before soft, then by upcard.
 * @param {Space} space
 * @returns {State[]}
 */
export function states(space) {
  const all = [];
  for (let total = 4; total <= 21; total += 1) {
    for (const soft of [false, true]) {
      if (soft && (space === 'coarse' || total < 12)) continue;
      for (let upcard = 2; upcard <= 11; upcard += 1) all.push({ total, soft, upcard });
    }
  }
  return all;
}

/** @param {number} upcard 11 is the ace. */
export const upcardName = (upcard) => (upcard === 11 ? 'A' : String(upcard));

/**
 * @param {string} cell
 * @param {string} best
 * @param {[number | null, number | null, number]} means
 */
export function cellInWords(cell, best, [hit, stand, visits]) {
  if (cell === '.') return say('learn.cell.unmet');
  const does = cell.toLowerCase() === 'h' ? 'hits' : 'stands';
  const worth = (/** @type {number | null} */ mean) => (mean === null ? say('learn.cell.untried') : signed(mean, 3));
  const values = { hit: worth(hit), stand: worth(stand), visits };
  return cell.toLowerCase() === best ? say(`learn.cell.${does}`, values) : say(`learn.cell.${does}.differs`, values);
}

/** @param {number} value @param {number} digits */
export const signed = (value, digits) => `${value < 0 ? '−' : '+'}${number(Math.abs(value), digits)}`;

/**
 * Rounds are logarithmic, and both axes range from 0 to 1.
 * @param {[number, number][]} curve
 * @param {number} optimum
 */
export function scale(curve, optimum) {
  const most = Math.max(10, ...curve.map(([rounds]) => rounds));
  const low = Math.min(-0.12, ...curve.map(([, value]) => value));
  const high = optimum + (optimum - low) * 0.08;
  const x = (/** @type {number} */ rounds) => Math.log1p(rounds) / Math.log1p(most);
  const y = (/** @type {number} */ value) => (value - low) / (high - low);
  return { most, low, high, x, y };
}
