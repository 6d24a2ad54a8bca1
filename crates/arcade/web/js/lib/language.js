// Texts of other languages than the user's are not loaded.

import { gameFolders } from '../games/list.js';
import { recall, remember } from './settings.js';

/** @typedef {'en' | 'pl'} Language */

/** The languages of the page with their own names. @type {Record<Language, string>} */
export const LANGUAGES = { en: 'English', pl: 'Polski' };

/** @type {Record<Language, () => Promise<{ texts: Record<string, unknown>, sentences: import('./text-types.js').Sentences }>>} */
const FILES = { en: () => import('../../text/en.js'), pl: () => import('../../text/pl.js') };

/** Best first; empty in tests outside a browser. */
const preferred = typeof document === 'undefined' ? [] : navigator.languages;

/** @param {string | null} tag As in `pl-PL`. @returns {Language | null} */
const supported = (tag) => /** @type {Language[]} */ (Object.keys(LANGUAGES)).find((one) => one === tag?.toLowerCase().split('-')[0]) ?? null;

/**
 * The chosen one, otherwise the first preferred one that the page has.
 * @param {string | null} chosen
 * @param {readonly string[]} wished Best first.
 * @returns {Language}
 */
export const languageFor = (chosen, wished) => supported(chosen) ?? wished.map(supported).find((one) => one !== null) ?? 'en';

/**
 * @param {Language} language
 */
export async function load(language) {
  const [page, ...games] = await Promise.all([FILES[language](), ...gameFolders.map((folder) => folder.texts[language]())]);
  const texts = /** @type {import('./text-types.js').Translation} */ (Object.assign({}, page.texts, ...games.map((game) => game.texts)));
  return { language, texts, sentences: page.sentences };
}

const initial = languageFor(recall('language'), preferred);

/** @type {Awaited<ReturnType<typeof load>>} */
export let translation;

/** Sets `translation`, to English if loading fails. */
export const loaded = load(initial)
  .catch(() => load('en'))
  .then((found) => void (translation = found));

/**
 * Reloads the page. Seats survive.
 * @param {string} language
 */
export function setLanguage(language) {
  remember('language', language);
  location.reload();
}

/** The locale of numbers and dates: the browser's if it belongs to the language. @param {Language} language */
export const localeOf = (language) => preferred.find((tag) => supported(tag) === language) ?? language;
