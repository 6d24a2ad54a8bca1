// Rooms and results in words.

import { GAMES } from '../games/index.js';

/** @typedef {import('../games/types.js').Room} Room */

/**
 * Whether each in the room plays a game of their own, so that there are always seats.
 * @param {Room} room
 */
export const isAlone = (room) => GAMES[room.game].isAlone(room);

/** @param {Room} room */
export function phaseInWords(room) {
  const { phase, taken, seats } = room;
  if (isAlone(room)) return taken === 0 ? 'Nobody plays yet' : taken === 1 ? 'One plays' : `${taken} play`;
  switch (phase) {
    case 'lobby':
      if (taken >= seats) return room.result ? 'The game is over' : 'Everybody is here';
      return taken === 0 ? 'Waiting for players' : `Waiting for players, ${taken} of ${seats} are there`;
    case 'playing':
      return 'A game is on';
    default:
      return 'Over';
  }
}

/**
 * Whether programs on the machine of a page that was opened at this host can join rooms: a hub behind a proxy may open their ports to its own
 * machine only.
 * @param {string | undefined} rooms Who reaches the ports, as the hub says in the page.
 * @param {string} host
 */
export const reachesPorts = (rooms, host) => rooms !== 'here' || /^(localhost|127\..*|\[::1\])$/.test(host);

/** Whether this page offers to join from a terminal. */
export const offersTerminal = () => reachesPorts(document.body.dataset.rooms, location.hostname);

/**
 * The command that joins a room from a terminal.
 * @param {Room} room
 */
export function command({ game, port }) {
  const host = location.hostname;
  return GAMES[game].command({ host, bare: host.replace(/^\[|\]$/g, ''), port });
}

/**
 * The same command for somebody who has the sources and not the programs; null for a program that is not of them.
 * @param {string} command
 */
export const fromSource = (command) => (command.startsWith('nc ') ? null : command.replace(/^\S+/, 'cargo run -p $& --'));

/**
 * Who is first, in words.
 * @param {{ rank: number, name: string }[]} rows
 */
export function winners(rows) {
  const first = rows.filter(({ rank }) => rank === 1).map(({ name }) => name);
  if (first.length === 0) return 'The game is over';
  if (first.length === 1) return `${first[0]} wins`;
  if (first.length > 3) return `${first.length} players share the first place`;
  return `${first.slice(0, -1).join(', ')} and ${first[first.length - 1]} share the first place`;
}
