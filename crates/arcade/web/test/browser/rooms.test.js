// Rooms with a link or a password, owners, rematches, quick chat and reports; and a name on two devices.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findings } from './support/axe.js';
import { Person } from './support/browser.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };
const SIZES = [[360, 740], [820, 1180], [1920, 1080]];

/** @param {string[]} names @param {import('playwright-core').BrowserContextOptions} [options] */
const come = (names, options) => Promise.all(names.map((name) => Person.come(browser, hub.address, name, options)));

/** @param {Person} person */
async function invitation({ page }) {
  await page.getByRole('img', { name: 'QR code of this room' }).waitFor();
  return new URL(`http://${await page.getByLabel('Room address', { exact: true }).textContent()}`).pathname;
}

/** @param {Person} person */
const openTools = ({ page }) => page.getByRole('button', { name: 'Your room' }).click();

/**
 * The hub rejects these requests on purpose.
 * @param {Person} person
 */
const forgive = (person) => {
  person.faults = person.faults.filter((fault) => !/status of (403|404|409|422)/.test(fault));
};

test('a room with a link: the owner hands it over, and the new owner locks, renames, removes and closes', bound, async () => {
  const [ann, eve, zoe] = await come(['Ann', 'Eve', 'Zoe']);
  await ann.go('/');
  await ann.page.getByText('Create a room').click();
  await ann.page.getByLabel('Game').selectOption('robots');
  await ann.page.getByLabel('Room name').fill('Friday');
  await ann.page.getByLabel('Who can join').selectOption('link');
  await ann.page.getByLabel('Players').fill('4');
  await ann.page.getByRole('button', { name: 'Create room' }).click();
  await ann.page.getByRole('heading', { name: /Robots Friday/ }).waitFor();
  const path = await invitation(ann);
  assert.match(path, /^\/j\/[a-z]{8}$/);
  const code = path.slice(3).toUpperCase();
  await ann.page.getByRole('group', { name: 'Join code' }).getByText(`${code.slice(0, 4)} ${code.slice(4)}`, { exact: true }).waitFor();
  const id = new URL(ann.page.url()).pathname.split('/').pop() ?? '';
  assert.ok(!(await hub.rooms()).some((room) => room.id === id), 'it is in no list');
  await eve.go(path);
  await eve.reads('You are in.');
  assert.equal(new URL(eve.page.url()).pathname + new URL(eve.page.url()).hash, `/rooms/${id}`, 'the code is not in sight');
  await eve.page.reload();
  await eve.reads('You are in.');

  await openTools(ann);
  await ann.page.getByRole('button', { name: 'Make owner: Eve' }).click();
  await ann.page.getByText('Eve owns the room now.').waitFor();
  assert.ok(!(await ann.page.getByRole('button', { name: 'Your room' }).isVisible()));
  await eve.page.getByText('You own this room now.').waitFor();

  await openTools(eve);
  await eve.page.getByRole('button', { name: 'Lock', exact: true }).click();
  await ann.page.locator('.headline').getByText('locked').waitFor();
  await zoe.go(path);
  await zoe.page.getByText('This room is locked.').waitFor();
  await eve.page.getByRole('button', { name: 'Unlock' }).click();
  await eve.page.getByLabel('Room name').fill('Sunday');
  await eve.page.getByRole('button', { name: 'Rename' }).click();
  await ann.page.getByRole('heading', { name: /Robots Sunday/ }).waitFor();
  await eve.page.getByLabel('Bots').selectOption('2');
  await eve.page.getByLabel('Level', { exact: true }).selectOption('easy');
  await eve.page.getByRole('button', { name: 'Set bots' }).click();
  await ann.reads(/^Turn \d+/);
  await eve.page.getByRole('button', { name: 'Remove Ann' }).click();
  await ann.page.getByText('The owner removed you from the room.').waitFor();
  await eve.page.getByRole('button', { name: 'Close room' }).click();
  await eve.page.getByRole('dialog', { name: 'Close this room?' }).getByRole('button', { name: 'Close room' }).click();
  await eve.page.getByText('This room is closed: the owner closed it.').waitFor();
  await zoe.go(path);
  await zoe.page.getByText('No open room has this code.').waitFor();
  for (const person of [ann, eve, zoe]) {
    forgive(person);
    await person.leave();
  }
});

