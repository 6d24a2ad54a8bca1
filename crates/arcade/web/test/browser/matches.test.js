// A match of each game between two browsers and a native client, and mastermind in one browser. Eve uses Firefox if it
// is installed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { initialState, fold } from '../../js/games/nuggets/fold.js';
import { Codebreaker } from './support/codebreaker.js';
import { Person, launchFirefox } from './support/browser.js';
import { Explorer } from './support/explorer.js';
import { browser, hub } from './support/site.js';
import * as native from './support/native.js';

const bound = { timeout: 180_000 };

/** @type {import('playwright-core').Browser | null} */
let firefox;
before(async () => {
  firefox = await launchFirefox();
});
after(() => firefox?.close());

/** @param {string} [name] */
const eveComes = (name = 'Eve') => Person.come(firefox ?? browser, hub.address, name);

/** @param {Person} person */
async function dig({ page, status }) {
  const explorer = new Explorer();
  const state = initialState();
  const map = page.getByLabel('Map as text');
  await status.filter({ hasText: 'left' }).waitFor();
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
    // Other players may move too. Without a change, the loop continues after the timeout.
    await page
      .waitForFunction((shown) => document.querySelector('pre')?.textContent !== shown, text, { timeout: 1000 })
      .catch(() => {});
  }
}

/** @typedef {{ options: Record<string, string | number>, play: (person: Person) => Promise<unknown>, returned: (person: Person) => Promise<unknown> }} Return */

const taken = (/** @type {Person} */ { page }) => page.waitForFunction(() => document.querySelector('pre')?.textContent?.includes('A bomb at'));

/** Each game: a move, and its effect after a reload. @type {Record<string, Return>} */
const RETURNS = {
  nuggets: {
    options: { map: 'main' },
    play: async (eve) => {
      await eve.hasSeat('A');
      const before = (await eve.page.getByLabel('Map as text').textContent()) ?? '';
      for (const key of ['h', 'l', 'j', 'k', 'j']) await eve.page.keyboard.press(key);
      await eve.page.waitForFunction((text) => document.querySelector('pre')?.textContent !== text, before);
    },
    returned: (eve) => eve.hasSeat('A'),
  },
  robots: {
    options: { players: 1, turns: 3000, turn_duration: 100 },
    play: async (eve) => {
      await eve.reads(/^Turn \d+ of 3000\. .*deaths?\.$/);
      await eve.page.keyboard.press(' ');
      await taken(eve);
    },
    returned: async (eve) => {
      await eve.reads(/^Turn \d+ of 3000\. .*deaths?\.$/);
      await eve.page.keyboard.press(' ');
      await taken(eve);
    },
  },
  blackjack: {
    options: { players: 1, rounds: 50 },
    play: async (eve) => {
      await eve.stands();
      await eve.reads('Hit or stand?');
    },
    returned: async (eve) => {
      await eve.reads('Hit or stand?');
      const tally = (await eve.page.getByText(/^\d+ of 50 rounds/).textContent()) ?? '';
      assert.ok(parseInt(tally, 10) >= 1, tally);
    },
  },
  mastermind: {
    options: { seed: 7 },
    play: async (eve) => {
      await eve.reads('Row 1 of 10');
      await eve.page.keyboard.type('1122');
      await eve.page.keyboard.press('Enter');
      await eve.reads('Row 2 of 10');
    },
    returned: async (eve) => {
      await eve.reads('Row 2 of 10');
      await eve.page.getByRole('list', { name: 'Rows' }).getByText('row 1: 1 1 2 2, ').waitFor();
    },
  },
};

for (const [game, { options, play, returned }] of Object.entries(RETURNS)) {
  test(`${game}: Firefox joins, plays and returns to its seat after a reload`, bound, async (context) => {
    if (!firefox) return context.skip('Firefox is not installed');
    const room = await hub.open({ game, ...options });
    const eve = await eveComes();
    await eve.go(`/rooms/${room.id}`);
    await play(eve);
    const { players } = await hub.room(room.id);
    assert.equal(players.length, 1);
    await eve.page.reload();
    await returned(eve);
    assert.deepEqual((await hub.room(room.id)).players.map(({ name, seat }) => [name, seat]), players.map(({ name, seat }) => [name, seat]));
    await eve.leave();
    return undefined;
  });
}

