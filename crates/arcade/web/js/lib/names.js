// Which names every game can show.

/** The longest name that a person can choose; no game cuts it. */
export const MAX_NAME = 20;

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
