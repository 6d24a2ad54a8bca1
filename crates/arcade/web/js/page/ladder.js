// The ladder: programs that play day and night. Who is how good, who plays and waits now, and what was played last.

import { GAMES, isGame } from '../games/index.js';
import { ask, errorText } from '../lib/api.js';
import { ago, element, title } from '../lib/dom.js';
import { list, say } from '../lib/text.js';
import { leaderboard } from './players.js';

/**
 * @typedef {import('../games/types.js').Leader} Leader
 * @typedef {{ rank: number, name: string, score: number, bot: boolean, lost?: boolean }} Played
 * @typedef {{ id: string, ended: string, players: Played[] }} Finished
 * @typedef {{ game: string, port: number, players: Leader[], provisional: Leader[], waiting: { name: string, since: string }[],
 *   playing: { players: string[], since: string, room?: string }[], recent: Finished[], played: number }} Ladder
 */

/** Milliseconds between two looks. */
const PAUSE = 5_000;

/** @param {HTMLElement} main */
export function showLadder(main) {
  let left = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  title(say('page.ladder'));
  main.dataset.page = 'ladder';
  const heading = () => element('h1', {}, say('page.ladder'));
  main.replaceChildren(heading());
  const look = async () => {
    try {
      // Nobody looks at a page in the background.
      if (!document.hidden || main.childElementCount < 2) {
        const ladders = await load();
        if (left) return;
        main.replaceChildren(heading(), element('p', { class: 'note' }, say('ladder.note')), ...ladders.map(section));
      }
      timer = setTimeout(() => void look(), PAUSE);
    } catch (error) {
      if (!left) main.replaceChildren(heading(), element('p', { class: 'error', role: 'alert' }, errorText(error)));
    }
  };
  void look();
  return () => {
    left = true;
    clearTimeout(timer);
  };
}

/** @returns {Promise<Ladder[]>} */
async function load() {
  const { games } = /** @type {{ games: { game: string }[] }} */ (await ask('/api/ladder'));
  return Promise.all(games.filter(({ game }) => isGame(game)).map(({ game }) => /** @type {Promise<Ladder>} */ (ask(`/api/ladder/${game}`))));
}

/** @param {Ladder} ladder */
function section({ game, port, players, provisional, waiting, playing, recent }) {
  const now = [
    ...playing.map(({ players: both, room }) =>
      element('li', {}, room === undefined ? list(both) : element('a', { href: `/rooms/${encodeURIComponent(room)}?watch` }, list(both))),
    ),
    ...waiting.map(({ name }) => element('li', { class: 'soft' }, say('ladder.waits', { name }))),
  ];
  return element(
    'section',
    { 'data-game': game, 'aria-label': GAMES[game].title },
    leaderboard({ game, class: 'ladder', players, provisional }),
    element('p', { class: 'soft' }, say('ladder.port', { port: String(port) })),
    element('h2', {}, say('ladder.now')),
    now.length ? element('ul', { class: 'matches' }, ...now) : element('p', { class: 'soft' }, say('ladder.nobody')),
    element('h2', {}, say('ladder.recent')),
    recent.length ? element('ul', { class: 'matches' }, ...recent.map(finished)) : element('p', { class: 'soft' }, say('players.matches.none')),
  );
}

/** @param {Finished} match */
const finished = ({ id, ended, players }) =>
  element(
    'li',
    { class: 'match' },
    element('a', { href: `/matches/${encodeURIComponent(id)}` }, players.map(({ name, score, lost }) => (lost ? say('ladder.lost', { name }) : `${name} ${score}`)).join(' : ')),
    element('span', { class: 'soft' }, element('time', { datetime: ended }, ago(ended))),
  );
