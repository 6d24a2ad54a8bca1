import { faceOfSeat } from '../../lib/face.js';
import { say } from '../../lib/text.js';
import { draw } from './board.js';

/** An example board for empty rooms. */
const ARENA = {
  size: [16, 8],
  there: [3, 3],
  robots: '0:4,5 1:10,3 2:14,6',
  bombs: '7,4:3',
  blocks: '1,6 2,6 5,1 6,1 9,6 13,2 13,3 11,0 3,3',
  blasts: '',
};

/** @param {unknown} text Words separated by spaces. */
const words = (text) => (typeof text === 'string' && text !== '' ? text.split(' ') : []);

/** @param {string} place As in `3,4`. */
const at = (place) => {
  const [x, y] = place.split(',').map(Number);
  return { x, y };
};

/**
 * @param {import('../types.js').Parts} parts
 * @returns {import('./fold.js').Game | null} Null before a game.
 */
export function boardOf({ robots, bombs, blocks, blasts }) {
  if (robots === undefined) return null;
  const pairs = (/** @type {unknown} */ text) => words(text).map((word) => word.split(':'));
  const places = (/** @type {unknown} */ text) => new Map(words(text).map((place) => [place, at(place)]));
  return {
    turn: 0,
    positions: new Map(pairs(robots).map(([id, place]) => [Number(id), at(place)])),
    scores: new Map(),
    blocks: places(blocks),
    bombs: new Map(pairs(bombs).map(([place, timer], id) => [id, { position: at(place), timer: Number(timer), owner: null }])),
    blasts: places(blasts),
    destroyed: [],
    hits: [],
    whole: false,
  };
}

/** @returns {import('../types.js').Picture} */
export function picture() {
  return {
    draw: (context, width, height, parts) => {
      const shown = parts?.['size'] ? parts : ARENA;
      const [columns, rows] = /** @type {[number, number]} */ (shown['size']);
      const [there, players] = /** @type {[number, number]} */ (shown['there']);
      const settings = { name: '', players, width: columns, height: rows, length: 1, radius: 2, timer: 4 };
      const view = { width, height, covered: 0, own: null, face: faceOfSeat, threatened: null, glides: new Map(), now: 0, since: 0, still: true, returned: null, chosen: null };
      const game = boardOf(shown);
      draw(context, game, settings, view);
      if (game) return;
      context.fillStyle = '#b9c2ca';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.font = `600 ${Math.min(16, width / 9)}px system-ui, sans-serif`;
      context.fillText(say('robots.picture', { there, players }), width / 2, height / 2);
    },
  };
}
