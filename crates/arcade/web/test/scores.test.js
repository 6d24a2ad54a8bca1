import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GAMES } from '../js/games/index.js';
import { champion, extend, wins } from '../js/lib/series.js';
import { betterThan, dailyRecord, distribution, streakOf } from '../js/lib/daily.js';
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

test('counts the days in a row with an attempt, up to yesterday while that of today is open', () => {
  const days = ['2026-02-26', '2026-02-28', '2026-03-01'];
  const streak = (/** @type {string} */ now) => streakOf((date) => (days.includes(date) ? true : null), new Date(`${now}T23:59:00Z`));
  assert.deepEqual(['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'].map(streak), [1, 2, 2, 0]);
});

test('groups scores into at most ten ranges, with that of the player', () => {
  assert.deepEqual(distribution([], null), []);
  assert.deepEqual(distribution([[7, 2]], 7), [{ from: 7, to: 7, count: 2, own: true }]);
  const few = distribution([[-2, 1], [1, 3]], null);
  assert.deepEqual(few.map(({ from, to, count, own }) => [from, to, count, own]), [[-2, -2, 1, false], [-1, -1, 0, false], [0, 0, 0, false], [1, 1, 3, false]]);
  for (const most of [9, 10, 11, 100, 250]) {
    const scores = /** @type {[number, number][]} */ (Array.from({ length: most + 1 }, (_, score) => [score, 1]));
    const bars = distribution(scores, most);
    assert.ok(bars.length <= 10 && bars[0].from === 0 && bars[bars.length - 1].to === most, `${most}`);
    assert.equal(bars.reduce((sum, { count }) => sum + count, 0), most + 1);
    assert.deepEqual(bars.flatMap(({ own }, index) => (own ? [index] : [])), [bars.length - 1]);
    for (const [index, { from }] of bars.entries()) assert.equal(from, index === 0 ? 0 : bars[index - 1].to + 1);
  }
});

test('compares a score with those of the other players', () => {
  assert.equal(betterThan([[80, 1]], 80), null);
  assert.equal(betterThan([[10, 1], [80, 2], [90, 1]], 80), 33);
  assert.equal(betterThan([[10, 3], [80, 1]], 80), 100);
});

test('a best of three counts wins of the same people until one has two', () => {
  const rows = (/** @type {[string, number, boolean?][]} */ ...all) => all.map(([name, rank, bot = false], seat) => ({ name, rank, bot, seat: String(seat), score: 0 }));
  let series = extend([], 'a', rows(['Ann', 1], ['Bob', 2], ['Bot Alan', 3, true]));
  assert.deepEqual(wins(series), [['Ann', 1], ['Bob', 0]]);
  // The same match again, a tie, and a bot that wins.
  series = extend(series, 'a', rows(['Ann', 1], ['Bob', 2], ['Bot Alan', 3, true]));
  series = extend(series, 'b', rows(['Ann', 1], ['Bob', 1], ['Bot Ada', 3, true]));
  series = extend(series, 'c', rows(['Ann', 2], ['Bob', 2], ['Bot Ada', 1, true]));
  assert.deepEqual([wins(series), champion(series)], [[['Ann', 1], ['Bot Ada', 1], ['Bob', 0]], null]);
  series = extend(series, 'd', rows(['Ann', 1], ['Bob', 2]));
  assert.equal(champion(series), 'Ann');
  assert.deepEqual(wins(extend(series, 'e', rows(['Ann', 2], ['Bob', 1]))), [['Bob', 1], ['Ann', 0]]);
  assert.deepEqual(wins(extend(series.slice(0, 1), 'f', rows(['Ann', 1], ['Cid', 2]))), [['Ann', 1], ['Cid', 0]]);
});
