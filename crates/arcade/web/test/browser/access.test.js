// Axe on every page, light and dark.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findings } from './support/axe.js';
import { Person } from './support/browser.js';
import { answer } from './support/fixtures.js';
import { browser, hub } from './support/site.js';
import * as native from './support/native.js';

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`all pages pass axe, ${colorScheme}`, { timeout: 180_000 }, async () => {
    const rooms = await hub.rooms();
    const id = (/** @type {string} */ game) => rooms.find((room) => room.game === game)?.id;
    const robots = await hub.open({ game: 'robots', players: 2, turns: 3000, turn_duration: 100 });
    const other = native.robots(robots.port, 'Bob');
    const ann = await Person.come(browser, hub.address, 'Ann', { colorScheme, reducedMotion: 'reduce' });
    /**
     * @param {string} path
     * @param {() => Promise<unknown>} ready
     */
    const check = async (path, ready) => {
      await ann.go(path);
      await ready();
      assert.deepEqual(await findings(ann), [], `${path}, ${colorScheme}`);
    };
    const { page } = ann;
    await check('/', async () => {
      await page.locator('#who:not(:empty)').waitFor();
      for (const summary of await page.locator('summary').all()) if (await summary.isVisible()) await summary.click();
      ann.faults = ann.faults.filter((fault) => !/404/.test(fault));
    });
    await page.getByRole('button', { name: 'Create a room' }).click();
    await page.getByLabel('Map', { exact: true }).waitFor();
    assert.deepEqual(await findings(ann), [], `a new room, ${colorScheme}`);
    await check(`/rooms/${id('nuggets')}`, () => ann.reads('left'));
    await check(`/rooms/${id('nuggets')}?watch`, () => ann.reads('left'));
    await check(`/rooms/${robots.id}`, () => ann.reads('Turn'));
    await check(`/rooms/${robots.id}?watch`, () => ann.reads('Turn'));
    await check(`/rooms/${id('blackjack')}`, () => ann.reads(/Waiting|stand|others|win|draw|dealer|Bust/i));
    await check(`/rooms/${id('blackjack')}?watch`, () => page.locator('main .stage').waitFor());
    const codes = await hub.open({ game: 'mastermind' });
    await check(`/rooms/${codes.id}`, async () => {
      await ann.reads('Row 1 of 10');
      await page.keyboard.type('1122');
      await page.keyboard.press('Enter');
      await ann.reads('Row 2 of 10');
    });
    await ann.givesUp();
    await page.getByRole('button', { name: 'New game' }).waitFor();
    assert.deepEqual(await findings(ann), [], `the end of mastermind, ${colorScheme}`);
    const table = await hub.open({ game: 'blackjack', players: 1, rounds: 1 });
    await native.blackjack(table.port, 'Bob').over;
    const match = (await hub.room(table.id)).match ?? assert.fail();
    while (!(await fetch(`${hub.address}/api/matches/${match}/timeline`)).ok) await page.waitForTimeout(100);
    await check(`/matches/${match}`, () => page.locator('.card').first().waitFor());
    await check('/mastermind', () => page.getByRole('heading', { name: "Today's puzzle" }).waitFor());
    for (const game of ['nuggets', 'robots']) await check(`/daily/${game}`, () => page.getByRole('button', { name: 'Play', exact: true }).waitFor());
    await check('/learn', () => page.locator('.chart td').first().waitFor());
    await answer(page);
    await check('/players', () => page.locator('table').first().waitFor());
    await check('/ladder', async () => {
      await page.getByRole('table').getByText('Bob the long-winded').waitFor();
      await page.getByText('Cleo is waiting').waitFor();
    });
    await check('/players/Ann', () => page.locator('.match').first().waitFor());
    await check('/players/Ann/against/Bob', () => page.locator('meter').first().waitFor());
    await check('/matches/nuggets-1.1', () => page.getByText('Ann finds 12 nuggets').waitFor());
    await check('/nowhere', () => page.getByRole('heading', { name: 'Page not found' }).waitFor());
    await page.getByRole('button', { name: 'Change name' }).click();
    assert.deepEqual(await findings(ann), [], `the name, ${colorScheme}`);
    other.stop();
    ann.faults = ann.faults.filter((fault) => !/404/.test(fault));
    await ann.leave();
  });
}
