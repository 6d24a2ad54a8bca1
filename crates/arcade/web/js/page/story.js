// After a match: what happened, in a few sentences that lead to their moments, and what the match has changed of one's rating.

import { ask } from '../lib/api.js';
import { countsText } from '../lib/counts.js';
import { element } from '../lib/dom.js';
import { number, say } from '../lib/text.js';

/** @typedef {import('../games/types.js').Story} Story */

/** Sentences that are shown. */
const MOST = 3;
/** How often a match is asked for that is not stored yet, and after which pause in milliseconds. */
const ATTEMPTS = 3;
const PAUSE = 1500;

export class AfterMatch {
  /**
   * @param {string} game
   * @param {Story | undefined} story
   */
  constructor(game, story) {
    this.game = game;
    this.story = story;
    /** The match that is told. @type {string | null} */
    this.match = null;
    this.list = element('ul', { class: 'story' });
    this.rating = element('p', { class: 'soft', hidden: true });
    this.panel = element('div', {}, this.list, this.rating);
  }

  /**
   * @param {string | null} match
   * @param {{ name: string, seat: string } | null} own The own row of the result.
   * @param {() => Promise<string[]>} tell What the page itself can tell.
   */
  async show(match, own, tell) {
    if (match === null || match === this.match) return;
    this.match = match;
    this.list.replaceChildren();
    this.rating.hidden = true;
    const known = await tell();
    if (this.match !== match) return;
    this.list.replaceChildren(...known.map((text) => element('li', {}, text)));
    const path = `/api/matches/${encodeURIComponent(match)}`;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (this.match !== match) return;
      try {
        const [{ players, casual }, timeline] = await Promise.all([ask(path), this.story ? ask(`${path}/timeline`) : { marks: [] }]);
        if (this.match !== match) return;
        const told = this.story?.(timeline.marks).slice(0, MOST - known.length) ?? [];
        this.list.append(...told.map(({ at, text }) => element('li', {}, element('a', { href: `/matches/${encodeURIComponent(match)}?at=${at}` }, text))));
        // A rating that cannot be had is no reason to ask again.
        await this.showRating(players.find((/** @type {{ seat: string }} */ { seat }) => seat === own?.seat)).catch(() => {});
        // What the room itself could not know before.
        if (casual !== undefined && casual !== 'seed' && casual !== 'options') {
          this.rating.textContent = countsText({ casual });
          this.rating.hidden = false;
        }
        return;
      } catch {
        // The match is not stored yet, or the database does not answer.
      }
    }
  }

  /** @param {{ name: string, rating: number | null, proven: boolean } | undefined} own */
  async showRating(own) {
    if (!own || own.rating === null) return;
    const { games } = await ask(`/api/players/${encodeURIComponent(own.name)}?kind=${own.proven ? 'proven' : 'unproven'}`);
    const boards = /** @type {{ history: [string, number][] }[]} */ (games[this.game] ?? []);
    const history = boards.find(({ history }) => history[history.length - 1]?.[1] === own.rating)?.history ?? [];
    const before = history[history.length - 2]?.[1];
    const change = before === undefined ? null : own.rating - before;
    const { rating } = own;
    this.rating.textContent = change === null ? say('result.rating', { rating }) : say('result.rating.change', { rating, change: (change >= 0 ? '+' : '−') + number(Math.abs(change)) });
    this.rating.hidden = false;
  }
}
