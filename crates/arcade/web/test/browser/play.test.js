import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fold, initialState } from '../../js/games/nuggets/fold.js';
import { Person } from './support/browser.js';
import { Explorer } from './support/explorer.js';
import { Hub } from './support/hub.js';
import { browser, hub } from './support/site.js';
import * as native from './support/native.js';

const bound = { timeout: 120_000 };
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const DESKTOP = { viewport: { width: 1366, height: 768 } };

/** @param {string} [name] @param {import('playwright-core').BrowserContextOptions} [options] */
const come = (name = 'Ann', options = DESKTOP) => Person.come(browser, hub.address, name, options);

/** @param {import('playwright-core').Page} page */
const resultOf = (page) => page.getByRole('region', { name: 'Result' });

/** Whether all of an element is visible. @param {import('playwright-core').Locator} element */
const isInWindow = (element) =>
  element.evaluate((one) => {
    const { top, left, bottom, right } = one.getBoundingClientRect();
    return top >= 0 && left >= 0 && bottom <= innerHeight + 1 && right <= innerWidth + 1;
  });

/** The colour and the outline. @param {import('playwright-core').Locator} mark */
const face = (mark) => mark.evaluate((one) => ['--mark', '--outline'].map((part) => one.style.getPropertyValue(part)).join(' '));

/** Plays a match of robots between native clients. @param {string} id @param {number} port */
async function playRobots(id, port) {
  const clients = ['Bob', 'Eve'].map((name) => native.robots(port, name));
  while (!(await hub.room(id)).result) await new Promise((resolve) => setTimeout(resolve, 100));
  for (const client of clients) client.stop();
}

test('a new player sees the waiting room instead of an earlier result', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 3, turn_duration: 50 });
  await playRobots(room.id, room.port);
  const [ann, zoe] = [await come(), await come('Zoe')];
  for (const [person, path] of /** @type {[Person, string][]} */ ([[ann, `/rooms/${room.id}`], [zoe, `/rooms/${room.id}?watch`]])) {
    await person.go(path);
    await person.page.getByRole('heading', { name: /of 2 players/ }).waitFor();
    assert.ok(!(await resultOf(person.page).isVisible()));
    await person.leave();
  }
});

for (const [width, height] of [[1920, 1080], [820, 1180]]) {
  test(`${width}x${height}: the map of nuggets fills the window, with its figures on it`, bound, async () => {
    const room = await hub.open({ game: 'nuggets', map: 'main' });
    const touch = width < 900;
    const ann = await come('Ann', { viewport: { width, height }, hasTouch: touch, isMobile: touch });
    const { page } = ann;
    await ann.go(`/rooms/${room.id}`);
    await ann.hasSeat('A');
    await page.locator('.waiting').waitFor({ state: 'hidden' });
    const board = (await page.locator('.board').boundingBox()) ?? assert.fail();
    assert.ok(board.height >= 0.85 * height, `the board is ${board.height} high`);
    assert.ok(board.width >= 0.8 * width, `the board is ${board.width} wide`);
    const canvas = (await page.locator('.board canvas').boundingBox()) ?? assert.fail();
    assert.deepEqual(canvas, board);
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth), 'the page does not scroll');
    for (const figure of await page.locator('.hud .figure').all()) assert.ok(await isInWindow(figure));
    assert.equal(await page.locator('.hud .figure').first().textContent(), '0you');
    assert.ok(await isInWindow(page.locator('.players li.own')));
    await ann.leave();
  });
}

