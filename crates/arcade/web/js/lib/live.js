// The lobby and small pictures of rooms, over one socket.

import { announceLive } from './dom.js';
import { Link, socketAddress } from './link.js';
import { errorOf } from './text.js';

/**
 * @typedef {import('../games/types.js').Lobby} Lobby
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {{ game?: string | null, text?: string, from?: number, count?: number }} Look Selects rooms.
 * @typedef {import('../games/types.js').Parts} Parts
 *
 * @typedef {object} Shown
 * @property {(lobby: Lobby) => void} lobby
 * @property {(id: string, parts: Parts | null) => void} [picture] Null if the picture has gone.
 * @property {(why: string) => void} [plain] The hub has rejected the search and sends the first rooms of the game.
 */

/**
 * A snapshot or a change.
 * @param {Lobby} lobby
 * @param {any} told
 * @returns {Lobby}
 */
export function follow(lobby, told) {
  const rooms = new Map((told.look ? [] : lobby.rooms).map((room) => [room.id, room]));
  for (const room of /** @type {Room[]} */ (told.rooms ?? [])) rooms.set(room.id, room);
  const ids = /** @type {string[]} */ (told.ids ?? lobby.rooms.map(({ id }) => id));
  return {
    look: told.look ?? lobby.look,
    total: told.total ?? lobby.total,
    recent: told.recent ?? lobby.recent,
    leaders: told.leaders ?? lobby.leaders,
    unsure: told.unsure ?? (told.look ? false : lobby.unsure),
    rooms: ids.flatMap((id) => rooms.get(id) ?? []),
  };
}

/**
 * @param {Parts | undefined} parts
 * @param {{ whole: Parts } | { change: Parts }} told
 * @returns {Parts}
 */
export function repaint(parts, told) {
  if ('whole' in told) return told.whole;
  return Object.fromEntries(Object.entries({ ...parts, ...told.change }).filter(([, part]) => part !== null));
}

export class Live {
  /**
   * @param {Look} look
   * @param {Shown} shown
   */
  constructor(look, shown) {
    this.wanted = look;
    /** @type {string[]} */
    this.rooms = [];
    /** @type {Map<string, Parts>} */
    this.pictures = new Map();
    /** @type {Lobby} */
    let lobby = { rooms: [] };
    this.link = new Link(() => socketAddress('/live'), {
      message: (data) => {
        if (typeof data !== 'string') return;
        const told = JSON.parse(data);
        for (const [id, picture] of Object.entries(told.pictures ?? {})) {
          // A picture of an earlier subscription may still arrive.
          if (!this.rooms.includes(id)) continue;
          const parts = picture && repaint(this.pictures.get(id), picture);
          if (parts) this.pictures.set(id, parts);
          else this.pictures.delete(id);
          shown.picture?.(id, parts);
        }
        if (told.error) shown.plain?.(errorOf(told));
        if (told.pictures || told.error) return;
        lobby = follow(lobby, told);
        shown.lobby(lobby);
      },
      state: (state) => {
        announceLive(state);
        if (state.kind === 'open') this.say({ look: this.wanted, pictures: this.rooms });
      },
    });
  }

  /** @param {object} words */
  say(words) {
    this.link.send(JSON.stringify(words));
  }

  /** @param {Look} look */
  look(look) {
    this.wanted = look;
    this.say({ look });
  }

  /**
   * Subscribes to the pictures of these rooms only.
   * @param {string[]} rooms
   */
  picture(rooms) {
    const known = new Set(this.rooms);
    if (rooms.length === known.size && rooms.every((id) => known.has(id))) return;
    this.rooms = rooms;
    for (const id of this.pictures.keys()) if (!rooms.includes(id)) this.pictures.delete(id);
    this.say({ pictures: rooms });
  }

  close() {
    this.link.close();
  }
}
