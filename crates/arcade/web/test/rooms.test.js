// Texts and stored values of rooms, without a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MAX_MUTED, isMuted, mute, parseMutes } from '../js/lib/mutes.js';
import { codeOfName, codeOfRoom, fit, spaced } from '../js/lib/names.js';
import { readyMarks, rematchInWords } from '../js/page/rematch.js';
import { phraseInWords } from '../js/page/reactions.js';
import { endReason, roomFacts, roomTitle, waitInWords } from '../js/page/labels.js';

/** @type {import('../js/games/types.js').Room} */
const ROOM = { id: 'robots-1', game: 'robots', title: '2 robots', phase: 'lobby', taken: 0, seats: 2, port: 1, players: [] };

test('reads codes from fragments only', () => {
  assert.equal(codeOfRoom('#ABCdefgh'), 'abcdefgh');
  assert.equal(codeOfRoom('#ABCdefgh'), 'abcdefgh');
  for (const other of ['', '#', '#abcdef', '#abcdefg', '#abcdefghj', '#abc-efgh', '#name=abcdefgh', 'abcdefgh']) assert.equal(codeOfRoom(other), null, other);
  assert.equal(codeOfName('#name=abcd-efgh-jkmn'), 'abcd-efgh-jkmn');
  for (const other of ['', '#name=', '#name=a"b', '#abcdef', `#name=${'a'.repeat(99)}`]) assert.equal(codeOfName(other), null, other);
  assert.equal(spaced('abcdefghjkmn'), 'abcd-efgh-jkmn');
  assert.equal(spaced(spaced('abcdefghjkmn')), 'abcd-efgh-jkmn');
});

test('truncates texts at a character boundary', () => {
  assert.equal(fit('abc', 500), 'abc');
  assert.equal(fit('żółw', 5), 'żó');
  assert.equal(fit('👍👍', 7), '👍');
});

test('stores muted players, and ignores invalid values', () => {
  for (const kept of [null, '', '7', '[]', '{"names":7}', 'null']) assert.deepEqual(parseMutes(kept), { all: false, names: [] }, String(kept));
  let muted = mute(parseMutes(null), 'Eve', true);
  assert.ok(isMuted(muted, 'Eve') && !isMuted(muted, 'Ann'));
  muted = mute(mute(muted, 'Eve', true), 'Ann', true);
  assert.deepEqual(parseMutes(JSON.stringify(muted)), { all: false, names: ['Eve', 'Ann'] });
  assert.ok(!isMuted(mute(muted, 'Eve', false), 'Eve') && isMuted({ ...muted, all: true }, 'Zoe'));
  for (let number = 0; number < 2 * MAX_MUTED; number += 1) muted = mute(muted, `Bob${number}`, true);
  assert.equal(muted.names.length, MAX_MUTED);
  assert.ok(isMuted(muted, `Bob${2 * MAX_MUTED - 1}`) && !isMuted(muted, 'Eve'));
});

test('describes rematches, waits, phrases and rooms in words', () => {
  assert.equal(rematchInWords({ ready: 1, of: 3 }, 24), 'Rematch: 1 of 3 ready, 24 s');
  assert.equal(readyMarks({ ready: 1, of: 3 }), '✓··');
  assert.deepEqual([null, 0, 40, 60, 130].map(waitInWords), [
    'No start time yet.',
    'Starting soon.',
    'Starts in about 40 s.',
    'Starts in about a minute.',
    'Starts in about 2 minutes.',
  ]);
  assert.deepEqual([0, 6, 7, -1].map(phraseInWords), ['Hello!', 'Thumbs up', null, null]);
  assert.equal(roomTitle(ROOM), '2 robots');
  assert.equal(roomTitle({ ...ROOM, name: 'Friday' }), 'Friday · 2 robots');
  assert.deepEqual(roomFacts(ROOM), []);
  assert.deepEqual(roomFacts({ ...ROOM, visibility: 'word', locked: true }), ['password', 'locked']);
  assert.equal(endReason({ code: 4006, reason: 'the owner of this room has removed you' }), 'The owner removed you from the room.');
  assert.equal(endReason({ code: 4001, reason: 'x' }), 'You are playing in another window now.');
});
