// Strips of screenshots of a new player's first minute in each game, and of the last ten seconds of a match, on a phone,
// for docs/pictures/first-minute: `npm run first-minute [GAME...]`. Check the pictures.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Person, launch } from './support/browser.js';
import { Hub } from './support/hub.js';
import { sheet } from './support/sheet.js';

const PLACE = process.env.PICTURES ?? fileURLToPath(new URL('../../../../../docs/pictures/first-minute/', import.meta.url));
const SIZE = { width: 360, height: 740 };
/** Width of a picture on the strip. */
const SHOWN = 300;

/** @typedef {{ person: Person, shoot: (wait?: number) => Promise<void> }} Minute */
/** Actions after the first tap. @type {Record<string, (minute: Minute) => Promise<void>>} */
const MINUTES = {
  Nuggets: async ({ person, shoot }) => {
    await person.reads(/begins in|left/);
    await shoot(600);
    await person.reads('left');
    const map = person.page.getByLabel('Map', { exact: true });
    for (const [x, y] of [[260, 120], [80, 200], [180, 60]]) {
      await map.tap({ position: { x, y } });
      await person.page.waitForTimeout(900);
    }
    await shoot();
    for (const key of ['L', 'J', 'H', 'K', 'L', 'J']) {
      await person.page.keyboard.press(`Shift+${key}`);
      await person.page.waitForTimeout(300);
    }
    await shoot();
  },
  Robots: async ({ person, shoot }) => {
    await person.page.getByRole('button', { name: 'Start with bots' }).waitFor();
    await shoot();
    await person.page.getByRole('button', { name: 'Start with bots' }).tap();
    await person.reads(/^Turn [1-9]/);
    await person.page.getByRole('button', { name: 'Place a bomb' }).tap();
    await shoot(400);
    await person.page.getByRole('button', { name: 'Move up' }).tap();
    await person.page.waitForTimeout(2500);
    await shoot();
  },
  Blackjack: async ({ person, shoot }) => {
    await person.page.getByRole('button', { name: 'Start with bots' }).tap();
    await person.reads('Hit or stand?');
    await shoot(400);
    await person.page.getByRole('button', { name: 'Hit' }).tap();
    await person.page.waitForTimeout(600);
    const stand = person.page.getByRole('button', { name: 'Stand' });
    if (await stand.isVisible()) await stand.tap();
    await person.page.getByRole('button', { name: 'Next round' }).waitFor();
    await shoot(500);
    await person.page.getByRole('button', { name: 'Next round' }).tap();
    await shoot(800);
  },
  Mastermind: async ({ person, shoot }) => {
    await person.reads('Row 1 of 10');
    await shoot(300);
    for (const guess of ['1122', '3344']) {
      await person.page.keyboard.type(guess);
      await person.page.keyboard.press('Enter');
      await person.page.locator('[data-place="0"]:empty').waitFor();
      await shoot(300);
    }
  },
};

/** Between two screenshots of the last ten seconds, in milliseconds. */
const STEP = 2500;
/** Screenshots before the result. */
const LAST = 3;

/** Short matches, and the actions between two screenshots. @type {Record<string, { room: Record<string, string | number>, bots: string[], act: (person: Person, step: number) => Promise<unknown> }>} */
const ENDS = {
  Nuggets: {
    room: { game: 'nuggets', map: 'brawl' },
    bots: ['easy', 'easy'],
    act: ({ page }, step) => page.getByLabel('Map', { exact: true }).tap({ position: { x: 60 + ((step * 97) % 240), y: 180 + ((step * 61) % 240) }, timeout: STEP }),
  },
  Robots: {
    room: { game: 'robots', players: 3, columns: 10, rows: 10, turns: 60, turn_duration: 200 },
    bots: ['easy', 'normal'],
    act: async ({ page }, step) => {
      await page.getByRole('button', { name: 'Place a bomb' }).tap({ timeout: STEP });
      await page.waitForTimeout(400);
      await page.getByRole('button', { name: step % 2 === 0 ? 'Move up' : 'Move left' }).tap({ timeout: STEP });
    },
  },
  Blackjack: {
    room: { game: 'blackjack', players: 2, rounds: 3 },
    bots: ['normal'],
    act: ({ page }) => page.getByRole('button', { name: /^(Stand|Next round)$/ }).filter({ visible: true }).tap({ timeout: STEP }),
  },
  Mastermind: {
    room: { game: 'mastermind', seed: 7 },
    bots: [],
    act: async ({ page }, step) => {
      await page.keyboard.type(['1122', '7788', '7863', '7836'][step] ?? '');
      await page.keyboard.press('Enter');
    },
  },
};

/**
 * Plays a short match, and keeps the screenshots of its last seconds and of the result.
 * @param {string} game
 * @param {Minute} minute
 * @param {unknown[]} pictures Of `shoot`.
 */
async function playToEnd(game, { person, shoot }, pictures) {
  const { room: options, bots, act } = ENDS[game];
  const room = await hub.open(options);
  await person.go(`/rooms/${room.id}`);
  for (const level of bots) {
    await fetch(`${hub.address}/api/rooms/${room.id}/bots`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ level, owner: room.owner_token }) });
  }
  await person.reads(/left|Turn [1-9]|Hit or stand|Row 1/);
  const result = person.page.getByRole('region', { name: game === 'Mastermind' ? 'Your game' : 'Result' });
  for (let step = 0; !(await result.isVisible()); step += 1) {
    await shoot();
    if (pictures.length > LAST) pictures.shift();
    // The match may end in between.
    await act(person, step).catch(() => {});
    await Promise.race([result.waitFor(), person.page.waitForTimeout(STEP)]);
  }
  // After its animation.
  await shoot(800);
  // Its highlights arrive later.
  await shoot(3000);
}

/** @param {string} name @param {{ png: string, shown: number }[]} pictures */
async function save(name, pictures) {
  const file = join(PLACE, `${name}.webp`);
  const bytes = await sheet(browser, pictures);
  writeFileSync(file, bytes);
  process.stdout.write(`${file}: ${bytes.length} bytes\n`);
}

const hub = await Hub.start();
const browser = await launch();
mkdirSync(PLACE, { recursive: true });
const wanted = process.argv.slice(2);
for (const [game, minute] of Object.entries(MINUTES)) {
  if (wanted.length > 0 && !wanted.includes(game.toLowerCase())) continue;
  const person = await Person.come(browser, hub.address, '', { viewport: SIZE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  /** @type {{ png: string, shown: number }[]} */
  const pictures = [];
  const shoot = async (wait = 0) => {
    await person.page.waitForTimeout(wait);
    pictures.push({ png: (await person.page.screenshot()).toString('base64'), shown: SHOWN });
  };
  await person.go('/');
  await person.page.locator('#link[data-state=open]').waitFor();
  await shoot(500);
  await person.page.getByRole('button', { name: `Play now: ${game}` }).tap();
  await minute({ person, shoot });
  await save(game.toLowerCase(), pictures.splice(0));
  await playToEnd(game, { person, shoot }, pictures);
  await save(`${game.toLowerCase()}-end`, pictures);
  await person.page.context().close();
}
await browser.close();
await hub.stop();
