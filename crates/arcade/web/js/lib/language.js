// In which language the page speaks. This is the first module that runs, so that the texts are asked for as early as can be; those of
// other languages are not loaded.

import { all } from '../games/list.js';
import { recall, remember } from './settings.js';

/** @typedef {'en' | 'pl'} Language */

/** The languages of the page, by their own names. @type {Record<Language, string>} */
export const LANGUAGES = { en: 'English', pl: 'Polski' };

/** @type {Record<Language, () => Promise<{ texts: Record<string, unknown>, sentences: import('./text-types.js').Sentences }>>} */
const FILES = { en: () => import('../../text/en.js'), pl: () => import('../../text/pl.js') };

/** What the browser asks for, the best first. Outside of a browser, where programs test, nothing. */
const wishes = typeof document === 'undefined' ? [] : navigator.languages;

/** @param {string | null} tag As in `pl-PL`. @returns {Language | null} */
const known = (tag) => /** @type {Language[]} */ (Object.keys(LANGUAGES)).find((one) => one === tag?.toLowerCase().split('-')[0]) ?? null;

/**
 * The language that somebody is spoken to in who has chosen one, or whose browser wishes some.
 * @param {string | null} chosen
 * @param {readonly string[]} wished The best first.
 * @returns {Language}
 */
export const languageFor = (chosen, wished) => known(chosen) ?? wished.map(known).find((one) => one !== null) ?? 'en';

/**
 * The texts of the page and of its games.
 * @param {Language} language
 */
export async function load(language) {
  const [page, ...games] = await Promise.all([FILES[language](), ...all.map((folder) => folder.texts[language]())]);
  const texts = /** @type {import('./text-types.js').Translation} */ (Object.assign({}, page.texts, ...games.map((game) => game.texts)));
  return { language, texts, sentences: page.sentences };
}

const wanted = languageFor(recall('language'), wishes);

/** The texts of the page; English ones if those of its language cannot be had. */
export const loaded = load(wanted).catch(() => load('en'));

/**
 * Speaks another language from now on. The page is loaded again; seats outlast that.
 * @param {string} language
 */
export function speak(language) {
  remember('language', language);
  location.reload();
}

/** Numbers and dates are written as where the person lives, if that is one of the places of the language. @param {Language} language */
export const localeOf = (language) => wishes.find((tag) => known(tag) === language) ?? language;
