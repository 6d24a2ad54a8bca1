// An overlay on the board: the player's place, the podium, the ranking and the next actions; or why the page has lost
// the room.

import { GAMES } from '../games/index.js';
import { avatar } from '../lib/avatar.js';
import { copyButton, element, updateChildren } from '../lib/dom.js';
import { isolated } from '../lib/names.js';
import { named, person } from '../lib/person.js';
import { publicAddress } from '../lib/public.js';
import { champion, wins } from '../lib/series.js';
import { ordinal, say } from '../lib/text.js';
import { winnersText } from './labels.js';
import { reportButton } from './report.js';

/** @typedef {import('../games/types.js').Row} Row */
/**
 * @typedef {object} View
 * @property {string | null} own The seat of the player.
 * @property {(name: string) => import('../lib/face.js').Face} face
 * @property {string | null} match
 * @property {string} [counts]
 * @property {import('../lib/series.js').Entry[]} [series]
 * @property {(() => void) | null} again Starts another game.
 */

/** The places on the podium from left to right, by the index in the ranking. */
const PODIUM = [1, 0, 2];

export class Result {
  /**
   * @param {string} game
   * @param {HTMLElement} rematch The offer of a rematch.
   * @param {(isPrimary: boolean) => HTMLElement} [leave] Creates the link that leaves the room.
   */
  constructor(game, rematch, leave = lobbyLink) {
    this.game = game;
    this.leave = leave;
    this.shown = '';
    /** Whether the notice stays beside a result. */
    this.stays = false;
    this.notice = element('p', { class: 'notice', role: 'status', hidden: true });
    this.heading = element('h2', {});
    this.gap = element('p', { class: 'soft gap' });
    this.series = element('p', { class: 'soft series', hidden: true });
    this.podium = element('div', { class: 'podium', 'aria-hidden': 'true' });
    this.list = element('ol', { class: 'standings' });
    this.early = element('p', { class: 'soft', hidden: true }, say('result.left.note'));
    this.counts = element('p', { class: 'soft' });
    /** Filled by `AfterMatch`. */
    this.story = element('div');
    this.ranking = element('div', { class: 'ranking', tabindex: '0' }, this.heading, this.gap, this.series, this.podium, this.list, this.early, this.story, this.counts);
    this.actions = element('div', { class: 'act' });
    this.rematch = rematch;
    this.panel = element('section', { class: 'result', 'aria-label': say('page.result'), hidden: true }, element('div', { class: 'panel' }, this.notice, this.ranking, rematch, this.actions));
  }

  /** The offer of a rematch and the reason why the page has lost the room stay. */
  hide() {
    this.shown = '';
    this.ranking.hidden = true;
    this.notice.hidden = this.notice.textContent === '';
    this.panel.hidden = this.notice.hidden && this.rematch.hidden;
    if (this.notice.hidden) updateChildren(this.actions, this.leave(false));
  }

  /**
   * A result replaces the text unless it `stays`.
   * @param {string} text
   * @param {boolean} stays
   * @param {HTMLElement[]} again The button that enters the room again, if it is open to the player.
   */
  end(text, stays, again) {
    this.notice.textContent = text;
    this.stays = stays;
    const hasResult = !this.panel.hidden && !this.ranking.hidden;
    this.notice.hidden = hasResult && !stays;
    this.panel.hidden = false;
    if (!hasResult) updateChildren(this.actions, ...again, this.leave(again.length === 0));
  }

