// Live pictures of occupied rooms in the viewport.

import { GAMES } from '../games/index.js';
import { Surface } from '../lib/canvas.js';
import { say } from '../lib/text.js';

/** @typedef {import('../games/types.js').Room} Room */

/** Subscriptions; see MAX_PICTURES in live.rs. */
const MAX_WATCHED = 12;
/** Debounce interval of the subscription, in milliseconds. */
const SETTLE = 150;

class Thumbnail {
  /**
   * @param {Room} room
   * @param {HTMLElement} place
   */
  constructor(room, place) {
    this.place = place;
    this.inSight = false;
    this.isLive = room.taken > 0;
    /** @type {import('../lib/live.js').Parts | null} */
    this.parts = null;
    const { title, picture } = GAMES[room.game];
    this.picture = picture();
    this.surface = new Surface(place, say('lobby.picture', { game: title }), (context, width, height) => this.picture.draw(context, width, height, this.parts));
  }
}

export class Thumbnails {
  /** @param {(rooms: string[]) => void} ask Replaces the subscription by these rooms. */
  constructor(ask) {
    this.ask = ask;
    /** @type {Map<string, Thumbnail>} */
    this.all = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
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
    const isLive = taken > 0;
    if (!one || one.isLive === isLive) return;
    one.isLive = isLive;
    this.choose();
  }

  /**
   * @param {string} id
   * @param {import('../lib/live.js').Parts | null} parts
   */
  show(id, parts) {
    const one = this.all.get(id);
    if (!one) return;
    one.parts = parts;
    one.surface.change();
  }

  /** @param {string} id */
  drop(id) {
    const one = this.all.get(id);
    if (!one) return;
    this.observer.unobserve(one.place);
    one.surface.stop();
    this.all.delete(id);
    this.choose();
  }

  /** Updates the subscription when scrolling has paused. */
  choose() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const seen = [...this.all].filter(([, { inSight, isLive }]) => inSight && isLive && !document.hidden);
      this.ask(seen.slice(0, MAX_WATCHED).map(([id]) => id));
    }, SETTLE);
  }

  stop() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    document.removeEventListener('visibilitychange', this.hidden);
    for (const { surface } of this.all.values()) surface.stop();
  }
}