test('the owner confirms how many others a blocked network affects', bound, async () => {
  const [ann, eve, zoe] = await come(['Ann', 'Eve', 'Zoe']);
  const room = await hub.open({ game: 'robots', players: 3, turns: 3000, turn_duration: 100 });
  await ann.owns(room);
  for (const person of [ann, eve, zoe]) await person.go(`/rooms/${room.id}`);
  await Promise.all([ann, eve, zoe].map((person) => person.reads(/^Turn \d+/)));
  await openTools(ann);
  await ann.page.getByRole('button', { name: 'Block network: Eve' }).click();
  const dialog = ann.page.getByRole('dialog', { name: 'Block this network?' });
  await dialog.getByText(/^2 other people here use it\./).waitFor();
  assert.deepEqual(await findings(ann), []);
  await dialog.getByRole('button', { name: 'Block network' }).click();
  await ann.page.getByText('Eve removed and network blocked.').waitFor();
  await eve.page.getByText('The owner removed you from the room.').waitFor();
  // Zoe keeps the seat.
  await zoe.page.reload();
  await zoe.reads(/^Turn \d+/);
  for (const person of [ann, eve, zoe]) {
    forgive(person);
    await person.leave();
  }
});

test('only the owner can start the match with bots', bound, async () => {
  const [ann, eve] = await come(['Ann', 'Eve']);
  const room = await hub.open({ game: 'robots', players: 3, turns: 3000, turn_duration: 100 });
  await ann.owns(room);
  for (const person of [ann, eve]) {
    await person.go(`/rooms/${room.id}`);
    await person.reads('You are in.');
  }
  assert.equal(await eve.page.getByRole('button', { name: 'Your room' }).isVisible(), false);
  assert.equal(await eve.page.getByRole('button', { name: 'Start with bots' }).isVisible(), false);
  await ann.page.getByRole('button', { name: 'Start with bots' }).click();
  await Promise.all([ann.reads(/^Turn \d+/), eve.reads(/^Turn \d+/)]);
  await eve.page.locator('.players li').filter({ hasText: 'Ann' }).getByText('owner').waitFor();
  await Promise.all([ann.leave(), eve.leave()]);
});

for (const options of [{ game: 'robots', players: 2, turns: 3, turn_duration: 50 }, { game: 'blackjack', players: 2, rounds: 1 }]) {
  test(`${options.game}: two players play a rematch and see who is ready`, bound, async () => {
    const [ann, eve] = await come(['Ann', 'Eve']);
    const room = await hub.open(/** @type {Record<string, string | number>} */ (options));
    const play = async () => {
      await Promise.all(
        [ann, eve].map(async ({ page }) => {
          if (options.game === 'blackjack') await page.getByRole('button', { name: 'Stand' }).click();
          await page.locator('.rematch .status').filter({ hasText: /^Rematch: 0 of 2 ready, \d+ s$/ }).waitFor();
        }),
      );
    };
    for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
    await play();
    const { match: first } = await hub.room(room.id);
    /** @param {Person} person */
    const asks = ({ page }) => page.getByRole('region', { name: 'Rematch' });
    await asks(ann).getByRole('button', { name: 'Rematch' }).click();
    await asks(eve).locator('.status').filter({ hasText: /^Rematch: 1 of 2 ready, \d+ s$/ }).waitFor();
    await asks(ann).getByRole('button', { name: 'Ready', pressed: true }).waitFor();
    assert.deepEqual(await findings(eve), []);
    assert.equal(await eve.page.getByRole('button', { name: /^(Play again|Rematch)$/ }).count(), 1);
    await asks(eve).getByRole('button', { name: 'Rematch' }).click();
    await play();
    // A tie counts for no player. Blackjack has no series.
    const series = ann.page.locator('.result .series');
    if (options.game === 'robots') await series.filter({ hasText: 'Best of three: Ann 0 · Eve 0' }).waitFor();
    else assert.equal(await series.isVisible(), false);
    const now = await hub.room(room.id);
    assert.notEqual(now.match, first);
    assert.deepEqual(now.result?.map(({ name }) => name).sort(), ['Ann', 'Eve']);
    await ann.page.keyboard.press('Escape');
    await ann.page.getByRole('heading', { name: 'What do you want to play?', level: 1 }).waitFor();
    await Promise.all([ann.leave(), eve.leave()]);
  });
}

