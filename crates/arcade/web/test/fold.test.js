import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as blackjack from '../js/games/blackjack/fold.js';
import * as nuggets from '../js/games/nuggets/fold.js';
import * as robots from '../js/games/robots/fold.js';
import * as cards from '../js/games/blackjack/protocol.js';
import * as text from '../js/games/nuggets/protocol.js';

/** @param {string[]} messages */
function nuggetsAfter(messages) {
  const state = nuggets.initialState();
  for (const message of messages) {
    const decoded = text.decode(message);
    assert.ok(decoded, message);
    nuggets.fold(state, decoded);
  }
  return state;
}

const JOINED = ['OK A', 'GRID 3 8', 'GOLD 0 0 250'];

test('a nuggets player sees a room and remembers it', () => {
  const state = nuggetsAfter([...JOINED, 'DISPLAY\n+---+   \n|..@### \n+---+   \n']);
  assert.deepEqual(state.place, { row: 1, column: 3 });
  assert.equal(nuggets.status(state), '0 · 250 left');
  const later = text.decode('DISPLAY\n+---+   \n|...#@# \n+---+   \n');
  assert.ok(later);
  nuggets.fold(state, later);
  assert.ok(nuggets.isInSight(state, 1, 4));
  assert.ok(!nuggets.isInSight(state, 1, 1), 'remembered');
  assert.equal(state.terrain[1].join(''), '|...### ');
});

test('the way leads over known cells only', () => {
  const state = nuggetsAfter([...JOINED, 'DISPLAY\n+---+   \n|@..### \n+---+   \n']);
  assert.equal(nuggets.pathTo(state, { row: 1, column: 6 }), 'lllll');
  assert.equal(nuggets.pathTo(state, { row: 1, column: 7 }), '');
  assert.equal(nuggets.pathTo(state, { row: 0, column: 1 }), '');
});

test('folds gold, QUIT and displays of another shape', () => {
  const state = nuggetsAfter([...JOINED, 'GOLD 12 12 238', 'DISPLAY\nshort\n']);
  assert.deepEqual(state.gold, { collected: 12, serial: 1 });
  assert.equal(state.displays, 0);
  const quit = text.decode('QUIT GAME OVER:\nA         12 Ann\nB        238 Bob B\n');
  assert.ok(quit);
  nuggets.fold(state, quit);
  assert.deepEqual(state.table, [
    { letter: 'A', purse: 12, name: 'Ann' },
    { letter: 'B', purse: 238, name: 'Bob B' },
  ]);
});

const SETTINGS = { name: 'x', players: 2, width: 6, height: 5, length: 9, radius: 2, timer: 2 };
const ANN = { name: 'Ann', address: '127.0.0.1:1' };
const BOB = { name: 'Bob', address: '127.0.0.1:2' };

test('a bomb of robots counts down, covers its cross and destroys', () => {
  const state = robots.initialState();
  /** @type {robots.RobotsMessage[]} */
  const messages = [
    { kind: 'hello', settings: SETTINGS },
    { kind: 'accepted', id: 0, player: ANN },
    { kind: 'started', players: new Map([[0, ANN], [1, BOB]]) },
    {
      kind: 'turn',
      turn: 0,
      events: [
        { kind: 'playerMoved', id: 0, position: { x: 2, y: 2 } },
        { kind: 'playerMoved', id: 1, position: { x: 5, y: 4 } },
        { kind: 'blockPlaced', position: { x: 1, y: 2 } },
        { kind: 'blockPlaced', position: { x: 0, y: 2 } },
      ],
    },
    { kind: 'turn', turn: 1, events: [{ kind: 'bombPlaced', id: 7, position: { x: 2, y: 2 } }] },
    { kind: 'turn', turn: 2, events: [] },
  ];
  for (const message of messages) robots.fold(state, message);
  assert.equal(state.game?.bombs.get(7)?.timer, 1);
  robots.fold(state, {
    kind: 'turn',
    turn: 3,
    events: [
      { kind: 'bombExploded', id: 7, robots: [0], blocks: [{ x: 1, y: 2 }] },
      { kind: 'playerMoved', id: 0, position: { x: 3, y: 3 } },
    ],
  });
  const { game } = state;
  assert.ok(game);
  assert.deepEqual([...game.blasts.keys()].sort(), ['1,2', '2,0', '2,1', '2,2', '2,3', '2,4', '3,2', '4,2']);
  assert.deepEqual([...game.blocks.keys()], ['0,2']);
  assert.deepEqual(game.destroyed, [{ player: 0, position: { x: 2, y: 2 } }]);
  robots.fold(state, { kind: 'ended', scores: new Map([[0, 1], [1, 0]]) });
  assert.ok(state.last);
  const ranked = robots.ranking(state.last.players, state.last.scores);
  assert.deepEqual(ranked.map(({ rank, name }) => [rank, name]), [[1, 'Bob'], [2, 'Ann']]);
});

test('a round of blackjack ends in a verdict and moves the bankroll', () => {
  const state = blackjack.initialState();
  const said = ['BEGIN', 'CARD Ten of Clubs', 'CARD Ten of Hearts', 'DEALER Three of Diamonds', 'DECISION', 'RESULT WIN'];
  for (const message of said) {
    const decoded = cards.decode(message);
    assert.ok(decoded, message);
    blackjack.fold(state, decoded);
  }
  assert.deepEqual([state.verdict, state.counts.win, state.bankroll], ['win', 1, [0, 1]]);
  // After a reconnect the dealer repeats the last round, which counts once.
  for (const message of said) blackjack.fold(state, /** @type {cards.BlackjackMessage} */ (cards.decode(message)));
  assert.deepEqual([state.verdict, state.counts.win, state.bankroll], ['win', 1, [0, 1]]);
  const next = said.with(2, 'CARD Nine of Hearts');
  for (const message of next) blackjack.fold(state, /** @type {cards.BlackjackMessage} */ (cards.decode(message)));
  assert.deepEqual([state.counts.win, state.bankroll], [2, [0, 1, 2]]);
  // After a reload the earlier rounds are restored, and the last one counts once.
  const reloaded = blackjack.restoreRounds(blackjack.savedRounds(state));
  for (const message of next) blackjack.fold(reloaded, /** @type {cards.BlackjackMessage} */ (cards.decode(message)));
  assert.deepEqual([reloaded.counts.win, reloaded.bankroll], [2, [0, 1, 2]]);
  // After a reconnect the dealer deals the round again, so no earlier decision is pending.
  const asked = blackjack.initialState();
  for (const message of [...said.slice(0, 5), 'BEGIN']) blackjack.fold(asked, /** @type {cards.BlackjackMessage} */ (cards.decode(message)));
  assert.equal(asked.awaitsDecision, false);
  assert.equal(cards.decode('CARD ace of Spades'), null);
  assert.equal(cards.decode('BEGIN '), null);
  assert.equal(cards.decode('RESULT toString'), null);
});