for (const options of [DESKTOP, PHONE]) {
  const size = `${options.viewport.width}x${options.viewport.height}`;

  test(`${size}: the waiting room has invitation, seats and rules, and its start is in the window`, bound, async () => {
    const room = await hub.open({ game: 'robots', players: 4, turns: 3000, turn_duration: 100 });
    const ann = await come('Ann', options);
    const { page } = ann;
    await ann.owns(room);
    await ann.go(`/rooms/${room.id}`);
    const start = page.getByRole('button', { name: 'Start with bots' });
    await start.waitFor();
    assert.ok(await isInWindow(start));
    await page.getByRole('img', { name: 'QR code of this room' }).waitFor();
    await page.getByRole('heading', { name: '1 of 4 players' }).waitFor();
    await page.getByText('Place bombs').waitFor();
    await page.getByRole('button', { name: 'Add bot' }).first().click();
    await page.getByRole('heading', { name: '2 of 4 players' }).waitFor();
    await start.click();
    await ann.reads(/^Turn \d+/);
    await ann.leave();
  });

  test(`${size}: the board fills the window, with its figures and the help on it`, bound, async () => {
    const room = await hub.open({ game: 'robots', players: 1, turns: 3000, turn_duration: 100 });
    const ann = await come('Ann', options);
    const { page } = ann;
    await ann.go(`/rooms/${room.id}`);
    await ann.reads(/^Turn \d+/);
    // The first turn may arrive before the hub reports the match.
    await page.locator('.waiting').waitFor({ state: 'hidden' });
    const board = (await page.locator('.board').boundingBox()) ?? assert.fail();
    const used = options === PHONE ? 0.6 : 0.9;
    assert.ok(board.height >= used * options.viewport.height, `the board is ${board.height} high`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), 'the page does not scroll');
    assert.equal(await page.locator('.hud .figure').first().textContent(), '0hits0deaths', 'hits before deaths');
    assert.equal(await page.locator('.players .own .value').textContent(), '0 deaths');
    assert.equal(await page.getByRole('button', { name: 'Move up' }).isVisible(), options === PHONE, 'buttons for touch');
    assert.equal(await page.locator('.controls kbd:visible').count(), 0);
    // The introduction leaves the board free.
    const intro = (await page.locator('.intro').boundingBox()) ?? assert.fail();
    assert.ok(intro.height < board.height / 5, `the introduction is ${intro.height} high`);
    await page.getByRole('button', { name: 'Controls' }).click();
    const help = page.getByRole('dialog', { name: 'Controls' });
    await help.waitFor();
    assert.ok(await isInWindow(help));
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await ann.leave();
  });

  test(`${size}: the result is on the board, with place, distance, own row and one primary action`, bound, async () => {
    const room = await hub.open({ game: 'nuggets', map: 'brawl' });
    const ann = await come('Ann', options);
    const { page } = ann;
    await ann.go(`/rooms/${room.id}`);
    await ann.hasSeat('A');
    await page.locator('.waiting').waitFor({ state: 'hidden' });
    const before = await page.locator('.board').boundingBox();
    await native.nuggets(room.port, 'Bob').over;
    const result = resultOf(page);
    await result.getByRole('heading', { name: /^You (came 2nd|win)$/ }).waitFor();
    await result.getByText(/^\d+ nuggets? (behind|ahead of) Bob$/).waitFor();
    await result.locator('.standings .own').getByText('Ann').waitFor();
    // The winner is on the highest step, in the right half of a podium for two.
    const podium = await result.locator('.podium > div').evaluateAll((all) => all.map((one) => ({ rank: /** @type {HTMLElement} */ (one).dataset.rank, name: one.querySelector('b')?.textContent, height: one.querySelector('.step')?.getBoundingClientRect().height ?? 0 })));
    assert.deepEqual(podium.map(({ rank }) => rank), ['2', '1']);
    assert.deepEqual(podium.map(({ name }) => name).sort(), ['Bob', 'You']);
    assert.equal(podium[(await result.getByRole('heading', { name: 'You win' }).count()) ? 1 : 0].name, 'You');
    assert.ok(podium[1].height > podium[0].height);
    assert.deepEqual(await page.locator('.board').boundingBox(), before, 'the board stays');
    const primary = result.locator('.primary:visible');
    assert.equal(await primary.count(), 1);
    assert.match((await primary.textContent()) ?? '', /^Rematch/);
    assert.ok(await isInWindow(primary));
    // The result links to the decisive moment of the replay.
    const moment = result.locator('.moment').getByRole('link', { name: 'Watch' });
    await moment.waitFor();
    assert.match((await moment.getAttribute('href')) ?? '', /^\/matches\/[^?]+\?at=\d+$/);
    await ann.leave();
  });
}

test('rated nuggets: scores of other players are marked as delayed', bound, async () => {
  const room = await hub.open({ game: 'nuggets', countdown: 8 });
  const ann = await come();
  await ann.go(`/rooms/${room.id}`);
  const bob = native.nuggets(room.port, 'Bob', { pause: 500 });
  await ann.page.locator('.players .own').waitFor();
  await ann.reads('left');
  const line = ann.page.locator('.players li').filter({ hasText: 'Bob' });
  await line.getByText(/^(delayed|\d+ s ago)$/).waitFor();
  assert.equal(await ann.page.locator('.players .own').getByText(/^(delayed|\d+ s ago)$/).count(), 0);
  bob.stop();
  await ann.leave();
});

