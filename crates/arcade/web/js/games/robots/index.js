// Robots: what the rest of the page knows of it.

import { picture } from './picture.js';

/** @type {import('../types.js').Game} */
export const robots = {
  name: 'robots',
  title: 'Robots',
  line: 'Bombs, blocks, and whoever is destroyed least wins.',
  score: (score) => (score === 0 ? 'never destroyed' : score === 1 ? 'destroyed once' : `destroyed ${score} times`),
  command: ({ host, port }) => `robots-client -s ${host}:${port} --gui`,
  bots: true,
  isAlone: () => false,
  picture,
  load: () => import('./page.js'),
  pages: [],
};
