import assert from 'node:assert/strict';
import { test } from 'node:test';

import { initialState, blast, fold, hitsBy, positionKey, tally } from '../js/games/robots/fold.js';
import { frameMarks, hitInWords } from '../js/games/robots/story.js';
import { Writer } from '../js/lib/bytes.js';
import * as robots from '../js/games/robots/protocol.js';
import { bytes, hex, vectors } from './support/vectors.js';

const { server, client, blasts, stories } = vectors('robots');

/** Converts maps to lists of pairs, as in the vectors. @param {unknown} value */
const plain = (value) => JSON.parse(JSON.stringify(value, (_, one) => (one instanceof Map ? [...one] : one)));

test('accepts valid messages of a robots server only', () => {
  for (const { hex: text, message } of server.valid) assert.deepEqual(plain(robots.decode(bytes(text))), message, text);
  for (const text of server.invalid) assert.equal(robots.decode(bytes(text)), null, text);
});

test('encodes messages of a robots player as the server expects', () => {
  for (const [name, text] of Object.entries(client.join)) assert.equal(hex(robots.join(name)), text);
  assert.equal(hex(robots.placeBomb()), client.bomb);
  assert.equal(hex(robots.placeBlock()), client.block);
  assert.deepEqual(Object.fromEntries(robots.DIRECTIONS.map((direction) => [direction, hex(robots.move(direction))])), client.moves);
});

test('bombs cover the same fields as on the server', () => {
  for (const { width, height, radius, blocks, at, covers } of blasts) {
    const stones = new Map(blocks === '' ? [] : blocks.split(' ').map((/** @type {string} */ block) => [block, null]));
    const covered = blast(at, { width, height, radius }, stones);
    assert.equal(covered.map(positionKey).join(' '), covers, JSON.stringify({ width, height, radius, blocks, at }));
  }
});

test('folds robots messages into the same state as the Rust client', () => {
  for (const { name, steps } of stories) {
    const state = initialState();
    for (const { hex: text, known } of steps) {
      const message = robots.decode(bytes(text));
      assert.ok(message, text);
      fold(state, message);
      const { game } = state;
      const sorted = (/** @type {Iterable<string>} */ places) => [...places].sort().join(' ');
      const byId = (/** @type {Map<number, unknown>} */ map) => [...map].sort(([one], [other]) => one - other);
      const told = {
        players: byId(state.players).map(([id, player]) => [id, /** @type {robots.Player} */ (player).name]),
        game: game && {
          turn: game.turn,
          positions: byId(game.positions),
          scores: byId(game.scores),
          blocks: sorted(game.blocks.keys()),
          bombs: sorted([...game.bombs.values()].map(({ position, timer }) => `${positionKey(position)}:${timer}`)),
          blasts: sorted(game.blasts.keys()),
        },
      };
      assert.deepEqual(told, known, `${name}: ${text}`);
    }
  }
});

/** A game of Ann at (0, 0) and Bob at (2, 0), whose bombs explode after one turn. */
function game() {
  const state = initialState();
  fold(state, { kind: 'hello', settings: { name: '', players: 2, width: 9, height: 9, length: 9, radius: 3, timer: 1 } });
  fold(state, { kind: 'started', players: new Map([[0, { name: 'Ann', address: '' }], [1, { name: 'Bob', address: '' }]]) });
  const turn = (/** @type {number} */ number, /** @type {robots.RobotsEvent[]} */ ...events) => fold(state, { kind: 'turn', turn: number, events });
  const at = (/** @type {number} */ id, /** @type {number} */ x) => /** @type {const} */ ({ kind: 'playerMoved', id, position: { x, y: 0 } });
  return { state, turn, at };
}

test('attributes hits to the robots that have placed the bombs', () => {
  const { state, turn, at } = game();
  turn(0, at(0, 0), at(1, 2));
  turn(1, { kind: 'bombPlaced', id: 7, position: { x: 2, y: 0 } });
  turn(2, { kind: 'bombExploded', id: 7, robots: [0, 1], blocks: [] }, at(0, 5), at(1, 6));
  assert.ok(state.game);
  assert.deepEqual(state.game.hits, [{ turn: 2, by: 1, player: 0 }, { turn: 2, by: 1, player: 1 }]);
  // A robot that hits itself has not hit another one.
  assert.deepEqual([hitsBy(state.game, 0), hitsBy(state.game, 1)], [0, 1]);
});

