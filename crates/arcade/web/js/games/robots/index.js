import { say } from '../../lib/text.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const game = {
  name: 'robots',
  title: say('game.robots'),
  line: say('game.robots.line'),
  score: (count) => say('gap.robots', { count }),
  gap: (count) => say('gap.robots', { count }),
  command: ({ host, port, directory }) => `robots-client -s ${host}:${port} --gui${directory}`,
  bots: true,
  series: true,
  fewerWins: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  daily: '/daily/robots',
  challenge: { score: (score) => say('score.robots.challenge', { count: score }), text: say('challenge.robots') },
  pages: [],
};