test('nuggets: two browsers and a native client find all the gold', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  const ann = await Person.come(browser, hub.address, 'Ann');
  const eve = await eveComes('<img/src=x/onerror=alert(1)>');
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  await Promise.all([ann.reads('left'), eve.reads('left')]);
  const bob = native.nuggets(room.port, 'Bob');
  const [, , table] = await Promise.all([dig(ann), dig(eve), bob.over]);
  const scores = ((await hub.room(room.id)).result ?? []).map(({ score }) => score);
  assert.equal(scores.length, 3);
  assert.equal(scores.reduce((sum, score) => sum + score, 0), 250);
  if (table !== null) {
    assert.match(table, /^GAME OVER:/);
    const purses = [...table.matchAll(/^[A-Z] +(\d+) /gm)].map(([, purse]) => Number(purse));
    assert.deepEqual(purses.sort(), scores.sort());
  }
  for (const { page } of [ann, eve]) {
    // A name with markup stays text.
    const result = page.getByRole('region', { name: 'Result' });
    for (const name of ['Ann', 'Bob', '<img/src=x/onerror=alert(1)>']) await result.getByText(name).first().waitFor();
    assert.equal(await page.locator('main img').count(), 0);
  }
  await Promise.all([ann.leave(), eve.leave()]);
});

test('robots: two browsers and a native client play all turns', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 3, turns: 40, turn_duration: 100, columns: 10, rows: 8 });
  const [ann, eve] = await Promise.all([Person.come(browser, hub.address, 'Ann'), eveComes()]);
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  const bob = native.robots(room.port, 'Bob');
  await Promise.all([ann.reads(/Turn \d+ of 40/), eve.reads(/Turn \d+ of 40/)]);
  for (const key of ['ArrowUp', ' ', 'k', 'ArrowLeft']) await ann.page.keyboard.press(key);
  for (const key of ['ArrowLeft', ' ']) await eve.page.keyboard.press(key);
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
  const [ann, eve] = await Promise.all([Person.come(browser, hub.address, 'Ann'), eveComes()]);
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  const bob = native.blackjack(room.port, 'Bob');
  /** @param {Person} person @param {'Hit' | 'Stand'} answer @param {string} key */
  const decide = async ({ page }, answer, key) => {
    const result = page.getByRole('region', { name: 'Result' });
    const button = page.getByRole('button', { name: answer });
    const next = page.getByRole('button', { name: 'Next round' });
    for (;;) {
      await page.waitForFunction(
        ([name]) =>
          document.querySelector('[aria-label=Result]:not([hidden])') !== null ||
          [...document.querySelectorAll('button')].some(
            (one) => (one.textContent?.startsWith(name) || one.textContent?.startsWith('Next round')) && !one.disabled && !one.hidden,
          ),
        [answer],
      );
      if (await result.isVisible()) return;
      if (await next.isVisible()) await (key ? page.keyboard.press('Enter') : next.click());
      else if (key) await page.keyboard.press(key);
      else await button.click();
    }
  };
  const [said] = await Promise.all([bob.over, decide(ann, 'Stand', 's'), decide(eve, 'Hit', '')]);
  assert.equal(said.filter((message) => message.startsWith('RESULT')).length, 3);
  await Promise.all([ann.leave(), eve.leave()]);
});

/** Ann before the first row of a game. The seed gives a code that takes several rows. */
async function breakCodes() {
  const room = await hub.open({ game: 'mastermind', seed: 7 });
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('Row 1 of 10');
  return { room, ann, page: ann.page, rows: ann.page.getByRole('list', { name: 'Rows' }) };
}