for (const game of ['robots', 'blackjack']) {
  test(`${game}: leaving a rated match requires a confirmation`, bound, async () => {
    const room = await hub.open({ game });
    assert.ok(/** @type {{ rated?: boolean }} */ (room).rated, 'the usual options are rated');
    const ann = await come();
    const { page } = ann;
    await ann.owns(room);
    await ann.go(`/rooms/${room.id}`);
    const reads = () => ann.reads(game === 'robots' ? /^Turn \d+/ : 'Hit or stand?');
    // The response has the room from before the match.
    await page.route('**/owner', async (route) => {
      const response = await route.fetch();
      await reads();
      await route.fulfill({ response });
    });
    const started = page.waitForResponse((response) => response.url().endsWith('/owner'));
    await page.getByRole('button', { name: 'Start with bots' }).click();
    await reads();
    await (await started).finished();
    if (game === 'blackjack') assert.ok(await page.getByRole('button', { name: 'Advice: casual only' }).isDisabled());
    await page.locator('.waiting').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Leave' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave this game?' });
    await dialog.getByText('This match is rated').waitFor();
    await dialog.getByRole('button', { name: 'Keep playing' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
    await ann.leave();
  });
}

test('leaving a rated match of nuggets or mastermind, or a challenge, requires a confirmation', bound, async () => {
  const codes = await hub.open({ game: 'mastermind' });
  const mine = await hub.open({ game: 'nuggets', countdown: 8 });
  for (const room of [codes, mine]) assert.ok(/** @type {{ rated?: boolean }} */ (room).rated, `${room.game}: the usual options are rated`);
  const ann = await come();
  const { page } = ann;
  await ann.owns(mine);
  const dig = async () => {
    // A match against a person of the same network would be casual.
    await page.getByRole('button', { name: 'Add bot' }).first().click();
    await ann.reads('left');
  };
  for (const [path, begun, lost] of /** @type {[string, () => Promise<void>, string][]} */ ([
    [`/rooms/${codes.id}`, () => ann.reads('Row 1 of 10'), 'This match is rated'],
    [`/rooms/${mine.id}`, dig, 'This match is rated'],
    ['/daily/robots', () => ann.reads(/^Turn \d+/), 'You have one attempt a day.'],
  ])) {
    await ann.go(path);
    if (path.startsWith('/daily')) await page.getByRole('button', { name: 'Play', exact: true }).click();
    await begun();
    await page.locator('.waiting').waitFor({ state: 'hidden' });
    await page.locator('.players li.own').waitFor();
    const address = page.url();
    await page.getByRole('button', { name: 'Leave' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave this game?' });
    await dialog.getByText(lost).waitFor();
    await dialog.getByRole('button', { name: 'Keep playing' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(page.url(), address);
    await page.getByRole('button', { name: 'Leave' }).click();
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(path.startsWith('/daily') ? /\/daily\/robots$/ : /\/$/);
  }
  await ann.leave();
});

/** Enters a room from the lobby without a reload, so that Back leads to the lobby. @param {Person} person @param {string} id */
async function enterFromLobby({ page }, id) {
  await page.evaluate((path) => {
    history.pushState(null, '', path);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/rooms/${id}`);
}

test('the back button and links ask before they leave a rated match', bound, async () => {
  const room = await hub.open({ game: 'mastermind' });
  const ann = await come();
  const { page } = ann;
  const dialog = page.getByRole('dialog', { name: 'Leave this game?' });
  const back = () => page.evaluate(() => history.back());
  await ann.go('/');
  await enterFromLobby(ann, room.id);
  await ann.reads('Row 1 of 10');
  await page.keyboard.type('11');
  const address = page.url();
  for (const leave of [back, back, () => page.getByRole('link', { name: 'Arcade' }).click()]) {
    await leave();
    await dialog.getByText('This match is rated').waitFor();
    assert.equal(await page.getByRole('dialog').count(), 1);
    await dialog.getByRole('button', { name: 'Keep playing' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(page.url(), address);
  }
  // The page has not been rebuilt: the draft is still there.
  assert.equal(await page.locator('[data-place]:not(:empty)').count(), 2);
  for (const leave of [back, () => page.getByRole('link', { name: 'Arcade' }).click()]) {
    await leave();
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/');
    await enterFromLobby(ann, room.id);
    await ann.reads('Row 1 of 10');
  }
  await ann.leave();
});

test('leaving a casual or finished game requires no confirmation', bound, async () => {
  const [rated, casual] = [await hub.open({ game: 'mastermind' }), await hub.open({ game: 'mastermind', seed: 7 })];
  // Another game in the room runs on.
  const [ann, bob] = [await come(), await come('Bob')];
  const { page } = ann;
  await bob.go(`/rooms/${rated.id}`);
  await bob.reads('Row 1 of 10');
  await ann.go('/');
  const useHint = async () => {
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Hint' }).click();
    await page.getByText(/codes left\. Try/).waitFor();
    await page.locator('.headline .chips').getByText('Casual · hints used').waitFor();
  };
  const leave = [() => page.evaluate(() => history.back()), () => page.getByRole('link', { name: 'Arcade' }).click(), () => page.getByRole('button', { name: 'Leave' }).click()];
  for (const [{ id }, prepare] of /** @type {[{ id: string }, () => Promise<unknown>][]} */ ([[casual, async () => {}], [rated, useHint], [rated, () => ann.givesUp()]])) {
    for (const [index, go] of leave.entries()) {
      await enterFromLobby(ann, id);
      await page.locator('.players li.own').waitFor();
      // The seat and its game stay until the player leaves by the button.
      if (index === 0) {
        await ann.reads('Row 1 of 10');
        await prepare();
      }
      await go();
      await page.getByRole('heading', { name: 'What do you want to play?' }).waitFor();
    }
  }
  await bob.leave();
  await ann.leave();
});

test('leaving asks although the game has not reported the seat yet', bound, async () => {
  const room = await hub.open({ game: 'nuggets', countdown: 8 });
  const ann = await come();
  const { page } = ann;
  await ann.owns(room);
  await ann.go(`/rooms/${room.id}`);
  await page.getByRole('button', { name: 'Add bot' }).first().click();
  await page.locator('.waiting').waitFor({ state: 'hidden' });
  await ann.reads('left');
  // After the reload only the hub's own messages arrive.
  await page.routeWebSocket(/\/socket/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => {
      if (String(message).startsWith('{')) socket.send(message);
    });
  });
  await page.reload();
  await page.locator('.headline .chips').getByText(/^Rated/).waitFor();
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('dialog', { name: 'Leave this game?' }).getByText('This match is rated').waitFor();
  await ann.leave();
});

for (const [text, options] of /** @type {[RegExp, Record<string, number>][]} */ ([[/^Rated: 4 pegs/, {}], [/^Casual · /, { seed: 7 }]])) {
  test(`on a phone a game of mastermind states: ${text.source}`, bound, async () => {
    const room = await hub.open({ game: 'mastermind', ...options });
    const ann = await come('Ann', PHONE);
    await ann.go(`/rooms/${room.id}`);
    await ann.reads('Row 1 of 10');
    const chip = ann.page.locator('.headline .chips').getByText(text);
    await chip.waitFor();
    assert.ok(await isInWindow(chip));
    await ann.leave();
  });
}

test('the page states why a match in a rated room is casual', bound, async () => {
  const [codes, map, table] = [await hub.open({ game: 'mastermind' }), await hub.open({ game: 'nuggets', countdown: 8 }), await hub.open({ game: 'blackjack' })];
  const daily = (await hub.rooms()).find(({ game, title }) => game === 'mastermind' && title.startsWith('the puzzle')) ?? assert.fail();
  const [ann, guest] = [await come(), await come('')];
  const { page } = ann;
  const chip = page.locator('.headline .chips');
  // Another player in the room does not count in a game that each one plays alone.
  await ann.go(`/rooms/${codes.id}`);
  await chip.getByText('Rated: 4 pegs').waitFor();
  await ann.givesUp();
  await page.getByRole('link', { name: 'Replay' }).waitFor();
  await page.getByRole('combobox', { name: 'Pegs' }).selectOption('5');
  await page.getByRole('button', { name: 'New game' }).click();
  await chip.getByText('Casual · different rules').waitFor();
  await guest.go(`/rooms/${daily.id}`);
  await guest.page.locator('.headline .chips').getByText('Casual · guest').waitFor();
  await guest.leave();

  await ann.go(`/rooms/${map.id}`);
  await chip.getByText('Rated').waitFor();
  await chip.getByText('Casual · no opponents').waitFor();
  const bob = native.nuggets(map.port, 'Bob', { pause: 3000 });
  await chip.getByText('Casual · players on one network').waitFor();
  await page.locator('.players li').nth(1).waitFor();
  // The opponent stays in the result.
  bob.stop();
  await page.reload();
  await chip.getByText('Casual · players on one network').waitFor();

  await ann.go(`/rooms/${table.id}?watch`);
  await chip.getByText('Rated').waitFor();
  const others = ['Bob', 'Cleo'].map((name) => native.blackjack(table.port, name));
  const result = resultOf(page);
  await result.getByText('Casual · players on one network').waitFor();
  assert.equal(await result.getByText('Rated').count(), 0);
  await result.locator('.moment').filter({ hasText: /(took the lead for good in|been shared since) round \d+/ }).getByRole('link', { name: 'Watch' }).waitFor();
  for (const other of others) other.stop();
  await ann.leave();
});

test('mastermind: a hint in a rated game requires a confirmation', bound, async () => {
  const room = await hub.open({ game: 'mastermind' });
  const ann = await come();
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('Row 1 of 10');
  await page.keyboard.press('h');
  const dialog = page.getByRole('dialog', { name: 'Use a hint?' });
  await dialog.getByText('This game will be casual').waitFor();
  assert.equal(await page.locator('.advice .panel').count(), 0);
  await dialog.getByRole('button', { name: 'Hint' }).click();
  await page.getByText(/codes? left\. Try/).waitFor();
  await ann.leave();
});

test('on a phone the end of a game of mastermind shows the next game and the whole result to share', bound, async () => {
  const room = await hub.open({ game: 'mastermind', seed: 7 });
  const ann = await come('Ann', PHONE);
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('Row 1 of 10');
  // The longest result has all rows.
  for (let row = 1; row <= 10; row += 1) {
    await page.keyboard.type('1122');
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Rows' }).getByText(`row ${row}: `).waitFor();
  }
  const result = page.getByRole('region', { name: 'Your game' });
  const next = result.getByRole('button', { name: 'New game' });
  await next.waitFor();
  await page.getByRole('group', { name: 'Sound' }).waitFor();
  for (const part of [result.getByRole('heading'), result.getByLabel('Result to share'), next]) {
    assert.ok(await isInWindow(part));
    // Nothing covers it.
    assert.ok(await part.evaluate((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      return [top + 4, bottom - 4].every((y) => one.contains(document.elementFromPoint((left + right) / 2, y)));
    }));
  }
  await next.tap();
  await ann.reads('Row 1 of 10');
  await ann.leave();
});

test('the link of an invitation is the public address', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2 });
  const ann = await come('Ann', { ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = ann;
  await page.route('**/api/address', (route) => route.fulfill({ json: { url: 'https://play.example.org/', friends: true } }));
  await ann.go(`/rooms/${room.id}`);
  await page.getByLabel('Room address').filter({ hasText: `play.example.org/rooms/${room.id}` }).waitFor();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `https://play.example.org/rooms/${room.id}`);
  await ann.leave();
});

test('robots: the replay names the player behind each hit, and a player has one face on all pages', bound, async () => {
  const room = await hub.open({ game: 'robots', players: 2, turns: 100, turn_duration: 100 });
  const ann = await come();
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  const bob = native.robots(room.port, 'Bob');
  const hit = page.locator('.news').getByText('Your own bomb hit you.');
  const over = resultOf(page).getByText(/^\d+ hits?, [1-9]\d* deaths?$/).first();
  // The page ignores keys until it knows its seat, and shows the announcement for eight turns only.
  let announced = false;
  while (!announced) {
    await page.keyboard.press(' ');
    announced = await hit.waitFor({ timeout: 100 }).then(() => true, () => false);
    assert.ok(announced || !(await over.isVisible()), 'the match ended without the announcement of a hit');
  }
  await over.waitFor();
  const faces = [await face(page.locator('.players li.own .mark')), await face(resultOf(page).locator('.standings li.own .mark'))];
  await resultOf(page).getByRole('link', { name: 'Replay' }).click();
  await page.getByRole('list', { name: 'Highlights' }).getByText(/Ann (was hit by their own bomb|hit Bob)/).first().waitFor();
  const side = page.locator('.side');
  assert.ok(await side.evaluate((one) => one.scrollWidth <= one.clientWidth), 'the panel fits');
  faces.push(await face(side.locator('.standings li').filter({ hasText: 'Ann' }).locator('.mark')));
  await ann.go('/players/Ann');
  faces.push(await face(page.locator('h1 .mark')));
  assert.match(faces[0], /^#\w+ polygon/);
  assert.deepEqual(new Set(faces), new Set([faces[0]]));
  bob.stop();
  await ann.leave();
});

test('blackjack: the last verdict is shown before the result', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 1, rounds: 1 });
  const ann = await come();
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('Hit or stand?');
  await page.getByRole('button', { name: 'Stand' }).click();
  await ann.reads(/^(You win|Draw|Dealer wins)\. .*That was the last round\.$/);
  assert.ok(await resultOf(page).isHidden());
  assert.ok(await page.locator('.waiting').isHidden());
  await resultOf(page).waitFor();
  await ann.leave();
});

test('blackjack: cards are large, and players are listed once', bound, async () => {
  const room = await hub.open({ game: 'blackjack', players: 2, rounds: 1 });
  const ann = await come();
  const { page } = ann;
  await ann.owns(room);
  await ann.go(`/rooms/${room.id}`);
  await page.getByRole('button', { name: 'Add bot' }).last().click();
  await ann.reads('Hit or stand?');
  const card = (await page.getByRole('group', { name: "Ann's hand" }).locator('.card').first().boundingBox()) ?? assert.fail();
  assert.ok(card.width >= 90, `a card is ${card.width} wide`);
  assert.equal(await page.getByRole('group', { name: 'Ann', exact: true }).count(), 0);
  await ann.leave();
});

test('plays under a name in its own letters', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'gold' });
  const [lukasz, sara] = [await come(''), await come('שרה 🎲', PHONE)];
  const { page } = lukasz;
  await lukasz.go('/');
  await lukasz.takesName('Łukasz');
  await lukasz.go(`/rooms/${room.id}`);
  await lukasz.hasSeat('A');
  await sara.go(`/rooms/${room.id}`);
  await sara.hasSeat('B');
  const players = page.getByRole('region', { name: 'Players' });
  await players.getByText('שרה 🎲', { exact: true }).waitFor();
  assert.ok(!(await players.getByRole('listitem').filter({ hasText: 'Łukasz' }).textContent())?.includes('guest'));
  await page.getByRole('button', { name: 'Say: Hello!' }).click();
  await sara.page.getByText('Łukasz: Hello!').waitFor({ state: 'attached' });
  // The wire carries ASCII only.
  const table = await native.nuggets(room.port, 'Bob').over;
  assert.ok(table === null || /Lukasz\n.* shrh_game_die\n.* Bob/.test(table), table ?? '');
  for (const person of [lukasz, sara]) {
    const result = resultOf(person.page);
    await result.getByText(person === sara ? 'Łukasz' : 'שרה 🎲', { exact: true }).first().waitFor();
    assert.equal(await result.getByText(/Lukasz|shrh/).count(), 0);
  }
  await page.getByRole('link', { name: 'Replay' }).click();
  await page.getByRole('option', { name: 'A Łukasz' }).waitFor({ state: 'attached' });
  await page.getByRole('link', { name: 'Łukasz' }).click();
  await page.getByRole('heading', { name: 'Łukasz' }).waitFor();
  await Promise.all([lukasz.leave(), sara.leave()]);
});

