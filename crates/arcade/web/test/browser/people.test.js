// Reloads, a killed hub, small screens, and use by keyboard alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { layout } from '../../js/games/nuggets/board.js';
import { initialState, fold } from '../../js/games/nuggets/fold.js';
import { Person } from './support/browser.js';
import { Hub } from './support/hub.js';
import { browser, hub } from './support/site.js';
import * as native from './support/native.js';

const bound = { timeout: 120_000 };

/** @param {Person} person */
async function map({ page }) {
  const rows = ((await page.getByLabel('Map as text').textContent()) ?? '').split('\n');
  const state = initialState();
  fold(state, { kind: 'grid', rows: rows.length, columns: rows[0].length });
  fold(state, { kind: 'display', rows });
  return state;
}

/**
 * @param {Person} person
 * @param {{ row: number, column: number }} place
 */
const stands = ({ page }, place) =>
  page.waitForFunction(
    ({ row, column }) => document.querySelector('pre')?.textContent?.split('\n')[row]?.[column] === '@',
    place,
  );

/**
 * A key that makes a step, and the place after it.
 * @param {import('../../js/games/nuggets/fold.js').NuggetsState} state
 */
function step({ place, terrain }) {
  assert.ok(place);
  for (const [key, down, right] of /** @type {const} */ ([['h', 0, -1], ['l', 0, 1], ['k', -1, 0], ['j', 1, 0]])) {
    const to = { row: place.row + down, column: place.column + right };
    if (terrain[to.row]?.[to.column] === '.') return { key, to };
  }
  throw new Error('there is nowhere to go');
}

test('keeps the seat after a reload during a game', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'main' });
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.go(`/rooms/${room.id}`);
  await ann.hasSeat('A');
  const { key, to } = step(await map(ann));
  await ann.page.keyboard.press(key);
  await stands(ann, to);
  await ann.page.reload();
  await ann.hasSeat('A');
  await stands(ann, to);
  assert.equal((await hub.room(room.id)).taken, 1);
  await ann.leave();
});

test('robots: keeps the robot after a reload during a game', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 1000, turn_duration: 100 });
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.go(`/rooms/${room.id}`);
  const bob = native.robots(room.port, 'Bob');
  await ann.reads(/Turn \d+ of 1000/);
  await ann.page.reload();
  await ann.reads(/Turn \d+ of 1000\. .*deaths?\.$/);
  await ann.page.getByRole('listitem').filter({ hasText: 'Ann' }).getByText('you').waitFor();
  await ann.page.keyboard.press(' ');
  await ann.page.waitForFunction(() => document.querySelector('pre')?.textContent?.includes('A bomb at'));
  bob.stop();
  await ann.leave();
});

test('blackjack: keeps the played rounds after a reload', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 1, rounds: 50 });
  const ann = await Person.come(browser, hub.address, 'Ann');
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  const tally = page.getByText(/^\d+ of 50 rounds/);
  for (let round = 0; round < 3; round += 1) await ann.stands();
  await ann.reads('Hit or stand?');
  const before = (await tally.textContent()) ?? '';
  assert.ok(parseInt(before, 10) >= 3, before);
  await page.reload();
  await ann.reads('Hit or stand?');
  assert.equal(await tally.textContent(), before);
  await ann.leave();
});

test('blackjack: counts a round that ended while the page was away', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 2, rounds: 50 });
  const [ann, eve] = await Promise.all(['Ann', 'Eve'].map((name) => Person.come(browser, hub.address, name)));
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('Waiting for players: 1 of 2.');
  await eve.go(`/rooms/${room.id}`);
  await ann.page.getByRole('button', { name: 'Stand' }).click();
  await ann.reads('Waiting for the other players.');
  await ann.go('/');
  await eve.stands();
  await eve.page.getByText('1 of 50 rounds').waitFor();
  await ann.go(`/rooms/${room.id}`);
  await ann.page.getByRole('button', { name: 'Next round' }).click();
  await ann.reads('Hit or stand?');
  await ann.page.getByText('1 of 50 rounds').waitFor();
  await ann.page.getByRole('button', { name: 'Stand' }).click();
  await eve.page.getByRole('button', { name: 'Stand' }).click();
  await Promise.all([ann, eve].map(({ page }) => page.getByText('2 of 50 rounds').waitFor()));
  await Promise.all([ann.leave(), eve.leave()]);
});

