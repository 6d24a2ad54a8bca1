// Players keep their seat and their state when the network is cut, silent or slow.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Person } from './support/browser.js';
import { Hub } from './support/hub.js';
import { Relay } from './support/relay.js';
import { browser, hub } from './support/site.js';
import * as native from './support/native.js';

const bound = { timeout: 280_000 };
/** Errors that a browser logs without a network. */
const EXPECTED = /WebSocket|ERR_(CONNECTION|EMPTY_RESPONSE|SOCKET)|Failed to load/;

/**
 * @param {string} room
 * @param {number} [port] Of the hub.
 */
async function behind(room, port = hub.port) {
  const relay = await Relay.start(port);
  const ann = await Person.come(browser, relay.address, 'Ann');
  await ann.go(`/rooms/${room}`);
  return { relay, ann, page: ann.page };
}

/** @param {{ relay: Relay, ann: Person }} who */
async function leave({ relay, ann }) {
  ann.faults = ann.faults.filter((fault) => !EXPECTED.test(fault));
  await ann.leave();
  relay.stop();
}

/** @param {import('playwright-core').Page} page */
const isAway = (page) => page.locator('main[data-away]').waitFor();
/** @param {import('playwright-core').Page} page */
const isBack = async (page) => {
  await page.locator('main:not([data-away])').waitFor();
  await page.locator('#link[data-state=open]').waitFor();
};

/** @param {Awaited<ReturnType<typeof behind>>} who @param {number} seconds */
async function withoutNetwork({ relay, page }, seconds) {
  relay.cut();
  await isAway(page);
  assert.match((await page.locator('.away').textContent()) ?? '', /^Offline since .*\. This may be out of date\. Your seat is reserved for 5 minutes\.$/);
  await pause(seconds * 1000);
  relay.mend();
  await isBack(page);
}

for (const seconds of [5, 70, 200]) {
  describe(`${seconds} seconds without a network`, { concurrency: true }, () => {
    test('nuggets: keeps the letter and the purse', bound, async () => {
      const room = await hub.open({ game: 'nuggets', map: 'main' });
      const who = await behind(room.id);
      await who.ann.hasSeat('A');
      const before = await who.ann.status.textContent();
      await withoutNetwork(who, seconds);
      await who.ann.hasSeat('A');
      assert.equal(await who.ann.status.textContent(), before);
      assert.deepEqual((await hub.room(room.id)).players.map(({ name, seat }) => [name, seat]), [['Ann', 'A']]);
      await leave(who);
    });

    test('mastermind: keeps the rows', bound, async () => {
      const room = await hub.open({ game: 'mastermind', seed: 7 });
      const who = await behind(room.id);
      await who.ann.reads('Row 1 of 10');
      for (const key of ['1', '1', '3', '3', 'Enter']) await who.page.keyboard.press(key);
      await who.ann.reads('Row 2 of 10');
      await withoutNetwork(who, seconds);
      await who.ann.reads('Row 2 of 10');
      await who.page.getByRole('list', { name: 'Rows' }).getByText('row 1: ').waitFor();
      for (const key of ['2', '2', '4', '4', 'Enter']) await who.page.keyboard.press(key);
      await who.ann.reads('Row 3 of 10');
      await leave(who);
    });

    test('robots: keeps control of the robot', bound, async () => {
      const room = await hub.open({ game: 'robots', players: 2, turns: 5000, turn_duration: 500 });
      const who = await behind(room.id);
      const bob = native.robots(room.port, 'Bob');
      await who.ann.reads(/^Turn \d+ of 5000\. .*deaths?\.$/);
      await withoutNetwork(who, seconds);
      await who.ann.reads(/^Turn \d+ of 5000\. .*deaths?\.$/);
      await who.page.getByRole('listitem').filter({ hasText: 'Ann' }).getByText('you').waitFor();
      await who.page.locator('main h1').click();
      await who.page.keyboard.press(' ');
      await who.page.waitForFunction(() => document.querySelector('pre')?.textContent?.includes('A bomb at'));
      bob.stop();
      await leave(who);
    });
  });
}

// By the rules, a player who does not decide for longer leaves the table.
test('blackjack: keeps the hand for five seconds, with one seat per name', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 1, rounds: 500 });
  const who = await behind(room.id);
  await who.ann.stands();
  await who.ann.reads('Hit or stand?');
  await withoutNetwork(who, 5);
  await who.ann.stands();
  await who.ann.reads('Hit or stand?');
  assert.deepEqual((await hub.room(room.id)).players.map(({ name }) => name), ['Ann']);
  await leave(who);
});

test('detects a silent network within seconds, and keeps the seat', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'main' });
  const who = await behind(room.id);
  await who.ann.hasSeat('A');
  // The hub sends only heartbeats.
  await pause(5000);
  assert.equal(await who.page.locator('main[data-away]').count(), 0);
  who.relay.silence();
  const since = Date.now();
  await isAway(who.page);
  const seconds = (Date.now() - since) / 1000;
  assert.ok(seconds < 6, `it took ${seconds} s`);
  await who.page.getByText('The arcade is not responding.').waitFor();
  await who.page.getByText('Connection lost. Reconnecting…').waitFor();
  who.relay.mend();
  await isBack(who.page);
  await who.ann.hasSeat('A');
  assert.equal((await hub.room(room.id)).taken, 1);
  await leave(who);
});

test('does not reconnect on a slow network', bound, async () => {
  const room = await hub.open({ game: 'mastermind', seed: 7 });
  const who = await behind(room.id);
  who.relay.delay = 300;
  await who.ann.reads('Row 1 of 10');
  for (let row = 1; row <= 5; row += 1) {
    for (const key of ['1', '1', '3', '3', 'Enter']) await who.page.keyboard.press(key);
    await who.ann.reads(`Row ${row + 1} of 10`);
  }
  assert.equal(await who.page.locator('main[data-away]').count(), 0);
  await leave(who);
});

test('keeps the seat when the hub restarts after eight seconds', bound, async () => {
  const own = await Hub.start();
  try {
    const room = await own.open({ game: 'mastermind', seed: 7 });
    const who = await behind(room.id, own.port);
    await who.ann.reads('Row 1 of 10');
    for (const key of ['1', '1', '3', '3', 'Enter']) await who.page.keyboard.press(key);
    await who.ann.reads('Row 2 of 10');
    await own.end('SIGKILL');
    await isAway(who.page);
    await pause(8000);
    await own.begin();
    await isBack(who.page);
    await who.ann.reads('Row 2 of 10');
    await leave(who);
  } finally {
    await own.stop();
  }
});
