// Text, one message a frame. See docs/protocols/nuggets.md.

/**
 * @typedef {{ kind: 'ok', letter: string }
 *   | { kind: 'grid', rows: number, columns: number }
 *   | { kind: 'gold', collected: number, purse: number, remaining: number }
 *   | { kind: 'display', rows: string[] }
 *   | { kind: 'quit', text: string }
 *   | { kind: 'error', text: string }} NuggetsMessage A message from the server.
 */

/** In bytes. Servers truncate longer names. */
export const MAX_NAME = 50;
/** Steps in lower case, runs in capitals. */
export const MOVES = 'hjklyubn';

/** @param {string} name */
export const play = (name) => `PLAY ${name}`;
export const SPECTATE = 'SPECTATE';
/** @param {string} key One ASCII character. */
export const key = (key) => `KEY ${key}`;

/**
 * @param {string} text
 * @returns {NuggetsMessage | null} Null if it is malformed.
 */
export function decode(text) {
  const newline = text.indexOf('\n');
  const blank = text.indexOf(' ');
  const ends = [newline, blank].filter((at) => at >= 0);
  const end = ends.length ? Math.min(...ends) : text.length;
  const rest = text.slice(end + 1);
  switch (text.slice(0, end)) {
    case 'OK':
      return /^[A-Z]$/.test(rest) ? { kind: 'ok', letter: rest } : null;
    case 'GRID': {
      const numbers = integers(rest, 2);
      return numbers && numbers.every((n) => n > 0) ? { kind: 'grid', rows: numbers[0], columns: numbers[1] } : null;
    }
    case 'GOLD': {
      const numbers = integers(rest, 3);
      return numbers && { kind: 'gold', collected: numbers[0], purse: numbers[1], remaining: numbers[2] };
    }
    case 'DISPLAY':
      // Lines that end in a newline.
      return text[end] === '\n' && rest.endsWith('\n') ? { kind: 'display', rows: rest.slice(0, -1).split('\n') } : null;
    case 'QUIT':
      return { kind: 'quit', text: rest };
    case 'ERROR':
      return { kind: 'error', text: rest };
    default:
      return null;
  }
}

/**
 * @param {string} text
 * @param {number} count
 */
function integers(text, count) {
  const words = text.split(' ');
  if (words.length !== count || !words.every((word) => /^\d{1,9}$/.test(word))) return null;
  return words.map(Number);
}

/**
 * A row of the table in `QUIT GAME OVER:`.
 * @typedef {{ letter: string, purse: number, name: string }} NuggetsRow
 */

/**
 * @param {string} text The text of a QUIT.
 * @returns {NuggetsRow[] | null} The rows in the order of joining; null if the text is another reason.
 */
export function table(text) {
  const [title, ...lines] = text.replace(/\n$/, '').split('\n');
  if (title !== 'GAME OVER:') return null;
  const rows = lines.map((line) => /^([A-Z]) +(\d+) (.*)$/.exec(line));
  if (rows.some((row) => row === null)) return null;
  return rows.map((row) => {
    const [, letter, purse, name] = /** @type {RegExpExecArray} */ (row);
    return { letter, purse: Number(purse), name };
  });
}