test('reports a killed hub, reconnects after its restart and keeps the seat', bound, async () => {
  const own = await Hub.start();
  try {
    const room = await own.open({ game: 'nuggets', map: 'main' });
    const ann = await Person.come(browser, own.address, 'Ann');
    await ann.go(`/rooms/${room.id}`);
    await ann.hasSeat('A');
    const { key, to } = step(await map(ann));
    await ann.page.keyboard.press(key);
    await stands(ann, to);
    await own.end('SIGKILL');
    await ann.page.getByText('Connection lost').waitFor();
    await own.begin();
    await ann.page.getByText('Connection lost').waitFor({ state: 'detached' }).catch(() => {});
    await ann.page.locator('#link[data-state=open]').waitFor();
    await stands(ann, to);
    const next = step(await map(ann));
    await ann.page.keyboard.press(next.key);
    await stands(ann, next.to);
    await ann.hasSeat('A');
    // Refused sockets are expected here.
    ann.faults = ann.faults.filter((fault) => !/WebSocket|ERR_CONNECTION_REFUSED/.test(fault));
    await ann.leave();
  } finally {
    await own.stop();
  }
});

test('on a phone a tap walks, a swipe steps, and pages fit the screen', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  const size = { width: 360, height: 740 };
  const ann = await Person.come(browser, hub.address, 'Ann', { viewport: size, hasTouch: true, isMobile: true });
  const { page } = ann;
  await ann.go('/');
  await page.getByText(/^Show .* empty/).tap();
  await page.getByRole('link', { name: `Join ${room.id}` }).tap();
  await ann.hasSeat('A');
  const state = await map(ann);
  // The farthest visible cell of the room on the screen.
  const box = await page.getByLabel('Map', { exact: true }).boundingBox();
  assert.ok(box && state.place);
  const ratio = await page.evaluate(() => devicePixelRatio);
  const covered = await page.locator('.hud').evaluate((one) => one.getBoundingClientRect().height);
  const place = layout(state, box.width, box.height, { whole: false, zoom: 1, focus: state.place, ratio, covered });
  const point = (/** @type {{ row: number, column: number }} */ { row, column }) => ({
    x: box.x + (column + 0.5) * place.cell - place.left,
    y: box.y + (row + 0.5) * place.cell * 1.25 - place.top,
  });
  const inside = (/** @type {{ row: number, column: number }} */ cell) => {
    const { x, y } = point(cell);
    // Figures are above, and buttons below.
    return x > box.x && x < box.x + box.width && y > box.y + covered && y < box.y + box.height - 80;
  };
  const own = state.place;
  // Floor that is connected with the player's cell.
  const cells = [own];
  for (const { row, column } of cells) {
    for (const [down, right] of [[0, 1], [0, -1], [1, 0], [-1, 0]]) {
      const next = { row: row + down, column: column + right };
      const isKnown = cells.some((cell) => cell.row === next.row && cell.column === next.column);
      if (state.terrain[next.row]?.[next.column] === '.' && !isKnown) cells.push(next);
    }
  }
  const far = (/** @type {{ row: number, column: number }} */ { row, column }) => Math.max(Math.abs(row - own.row), Math.abs(column - own.column));
  const [goal] = cells.filter(inside).sort((one, other) => far(other) - far(one));
  const { x, y } = point(goal);
  await page.touchscreen.tap(x, y);
  await stands(ann, goal);
  const { key, to } = step(await map(ann));
  const [dx, dy] = { h: [-1, 0], l: [1, 0], k: [0, -1], j: [0, 1] }[key];
  const touch = await page.context().newCDPSession(page);
  const from = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [from] });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: from.x + dx * 40, y: from.y + dy * 40 }] });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await stands(ann, to);
  for (const path of ['/', `/rooms/${room.id}`, `/rooms/${room.id}?watch`, '/players']) {
    await ann.go(path);
    await page.locator('main h1').waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= size.width, `${path} is too wide`);
  }
  await ann.leave();
});

test('plays from the lobby and back by keyboard alone', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 1, turns: 20, turn_duration: 100 });
  const ann = await Person.come(browser, hub.address, '');
  const { page } = ann;
  /** @param {string} name */
  const tabTo = async (name) => {
    for (let press = 0; press < 60; press += 1) {
      await page.keyboard.press('Tab');
      const label = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);
      if (label === name) return;
    }
    throw new Error(`the focus does not reach ${name}`);
  };
  await ann.go('/');
  await page.locator('details:not([hidden]) > summary').first().press('Enter');
  await page.getByRole('link', { name: `Join ${room.id}` }).waitFor();
  await tabTo(`Join ${room.id}`);
  await page.keyboard.press('Enter');
  await ann.reads(/Turn \d+ of 20/);
  const guest = (await page.locator('#who > :last-child').textContent()) ?? '';
  await page.keyboard.press('ArrowRight');
  await page.getByRole('region', { name: 'Result' }).getByText(guest).first().waitFor();
  await tabTo('Lobby');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: /Robots/, level: 1 }).waitFor();
  await page.context().close();
});

