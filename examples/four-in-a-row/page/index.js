// Four in a row: its entry on the page.

import { say } from '../../lib/text.js';

const DISCS = ['#e0b020', '#c2453a'];

export const game = {
  name: 'four-in-a-row',
  title: say('game.four-in-a-row'),
  line: say('game.four-in-a-row.line'),
  score: (score) => say('score.four-in-a-row', { count: score }),
  gap: (count) => say('score.four-in-a-row', { count }),
  command: ({ bare, port }) => `nc ${bare} ${port}`,
  bots: true,
  isAlone: () => false,
  picture: () => ({
    draw: (context, width, height, parts) => {
      const size = Math.min(width / 7, height / 6);
      const [left, bottom] = [(width - 7 * size) / 2, (height + 6 * size) / 2];
      const columns = parts?.view?.columns ?? [[0], [], [1], [0, 1], [], [], []];
      context.fillStyle = '#1d3a6b';
      context.fillRect(0, 0, width, height);
      for (const [column, discs] of columns.entries()) {
        for (let row = 0; row < 6; row += 1) {
          context.fillStyle = DISCS[discs[row]] ?? '#0c1c36';
          context.beginPath();
          context.arc(left + (column + 0.5) * size, bottom - (row + 0.5) * size, size * 0.42, 0, 2 * Math.PI);
          context.fill();
        }
      }
    },
  }),
  load: () => import('./page.js'),
  pages: [],
};