test('shows phrases at the face of the player, and hides those of muted players also after a reload', bound, async () => {
  const [ann, eve] = await come(['Ann', 'Eve']);
  const room = await hub.open({ game: 'robots', players: 2, turns: 3000, turn_duration: 100 });
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  await Promise.all([ann.reads(/^Turn \d+/), eve.reads(/^Turn \d+/)]);
  const line = eve.page.locator('.players li').filter({ hasText: 'Ann' });
  const bubble = line.locator('.bubble');
  const says = (/** @type {string} */ phrase) => ann.page.getByRole('button', { name: `Say: ${phrase}` }).click();
  await says('Good luck!');
  await line.getByRole('img', { name: 'Good luck!' }).waitFor();
  await eve.page.locator('.bubbles .bubble').waitFor();
  await eve.page.locator('[aria-live]').filter({ hasText: 'Ann: Good luck!' }).waitFor({ state: 'attached' });
  await eve.page.getByRole('button', { name: 'Mute players' }).click();
  await eve.page.getByRole('button', { name: 'Mute Ann' }).click();
  await bubble.waitFor({ state: 'detached' });
  await eve.page.reload();
  await eve.reads(/^Turn \d+/);
  await says('Thumbs up');
  await ann.page.getByRole('button', { name: 'Mute players' }).click();
  assert.equal(await ann.page.getByRole('button', { name: 'Mute Ann' }).count(), 0, 'players cannot mute themselves');
  await ann.page.keyboard.press('Escape');
  await eve.page.getByRole('button', { name: 'Mute players' }).click();
  // The speaker is listed, but the phrase is not shown.
  await eve.page.getByRole('button', { name: 'Mute Ann', pressed: true }).click();
  assert.equal(await bubble.count(), 0);
  await says('Thanks!');
  await line.getByRole('img', { name: 'Thanks!' }).waitFor();
  await eve.page.getByRole('button', { name: 'Mute all' }).click();
  await bubble.waitFor({ state: 'detached' });
  await Promise.all([ann.leave(), eve.leave()]);
});

test('a room with a password requires it of players and spectators', bound, async () => {
  const [eve] = await come(['Eve']);
  const room = await hub.open({ game: 'robots', players: 2, room: { visibility: 'word', word: 'sesame', name: 'Cave' } });
  await eve.go('/');
  await eve.page.getByText(/Show \d+ empty room/).click();
  const card = eve.page.locator(`[data-room="${room.id}"]`);
  await card.getByText('password').waitFor();
  await card.getByRole('link', { name: `Join ${room.id}` }).click();
  const word = eve.page.getByLabel('Room password');
  await word.fill('please');
  await eve.page.keyboard.press('Enter');
  await eve.page.getByText('Wrong password.').waitFor();
  await word.fill('sesame');
  await eve.page.keyboard.press('Enter');
  await eve.reads('You are in.');
  await eve.page.reload();
  await eve.reads('You are in.');
  forgive(eve);
  await eve.leave();
});

