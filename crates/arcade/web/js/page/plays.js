// The page of each game.

import { playBlackjack } from './blackjack.js';
import { playMastermind } from './mastermind.js';
import { playNuggets } from './nuggets.js';
import { playRobots } from './robots.js';

/** @type {Partial<Record<import('./games.js').Game, (stage: import('./room.js').Stage) => import('./room.js').Play>>} */
export const PLAYS = { nuggets: playNuggets, robots: playRobots, blackjack: playBlackjack, mastermind: playMastermind };
