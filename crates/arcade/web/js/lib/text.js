// What the page says, in the language of the person: texts by key, from text/en.js and the files beside it.
//
// To add a text, give it a key in each of these files, at the same place, and say it by `say('the.key', { values })`.

import { loaded, localeOf } from './language.js';
import { isolated } from './names.js';

/**
 * @typedef {import('./text-types.js').Key} Key
 * @typedef {import('./text-types.js').Forms} Forms
 */

export const { language, texts, sentences } = await loaded;
if (typeof document !== 'undefined') document.documentElement.lang = language;

const locale = localeOf(language);
const plurals = new Intl.PluralRules(language);
// English lists are written without a comma before their last word.
const lists = new Intl.ListFormat(language === 'en' ? 'en-GB' : language, { type: 'conjunction' });

/**
 * A number as it is written in the language.
 * @param {number} value
 * @param {number} [digits] After the point.
 */
export const number = (value, digits) =>
  new Intl.NumberFormat(locale, {
    useGrouping: 'min2',
    ...(digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  }).format(value);

/**
 * @param {Date} date
 * @param {Intl.DateTimeFormatOptions} options
 */
export const date = (date, options) => new Intl.DateTimeFormat(locale, options).format(date);

/**
 * Names as a list in a sentence.
 * @param {string[]} names
 */
export const list = (names) => lists.format(names.map(isolated));

/** Values that are names of people. */
const PEOPLE = new Set(['name', 'one', 'other']);

/**
 * The parts of a text, with the values in it.
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
const written = (value) => (typeof value === 'number' ? number(value) : value);

/**
 * A text of the page.
 * @template {Key} K
 * @param {K} key
 * @param {import('./text-types.js').Given<K, string | number>} values By their names; numbers are written as in the language.
 * @returns {string}
 */
export const say = (key, ...values) => parts(texts[key], /** @type {Record<string, string | number>} */ (values[0] ?? {})).map(written).join('');

/**
 * A text of the page around elements.
 * @template {Key} K
 * @param {K} key
 * @param {import('./text-types.js').Given<K, string | number | Node>} values
 * @returns {(string | Node)[]}
 */
export const sayAround = (key, ...values) =>
  parts(texts[key], /** @type {Record<string, string | number | Node>} */ (values[0] ?? {})).map((part) => (part instanceof Node ? part : written(part)));

/**
 * A text whose key is made of what the hub says; that of the hub if there is none.
 * @param {string} key
 * @param {string} otherwise
 */
export function sayOr(key, otherwise) {
  const entry = Object.hasOwn(texts, key) ? texts[/** @type {Key} */ (key)] : otherwise;
  return typeof entry === 'string' ? entry : otherwise;
}

/** The longest sentence of the hub that is looked at, since names of strangers are in it. */
const LONGEST = 300;
/** Sentences of the hub, and the names of what differs in them. @type {[RegExp, string[], string | Forms][]} */
const patterns = Object.entries(sentences).map(([sentence, entry]) => {
  const pieces = sentence.split(/\{(\w+)\}/);
  const names = pieces.filter((_, index) => index % 2 === 1);
  const source = pieces.map((piece, index) => (index % 2 === 1 ? '(.+?)' : piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))).join('');
  return [new RegExp(`^${source}$`, 's'), names, entry];
});

/**
 * What the hub says in a sentence, in the language of the page; the sentence itself if that is not known.
 * @param {string} sentence
 * @returns {string}
 */
export function told(sentence) {
  if (sentence.length > LONGEST) return sentence;
  for (const [pattern, names, entry] of patterns) {
    const found = pattern.exec(sentence);
    if (!found) continue;
    // What differs may be words of the hub too, but for names of people.
    const values = Object.fromEntries(names.map((name, index) => [name, PEOPLE.has(name) ? found[index + 1] : told(found[index + 1])]));
    return parts(entry, values).join('');
  }
  return sentence;
}

/**
 * A sentence as it stands alone: with a capital, and a full stop.
 * @param {string} text
 */
export const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}` : '');
