// Whole matches: two browsers and a native client of each game, in the same room.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { begin, fold } from '../../js/fold/nuggets.js';
import { Person } from './support/browser.js';
import { Explorer } from './support/explorer.js';
import { browser, hub } from './support/site.js';
import * as native from './support/native.js';

const bound = { timeout: 180_000 };

/**
 * Plays nuggets by keys until the game is over.
 * @param {Person} person
 */
async function dig({ page, status }) {
  const explorer = new Explorer();
  const state = begin();
  const map = page.getByLabel('The map as text');
  await status.filter({ hasText: 'nuggets' }).waitFor();
  for (;;) {
    const text = (await map.textContent()) ?? '';
    if (/over/i.test((await status.textContent()) ?? '')) return;
    const rows = text.split('\n');
    if (state.rows !== rows.length || state.columns !== rows[0].length) {
      fold(state, { kind: 'grid', rows: rows.length, columns: rows[0].length });
    }
    fold(state, { kind: 'display', rows });
    const key = explorer.next(state);
    if (key) await page.keyboard.press(key);
    // Others move too, or nothing does: either way it looks again.
    await page
      .waitForFunction((shown) => document.querySelector('pre')?.textContent !== shown, text, { timeout: 1000 })
      .catch(() => {});
  }
}

test('nuggets: two browsers and a native client find all the gold', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  const ann = await Person.come(browser, hub.address, 'Ann');
  const eve = await Person.come(browser, hub.address, '<img/src=x/onerror=alert(1)>');
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  await Promise.all([ann.reads('Player'), eve.reads('Player')]);
  const bob = native.nuggets(room.port, 'Bob');
  const [, , table] = await Promise.all([dig(ann), dig(eve), bob.over]);
  assert.match(table, /^GAME OVER:/);
  const purses = [...table.matchAll(/^[A-Z] +(\d+) /gm)].map(([, purse]) => Number(purse));
  assert.equal(purses.length, 3);
  assert.equal(purses.reduce((sum, purse) => sum + purse, 0), 250);
  for (const { page } of [ann, eve]) {
    // The result names everybody; a name with markup in it stays text.
    const result = page.getByRole('region', { name: 'Result' });
    for (const name of ['Ann', 'Bob', '<img/src=x/onerror=alert(1)>']) await result.getByText(name).first().waitFor();
    assert.equal(await page.locator('main img').count(), 0);
  }
  await Promise.all([ann.leave(), eve.leave()]);
});

test('robots: two browsers and a native client play all turns', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 3, turns: 40, turn_duration: 100, columns: 10, rows: 8 });
  const [ann, eve] = await Promise.all(['Ann', 'Eve'].map((name) => Person.come(browser, hub.address, name)));
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  const bob = native.robots(room.port, 'Bob');
  await Promise.all([ann.reads(/Turn \d+ of 40/), eve.reads(/Turn \d+ of 40/)]);
  for (const key of ['ArrowUp', ' ', 'b', 'ArrowLeft']) await ann.page.keyboard.press(key);
  await eve.page.getByRole('button', { name: 'Move left' }).click();
  await eve.page.getByRole('button', { name: /bomb/i }).click();
  for (const { page } of [ann, eve]) {
    const result = page.getByRole('region', { name: 'Result' });
    for (const name of ['Ann', 'Eve', 'Bob']) await result.getByText(name).first().waitFor();
  }
  assert.equal((await hub.room(room.id)).result?.length, 3);
  bob.stop();
  await Promise.all([ann.leave(), eve.leave()]);
});

test('blackjack: two browsers and a native client play all rounds', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 3, rounds: 3 });
  const [ann, eve] = await Promise.all(['Ann', 'Eve'].map((name) => Person.come(browser, hub.address, name)));
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  const bob = native.blackjack(room.port, 'Bob');
  /** @param {Person} person @param {'Hit' | 'Stand'} answer @param {string} key */
  const decide = async ({ page }, answer, key) => {
    const result = page.getByRole('region', { name: 'Result' });
    const button = page.getByRole('button', { name: answer });
    for (;;) {
      await page.waitForFunction(
        ([name]) =>
          document.querySelector('[aria-label=Result]:not([hidden])') !== null ||
          [...document.querySelectorAll('button')].some((one) => one.textContent?.startsWith(name) && !one.disabled),
        [answer],
      );
      if (await result.isVisible()) return;
      if (key) await page.keyboard.press(key);
      else await button.click();
    }
  };
  const [said] = await Promise.all([bob.over, decide(ann, 'Stand', 's'), decide(eve, 'Hit', '')]);
  assert.equal(said.filter((message) => message.startsWith('RESULT')).length, 3);
  await Promise.all([ann.leave(), eve.leave()]);
});
