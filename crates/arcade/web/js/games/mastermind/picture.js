// A game of mastermind, small.

import { drawSmall } from './board.js';
import { begin, fold } from './fold.js';
import { decode } from './protocol.js';

/** @returns {import('../types.js').Picture} */
export function picture() {
  const state = begin();
  return {
    message: (data) => {
      const message = typeof data === 'string' ? decode(data) : null;
      if (message) fold(state, message);
    },
    draw: (context, width, height) => {
      const boards = [...state.places.values()].flatMap(({ board }) => board ?? []);
      drawSmall(context, boards.find(({ over }) => !over) ?? boards[0] ?? null, width, height);
    },
  };
}
