import { GAMES } from '../games/index.js';
import { CODES } from '../lib/link.js';
import { isolated } from '../lib/names.js';
import { ratedText } from '../lib/rating.js';
import { PUBLIC, absolutePath } from '../lib/route.js';
import { list, say, sayIfKnown, sentence, translate } from '../lib/text.js';

/** @typedef {import('../games/types.js').Room} Room */

/**
 * Each player has a separate game, so seats never run out.
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
 * Whether native clients reach the rooms: a hub behind a proxy may open the ports only to its own machine.
 * @param {string | undefined} rooms `here` if only the machine of the hub reaches the ports.
 * @param {string} host The host in the address of the page.
 */
export const reachesPorts = (rooms, host) => rooms !== 'here' || /^(localhost|127\..*|\[::1\])$/.test(host);

export const offersTerminal = () => reachesPorts(document.body.dataset.rooms, location.hostname);

/** @param {Room} room */
export const roomTitle = (room) => (room.name ? `${isolated(room.name)} · ${translate(room.title)}` : translate(room.title));

/**
 * How the room is restricted, and its players in numbers: each fact in a few words.
 * @param {Room} room
 */
export const roomFacts = (room) => [
  ...(room.visibility === 'link' ? [say('room.is.link')] : []),
  ...(room.visibility === 'word' ? [say('room.is.word')] : []),
  ...(room.locked ? [say('room.is.locked')] : []),
  ...[ratedText(room)].filter(Boolean),
];

/** @param {number | null} seconds Null if it is unknown. */
export function waitInWords(seconds) {
  if (seconds === null) return say('waits.unknown');
  if (seconds <= 0) return say('waits.soon');
  return seconds < 60 ? say('waits.seconds', { seconds }) : say('waits.minutes', { count: Math.round(seconds / 60) });
}

/**
 * Why the connection ended, in a sentence.
 * @param {{ code: number, reason: string }} end
 */
export function endReason({ code, reason }) {
  const [name] = Object.entries(CODES).find(([, value]) => value === code) ?? [];
  return sentence(sayIfKnown(`room.end.${name}`, translate(reason)));
}

/**
 * Joins the room from a terminal.
 * @param {Room} room
 */
export function joinCommand({ id, game, port, host: advertised, visibility }) {
  // In an arcade of several hubs a room has a host, and clients query the directory of any hub, without TLS, for where
  // it moves.
  const page = document.body.dataset.rooms === 'here' ? location : (PUBLIC ?? location);
  const host = advertised ? (advertised.includes(':') ? `[${advertised}]` : advertised) : page.hostname;
  const isMovable = advertised && page.protocol === 'http:' && (visibility ?? 'public') === 'public';
  const directory = isMovable ? ` --directory ${page.origin}${absolutePath(`/rooms/${id}`)}` : '';
  return GAMES[game].command({ host, bare: host.replace(/^\[|\]$/g, ''), port, directory });
}

/**
 * The command in a checkout of the sources; null for a program that is not part of them.
 * @param {string} command
 */
export const fromSource = (command) => (command.startsWith('nc ') ? null : command.replace(/^\S+/, 'cargo run -p $& --'));

/** @param {{ rank: number, name: string }[]} rows */
export function winnersText(rows) {
  const first = rows.filter(({ rank }) => rank === 1).map(({ name }) => name);
  if (first.length === 0) return say('room.phase.over');
  if (first.length === 1) return say('result.one', { name: first[0] });
  return first.length > 3 ? say('result.many', { count: first.length }) : say('result.some', { names: list(first) });
}
