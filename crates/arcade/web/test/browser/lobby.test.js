// From the lobby through a game to its replay.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translate } from '../../js/lib/text.js';
import { Person } from './support/browser.js';
import { Hub } from './support/hub.js';
import * as native from './support/native.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };

test('the first page contains the lobby', bound, async () => {
  const rooms = await hub.rooms();
  const ann = await Person.come(browser, hub.address, 'Ann');
  // No socket ever opens.
  await ann.page.addInitScript(() => {
    globalThis.WebSocket = /** @type {any} */ (class extends EventTarget {
      close() {}
    });
  });
  await ann.go('/');
  for (const { id, title } of rooms) await ann.page.locator(`[data-room=${id}]`).getByText(translate(title)).waitFor({ state: 'attached' });
  await ann.leave();
});

test('everything is below the path of the public URL', bound, async () => {
  const games = await Hub.start('--public-url', 'https://play.example.org/games/');
  const ann = await Person.come(browser, games.address, 'Ann');
  const { page } = ann;
  await ann.go('/games');
  await page.getByLabel('Address of this page').getByText('https://play.example.org/games/').waitFor();
  await page.getByText('Show QR code').click();
  await page.locator('img[src="/games/qr.svg"]').waitFor();
  await page.getByRole('link', { name: 'Players' }).click();
  await page.getByRole('heading', { name: 'Players' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/games/players');
  assert.equal(await page.locator('nav [aria-current=page]').textContent(), 'Players');
  await page.getByRole('link', { name: 'Arcade' }).click();
  await page.getByRole('button', { name: 'Play now: Robots' }).click();
  await ann.reads(/Turn \d+ of/);
  await page.reload();
  await ann.reads(/Turn \d+ of/);
  assert.match(new URL(page.url()).pathname, /^\/games\/rooms\/robots-\d+$/);
  const outside = ann.requests.filter((url) => !new URL(url).pathname.startsWith('/games'));
  assert.deepEqual(outside, []);
  await ann.leave();
  await games.stop();
});

test('play now starts a match with bots under a guest name', bound, async () => {
  const zoe = await Person.come(browser, hub.address, '');
  const { page } = zoe;
  await zoe.go('/');
  const guest = (await page.locator('#who > :last-child').textContent()) ?? '';
  assert.match(guest, /^[A-Z][a-z]+\d{3}$/);
  await page.getByRole('button', { name: 'Play now: Robots' }).click();
  await zoe.reads(/Turn \d+ of/);
  await page.getByRole('region', { name: 'Players' }).getByText(guest).waitFor();
  await page.getByRole('region', { name: 'Players' }).getByText('bot', { exact: true }).first().waitFor();
  await page.keyboard.press('ArrowUp');
  await zoe.leave();
});

test('creates a room with the form, plays in it and shows the replay', bound, async () => {
  const ann = await Person.come(browser, hub.address, '');
  const { page } = ann;
  await ann.go('/');
  await ann.takesName('Mia');
  await page.getByText('Create a room').click();
  await page.getByLabel('Game').selectOption('robots');
  await page.getByLabel('Players').fill('1');
  await page.getByLabel('Turns').fill('12');
  await page.getByLabel('Turn duration').fill('100');
  await page.getByRole('button', { name: 'Create room' }).click();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('Mia').first().waitFor();
  // The replay has the address of the match, and ends with the same turn.
  await result.getByRole('link', { name: 'Replay' }).click();
  await page.getByRole('heading', { name: /^Replay: Robots/ }).waitFor();
  const turn = page.getByText(/^Turn \d+ of 12/);
  await turn.waitFor();
  await page.getByRole('slider', { name: 'Position' }).press('End');
  await page.waitForFunction(() => /Turn 12 of 12|over/.test(document.querySelector('main [role=status]')?.textContent ?? ''));
  const address = new URL(page.url());
  assert.ok(Number(address.searchParams.get('at')) > 0);
  await page.getByLabel('View', { exact: true }).selectOption({ index: 1 });
  await page.getByRole('heading', { name: /^Replay: Robots/ }).waitFor();
  assert.ok(new URL(page.url()).searchParams.get('seat'));
  await page.goto(hub.address);
  await page.getByRole('region', { name: 'Recent matches' }).getByText('Robots: Mia wins').first().waitFor();
  await ann.leave();
});

for (const viewport of [{ width: 1366, height: 768 }, { width: 360, height: 740 }]) {
  test(`${viewport.width}x${viewport.height}: a card shows the whole title of its room`, bound, async () => {
    const own = await Hub.start();
    const { port } = await own.open({ game: 'robots', players: 8, turns: 3000, turn_duration: 250, columns: 40, rows: 30, room: { name: 'The longest robots evening of them all' } });
    const bob = native.robots(port, 'Bob');
    const ann = await Person.come(browser, own.address, 'Ann', { viewport });
    const { page } = ann;
    await ann.go('/');
    const card = page.locator('.room').filter({ hasText: 'Bob' });
    for (const part of [card.getByRole('heading', { name: 'Robots · The longest robots evening of them all' }), card.getByText('8 robots on 40 x 30, 3000 turns')]) {
      await part.waitFor();
      assert.ok(await part.evaluate((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 1));
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    bob.stop();
    await ann.leave();
    await own.stop();
  });
}

test('lists rooms with players and folds the others, and joins by code', bound, async () => {
  const own = await Hub.start('--ladder', 'robots');
  const room = await own.open({ game: 'nuggets', room: { visibility: 'link' } });
  const ann = await Person.come(browser, own.address, 'Ann', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  const { page } = ann;
  await ann.go('/');
  await page.getByText('No games are running.').waitFor();
  const { id } = (await own.rooms()).find(({ game }) => game === 'nuggets') ?? { id: '' };
  assert.ok(await page.locator(`[data-room=${id}]`).isHidden());
  assert.equal(await page.getByRole('button', { name: /^Play now/ }).count(), 4);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height < 2200, `the lobby is ${height} pixels long`);
  // The tabs of a phone are at its lower edge.
  const bots = page.getByRole('link', { name: 'Bots', exact: true });
  const { y = 0 } = (await bots.boundingBox()) ?? {};
  assert.ok(y > 650, `${y}`);
  await bots.tap();
  await page.getByRole('heading', { name: 'Program ladder' }).waitFor();
  await page.getByLabel('Command that registers a program').getByText(`arcade ladder join NAME --server localhost:${own.port}`).waitFor();
  assert.equal(await page.locator('table').count(), 0, 'no table without programs');
  const bob = native.nuggets((await own.room(id)).port, 'Bob');
  await page.goBack();
  const card = page.locator(`[data-room=${id}]`);
  await card.getByText('Bob').waitFor();
  await page.locator('.tile[data-game=nuggets]').getByText('1 playing').waitFor();
  await page.getByLabel('Join with a code').fill(`${room.code?.slice(0, 4).toUpperCase()} ${room.code?.slice(4)}`);
  await page.getByRole('button', { name: 'Join', exact: true }).tap();
  await ann.hasSeat('A');
  assert.equal(new URL(page.url()).pathname, `/rooms/${room.id}`);
  bob.stop();
  await ann.leave();
  await own.stop();
});

test('explains why the hub rejects a name', bound, async () => {
  const chloe = await Person.come(browser, hub.address, '');
  const { page } = chloe;
  await chloe.go('/');
  await page.getByRole('button', { name: 'Change name' }).click();
  const [input, alert] = [page.getByLabel('Your name'), page.getByRole('alert').first()];
  for (const [name, why] of [['..', 'other than . and ..'], ['x'.repeat(21), 'up to 20 characters'], ['Chl\u043eé', 'one alphabet'], ['Chloé\u200b', 'not U+200B'], ['\u{1f1f5}', 'incomplete']]) {
    await input.fill(name);
    await page.keyboard.press('Enter');
    await alert.filter({ hasText: why }).waitFor();
  }
  await input.fill(' Chloé  the brave ');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'You play as Chloé the brave' }).waitFor();
  chloe.faults = chloe.faults.filter((fault) => !fault.includes('400'));
  await chloe.leave();
});

test('a name belongs to the browser that registered it first', bound, async () => {
  const first = await Person.come(browser, hub.address, '');
  await first.go('/');
  await first.takesName('Ida');
  const second = await Person.come(browser, hub.address, '');
  await second.go('/');
  await second.page.getByRole('button', { name: 'Change name' }).click();
  await second.page.getByLabel('Your name').fill('Ida');
  await second.page.keyboard.press('Enter');
  await second.page.getByRole('alert').filter({ hasText: 'This name is taken.' }).waitFor();
  await second.page.getByLabel('Your name').fill('Ina');
  await second.page.keyboard.press('Enter');
  await second.page.getByRole('button', { name: 'You play as Ina' }).waitFor();
  second.faults = second.faults.filter((fault) => !fault.includes('409'));
  // In a room both names are verified.
  const room = await hub.open({ game: 'nuggets', map: 'gold' });
  for (const person of [first, second]) {
    await person.go(`/rooms/${room.id}`);
    await person.reads('left');
  }
  const players = first.page.getByRole('region', { name: 'Players' });
  await players.getByText('Ina').waitFor();
  assert.equal(await players.getByText('guest').count(), 0);
  await Promise.all([first.leave(), second.leave()]);
});

test('shows the QR code of the address on demand', bound, async () => {
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.go('/');
  await ann.page.getByText('Show QR code').click();
  await ann.page.waitForFunction(() => {
    const image = document.querySelector('.qr img');
    return image instanceof HTMLImageElement && image.complete && image.naturalWidth > 0;
  });
  await ann.leave();
});

test('filters rooms by game and text, with an address for each filter', bound, async () => {
  for (let number = 0; number < 12; number += 1) await hub.open({ game: 'nuggets', map: 'spiral' });
  const ann = await Person.come(browser, hub.address, 'Ann');
  const { page } = ann;
  await ann.go('/?text=spiral');
  await page.getByText('map spiral').nth(11).waitFor();
  assert.equal(await page.locator('.room').count(), 12);
  await page.getByLabel('Find a room or player').fill('');
  await page.getByLabel('Filter rooms').selectOption('Robots');
  await page.locator('.room[data-game=nuggets]').first().waitFor({ state: 'detached' });
  await page.locator('.room[data-game=robots]').first().waitFor();
  assert.equal(new URL(page.url()).search, '?game=robots');
  await ann.leave();
});
