// The result of a match: the winner, the ranking and the next actions.

import { GAMES } from '../games/index.js';
import { copyButton, element, renew } from '../lib/dom.js';
import { isolated } from '../lib/names.js';
import { person, shortSeat } from '../lib/person.js';
import { say } from '../lib/text.js';
import { reportButton } from './report.js';
import { winners } from './words.js';

/** @typedef {import('../games/types.js').Row} Row */

/** The panel with the result. */
export class Result {
  /** @param {string} game */
  constructor(game) {
    this.game = game;
    this.shown = '';
    this.heading = element('h2', {});
    this.list = element('ol', { class: 'standings' });
    this.early = element('p', { class: 'soft', hidden: true }, say('result.left.note'));
    this.counts = element('p', { class: 'soft' });
    /** Filled by `AfterMatch`. */
    this.story = element('div');
    this.actions = element('div', { class: 'row' });
    this.panel = element('section', { class: 'result', 'aria-label': say('page.result'), hidden: true }, this.heading, this.list, this.early, this.counts, this.story, this.actions);
  }

  hide() {
    this.panel.hidden = true;
    this.shown = '';
  }

  /**
   * @param {Row[]} rows
   * @param {{ own: string | null, colour: (seat: string) => string | null, match: string | null, counts?: string, again: (() => void) | null }} view
   *   `again` starts another game.
   */
  show(rows, { own, colour, match, counts = '', again }) {
    const facts = JSON.stringify([rows, own, match, again !== null]);
    if (facts === this.shown) return;
    this.shown = facts;
    const mine = rows.find(({ seat }) => seat === own);
    const alone = rows.filter(({ rank }) => rank === 1).length === 1;
    this.heading.textContent = mine?.rank === 1 && alone && rows.length > 1 ? say('result.you') : winners(rows);
    renew(
      this.list,
      ...rows.map((row) => {
        const mark = element('span', { class: 'mark' }, shortSeat(row.seat));
        mark.style.setProperty('--mark', colour(row.seat) ?? 'var(--line)');
        return element(
          'li',
          { class: row.seat === own ? 'own' : '', value: String(row.rank) },
          element('span', { class: 'rank' }, `${row.rank}.`),
          mark,
          person(row),
          ...(row.left ? [element('span', { class: 'tag' }, say('result.left'))] : []),
          element('span', { class: 'value' }, GAMES[this.game].score(row.score)),
        );
      }),
    );
    this.counts.textContent = counts;
    this.early.hidden = !rows.some(({ left }) => left);
    const replay = match ? `/matches/${encodeURIComponent(match)}` : null;
    renew(
      this.actions,
      ...(again ? [element('button', { type: 'button', class: 'primary again', 'data-key': 'again', click: again }, say('result.rematch'))] : []),
      ...(replay ? [element('a', { class: 'button', href: replay }, say('page.replay'))] : []),
      copyButton(() => shareText(this.game, rows, replay), say('result.share')),
      ...(match && own !== null ? reportButton(match, rows, own) : []),
      element('a', { class: 'button', href: '/' }, say('page.lobby')),
    );
    this.panel.hidden = false;
  }
}

/**
 * The result as text for the clipboard.
 * @param {string} game
 * @param {Row[]} rows
 * @param {string | null} replay
 */
function shareText(game, rows, replay) {
  const { title, score } = GAMES[game];
  return [
    `${title}: ${winners(rows)}`,
    ...rows.map((row) => `${row.rank}. ${isolated(row.name)}: ${score(row.score)}`),
    ...(replay ? [location.origin + replay] : []),
  ].join('\n');
}
