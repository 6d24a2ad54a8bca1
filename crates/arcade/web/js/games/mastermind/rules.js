import { say } from '../../lib/text.js';

/** @typedef {import('../../lib/rules.js').Shape} Shape */

/** @type {Shape} */
const GROUND = ['rect', { width: 12, height: 7, fill: '#241a3a' }];
const PAINTS = ['#e5402f', '#f5c518', '#2457d6', '#39b54a'];
/** @param {number} cx @param {number} cy @param {string} fill @param {number} [r] @returns {Shape} */
const peg = (cx, cy, fill, r = 1) => ['circle', { cx, cy, r, fill }];

/** @type {import('../../lib/rules.js').Rule[]} */
export const rules = [
  { caption: say('mastermind.rule.guess'), shapes: [GROUND, ...PAINTS.map((fill, index) => peg(2.2 + 2.5 * index, 3.5, fill))] },
  { caption: say('mastermind.rule.red'), shapes: [GROUND, peg(4, 3.5, '#e5402f', 1.4), peg(8, 3.5, '#ff8f80', 0.6)] },
  { caption: say('mastermind.rule.white'), shapes: [GROUND, peg(4, 3.5, '#f5c518', 1.4), ['circle', { cx: 8, cy: 3.5, r: 0.6, fill: 'none', stroke: '#f3edff', 'stroke-width': 0.3 }]] },
];
