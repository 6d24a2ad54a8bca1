// Networks whose proxy blocks WebSockets, and those that block event streams too.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Blocker } from './support/blocker.js';
import { Person } from './support/browser.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };
/** Errors that a browser logs about blocked requests. */
const EXPECTED = /WebSocket|Failed to load/;

/** @param {string} path */
async function behind(path) {
  const blocker = await Blocker.start(hub.port);
  const ann = await Person.come(browser, blocker.address, 'Ann');
  await ann.go(path);
  return { blocker, ann, page: ann.page };
}

/** @param {{ blocker: Blocker, ann: Person }} who */
async function leave({ blocker, ann }) {
  ann.faults = ann.faults.filter((fault) => !EXPECTED.test(fault));
  await ann.leave();
  blocker.stop();
}

test('plays without WebSockets, and returns after a reload', bound, async () => {
  const room = await hub.open({ game: 'mastermind', seed: 7 });
  const who = await behind(`/rooms/${room.id}`);
  const { ann, page } = who;
  await ann.reads('Row 1 of 10');
  for (const key of ['1', '1', '3', '3', 'Enter']) await page.keyboard.press(key);
  await ann.reads('Row 2 of 10');
  let sockets = 0;
  page.on('websocket', () => (sockets += 1));
  await page.reload();
  await ann.reads('Row 2 of 10');
  for (const key of ['2', '2', '4', '4', 'Enter']) await page.keyboard.press(key);
  await ann.reads('Row 3 of 10');
  assert.equal(sockets, 0, 'the tab remembers that WebSockets are blocked');
  assert.equal((await hub.room(room.id)).taken, 1);
  // The lobby, and a game of binary frames until its result.
  await page.getByRole('link', { name: 'Arcade' }).click();
  await page.locator('#link[data-state=open]').waitFor();
  const robots = await hub.open({ game: 'robots', players: 1, turns: 30, turn_duration: 200 });
  await ann.go(`/rooms/${robots.id}`);
  await ann.reads(/^Turn \d+ of 30\. .*deaths?\.$/);
  await page.keyboard.press('ArrowUp');
  await page.getByRole('region', { name: 'Result' }).getByText('Ann').first().waitFor();
  await leave(who);
});

test('names what blocks the game if the network blocks everything live', bound, async () => {
  const room = await hub.open({ game: 'mastermind', seed: 7 });
  const who = await behind('/');
  const { ann, blocker, page } = who;
  await page.locator('#link[data-state=open]').waitFor();
  blocker.streams = false;
  blocker.server.closeAllConnections();
  for (const path of ['/', `/rooms/${room.id}`]) {
    await ann.go(path);
    await page.getByRole('status').getByText(`This network blocks live connections. Ask its administrator to allow WebSockets or event streams (text/event-stream) to ${new URL(blocker.address).host}.`).waitFor();
  }
  blocker.streams = true;
  await ann.reads('Row 1 of 10');
  await page.getByText('This network blocks').waitFor({ state: 'hidden' });
  await leave(who);
});
