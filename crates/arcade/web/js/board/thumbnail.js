// Rooms as a watcher sees them, small.

import * as mastermindFold from '../fold/mastermind.js';
import * as nuggetsFold from '../fold/nuggets.js';
import * as robotsFold from '../fold/robots.js';
import { parse } from '../protocol/blackjack-view.js';
import * as mastermind from '../protocol/mastermind.js';
import * as nuggets from '../protocol/nuggets.js';
import * as robots from '../protocol/robots.js';
import { drawSmall } from './blackjack.js';
import { drawSmall as drawMastermind } from './mastermind.js';
import { Ground, draw as drawNuggets, layout } from './nuggets.js';
import { draw as drawRobots } from './robots.js';

/**
 * A small picture of a room.
 * @typedef {object} Picture
 * @property {(data: string | ArrayBuffer) => void} message Takes what a watcher is told.
 * @property {(context: CanvasRenderingContext2D, width: number, height: number) => void} draw
 */

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

/** The board of a game as an example, for rooms in which nobody is. */
const ARENA = { name: '', players: 3, width: 16, height: 8, length: 1, radius: 2, timer: 4 };
/** @returns {import('../fold/robots.js').Game} */
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

/** @type {Record<string, () => Picture>} */
const PICTURES = {
  nuggets: () => {
    const state = nuggetsFold.begin();
    const ground = new Ground();
    const glides = new Map();
    return {
      message: (data) => {
        const message = typeof data === 'string' ? nuggets.decode(data) : null;
        if (message) nuggetsFold.fold(state, message);
      },
      draw: (context, width, height) => {
        if (state.rows === 0) {
          // Nobody is there, so nobody looks: a cave, as an example.
          nuggetsFold.fold(state, { kind: 'grid', rows: CAVE.length, columns: CAVE[0].length });
          nuggetsFold.fold(state, { kind: 'display', rows: CAVE });
        }
        const { columns } = state;
        const place = layout(state, width, height, { whole: true, zoom: 1, focus: null, ratio: 1 });
        context.fillStyle = '#0b0a08';
        context.fillRect(0, 0, width, height);
        context.save();
        context.translate(0, Math.max(0, (height - place.height) / 2));
        drawNuggets(context, state, { ...place, left: (columns * place.cell - width) / 2 }, { ground, glides, now: 0 });
        context.restore();
      },
    };
  },
  robots: () => {
    const state = robotsFold.begin();
    return {
      message: (data) => {
        const message = data instanceof ArrayBuffer ? robots.decode(new Uint8Array(data)) : null;
        if (message) robotsFold.fold(state, message);
      },
      draw: (context, width, height) => {
        const settings = state.settings ?? ARENA;
        const view = { width, height, own: null, threatened: null, glides: new Map(), now: 0, since: 0, still: true, chosen: null };
        drawRobots(context, state.settings ? state.game : arena(), settings, view);
        if (state.game || !state.settings) return;
        context.fillStyle = '#b9c2ca';
        context.textAlign = 'center';
        context.textBaseline = 'middle';
        context.font = '600 16px system-ui, sans-serif';
        context.fillText(`${state.players.size} of ${settings.players} robots are there`, width / 2, height / 2);
      },
    };
  },
  blackjack: () => {
    /** @type {import('../protocol/blackjack-view.js').Table | null} */
    let table = null;
    return {
      message: (data) => {
        if (typeof data === 'string') table = parse(data)?.[0] ?? table;
      },
      draw: (context, width, height) => drawSmall(context, table, width, height),
    };
  },
  mastermind: () => {
    const state = mastermindFold.begin();
    return {
      message: (data) => {
        const message = typeof data === 'string' ? mastermind.decode(data) : null;
        if (message) mastermindFold.fold(state, message);
      },
      draw: (context, width, height) => {
        const boards = [...state.places.values()].flatMap(({ board }) => board ?? []);
        drawMastermind(context, boards.find(({ over }) => !over) ?? boards[0] ?? null, width, height);
      },
    };
  },
};

/**
 * The picture of a room of this game.
 * @param {string} game
 * @returns {Picture}
 */
export const picture = (game) => (PICTURES[game] ?? (() => ({ message: () => {}, draw: lantern })))();

/**
 * A map of which nothing is known yet.
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {number} height
 */
function lantern(context, width, height) {
  const light = context.createRadialGradient(width / 2, height / 2, 4, width / 2, height / 2, height * 0.7);
  light.addColorStop(0, '#7a5c25');
  light.addColorStop(1, '#0b0a08');
  context.fillStyle = light;
  context.fillRect(0, 0, width, height);
}