for (const [game, options] of /** @type {const} */ ([
  ['robots', { players: 2, turns: 30, turn_duration: 100 }],
  ['blackjack', { players: 2, rounds: 1 }],
  ['mastermind', { mode: 'race', players: 2, seed: 7 }],
])) {
  test(`${game}: shows names as their players write them`, bound, async () => {
    const room = await hub.open({ game, ...options });
    const people = await Promise.all(['Łukasz', 'Ann Smith', 'Zoe'].map((name) => come(name)));
    const [lukasz, ann, zoe] = people;
    await zoe.go(`/rooms/${room.id}?watch`);
    for (const person of [lukasz, ann]) await person.go(`/rooms/${room.id}`);
    await Promise.all([lukasz, ann].map(({ page }) => page.locator('.waiting').waitFor({ state: 'hidden' })));
    if (game === 'robots') {
      for (const { page } of people) {
        await page.locator('[aria-live=polite].hidden').filter({ hasText: /^Game over\. Fewest deaths: (Łukasz|Ann Smith|Łukasz and Ann Smith)$/ }).waitFor({ state: 'attached' });
        for (const name of ['Łukasz', 'Ann Smith']) await resultOf(page).locator('.standings').getByText(name, { exact: true }).waitFor();
      }
    } else if (game === 'blackjack') {
      await lukasz.page.getByRole('group', { name: 'Ann Smith', exact: true }).waitFor();
      await ann.page.getByRole('group', { name: 'Łukasz', exact: true }).waitFor();
      for (const name of ['Łukasz', 'Ann Smith']) await zoe.page.getByRole('group', { name, exact: true }).waitFor();
      await Promise.all([lukasz, ann].map(({ page }) => page.getByRole('button', { name: 'Stand' }).click()));
      for (const { page } of people) for (const name of ['Łukasz', 'Ann Smith']) await resultOf(page).locator('.standings').getByText(name, { exact: true }).waitFor();
    } else {
      for (const name of ['Łukasz', 'Ann Smith']) await zoe.page.getByRole('button', { name: `${name}: starting` }).waitFor();
      await lukasz.givesUp();
      await ann.page.getByRole('button', { name: 'Łukasz: gave up' }).waitFor();
    }
    for (const { page } of people) assert.equal(await page.getByText(/Lukasz|Ann_Smith/).count(), 0);
    for (const person of people) await person.leave();
  });
}

