// The layout of the board of nuggets.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cellAt, isLow, layout } from '../js/games/nuggets/board.js';

test('the lower half is that of the picture, not of the map', () => {
  const state = /** @type {any} */ ({ rows: 40, columns: 100 });
  const shown = (/** @type {number} */ row) => layout(state, 300, 400, { whole: false, zoom: 1, focus: { row, column: 50 }, ratio: 1 });
  // At the edges of the map the picture does not move, so a player there is not in its centre.
  for (const [row, low] of /** @type {[number, boolean][]} */ ([[0, false], [39, true]])) {
    const at = shown(row);
    assert.equal(isLow(at, row), low, String(row));
    assert.equal(cellAt(at, 0, low ? at.height - 1 : 0).row, row);
  }
  assert.ok(!isLow(shown(0), cellAt(shown(0), 0, shown(0).height / 2 - 20).row));
});
