import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { recall, remember, roomProof, roomStorage } from '../js/lib/settings.js';

const HOUR = 3_600_000;

/** The entries are properties, as in a browser. */
class FakeStorage {
  /** @param {string} key */
  getItem(key) {
    return /** @type {any} */ (this)[key] ?? null;
  }

  /** @param {string} key @param {string} value */
  setItem(key, value) {
    /** @type {any} */ (this)[key] = value;
  }

  /** @param {string} key */
  removeItem(key) {
    delete (/** @type {any} */ (this)[key]);
  }
}

beforeEach(() => {
  Object.defineProperty(globalThis, 'localStorage', { value: new FakeStorage(), configurable: true });
});

test('tokens of rooms expire after a day', ({ mock }) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  roomStorage.remember('seat robots-1', 'token with spaces');
  roomStorage.remember('owner robots-1', 'mine');
  mock.timers.tick(24 * HOUR - 1);
  assert.equal(roomStorage.recall('seat robots-1'), 'token with spaces');
  assert.deepEqual(roomProof('robots-1'), { owner: 'mine', seat: 'token with spaces' });
  mock.timers.tick(1);
  assert.equal(roomStorage.recall('seat robots-1'), null);
  assert.deepEqual(roomProof('robots-1'), {});
});

test('expired tokens are removed when another one is stored, but no settings', ({ mock }) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const kinds = ['seat', 'was', 'own', 'past', 'owner', 'code', 'word', 'class', 'pupil', 'teacher', 'challenge'];
  for (const kind of kinds) roomStorage.remember(`${kind} robots-1`, 'old');
  remember('name', 'Ann');
  remember('played robots', 'yes');
  mock.timers.tick(23 * HOUR);
  roomStorage.remember('seat robots-2', 'new');
  assert.equal(Object.keys(localStorage).length, kinds.length + 3, 'none has expired');
  mock.timers.tick(HOUR);
  roomStorage.remember('owner robots-2', 'new');
  assert.deepEqual(Object.keys(localStorage).sort(), ['name', 'owner robots-2', 'played robots', 'seat robots-2']);
  assert.equal(recall('name'), 'Ann');
});

test('a token without a time is not used', () => {
  for (const stored of ['token', ' token', 'NaN token', '']) {
    localStorage.setItem('seat robots-1', stored);
    assert.equal(roomStorage.recall('seat robots-1'), null, stored);
  }
});

test('a removed token is not stored', () => {
  roomStorage.remember('seat robots-1', 'token');
  roomStorage.remember('seat robots-1', null);
  assert.deepEqual(Object.keys(localStorage), []);
});
