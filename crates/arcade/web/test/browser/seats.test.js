// Seats as the hub assigns them: players of the same name, rooms that the host closes, and removed players.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Person } from './support/browser.js';
import * as native from './support/native.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };

/** @param {Person} person */
const ownLine = ({ page }) => page.locator('.players li.own');

test('robots: players of the same name have separate seats', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 1000, turn_duration: 100 });
  const [one, two] = await Promise.all([1, 2].map(() => Person.come(browser, hub.address, 'Ann')));
  await one.go(`/rooms/${room.id}`);
  await one.reads('You are in.');
  await two.go(`/rooms/${room.id}`);
  await Promise.all([one, two].map((person) => person.reads(/^Turn \d+ of 1000\. .*deaths?\.$/)));
  // The second page may show the first one's seat until the hub sends its own.
  await ownLine(two).locator('.mark').filter({ hasText: '1' }).waitFor();
  assert.equal(await ownLine(one).locator('.mark').textContent(), '0');
  // A bomb appears at the place of its player.
  const board = two.page.getByLabel('Board as text');
  const stood = /You are at (\(.*?\))/.exec((await board.textContent()) ?? '');
  assert.ok(stood);
  await two.page.keyboard.press(' ');
  await board.filter({ hasText: `A bomb at ${stood[1]}` }).waitFor({ state: 'attached' });
  await Promise.all([one.leave(), two.leave()]);
});

test('blackjack: two tabs with one name are two players', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 2, rounds: 50 });
  const [one, two] = await Promise.all([1, 2].map(() => Person.come(browser, hub.address, 'Ann')));
  for (const person of [one, two]) await person.go(`/rooms/${room.id}`);
  await Promise.all([one, two].map((person) => ownLine(person).waitFor()));
  const seats = await Promise.all([one, two].map((person) => ownLine(person).locator('.mark').textContent()));
  assert.equal(new Set(seats).size, 2, `both are told to be ${seats[0]}`);
  for (const { page } of [one, two]) {
    await page.getByRole('group', { name: 'Ann', exact: true }).waitFor();
    await page.getByRole('group', { name: "Ann's hand" }).waitFor();
  }
  await Promise.all([one.leave(), two.leave()]);
});

test('a second tab watches until it takes the seat, and a reopened tab has the seat and the room', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.owns(room);
  const open = async () => {
    const page = await ann.page.context().newPage();
    await page.goto(`${hub.address}/rooms/${room.id}`);
    return page;
  };
  const hasSeat = (/** @type {import('playwright-core').Page} */ page) => page.locator('.players li.own .mark').filter({ hasText: 'A' }).waitFor();
  await ann.go(`/rooms/${room.id}`);
  await ann.hasSeat('A');
  const second = await open();
  const here = second.getByRole('link', { name: 'Play here' });
  await here.waitFor();
  await second.locator('.players li').filter({ hasText: 'Ann' }).waitFor();
  await hasSeat(ann.page);
  await here.click();
  await ann.page.getByText('You are playing in another window now.').waitFor();
  await hasSeat(second);
  await ann.page.getByRole('button', { name: 'Play here' }).click();
  await second.getByText('You are playing in another window now.').waitFor();
  await hasSeat(ann.page);
  await Promise.all([ann.page.close(), second.close()]);
  const third = await open();
  await hasSeat(third);
  await third.getByRole('button', { name: 'Your room' }).waitFor();
  await ann.leave();
});

test('shows why the host closed a room or removed a player', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  const [ann, bob, zoe] = await Promise.all(['Ann', 'Bob', 'Zoe'].map((name) => Person.come(browser, hub.address, name)));
  await ann.owns(room);
  for (const person of [ann, bob]) {
    await person.go(`/rooms/${room.id}`);
    await person.reads('left');
    await person.page.getByRole('button', { name: 'Invite friends' }).waitFor();
  }
  await zoe.go(`/rooms/${room.id}?watch`);
  await zoe.reads('left');
  assert.ok(await zoe.page.getByRole('link', { name: 'Play' }).isVisible());
  hub.command('kick', room.id, 'Bob');
  await bob.page.getByText('The host of this arcade removed you from the room.').waitFor();
  hub.command('room', 'close', room.id, '--reason', 'dinner is ready');
  await ann.page.getByText('This room is closed: dinner is ready.').waitFor();
  for (const { page } of [ann, bob]) {
    await page.getByRole('region', { name: 'Result' }).getByRole('link', { name: 'Lobby' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Play again' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: /^(Invite friends|Your room|Mute players|Say: Hello!)$/ }).count(), 0, 'what a closed room does not offer');
  }
  await zoe.page.getByText('This room is closed: dinner is ready.').waitFor();
  assert.equal(await zoe.page.getByRole('link', { name: 'Play' }).count(), 0);
  await Promise.all([ann.leave(), bob.leave(), zoe.leave()]);
});

test('a closed room offers no other match, also beside a result', bound, async () => {
  const robots = await hub.open({ game: 'robots', players: 1, turns: 3, turn_duration: 100 });
  const codes = await hub.open({ game: 'mastermind' });
  const [ann, zoe, bob] = await Promise.all(['Ann', 'Zoe', 'Bob'].map((name) => Person.come(browser, hub.address, name)));
  await zoe.go(`/rooms/${robots.id}?watch`);
  await ann.go(`/rooms/${robots.id}`);
  await ann.page.getByRole('button', { name: 'Rematch' }).waitFor();
  await bob.go(`/rooms/${codes.id}`);
  await bob.reads('Row 1 of 10');
  await bob.givesUp();
  await bob.page.getByRole('button', { name: 'New game' }).waitFor();
  for (const { id } of [robots, codes]) hub.command('room', 'close', id, '--reason', 'dinner is ready');
  for (const { page } of [ann, zoe, bob]) {
    await page.getByText('This room is closed: dinner is ready.').waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Play again|Watch again|Rematch|New game)/ }).count(), 0);
  }
  await Promise.all([ann, zoe, bob].map((person) => person.leave()));
});

