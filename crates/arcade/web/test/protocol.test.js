import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as robots from '../js/protocol/robots.js';

const bytes = (/** @type {string} */ hex) => Uint8Array.from(hex.split(' '), (pair) => parseInt(pair, 16));

test('the worked examples of robots', () => {
  assert.deepEqual(robots.join('Żółć!'), bytes('00 09 c5 bb c3 b3 c5 82 c4 87 21'));
  assert.deepEqual(robots.move('down'), bytes('03 02'));
  assert.deepEqual(robots.placeBlock(), bytes('02'));
  const turn = '03 00 02 00 00 00 02 01 00 00 01 02 00 00 00 02 00 02 00 00 00 01 00 01 00 00 03 00 06 00 06';
  assert.deepEqual(robots.decode(bytes(turn)), {
    kind: 'turn',
    turn: 2,
    events: [
      { kind: 'bombExploded', id: 258, robots: [0, 2], blocks: [{ x: 1, y: 0 }] },
      { kind: 'blockPlaced', position: { x: 6, y: 6 } },
    ],
  });
});

test('what is no message of robots is refused, and no number in it reserves memory', () => {
  for (const hex of ['05', '03 00 02 ff ff ff ff', '04 00 00 00 01 00 00 00', '00 01 ff 00 00 00 00 00 00 00 00 00 00 00', '02 00 00 00 00 00']) {
    assert.equal(robots.decode(bytes(hex)), null, hex);
  }
});
