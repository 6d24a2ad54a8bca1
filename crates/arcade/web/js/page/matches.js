// Matches in a list.

import { GAMES, isGame } from '../games/index.js';
import { ago, count, element } from '../lib/dom.js';
import { winners } from './words.js';

/** @typedef {import('../games/types.js').Match} Match */

/**
 * A match in a list.
 * @param {Match} match
 */
export function matchLine({ id, game, title: what, started, players, count: all = players.length, casual }) {
  const name = isGame(game) ? GAMES[game].title : game;
  return element(
    'li',
    { class: 'match', 'data-game': game },
    element('a', { href: `/matches/${encodeURIComponent(id)}` }, `${name}: ${winners(players)}`),
    element('span', { class: 'soft' }, `${what} · ${count(all, 'player')} · ${casual === undefined ? '' : 'casual · '}`, element('time', { datetime: started }, ago(started))),
  );
}