test('mastermind: finds the code, shows result and replay, and starts a new game', bound, async () => {
  const { room, ann, page, rows } = await breakCodes();
  const breaker = new Codebreaker();
  /** A guess and its answer, from the text for screen readers. @param {number} row */
  const answer = async (row) => {
    const text = (await rows.getByText(`row ${row}: `).textContent()) ?? '';
    const [, guess, red, white] = /: ([\d ]+), (\d) red, (\d) white$/.exec(text) ?? assert.fail(text);
    return { guess: guess.replaceAll(' ', ''), red: Number(red), white: Number(white) };
  };
  /** @param {number} row */
  const learn = async (row) => {
    const told = await answer(row);
    breaker.learn(told);
    return told;
  };

  for (const key of ['1', '1', '3', 'Backspace', '2', '2', 'Enter']) await page.keyboard.press(key);
  let last = await learn(1);
  assert.equal(last.guess, '1122');
  const taps = breaker.next();
  for (const digit of taps) await page.getByRole('group', { name: 'Pegs' }).getByRole('button', { name: digit }).click();
  await page.getByRole('button', { name: 'Guess' }).click();
  last = await learn(2);
  assert.equal(last.guess, taps);
  let row = 2;
  for (; last.red < 4; ) {
    row += 1;
    await ann.reads(`Row ${row} of 10`);
    await page.keyboard.press('h');
    await page.getByText(/codes? left\. Try/).waitFor();
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByRole('button', { name: 'Guess' }).click();
    last = await learn(row);
  }
  assert.ok(row > 2, 'the code of this seed takes more than two rows');

  const result = page.getByRole('region', { name: 'Your game' });
  await result.getByRole('heading', { name: `Found in ${row} turns` }).waitFor();
  const share = ((await result.getByLabel('Result to share').textContent()) ?? '').split('\n');
  assert.match(share[0], new RegExp(`^Mastermind, 4 pegs, 8 colours, with repeats: ${row}/10, with `));
  assert.deepEqual([share.length, share[row]], [row + 1, '●●●●']);
  await page.getByRole('img', { name: `The code is ${[...last.guess].join(' ')}` }).waitFor();
  assert.deepEqual((await hub.room(room.id)).result?.map(({ name, score }) => [name, score]), [['Ann', row]]);

  // The replay ends with the same rows, and Back returns to the seat.
  await result.getByRole('link', { name: 'Replay' }).click();
  await page.getByRole('heading', { name: /^Replay: Mastermind/ }).waitFor();
  await ann.reads('Ann is playing.');
  await page.getByRole('slider', { name: 'Position' }).press('End');
  await ann.reads(`Ann found the code in ${row} turns.`);
  await rows.getByText(`row ${row}: ${[...last.guess].join(' ')}, 4 red, 0 white`).waitFor();
  assert.equal(await rows.getByText(/^row \d+: /).count(), row);
  await page.goBack();
  await result.getByRole('heading', { name: `Found in ${row} turns` }).waitFor();
  await result.getByRole('button', { name: 'New game' }).click();
  await ann.reads('Row 1 of 10');
  assert.equal(await rows.getByText(/^row \d+: /).count(), 0);
  await ann.leave();
});

