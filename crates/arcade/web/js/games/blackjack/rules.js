import { say } from '../../lib/text.js';

/** @typedef {import('../../lib/rules.js').Shape} Shape */

/** @type {Shape} */
const FELT = ['rect', { width: 12, height: 7, fill: '#0e6b47' }];
/** @param {number} x @param {string} rank @returns {Shape[]} */
const card = (x, rank) => [
  ['rect', { x, y: 1.4, width: 3, height: 4.2, rx: 0.4, fill: rank ? '#fffdf8' : '#2d5299' }],
  ['text', { x: x + 1.5, y: 4.2, 'font-size': 2, 'font-weight': 700, fill: '#16130f', 'text-anchor': 'middle' }, rank],
];

/** @type {import('../../lib/rules.js').Rule[]} */
export const rules = [
  { caption: say('blackjack.rule.near'), shapes: [FELT, ...card(2.5, 'K'), ...card(6.5, 'A')] },
  { caption: say('blackjack.rule.bust'), shapes: [FELT, ...card(0.8, '9'), ...card(4.4, '8'), ...card(8, '7')] },
  { caption: say('blackjack.rule.dealer'), shapes: [FELT, ...card(2.5, ''), ...card(6.5, '7')] },
];
