// The layout of the board of nuggets.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LARGEST, cellAt, isLow, layout } from '../js/games/nuggets/board.js';
import { rankOf } from '../js/lib/leaders.js';

test('frames the explored part of the map in the middle', () => {
  const bounds = { top: 10, left: 50, bottom: 18, right: 70 };
  const at = layout(/** @type {any} */ ({ rows: 40, columns: 100, bounds }), 1600, 900, { whole: false, zoom: 1, focus: { row: 12, column: 52 }, ratio: 1, covered: 60 });
  assert.equal(at.cell, LARGEST);
  const [left, right] = [bounds.left * at.cell - at.left, at.width - (bounds.right * at.cell - at.left)];
  assert.equal(left, right);
  // Figures cover the top.
  const [above, below] = [bounds.top * at.cell * 1.25 - at.top - 60, at.height - (bounds.bottom * at.cell * 1.25 - at.top)];
  assert.equal(above, below);
});

test('the lower half is that of the picture, not of the map', () => {
  const state = /** @type {any} */ ({ rows: 40, columns: 100 });
  const shown = (/** @type {number} */ row) => layout(state, 300, 400, { whole: false, zoom: 1, focus: { row, column: 50 }, ratio: 1 });
  // At the edges of the map the view does not move, so a player there is not in its centre.
  for (const [row, low] of /** @type {[number, boolean][]} */ ([[0, false], [39, true]])) {
    const at = shown(row);
    assert.equal(isLow(at, row), low, String(row));
    // One cell of margin remains beside the map.
    assert.equal(cellAt(at, 0, low ? at.height - 1 : 0).row, low ? row + 1 : row - 1);
  }
  assert.ok(!isLow(shown(0), cellAt(shown(0), 0, shown(0).height / 2 - 20).row));
});

test('ranks by score, unless all scores are equal', () => {
  const scores = { A: 5, B: 9, C: 5 };
  assert.deepEqual(['A', 'B', 'C', 'D'].map((seat) => rankOf(scores, seat)), [2, 1, 2, null]);
  assert.equal(rankOf({ A: 0, B: 0 }, 'A'), null);
});

test('a board that is lower than its figures has cells of positive size', () => {
  const at = layout(/** @type {any} */ ({ rows: 40, columns: 100, bounds: null }), 1600, 50, { whole: true, zoom: 1, focus: null, ratio: 1, covered: 60 });
  assert.ok(at.cell > 0, String(at.cell));
});
