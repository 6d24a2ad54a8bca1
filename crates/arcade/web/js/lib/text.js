// Texts of the page by key, in the language of the user, from text/en.js and the files beside it.
//
// To add a text, add a key to each of these files at the same place, and call `say('the.key', { values })`.

import { localeOf, translation } from './language.js';
import { isolated } from './names.js';

/**
 * @typedef {import('./text-types.js').Key} Key
 * @typedef {import('./text-types.js').Forms} Forms
 */

// Once `loaded`: `start.js` and the setup of the tests wait for it.
export const { language, texts, sentences } = translation;
if (typeof document !== 'undefined') document.documentElement.lang = language;

const locale = localeOf(language);
const plurals = new Intl.PluralRules(language);
// British English has no comma before the last item of a list.
const lists = new Intl.ListFormat(language === 'en' ? 'en-GB' : language, { type: 'conjunction' });

/**
 * @param {number} value
 * @param {number} [digits] After the point.
 */
export const number = (value, digits) =>
  new Intl.NumberFormat(locale, {
    useGrouping: 'min2',
    ...(digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  }).format(value);

const ordinals = new Intl.PluralRules(language, { type: 'ordinal' });
/** A place in a ranking, as in `2nd`. @param {number} rank */
export const ordinal = (rank) => number(rank) + sayIfKnown(`ordinal.${ordinals.select(rank)}`, '.');

/**
 * @param {Date} date
 * @param {Intl.DateTimeFormatOptions} options
 */
export const date = (date, options) => new Intl.DateTimeFormat(locale, options).format(date);

/**
 * Names as a list for a sentence.
 * @param {string[]} names
 */
export const list = (names) => lists.format(names.map(isolated));

/** Values that are names of players. */
const PEOPLE = new Set(['name', 'one', 'other']);

/**
 * The parts of a text with its values inserted.
 * @template V
 * @param {string | Forms} entry
 * @param {Record<string, V>} values
 * @returns {(string | V)[]}
 */
function parts(entry, values) {
  const form = typeof entry === 'string' ? entry : (entry[/** @type {keyof Forms} */ (plurals.select(Number(values['count'])))] ?? entry.other ?? entry.many ?? entry.one);
  const value = (/** @type {string} */ key) => {
    const given = values[key] ?? `{${key}}`;
    return typeof given === 'string' && PEOPLE.has(key) ? isolated(given) : given;
  };
  return form.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : value(part)));
}

/** @param {string | number} value */
const formatValue = (value) => (typeof value === 'number' ? number(value) : value);

/**
 * @template {Key} K
 * @param {K} key
 * @param {import('./text-types.js').Given<K, string | number>} values By name; numbers are formatted for the language.
 * @returns {string}
 */
export const say = (key, ...values) => parts(texts[key], /** @type {Record<string, string | number>} */ (values[0] ?? {})).map(formatValue).join('');

/**
 * A text of the page with elements as values.
 * @template {Key} K
 * @param {K} key
 * @param {import('./text-types.js').Given<K, string | number | Node>} values
 * @returns {(string | Node)[]}
 */
export const sayNodes = (key, ...values) =>
  parts(texts[key], /** @type {Record<string, string | number | Node>} */ (values[0] ?? {})).map((part) => (part instanceof Node ? part : formatValue(part)));

/**
 * The key contains a value from the hub.
 * @param {string} key
 * @param {string} otherwise
 */
export function sayIfKnown(key, otherwise) {
  const entry = Object.hasOwn(texts, key) ? texts[/** @type {Key} */ (key)] : otherwise;
  return typeof entry === 'string' ? entry : otherwise;
}

/**
 * The text of an error by its code; the English text of the hub if the page has none.
 * @param {{ error: string, code?: string }} answer The code with its values.
 */
export function errorOf(answer) {
  const key = `hub.${answer.code}`;
  if (!Object.hasOwn(texts, key)) return sentence(answer.error);
  const values = /** @type {Record<string, string | number>} */ (/** @type {unknown} */ (answer));
  return parts(texts[/** @type {Key} */ (key)], values).map(formatValue).join('');
}

/** Longer sentences are not translated: they contain names from other players, and matching has a cost. */
const MAX_SENTENCE = 300;
/** Patterns of the hub's sentences with the names of their values. @type {[RegExp, string[], string | Forms][]} */
const patterns = Object.entries(sentences).map(([sentence, entry]) => {
  const pieces = sentence.split(/\{(\w+)\}/);
  const names = pieces.filter((_, index) => index % 2 === 1);
  const source = pieces.map((piece, index) => (index % 2 === 1 ? '(.+?)' : piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))).join('');
  return [new RegExp(`^${source}$`, 's'), names, entry];
});

/**
 * An unknown sentence is returned unchanged.
 * @param {string} sentence
 * @returns {string}
 */
export function translate(sentence) {
  if (sentence.length > MAX_SENTENCE) return sentence;
  for (const [pattern, names, entry] of patterns) {
    const found = pattern.exec(sentence);
    if (!found) continue;
    // Sentences of the hub too, except names of players.
    const values = Object.fromEntries(names.map((name, index) => [name, PEOPLE.has(name) ? found[index + 1] : translate(found[index + 1])]));
    return parts(entry, values).join('');
  }
  return sentence;
}

/**
 * Formats a sentence with a capital letter and a full stop.
 * @param {string} text
 */
export const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}` : '');
