// Slows the dealer's messages down: a verdict stays until the player continues, and cards appear one by one. The table
// does not wait, so the time limit of the next decision runs meanwhile.

import { SECONDS } from './protocol.js';

/** @typedef {import('./protocol.js').BlackjackMessage} BlackjackMessage */

/** Milliseconds from one card to the next. */
const STEP = 150;
/** If fewer seconds remain for the next decision, the page continues by itself. */
const LATE = 10;
/** Update interval of the remaining time, in milliseconds. */
const TICK = 250;

export class Pace {
  /**
   * @param {object} page
   * @param {(message: BlackjackMessage) => boolean} page.take Shows a message. Returns whether it stays until the player continues.
   * @param {() => void} page.tick Shows the remaining time.
   * @param {boolean} page.still Whether cards appear without pauses.
   */
  constructor({ take, tick, still }) {
    this.take = take;
    this.tick = tick;
    this.still = still;
    /** Messages that are not shown yet. @type {BlackjackMessage[]} */
    this.queue = [];
    /** A verdict stays until the player continues. */
    this.isPaused = false;
    /** Deadline of the decision, by `performance.now()`. @type {number | null} */
    this.endsAt = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.step = undefined;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticks = undefined;
  }

  /** Remaining seconds for a decision; null if the table does not wait for one. */
  get left() {
    return this.endsAt === null ? null : Math.max(0, Math.ceil((this.endsAt - performance.now()) / 1000));
  }

  /** @param {BlackjackMessage} message */
  put(message) {
    if (message.kind === 'decision') this.expect();
    if (message.kind === 'quit') {
      this.answered();
      // The last verdict stays, unless the player has missed the deadline.
      if (this.isPaused && this.queue.length === 0) {
        this.take(message);
        return;
      }
      this.isPaused = false;
    }
    this.queue.push(message);
    this.run();
  }

  resume() {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.run();
    this.tick();
  }

  answered() {
    clearInterval(this.ticks);
    this.endsAt = null;
  }

  stop() {
    this.answered();
    clearTimeout(this.step);
  }

  expect() {
    clearInterval(this.ticks);
    this.endsAt = performance.now() + SECONDS * 1000;
    this.ticks = setInterval(() => {
      if ((this.left ?? SECONDS) <= LATE) this.resume();
      this.tick();
    }, TICK);
  }

  run() {
    if (this.step !== undefined) return;
    for (let message = this.isPaused ? undefined : this.queue.shift(); message; message = this.isPaused ? undefined : this.queue.shift()) {
      this.isPaused = this.take(message);
      const isCard = message.kind === 'card' || message.kind === 'dealer';
      // A page that is a round behind does not pause.
      if (!isCard || this.still || this.queue.some(({ kind }) => kind === 'result' || kind === 'quit')) continue;
      this.step = setTimeout(() => {
        this.step = undefined;
        this.run();
      }, STEP);
      return;
    }
  }
}
