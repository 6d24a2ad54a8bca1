import { all } from './list.js';

const games = await Promise.all(all.map((folder) => folder.game()));

/** By name, in display order. @type {Record<string, import('./types.js').Game>} */
export const GAMES = Object.fromEntries(games.map(({ game }) => [game.name, game]));

/** @param {string} game */
export const isGame = (game) => Object.hasOwn(GAMES, game);
