// The time before a match: the countdown for bots with a button that adds them now, or the wait for the next match.

import { ask, errorText } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { visit, word } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { waitInWords } from './words.js';

/** @typedef {import('../games/types.js').Room} Room */

/** Update interval of the countdown in milliseconds. */
const TICK = 250;

export class Waiting {
  /**
   * @param {string} id Of the room.
   * @param {boolean} next Whether the player waits for the next match.
   */
  constructor(id, next) {
    this.next = next;
    /** The estimate of the wait by the hub, in words. */
    this.expected = expectation(id);
    this.text = element('span', { 'aria-live': 'polite' });
    this.button = element('button', { type: 'button' });
    this.button.addEventListener('click', async () => {
      this.button.disabled = true;
      try {
        await ask(`/api/rooms/${id}/bots`, { fill: true, ...word(id) });
      } catch (error) {
        // The next update of the room restarts the countdown.
        this.stop();
        this.text.textContent = errorText(error);
      }
      this.button.disabled = false;
    });
    this.panel = element('p', { class: 'row waits', hidden: true }, this.text, this.button);
    this.may = true;
    /** When bots join, by `performance.now()`. @type {number | null} */
    this.due = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticks = undefined;
  }

  /** @param {Room} room */
  show(room) {
    // The estimate is void once the match runs, or the countdown for bots is known.
    if (room.phase !== 'lobby' || typeof room.bots_in === 'number') this.expected = '';
    // In a room with an owner only the owner adds bots.
    this.may = room.owned !== true || word(room.id).owner !== undefined;
    // In a room with a countdown, bots alone do not start the match.
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
 * Stores the estimate of the wait for the page of a room.
 * @param {{ id: string, wait?: number | null }} room
 */
export const expect = ({ id, wait }) => visit.remember(`wait ${id}`, wait === undefined ? null : String(wait));

/**
 * Takes the stored estimate, in words.
 * @param {string} id
 */
function expectation(id) {
  const kept = visit.recall(`wait ${id}`);
  visit.remember(`wait ${id}`, null);
  return kept === null ? '' : waitInWords(kept === 'null' ? null : Number(kept));
}

/**
 * Lets a late player choose between the running match and the next one.
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
