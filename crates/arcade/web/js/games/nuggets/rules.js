import { say } from '../../lib/text.js';

const GROUND = /** @type {const} */ (['rect', { width: 12, height: 7, fill: '#12100d' }]);
const FLOOR = { fill: '#3a2a17', stroke: '#cf9a4b', 'stroke-width': 0.4 };
const FACE = { width: 1.7, height: 1.7, rx: 0.5 };

/** @type {import('../../lib/rules.js').Rule[]} */
export const rules = [
  {
    caption: say('nuggets.rule.explore'),
    shapes: [[...GROUND], ['rect', { x: 1, y: 1, width: 6, height: 5, ...FLOOR }], ['circle', { cx: 4, cy: 3.5, r: 2.2, fill: '#ffcf6b', opacity: 0.35 }], ['rect', { x: 3.15, y: 2.65, ...FACE, fill: '#ffb000' }], ['path', { d: 'M7.2 3.5h4', stroke: '#5b4326', 'stroke-width': 0.8, 'stroke-dasharray': '.8 .3' }]],
  },
  {
    caption: say('nuggets.rule.collect'),
    shapes: [[...GROUND], ['rect', { x: 1, y: 1, width: 10, height: 5, ...FLOOR }], ['rect', { x: 2, y: 2.65, ...FACE, fill: '#ffb000' }], ...[6, 8, 9.6].map((cx, index) => /** @type {import('../../lib/rules.js').Shape} */ (['circle', { cx, cy: [3.5, 2.4, 4.4][index], r: 0.6, fill: '#ffc93c' }]))],
  },
  {
    caption: say('nuggets.rule.most'),
    shapes: [[...GROUND], ['rect', { x: 2.2, y: 3, width: 2, height: 4, fill: '#2f9bff' }], ['rect', { x: 5, y: 1.4, width: 2, height: 5.6, fill: '#ffb000' }], ['rect', { x: 7.8, y: 4.2, width: 2, height: 2.8, fill: '#ff5d5d' }]],
  },
];