for (const [game, options, size] of /** @type {[string, Record<string, string | number>, import('playwright-core').BrowserContextOptions][]} */ ([
  ['blackjack', { players: 2, rounds: 3 }, DESKTOP],
  ['blackjack', { players: 2, rounds: 3 }, PHONE],
  ['mastermind', { mode: 'race', players: 2, seed: 7 }, DESKTOP],
  ['mastermind', { mode: 'race', players: 2, seed: 7 }, PHONE],
])) {
  test(`${game} at ${size.viewport?.width}: reactions are at their players`, bound, async () => {
    const room = await hub.open({ game, ...options });
    const [ann, eve] = [await come('Ann', size), await come('Eve', DESKTOP)];
    const { page } = ann;
    for (const person of [ann, eve]) await person.go(`/rooms/${room.id}`);
    await Promise.all([ann, eve].map((person) => person.page.locator('.waiting').waitFor({ state: 'hidden' })));
    if (game === 'blackjack') await page.getByRole('group', { name: "Ann's hand" }).locator('.card').first().waitFor();
    const isPhone = size === PHONE;
    /** Fails unless the phrase is in the window and at its player. @param {string} sign @param {import('playwright-core').Locator} player */
    const isAt = async (sign, player) => {
      const bubble = page.locator('.bubbles .bubble').filter({ hasText: sign });
      await bubble.waitFor();
      assert.ok(await isInWindow(bubble), `${sign} is in the window`);
      const [at, of] = [(await bubble.boundingBox()) ?? assert.fail(), (await player.boundingBox()) ?? assert.fail()];
      const middle = at.x + at.width / 2;
      assert.ok(middle >= of.x && middle <= of.x + of.width, `${sign} is above the player`);
      assert.ok(Math.abs(at.y + at.height - of.y) <= 48, `${sign} ends at ${at.y + at.height}, the player begins at ${of.y}`);
    };
    if (isPhone) await page.locator('.more-reactions').tap();
    await page.getByRole('button', { name: 'Say: Good luck!' }).click();
    await isAt('🍀', game === 'blackjack' ? page.getByRole('group', { name: "Ann's hand" }) : page.getByRole('button', { name: 'you: starting' }));
    await eve.page.getByRole('button', { name: 'Say: Hello!' }).click();
    // On phones the table shows the player's own place only, and the strip below it the others.
    if (game === 'blackjack' && isPhone) assert.ok(await isInWindow(page.locator('.players li:not(.own)').getByRole('img', { name: 'Hello!' })));
    else await isAt('👋', game === 'blackjack' ? page.getByRole('group', { name: 'Eve', exact: true }).locator('.mark') : page.getByRole('button', { name: 'Eve: starting' }));
    for (const person of [ann, eve]) await person.leave();
  });
}