test('mastermind: the result of a race is an overlay with the moment that decided it', bound, async () => {
  const room = await hub.open({ game: 'mastermind', mode: 'race', players: 2, seed: 7 });
  const [ann, eve] = [await Person.come(browser, hub.address, 'Ann'), await Person.come(browser, hub.address, 'Eve')];
  const { page } = ann;
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  const breaker = new Codebreaker();
  let turn = 0;
  for (let red = 0; red < 4; ) {
    turn += 1;
    await ann.reads(`Row ${turn} of 10`);
    const guess = breaker.next();
    await page.keyboard.type(guess);
    await page.keyboard.press('Enter');
    const text = (await page.getByRole('list', { name: 'Rows' }).getByText(`row ${turn}: `).textContent()) ?? '';
    const [, reds, whites] = /(\d) red, (\d) white$/.exec(text) ?? assert.fail(text);
    red = Number(reds);
    breaker.learn({ guess, red, white: Number(whites) });
  }
  // The race is still running.
  await page.getByRole('region', { name: 'Your game' }).getByRole('heading', { name: `Found in ${turn} turns` }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Race again' }).count(), 0);
  await eve.givesUp();
  const found = `Ann found the code in ${turn} turns.`;
  for (const [person, heading] of /** @type {[Person, string][]} */ ([[ann, 'You win'], [eve, 'You came 2nd']])) {
    const result = person.page.locator('.stage > .result');
    await result.getByRole('heading', { name: heading }).waitFor();
    assert.deepEqual(await result.locator('.standings .value').allTextContents(), [`${turn} turns`, 'not found']);
    assert.equal(await result.locator('.gap').textContent(), '');
    assert.equal(await result.locator('.podium > *').count(), 2);
    await result.locator('.standings .own').filter({ hasText: person.name }).waitFor();
    await result.locator('.story').getByText(/^The code is \d \d \d \d\.$/).waitFor();
    await result.locator('.moment').filter({ hasText: found }).getByRole('link', { name: 'Watch' }).waitFor();
    assert.equal(await person.page.getByRole('region', { name: 'Your game' }).count(), 0);
    await result.getByRole('button', { name: 'Rematch' }).click();
  }
  for (const person of [ann, eve]) {
    await person.reads('Row 1 of 10');
    assert.equal(await person.page.locator('.stage > .result').isVisible(), false);
  }
  for (const person of [ann, eve]) await person.givesUp();
  await page.getByRole('heading', { name: 'No winner' }).waitFor();
  await Promise.all([ann.leave(), eve.leave()]);
});

test('mastermind: pegs can be dragged, and lifelines are correct', bound, async () => {
  const { ann, page, rows } = await breakCodes();
  // Against the order of taps, which fill the first place first.
  for (const [place, digit] of [[4, '5'], [3, '6'], [2, '7'], [1, '8']])
    await page
      .getByRole('group', { name: 'Pegs' })
      .getByRole('button', { name: String(digit) })
      .dragTo(page.getByRole('button', { name: `Place ${place}: empty` }));
  await page.getByRole('button', { name: 'Guess' }).click();
  await rows.getByText('row 1: 8 7 6 5, ').waitFor();

  // One lifeline per game.
  const games = /** @type {const} */ ([
    { button: 'Digit: 1 row', words: /^row 2: lifeline, the code has a (?<peg>\d)$/ },
    { button: 'Digit and place: 2 rows', words: /^row 1: lifeline, place (?<place>\d) is (?<peg>\d)$/ },
  ]);
  for (const { button, words } of games) {
    await page.getByRole('button', { name: button, exact: true }).click();
    // The first lifeline is used in row 2, the second in row 1.
    await ann.reads('Row 3 of 10');
    const said = words.exec((await rows.getByText(words).textContent()) ?? '')?.groups ?? assert.fail(button);
    for (const name of ['Digit: used', 'Digit and place: used'])
      assert.ok(await page.getByRole('button', { name, exact: true }).isDisabled(), name);
    const place = said.place ? Number(said.place) - 1 : null;
    if (place !== null) {
      const known = '*'.repeat(place) + said.peg + '*'.repeat(3 - place);
      await page.getByRole('img', { name: `Known so far: ${known}` }).waitFor();
    }
    await ann.givesUp();
    const code = page.getByRole('img', { name: /^The code is \d/ });
    await code.waitFor();
    const pegs = ((await code.getAttribute('aria-label')) ?? '').replace('The code is ', '').split(' ');
    assert.equal(pegs.length, 4);
    assert.ok(place === null ? pegs.includes(said.peg) : pegs[place] === said.peg, `${words} and ${pegs.join('')}`);
    await page.getByRole('button', { name: 'New game' }).click();
    await ann.reads('Row 1 of 10');
  }
  await ann.leave();
});
