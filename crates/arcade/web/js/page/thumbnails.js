// Live pictures of rooms. Only occupied rooms in the viewport are watched, at most MAX_WATCHED at a time, since each costs the hub
// resources. The hub counts none of them as a watcher.

import { GAMES } from '../games/index.js';
import { Surface } from '../lib/canvas.js';
import { Link, socketAddress } from '../lib/link.js';

/** @typedef {import('../games/types.js').Room} Room */

/** Rooms that are watched at the same time. */
const MAX_WATCHED = 6;
/** The shape of a picture. */
const ASPECT = 0.5;

/** One picture. */
class Thumbnail {
  /**
   * @param {Room} room
   * @param {HTMLElement} place
   */
  constructor(room, place) {
    this.id = room.id;
    this.place = place;
    this.picture = GAMES[room.game].picture();
    this.inSight = false;
    this.isLive = room.taken > 0;
    /** @type {Link | null} */
    this.link = null;
    this.surface = new Surface(place, `${GAMES[room.game].title} as it is now`, (context, width) => {
      this.surface.setHeight(Math.round(width * ASPECT));
      this.picture.draw(context, width, this.surface.height);
    });
  }

  watch() {
    if (this.link) return;
    this.link = new Link(() => socketAddress(`/rooms/${this.id}/socket`, { watch: 'true', preview: 'true' }), {
      message: (data) => {
        if (typeof data === 'string' && data.startsWith('{')) return;
        this.picture.message(data);
        this.surface.change();
      },
      state: ({ kind }) => {
        // The room closes its sockets after each game; the next lobby update opens another.
        if (kind === 'ended') this.unwatch();
      },
    });
  }

  unwatch() {
    this.link?.close();
    this.link = null;
  }
}

/** The pictures of the lobby. */
export class Thumbnails {
  constructor() {
    /** @type {Map<string, Thumbnail>} */
    this.all = new Map();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        for (const one of this.all.values()) if (one.place === target) one.inSight = isIntersecting;
      }
      this.choose();
    });
    this.hidden = () => this.choose();
    document.addEventListener('visibilitychange', this.hidden);
  }

  /**
   * @param {Room} room
   * @param {HTMLElement} place
   */
  add(room, place) {
    this.all.set(room.id, new Thumbnail(room, place));
    this.observer.observe(place);
  }

  /** @param {Room} room */
  update({ id, taken }) {
    const one = this.all.get(id);
    if (!one) return;
    const isLive = taken > 0;
    if (one.isLive === isLive && (!isLive || !one.inSight || one.link)) return;
    one.isLive = isLive;
    this.choose();
  }

  /** @param {string} id */
  drop(id) {
    const one = this.all.get(id);
    if (!one) return;
    this.observer.unobserve(one.place);
    one.unwatch();
    one.surface.stop();
    this.all.delete(id);
    this.choose();
  }

  choose() {
    let free = document.hidden ? 0 : MAX_WATCHED;
    for (const one of this.all.values()) {
      if (one.inSight && one.isLive && free > 0) {
        free -= 1;
        one.watch();
      } else {
        one.unwatch();
      }
    }
  }

  stop() {
    for (const id of [...this.all.keys()]) this.drop(id);
    this.observer.disconnect();
    document.removeEventListener('visibilitychange', this.hidden);
  }
}
