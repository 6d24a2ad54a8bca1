import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GAMES } from '../js/games/index.js';
import { dailyRecord } from '../js/page/daily.js';
import { vectors } from './support/vectors.js';

test('words scores as the hub does', () => {
  const all = vectors('scores');
  assert.deepEqual(Object.keys(all).sort(), Object.keys(GAMES).sort());
  for (const [game, scores] of Object.entries(all)) {
    for (const [score, words] of scores) assert.equal(GAMES[game].score(score), words, game);
  }
});

test('counts the days in a row with a solved daily puzzle, and the guesses', () => {
  /** @param {Record<string, string>} days @param {string} now */
  const record = (days, now) => dailyRecord((date) => days[date] ?? null, new Date(`${now}T10:00:00Z`));
  const days = { '2026-03-01': '7 won 4', '2026-02-28': '3 won 5', '2026-02-27': '9 lost 10', '2026-02-26': '1 won 5' };
  assert.deepEqual(record(days, '2026-03-01'), { streak: 2, turns: [0, 0, 0, 1, 2, 0, 0, 0, 0, 0], isSolved: true });
  // Today's game is still open, or not begun.
  assert.equal(record({ ...days, '2026-03-02': '4' }, '2026-03-02').streak, 2);
  assert.equal(record(days, '2026-03-02').streak, 2);
  assert.equal(record({ ...days, '2026-03-02': '4 lost 10' }, '2026-03-02').streak, 0);
  assert.equal(record(days, '2026-03-03').streak, 0);
});
