// An open socket of a room that is handed from one page of it to the next: whoever was asked for a rematch joins it where they were asked.

import { announceLive } from '../lib/dom.js';
import { Link } from '../lib/link.js';

/** @type {{ id: string, link: Link, messages: (string | ArrayBuffer)[] } | null} */
let given = null;

/**
 * Hands a link over to the next page.
 * @param {string} id Of the room.
 * @param {Link} link
 * @param {string} hello What the hub has said first.
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
 * Takes the link that was handed over, if it is of this room. One of another room is closed.
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
 * Stays in a room without joining a match, to be asked for a rematch.
 * @param {() => string} address Of the socket.
 * @param {() => string} first
 * @param {(told: any, data: string) => void} hear Takes what the hub says, beside the game; null when a connection is lost.
 */
export const linger = (address, first, hear) =>
  new Link(address, {
    first,
    message: (data) => {
      // Messages of a match that others play are of no use.
      if (typeof data === 'string' && data.startsWith('{')) hear(JSON.parse(data), data);
    },
    state: (state) => {
      announceLive(state);
      if (state.kind === 'waiting' || state.kind === 'ended') hear(null, '');
    },
  });
