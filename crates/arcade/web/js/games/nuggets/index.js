// Nuggets: what the rest of the page knows of it.

import { count } from '../../lib/dom.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const nuggets = {
  name: 'nuggets',
  title: 'Nuggets',
  line: 'Find the gold in a dark cave before the others do.',
  score: (score) => count(score, 'nugget'),
  command: ({ bare, port }) => `nuggets-client ${bare} ${port} yourname`,
  bots: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  pages: [],
};
