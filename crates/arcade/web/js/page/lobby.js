// The lobby: rooms, who is in them, and how to join.

import { Link, socketAddress } from '../link.js';
import { announceLink, element } from './dom.js';

/**
 * @typedef {{ name: string, seat: string }} Player
 * @typedef {{ rank: number, name: string, seat: string, score: number }} Row
 * @typedef {{ id: string, game: 'nuggets' | 'robots' | 'blackjack', title: string, phase: string, taken: number, seats: number,
 *   port: number, players: Player[], result: Row[] | null }} Room
 * @typedef {{ rooms: Room[] }} Lobby
 */

const PHASES = /** @type {Record<string, string>} */ ({
  lobby: 'waiting for players',
  playing: 'playing',
  over: 'over',
});

/**
 * How to join from a terminal.
 * @param {Room} room
 */
export function command({ game, port }) {
  const host = location.hostname;
  switch (game) {
    case 'nuggets':
      return `cargo run -p nuggets-client -- ${host} ${port} yourname`;
    case 'robots':
      return `cargo run -p robots-client -- -s ${host.includes(':') ? `[${host}]` : host}:${port} --gui`;
    case 'blackjack':
      return `cargo run -p player -- yourname ${host} ${port} --human`;
  }
}

/**
 * Shows the lobby until the returned function is called.
 * @param {HTMLElement} main
 * @param {Lobby} first
 */
export function showLobby(main, first) {
  const list = element('ul', { class: 'rooms' });
  main.replaceChildren(element('h1', {}, 'Rooms'), list);
  /** @param {Lobby} lobby */
  const show = (lobby) => {
    // Keeps the focus where it was, since the list is made anew.
    const focused = document.activeElement?.getAttribute('href');
    list.replaceChildren(...lobby.rooms.map(card));
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.closest('a')?.focus();
  };
  show(first);
  const link = new Link(() => socketAddress('/live'), {
    message: (data) => {
      if (typeof data === 'string') show(JSON.parse(data));
    },
    state: (state) => announceLink(state.kind === 'waiting' ? 'The connection is lost. Trying again.' : ''),
  });
  return () => link.close();
}

/** @param {Room} room */
function card(room) {
  const names = room.players.map(({ name }) => name).join(', ');
  return element(
    'li',
    { class: 'room' },
    element('h2', {}, room.game),
    element('p', {}, room.title),
    element('p', {}, `${PHASES[room.phase] ?? room.phase}, ${room.taken} of ${room.seats} seats taken`),
    element('p', {}, names ? `In it: ${names}` : 'Nobody is in it yet.'),
    element(
      'div',
      { class: 'row' },
      element('a', { class: 'button primary', href: `/rooms/${room.id}` }, 'Play'),
      element('a', { class: 'button', href: `/rooms/${room.id}?watch` }, 'Watch'),
    ),
    element('code', {}, command(room)),
  );
}
