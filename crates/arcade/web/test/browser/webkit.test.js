// Joining, playing and coming back in WebKit, if it is installed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { hub } from './support/site.js';
import { WebKit, hasWebKit } from './support/webkit.js';
import * as native from './support/native.js';

const bound = { timeout: 120_000, skip: hasWebKit ? false : 'webkit2gtk-driver or xvfb is missing' };

/** @type {WebKit} */
let webkit;
before(async () => {
  if (hasWebKit) webkit = await WebKit.start();
});
after(() => webkit?.stop());

const letter = () => webkit.sees('own letter', () => document.querySelector('.players li.own .mark')?.textContent);

test('nuggets: moves, and keeps the letter after a reload', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  await webkit.go(`${hub.address}/rooms/${room.id}`);
  await webkit.reads('left');
  const own = await letter();
  /** @param {string} other */
  const map = (other) => webkit.sees('changed map', (before) => {
    const text = document.querySelector('pre')?.textContent;
    return text && text !== before ? text : null;
  }, other);
  const first = await map('');
  await webkit.press(/[.*]@/.test(first) ? 'h' : 'l');
  await map(first);
  await webkit.reload();
  await webkit.reads('left');
  assert.equal(await letter(), own);
});

test('robots: moves, and keeps the robot after a reload', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 100, turn_duration: 2000 });
  await webkit.go(`${hub.address}/rooms/${room.id}`);
  const bob = native.robots(room.port, 'Bob');
  await webkit.reads('Turn');
  const own = await letter();
  await webkit.press('ArrowUp');
  await webkit.sees('chosen action', () => document.querySelector('.controls .chosen')?.textContent);
  await webkit.reload();
  await webkit.reads('Turn');
  assert.equal(await letter(), own);
  bob.stop();
});

test('blackjack: stands, and plays the next round after a reload', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 1, rounds: 3 });
  await webkit.go(`${hub.address}/rooms/${room.id}`);
  await webkit.reads('Hit or stand?');
  await webkit.click('Stand');
  await webkit.click('Next round');
  await webkit.reads('Hit or stand?');
  await webkit.reload();
  await webkit.reads('Hit or stand?');
  await webkit.click('Stand');
});

test('mastermind: guesses, and keeps the rows after a reload', bound, async () => {
  const room = await hub.open({ game: 'mastermind', seed: 7 });
  await webkit.go(`${hub.address}/rooms/${room.id}`);
  await webkit.reads('Row 1 of 10');
  for (const key of ['1', '1', '2', '2', 'Enter']) await webkit.press(key);
  await webkit.reads('Row 2 of 10');
  await webkit.reload();
  await webkit.reads('Row 2 of 10');
  await webkit.sees('first row', () => {
    const rows = document.querySelector('[aria-label=Rows]')?.textContent;
    return rows?.includes('row 1: 1 1 2 2') ? rows : null;
  });
});