test('sound is offered once at the first key, and its volume is in the settings', bound, async () => {
  const room = await hub.open({ game: 'nuggets', map: 'brawl' });
  const ann = await come();
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  await ann.reads('left');
  const offer = page.getByRole('group', { name: 'Sound' });
  assert.equal(await offer.count(), 0);
  await page.keyboard.press('l');
  const loaded = page.waitForResponse((answer) => answer.url().endsWith('/sounds/gold.wav'));
  await offer.getByRole('button', { name: 'Sound on' }).click();
  assert.equal((await loaded).status(), 200);
  await offer.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Sound', pressed: true }).waitFor();
  await page.keyboard.press('?');
  const volume = page.getByRole('slider', { name: 'Volume' });
  assert.equal(await volume.inputValue(), '60');
  await volume.fill('0');
  assert.deepEqual(await page.evaluate(() => [localStorage.getItem('volume'), localStorage.getItem('sound')]), ['0', 'off']);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Sound', pressed: false }).waitFor();
  await page.reload();
  await ann.reads('left');
  await page.keyboard.press('h');
  assert.equal(await offer.count(), 0);
  await ann.leave();
});

test('rated nuggets: no ranks while the scores of other players are old', bound, async () => {
  const delayed = await Hub.start('--watch-delay', '5');
  const room = await delayed.open({ game: 'nuggets', countdown: 8 });
  const ann = await Person.come(browser, delayed.address, 'Ann');
  const { page } = ann;
  await ann.go(`/rooms/${room.id}`);
  const bob = native.nuggets(room.port, 'Bob', { pause: 50 });
  const line = page.locator('.players li').filter({ hasText: 'Bob' });
  await line.locator('.value').filter({ hasText: /^[1-9]/ }).waitFor();
  await line.getByText(/^(delayed|\d+ s ago)$/).waitFor();
  assert.equal(await page.locator('.players').getByText('leader').count(), 0);
  assert.equal(await page.locator('.hud .figure').first().locator('span').nth(1).textContent(), 'you');
  bob.stop();
  await ann.leave();
  await delayed.stop();
});

