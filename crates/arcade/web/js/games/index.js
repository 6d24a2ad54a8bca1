// The games that there are. Another game is a folder beside this file, and one line here.

import { blackjack } from './blackjack/index.js';
import { mastermind } from './mastermind/index.js';
import { nuggets } from './nuggets/index.js';
import { robots } from './robots/index.js';

/** By name, in the order in which they are shown. @type {Record<string, import('./types.js').Game>} */
export const GAMES = Object.fromEntries([nuggets, robots, blackjack, mastermind].map((game) => [game.name, game]));

/** @param {string} game */
export const isGame = (game) => Object.hasOwn(GAMES, game);
