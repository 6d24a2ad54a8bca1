import { say } from '../../lib/text.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const game = {
  name: 'nuggets',
  title: say('game.nuggets'),
  line: say('game.nuggets.line'),
  score: (score) => say('score.nuggets', { count: score }),
  gap: (count) => say('gap.nuggets', { count }),
  command: ({ bare, port, directory }) => `nuggets-client ${bare} ${port} yourname${directory}`,
  bots: true,
  series: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  daily: '/daily/nuggets',
  challenge: { score: (score) => say('score.nuggets', { count: score }), text: say('challenge.nuggets') },
  pages: [],
};
