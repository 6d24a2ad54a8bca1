import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { begin, fold, knownCode, ownBoard, share } from '../js/fold/mastermind.js';
import * as mastermind from '../js/protocol/mastermind.js';

/** The Rust tests read the same vectors. */
const vectors = JSON.parse(readFileSync(new URL('vectors/mastermind.json', import.meta.url), 'utf8'));

/** @param {string[]} messages */
function after(messages) {
  const state = begin();
  for (const text of messages) {
    const message = mastermind.decode(text);
    assert.ok(message, text);
    fold(state, message);
  }
  return state;
}

test('messages of a mastermind server are told from what is none', () => {
  for (const text of vectors.server.valid) assert.ok(mastermind.decode(text), text);
  for (const text of vectors.server.invalid) assert.equal(mastermind.decode(text), null, text);
});

test('messages of a player are those that the server reads', () => {
  const { play, guess, lifeline, another, HINT, RESIGN, QUIT } = mastermind;
  const said = [
    play('Ann'), guess('1234'), lifeline(1), lifeline(2), HINT,
    another(), another({ length: 5, repeats: true }), another({ length: 8, repeats: false }), RESIGN, QUIT,
  ];
  assert.deepEqual(said, vectors.client.valid);
});

test('what is known after some messages is what the Rust client knows', () => {
  for (const { name, messages, known } of vectors.stories) {
    const state = after(messages);
    const line = (/** @type {mastermind.Line} */ one) =>
      one.kind === 'row'
        ? { turn: one.turn, guess: one.guess, red: one.red, white: one.white }
        : { turn: one.turn, lifeline: one.lifeline, shown: one.peg !== null };
    const places = [...state.places]
      .sort(([one], [other]) => one - other)
      .map(([seat, place]) => ({
        seat,
        name: place.name,
        game: place.board?.number ?? null,
        lines: (place.board?.lines ?? []).map(line),
        over: place.board?.over?.how ?? null,
      }));
    const told = {
      seat: state.seat,
      missing: state.missing,
      turn: state.turn?.turn ?? null,
      hint: state.advice?.guess ?? null,
      possible: state.possible.length,
      places,
    };
    assert.deepEqual(told, known, name);
  }
});

test('a result to paste is that of the terminal', () => {
  const state = after(['ROOM daily 4 8 yes 2026-01-13', 'OK 1', 'SEAT 1 Ann', 'GAME 1 1 4 yes', 'ROW 1 1 1234 1 1', 'LIFELINE 1 2 2 4 1', 'ROW 1 4 3451 4 0', 'OVER 1 won 4 1 3451']);
  const board = ownBoard(state);
  assert.ok(board);
  assert.equal(knownCode(board), '***1');
  const text = 'Mastermind 2026-01-13, 4 pegs, 8 colours, with repeats: 4/10, with a hint, played again\n●○··\nlifeline#2 (2 turns)\n●●●●';
  assert.equal(share(board, '2026-01-13', true), text);
  assert.equal(share({ ...board, over: null }, null, false), null);
});
