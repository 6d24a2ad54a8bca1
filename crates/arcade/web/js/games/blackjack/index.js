// Blackjack: what the rest of the page knows of it.

import { count } from '../../lib/dom.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const blackjack = {
  name: 'blackjack',
  title: 'Blackjack',
  line: 'Hit or stand against the dealer.',
  score: (score) => `${count(score, 'round')} won`,
  command: ({ bare, port }) => `player yourname ${bare} ${port} --human`,
  bots: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  pages: [[/^\/learn$/, () => import('./learn.js')]],
};
