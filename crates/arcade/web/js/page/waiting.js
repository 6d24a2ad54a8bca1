// A room that waits: when bots come, with a button that has them come now; or the next match, for somebody who came late to this one.

import { ask, errorText } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { visit, word } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { waitInWords } from './words.js';

/** @typedef {import('../games/types.js').Room} Room */

/** How often the seconds are shown, in milliseconds. */
const TICK = 250;

export class Waiting {
  /**
   * @param {string} id Of the room.
   * @param {boolean} next Whether one waits for the next match.
   */
  constructor(id, next) {
    this.next = next;
    /** What the hub has said of the wait when it led here, in words. */
    this.expected = expectation(id);
    this.text = element('span', { 'aria-live': 'polite' });
    this.button = element('button', { type: 'button' });
    this.button.addEventListener('click', async () => {
      this.button.disabled = true;
      try {
        await ask(`/api/rooms/${id}/bots`, { fill: true, ...word(id) });
      } catch (error) {
        // The next news of the room counts on.
        this.stop();
        this.text.textContent = errorText(error);
      }
      this.button.disabled = false;
    });
    this.panel = element('p', { class: 'row waits', hidden: true }, this.text, this.button);
    this.may = true;
    /** When bots come, by `performance.now()`. @type {number | null} */
    this.due = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticks = undefined;
  }

  /** @param {Room} room */
  show(room) {
    // It is over as soon as there is something to play, or more is known.
    if (room.phase !== 'lobby' || typeof room.bots_in === 'number') this.expected = '';
    // In a room that somebody owns, bots come by the word of the owner.
    this.may = room.owned !== true || word(room.id).owner !== undefined;
    // Where a countdown follows, bots alone do not begin the match.
    this.button.textContent = room.options?.['countdown'] === undefined ? say('waits.start') : say('waits.bring');
    if (typeof room.bots_in !== 'number' || room.phase === 'over') this.stop();
    else if (this.due === null) {
      this.due = performance.now() + room.bots_in * 1000;
      this.ticks = setInterval(() => this.tick(), TICK);
    }
    this.tick();
  }

  tick() {
    const { due } = this;
    this.button.hidden = due === null || !this.may;
    if (due !== null) {
      const seconds = Math.max(0, Math.ceil((due - performance.now()) / 1000));
      this.text.textContent = say('waits.bots', { seconds });
    } else this.text.textContent = this.next ? say('waits.next') : this.expected;
    this.panel.hidden = this.text.textContent === '';
  }

  stop() {
    clearInterval(this.ticks);
    this.due = null;
  }
}

/**
 * Keeps what the hub says of the wait in a room until its page is there.
 * @param {{ id: string, wait?: number | null }} room
 */
export const expect = ({ id, wait }) => visit.remember(`wait ${id}`, wait === undefined ? null : String(wait));

/**
 * What was kept of it, in words; it is told once.
 * @param {string} id
 */
function expectation(id) {
  const kept = visit.recall(`wait ${id}`);
  visit.remember(`wait ${id}`, null);
  return kept === null ? '' : waitInWords(kept === 'null' ? null : Number(kept));
}

/**
 * Asks somebody who comes late to a match what to play.
 * @param {HTMLElement} main
 * @param {string} game The title of the game.
 * @returns {Promise<'now' | 'next'>}
 */
export const askLate = (main, game) =>
  new Promise((resolve) => {
    const next = element('button', { type: 'button', class: 'primary', click: () => resolve('next') }, say('late.next'));
    main.replaceChildren(
      element('h1', {}, game),
      element('p', {}, say('late.text')),
      element(
        'div',
        { class: 'row' },
        next,
        element('button', { type: 'button', click: () => resolve('now') }, say('late.now')),
        element('a', { class: 'button', href: '/' }, say('page.lobby')),
      ),
    );
    next.focus();
  });
