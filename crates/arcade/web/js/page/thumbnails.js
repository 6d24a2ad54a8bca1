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
   * @param {string} game
   * @param {HTMLElement} place
   */
  constructor(game, place) {
    this.place = place;
    this.inSight = false;
    /** The occupied room that is shown. @type {string | null} */
    this.room = null;
    /** @type {import('../lib/live.js').Parts | null} */
    this.parts = null;
    const { title, picture } = GAMES[game];
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
   * @param {string} id
   * @param {string} game
   * @param {HTMLElement} place
   */
  add(id, game, place) {
    this.all.set(id, new Thumbnail(game, place));
    this.observer.observe(place);
  }

  /**
   * Shows a room, or an example if it is empty.
   * @param {string} id
   * @param {Room | undefined} room
   */
  update(id, room) {
    const one = this.all.get(id);
    const shown = room && room.taken > 0 ? room.id : null;
    if (!one || one.room === shown) return;
    one.room = shown;
    one.parts = [...this.all.values()].find((other) => other !== one && shown !== null && other.room === shown)?.parts ?? null;
    one.surface.change();
    this.choose();
  }

  /**
   * @param {string} room
   * @param {import('../lib/live.js').Parts | null} parts
   */
  show(room, parts) {
    for (const one of this.all.values()) {
      if (one.room !== room) continue;
      one.parts = parts;
      one.surface.change();
    }
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
      const seen = [...this.all.values()].flatMap(({ inSight, room }) => (inSight && room !== null && !document.hidden ? [room] : []));
      this.ask([...new Set(seen)].slice(0, MAX_WATCHED));
    }, SETTLE);
  }

  stop() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    document.removeEventListener('visibilitychange', this.hidden);
    for (const { surface } of this.all.values()) surface.stop();
  }
}
