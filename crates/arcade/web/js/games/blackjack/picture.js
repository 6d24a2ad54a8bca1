import { drawSmall } from './board.js';
import { parse } from './view.js';

/** @returns {import('../types.js').Picture} */
export function picture() {
  return {
    draw: (context, width, height, parts) => {
      const text = parts?.['table'];
      drawSmall(context, typeof text === 'string' ? (parse(text)?.[0] ?? null) : null, width, height);
    },
  };
}
