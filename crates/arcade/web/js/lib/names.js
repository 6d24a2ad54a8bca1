// Which names every game can show, and the codes and texts that go with names.

/** The longest name that a person can choose; no game cuts it. */
export const MAX_NAME = 20;
/** The longest name of a room that is offered; the hub takes longer ones. */
export const MAX_ROOM_NAME = 40;
/** The longest word of a room, in bytes; the hub counts them. */
export const MAX_WORD = 64;

/** Letters that have no plain letter in them. */
const PLAIN = /** @type {Record<string, string>} */ ({
  ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D', ð: 'd', Ð: 'D', þ: 'th', Þ: 'Th', ł: 'l', Ł: 'L', ı: 'i',
});

/**
 * Whether every game shows the name as it is: printable ASCII without blanks. Games change other names, so nobody could tell whose they
 * are.
 * @param {string} name
 */
export const isPlain = (name) => /^[!-~]+$/.test(name);

/**
 * The name as every game can show it; empty if nothing of it can be shown.
 * @param {string} name
 */
export const plain = (name) =>
  [...name.trim().normalize('NFKD')]
    .map((character) => PLAIN[character] ?? (/\s/.test(character) ? '_' : isPlain(character) ? character : ''))
    .join('')
    .slice(0, MAX_NAME);

/** Characters that act on the text around them: control characters and bidirectional controls. The hub replaces the same ones. */
const ACTING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** Letters of scripts that are written from right to left: the blocks that are reserved for them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A name as it can be shown. Letters from right to left stay, so an element has to isolate it; see `named`.
 * @param {string} name
 */
export const shownName = (name) => name.replace(ACTING, '\ufffd');

/**
 * A name as a part of a text that is no element, such as a label or a title: isolated if it has letters from right to left.
 * @param {string} name
 */
export function isolated(name) {
  const shown = shownName(name);
  return RIGHT_TO_LEFT.test(shown) ? `\u2068${shown}\u2069` : shown;
}

/** A code as it is easily read: its letters in groups of four. @param {string} code */
export const spaced = (code) => code.replace(/[- ]/g, '').replace(/(.{4})(?=.)/g, '$1-');

/** The code of a name in the fragment of an address; null if there is none. @param {string} hash */
export const codeOfName = (hash) => /^#name=([a-z][a-z-]{3,30})$/i.exec(hash)?.[1] ?? null;

/** The code of a room in the fragment of an address; null if there is none. Old rooms have six letters. @param {string} hash */
export const codeOfRoom = (hash) => /^#([a-z]{6}|[a-z]{8})$/i.exec(hash)?.[1].toLowerCase() ?? null;

/**
 * The beginning of a text that has no more bytes than this.
 * @param {string} text
 * @param {number} most
 */
export function fit(text, most) {
  let bytes = 0;
  let kept = '';
  for (const letter of text) {
    bytes += new TextEncoder().encode(letter).length;
    if (bytes > most) break;
    kept += letter;
  }
  return kept;
}
