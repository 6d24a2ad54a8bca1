// The page of a room: the board of its game, who is who, and the state of the link.

import { CODES, Link, socketAddress } from '../link.js';
import { playBlackjack } from './blackjack.js';
import { announceLink, element } from './dom.js';
import { command } from './lobby.js';
import { playNuggets } from './nuggets.js';
import { playRobots } from './robots.js';

/** @typedef {import('./lobby.js').Room} Room */

/**
 * What the page of a game gets to work with.
 * @typedef {object} Stage
 * @property {HTMLElement} board Where the board goes.
 * @property {HTMLElement} controls Where buttons go.
 * @property {HTMLElement} live Speaks what has changed.
 * @property {boolean} watching
 * @property {string} name The player's name.
 * @property {(data: string | Uint8Array<ArrayBuffer>) => void} send
 * @property {(room: Room | null, own: string | null) => void} seated Says which seat is one's own, in the game's own words.
 */

/**
 * A game on its page.
 * @typedef {object} Play
 * @property {() => void} open A new connection is there: join, unless the seat is kept.
 * @property {(data: string | ArrayBuffer) => void} message
 * @property {(room: Room) => void} room
 * @property {() => void} stop
 */

const GAMES = { nuggets: playNuggets, robots: playRobots, blackjack: playBlackjack };

/**
 * Shows a room until the returned function is called.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {boolean} watching
 */
export function showRoom(main, id, watching) {
  const game = /** @type {keyof typeof GAMES} */ (id.split('-')[0]);
  if (!Object.hasOwn(GAMES, game)) {
    main.replaceChildren(element('h1', {}, 'There is no such room.'), element('a', { href: '/' }, 'Back to the lobby'));
    return () => {};
  }
  if (watching || recall('name')) return enter(main, id, game, watching);
  return askName(main, id, game);
}

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {keyof typeof GAMES} game
 */
function askName(main, id, game) {
  /** @type {() => void} */
  let leave = () => {};
  const input = element('input', { id: 'name', maxlength: '20', autocomplete: 'nickname', required: true });
  const form = element(
    'form',
    {
      class: 'row',
      submit: (event) => {
        event.preventDefault();
        // One word, since blackjack has no room for more.
        const name = input.value.trim().replace(/\s+/g, '_');
        if (!name) return;
        remember('name', name);
        leave = enter(main, id, game, false);
      },
    },
    element('label', { for: 'name' }, 'Your name'),
    input,
    element('button', { class: 'primary' }, 'Play'),
  );
  main.replaceChildren(element('h1', {}, `Play ${game}`), form);
  input.focus();
  return () => leave();
}

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {keyof typeof GAMES} game
 * @param {boolean} watching
 */
function enter(main, id, game, watching) {
  const board = element('div', { class: 'board' });
  const controls = element('div', { class: 'row' });
  const players = element('ol');
  const result = element('div');
  const how = element('code');
  const live = element('p', { class: 'hidden', 'aria-live': 'polite' });
  const side = element('aside', { class: 'side' }, element('h2', {}, 'Players'), players, result, how);
  main.replaceChildren(
    element('h1', {}, watching ? `Watching ${id}` : id),
    element('div', { class: 'table' }, element('div', {}, board, controls), side),
    live,
  );
  /** @type {Room | null} */
  let shown = null;
  /** @type {string | null} */
  let own = null;
  const list = () => {
    if (!shown) return;
    const row = (/** @type {string} */ text, /** @type {string} */ seat) =>
      element('li', seat === own ? { class: 'own' } : {}, seat === own ? `${text} (you)` : text);
    players.replaceChildren(...shown.players.map(({ name, seat }) => row(`${seat} ${name}`, seat)));
    how.textContent = command(shown);
    result.replaceChildren();
    if (shown.result) {
      result.append(
        element('h2', {}, 'Result of the last game'),
        element('ol', {}, ...shown.result.map(({ name, seat, score, rank }) => row(`${rank}. ${name}: ${score}`, seat))),
      );
    }
  };
  const key = `seat ${id} ${watching ? 'watch' : 'play'}`;
  let returning = false;
  const play = GAMES[game]({
    board,
    controls,
    live,
    watching,
    name: recall('name') ?? 'guest',
    send: (data) => link.send(data),
    seated: (_, seat) => {
      own = seat;
      list();
    },
  });
  const link = new Link(
    () => {
      const seat = sessionStorage.getItem(key);
      returning = seat !== null;
      return socketAddress(`/rooms/${id}/socket`, { ...(watching ? { watch: 'true' } : {}), ...(seat ? { seat } : {}) });
    },
    {
      message: (data) => {
        // Messages of the hub are JSON, which no message of a game begins like.
        if (typeof data === 'string' && data.startsWith('{')) {
          const { seat, room } = JSON.parse(data);
          if (seat) {
            sessionStorage.setItem(key, seat);
            if (!returning) play.open();
          }
          shown = room;
          play.room(room);
          list();
        } else {
          play.message(data);
        }
      },
      state: (state) => {
        if (state.kind === 'ended') {
          sessionStorage.removeItem(key);
          if (state.code === CODES.expired) {
            announceLink('Your seat was given up meanwhile. Reload the page for a new one.');
          } else {
            announceLink(state.code === CODES.closed ? '' : state.reason);
          }
          controls.replaceChildren(element('a', { class: 'button primary', href: `/rooms/${id}` }, 'Play again'));
        } else {
          announceLink(state.kind === 'waiting' ? 'The connection is lost. Your seat is kept; trying again.' : '');
        }
      },
    },
  );
  return () => {
    link.close();
    play.stop();
  };
}

/** @param {string} key */
function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/**
 * @param {string} key
 * @param {string} value
 */
function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Without storage the name is asked for again.
  }
}
