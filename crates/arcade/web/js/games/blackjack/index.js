import { say } from '../../lib/text.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const game = {
  name: 'blackjack',
  title: say('game.blackjack'),
  line: say('game.blackjack.line'),
  score: (score) => say('score.blackjack', { count: score }),
  gap: (count) => say('gap.blackjack', { count }),
  command: ({ bare, port, directory }) => `player yourname ${bare} ${port} --human${directory}`,
  bots: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  pages: [[/^\/learn$/, () => import('./learn.js')]],
};