test('blackjack: shows verdict, dealer and remaining time until the player continues', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 1, rounds: 2 });
  const ann = await Person.come(browser, hub.address, 'Ann');
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('Hit or stand?');
  assert.equal(await page.getByRole('region', { name: 'Dealer' }).locator('.card.back').count(), 1);
  await page.getByRole('button', { name: 'Stand' }).click();
  await ann.reads(/^(You win|Draw|Dealer wins)\. You .*\d, dealer .*\d\.$/);
  // The dealer's hand is revealed now.
  assert.equal(await page.getByRole('region', { name: 'Dealer' }).locator('.card.back').count(), 0);
  await page.getByRole('progressbar', { name: 'Time left' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Hit' }).count(), 0);
  await page.keyboard.press('Enter');
  await ann.reads('Hit or stand?');
  await page.keyboard.press('s');
  await page.getByText(/That was the last round\.$/).waitFor();
  // The result, the list of players and the stored match have the same score, in rounds won.
  const result = page.getByRole('region', { name: 'Result' });
  const score = (await result.locator('.value').textContent()) ?? '';
  assert.match(score, /^\d rounds? won$/);
  const { result: told } = await hub.room(room.id);
  assert.equal(parseInt(score, 10), told?.[0].score);
  await ann.leave();
});

test('blackjack: shows the hands of all players after each round, also the last', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 2, rounds: 1 });
  const [ann, bob] = await Promise.all(['Ann', 'Bob'].map((name) => Person.come(browser, hub.address, name)));
  /** @param {Person} person @param {string} name */
  const cards = ({ page }, name) => page.getByRole('group', { name, exact: true }).locator('.card');
  for (const person of [ann, bob]) await person.go(`/rooms/${room.id}`);
  await ann.reads('Hit or stand?');
  assert.equal(await cards(ann, 'Bob').and(ann.page.locator('.back')).count(), 2, 'hidden as for native clients');
  await ann.page.getByRole('button', { name: 'Stand' }).click();
  await bob.reads('Hit or stand?');
  await bob.page.getByRole('button', { name: 'Stand' }).click();
  for (const [one, other] of [[ann, bob], [bob, ann]]) {
    await one.page.getByText(/That was the last round\.$/).waitFor();
    const [own] = await other.page.locator('.place.own').all();
    const labels = await own.locator('.card').evaluateAll((all) => all.map((card) => card.getAttribute('aria-label')));
    await one.page.locator('.place:not(.own) .card:not(.back)').nth(1).waitFor();
    assert.deepEqual(await cards(one, other.name).evaluateAll((all) => all.map((card) => card.getAttribute('aria-label'))), labels);
    assert.equal(await one.page.getByRole('region', { name: 'Dealer' }).locator('.back').count(), 0);
  }
  await Promise.all([ann.leave(), bob.leave()]);
});

test('robots: bots join after a countdown or at a press', bound, async () => {
  const ann = await Person.come(browser, hub.address, 'Ann');
  const { page } = ann;
  await ann.go('/');
  await page.getByRole('button', { name: 'Play now: Robots' }).click();
  await page.getByText(/Bots join in \d s\./).waitFor();
  await page.getByRole('button', { name: 'Start with bots' }).click();
  await ann.reads(/^Turn \d+/);
  await ann.leave();
});

test('nuggets: late players wait for the next match, and spectators follow', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  // Slow enough for spectators.
  const bob = native.nuggets(room.port, 'Bob', { pause: 80 });
  const eve = await Person.come(browser, hub.address, 'Eve');
  await eve.go(`/rooms/${room.id}?watch`);
  const line = eve.page.locator('.players li').filter({ hasText: 'Bob' });
  await line.locator('.value').filter({ hasText: /\d+/ }).waitFor();
  while (!(/** @type {{ late?: boolean }} */ (await hub.room(room.id)).late)) await line.page().waitForTimeout(100);
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.go(`/rooms/${room.id}`);
  await ann.page.getByRole('button', { name: 'Play next match' }).click();
  await ann.page.getByText('You play in the next match.').waitFor();
  await bob.over;
  await ann.reads(/^0 · \d+ left$/);
  await ann.hasSeat('A');
  await eve.page.locator('.players li').filter({ hasText: 'Ann' }).locator('.value').filter({ hasText: /^0$/ }).waitFor();
  await Promise.all([ann.leave(), eve.leave()]);
});

test('nuggets: shows the countdown, and marks players who left early', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl', countdown: 3 });
  const [ann, eve] = await Promise.all(['Ann', 'Eve'].map((name) => Person.come(browser, hub.address, name)));
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  await ann.reads(/^The game begins in \d s\.$/);
  await ann.reads('left');
  await eve.reads('left');
  await eve.page.getByRole('button', { name: 'Leave' }).click();
  await eve.page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
  const bob = native.nuggets(room.port, 'Bob');
  await bob.over;
  const result = ann.page.getByRole('region', { name: 'Result' });
  await result.getByRole('listitem').filter({ hasText: 'Eve' }).getByText('left early').waitFor();
  await Promise.all([ann.leave(), eve.leave()]);
});
