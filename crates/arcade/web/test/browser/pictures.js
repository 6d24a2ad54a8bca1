// Screenshots of the pages in SHOTS at the sizes in SIZES, light and dark, in PICTURES or target/pictures, and with the name
// `readme` the pictures of README.md, which need ImageMagick and an emoji font: `npm run pictures [NAME...]`. Check them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Person, launch } from './support/browser.js';
import { answer } from './support/fixtures.js';
import { Hub } from './support/hub.js';
import * as native from './support/native.js';
import { sheet } from './support/sheet.js';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
const PLACE = process.env.PICTURES ?? join(ROOT, 'target/pictures');
/** Sizes of the window, and the width of each on the sheet. */
const SIZES = [
  { width: 360, height: 740, shown: 270 },
  { width: 820, height: 1180, shown: 400 },
  { width: 1366, height: 768, shown: 640 },
  { width: 1920, height: 1080, shown: 900 },
];

const hub = await Hub.start();
const browser = await launch();
mkdirSync(PLACE, { recursive: true });

/** @type {{ stop: () => void }[]} */
const guests = [];

/**
 * @param {string} path
 * @param {object} body
 */
const ask = (path, body) =>
  fetch(hub.address + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

// Ann's name is registered with the key of `Person`.
await ask('/api/names', { name: 'Ann', key: 'A'.repeat(43) });
const withBots = await hub.open({ game: 'nuggets' });
for (const level of ['easy', 'normal', 'hard']) await ask(`/api/rooms/${withBots.id}/bots`, { level, owner: withBots.owner_token });
for (const turns of [20, 3000]) {
  const { id, port } = await hub.open({ game: 'robots', players: 2, turns, turn_duration: 150 });
  guests.push(native.robots(port, 'Bob'), native.robots(port, 'Eve'));
  if (turns === 20) while ((await hub.room(id)).result === null) await new Promise((resolve) => setTimeout(resolve, 100));
}
for (let match = 0; match < 2; match += 1) {
  const { port } = await hub.open({ game: 'blackjack', players: 2, rounds: 5 });
  await Promise.all([native.blackjack(port, 'Bob').over, native.blackjack(port, 'Cleo').over]);
}
const nuggets = await hub.open({ game: 'nuggets', map: 'donuts' });

/** The links of a class for its teacher and its pupils, of whom two play. @type {Promise<[teacher: string, pupils: string]> | undefined} */
let ofClass;
const openClass = async () => {
  const text = hub.command('class', 'Networks, group 2', '--players', '60');
  const [teacherLink, pupilLink] = [/^Teacher: +(\S+)$/m, /^Players: +(\S+)$/m].map((line) => new URL(line.exec(text)?.[1] ?? '')).map(({ pathname, hash }) => pathname + hash);
  const [teacher, ...pupils] = await Promise.all(['', '', ''].map((name) => Person.come(browser, hub.address, name)));
  await teacher.go(teacherLink);
  for (const [index, name] of ['Łukasz', 'Ola'].entries()) {
    const { page } = pupils[index];
    await pupils[index].go(pupilLink);
    await page.getByLabel('Your name in this class').fill(name);
    await page.getByRole('button', { name: 'Join class' }).click();
  }
  // The second match runs on.
  for (const [match, turns] of ['5', '3000'].entries()) {
    await teacher.page.getByLabel('Game', { exact: true }).selectOption('robots');
    if (match === 0) await teacher.page.getByText('Game settings').click();
    await teacher.page.getByLabel('Players', { exact: true }).fill('2');
    await teacher.page.getByLabel('Turns', { exact: true }).fill(turns);
    await teacher.page.getByRole('button', { name: 'Open', exact: true }).click();
    for (const pupil of pupils) {
      await pupil.go(pupilLink);
      await pupil.page.getByRole('link', { name: 'Play: Robots' }).last().click();
    }
    for (const pupil of pupils) await (match === 0 ? pupil.page.getByRole('region', { name: 'Result' }).waitFor() : pupil.reads(/^Turn/));
  }
  return /** @type {[string, string]} */ ([teacherLink, pupilLink]);
};
/** @param {Person} person @param {0 | 1} link */
const enterClass = async (person, link) => person.go((await (ofClass ??= openClass()))[link]);

/** A match of nuggets that new players can hardly win any more. @type {Promise<string> | undefined} */
let lateRoom;
const playLong = async () => {
  const { id, port } = await hub.open({ game: 'nuggets', map: 'main' });
  guests.push(native.nuggets(port, 'Bob', { pause: 100 }), native.nuggets(port, 'Eve', { pause: 600_000 }));
  while (!(/** @type {{ late?: boolean }} */ (await hub.room(id)).late)) await new Promise((resolve) => setTimeout(resolve, 100));
  guests.splice(-2, 1)[0].stop();
  return id;
};

/** @typedef {{ name: string, path: string, ready: (person: Person) => Promise<unknown>, wait?: number }} Shot */

/** @type {Shot[]} */
const SHOTS = [
  { name: 'lobby', path: '/', ready: ({ page }) => page.locator('#link[data-state=open]').waitFor(), wait: 800 },
  {
    name: 'nuggets',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'nuggets', map: 'donuts' });
      await person.go(`/rooms/${room.id}`);
      await person.reads('left');
      for (const key of ['L', 'J', 'H', 'K', 'L']) {
        await person.page.keyboard.press(`Shift+${key}`);
        await person.page.waitForTimeout(120);
      }
    },
    wait: 300,
  },
  {
    name: 'robots',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'robots', players: 3, turns: 300, turn_duration: 400 });
      await person.go(`/rooms/${room.id}`);
      guests.push(native.robots(room.port, 'Bob'), native.robots(room.port, 'Eve'));
      await person.reads(/Turn/);
      await person.page.keyboard.press(' ');
      await person.page.waitForTimeout(500);
      await person.page.keyboard.press('ArrowUp');
      await person.page.waitForTimeout(500);
    },
    wait: 100,
  },
  {
    name: 'blackjack',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'blackjack', players: 3, rounds: 50 });
      await person.go(`/rooms/${room.id}`);
      await person.reads('Waiting');
      guests.push(native.blackjack(room.port, 'Bob'), native.blackjack(room.port, 'Eve'));
      await person.page.locator('.card').first().waitFor();
    },
    wait: 1500,
  },
  {
    name: 'mastermind',
    path: '',
    ready: async (person) => {
      const { page } = person;
      const room = await hub.open({ game: 'mastermind', seed: 7 });
      await person.go(`/rooms/${room.id}`);
      await person.reads('Row 1 of');
      for (const guess of ['1122', '1344', '5516']) {
        await page.keyboard.type(guess);
        await page.keyboard.press('Enter');
        await page.locator('[data-place="0"]:empty').waitFor();
      }
      await page.keyboard.press('h');
      await page.getByText(/codes? left\. Try/).waitFor();
      await page.keyboard.type('57');
    },
    wait: 300,
  },
  {
    name: 'mastermind-result',
    path: '',
    ready: async (person) => {
      const { page } = person;
      const room = await hub.open({ game: 'mastermind', seed: 7 });
      await person.go(`/rooms/${room.id}`);
      await person.reads('Row 1 of');
      await page.keyboard.type('1122');
      await page.keyboard.press('Enter');
      await person.reads('Row 2 of');
      await person.givesUp();
      await page.getByRole('button', { name: 'New game' }).waitFor();
    },
  },
  {
    name: 'waiting',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'robots', players: 4 });
      await person.owns(room);
      await person.go(`/rooms/${room.id}`);
      await person.page.getByRole('heading', { name: '1 of 4 players' }).waitFor();
    },
    wait: 300,
  },
  {
    name: 'private',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'robots', players: 4, room: { name: 'Friday', visibility: 'link' } });
      await person.owns(room);
      await person.go(`/j/${room.code}`);
      await person.page.getByRole('group', { name: 'Join code' }).waitFor();
    },
    wait: 300,
  },
  {
    name: 'password',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'robots', players: 4, room: { visibility: 'word', word: 'xyzzy' } });
      await person.page.goto(`${hub.address}/rooms/${room.id}`);
      await person.page.getByLabel(/password/i).waitFor();
    },
  },
  {
    name: 'leaving',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'mastermind' });
      await person.go(`/rooms/${room.id}`);
      await person.page.locator('.players li.own').waitFor({ state: 'attached' });
      await person.page.getByText('Rated').first().waitFor();
      await person.page.getByRole('button', { name: 'Leave' }).click();
      await person.page.getByRole('dialog', { name: 'Leave this game?' }).waitFor();
    },
  },
  {
    name: 'late',
    path: '',
    ready: async (person) => {
      await person.page.goto(`${hub.address}/rooms/${await (lateRoom ??= playLong())}`);
      await person.page.getByRole('button', { name: 'Play next match' }).waitFor();
    },
  },
  {
    name: 'running',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'robots', players: 2, turns: 3000, turn_duration: 150 });
      const players = ['Bob', 'Eve'].map((name) => native.robots(room.port, name));
      guests.push(...players);
      while ((await hub.room(room.id)).phase !== 'playing') await person.page.waitForTimeout(100);
      await person.go(`/rooms/${room.id}`);
      await person.reads(/^Turn/);
    },
    wait: 500,
  },
  { name: 'class-join', path: '', ready: async (person) => {
    await enterClass(person, 1);
    await person.page.getByRole('button', { name: 'Join class' }).waitFor();
  } },
  {
    name: 'pupil',
    path: '',
    ready: async (person) => {
      const { page } = person;
      await enterClass(person, 1);
      // Each picture is of the same pupil.
      await page.getByRole('button', { name: 'Join class' }).or(page.getByText('You play as')).waitFor();
      if (!(await page.getByText('You play as').isVisible())) {
        await page.getByLabel('Your name in this class').fill('Zoe');
        await page.getByRole('button', { name: 'Join class' }).click();
      }
      await page.getByRole('link', { name: 'Watch: Robots' }).last().waitFor();
    },
  },
  { name: 'teacher', path: '', ready: async (person) => {
    await enterClass(person, 0);
    await person.page.getByRole('link', { name: 'Watch: Robots' }).last().waitFor();
  } },
  {
    name: 'projector',
    path: '',
    ready: async (person) => {
      await enterClass(person, 0);
      await person.page.getByRole('link', { name: 'Projector view' }).click();
      await person.page.locator('.board canvas').waitFor();
    },
    wait: 800,
  },
  { name: 'controls', path: `/rooms/${nuggets.id}`, ready: async (person) => {
    await person.reads('left');
    await person.page.getByRole('button', { name: 'Controls' }).click();
    await person.page.getByRole('dialog', { name: 'Controls' }).waitFor();
  } },
  { name: 'daily', path: '/daily/robots', ready: ({ page }) => page.getByRole('button', { name: 'Play', exact: true }).waitFor() },
  { name: 'puzzles', path: '/mastermind', ready: ({ page }) => page.getByRole('heading', { name: "Today's puzzle" }).waitFor() },
  {
    name: 'learn',
    path: '/learn',
    ready: async ({ page }) => {
      await page.getByLabel('Speed').selectOption('5000');
      await page.getByLabel('Seed').fill('7');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.waitForFunction(() => Number(/Rounds\D*([\d,]+)/.exec(document.querySelector('.facts')?.textContent ?? '')?.[1].replaceAll(',', '')) > 20_000);
    },
  },
  {
    name: 'result',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'robots', players: 1, turns: 8, turn_duration: 100 });
      await person.go(`/rooms/${room.id}`);
      await person.page.getByRole('region', { name: 'Result' }).waitFor();
    },
  },
  {
    name: 'blackjack-result',
    path: '',
    ready: async (person) => {
      const room = await hub.open({ game: 'blackjack', players: 2, rounds: 1 });
      await person.go(`/rooms/${room.id}`);
      guests.push(native.blackjack(room.port, 'Bob'));
      await person.page.getByRole('button', { name: 'Stand' }).click();
      await person.page.getByRole('region', { name: 'Result' }).waitFor();
    },
    wait: 600,
  },
  {
    name: 'nuggets-result',
    path: '',
    ready: async (person) => {
      await person.page.unrouteAll();
      const room = await hub.open({ game: 'nuggets', map: 'brawl' });
      await person.go(`/rooms/${room.id}`);
      await person.reads('left');
      await native.nuggets(room.port, 'Bob').over;
      await person.page.locator('.moment').waitFor();
    },
  },
  {
    name: 'race-result',
    path: '',
    ready: async (person) => {
      await person.page.unrouteAll();
      const { id } = await hub.open({ game: 'mastermind', mode: 'race', players: 2, seed: 7 });
      const bob = await Person.come(browser, hub.address, 'Bob');
      for (const one of [person, bob]) await one.go(`/rooms/${id}`);
      await bob.givesUp();
      for (const code of ['1122', '7836']) {
        await person.page.keyboard.type(code);
        await person.page.keyboard.press('Enter');
        await person.page.locator('[data-place="0"]:empty').or(person.page.getByRole('region', { name: 'Result' })).waitFor();
      }
      await person.page.locator('.moment').waitFor();
      await bob.page.context().close();
    },
  },
  { name: 'replay', path: '/matches/nuggets-1.1?at=9000', ready: ({ page }) => page.getByText('Ann finds 12').waitFor(), wait: 300 },
  { name: 'players', path: '/players', ready: ({ page }) => page.locator('table').first().waitFor() },
  { name: 'player', path: '/players/Ann', ready: ({ page }) => page.locator('.match').first().waitFor() },
  { name: 'against', path: '/players/Ann/against/Bob', ready: ({ page }) => page.locator('meter').first().waitFor() },
];

