import { say } from '../../lib/text.js';
import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const game = {
  name: 'mastermind',
  title: say('game.mastermind'),
  line: say('game.mastermind.line'),
  score: (score) => (score > 10 ? say('score.mastermind.lost') : say('score.mastermind', { count: score })),
  fewerWins: true,
  isLost: (score) => score > 10,
  gap: (count) => say('gap.mastermind', { count }),
  command: ({ bare, port }) => `nc ${bare} ${port}`,
  bots: false,
  isAlone: ({ options }) => options?.['mode'] === 'solo' || options?.['mode'] === 'daily',
  picture,
  load: () => import('./page.js'),
  daily: '/mastermind',
  pages: [[/^\/mastermind$/, () => import('./puzzles.js')]],
};