test('words hits before deaths', () => {
  assert.deepEqual([tally(3, 1), tally(1, 0), tally(null, 2)], ['3 hits, 1 death', '1 hit, 0 deaths', '2 deaths']);
});

test('counts no hits if the page has missed the beginning of the game', () => {
  const { state, turn, at } = game();
  turn(4, at(0, 0), at(1, 2));
  assert.ok(state.game);
  assert.equal(hitsBy(state.game, 0), null);
  assert.deepEqual(frameMarks([], (_, wire) => wire), []);
});

test('words a hit on the player before one by the player, with the names of the page', () => {
  const names = ['Łukasz', 'Ann Smith'];
  const words = (/** @type {number} */ own, /** @type {number} */ by, /** @type {number[]} */ ...victims) => {
    const { state, turn, at } = game();
    turn(0, at(0, 0), at(1, 2));
    turn(1, { kind: 'bombPlaced', id: 7, position: { x: 2 * by, y: 0 } });
    turn(2, { kind: 'bombExploded', id: 7, robots: victims, blocks: [] }, ...victims.map((id) => at(id, 5 + id)));
    return hitInWords(state.game ?? assert.fail(), own, (id) => names[id]);
  };
  assert.equal(words(1, 0, 1), 'Łukasz hit you.');
  assert.equal(words(0, 0, 1), 'You hit Ann Smith.');
  assert.equal(words(1, 0, 0, 1), 'Łukasz hit you.');
  assert.equal(words(0, 0, 0, 1), 'Your own bomb hit you.');
  assert.equal(words(1, 0, 0), null);
});

test('words a hit by an unknown robot as the destruction of the own one', () => {
  const { state, turn, at } = game();
  turn(4, at(0, 0), at(1, 2));
  turn(5, { kind: 'bombExploded', id: 7, robots: [0], blocks: [] }, at(0, 5));
  assert.equal(hitInWords(state.game ?? assert.fail(), 0, String), 'Your robot was destroyed.');
});

test('marks of a replay have the names of the page', () => {
  const u16 = (/** @type {Writer} */ to, /** @type {number} */ value) => to.u8(value >> 8).u8(value);
  const u32 = (/** @type {Writer} */ to, /** @type {number} */ value) => u16(u16(to, 0), value);
  const moved = (/** @type {Writer} */ to, /** @type {number} */ id, /** @type {number} */ x) => u16(u16(to.u8(2).u8(id), x), 0);
  const turn = (/** @type {number} */ number, /** @type {number} */ count) => u32(u16(new Writer().u8(3), number), count);
  const hello = [2, 9, 9, 9, 3, 1].reduce((to, value, index) => (index === 0 ? to.u8(value) : u16(to, value)), new Writer().u8(0).string(''));
  const started = u32(new Writer().u8(2), 2).u8(0).string('Lukasz').string('').u8(1).string('Ann_Smith').string('');
  const placed = u16(u16(u32(turn(1, 1).u8(0), 7), 0), 0);
  const exploded = moved(u32(u32(u32(turn(2, 2).u8(1), 7), 1).u8(1), 0), 1, 5);
  const messages = [hello, started, moved(moved(turn(0, 2), 0, 0), 1, 2), placed, exploded];
  const frames = messages.map((message, at) => ({ at, data: message.finish().buffer }));
  const names = new Map([['0 Lukasz', 'Łukasz'], ['1 Ann_Smith', 'Ann Smith']]);
  const marks = frameMarks(frames, (seat, wire) => names.get(`${seat} ${wire}`) ?? assert.fail(wire));
  assert.deepEqual(marks, [{ at: 4, kind: 'death', text: 'Łukasz hit Ann Smith' }]);
});
