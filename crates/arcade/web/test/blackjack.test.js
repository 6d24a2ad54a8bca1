import assert from 'node:assert/strict';
import { test } from 'node:test';

import { value } from '../js/games/blackjack/fold.js';
import { states } from '../js/games/blackjack/learner.js';
import * as blackjack from '../js/games/blackjack/protocol.js';
import { parse } from '../js/games/blackjack/view.js';
import { vectors } from './support/vectors.js';

const all = vectors('blackjack');

test('accepts valid messages of a dealer only', () => {
  for (const { text, message } of all.dealer.valid) assert.deepEqual(blackjack.decode(text), message, text);
  for (const text of all.dealer.invalid) assert.equal(blackjack.decode(text), null, text);
});

test('encodes messages of a blackjack player as the dealer expects', () => {
  for (const [name, text] of Object.entries(all.player.join)) assert.equal(blackjack.join(name), text);
  assert.equal(blackjack.HIT, all.player.hit);
  assert.equal(blackjack.STAND, all.player.stand);
  assert.equal(blackjack.SECONDS, all.seconds);
});

test('parses views of tables', () => {
  for (const { text, tables } of all.views) assert.deepEqual(parse(text), tables, text);
});

test('computes the value of hands by the rules', () => {
  for (const [ranks, total, soft] of all.hands) {
    const hand = ranks === '' ? [] : ranks.split(' ').map((/** @type {string} */ rank) => ({ rank: Number(rank), suit: blackjack.SUITS[0] }));
    assert.deepEqual(value(hand), { total, soft }, ranks);
  }
});

test('states have the same order as in reports of the hub', () => {
  for (const space of /** @type {const} */ (['coarse', 'soft'])) {
    const told = states(space).map(({ total, soft, upcard }) => `${soft ? 'soft ' : ''}${total}/${upcard}`);
    assert.equal(told.join(' '), all.states[space]);
  }
});
