import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byBest, costliest } from '../js/games/blackjack/advice.js';
import { mostInformativeRow } from '../js/games/mastermind/information.js';
import { story as nuggets } from '../js/games/nuggets/story.js';
import { story as robots } from '../js/games/robots/story.js';

test('nuggets: the biggest find, the last pile, and swaps', () => {
  const gold = (/** @type {number} */ at, /** @type {string} */ name, /** @type {number} */ count) => ({ at, kind: 'gold', text: '', name, count });
  const marks = [gold(1, 'Ann', 7), gold(2, 'Bob: the second', 31), { at: 3, kind: 'swap', text: 'Ann and Bob swap places' }, gold(4, 'Ann', 1)];
  assert.deepEqual(nuggets(marks, []), [
    { at: 2, text: 'Biggest find: Bob: the second, 31 nuggets.' },
    { at: 4, text: 'Ann took the last pile.' },
    { at: 3, text: 'Ann and Bob swap places.' },
  ]);
  assert.deepEqual(nuggets([], []), []);
});

test('robots: the first, the deadliest turn and the last', () => {
  const death = (/** @type {number} */ at, /** @type {string} */ name) => ({ at, kind: 'death', text: '', name });
  assert.deepEqual(robots([death(1, 'Ann'), death(5, 'Bob'), death(5, 'Ann'), death(9, 'Eve')], []), [
    { at: 1, text: 'First hit: Ann.' },
    { at: 5, text: 'Deadliest turn: Bob and Ann.' },
    { at: 9, text: 'Last hit: Eve.' },
  ]);
  assert.deepEqual(robots([], []), [{ at: 0, text: 'No robot was hit.' }]);
});

test('mastermind: names the most informative row', () => {
  /** @param {number} turn @param {string} guess @param {number} red @param {number} white */
  const row = (turn, guess, red, white) => /** @type {const} */ ({ kind: 'row', turn, guess, red, white });
  const board = { number: 1, rules: { length: 4, repeats: true, colours: 8 }, lines: [row(1, '1122', 0, 0), row(2, '3456', 4, 0)], over: null };
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
