// What is shown in place of the board before a match: the invitation, the players with free seats, the start, and the
// rules as pictures.

import { errorText, request } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { ratedText } from '../lib/rating.js';
import { rulePictures } from '../lib/rules.js';
import { roomProof } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { takeExpectedWait } from './expected-wait.js';
import { isAlone, waitInWords } from './labels.js';

/** @typedef {import('../games/types.js').Room} Room */

/** Update interval of the countdown in milliseconds. */
const TICK = 250;

export class WaitingRoom {
  /**
   * @param {string} id Of the room.
   * @param {import('../lib/rules.js').Rule[]} rules Of the game.
   * @param {{ level: () => string, start: (level: string) => void }} room `start` starts the match as its owner.
   */
  constructor(id, rules, { level, start }) {
    /** The estimate of the wait by the hub, in words. */
    const expected = takeExpectedWait(id);
    this.expected = expected === undefined ? '' : waitInWords(expected);
    this.heading = element('h2', {});
    this.text = element('p', { class: 'soft', 'aria-live': 'polite' });
    /** Whether the match is rated. */
    this.counts = element('p', { class: 'soft' });
    this.button = element('button', { type: 'button', class: 'primary large' });
    this.button.addEventListener('click', async () => {
      if (roomProof(id).owner !== undefined && !this.startsAlone) return start(level());
      this.button.disabled = true;
      try {
        await request(`/api/rooms/${id}/bots`, { fill: true, ...roomProof(id) });
      } catch (error) {
        // The next update of the room restarts the countdown.
        this.stop();
        this.text.textContent = errorText(error);
      }
      this.button.disabled = false;
      return undefined;
    });
    /** The places of the list of players and of the invitation. */
    this.seats = element('div');
    this.share = element('div');
    this.join = element('section', { class: 'panel join' }, element('h2', {}, say('waits.join')), this.share);
    this.panel = element(
      'div',
      { class: 'waiting', hidden: true },
      this.join,
      element('section', { class: 'panel' }, element('div', { class: 'row head' }, element('div', {}, this.heading, this.counts, this.text), this.button), this.seats, rulePictures(rules)),
    );
    /** The countdown starts the match. */
    this.startsAlone = false;
    this.offers = false;
    /** When bots join, by `performance.now()`. @type {number | null} */
    this.botsAt = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticks = undefined;
  }

  /**
   * @param {Room} room
   * @param {boolean} joined Whether this is the page of a player in the room.
   */
  show(room, joined) {
    // The estimate is void once the match runs, or the countdown for bots is known.
    if (room.phase !== 'lobby' || typeof room.bots_in === 'number') this.expected = '';
    this.startsAlone = room.options?.['countdown'] !== undefined || isAlone(room);
    // In a room with an owner only the owner adds bots.
    const canAdd = room.owned !== true || roomProof(room.id).owner !== undefined;
    this.offers = canAdd && room.visibility !== 'challenge' && joined && room.taken < room.seats && (!this.startsAlone || typeof room.bots_in === 'number');
    // Members of a class find the room on its page, and no other person plays in a challenge.
    this.join.hidden = room.visibility === 'class' || room.visibility === 'challenge';
    this.panel.dataset.visibility = room.visibility ?? 'public';
    this.counts.textContent = ratedText(room);
    this.heading.textContent = room.visibility === 'challenge' ? say('challenge.starts') : say('waits.players', { taken: room.taken, seats: room.seats });
    this.button.textContent = say(this.startsAlone ? 'waits.bring' : 'waits.start');
    if (typeof room.bots_in !== 'number' || room.phase === 'over') this.stop();
    else if (this.botsAt === null) {
      this.botsAt = performance.now() + room.bots_in * 1000;
      this.ticks = setInterval(() => this.tick(), TICK);
    }
    this.tick();
  }

  tick() {
    const { botsAt } = this;
    this.button.hidden = !this.offers;
    if (botsAt !== null) {
      const seconds = Math.max(0, Math.ceil((botsAt - performance.now()) / 1000));
      this.text.textContent = say('waits.bots', { seconds });
    } else this.text.textContent = this.expected;
  }

  stop() {
    clearInterval(this.ticks);
    this.botsAt = null;
  }
}

/**
 * Lets a late player choose between the running match and the next one.
 * @param {HTMLElement} main
 * @param {string} game The title of the game.
 * @returns {Promise<'now' | 'next'>}
 */
export const offerNextMatch = (main, game) =>
  new Promise((resolve) => {
    const next = element('button', { type: 'button', class: 'primary', click: () => resolve('next') }, say('late.next'));
    main.replaceChildren(
      element('h1', {}, game),
      element(
        'div',
        { class: 'panel word' },
        element('p', {}, say('late.text')),
        element(
          'div',
          { class: 'row' },
          next,
          element('button', { type: 'button', click: () => resolve('now') }, say('late.now')),
          element('a', { class: 'button', href: '/' }, say('page.lobby')),
        ),
      ),
    );
    next.focus();
  });
