import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rowsOf } from '../js/games/nuggets/picture.js';
import { boardOf } from '../js/games/robots/picture.js';
import { mergeLobby, mergePicture } from '../js/lib/live.js';

const room = (/** @type {string} */ id, taken = 0) =>
  /** @type {import('../js/games/types.js').Room} */ ({ id, game: 'nuggets', title: '', phase: 'lobby', taken, seats: 26, port: 1, players: [] });

test('applies snapshots and changes to a lobby', () => {
  const look = { game: null, text: '', from: 0, count: 60 };
  const snapshot = { look, total: 2, ids: ['a', 'b'], rooms: [room('b'), room('a')], recent: [], leaders: {} };
  const whole = mergeLobby({ rooms: [room('gone')] }, snapshot);
  assert.deepEqual(whole.rooms.map(({ id }) => id), ['a', 'b'], 'in the order of the hub');
  const changed = mergeLobby(whole, { rooms: [room('b', 3)] });
  assert.deepEqual(changed.rooms.map(({ taken }) => taken), [0, 3]);
  assert.equal(changed.recent, whole.recent, 'unchanged parts keep their identity, so that they are not redrawn');
  const moved = mergeLobby(changed, { total: 9, ids: ['c', 'b'], rooms: [room('c')] });
  assert.deepEqual([moved.total, moved.rooms.map(({ id }) => id)], [9, ['c', 'b']]);
  const unsure = mergeLobby(moved, { unsure: true });
  assert.deepEqual([moved.unsure, unsure.unsure, mergeLobby(unsure, { total: 9 }).unsure], [false, true, true]);
  assert.equal(mergeLobby(unsure, { ...snapshot }).unsure, false, 'a snapshot without the field is up to date');
  const other = mergeLobby(moved, { ...snapshot, total: 0, ids: [], rooms: [] });
  assert.deepEqual(other.rooms, []);
});

test('applies snapshots and changes to a picture', () => {
  const first = mergePicture(undefined, { whole: { size: [2, 3], 0: '+-+', 1: '|A|' } });
  const second = mergePicture(first, { change: { 0: null, 1: '|.A' } });
  assert.deepEqual(second, { size: [2, 3], 1: '|.A' });
  assert.deepEqual(rowsOf(second), ['   ', '|.A'], 'blanks at the end of a row are not sent');
  assert.deepEqual(mergePicture(second, { whole: {} }), {});
});

test('parses a board of robots', () => {
  assert.equal(boardOf({ size: [5, 4], there: [1, 2] }), null);
  const board = boardOf({ size: [5, 4], there: [2, 2], robots: '0:0,0 7:4,3', bombs: '1,1:2 1,1:3', blocks: '2,2', blasts: '' });
  assert.ok(board);
  assert.deepEqual([...board.positions], [[0, { x: 0, y: 0 }], [7, { x: 4, y: 3 }]]);
  assert.deepEqual([...board.bombs.values()], [{ position: { x: 1, y: 1 }, timer: 2, owner: null }, { position: { x: 1, y: 1 }, timer: 3, owner: null }]);
  assert.deepEqual([[...board.blocks.keys()], board.blasts.size], [['2,2'], 0]);
});
