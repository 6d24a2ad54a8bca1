import assert from 'node:assert/strict';
import { test } from 'node:test';

import { visible } from '../js/games/nuggets/sight.js';
import { random } from './support/random.js';

/**
 * The rule as specified, one cell at a time.
 * @param {string[]} map
 * @param {number} pr
 * @param {number} pc
 * @param {number} r
 * @param {number} c
 */
function isVisible(map, pr, pc, r, c) {
  const open = (/** @type {number} */ row, /** @type {number} */ column) => map[row][column] === '.';
  for (const step of between(pr, r)) {
    const whole = (c - pc) * (step - pr);
    const at = pc + Math.floor(whole / (r - pr));
    const exact = whole % (r - pr) === 0;
    if (exact ? !open(step, at) : !open(step, at) && !open(step, at + 1)) return false;
  }
  for (const step of between(pc, c)) {
    const whole = (r - pr) * (step - pc);
    const at = pr + Math.floor(whole / (c - pc));
    const exact = whole % (c - pc) === 0;
    if (exact ? !open(at, step) : !open(at, step) && !open(at + 1, step)) return false;
  }
  return true;
}

/**
 * @param {number} from
 * @param {number} to
 */
function between(from, to) {
  const steps = [];
  for (let step = Math.min(from, to) + 1; step < Math.max(from, to); step += 1) steps.push(step);
  return steps;
}

test('sight follows the rule on random maps, from every cell', () => {
  const next = random(7);
  for (let round = 0; round < 60; round += 1) {
    const [rows, columns] = [1 + next(9), 1 + next(14)];
    const density = 1 + next(6);
    const map = Array.from({ length: rows }, () =>
      Array.from({ length: columns }, () => (next(10) < density ? '#' : '.')).join(''),
    );
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const seen = visible(rows, columns, (r, c) => map[r][c] === '.', row, column);
        for (let r = 0; r < rows; r += 1) {
          for (let c = 0; c < columns; c += 1) {
            const expected = (r === row && c === column) || isVisible(map, row, column, r, c);
            assert.equal(seen[r * columns + c] === 1, expected, `${map.join('\n')}\nfrom ${row},${column} to ${r},${c}`);
          }
        }
      }
    }
  }
});
