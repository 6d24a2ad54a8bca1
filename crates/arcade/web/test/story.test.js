import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byBest, costliest } from '../js/games/blackjack/advice.js';
import { mostInformativeRow } from '../js/games/mastermind/information.js';
import { story as blackjack } from '../js/games/blackjack/story.js';
import { story as mastermind } from '../js/games/mastermind/story.js';
import { story as nuggets } from '../js/games/nuggets/story.js';
import { story as robots } from '../js/games/robots/story.js';

const none = () => Promise.resolve([]);
/** @param {number} rank @param {string} name @param {string} seat @param {number} score */
const row = (rank, name, seat, score) => ({ rank, name, seat, score });

test('nuggets: the biggest find, the last pile, and swaps', () => {
  const gold = (/** @type {number} */ at, /** @type {string} */ name, /** @type {number} */ count) => ({ at, kind: 'gold', text: '', name, count });
  const marks = [gold(1, 'Ann', 7), gold(2, 'Bob: the second', 31), { at: 3, kind: 'swap', text: 'Ann and Bob swap places' }, gold(4, 'Ann', 1)];
  assert.deepEqual(nuggets(marks, [], none), [
    { at: 2, text: 'Biggest find: Bob: the second, 31 nuggets.' },
    { at: 4, text: 'Ann took the last pile.' },
    { at: 3, text: 'Ann and Bob swap places.' },
  ]);
  assert.deepEqual(nuggets([], [], none), []);
});

test('robots: the first, the deadliest turn and the last', () => {
  const death = (/** @type {number} */ at, /** @type {string} */ name) => ({ at, kind: 'death', text: '', name });
  assert.deepEqual(robots([death(1, 'Ann'), death(5, 'Bob'), death(5, 'Ann'), death(9, 'Eve')], [], none), [
    { at: 1, text: 'First hit: Ann.' },
    { at: 5, text: 'Deadliest turn: Bob and Ann.' },
    { at: 9, text: 'Last hit: Eve.' },
  ]);
  assert.deepEqual(robots([], [], none), [{ at: 0, text: 'No robot was hit.' }]);
});

test('mastermind: the find that wins the race, and an earlier one with more turns', async () => {
  const over = (/** @type {number} */ at, /** @type {string} */ text) => ({ at, kind: 'over', text });
  const marks = [{ at: 1, kind: 'guess', text: 'Ann: won' }, over(4, 'Bob: the second: won'), over(6, 'Ann: won'), over(9, 'Eve: resigned')];
  const rows = [row(1, 'Ann', '2', 5), row(2, 'Bob: the second', '1', 7), row(3, 'Eve', '3', 11)];
  assert.deepEqual(await mastermind(marks, rows, none), [
    { at: 6, text: 'Ann found the code in 5 turns.' },
    { at: 4, text: 'Bob: the second found it first, but took 7 turns.' },
  ]);
  assert.deepEqual(await mastermind(marks.slice(0, 2), [rows[1], row(2, 'Ann', '2', 11)], none), [{ at: 4, text: 'Bob: the second found the code in 7 turns.' }]);
  assert.deepEqual(await mastermind([over(9, 'Eve: resigned')], [row(1, 'Eve', '3', 11)], none), []);
});

test('blackjack: the last change of the lead', async () => {
  /** The wins after each round. @param {[number, number][]} rounds @param {number} [window] */
  const after = (rounds, window = Infinity) => async (before = Infinity) =>
    rounds.map(([ann, bob], round) => ({
      at: 1000 * round,
      data: `LOBBY 1 16 0 9\nTABLE 1 PLAYING 2 9\nSEAT 1 OUT Zoe 9 0 0 0 0\nTABLE 2 PLAYING ${round} 9\nSEAT 1 STANDS Ann ${ann} 0 0 0 0\nSEAT 2 OUT Bob ${bob} 0 0 0 0`,
    })).filter(({ at }) => at < before && at >= Math.min(before, 1000 * rounds.length) - window);
  const [ann, bob] = [row(1, 'Ann', 'table 2, seat 1', 2), row(2, 'Bob', 'table 2, seat 2', 1)];
  const lead = (/** @type {number} */ round) => [{ at: 1000 * round, text: `Ann took the lead for good in round ${round}.` }];
  assert.deepEqual(await blackjack([], [ann, bob], after([[0, 0], [1, 0], [1, 1], [1, 1], [2, 1], [2, 1]])), lead(4));
  assert.deepEqual(await blackjack([], [ann, bob], after([[0, 0], [1, 0], [2, 0], [2, 1]])), lead(1));
  assert.deepEqual(await blackjack([], [ann, { ...bob, rank: 1 }], after([[0, 0], [1, 0], [1, 1]])), [{ at: 2000, text: 'The lead has been shared since round 2.' }]);
  // The table has gone before the last round is in the frames.
  const almost = /** @type {[number, number][]} */ (Array.from({ length: 9 }, (_, round) => [Math.min(round, 1), 0]));
  assert.deepEqual(await blackjack([], [ann, { ...bob, rank: 1 }], after(almost)), [{ at: 8000, text: 'The lead has been shared since round 9.' }]);
  // A long match is requested in parts.
  assert.deepEqual(await blackjack([], [ann, bob], after([[0, 0], [1, 0], [2, 0], [2, 0], [2, 0], [2, 1]], 2000)), lead(1));
  // No change is in the frames.
  for (const rounds of /** @type {[number, number][][]} */ ([[], [[0, 0], [0, 0]], [[3, 1], [4, 1]]])) assert.deepEqual(await blackjack([], [ann, bob], after(rounds)), []);
  assert.deepEqual(await blackjack([], [ann], after([[0, 0], [1, 0]])), []);
});

test('mastermind: names the most informative row', () => {
  /** @param {number} turn @param {string} guess @param {number} red @param {number} white */
  const line = (turn, guess, red, white) => /** @type {const} */ ({ kind: 'row', turn, guess, red, white });
  const board = { number: 1, rules: { length: 4, repeats: true, colours: 8 }, lines: [line(1, '1122', 0, 0), line(2, '3456', 4, 0)], over: null };
  assert.equal(mostInformativeRow(board), 'Best guess: row 1 cut 4096 possible codes to 1296.');
  assert.equal(mostInformativeRow({ ...board, lines: board.lines.slice(0, 1) }), null);
});

test('blackjack: names the costliest decision', () => {
  const table = { states: [{ total: 12, soft: false, upcard: 6, hit: -0.2, stand: -0.15, best: /** @type {const} */ ('stand') }, { total: 20, soft: false, upcard: 10, hit: -0.85, stand: 0.43, best: /** @type {const} */ ('stand') }] };
  const card = (/** @type {number} */ rank) => ({ rank, suit: /** @type {const} */ ('Clubs') });
  const twelve = { hand: [card(10), card(2)], upcard: card(6), action: /** @type {const} */ ('hit') };
  const twenty = { hand: [card(13), card(10)], upcard: card(12), action: /** @type {const} */ ('hit') };
  const best = byBest(table);
  assert.deepEqual(costliest([twelve, twenty], best), ['Costliest move: you hit 20 against a 10. It loses 1.28 of a stake on average.']);
  assert.deepEqual(costliest([{ ...twelve, action: 'stand' }], best), ['You played every hand perfectly.']);
  assert.deepEqual(costliest([], best), []);
});
