import { say } from '../../lib/text.js';
import { table } from './protocol.js';
import { visible } from './sight.js';

/** @typedef {import('./protocol.js').NuggetsMessage} NuggetsMessage */
/** @typedef {import('./protocol.js').NuggetsRow} NuggetsRow */
/** @typedef {{ row: number, column: number }} Place */

/**
 * @typedef {object} NuggetsState
 * @property {string | null} letter The player's letter; null for a spectator, and before the server has assigned one.
 * @property {number} rows
 * @property {number} columns
 * @property {string[]} display The last display, row by row.
 * @property {string[][]} terrain The known map, below gold and players; a space is unknown.
 * @property {{ top: number, left: number, bottom: number, right: number } | null} bounds The smallest rectangle around the known map.
 * @property {Uint8Array | null} sight 1 for each cell in sight, row by row; null for a spectator, who sees the whole map.
 * @property {Place | null} place The player's place.
 * @property {Map<string, Place>} players The places of the other players in sight.
 * @property {number | null} purse
 * @property {number | null} remaining Unclaimed nuggets.
 * @property {{ collected: number, serial: number }} gold The last collected nuggets, and the number of collections.
 * @property {{ text: string, serial: number }} note The last text from the server, and the number of texts.
 * @property {number} displays The number of displays.
 * @property {boolean} over Whether the server has sent QUIT.
 * @property {string} farewell The text of the QUIT.
 * @property {NuggetsRow[] | null} table The final table.
 */

/** @returns {NuggetsState} */
export function initialState() {
  return {
    letter: null,
    rows: 0,
    columns: 0,
    display: [],
    terrain: [],
    bounds: null,
    sight: null,
    place: null,
    players: new Map(),
    purse: null,
    remaining: null,
    gold: { collected: 0, serial: 0 },
    note: { text: '', serial: 0 },
    displays: 0,
    over: false,
    farewell: '',
    table: null,
  };
}

/**
 * A display that does not fit the grid is ignored.
 * @param {NuggetsState} state
 * @param {NuggetsMessage} message
 */
export function fold(state, message) {
  switch (message.kind) {
    case 'ok':
      state.letter = message.letter;
      break;
    case 'grid':
      state.rows = message.rows;
      state.columns = message.columns;
      state.display = [];
      state.bounds = null;
      state.terrain = Array.from({ length: message.rows }, () => Array(message.columns).fill(' '));
      break;
    case 'gold':
      state.purse = message.purse;
      state.remaining = message.remaining;
      if (message.collected > 0) state.gold = { collected: message.collected, serial: state.gold.serial + 1 };
      break;
    case 'display':
      show(state, message.rows);
      break;
    case 'error':
      state.note = { text: message.text, serial: state.note.serial + 1 };
      break;
    case 'quit':
      state.over = true;
      state.farewell = message.text;
      state.table = table(message.text);
      break;
  }
}

/**
 * @param {NuggetsState} state
 * @param {string[]} display
 */
function show(state, display) {
  const fits = display.length === state.rows && display.every((row) => row.length === state.columns);
  if (!fits) return;
  state.display = display;
  state.displays += 1;
  state.players = new Map();
  const { terrain } = state;
  /** @type {Place | null} */
  let place = null;
  for (const [row, text] of display.entries()) {
    const known = terrain[row];
    const last = text.trimEnd().length;
    if (last > 0) {
      const { top, left, bottom, right } = state.bounds ?? { top: row, left: last, bottom: row, right: last };
      const first = text.length - text.trimStart().length;
      state.bounds = { top: Math.min(top, row), left: Math.min(left, first), bottom: Math.max(bottom, row + 1), right: Math.max(right, last) };
    }
    for (let column = 0; column < text.length; column += 1) {
      const shown = text[column];
      known[column] = below(known[column], shown);
      if (shown === '@') place = { row, column };
      else if (shown >= 'A' && shown <= 'Z') state.players.set(shown, { row, column });
    }
  }
  state.place = place;
  state.sight = place && visible(state.rows, state.columns, (r, c) => terrain[r][c] === '.', place.row, place.column);
}

