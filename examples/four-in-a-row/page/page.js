// Four in a row: a room on its page.

import { element, listenToKeys, renew } from '../../lib/dom.js';
import { say } from '../../lib/text.js';
import { play as playTable } from '../../lib/turn-based.js';

/** The rules are well known. */
export const rules = [];

const COLUMNS = 7;
const ROWS = 6;
const HELP = [
  ['1 to 7', say('four-in-a-row.help.column')],
  ['?', say('help.these')],
];

/** A column as a button, with its discs from the top down. */
function column(number, discs, line, click) {
  const cells = Array.from({ length: ROWS }, (_, row) => {
    const isWinning = line.some(([x, y]) => x === number - 1 && y === row);
    return element('span', { class: 'disc', 'data-seat': String(discs[row] ?? ''), 'data-wins': isWinning });
  });
  const colours = discs.map((seat) => say(seat === 0 ? 'four-in-a-row.yellow' : 'four-in-a-row.red')).join(', ');
  const label = say('four-in-a-row.column', { number, discs: colours || say('four-in-a-row.empty') });
  return element('button', { type: 'button', 'data-key': String(number), 'aria-label': label, 'aria-disabled': String(!click), click: click ?? (() => {}) }, ...cells.reverse());
}

export function play(stage) {
  const field = element('div', { class: 'discs', role: 'group', 'aria-label': say('game.four-in-a-row') });
  stage.board.append(field);
  let act = () => {};
  const room = playTable(stage, ({ view, moves }, make) => {
    act = make;
    const columns = view?.columns ?? Array.from({ length: COLUMNS }, () => []);
    const made = columns.map((discs, index) => column(index + 1, discs, view?.line ?? [], moves.includes(String(index + 1)) && (() => act(String(index + 1)))));
    renew(field, ...made);
  });
  const stopKeys = listenToKeys(({ key }) => {
    if (!/^[1-7]$/.test(key)) return false;
    act(key);
    return true;
  });
  const colour = (seat) => getComputedStyle(field).getPropertyValue(seat === '1' ? '--yellow' : '--red');
  return { ...room, help: HELP, seat: (seat) => ({ ...room.seat(seat), colour: colour(seat) }), stop: stopKeys };
}
