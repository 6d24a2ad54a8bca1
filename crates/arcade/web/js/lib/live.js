// The lobby and small pictures of rooms, over one socket.

import { announceLive } from './dom.js';
import { Link, socketAddress } from './link.js';
import { errorOf } from './text.js';

/**
 * @typedef {import('../games/types.js').Lobby} Lobby
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {{ game?: string | null, text?: string, from?: number, count?: number }} Selection Selects rooms.
 * @typedef {import('../games/types.js').Parts} Parts
 *
 * @typedef {object} Listener
 * @property {(lobby: Lobby) => void} lobby
 * @property {(id: string, parts: Parts | null) => void} [picture] Null if the picture has gone.
 * @property {(why: string) => void} [rejected] The hub has rejected the search and sends the first rooms of the game.
 */

/**
 * A snapshot or a change.
 * @param {Lobby} lobby
 * @param {any} message
 * @returns {Lobby}
 */
export function mergeLobby(lobby, message) {
  const rooms = new Map((message.look ? [] : lobby.rooms).map((room) => [room.id, room]));
  for (const room of /** @type {Room[]} */ (message.rooms ?? [])) rooms.set(room.id, room);
  const ids = /** @type {string[]} */ (message.ids ?? lobby.rooms.map(({ id }) => id));
  return {
    look: message.look ?? lobby.look,
    total: message.total ?? lobby.total,
    recent: message.recent ?? lobby.recent,
    leaders: message.leaders ?? lobby.leaders,
    unsure: message.unsure ?? (message.look ? false : lobby.unsure),
    rooms: ids.flatMap((id) => rooms.get(id) ?? []),
  };
}

/**
 * @param {Parts | undefined} parts
 * @param {{ whole: Parts } | { change: Parts }} message
 * @returns {Parts}
 */
export function mergePicture(parts, message) {
  if ('whole' in message) return message.whole;
  return Object.fromEntries(Object.entries({ ...parts, ...message.change }).filter(([, part]) => part !== null));
}

export class LobbyFeed {
  /**
   * @param {Selection} look
   * @param {Listener} shown
   */
  constructor(look, shown) {
    this.selection = look;
    /** @type {string[]} */
    this.rooms = [];
    /** @type {Map<string, Parts>} */
    this.pictures = new Map();
    /** @type {Lobby} */
    let lobby = { rooms: [] };
    this.link = new Link(() => socketAddress('/live'), {
      message: (data) => {
        if (typeof data !== 'string') return;
        const message = JSON.parse(data);
        for (const [id, picture] of Object.entries(message.pictures ?? {})) {
          // A picture of an earlier subscription may still arrive.
          if (!this.rooms.includes(id)) continue;
          const parts = picture && mergePicture(this.pictures.get(id), picture);
          if (parts) this.pictures.set(id, parts);
          else this.pictures.delete(id);
          shown.picture?.(id, parts);
        }
        if (message.error) shown.rejected?.(errorOf(message));
        if (message.pictures || message.error) return;
        lobby = mergeLobby(lobby, message);
        shown.lobby(lobby);
      },
      state: (state) => {
        announceLive(state);
        if (state.kind === 'open') this.send({ look: this.selection, pictures: this.rooms });
      },
    });
  }

  /** @param {object} message */
  send(message) {
    this.link.send(JSON.stringify(message));
  }

  /** @param {Selection} look */
  select(look) {
    this.selection = look;
    this.send({ look });
  }

  /**
   * Subscribes to the pictures of these rooms only.
   * @param {string[]} rooms
   */
  subscribe(rooms) {
    const known = new Set(this.rooms);
    if (rooms.length === known.size && rooms.every((id) => known.has(id))) return;
    this.rooms = rooms;
    for (const id of this.pictures.keys()) if (!rooms.includes(id)) this.pictures.delete(id);
    this.send({ pictures: rooms });
  }

  close() {
    this.link.close();
  }
}
