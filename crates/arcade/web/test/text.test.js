// The texts of the page: the same keys in each language, all used, and no texts in modules.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { languageFor, load } from '../js/lib/language.js';
import { errorOf, list, say, sayIfKnown, translate } from '../js/lib/text.js';
import { literals } from './support/literals.js';

/** @typedef {import('../js/lib/text-types.js').Translation} Translation */

const { texts: english, sentences: reworded } = await load('en');
const { texts: polish, sentences } = await load('pl');
const root = new URL('..', import.meta.url);
/** Modules of the page without its texts, by path. */
const modules = new Map(
  readdirSync(new URL('js', root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js') && !path.includes('/text/'))
    .map((path) => [path, readFileSync(new URL(`js/${path}`, root), 'utf8')]),
);
const written = [...modules.values(), readFileSync(new URL('index.html', root), 'utf8')].join('\n');
/** @type {[string, Translation][]} */
const languages = [['en', english], ['pl', polish]];

/** @param {string} text */
const names = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
/** @param {Translation[keyof Translation]} entry */
const forms = (entry) => (typeof entry === 'string' ? [entry] : Object.values(entry));

test('all languages have the same keys in the same order', () => {
  assert.deepEqual(Object.keys(polish), Object.keys(english));
  for (const [language, all] of languages) {
    for (const [key, entry] of Object.entries(all)) for (const text of forms(entry)) assert.equal(text.trim(), text, `${language} ${key}`);
  }
});

test('counted texts have the plurals of their language', () => {
  for (const [language, all] of languages) {
    const rules = new Intl.PluralRules(language);
    const plurals = [...new Set(Array.from({ length: 200 }, (_, number) => rules.select(number)))].sort();
    for (const [key, entry] of [...Object.entries(all), ...(language === 'pl' ? Object.entries(sentences) : [])]) {
      if (typeof entry !== 'string') assert.deepEqual(Object.keys(entry).sort(), plurals, `${language} ${key}`);
    }
  }
});

test('each text has the same values in all languages', () => {
  for (const [key, entry] of Object.entries(english)) {
    const wanted = new Set(forms(entry).flatMap(names));
    const isCounted = typeof entry !== 'string';
    for (const [language, all] of languages) {
      for (const text of forms(all[/** @type {keyof Translation} */ (key)])) {
        // The form for one may omit the number.
        const own = new Set([...names(text), ...(isCounted ? ['count'] : [])]);
        assert.deepEqual([...own].sort(), [...new Set([...wanted, ...(isCounted ? ['count'] : [])])].sort(), `${language} ${key}: ${text}`);
      }
    }
  }
  for (const [sentence, entry] of Object.entries(sentences)) {
    for (const text of forms(entry)) for (const name of names(text)) assert.ok(names(sentence).includes(name), `${sentence}: ${text}`);
  }
});

test('each text is used', () => {
  const said = new Set([...written.matchAll(/['"]([a-z]+(?:[.\-_]\w+)+)['"]/g)].map(([, key]) => key));
  // Some keys end in a value from the hub or a game.
  const begun = [...written.matchAll(/(?:say|sayIfKnown|sayNodes)\(`([a-z.]+\.)\$\{/g)].map(([, start]) => start);
  begun.push('hub.');
  const unused = Object.keys(english).filter((key) => !said.has(key) && !begun.some((start) => key.startsWith(start)) && !key.startsWith('option.'));
  assert.deepEqual(unused, []);
});

test('texts of room options match the options of the hub', () => {
  for (const key of Object.keys(english).filter((one) => one.startsWith('option.'))) {
    const [, game, option] = key.split('.');
    const source = readFileSync(new URL(`../src/games/${game}.rs`, root), 'utf8');
    assert.ok(new RegExp(`Field::\\w+\\(\\s*"${option}"|Field::${option}\\(`).test(source), key);
  }
});

/** Errors that no user of the page causes or can act on; they stay in English. */
const FOR_PROGRAMS = ['invalid_request', 'invalid_name', 'invalid_map', 'invalid_options', 'impossible', 'no_lease', 'no_random', 'nodes_only', 'local_only', 'not_owner', 'other_site', 'tls', 'unknown_host'];

test('each error of the hub has a text, and each text an error', () => {
  const source = readdirSync(new URL('../src', root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.rs') && path !== 'message.rs')
    .map((path) => readFileSync(new URL(`../src/${path}`, root), 'utf8'))
    .join('\n');
  const codes = new Set([...source.matchAll(/(?:message!|Message::new|\brejected)\([^"]*?"([a-z_]+)"/g)].map(([, code]) => code));
  for (const [, code] of source.matchAll(/ReplayError::\w+(?:\(_\))? => "([a-z_]+)"/g)) codes.add(code);
  const texts = Object.keys(english).flatMap((key) => (key.startsWith('hub.') ? [key.slice(4)] : []));
  assert.deepEqual([...texts, ...FOR_PROGRAMS].sort(), [...codes].sort());
});

test('translated sentences exist in the sources of the hub', () => {
  const sources = ['../src', '../../nuggets/src', '../../mastermind/src'].flatMap((directory) =>
    readdirSync(new URL(directory, root), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.rs'))
      .map((path) => readFileSync(new URL(`${directory}/${path}`, root), 'utf8')),
  );
  const all = sources.join('\n');
  const gone = Object.keys({ ...reworded, ...sentences }).flatMap((sentence) =>
    sentence
      .split(/\{\w+\}/)
      .map((piece) => piece.replace(/^: /, ''))
      .filter((piece) => piece && !all.includes(piece)),
  );
  assert.deepEqual(gone, []);
});

test('modules contain no texts', () => {
  assert.deepEqual([...modules].flatMap(([path, source]) => literals(path, source)), []);
  for (const text of [
    "element('p', {}, 'leave');",
    "element('button', { 'aria-label': `Go to ${room}` });",
    "line.textContent = over ? 'over' : status();",
    "const HELP = [['k', 'put down a block']];",
    "toggle('Advice', turn);",
    "throw new Error('it is gone');",
  ]) {
    assert.equal(literals('page/some.js', text).length, 1, text);
  }
});

test('chooses the selected language, otherwise the first available preference', () => {
  assert.equal(languageFor(null, ['pl-PL', 'en']), 'pl');
  assert.equal(languageFor(null, ['de', 'pl', 'en']), 'pl');
  assert.equal(languageFor('en', ['pl-PL']), 'en');
  assert.equal(languageFor('xx', ['PL']), 'pl');
  assert.equal(languageFor(null, ['de']), 'en');
  assert.equal(languageFor(null, []), 'en');
});

test('inserts values into texts, and returns unknown sentences unchanged', () => {
  assert.equal(say('lobby.play.label', { game: 'X' }), 'Play now: X');
  assert.equal(say('time.minutes', { count: 1 }), 'a minute ago');
  assert.equal(say('time.minutes', { count: 2 }), '2 minutes ago');
  assert.equal(say('score.nuggets', { count: 12_345 }), '12,345 nuggets');
  // Names with right-to-left letters are isolated.
  assert.equal(say('result.one', { name: 'שלום' }), '\u2068שלום\u2069 wins');
  assert.equal(say('result.some', { names: list(['Ann', 'שלום\u202e']) }).includes('Ann and \u2068שלום\ufffd\u2069'), true);
  assert.equal(sayIfKnown('option.nuggets.depth', 'Depth'), 'Depth');
  assert.equal(sayIfKnown('toString', 'x'), 'x');
  assert.equal(translate('all seats are taken'), 'all seats are taken');
  assert.equal(errorOf({ error: 'x', code: 'name_taken' }), 'This name is taken. Choose another one.');
  assert.equal(errorOf(/** @type {any} */ ({ error: 'x', code: 'too_many_names', count: 3 })), 'You have 3 names. Use one of them.');
  assert.equal(errorOf({ error: 'a fault of its own', code: 'toString' }), 'A fault of its own.');
});

/** Calls that the compiler has to reject; this is never run. */
export const refused = () => [
  // @ts-expect-error Unknown key.
  say('no.such.text'),
  // @ts-expect-error Missing value.
  say('lobby.play.label'),
  // @ts-expect-error Unknown value.
  say('lobby.play.label', { room: 'X' }),
  // @ts-expect-error The count is not a number.
  say('time.minutes', { count: '2' }),
  // @ts-expect-error The text has no values.
  say('page.copy', { count: 1 }),
];
