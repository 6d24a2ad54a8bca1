import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byBest, byLearned } from '../js/games/blackjack/advice.js';
import { cellInWords, scale, states } from '../js/games/blackjack/learner.js';
import { SUITS } from '../js/games/blackjack/protocol.js';

const hand = (/** @type {number[]} */ ...ranks) => ranks.map((rank) => ({ rank, suit: SUITS[0] }));

test('describes cells of the chart in words', () => {
  assert.equal(cellInWords('.', 'h', [null, null, 0]), 'not seen yet');
  assert.equal(cellInWords('H', 'h', [0.1, -0.25, 12]), 'hits. Hit +0.100, stand −0.250, seen 12 times');
  assert.match(cellInWords('s', 'h', [null, 1, 3]), /^stands, hitting is best. Hit not tried/);
});

test('the curve stays within its picture', () => {
  const { x, y } = scale([[0, -0.4], [5, -0.05], [1e6, -0.043]], -0.0428);
  assert.equal(x(0), 0);
  assert.equal(x(1e6), 1);
  assert.equal(y(-0.4), 0);
  assert.ok(y(-0.0428) > 0.9 && y(-0.0428) < 1);
});

test('advice follows the table', () => {
  const best = byBest({
    states: [
      { total: 18, soft: true, upcard: 11, hit: -0.1, stand: -0.18, best: 'hit' },
      { total: 18, soft: false, upcard: 10, hit: -0.6, stand: -0.2, best: 'stand' },
    ],
  });
  assert.deepEqual(best(hand(1, 7), hand(1)[0]), { action: 'hit', hit: -0.1, stand: -0.18 });
  assert.equal(best(hand(10, 8), hand(13)[0])?.action, 'stand');
  assert.equal(best(hand(2, 2), hand(5)[0]), null);
});

test('stores a learned table as text, and rejects invalid ones', () => {
  const cells = states('coarse').map(({ total, upcard }) => (total === 16 && upcard === 10 ? 'h' : total < 5 ? '.' : 's')).join('');
  const learned = byLearned(JSON.stringify({ space: 'coarse', cells, rounds: 7 }));
  assert.ok(learned);
  assert.equal(learned.rounds, 7);
  assert.equal(learned.adviser(hand(10, 6), hand(12)[0])?.action, 'hit');
  assert.equal(learned.adviser(hand(1, 6), hand(12)[0])?.action, 'stand');
  assert.equal(learned.adviser(hand(2, 2), hand(12)[0]), null, 'it has never met this hand');
  for (const text of [null, '', '{', '7', '{"space":"soft","cells":"hs","rounds":1}', '{"space":"x","cells":"","rounds":1}']) {
    assert.equal(byLearned(text), null, String(text));
  }
});
