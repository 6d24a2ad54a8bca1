import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { Pace } from '../js/games/blackjack/pace.js';
import { decode } from '../js/games/blackjack/protocol.js';

/** A table that records its messages as words; results stay. @param {boolean} still */
function table(still) {
  /** @type {string[]} */
  const shown = [];
  const pace = new Pace({
    take: (message) => {
      shown.push(message.kind);
      return message.kind === 'result';
    },
    tick: () => {},
    still,
  });
  const say = (/** @type {string} */ text) => {
    const message = decode(text);
    assert.ok(message, text);
    pace.put(message);
  };
  return { pace, shown, say };
}

test('a verdict stays until the player continues, without more time for the next decision', () => {
  const { pace, shown, say } = table(true);
  for (const text of ['BEGIN', 'DECISION', 'RESULT WIN', 'BEGIN', 'CARD Ace of Spades', 'DECISION']) say(text);
  assert.deepEqual(shown, ['begin', 'decision', 'result']);
  assert.ok(pace.isPaused && pace.left !== null && pace.left > 0);
  pace.resume();
  assert.deepEqual(shown.slice(3), ['begin', 'card', 'decision']);
  pace.stop();
});

test('the last verdict stays after the last round, but not after a missed deadline', () => {
  const last = table(true);
  for (const text of ['RESULT PUSH', 'QUIT']) last.say(text);
  assert.deepEqual(last.shown, ['result', 'quit']);
  assert.ok(last.pace.isPaused);
  const late = table(true);
  for (const text of ['RESULT PUSH', 'BEGIN', 'DECISION', 'QUIT']) late.say(text);
  assert.deepEqual(late.shown, ['result', 'begin', 'decision', 'quit']);
  assert.ok(!late.pace.isPaused && late.pace.left === null);
});

test('cards appear one by one, except on a page that is behind', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { shown, say } = table(false);
  for (const text of ['BEGIN', 'CARD Ace of Spades', 'CARD Two of Clubs', 'DEALER Ten of Clubs']) say(text);
  assert.deepEqual(shown, ['begin', 'card']);
  mock.timers.tick(150);
  assert.deepEqual(shown, ['begin', 'card', 'card']);
  for (const text of ['RESULT BUST']) say(text);
  mock.timers.tick(150);
  assert.deepEqual(shown, ['begin', 'card', 'card', 'dealer', 'result']);
  mock.timers.reset();
});
