// The open socket of a room, passed to its next page: a player joins a rematch on the connection that offered it.

import { announceLive } from '../lib/dom.js';
import { Link } from '../lib/link.js';

/** @type {{ id: string, link: Link, messages: (string | ArrayBuffer)[] } | null} */
let passed = null;

/**
 * @param {string} id Of the room.
 * @param {Link} link
 * @param {string} hello The first message of the hub.
 */
export function passLink(id, link, hello) {
  /** @type {(string | ArrayBuffer)[]} */
  const messages = [hello];
  link.handlers = { ...link.handlers, message: (data) => messages.push(data), state: () => {} };
  passed = { id, link, messages };
}

/** @param {string} id Of the room. */
export const hasLinkFor = (id) => passed?.id === id && !passed.link.ended;

/**
 * A link of another room is closed.
 * @param {string} id
 */
export function takeLink(id) {
  const transfer = passed;
  passed = null;
  if (transfer?.id === id && !transfer.link.ended) return transfer;
  transfer?.link.close();
  return null;
}

/**
 * Receives the offer of a rematch without joining a match.
 * @param {() => string} address Of the socket.
 * @param {() => string} first
 * @param {(message: any, data: string) => void} receive Receives the messages of the hub outside the game; null if the connection is lost.
 */
export const awaitRematch = (address, first, receive) =>
  new Link(address, {
    first,
    message: (data) => {
      // Messages of a match without this player are ignored.
      if (typeof data === 'string' && data.startsWith('{')) receive(JSON.parse(data), data);
    },
    state: (state) => {
      announceLive(state);
      if (state.kind === 'waiting' || state.kind === 'ended') receive(null, '');
    },
  });
