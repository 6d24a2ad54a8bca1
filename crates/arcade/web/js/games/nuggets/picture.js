// A room of nuggets, small.

import { Ground, draw, layout } from './board.js';
import { begin, fold } from './fold.js';
import { decode } from './protocol.js';

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

/** @returns {import('../types.js').Picture} */
export function picture() {
  const state = begin();
  const ground = new Ground();
  const glides = new Map();
  return {
    message: (data) => {
      const message = typeof data === 'string' ? decode(data) : null;
      if (message) fold(state, message);
    },
    draw: (context, width, height) => {
      if (state.rows === 0) {
        // Nobody is there, so nobody looks: a cave, as an example.
        fold(state, { kind: 'grid', rows: CAVE.length, columns: CAVE[0].length });
        fold(state, { kind: 'display', rows: CAVE });
      }
      const { columns } = state;
      const place = layout(state, width, height, { whole: true, zoom: 1, focus: null, ratio: 1 });
      context.fillStyle = '#0b0a08';
      context.fillRect(0, 0, width, height);
      context.save();
      context.translate(0, Math.max(0, (height - place.height) / 2));
      draw(context, state, { ...place, left: (columns * place.cell - width) / 2 }, { ground, glides, now: 0 });
      context.restore();
    },
  };
}