/**
 * The terrain below a character of a display.
 * @param {string} known The terrain so far.
 * @param {string} shown
 */
function below(known, shown) {
  // Gold is in rooms only.
  if (shown === '*') return '.';
  // Most players are in rooms.
  if (shown === '@' || (shown >= 'A' && shown <= 'Z')) return known === '.' || known === '#' ? known : '.';
  // Rock or an unseen cell. Some servers hide cells that they have shown before.
  return shown === ' ' ? known : shown;
}

/**
 * Gold and players are shown only in sight.
 * @param {NuggetsState} state
 * @param {number} row
 * @param {number} column
 */
export function isInSight(state, row, column) {
  const shown = state.display[row][column];
  if (shown === '*' || shown === '@' || (shown >= 'A' && shown <= 'Z')) return true;
  return state.sight === null || state.sight[row * state.columns + column] === 1;
}

/** @param {NuggetsState} state */
export function status(state) {
  if (state.remaining === null) return say('nuggets.status.waits');
  return state.letter === null
    ? say('nuggets.status.watcher', { remaining: state.remaining })
    : say('nuggets.status.player', { purse: state.purse ?? 0, remaining: state.remaining });
}

/**
 * The shortest way over known cells.
 * @param {NuggetsState} state
 * @param {Place} goal
 * @returns {string} One letter per step; empty if no way is known.
 */
export function pathTo(state, goal) {
  if (!state.place || !isWalkable(state, goal.row, goal.column)) return '';
  const { rows, columns, place } = state;
  const index = (/** @type {Place} */ { row, column }) => row * columns + column;
  /** @type {(string | undefined)[]} */
  const keys = Array(rows * columns);
  const queue = [place];
  keys[index(place)] = '';
  for (const from of queue) {
    if (from.row === goal.row && from.column === goal.column) break;
    for (const [key, down, right] of STEPS) {
      const to = { row: from.row + down, column: from.column + right };
      if (isWalkable(state, to.row, to.column) && keys[index(to)] === undefined) {
        keys[index(to)] = key;
        queue.push(to);
      }
    }
  }
  let at = goal;
  let path = '';
  while (index(at) !== index(place)) {
    const key = keys[index(at)];
    const step = STEPS.find(([name]) => name === key);
    if (!step) return '';
    path = step[0] + path;
    at = { row: at.row - step[1], column: at.column - step[2] };
  }
  return path;
}

/**
 * The first step to the nearest gold in sight over known cells; null if there is none.
 * @param {NuggetsState} state
 */
export function stepToGold(state) {
  let best = '';
  for (const [row, text] of state.display.entries()) {
    for (let column = text.indexOf('*'); column >= 0; column = text.indexOf('*', column + 1)) {
      const keys = pathTo(state, { row, column });
      if (keys && (best === '' || keys.length < best.length)) best = keys;
    }
  }
  return best[0] ?? null;
}

/** The key, rows down, columns to the right. Straight ones first, so that ways look natural. */
export const STEPS = /** @type {const} */ ([
  ['h', 0, -1],
  ['l', 0, 1],
  ['k', -1, 0],
  ['j', 1, 0],
  ['y', -1, -1],
  ['u', -1, 1],
  ['b', 1, -1],
  ['n', 1, 1],
]);

/**
 * @param {NuggetsState} state
 * @param {number} row
 * @param {number} column
 */
function isWalkable(state, row, column) {
  const known = state.terrain[row]?.[column];
  return known === '.' || known === '#';
}

/**
 * The final table from best to worst; equal purses share a rank.
 * @param {NuggetsRow[]} rows
 * @returns {{ rank: number, name: string, seat: string, score: number }[]}
 */
export function ranking(rows) {
  const sorted = [...rows].sort((one, other) => other.purse - one.purse);
  return sorted.map(({ letter, purse, name }) => ({
    rank: sorted.findIndex((row) => row.purse === purse) + 1,
    name,
    seat: letter,
    score: purse,
  }));
}