test('keys play the game after a click on a button or a list', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 100, turn_duration: 2000 });
  const ann = await Person.come(browser, hub.address, 'Ann', { hasTouch: true });
  await ann.owns(room);
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('You are in.');
  await page.getByLabel('Bot level').selectOption('easy');
  await page.getByRole('button', { name: 'Add bot' }).click();
  await ann.reads(/^Turn \d+ of 100\. 0 hits, 0 deaths\.$/);
  const chosen = page.locator('.controls .chosen');
  /** @param {string} key @param {string} name Of the button of the chosen action. */
  const press = async (key, name) => {
    await page.keyboard.press(key);
    await chosen.and(page.getByRole('button', { name })).waitFor();
  };
  // Space places a bomb instead of pressing the button that was clicked last.
  for (const name of ['Move up', 'Place a block', 'Sound']) {
    await page.getByRole('button', { name, exact: true }).click();
    await press(' ', 'Place a bomb');
  }
  assert.equal(await page.getByRole('button', { name: 'Sound', exact: true }).getAttribute('aria-pressed'), 'true', 'it was pressed once');
  await page.getByRole('button', { name: 'Sound', exact: true }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press(' ');
  assert.equal(await page.getByRole('button', { name: 'Sound', exact: true }).getAttribute('aria-pressed'), 'false');
  await ann.leave();
});

test('elements under the pointer do not move while other players play', bound, async () => {
  const room = await hub.open({ game: 'mastermind', mode: 'race', players: 2, seed: 7 });
  const [ann, eve, zoe] = await Promise.all(['Ann', 'Eve', 'Zoe'].map((name) => Person.come(browser, hub.address, name)));
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  await Promise.all([ann, eve].map((person) => person.reads('Row 1 of 10')));
  await ann.page.locator('.waiting').waitFor({ state: 'hidden' });
  const where = () => ann.page.locator('.board').evaluate((board) => board.getBoundingClientRect().top);
  const before = await where();
  // All chips together are wider than the line.
  await zoe.go(`/rooms/${room.id}?watch`);
  await ann.page.locator('.headline .chips').getByText('1 watching').waitFor();
  assert.equal(await where(), before, 'messages above the board do not move it');
  const hole = ann.page.getByRole('button', { name: 'Place 3: empty' });
  const box = await hole.boundingBox();
  assert.ok(box);
  await ann.page.mouse.move(box.x + 5, box.y + 5);
  await ann.page.mouse.down();
  for (const key of ['1', '1', '3', '3', 'Enter']) await eve.page.keyboard.press(key);
  await ann.page.getByRole('button', { name: 'Eve: row 1' }).waitFor();
  await ann.page.mouse.up();
  await ann.page.keyboard.press('5');
  await ann.page.getByRole('button', { name: 'Place 3: 5' }).waitFor();
  await Promise.all([ann, eve, zoe].map((person) => person.leave()));
});

test('without storage the player keeps name and seat for the visit, with a notice', bound, async () => {
  const owner = await Person.come(browser, hub.address, '');
  await owner.go('/');
  await owner.takesName('Zora');
  const zora = await Person.come(browser, hub.address, '');
  const { page } = zora;
  await page.addInitScript(() => {
    for (const storage of ['localStorage', 'sessionStorage'])
      Object.defineProperty(globalThis, storage, { get: () => { throw new DOMException('blocked', 'SecurityError'); } });
  });
  const room = await hub.open({ game: 'nuggets', map: 'main' });
  for (const letter of ['A', 'B']) {
    await zora.go('/');
    await zora.takesName('Zora');
    if (letter === 'A') await page.getByText(/^Show .* empty/).click();
    await page.getByRole('link', { name: `Join ${room.id}` }).click();
    await zora.hasSeat(letter);
    await page.getByText('This browser does not save data').waitFor();
  }
  await Promise.all([owner.leave(), zora.leave()]);
});

test('unknown addresses show a page with a link to the lobby', bound, async () => {
  const ann = await Person.come(browser, hub.address, 'Ann');
  for (const [path, heading] of [['/nowhere', 'Page not found'], ['/rooms/chess-1', 'Room not found']]) {
    await ann.go(path);
    await ann.page.getByRole('heading', { name: heading }).waitFor();
    await ann.page.getByRole('link', { name: /lobby/i }).click();
    await ann.page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
  }
  ann.faults = ann.faults.filter((fault) => !fault.includes('404'));
  await ann.leave();
});
