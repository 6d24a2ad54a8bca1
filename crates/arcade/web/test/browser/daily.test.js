// The daily challenges against the real bots. Each test plays the only match of its browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findings } from './support/axe.js';
import { Person } from './support/browser.js';
import { browser, hub } from './support/site.js';

/** A match ends when its turns are over, or when the bots have found all gold. */
const bound = { timeout: 600_000 };
const MATCH = 480_000;
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** @param {Person} person @param {string} game @param {string} key */
const start = (person, game, key) => person.page.request.post(`${hub.address}/api/daily/${game}`, { data: { key }, failOnStatusCode: false });

/** The key of the persons of these tests. */
const KEY = 'A'.repeat(43);

for (const [game, title, options, unit] of /** @type {[string, string, import('playwright-core').BrowserContextOptions, RegExp][]} */ ([
  ['robots', 'Robots', { viewport: { width: 1366, height: 768 } }, /points?$/],
  ['nuggets', 'Nuggets', { ...PHONE, reducedMotion: 'reduce' }, /nuggets?$/],
])) {
  test(`${game}: one attempt a day, with score, distribution and a result to share`, bound, async () => {
    const ann = await Person.come(browser, hub.address, 'Ann', { ...options, acceptDownloads: true });
    const { page } = ann;
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: (/** @type {string} */ text) => Promise.resolve(void (document.body.dataset.copied = text)) } });
      Object.defineProperty(navigator, 'canShare', { value: undefined });
    });
    await ann.go('/');
    const panel = page.getByRole('region', { name: `${title} challenge` });
    await panel.getByText('One match for all players.').waitFor();
    await page.locator(`.tile[data-game=${game}] .day`).click();
    await page.getByRole('heading', { name: `${title} challenge` }).waitFor();
    await page.getByText(/same three bots/).waitFor();
    await page.locator('.rules figure, .rules svg').first().waitFor();
    assert.deepEqual(await findings(ann), []);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.waitForURL(/\/rooms\//);
    const path = new URL(page.url()).pathname;
    for (const name of ['Ann', 'Bot Ada', 'Bot Alan', 'Bot Grace']) await page.locator('.players li').filter({ hasText: name }).waitFor({ state: 'attached' });
    assert.ok(!(await hub.rooms()).some(({ id }) => path === `/rooms/${id}`), 'the room is not listed');
    assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0);

    // The same browser returns to the same match, and only as its player.
    const again = await start(ann, game, KEY);
    assert.deepEqual([again.status(), `/rooms/${(await again.json()).id}`], [200, path]);
    await page.reload();
    await page.locator('.players li.own').waitFor();
    const eve = await Person.come(browser, hub.address, 'Eve');
    await eve.page.addInitScript(() => localStorage.setItem('key', 'B'.repeat(42) + 'A'));
    await eve.go(path);
    await eve.page.getByRole('heading', { name: 'Room not found' }).waitFor();
    eve.faults = eve.faults.filter((fault) => !/404/.test(fault));
    await eve.leave();

    const results = page.getByRole('link', { name: "Today's results" });
    await results.waitFor({ timeout: MATCH });
    assert.equal(await page.getByRole('button', { name: 'Rematch' }).count(), 0);
    await results.click();
    const score = page.locator('.own-result .score').filter({ hasText: unit });
    await score.waitFor();
    await page.getByText('The first result today.').waitFor();
    await page.getByRole('heading', { name: '1 player today' }).waitFor();
    await page.getByRole('img', { name: /^Players by score: .*: 1$/ }).waitFor();
    await page.getByText('Streak: 1 day').waitFor();
    assert.deepEqual(await findings(ann), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.getByRole('button', { name: 'Copy result' }).click();
    const copied = (await page.locator('body').getAttribute('data-copied')) ?? '';
    assert.deepEqual(copied.split('\n').slice(1, 3), ['The first result today.', '●']);
    assert.match(copied, new RegExp(`^${title} challenge \\d{4}-\\d\\d-\\d\\d: ${await score.textContent()}\n`));
    assert.match(copied, new RegExp(`/daily/${game}$`));
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Share picture' }).click();
    assert.match((await saved).suggestedFilename(), new RegExp(`^${game}-\\d{4}-\\d\\d-\\d\\d\\.png$`));

    // The attempt is used, and the match is hidden until the day is over.
    assert.equal(await page.getByRole('button', { name: 'Play', exact: true }).count(), 0);
    assert.equal((await start(ann, game, KEY)).status(), 409);
    const found = await (await fetch(`${hub.address}/api/daily/${game}`, { headers: { authorization: `Bearer ${KEY}` } })).json();
    assert.deepEqual(found.scores, [[found.own.score, 1]]);
    const match = `${hub.address}/api/matches/${found.own.match}`;
    assert.equal((await (await fetch(match)).json()).casual, 'challenge');
    for (const part of ['timeline', 'frames?from=0&to=1000', 'lines']) assert.equal((await fetch(`${match}/${part}`)).status, 403, part);

    await ann.go('/');
    await panel.getByRole('link', { name: `Result: ${title} challenge` }).waitFor();
    await panel.getByText('Streak: 1 day').waitFor();
    await ann.leave();
  });
}
