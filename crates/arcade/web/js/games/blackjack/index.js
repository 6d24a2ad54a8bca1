// Blackjack: what the rest of the page knows of it.

import { inWords } from './fold.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const blackjack = {
  name: 'blackjack',
  title: 'Blackjack',
  line: 'Hit or stand against the dealer.',
  score: inWords,
  command: ({ bare, port }) => `cargo run -p player -- yourname ${bare} ${port} --human`,
  bots: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  pages: [[/^\/learn$/, () => import('./learn.js')]],
};