test('nuggets: accepts a custom map, and shows the error for an invalid one', bound, async () => {
  const [ann] = await come(['Ann']);
  await ann.go('/');
  await ann.page.getByText('Create a room').click();
  const map = async (/** @type {string} */ text) => {
    await ann.page.getByLabel('Your own map').setInputFiles({ name: 'map.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
    await ann.page.getByRole('button', { name: 'Create room' }).click();
  };
  const problem = ann.page.locator('.new-room [role=alert]');
  await map('nothing');
  await problem.filter({ hasText: /\w/ }).waitFor();
  await map('x'.repeat(13_000));
  await problem.filter({ hasText: 'The limit is 12 KiB.' }).waitFor();
  const row = (/** @type {string} */ inside) => `|${inside.repeat(30)}|\n`;
  await map(`+${'-'.repeat(30)}+\n${row('.').repeat(12)}+${'-'.repeat(30)}+\n`);
  await ann.page.getByRole('heading', { name: /custom map/ }).waitFor();
  forgive(ann);
  await ann.leave();
});

test('reports a player from the result', bound, async () => {
  const [ann, eve] = await come(['Ann', 'Eve']);
  // Long enough for the hub to assign the robots to players.
  const room = await hub.open({ game: 'robots', players: 2, turns: 20, turn_duration: 100 });
  for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
  const result = ann.page.getByRole('region', { name: 'Result' });
  await result.getByRole('button', { name: 'Report player' }).click();
  const dialog = ann.page.getByRole('dialog', { name: 'Report player' });
  await dialog.getByLabel('Reason').selectOption('talk');
  await dialog.getByLabel('Details').fill('She said nothing.');
  // The match may not be stored yet.
  const send = dialog.getByRole('button', { name: 'Report', exact: true });
  const thanks = dialog.getByText('Thank you.');
  while (!(await thanks.isVisible())) {
    await send.click();
    await thanks.or(dialog.getByRole('alert').filter({ hasText: /\w/ })).first().waitFor();
  }
  assert.match(hub.command('report', 'list'), /Eve/);
  forgive(ann);
  await Promise.all([ann.leave(), eve.leave()]);
});

test('transfers a name to a second browser, renews its key, and releases it', bound, async () => {
  const [first, second] = await come(['', '']);
  await first.go('/');
  await first.takesName('Nadia');
  await first.page.getByRole('button', { name: 'You play as Nadia' }).click();
  await first.page.getByText('Other devices').click();
  await first.page.getByRole('button', { name: 'Add a device' }).click();
  await first.page.getByRole('img', { name: 'QR code of the link' }).waitFor();
  const code = (await first.page.locator('.devices code').textContent()) ?? '';
  assert.match(code, /^[a-z]{4}-[a-z]{4}-[a-z]{4}$/);
  await second.go(`/#name=${code}`);
  await second.page.getByRole('button', { name: 'Use this name' }).click();
  await second.page.getByRole('button', { name: 'You play as Nadia' }).waitFor();
  assert.equal(new URL(second.page.url()).hash, '');
  // A code is valid once.
  await second.go(`/#name=${code}`);
  await second.page.getByRole('button', { name: 'Use this name' }).click();
  await second.page.getByText('This code is wrong or has expired.').waitFor();
  await second.page.getByRole('button', { name: 'New key' }).click();
  await second.page.getByRole('dialog').last().getByRole('button', { name: 'New key' }).click();
  await second.page.getByText('New key created.').waitFor();
  // The first browser has lost the name.
  await first.page.getByRole('button', { name: 'Add a device' }).click();
  await first.page.getByText('This device no longer has this name.').waitFor();
  await second.page.getByRole('button', { name: 'Show key' }).click();
  assert.equal(await second.page.locator('.devices code').textContent(), await second.page.evaluate(() => localStorage.getItem('key')));
  await second.page.getByRole('button', { name: 'Release name' }).click();
  await second.page.getByRole('dialog').last().getByRole('button', { name: 'Release name' }).click();
  await second.page.getByText('Nadia is free again.').waitFor();
  for (const person of [first, second]) {
    forgive(person);
    await person.leave();
  }
});

for (const [width, height] of SIZES) {
  for (const locale of ['en-US', 'pl-PL']) {
    test(`rooms and dialogs fit and pass axe, ${width}x${height}, ${locale}`, bound, async () => {
      const dark = locale === 'pl-PL';
      const options = { viewport: { width, height }, locale, colorScheme: /** @type {'dark' | 'light'} */ (dark ? 'dark' : 'light'), reducedMotion: /** @type {const} */ ('reduce') };
      const [ann, eve] = await come(['Ann', 'Eve'], options);
      const { page } = ann;
      const check = async (/** @type {string} */ where) => {
        await page.locator('main:not([data-away])').waitFor();
        const wide = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll('main *, dialog *')].filter((one) => one.checkVisibility() && !one.closest('.hidden, .skip')).map((one) => (one.matches('button, .button, select, input') ? one.getBoundingClientRect().right : 0))));
        assert.ok(wide <= width + 1, `${where} is ${wide} wide`);
        assert.deepEqual(await findings(ann), [], where);
      };
      await ann.go('/');
      await page.locator('.top button[aria-haspopup]').click();
      await page.locator('#new-visibility').selectOption('word');
      await check('a new room');
      await page.locator('#new-game').selectOption('robots');
      await page.locator('#new-word').fill('sesame');
      await page.locator('[name=players]').fill('2');
      await page.locator('[name=turns]').fill('3');
      await page.locator('[name=turn_duration]').fill('200');
      await page.locator('.new-room .primary').click();
      await page.locator('.players li.own').waitFor();
      await page.locator('.share-room img').waitFor();
      await check('a waiting room');
      await page.locator('.settings').click();
      await check('the tools of an owner');
      await page.keyboard.press('Escape');
      const path = new URL(page.url()).pathname;
      await eve.go(path);
      await eve.page.locator('#word').waitFor();
      assert.deepEqual(await findings(eve), [], 'the word');
      await eve.page.locator('#word').fill('sesame');
      await eve.page.keyboard.press('Enter');
      await page.locator('.rematch').waitFor();
      if (await page.locator('.more-reactions').isVisible()) await page.locator('.more-reactions').click();
      await page.locator('.reactions button').last().click();
      await page.locator('.bubble').waitFor();
      await check('a rematch');
      await page.locator('.result [data-key^=report]').click();
      await check('a report');
      await ann.go('/');
      await page.locator('#who').click();
      await page.locator('dialog summary').click();
      await page.locator('#device-code').waitFor();
      await check('the name');
      for (const person of [ann, eve]) {
        forgive(person);
        await person.leave();
      }
    });
  }
}
