// A room of robots, small.

import { draw } from './board.js';
import { begin, fold } from './fold.js';
import { decode } from './protocol.js';

/** The board as an example, for rooms in which nobody is. */
const ARENA = { name: '', players: 3, width: 16, height: 8, length: 1, radius: 2, timer: 4 };

/** @returns {import('./fold.js').Game} */
function arena() {
  const at = (/** @type {number} */ x, /** @type {number} */ y) => ({ x, y });
  const blocks = [at(1, 6), at(2, 6), at(5, 1), at(6, 1), at(9, 6), at(13, 2), at(13, 3), at(11, 0), at(3, 3)];
  return {
    turn: 0,
    positions: new Map([[0, at(4, 5)], [1, at(10, 3)], [2, at(14, 6)]]),
    scores: new Map(),
    blocks: new Map(blocks.map((block) => [`${block.x},${block.y}`, block])),
    bombs: new Map([[0, { position: at(7, 4), timer: 3 }]]),
    blasts: new Map(),
    destroyed: [],
  };
}

/** @returns {import('../types.js').Picture} */
export function picture() {
  const state = begin();
  return {
    message: (data) => {
      const message = data instanceof ArrayBuffer ? decode(new Uint8Array(data)) : null;
      if (message) fold(state, message);
    },
    draw: (context, width, height) => {
      const settings = state.settings ?? ARENA;
      const view = { width, height, own: null, threatened: null, glides: new Map(), now: 0, since: 0, still: true, chosen: null };
      draw(context, state.settings ? state.game : arena(), settings, view);
      if (state.game || !state.settings) return;
      context.fillStyle = '#b9c2ca';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.font = '600 16px system-ui, sans-serif';
      context.fillText(`${state.players.size} of ${settings.players} robots are there`, width / 2, height / 2);
    },
  };
}
