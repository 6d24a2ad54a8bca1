import assert from 'node:assert/strict';
import { test } from 'node:test';

import { initialState, fold, knownCode, ownBoard, price, share } from '../js/games/mastermind/fold.js';
import * as mastermind from '../js/games/mastermind/protocol.js';
import { feedback } from '../js/games/mastermind/information.js';
import { vectors } from './support/vectors.js';

const { server, client, possible, answers, prices, shared, stories } = vectors('mastermind');

/** @param {string[]} messages */
function after(messages) {
  const state = initialState();
  for (const text of messages) {
    const message = mastermind.decode(text);
    assert.ok(message, text);
    fold(state, message);
  }
  return state;
}

test('accepts valid messages of a mastermind server only', () => {
  for (const text of server.valid) assert.ok(mastermind.decode(text), text);
  for (const text of server.invalid) assert.equal(mastermind.decode(text), null, text);
});

test('encodes messages of a mastermind player as the server expects', () => {
  const { play, guess, lifeline, another, HINT, RESIGN, QUIT } = mastermind;
  const said = [
    play('Ann'), guess('1234'), lifeline(1), lifeline(2), HINT,
    another(), another({ length: 5, repeats: true }), another({ length: 8, repeats: false }), RESIGN, QUIT,
  ];
  assert.deepEqual(said, client.valid);
});

test('folds mastermind messages into the same state as the Rust client', () => {
  for (const { name, messages, known } of stories) {
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

test('rejects rows with impossible answers', () => {
  for (const [length, known] of Object.entries(possible)) {
    for (let red = 0; red <= 8; red += 1) {
      for (let white = 0; white <= 8; white += 1) {
        const row = mastermind.decode(`ROW 1 1 ${'1'.repeat(Number(length))} ${red} ${white}`);
        assert.equal(row !== null, known.includes(`${red} ${white}`), `${red} red and ${white} white of ${length}`);
      }
    }
  }
});

test('computes the same answers as the server', () => {
  for (const [guess, code, red, white] of answers) assert.deepEqual(feedback(guess, code), { red, white }, `${guess} of ${code}`);
});

test('charges the same price for lifelines as the server', () => {
  assert.deepEqual([price(1), price(2)], prices);
});

test('writes the same result to share as the terminal client', () => {
  for (const { messages, date, again, text } of shared) {
    const board = ownBoard(after(messages));
    assert.ok(board);
    assert.equal(share(board, date, again), text);
    assert.equal(share({ ...board, over: null }, null, false), null);
  }
});

test('combines lifelines into the known part of the code', () => {
  const board = ownBoard(after(['OK 1', 'SEAT 1 Ann', 'GAME 1 1 4 yes', 'ROW 1 1 1234 1 1', 'LIFELINE 1 2 2 4 1', 'LIFELINE 1 4 1 * 2']));
  assert.equal(board && knownCode(board), '***1');
});
