// Mastermind: what the rest of the page knows of it.

import { count } from '../../lib/dom.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const mastermind = {
  name: 'mastermind',
  title: 'Mastermind',
  line: 'Find the hidden code in ten guesses.',
  score: (score) => (score > 10 ? 'not found' : count(score, 'turn')),
  command: ({ bare, port }) => `nc ${bare} ${port}`,
  bots: false,
  isAlone: ({ options }) => options?.['mode'] === 'solo' || options?.['mode'] === 'daily',
  picture,
  load: () => import('./page.js'),
  pages: [[/^\/mastermind$/, () => import('./puzzles.js')]],
};
