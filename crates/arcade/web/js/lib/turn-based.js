// A room of any turn-based game. A game draws its board from the view, which the server sends as JSON.

import { confirm } from './confirm.js';
import { element } from './dom.js';
import { hud } from './hud.js';
import { sound } from './sound.js';
import { say, sentence, translate } from './text.js';

/**
 * The state of a table. Seats are counted from 0.
 * @typedef {{
 *   seat: number | null,
 *   names: Map<number, string>,
 *   missing: number,
 *   view: any,
 *   turn: number | null,
 *   moves: string[],
 *   result: { how: string, scores: number[] } | null,
 *   note: string,
 * }} Table
 */

/** @returns {Table} */
export const initialState = () => ({ seat: null, names: new Map(), missing: 0, view: null, turn: null, moves: [], result: null, note: '' });

/**
 * Unknown lines are ignored.
 * @param {Table} table
 * @param {string} line
 */
export function fold(table, line) {
  const [word, ...rest] = line.split(' ');
  const seat = Number(rest[0]) - 1;
  const text = rest.slice(1).join(' ');
  table.note = '';
  if (word === 'ROOM') Object.assign(table, initialState(), { result: table.result });
  else if (word === 'OK') table.seat = seat;
  else if (word === 'SEAT') table.names.set(seat, text);
  else if (word === 'LEFT') table.names.delete(seat);
  else if (word === 'WAIT') table.missing = Number(rest[0]);
  else if (word === 'GAME') Object.assign(table, { result: null, missing: 0 });
  else if (word === 'VIEW') Object.assign(table, { view: JSON.parse(rest.join(' ')), turn: null, moves: [] });
  else if (word === 'TURN') Object.assign(table, { turn: seat, moves: rest.slice(1) });
  else if (word === 'OVER') Object.assign(table, { result: { how: rest[0], scores: rest.slice(1).map(Number) }, turn: null, moves: [] });
  // The reasons are texts of the protocol, without codes.
  else if (word === 'NO' || word === 'BYE') table.note = sentence(translate(rest.join(' ')));
}

/**
 * @param {Table} table
 * @param {(seat: string, wire: string) => string} real
 */
function status({ seat, names, missing, turn, result, note }, real) {
  const nameOf = (/** @type {number} */ place) => real(String(place + 1), names.get(place) ?? String(place + 1));
  if (note) return note;
  if (result) {
    const best = Math.max(...result.scores);
    const winners = result.scores.flatMap((score, place) => (score === best ? [place] : []));
    if (winners.length !== 1) return say('table.draw');
    return winners[0] === seat ? say('table.won') : say('table.winner', { name: nameOf(winners[0]) });
  }
  if (missing > 0) return say('table.waits', { count: missing });
  if (turn === null) return '';
  return turn === seat ? say('table.yours') : say('table.turn', { name: nameOf(turn) });
}

/**
 * @param {import('../games/types.js').Stage} stage
 * @param {(table: Table, act: (move: string) => void) => void} draw Draws the board.
 * @returns {import('../games/types.js').Play}
 */
export function play({ board, more, live, playable, name, realName, send, seatChanged, changed }, draw) {
  const table = initialState();
  const figures = hud(board);
  const resign = element('button', { type: 'button', click: () => void giveUp() }, say('table.resign'));
  if (playable) more.append(resign);
  const isPlaying = () => playable && table.seat !== null && table.turn !== null;
  const giveUp = async () => {
    if (await confirm(say('table.resign.sure'), say('table.resign.lost'), say('table.resign'))) send('RESIGN');
  };
  const act = (/** @type {string} */ move) => {
    if (playable && table.moves.includes(move)) send(`MOVE ${move}`);
  };
  const show = () => {
    draw(table, act);
    figures.show(status(table, realName), null, null);
    resign.hidden = !isPlaying();
  };
  show();
  return {
    open: () => {
      if (playable) send(`PLAY ${name}`);
    },
    message: (data) => {
      if (typeof data !== 'string') return;
      const before = table.turn;
      fold(table, data);
      if (data.startsWith('OK ')) seatChanged(String((table.seat ?? 0) + 1));
      if (data.startsWith('MOVED ')) sound('card');
      show();
      if (table.turn !== before || table.result || table.note) live.textContent = status(table, realName);
      changed();
    },
    room: show,
    seat: (seat) => ({ value: table.turn === Number(seat) - 1 ? say('table.moves') : '' }),
    playAgain: () => {
      send('AGAIN');
      return true;
    },
    leave: () => send('QUIT'),
    stop: () => {},
  };
}
