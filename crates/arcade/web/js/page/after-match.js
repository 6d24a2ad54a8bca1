// After a match: the moment that decided it, further highlights, and the change of the player's rating.

import { request } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { MAX_WINDOW, frame } from '../lib/playback.js';
import { ratingAfter } from '../lib/rating.js';
import { say } from '../lib/text.js';
import { keepButton } from './name-dialog.js';

/** @typedef {import('../games/types.js').Story} Story */
/** @typedef {import('../games/types.js').Row} Row */

/** The largest number of sentences. */
const MOST = 3;
/** Requests for a match that is not stored yet, with a pause before each in milliseconds. */
const ATTEMPTS = 3;
const PAUSE = 1500;
/** How long before a moment its replay starts, in milliseconds. */
const BEFORE = 2000;

export class AfterMatch {
  /**
   * @param {string} game
   * @param {Story | undefined} story
   * @param {() => void} changed Called when the match turns out to be casual.
   */
  constructor(game, story, changed) {
    this.game = game;
    this.story = story;
    this.changed = changed;
    /** @type {string | null} */
    this.match = null;
    /** Why the match is casual. @type {string | null} */
    this.casual = null;
    this.list = element('ul', { class: 'story' });
    this.rating = element('p', { class: 'soft rating', hidden: true });
    /** For guests. */
    this.keep = element('p', {});
    this.panel = element('div', {}, this.list, this.rating, this.keep);
  }

  /**
   * @param {string | null} match
   * @param {Row[]} rows Its result.
   * @param {string | null} own The player's seat.
   * @param {() => Promise<string[]>} sentences Of the game, which has facts that the journal lacks.
   */
  async show(match, rows, own, sentences) {
    if (match === null || match === this.match) return;
    this.match = match;
    this.casual = null;
    this.list.replaceChildren();
    this.rating.hidden = true;
    this.keep.replaceChildren(...(own === null ? [] : keepButton()));
    const known = await sentences();
    if (this.match !== match) return;
    this.list.replaceChildren(...known.map((text) => element('li', {}, text)));
    const path = `/api/matches/${encodeURIComponent(match)}`;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (this.match !== match) return;
      try {
        const [{ players, casual }, timeline] = await Promise.all([request(path), this.story ? request(`${path}/timeline`) : { length: 0, marks: [] }]);
        if (this.match !== match) return;
        const frames = (to = Math.floor(timeline.length)) => request(`${path}/frames?from=${Math.max(0, to - MAX_WINDOW)}&to=${to}`).then((answer) => answer.frames.map(frame), () => []);
        const highlights = ((await this.story?.(timeline.marks, rows, frames)) ?? []).slice(0, MOST - known.length);
        if (this.match !== match) return;
        this.list.append(...highlights.map((moment, index) => this.line(moment, index === 0)));
        // An error here does not repeat the request for the match.
        await this.showRating(players.find((/** @type {{ seat: string }} */ { seat }) => seat === own)).catch(() => {});
        this.casual = casual ?? null;
        if (casual !== undefined) this.changed();
        return;
      } catch {
        // The match is not stored yet, or the database does not answer.
      }
    }
  }

  /**
   * The first one has a button, the others are links.
   * @param {import('../games/types.js').Moment} moment
   * @param {boolean} isFirst
   */
  line({ at, text }, isFirst) {
    const href = `/matches/${encodeURIComponent(this.match ?? '')}?at=${Math.max(0, at - BEFORE)}`;
    if (!isFirst) return element('li', {}, element('a', { href }, text));
    return element('li', { class: 'moment' }, element('b', {}, text), element('a', { class: 'button', href }, say('page.watch')));
  }

  /** @param {{ name: string, rank: number, rating: number | null, proven: boolean } | undefined} own */
  async showRating(own) {
    if (!own || own.rating === null) return;
    const { games } = await request(`/api/players/${encodeURIComponent(own.name)}?kind=${own.proven ? 'proven' : 'unproven'}`);
    const boards = /** @type {import('../lib/rating.js').RatingHistory[]} */ (games[this.game] ?? []);
    const board = boards.find(({ history }) => history[history.length - 1]?.[1] === own.rating);
    if (!board) return;
    this.rating.textContent = ratingAfter(board);
    this.rating.hidden = false;
  }
}
