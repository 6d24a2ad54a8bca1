// Strips of screenshots of a new player's first minute in each game, on a phone, for docs/pictures/first-minute: `npm
// run first-minute`. Check the pictures.

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

const hub = await Hub.start();
const browser = await launch();
mkdirSync(PLACE, { recursive: true });
for (const [game, minute] of Object.entries(MINUTES)) {
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
  const file = join(PLACE, `${game.toLowerCase()}.webp`);
  const bytes = await sheet(browser, pictures);
  writeFileSync(file, bytes);
  process.stdout.write(`${file}: ${bytes.length} bytes\n`);
  await person.page.context().close();
}
await browser.close();
await hub.stop();
