import { say } from '../../lib/text.js';

const GROUND = /** @type {const} */ (['rect', { width: 12, height: 7, fill: '#1a222a' }]);
const FACE = { width: 2, height: 2, rx: 0.5 };
const BLAST = { stroke: '#ff7a3c', 'stroke-width': 1.4 };

/** @type {import('../../lib/rules.js').Rule[]} */
export const rules = [
  {
    caption: say('robots.rule.bomb'),
    shapes: [[...GROUND], ['rect', { x: 2, y: 2.5, ...FACE, fill: '#ffb000' }], ['circle', { cx: 8, cy: 3.5, r: 1.2, fill: '#0f0f14', stroke: '#8a8a94', 'stroke-width': 0.2 }], ['text', { x: 8, y: 4.05, 'font-size': 1.5, fill: '#ffffff', 'text-anchor': 'middle' }, '3']],
  },
  { caption: say('robots.rule.blast'), shapes: [[...GROUND], ['path', { d: 'M6 0v7M0 3.5h12', ...BLAST }]] },
  {
    caption: say('robots.rule.hide'),
    shapes: [[...GROUND], ['path', { d: 'M0 3.5h7', ...BLAST }], ['rect', { x: 7, y: 2, width: 3, height: 3, rx: 0.3, fill: '#8d8a80' }], ['rect', { x: 10.3, y: 2.7, width: 1.5, height: 1.5, rx: 0.4, fill: '#2f9bff' }]],
  },
];
