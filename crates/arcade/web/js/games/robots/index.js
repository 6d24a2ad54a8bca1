import { say } from '../../lib/text.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const game = {
  name: 'robots',
  title: say('game.robots'),
  line: say('game.robots.line'),
  score: (score) => (score === 0 ? say('score.robots.never') : say('score.robots', { count: score })),
  gap: (count) => say('gap.robots', { count }),
  command: ({ host, port, directory }) => `robots-client -s ${host}:${port} --gui${directory}`,
  bots: true,
  series: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  pages: [],
};
