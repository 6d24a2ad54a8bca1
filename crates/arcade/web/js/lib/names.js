/** In characters. */
export const MAX_NAME = 20;
/** The hub accepts longer ones. */
export const MAX_ROOM_NAME = 40;
/** In bytes, as the hub counts. */
export const MAX_WORD = 64;

const segments = 'Segmenter' in Intl ? new Intl.Segmenter() : null;
/** The characters of a text as users count them: an emoji with joiners is one. @param {string} text */
export const characters = (text) => (segments ? [...segments.segment(text)].map(({ segment }) => segment) : [...text]);

/** A name as the hub wants it: with single spaces and composed letters. @param {string} typed */
export const tidy = (typed) => typed.trim().replace(/\s+/g, ' ').normalize('NFC');

/**
 * Why the hub rejects the name, as the code of its error; null if it may accept the name. The hub checks more.
 * @param {string} name
 */
export function problem(name) {
  if (name === '.' || name === '..') return 'name_path';
  if (characters(name).length > MAX_NAME) return 'name_long';
  return new TextEncoder().encode(name).length > MAX_WORD ? 'name_length' : null;
}

/** They affect the text around them. The hub replaces the same ones. */
const ACTING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** The blocks of right-to-left scripts. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Right-to-left letters stay, so an element has to isolate the name; see `named`.
 * @param {string} name
 */
export const shownName = (name) => name.replace(ACTING, '\ufffd');

/**
 * A name for use inside a text, such as a label or a title.
 * @param {string} name
 */
export function isolated(name) {
  const shown = shownName(name);
  return RIGHT_TO_LEFT.test(shown) ? `\u2068${shown}\u2069` : shown;
}

/** A code in groups of four letters. @param {string} code */
export const spaced = (code) => code.replace(/[- ]/g, '').replace(/(.{4})(?=.)/g, '$1-');

/** The code of a name in the fragment of an address. @param {string} hash */
export const codeOfName = (hash) => /^#name=([a-z][a-z-]{3,30})$/i.exec(hash)?.[1] ?? null;

/** The code of a room in the fragment of an address. @param {string} hash */
export const codeOfRoom = (hash) => /^#([a-z]{8})\/?$/i.exec(hash)?.[1].toLowerCase() ?? null;

/**
 * Truncates a text to a number of bytes, at the boundary of a character.
 * @param {string} text
 * @param {number} most
 */
export function fit(text, most) {
  let bytes = 0;
  let fitted = '';
  for (const letter of text) {
    bytes += new TextEncoder().encode(letter).length;
    if (bytes > most) break;
    fitted += letter;
  }
  return fitted;
}
