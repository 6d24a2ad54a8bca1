// The page in Polish on a small phone, and the choice of a language.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findings } from './support/axe.js';
import { Person } from './support/browser.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };
const PHONE = { locale: 'pl-PL', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, reducedMotion: /** @type {const} */ ('reduce') };

/**
 * Elements that are wider than the screen, or than their button.
 * @param {Person} person
 */
const overflows = ({ page }) =>
  page.evaluate(() => {
    const { scrollWidth } = document.documentElement;
    const wide = [...document.querySelectorAll('button, .button, select, header a, h1, h2')].filter((one) => {
      // Names may be truncated, and holes for pegs have no text.
      if (!one.checkVisibility() || one.id === 'who' || !one.textContent?.trim()) return false;
      const { left, right } = one.getBoundingClientRect();
      return one.scrollWidth > one.clientWidth + 1 || left < 0 || right > innerWidth + 1;
    });
    return [...(scrollWidth > innerWidth ? [`the page is ${scrollWidth} wide`] : []), ...wide.map((one) => `${one.tagName} ${one.textContent}`)];
  });

/** @param {Person} person @param {string} where */
async function fits(person, where) {
  // A dimmed page has too little contrast.
  await person.page.locator('main:not([data-away])').waitFor();
  assert.deepEqual(await overflows(person), [], where);
  assert.deepEqual(await findings(person), [], where);
}

test('shows the lobby, a match, its result and its replay in Polish', bound, async () => {
  const ala = await Person.come(browser, hub.address, 'Ala', PHONE);
  const { page } = ala;
  await ala.go('/');
  await page.getByRole('heading', { name: 'W co zagramy?' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'pl');
  await page.getByRole('link', { name: 'Zagadka' }).waitFor();
  await page.getByText('pustych pokoi').or(page.getByText('puste pokoje')).click();
  await page.getByText('kody, pionki: 4, z powtórzeniami').waitFor();
  await fits(ala, 'the rooms');
  const texts = ala.requests.filter((url) => url.includes('/text/'));
  assert.ok(texts.includes(`${hub.address}/text/pl.js`) && texts.every((url) => url.endsWith('/pl.js')), texts.join());
  await page.getByText('Utwórz własny pokój').click();
  await page.getByText('Jaskinia do odkrycia.').waitFor();
  await fits(ala, 'the lobby');

  const room = await hub.open({ game: 'robots', players: 1, turns: 40, turn_duration: 100 });
  await ala.go(`/rooms/${room.id}`);
  await ala.reads(/^Tura \d+ z 40\. .*\.$/);
  await fits(ala, 'a match');
  const result = page.getByRole('region', { name: 'Wynik' });
  await result.getByRole('heading', { name: 'Wygrywa Ala' }).waitFor();
  await result.getByText('0 śmierci').waitFor();
  await fits(ala, 'a result');
  await result.getByRole('link', { name: 'Powtórka' }).click();
  await page.getByRole('heading', { name: /^Powtórka: Roboty/ }).waitFor();
  await fits(ala, 'a replay');
  await ala.leave();
});

test('shows the other pages in Polish', bound, async () => {
  const ala = await Person.come(browser, hub.address, 'Ala', PHONE);
  const { page } = ala;
  const rooms = await hub.rooms();
  const room = (/** @type {string} */ game) => `/rooms/${rooms.find((one) => one.game === game)?.id}`;
  for (const [path, heading] of [
    ['/players', 'Gracze'],
    ['/mastermind', 'Zagadka dnia'],
    ['/learn', 'Zobacz, jak się uczy'],
    ['/nowhere', 'Nie znaleziono strony'],
    [`${room('nuggets')}?watch`, 'Bryłki'],
    [room('blackjack'), 'Blackjack'],
    [room('mastermind'), 'Mastermind'],
  ]) {
    await ala.go(path);
    await page.getByRole('heading', { name: heading }).first().waitFor();
    if (path.startsWith('/rooms/')) await page.locator('main .stage').waitFor();
    if (path === room('mastermind')) await page.getByRole('button', { name: 'Sprawdź' }).waitFor();
    if (path === room('blackjack')) await page.locator('.waiting').waitFor();
    if (path === '/learn') await page.locator('.chart td').first().waitFor();
    await fits(ala, path);
  }
  // The hub sends errors as English sentences.
  await ala.go('/players/Nikt');
  await page.getByRole('alert').filter({ hasText: 'Brak ukończonych meczów z tym nickiem.' }).waitFor();
  ala.faults = ala.faults.filter((fault) => !/404/.test(fault));
  await ala.leave();
});

test('stores the chosen language, and keeps the seat of a running game', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'main' });
  const ala = await Person.come(browser, hub.address, 'Ala', PHONE);
  const { page } = ala;
  await ala.go(`/rooms/${room.id}`);
  await ala.reads(/^\d+ · zostało \d+$/);
  await page.getByRole('button', { name: 'Sterowanie' }).click();
  await page.getByRole('dialog').getByLabel('Język').selectOption('English');
  await ala.reads(/^\d+ · \d+ left$/);
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  const { taken, players } = await hub.room(room.id);
  assert.deepEqual([taken, players.map(({ name }) => name)], [1, ['Ala']]);
  await ala.go('/');
  await page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
  assert.equal(await page.getByLabel('Language').inputValue(), 'en');
  await ala.leave();
});

test('falls back to English without the Polish file', bound, async () => {
  const ala = await Person.come(browser, hub.address, 'Ala', PHONE);
  await ala.page.route('**/text/pl.js', (route) => route.abort());
  await ala.go('/');
  await ala.page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
  assert.equal(await ala.page.locator('html').getAttribute('lang'), 'en');
  ala.faults = ala.faults.filter((fault) => !fault.includes('/text/pl.js'));
  await ala.leave();
});
