import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GAMES } from '../js/games/index.js';
import { vectors } from './support/vectors.js';

test('words scores as the hub does', () => {
  const all = vectors('scores');
  assert.deepEqual(Object.keys(all).sort(), Object.keys(GAMES).sort());
  for (const [game, scores] of Object.entries(all)) {
    for (const [score, words] of scores) assert.equal(GAMES[game].score(score), words, game);
  }
});
