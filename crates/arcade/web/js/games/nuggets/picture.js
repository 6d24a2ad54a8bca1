import { Ground, draw, layout } from './board.js';
import { fold, initialState } from './fold.js';

/** An example map for empty rooms. */
const CAVE = [
  '+-------+       +-----------+',
  '|.......|       |...........|',
  '|..*....+#######+......*....|',
  '|.......|       |...........|',
  '+---+---+       |....+-+....|',
  '    #           |....| |....|',
  '    #   +-------+....| |....|',
  '    ####+......*.....| |..*.|',
  '        +------------+ +----+',
];

/** @param {import('../types.js').Parts} parts The size, and each row by its number, without trailing spaces. */
export function rowsOf({ size, ...rows }) {
  const [count, columns] = /** @type {[number, number]} */ (size);
  return Array.from({ length: count }, (_, row) => String(rows[row] ?? '').padEnd(columns));
}

/** @returns {import('../types.js').Picture} */
export function picture() {
  let state = initialState();
  let ground = new Ground();
  /** The parts that are drawn. @type {unknown} */
  let shown = null;
  return {
    draw: (context, width, height, parts) => {
      const rows = parts?.['size'] ? rowsOf(parts) : CAVE;
      if (parts !== shown || state.rows === 0) {
        shown = parts;
        if (state.rows !== rows.length || state.columns !== rows[0].length) {
          state = initialState();
          ground = new Ground();
          fold(state, { kind: 'grid', rows: rows.length, columns: rows[0].length });
        }
        fold(state, { kind: 'display', rows });
      }
      draw(context, state, layout(state, width, height, { whole: true, zoom: 1, focus: null, ratio: 1 }), { ground, glides: new Map(), now: 0 });
    },
  };
}
