import { gameFolders } from './list.js';

/** By name, in display order. Empty until the games are loaded. @type {Record<string, import('./types.js').Game>} */
export const GAMES = {};

export async function loadGames() {
  for (const { game } of await Promise.all(gameFolders.map((folder) => folder.game()))) GAMES[game.name] = game;
}

/** @param {string} game */
export const isGame = (game) => Object.hasOwn(GAMES, game);
