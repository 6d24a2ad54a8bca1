import assert from 'node:assert/strict';
import { test } from 'node:test';

import { value } from '../js/games/blackjack/fold.js';
import { states } from '../js/games/blackjack/learner.js';
import * as blackjack from '../js/games/blackjack/protocol.js';
import { parse } from '../js/games/blackjack/view.js';
import { vectors } from './support/vectors.js';

const all = vectors('blackjack');

test('messages of a dealer are told from what is none', () => {
  for (const { text, message } of all.dealer.valid) assert.deepEqual(blackjack.decode(text), message, text);
  for (const text of all.dealer.invalid) assert.equal(blackjack.decode(text), null, text);
});

test('messages of a blackjack player are those that the dealer reads', () => {
  for (const [name, text] of Object.entries(all.player.join)) assert.equal(blackjack.join(name), text);
  assert.equal(blackjack.HIT, all.player.hit);
  assert.equal(blackjack.STAND, all.player.stand);
  assert.equal(blackjack.SECONDS, all.seconds);
});

test('pictures of tables are read as the dealer means them', () => {
  for (const { text, tables } of all.views) assert.deepEqual(parse(text), tables, text);
});

test('hands have the values of the rules', () => {
  for (const [ranks, total, soft] of all.hands) {
    const hand = ranks === '' ? [] : ranks.split(' ').map((/** @type {string} */ rank) => ({ rank: Number(rank), suit: blackjack.SUITS[0] }));
    assert.deepEqual(value(hand), { total, soft }, ranks);
  }
});

test('states come in the order in which the hub tells of them', () => {
  for (const space of /** @type {const} */ (['coarse', 'soft'])) {
    const told = states(space).map(({ total, soft, upcard }) => `${soft ? 'soft ' : ''}${total}/${upcard}`);
    assert.equal(told.join(' '), all.states[space]);
  }
});
