import assert from 'node:assert/strict';
import { test } from 'node:test';

import { STEPS, initialState, fold } from '../js/games/nuggets/fold.js';
import * as nuggets from '../js/games/nuggets/protocol.js';
import { visible } from '../js/games/nuggets/sight.js';
import { vectors } from './support/vectors.js';

const { server, client, sight, stories } = vectors('nuggets');

test('accepts valid messages of a nuggets server only', () => {
  for (const { text, message } of server.valid) assert.deepEqual(nuggets.decode(text), message, text);
  for (const text of server.invalid) assert.equal(nuggets.decode(text), null, text);
});

test('encodes messages of a nuggets player as the server expects', () => {
  for (const [name, text] of Object.entries(client.play)) assert.equal(nuggets.play(name), text);
  assert.equal(nuggets.SPECTATE, client.spectate);
  for (const [key, text] of Object.entries(client.keys)) assert.equal(nuggets.key(key), text);
  for (const key of nuggets.MOVES) assert.ok(key in client.keys && key.toUpperCase() in client.keys, key);
});

test('keys of nuggets move in the same directions as on the server', () => {
  const sorted = (/** @type {readonly (readonly [string, number, number])[]} */ steps) => steps.map(String).sort();
  assert.deepEqual(sorted(STEPS), sorted(client.steps));
});

test('computes the same sight as the server', () => {
  for (const { map, from, seen } of sight) {
    const [rows, columns] = [map.length, map[0].length];
    const found = visible(rows, columns, (row, column) => map[row][column] === '.', from[0], from[1]);
    const drawn = Array.from({ length: rows }, (_, row) => [...found.slice(row * columns, (row + 1) * columns)].map((one) => (one ? 'x' : '.')).join(''));
    assert.deepEqual(drawn, seen, `${map.join('\n')}\nfrom ${from}`);
  }
});

test('folds nuggets messages into the same state as the Rust client', () => {
  for (const { name, messages, known } of stories) {
    const state = initialState();
    for (const text of messages) {
      const message = nuggets.decode(text);
      assert.ok(message, text);
      fold(state, message);
    }
    const { letter, place, remaining, display, over, table } = state;
    // The terminal client words its status line differently.
    assert.deepEqual({ letter, place, remaining, display, over, table, status: known.status }, known, name);
  }
});
