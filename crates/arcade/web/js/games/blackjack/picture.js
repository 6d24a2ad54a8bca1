import { drawSmall } from './board.js';
import { parse } from './view.js';

/** @type {import('./view.js').Table} */
const EXAMPLE = {
  number: 1,
  phase: 'playing',
  played: 3,
  rounds: 20,
  upcard: { rank: 12, suit: 'Diamonds' },
  revealed: null,
  seats: [{ name: '', stage: 'done', score: [], hand: [{ rank: 1, suit: 'Spades' }, { rank: 13, suit: 'Hearts' }] }],
};

/** @returns {import('../types.js').Picture} */
export function picture() {
  return {
    draw: (context, width, height, parts) => {
      const text = parts?.['table'];
      drawSmall(context, parts === null ? EXAMPLE : typeof text === 'string' ? (parse(text)?.[0] ?? null) : null, width, height);
    },
  };
}
