import { GAMES, isGame } from '../games/index.js';
import { ago, element } from '../lib/dom.js';
import { say, translate } from '../lib/text.js';
import { winnersText } from './labels.js';

/** @typedef {import('../games/types.js').Match} Match */

/** @param {Match} match */
export function matchLine({ id, game, title: what, started, players, count: all = players.length, casual }) {
  const name = isGame(game) ? GAMES[game].title : game;
  return element(
    'li',
    { class: 'match', 'data-game': game },
    element('a', { href: `/matches/${encodeURIComponent(id)}` }, `${name}: ${winnersText(players)}`),
    element(
      'span',
      { class: 'soft' },
      `${translate(what)} · ${say('match.players', { count: all })} · ${casual === undefined ? '' : `${say('counts.casual.short')} · `}`,
      element('time', { datetime: started }, ago(started)),
    ),
  );
}