  /**
   * @param {Row[]} rows From best to worst.
   * @param {View} view
   */
  show(rows, { own, face: faceOf, match, counts = '', series = [], again }) {
    const facts = JSON.stringify([rows, own, match, counts, series, again !== null]);
    if (facts === this.shown) return;
    this.shown = facts;
    this.ranking.hidden = false;
    this.notice.hidden = !this.stays;
    const mine = rows.find(({ seat }) => seat === own);
    this.heading.textContent = headline(this.game, rows, mine);
    this.gap.textContent = gap(this.game, rows, mine);
    this.series.textContent = score(series);
    this.series.hidden = series.length === 0;
    const face = (/** @type {Row} */ row) => avatar(row.seat, faceOf(row.name), row.seat === own);
    const steps = rows.length < 2 || !hasWinner(this.game, rows) ? [] : PODIUM.flatMap((index) => rows[index] ?? []);
    updateChildren(
      this.podium,
      ...steps.map((row) =>
        element('div', { 'data-rank': String(row.rank) }, face(row), row.seat === own ? element('b', {}, say('result.you.short')) : element('b', {}, named(row.name)), element('span', { class: 'step' }, String(row.rank))),
      ),
    );
    updateChildren(
      this.list,
      ...rows.map((row) =>
        element(
          'li',
          { class: row.seat === own ? 'own' : '', value: String(row.rank) },
          element('span', { class: 'rank' }, `${row.rank}.`),
          face(row),
          person(row),
          ...(row.left ? [element('span', { class: 'tag' }, say('result.left'))] : []),
          element('span', { class: 'value' }, row.detail ?? GAMES[this.game].score(row.score)),
        ),
      ),
    );
    this.counts.textContent = counts;
    this.early.hidden = !rows.some(({ left }) => left);
    const replay = match ? `/matches/${encodeURIComponent(match)}` : null;
    updateChildren(
      this.actions,
      ...(again ? [element('button', { type: 'button', class: 'primary again', 'data-key': 'again', click: again }, say('result.rematch'))] : []),
      ...(replay ? [element('a', { class: 'button', href: replay }, say('page.replay'))] : []),
      // A class and a challenge have results of their own.
      ...(this.leave === lobbyLink ? [copyButton(() => shareText(this.game, rows, replay), say('result.share'))] : []),
      ...(match && own !== null ? reportButton(match, rows, own) : []),
      this.leave(false),
    );
    this.panel.hidden = false;
  }
}

/** @param {boolean} isPrimary */
const lobbyLink = (isPrimary) => element('a', { class: isPrimary ? 'button primary' : 'button quiet', href: '/' }, say('page.lobby'));

/** Names with a win, and people. @param {import('../lib/series.js').Entry[]} series */
function score(series) {
  const name = champion(series);
  const counts = wins(series).map(([one, count]) => `${isolated(one)} ${count}`).join(' · ');
  return name === null ? say('series.score', { counts }) : say('series.won', { name, counts });
}

/** @param {string} game @param {Row[]} rows */
const hasWinner = (game, rows) => rows.some((row) => !GAMES[game].isLost?.(row.score));

/**
 * The winners for a spectator.
 * @param {string} game
 * @param {Row[]} rows
 * @param {Row | undefined} mine
 */
function headline(game, rows, mine) {
  if (!hasWinner(game, rows)) return say('result.nobody');
  if (!mine || rows.length < 2) return winnersText(rows);
  if (mine.rank > 1) return say('result.place', { place: ordinal(mine.rank) });
  return say(rows.filter(({ rank }) => rank === 1).length === 1 ? 'result.you' : 'result.tie');
}

/**
 * The distance from the winner, or from the second place.
 * @param {string} game
 * @param {Row[]} rows
 * @param {Row | undefined} mine
 */
function gap(game, rows, mine) {
  const other = mine && rows.find(({ seat, rank }) => seat !== mine.seat && (mine.rank > 1 ? rank === 1 : rank > 1));
  if (!mine || !other) return '';
  const { gap: distance, fewerWins = false, isLost } = GAMES[game];
  if (isLost?.(Math.max(mine.score, other.score))) return '';
  const key = mine.rank > 1 ? (fewerWins ? 'result.more' : 'result.behind') : fewerWins ? 'result.fewer' : 'result.ahead';
  return say(key, { gap: distance(Math.abs(mine.score - other.score)), name: other.name });
}

/**
 * @param {string} game
 * @param {Row[]} rows
 * @param {string | null} replay
 */
function shareText(game, rows, replay) {
  const { title, score } = GAMES[game];
  return [
    `${title}: ${winnersText(rows)}`,
    ...rows.map((row) => `${row.rank}. ${isolated(row.name)}: ${score(row.score)}`),
    ...(replay ? [publicAddress(replay)] : []),
  ].join('\n');
}
