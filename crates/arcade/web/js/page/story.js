// After a match: its highlights with links into the replay, and the change of the player's rating.

import { ask } from '../lib/api.js';
import { countsText } from '../lib/counts.js';
import { element } from '../lib/dom.js';
import { number, say } from '../lib/text.js';

/** @typedef {import('../games/types.js').Story} Story */

/** The largest number of sentences. */
const MOST = 3;
/** Requests for a match that is not stored yet, and the pause before each in milliseconds. */
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
    /** The match that is shown. @type {string | null} */
    this.match = null;
    this.list = element('ul', { class: 'story' });
    this.rating = element('p', { class: 'soft', hidden: true });
    this.panel = element('div', {}, this.list, this.rating);
  }

  /**
   * @param {string | null} match
   * @param {{ name: string, seat: string } | null} own The player's row of the result.
   * @param {() => Promise<string[]>} tell Returns sentences that the page itself knows.
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
        // An error here does not repeat the request for the match.
        await this.showRating(players.find((/** @type {{ seat: string }} */ { seat }) => seat === own?.seat)).catch(() => {});
        // Reasons that are known only after the match.
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
