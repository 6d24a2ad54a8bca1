// Rooms and results in words.

import { GAMES } from '../games/index.js';
import { countsText } from '../lib/counts.js';
import { CODES } from '../lib/link.js';
import { isolated } from '../lib/names.js';
import { list, say, sayOr, sentence, told } from '../lib/text.js';

/** @typedef {import('../games/types.js').Room} Room */

/**
 * Whether each in the room plays a game of their own, so that there are always seats.
 * @param {Room} room
 */
export const isAlone = (room) => GAMES[room.game].isAlone(room);

/** @param {Room} room */
export function phaseInWords(room) {
  const { phase, taken, seats } = room;
  if (isAlone(room)) return taken === 0 ? say('room.alone.nobody') : say('room.alone', { count: taken });
  switch (phase) {
    case 'lobby':
      if (taken >= seats) return say(room.result ? 'room.phase.over' : 'room.phase.ready');
      return taken === 0 ? say('room.phase.empty') : say('room.phase.waiting', { taken, seats });
    case 'playing':
      return say('room.phase.playing');
    default:
      return say('room.phase.closed');
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
 * What a room is called.
 * @param {Room} room
 */
export const roomTitle = (room) => (room.name ? `${isolated(room.name)} · ${told(room.title)}` : told(room.title));

/**
 * What is special about a room besides its game, each in a few words.
 * @param {Room} room
 */
export const roomFacts = (room) => [
  ...(room.visibility === 'link' ? [say('room.is.link')] : []),
  ...(room.visibility === 'word' ? [say('room.is.word')] : []),
  ...(room.locked ? [say('room.is.locked')] : []),
  ...[countsText(room)].filter(Boolean),
];

/**
 * When a match can begin, in words.
 * @param {number | null} seconds Null if nobody can know.
 */
export function waitInWords(seconds) {
  if (seconds === null) return say('waits.unknown');
  if (seconds <= 0) return say('waits.soon');
  return seconds < 60 ? say('waits.seconds', { seconds }) : say('waits.minutes', { count: Math.round(seconds / 60) });
}

/**
 * Why the hub has ended a connection, in a sentence.
 * @param {{ code: number, reason: string }} end
 */
export function ending({ code, reason }) {
  const [name] = Object.entries(CODES).find(([, known]) => known === code) ?? [];
  return sentence(sayOr(`room.end.${name}`, told(reason)));
}

/**
 * The command that joins a room from a terminal.
 * @param {Room} room
 */
export function command({ id, game, port, host: advertised, visibility }) {
  // A room of an arcade of several hubs says where it is, and clients ask any of them where it goes, without TLS.
  const host = advertised ? (advertised.includes(':') ? `[${advertised}]` : advertised) : location.hostname;
  const asks = advertised && location.protocol === 'http:' && (visibility ?? 'public') === 'public';
  const directory = asks ? ` --directory ${location.origin}/rooms/${id}` : '';
  return GAMES[game].command({ host, bare: host.replace(/^\[|\]$/g, ''), port, directory });
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
  if (first.length === 0) return say('room.phase.over');
  if (first.length === 1) return say('result.one', { name: first[0] });
  return first.length > 3 ? say('result.many', { count: first.length }) : say('result.some', { names: list(first) });
}
