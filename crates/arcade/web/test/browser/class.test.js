// A class: the link of its teacher, names from a list, rooms, results as a file, a second teacher, and the end.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { findings } from './support/axe.js';
import { Person } from './support/browser.js';
import { browser, hub } from './support/site.js';

const bound = { timeout: 120_000 };
const SIZES = [[360, 740], [1366, 768], [1920, 1080]];

/** @param {string} text */
const links = (text) => [/^Teacher: +(\S+)$/m, /^Players: +(\S+)$/m].map((line) => new URL(line.exec(text)?.[1] ?? '')).map(({ pathname, hash }) => pathname + hash);

/** Each browser has a key of its own, and no name. Axe measures no animations. */
const come = () => Person.come(browser, hub.address, '', { reducedMotion: 'reduce' });

/** @param {Person} person */
const forgive = (person) => {
  person.faults = person.faults.filter((fault) => !/status of (403|404|409)/.test(fault));
};

/** @param {Person} person @param {string} what The page fits into each size, and axe has no findings. */
async function looksGood(person, what) {
  for (const [width, height] of SIZES) {
    await person.page.setViewportSize({ width, height });
    assert.ok(await person.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} at ${width}`);
    assert.deepEqual(await findings(person), [], `${what} at ${width}`);
    if (process.env.SHOTS) await person.page.screenshot({ path: `${process.env.SHOTS}/${what}-${width}.png`, fullPage: true });
  }
}

test('a teacher opens rooms for pupils who choose their names, downloads results and ends the class', bound, async () => {
  const [teacherLink, pupilLink] = links(hub.command('class', 'Networks, group 2', '--players', '60'));
  const [teacher, ann, bob] = await Promise.all([come(), come(), come()]);
  await teacher.go(teacherLink);
  await teacher.page.getByRole('heading', { name: 'Networks, group 2' }).waitFor();
  assert.match(teacher.page.url(), /\/class#[a-z]{8}$/, 'the token is not in sight');
  await teacher.page.getByRole('img', { name: 'QR code of the class Networks, group 2' }).waitFor();
  await teacher.page.getByText('List of names').click();
  await teacher.page.getByLabel('One name per line').fill('Łukasz\nZażółć\nAnn');
  await teacher.page.getByRole('button', { name: 'Save list' }).click();
  await teacher.page.getByText('List saved.').waitFor();
  await teacher.page.getByLabel('Game', { exact: true }).selectOption('robots');
  await teacher.page.getByLabel('Number of rooms').fill('2');
  await teacher.page.getByText('Game settings').click();
  await teacher.page.getByLabel('Players', { exact: true }).fill('2');
  await teacher.page.getByLabel('Turns', { exact: true }).fill('3');
  await teacher.page.getByRole('button', { name: 'Open', exact: true }).click();
  await teacher.page.getByRole('link', { name: 'Play: Robots 2' }).waitFor();

  await ann.go(pupilLink);
  await ann.page.getByLabel('Your name').selectOption('Ann');
  await looksGood(ann, 'join');
  await ann.page.getByRole('button', { name: 'Join class' }).click();
  await ann.page.getByText('You play as Ann.').waitFor();
  await bob.go(pupilLink);
  await bob.page.getByLabel('Your name').waitFor();
  assert.deepEqual(await bob.page.getByLabel('Your name').locator('option').allTextContents(), ['Choose your name', 'Łukasz', 'Zażółć']);
  await bob.page.getByLabel('Your name').selectOption('Łukasz');
  await bob.page.getByRole('button', { name: 'Join class' }).click();
  await bob.page.getByRole('link', { name: 'Play: Robots 1' }).waitFor();
  await looksGood(bob, 'pupil');
  for (const pupil of [ann, bob]) await pupil.page.getByRole('link', { name: 'Play: Robots 1' }).click();
  await ann.page.getByRole('link', { name: 'Back to class' }).first().waitFor();
  await ann.page.getByRole('button', { name: 'Rematch' }).waitFor();
  assert.equal(await ann.page.getByRole('button', { name: 'Share' }).count(), 0, 'the names stay in the class');
  await looksGood(ann, 'room');
  await teacher.page.locator('#class-scores ~ table').getByText('Łukasz').waitFor();
  await teacher.page.getByRole('row', { name: /^(Ann|Łukasz) [01] 1$/ }).first().waitFor();
  await looksGood(teacher, 'teacher');

  const [file] = await Promise.all([teacher.page.waitForEvent('download'), teacher.page.getByRole('button', { name: 'Download results (CSV)' }).click()]);
  assert.match(readFileSync(await file.path(), 'utf8'), /,robots,robots-\d+,.*,Łukasz,/);

  await teacher.page.getByRole('button', { name: 'Invite a teacher' }).click();
  const link = new URL((await teacher.page.getByLabel('Link for the teacher').textContent()) ?? '');
  await bob.go('/');
  const second = await come();
  await second.go(link.pathname + link.hash);
  await second.page.getByText('You lead this class.').waitFor();

  await teacher.page.getByRole('button', { name: 'End class' }).click();
  await teacher.page.getByRole('dialog', { name: 'End this class?' }).getByRole('button', { name: 'End class' }).click();
  await teacher.page.waitForURL(`${hub.address}/`);
  await second.page.getByText('No class has this code, or it has ended.').waitFor();
  for (const person of [teacher, ann, bob, second]) {
    forgive(person);
    await person.leave();
  }
});

test('a tournament pairs the pupils, and the projector follows its matches', bound, async () => {
  const [teacherLink, pupilLink] = links(hub.command('class', 'Class 8b', '--players', '9'));
  const [teacher, ann, bob] = await Promise.all([come(), come(), come()]);
  await teacher.go(teacherLink);
  for (const [pupil, name] of /** @type {[Person, string][]} */ ([[ann, 'Ann'], [bob, 'Łukasz']])) {
    await pupil.go(pupilLink);
    await pupil.page.getByLabel('Your name in this class').fill(name);
    await pupil.page.getByRole('button', { name: 'Join class' }).click();
    await pupil.page.getByText(`You play as ${name}.`).waitFor();
  }
  await teacher.page.getByText('2 of 9 have joined').waitFor();
  await teacher.page.getByLabel('Tournament game').selectOption('robots');
  await teacher.page.getByRole('button', { name: 'Start tournament' }).click();
  await teacher.page.getByText('Robots · Round 1 of 1').waitFor();
  await ann.page.getByText('Your opponent: Łukasz').waitFor();
  await looksGood(ann, 'opponent');
  for (const pupil of [ann, bob]) await pupil.page.getByRole('link', { name: 'Play your match' }).click();
  await ann.reads(/^Turn \d+/);
  await teacher.page.getByRole('link', { name: 'Projector view' }).click();
  await teacher.page.getByRole('complementary', { name: 'Class' }).getByText('Robots · Round 1 of 1').waitFor();
  await teacher.page.locator('.board canvas').waitFor();
  await looksGood(teacher, 'projector');
  await teacher.page.goBack();
  await teacher.page.getByText('Robots · Finished').waitFor({ timeout: 90_000 });
  await looksGood(teacher, 'finished');
  for (const person of [teacher, ann, bob]) {
    forgive(person);
    await person.leave();
  }
});
