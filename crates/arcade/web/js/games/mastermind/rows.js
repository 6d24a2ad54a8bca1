import { element } from '../../lib/dom.js';
import { say, sayNodes } from '../../lib/text.js';
import { TURNS } from './protocol.js';

/** @typedef {import('./fold.js').Board} Board */
/** @typedef {import('./protocol.js').Line} Line */

/**
 * A peg. It always shows its digit, so that colour is never the only cue.
 * @param {string} digit A star for an unknown peg.
 */
export const peg = (digit) =>
  element('span', { class: 'peg', 'data-peg': digit, 'aria-hidden': 'true' }, digit === '*' ? '?' : digit);

/** @param {string} code */
export const inWords = (code) => (code.startsWith('*') ? say('mastermind.guess.hidden') : [...code].join(' '));

/**
 * A filled mark for each peg in its place, a ring for each further colour, and both as numbers.
 * @param {{ red: number, white: number }} answer
 * @param {number} length
 */
export function answerElement({ red, white }, length) {
  const marks = [...'●'.repeat(red), ...'○'.repeat(white), ...'·'.repeat(length - red - white)];
  return element(
    'span',
    { class: 'answer' },
    element('span', { class: 'marks', 'aria-hidden': 'true' }, ...marks.map((mark) => element('span', { 'data-mark': mark }, mark))),
    element('span', { class: 'count', 'aria-hidden': 'true' }, element('b', { class: 'red' }, String(red)), element('b', { class: 'white' }, String(white))),
  );
}

const legendElement = () =>
  element(
    'p',
    { class: 'legend' },
    ...sayNodes('mastermind.legend', {
      red: element('b', { class: 'red' }, say('mastermind.legend.red')),
      white: element('b', { class: 'white' }, say('mastermind.legend.white')),
    }),
  );

/** @param {Line} line */
export function lineInWords(line) {
  const { turn } = line;
  if (line.kind === 'row') return say('mastermind.line.row', { turn, guess: inWords(line.guess), red: line.red, white: line.white });
  const { peg: digit, place, lifeline } = line;
  if (digit === null) return say('mastermind.line.lifeline', { turn, lifeline });
  return place === null ? say('mastermind.line.digit', { turn, peg: digit }) : say('mastermind.line.place', { turn, place, peg: digit });
}

/**
 * @param {Board} board
 * @param {HTMLElement | null} now The current guess, if the game is the player's own and running.
 * @param {boolean} explains Whether to show the legend beside the first answer.
 */
export function rowElements({ rules: { length }, lines, over }, now, explains) {
  /** @type {HTMLElement[]} */
  const rows = [];
  /** @param {string} state @param {string} label @param {...Node} parts */
  const row = (state, label, ...parts) => {
    const turn = element('span', { class: 'turn', 'aria-hidden': 'true' }, String(rows.length + 1));
    const spoken = label ? [element('span', { class: 'hidden' }, label)] : [];
    rows.push(element('li', { class: 'pegrow', 'data-state': state }, turn, ...spoken, ...parts));
  };
  const holes = (/** @type {string} */ code) => element('span', { class: 'holes' }, ...[...code].map(peg));
  for (const line of lines) {
    if (line.kind === 'row') {
      const legend = explains && line === lines[0] ? [legendElement()] : [];
      row('past', lineInWords(line), holes(line.guess), answerElement(line, length), ...legend);
    } else {
      const code = line.place === null ? (line.peg ?? '*') : '*'.repeat(length);
      const shown = line.place !== null && line.peg !== null ? [...code].map((star, at) => (at + 1 === line.place ? line.peg : star)).join('') : code;
      row('lifeline', lineInWords(line), element('span', { class: 'told' }, say('mastermind.line.told')), holes(shown));
      if (line.lifeline === 2) row('lifeline', '', element('span', { class: 'told wide' }, say('mastermind.line.taken')));
    }
  }
  if (!over && rows.length < TURNS) {
    if (now) row('now', '', now);
    else row('later', '', holes('*'.repeat(length)));
  }
  while (rows.length < TURNS) row('later', '', element('span', { class: 'holes' }, ...Array.from({ length }, () => element('span', { class: 'hole' }))));
  return rows;
}
