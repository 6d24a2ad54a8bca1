// The first minutes of a new player, on a phone, a tablet and a large screen.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Person } from './support/browser.js';
import { answer } from './support/fixtures.js';
import { browser, hub } from './support/site.js';
import * as native from './support/native.js';

const bound = { timeout: 120_000 };

const SIZES = /** @type {const} */ ([
  { width: 360, height: 740, touch: true },
  { width: 820, height: 1180, touch: true },
  { width: 1920, height: 1080, touch: false },
]);

/** Whether all visible elements of a selector are in the viewport. @param {Person} person @param {string} selector */
const inSight = ({ page }, selector) =>
  page.locator(selector).evaluateAll((all) => all.filter((one) => one.checkVisibility()).every((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  }));

for (const { width, height, touch } of SIZES) {
  /** @param {string} name */
  const come = (name) => Person.come(browser, hub.address, name, { viewport: { width, height }, hasTouch: touch, isMobile: touch });
  const size = `${width} x ${height}`;

  test(`${size}: introduces nuggets until the first move`, bound, async () => {
    const room = await hub.open({ game: 'nuggets', map: 'brawl' });
    const ann = await come('');
    const { page } = ann;
    await ann.go(`/rooms/${room.id}`);
    await ann.hasSeat('A');
    const intro = page.locator('.intro');
    await intro.getByText('Find the most gold').waitFor();
    assert.match((await intro.textContent()) ?? '', touch ? /swipe/ : /move/);
    await page.keyboard.press('ArrowLeft');
    await intro.waitFor({ state: 'hidden' });
    await page.reload();
    await ann.hasSeat('A');
    assert.ok(await intro.isHidden(), 'the introduction is shown once');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await ann.leave();
  });

  test(`${size}: keeps the buttons of blackjack and mastermind in the viewport, and explains the first answer`, bound, async () => {
    const ann = await come('Ann');
    const { page } = ann;
    const room = await hub.open({ game: 'blackjack', players: 1, rounds: 5 });
    await ann.go(`/rooms/${room.id}`);
    await ann.reads('Hit or stand?');
    assert.ok(await inSight(ann, '.controls:not(.more) button'), 'Hit and Stand');
    await page.getByRole('button', { name: 'Stand' }).click();
    await page.getByRole('button', { name: 'Next round' }).waitFor();
    assert.ok(await inSight(ann, '.controls:not(.more) button'), 'Next round');
    assert.ok(await inSight(ann, '.offer, .offer > *'), 'the offer of sound');
    const offer = await page.getByRole('group', { name: 'Sound' }).boundingBox();
    const table = await page.locator('.play').boundingBox();
    assert.ok(offer && table && (offer.x >= table.x + table.width || offer.y >= table.y + table.height), 'the offer of sound leaves the table free');
    const codes = await hub.open({ game: 'mastermind', seed: 7 });
    await ann.go(`/rooms/${codes.id}`);
    await ann.reads('Row 1 of 10');
    assert.ok(await inSight(ann, '.controls:not(.more) button'), 'Guess');
    for (const digit of '1122') await page.keyboard.press(digit);
    await page.keyboard.press('Enter');
    await page.locator('.legend').getByText('right colour, right place').waitFor();
    assert.equal(await page.locator('.legend').count(), 1);
    await ann.leave();
  });
}

test('robots: the first match shows blasts, and its result highlights', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 20, turn_duration: 100 });
  const ann = await Person.come(browser, hub.address, 'Ann');
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  const bob = native.robots(room.port, 'Bob');
  await ann.reads(/^Turn \d+/);
  await page.getByRole('button', { name: 'Blasts', pressed: true }).waitFor();
  await page.keyboard.press(' ');
  const story = page.getByRole('region', { name: 'Result' }).locator('.story');
  await story.getByRole('link').first().click();
  await page.getByRole('heading', { name: /^Replay: Robots/ }).waitFor();
  assert.match(page.url(), /\/matches\/[^?]+\?at=\d+/);
  bob.stop();
  // Later matches start without blasts.
  await ann.go(`/rooms/${room.id}`);
  await page.locator('.more [aria-pressed=false]').waitFor({ state: 'attached' });
  await ann.leave();
});

test('a guest can keep the name after a match', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 1, turns: 3, turn_duration: 100 });
  const guest = await Person.come(browser, hub.address, '');
  const { page } = guest;
  await guest.go(`/rooms/${room.id}`);
  const keep = page.getByRole('region', { name: 'Result' }).getByRole('button', { name: 'Keep this name' });
  await keep.click();
  const name = await page.getByLabel('Your name').inputValue();
  assert.match(name, /^[A-Z][a-z]+\d{3}$/);
  await page.keyboard.press('Enter');
  await keep.waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(() => localStorage.getItem('proven')), name);
  await guest.leave();
});

test('touch screens show no keys', bound, async () => {
  const ann = await Person.come(browser, hub.address, 'Ann', { viewport: { width: 820, height: 1180 }, hasTouch: true, isMobile: true });
  const { page } = ann;
  await answer(page);
  const rooms = await Promise.all(
    [{ game: 'nuggets', map: 'brawl' }, { game: 'robots', players: 1, turns: 3000 }, { game: 'blackjack', players: 1 }, { game: 'mastermind' }].map((options) => hub.open(options)),
  );
  for (const path of [...rooms.map(({ id }) => `/rooms/${id}`), '/matches/nuggets-1.1']) {
    await ann.go(path);
    await page.locator('.controls button:visible').first().waitFor();
    const help = page.getByRole('button', { name: 'Controls' });
    if (await help.isVisible()) await help.tap();
    const keys = await page.locator('kbd, .keys, .intro li').filter({ visible: true }).allTextContents();
    assert.deepEqual(keys.filter((text) => !/^(tap|swipe|drag) /.test(text)), [], path);
  }
  await ann.leave();
});
