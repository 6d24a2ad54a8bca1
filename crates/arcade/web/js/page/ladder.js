// Programs play around the clock: ratings, current matches, waiting programs and recent matches.

import { GAMES, isGame } from '../games/index.js';
import { errorText, request } from '../lib/api.js';
import { ago, copyable, element, title } from '../lib/dom.js';
import { isolated } from '../lib/names.js';
import { publicAddress } from '../lib/public.js';
import { list, say } from '../lib/text.js';
import { leaderboard } from './players.js';

/**
 * @typedef {import('../games/types.js').Leader} Leader
 * @typedef {{ rank: number, name: string, score: number, bot: boolean, lost?: boolean }} Played
 * @typedef {{ id: string, ended: string, players: Played[] }} Finished
 * @typedef {{ game: string, port: number, players: Leader[], provisional: Leader[], waiting: { name: string, since: string }[],
 *   playing: { players: string[], since: string, room?: string }[], recent: Finished[], played: number }} Ladder
 */

/** Poll interval in milliseconds. */
const PAUSE = 5_000;
/** Matches per game. */
const SHOWN = 10;

/** @param {HTMLElement} main */
export function showLadder(main) {
  let left = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  title(say('page.ladder'));
  main.dataset.page = 'ladder';
  const heading = () => element('h1', {}, say('page.ladder'));
  main.replaceChildren(heading());
  let shown = '';
  /** @param {HTMLElement[]} parts */
  const show = (...parts) => {
    const link = document.activeElement instanceof HTMLAnchorElement && main.contains(document.activeElement) ? document.activeElement.href : undefined;
    main.replaceChildren(heading(), ...parts);
    // Keeps the focus for users who tab through the links.
    [...main.querySelectorAll('a')].find(({ href }) => href === link)?.focus();
  };
  const look = async () => {
    try {
      // A page in the background is not updated.
      if (!document.hidden || shown === '') {
        const ladders = await load();
        if (left) return;
        const text = JSON.stringify(ladders);
        if (text !== shown) show(element('p', { class: 'note' }, say('ladder.note')), element('p', {}, say('ladder.join')), copyable(say('ladder.join.command'), joinLadder()), ...ladders.map(section));
        shown = text;
      }
    } catch (error) {
      if (left) return;
      // Old data stays on the page rather than an error.
      if (shown === '') show(element('p', { class: 'error', role: 'alert' }, errorText(error)));
    }
    timer = setTimeout(() => void look(), PAUSE);
  };
  void look();
  return () => {
    left = true;
    clearTimeout(timer);
  };
}

/** @returns {Promise<Ladder[]>} */
async function load() {
  const { games } = /** @type {{ games: { game: string }[] }} */ (await request('/api/ladder'));
  return Promise.all(games.filter(({ game }) => isGame(game)).map(({ game }) => /** @type {Promise<Ladder>} */ (request(`/api/ladder/${game}`))));
}

/** The command that registers a program. `arcade ladder` does not speak TLS. */
function joinLadder() {
  const { protocol, host } = new URL(publicAddress('/'));
  if (protocol === 'http:') return `arcade ladder join NAME --server ${host}`;
  return `curl -H 'content-type: application/json' -d '{"name": "NAME"}' ${publicAddress('/api/ladder/join')}`;
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
    { class: 'columns', 'data-game': game, 'aria-label': GAMES[game].title },
    leaderboard({ game, class: 'ladder', players, provisional }),
    element(
      'div',
      { class: 'panel' },
      element('p', {}, say('ladder.port', { port: String(port) })),
      element('h2', {}, say('ladder.now')),
      now.length ? element('ul', { class: 'matches' }, ...now) : element('p', { class: 'soft' }, say('ladder.nobody')),
      element('h2', {}, say('ladder.recent')),
      recent.length ? element('ul', { class: 'matches' }, ...recent.slice(0, SHOWN).map(finished)) : element('p', { class: 'soft' }, say('players.matches.none')),
    ),
  );
}

/** @param {Finished} match */
const finished = ({ id, ended, players }) =>
  element(
    'li',
    { class: 'match' },
    element('a', { href: `/matches/${encodeURIComponent(id)}` }, players.map(({ name, score, lost }) => (lost ? say('ladder.lost', { name }) : `${isolated(name)} ${score}`)).join(' : ')),
    element('span', { class: 'soft' }, element('time', { datetime: ended }, ago(ended))),
  );
