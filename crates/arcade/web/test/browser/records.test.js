// Canned API responses; tests/hub checks the real ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Person } from './support/browser.js';
import { answer } from './support/fixtures.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };

test('plays, steps and seeks a replay, with addresses of its moments', bound, async () => {
  const ann = await Person.come(browser, hub.address, 'Ann');
  const { page } = ann;
  await answer(page);
  await ann.go('/matches/nuggets-1.1');
  const map = page.getByLabel('Map as text');
  /** Waits until A is in a column of the third row. @param {number} column */
  const shows = (column) =>
    page.waitForFunction((wanted) => document.querySelector('pre')?.textContent?.split('\n')[2]?.indexOf('A') === wanted, column);
  await shows(3);
  await page.getByRole('button', { name: 'Step forward' }).click();
  await shows(4);
  await page.getByRole('button', { name: 'Ann finds 12 nuggets' }).click();
  await shows(11);
  assert.equal(new URL(page.url()).searchParams.get('at'), '8000');
  await page.reload();
  await shows(11);
  await page.getByRole('button', { name: 'Step back' }).click();
  await shows(10);
  await page.getByLabel('Speed').selectOption('64');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByText('0:40 / 0:40').waitFor();
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  await page.locator('main').focus();
  await page.keyboard.press('Home');
  await shows(3);
  await page.keyboard.press('ArrowRight');
  await shows(8);
  assert.equal(await page.locator('main b').count(), 0);
  const download = page.getByRole('link', { name: 'Download data' });
  assert.equal(await download.getAttribute('href'), '/api/matches/nuggets-1.1/lines');
  assert.match((await map.textContent()) ?? '', /B/);
  await ann.leave();
});

test('shows leaderboards, a player, and the comparison of two players', bound, async () => {
  const ann = await Person.come(browser, hub.address, 'Ann');
  const { page } = ann;
  await answer(page);
  await ann.go('/players');
  await page.getByRole('link', { name: 'Oct–Dec 2026' }).waitFor();
  const board = page.getByRole('region', { name: 'Nuggets' });
  const rating = board.getByText('1720 ± 80');
  assert.ok(((await rating.boundingBox())?.height ?? 99) < 60, 'a rating is one line');
  await board.getByRole('row').filter({ hasText: '<b>Eve' }).getByText('guest').waitFor();
  await board.getByRole('link', { name: 'Ann' }).click();
  await page.getByRole('heading', { name: 'Ann', level: 1 }).waitFor();
  await page.getByRole('img', { name: /^Rating in Nuggets: from 1500 to/ }).waitFor();
  const placement = page.locator('.panel[data-game=robots]');
  await placement.getByText('Placement 9 of 10').waitFor();
  assert.doesNotMatch((await placement.textContent()) ?? '', /1490/, 'no rating before ten matches');
  await page.getByLabel('Compare with').fill('<b>Eve');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Ann vs <b>Eve' }).waitFor();
  await page.getByText('12 : 7').waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Ann', level: 1 }).waitFor();
  await ann.leave();
});

test('players and profiles fit all sizes, with matches beside the games where there is space', bound, async () => {
  for (const [width, height] of [[360, 740], [820, 1180], [1366, 768], [1920, 1080]]) {
    const ann = await Person.come(browser, hub.address, 'Ann', { viewport: { width, height } });
    const { page } = ann;
    await answer(page);
    await ann.go('/players');
    const name = page.getByRole('link', { name: '<b>Eve' }).first();
    assert.ok(((await name.boundingBox())?.height ?? 99) < 40, `${width}: a short name is one line`);
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    assert.ok(await fits(), `${width}: players`);
    await ann.go('/players/Ann');
    const games = await page.locator('.games').boundingBox();
    const matches = await page.getByRole('region', { name: 'Matches' }).boundingBox();
    assert.ok(games && matches);
    assert.equal(matches.x >= games.x + games.width, width > 1000, `${width}: matches beside the games`);
    assert.ok(await fits(), `${width}: a profile`);
    await ann.leave();
  }
});

test('the page of puzzles uses the window, with the rules as pictures and the record of the player', bound, async () => {
  for (const [width, height] of [[360, 740], [820, 1180], [1366, 768]]) {
    const ann = await Person.come(browser, hub.address, 'Ann', { viewport: { width, height } });
    const { page } = ann;
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await page.addInitScript((day) => localStorage.setItem(`mastermind ${day}`, '1 won 4'), yesterday);
    await ann.go('/mastermind');
    await page.getByText('Streak: 1 day').waitFor();
    await page.getByRole('img', { name: /^Your guesses: 1: 0, 2: 0, 3: 0, 4: 1/ }).waitFor();
    await page.getByText('White: wrong place').waitFor();
    const parts = (await page.locator('.cards-of-games').boundingBox()) ?? assert.fail();
    assert.ok(parts.height > height * 0.55, `${width}: ${parts.height} of ${height}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}`);
    await ann.leave();
  }
});

test("the result of today's puzzle is shared as a picture, after the game and on the page of puzzles", bound, async () => {
  const ann = await Person.come(browser, hub.address, 'Ann', { viewport: { width: 360, height: 740 }, acceptDownloads: true });
  const { page } = ann;
  await page.addInitScript(() => Object.defineProperty(navigator, 'canShare', { value: undefined }));
  await ann.go('/mastermind');
  assert.equal(await page.getByRole('button', { name: 'Share picture' }).count(), 0, 'no picture without a result');
  await page.locator('.today').getByRole('link', { name: 'Play' }).click();
  await ann.reads('Row 1 of 10');
  await page.keyboard.type('1122');
  await page.keyboard.press('Enter');
  await ann.reads('Row 2 of 10');
  await ann.givesUp();
  for (const path of [null, '/mastermind']) {
    if (path) await ann.go(path);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Share picture' }).click();
    const picture = await saved;
    assert.match(picture.suggestedFilename(), /^mastermind-\d{4}-\d\d-\d\d\.png$/);
    const bytes = readFileSync(await picture.path());
    assert.deepEqual([bytes.toString('latin1', 1, 4), bytes.readUInt32BE(16), bytes.readUInt32BE(20)], ['PNG', 1200, 630]);
  }
  await ann.leave();
});

test('guests can keep the name on their own page only', bound, async () => {
  const guest = await Person.come(browser, hub.address, '');
  const { page } = guest;
  await page.route('**/api/players/*', (route) => route.fulfill({ json: { name: 'x', proven: false, bot: false, games: {}, matches: [] } }));
  await guest.go('/');
  const name = (await page.locator('#who > :last-child').textContent()) ?? '';
  const keep = page.getByRole('button', { name: 'Keep this name' });
  for (const [player, count] of /** @type {[string, number][]} */ ([['Zoe', 0], [name, 1]])) {
    await guest.go(`/players/${player}`);
    await page.getByText('Guest', { exact: true }).waitFor();
    assert.equal(await keep.count(), count, player);
  }
  await guest.leave();
});
