// Who one is and why one is out, by the word of the hub: namesakes, a room that its host closes, a player that is removed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Person } from './support/browser.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };

/** @param {Person} person */
const ownLine = ({ page }) => page.locator('.players li.own');

test('robots: namesakes have a seat each, and their own keys', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 1000, turn_duration: 100 });
  const [one, two] = await Promise.all([1, 2].map(() => Person.come(browser, hub.address, 'Ann')));
  await one.go(`/rooms/${room.id}`);
  await one.reads('You are in.');
  await two.go(`/rooms/${room.id}`);
  await Promise.all([one, two].map((person) => person.reads(/^Turn \d+ of 1000\.$/)));
  const seats = await Promise.all([one, two].map((person) => ownLine(person).locator('.mark').textContent()));
  assert.equal(new Set(seats).size, 2, `both are told to be ${seats[0]}`);
  // A bomb lies where the one stands who has put it down.
  const board = two.page.getByLabel('The board as text');
  const stood = /You are at (\(.*?\))/.exec((await board.textContent()) ?? '');
  assert.ok(stood);
  await two.page.keyboard.press(' ');
  await board.filter({ hasText: `A bomb at ${stood[1]}` }).waitFor({ state: 'attached' });
  await Promise.all([one.leave(), two.leave()]);
});

test('blackjack: two tabs with one name are two players', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 2, rounds: 50 });
  const [one, two] = await Promise.all([1, 2].map(() => Person.come(browser, hub.address, 'Ann')));
  for (const person of [one, two]) {
    await person.go(`/rooms/${room.id}`);
    await ownLine(person).waitFor();
  }
  const seats = await Promise.all([one, two].map((person) => ownLine(person).locator('.mark').textContent()));
  assert.equal(new Set(seats).size, 2, `both are told to be ${seats[0]}`);
  for (const { page } of [one, two]) {
    // Oneself, and the other of the same name.
    await page.getByRole('group', { name: 'Ann', exact: true }).waitFor();
    await page.getByRole('group', { name: "Ann's hand" }).waitFor();
  }
  await Promise.all([one.leave(), two.leave()]);
});

test('a room that its host closes says why, and so does the removal of a player', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  const [ann, bob] = await Promise.all(['Ann', 'Bob'].map((name) => Person.come(browser, hub.address, name)));
  for (const person of [ann, bob]) {
    await person.go(`/rooms/${room.id}`);
    await person.reads('Player');
  }
  hub.command('kick', room.id, 'Bob');
  await bob.page.getByText('The host of this hub has removed you from this room.').waitFor();
  hub.command('room', 'close', room.id, '--reason', 'dinner is ready');
  await ann.page.getByText('This room is closed: dinner is ready.').waitFor();
  await Promise.all([ann.leave(), bob.leave()]);
});