for (const reducedMotion of /** @type {const} */ (['no-preference', 'reduce'])) {
  test(`moments are animated for at most 400 ms, ${reducedMotion}`, bound, async () => {
    const ann = await come('Ann', { ...DESKTOP, reducedMotion });
    const { page } = ann;
    await page.addInitScript(() => {
      /** @type {string[]} */
      const motions = [];
      Object.assign(globalThis, { motions });
      const { animate } = Element.prototype;
      /** @this {Element} @param {Keyframe[] | PropertyIndexedKeyframes | null} frames @param {number | KeyframeAnimationOptions} [options] */
      Element.prototype.animate = function (frames, options) {
        motions.push(`${this.className || this.tagName.toLowerCase()} ${/** @type {KeyframeAnimationOptions} */ (options).duration}`);
        return animate.call(this, frames, options);
      };
      addEventListener('animationstart', ({ animationName, target }) => {
        const seconds = getComputedStyle(/** @type {Element} */ (target)).animationDuration.split(', ').map(parseFloat);
        motions.push(`${animationName} ${1000 * Math.max(...seconds)}`);
      });
    });
    /** @param {string[]} wanted Parts of the page. */
    const shows = async (...wanted) => {
      const all = (/** @type {string[]} */ parts) => parts.every((one) => /** @type {any} */ (globalThis).motions.some((/** @type {string} */ motion) => motion.startsWith(one)));
      if (reducedMotion !== 'reduce') await page.waitForFunction(all, wanted);
      const motions = /** @type {string[]} */ (await page.evaluate('motions'));
      for (const motion of motions) assert.ok(Number(motion.split(' ').pop()) <= 400, motion);
      if (reducedMotion === 'reduce') assert.deepEqual(motions, []);
    };
    const table = await hub.open({ game: 'blackjack', players: 1, rounds: 5 });
    await ann.go(`/rooms/${table.id}`);
    await ann.stands();
    await ann.reads('Hit or stand?');
    await shows('card', 'deal');

    const codes = await hub.open({ game: 'mastermind', seed: 7 });
    await ann.go(`/rooms/${codes.id}`);
    await ann.reads('Row 1 of 10');
    for (const key of ['1', '1', '2', '2', 'Enter']) await page.keyboard.press(key);
    await ann.reads('Row 2 of 10');
    await shows('reveal');

    const mine = await hub.open({ game: 'nuggets', map: 'brawl' });
    await ann.go(`/rooms/${mine.id}`);
    await ann.reads('left');
    const purse = page.locator('.hud .number').first();
    const explorer = new Explorer();
    const state = initialState();
    for (let steps = 0; steps < 500 && (await purse.textContent()) === '0'; steps += 1) {
      const text = (await page.getByLabel('Map as text').textContent()) ?? '';
      const rows = text.split('\n');
      if (state.rows === 0) fold(state, { kind: 'grid', rows: rows.length, columns: rows[0].length });
      fold(state, { kind: 'display', rows });
      await page.keyboard.press(explorer.next(state) ?? 'h');
      await page.waitForFunction((shown) => document.querySelector('pre')?.textContent !== shown, text);
    }
    await shows('coin', 'tick');

    const arena = await hub.open({ game: 'robots', players: 2, turns: 60, turn_duration: 100 });
    await ann.go(`/rooms/${arena.id}`);
    const bob = native.robots(arena.port, 'Bob');
    await ann.reads(/^Turn \d+/);
    while (!(await resultOf(page).isVisible())) await page.keyboard.press(' ');
    await shows('canvas', 'rise');
    bob.stop();
    await ann.leave();
  });
}
