import { drawSmall } from './board.js';

/** @returns {import('../types.js').Picture} */
export function picture() {
  return {
    draw: (context, width, height, parts) => {
      const { length = 4, rows = [] } = /** @type {{ length?: number, rows?: import('./board.js').SmallRow[] }} */ (parts ?? {});
      drawSmall(context, length, rows, width, height);
    },
  };
}
