// A blackjack table, small.

import { drawSmall } from './board.js';
import { parse } from './view.js';

/** @returns {import('../types.js').Picture} */
export function picture() {
  /** @type {import('./view.js').Table | null} */
  let table = null;
  return {
    message: (data) => {
      if (typeof data === 'string') table = parse(data)?.[0] ?? table;
    },
    draw: (context, width, height) => drawSmall(context, table, width, height),
  };
}