/** Pictures of README.md: the window, and the width of a picture. */
const README = { viewport: { width: 1120, height: 640 }, deviceScaleFactor: 1.5 };
const WIDTH = 880;
/** Frames of the moving picture, and milliseconds between them. */
const FRAMES = 60;
const FRAME = 200;

/** @param {import('playwright-core').Page} page */
const quiet = (page) => page.addInitScript(() => location.protocol.startsWith('http') && localStorage.setItem('sound', 'off'));

async function readme() {
  const place = join(ROOT, 'docs/pictures');
  for (const name of ['blackjack', 'mastermind']) {
    const { ready, wait = 0 } = SHOTS.find((shot) => shot.name === name) ?? assert.fail(name);
    const person = await Person.come(browser, hub.address, 'Ann', README);
    await quiet(person.page);
    await ready(person);
    await person.page.waitForTimeout(wait);
    const png = (await person.page.screenshot()).toString('base64');
    writeFileSync(join(place, `${name}.webp`), await sheet(browser, [{ png, shown: WIDTH }], 0));
    await person.page.context().close();
  }
  const room = await hub.open({ game: 'robots', players: 4, columns: 14, rows: 10, turns: 80, turn_duration: 400, seed: 3 });
  for (const level of ['hard', 'normal', 'normal']) await ask(`/api/rooms/${room.id}/bots`, { level, owner: room.owner_token });
  const { page } = await Person.come(browser, hub.address, 'Ann', README);
  await quiet(page);
  await page.goto(`${hub.address}/rooms/${room.id}`);
  // The first frame shows a match in progress.
  await page.getByText(/^Turn 1[5-9]/).first().waitFor({ state: 'attached' });
  const keys = ['ArrowRight', 'ArrowUp', 'ArrowRight', 'ArrowDown', ' ', 'ArrowLeft', 'ArrowLeft', 'ArrowUp'];
  const folder = mkdtempSync(join(tmpdir(), 'arcade-match-'));
  for (let frame = 0; frame < FRAMES; frame += 1) {
    const pause = page.waitForTimeout(FRAME);
    if (frame % 2 === 0) await page.keyboard.press(keys[(frame / 2) % keys.length]);
    writeFileSync(join(folder, `${String(frame).padStart(3, '0')}.png`), await page.screenshot());
    await pause;
  }
  const png = (await page.screenshot()).toString('base64');
  writeFileSync(join(place, 'robots.webp'), await sheet(browser, [{ png, shown: WIDTH }], 0));
  execFileSync('convert', ['-delay', String(FRAME / 10), '-loop', '0', join(folder, '*.png'), '-resize', `${WIDTH}x`, '-quality', '50', join(place, 'match.webp')]);
  rmSync(folder, { recursive: true });
}

