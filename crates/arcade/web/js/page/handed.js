// The open socket of a room, passed to its next page: a player joins a rematch on the connection that offered it.

import { announceLive } from '../lib/dom.js';
import { Link } from '../lib/link.js';

/** @type {{ id: string, link: Link, messages: (string | ArrayBuffer)[] } | null} */
let given = null;

/**
 * @param {string} id Of the room.
 * @param {Link} link
 * @param {string} hello The first message of the hub.
 */
export function handOver(id, link, hello) {
  /** @type {(string | ArrayBuffer)[]} */
  const messages = [hello];
  link.handlers = { ...link.handlers, message: (data) => messages.push(data), state: () => {} };
  given = { id, link, messages };
}

/** @param {string} id Of the room. */
export const isHanded = (id) => given?.id === id && !given.link.ended;

/**
 * A link of another room is closed.
 * @param {string} id
 */
export function handed(id) {
  const found = given;
  given = null;
  if (found?.id === id && !found.link.ended) return found;
  found?.link.close();
  return null;
}

/**
 * Receives the offer of a rematch without joining a match.
 * @param {() => string} address Of the socket.
 * @param {() => string} first
 * @param {(told: any, data: string) => void} hear Receives the messages of the hub outside the game; null if the connection is lost.
 */
export const linger = (address, first, hear) =>
  new Link(address, {
    first,
    message: (data) => {
      // Messages of a match without this player are ignored.
      if (typeof data === 'string' && data.startsWith('{')) hear(JSON.parse(data), data);
    },
    state: (state) => {
      announceLive(state);
      if (state.kind === 'waiting' || state.kind === 'ended') hear(null, '');
    },
  });
