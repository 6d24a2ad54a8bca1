import { drawSmall } from './board.js';

/** @type {import('./board.js').SmallRow[]} */
const EXAMPLE = [['1123', 0, 2], ['3445', 1, 1], ['3564', 2, 1], ['6354', 4, 0]];

/** @returns {import('../types.js').Picture} */
export function picture() {
  return {
    draw: (context, width, height, parts) => {
      const { length = 4, rows = EXAMPLE } = /** @type {{ length?: number, rows?: import('./board.js').SmallRow[] }} */ (parts ?? {});
      drawSmall(context, length, rows, width, height);
    },
  };
}