const wanted = process.argv.slice(2);
if (wanted.includes('readme')) await readme();
for (const { name, path, ready, wait } of SHOTS) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const pictures = [];
    for (const { width, height, shown } of SIZES) {
      const touch = width < 900;
      const person = await Person.come(browser, hub.address, 'Ann', { viewport: { width, height }, colorScheme, hasTouch: touch, isMobile: touch, deviceScaleFactor: width < 500 ? 2 : 1 });
      await answer(person.page);
      if (path) await person.go(path);
      await ready(person);
      if (wait) await person.page.waitForTimeout(wait);
      await person.page.evaluate(() => scrollTo(0, 0));
      await person.page.waitForTimeout(100);
      const wide = await person.page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) process.stderr.write(`${name} at ${width}: ${wide} pixels wide\n`);
      pictures.push({ png: (await person.page.screenshot({ fullPage: true })).toString('base64'), shown });
      await person.page.getByRole('button', { name: 'Leave' }).click({ timeout: 200 }).catch(() => {});
      await person.page.context().close();
    }
    const file = join(PLACE, `${name}-${colorScheme}.webp`);
    const bytes = await sheet(browser, pictures);
    writeFileSync(file, bytes);
    process.stdout.write(`${file}: ${bytes.length} bytes\n`);
  }
}
for (const guest of guests) guest.stop();
await browser.close();
await hub.stop();
