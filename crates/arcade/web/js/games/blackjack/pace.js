// What the dealer says, at the pace of a person: a verdict stays until the player goes on, and cards come one after the other. The table
// does not wait for that, so its time for the next answer runs meanwhile.

import { SECONDS } from './protocol.js';

/** @typedef {import('./protocol.js').BlackjackMessage} BlackjackMessage */

/** Milliseconds from one card to the next. */
const STEP = 150;
/** Seconds that have to be left for the next answer; then the page goes on by itself. */
const LATE = 10;
/** How often the time that is left is shown, in milliseconds. */
const TICK = 250;

export class Pace {
  /**
   * @param {object} page
   * @param {(message: BlackjackMessage) => boolean} page.take Shows a message. Returns whether it stays until the player goes on.
   * @param {() => void} page.tick Shows the time that is left.
   * @param {boolean} page.still Whether cards come at once.
   */
  constructor({ take, tick, still }) {
    this.take = take;
    this.tick = tick;
    this.still = still;
    /** What the dealer has said and the page does not show yet. @type {BlackjackMessage[]} */
    this.queue = [];
    /** Whether the player has to go on. */
    this.held = false;
    /** When the table stops waiting for an answer, by `performance.now()`. @type {number | null} */
    this.due = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.step = undefined;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticks = undefined;
  }

  /** Seconds that are left for an answer; null if the table does not wait for one. */
  get left() {
    return this.due === null ? null : Math.max(0, Math.ceil((this.due - performance.now()) / 1000));
  }

  /** @param {BlackjackMessage} message */
  put(message) {
    if (message.kind === 'decision') this.expect();
    if (message.kind === 'quit') {
      this.answered();
      // The verdict of the last round stays. Without an answer in time nothing does.
      if (this.held && this.queue.length === 0) {
        this.take(message);
        return;
      }
      this.held = false;
    }
    this.queue.push(message);
    this.run();
  }

  /** The player has seen the verdict. */
  goOn() {
    if (!this.held) return;
    this.held = false;
    this.run();
    this.tick();
  }

  /** The table waits no more. */
  answered() {
    clearInterval(this.ticks);
    this.due = null;
  }

  stop() {
    this.answered();
    clearTimeout(this.step);
  }

  expect() {
    clearInterval(this.ticks);
    this.due = performance.now() + SECONDS * 1000;
    this.ticks = setInterval(() => {
      if ((this.left ?? SECONDS) <= LATE) this.goOn();
      this.tick();
    }, TICK);
  }

  run() {
    if (this.step !== undefined) return;
    for (let message = this.held ? undefined : this.queue.shift(); message; message = this.held ? undefined : this.queue.shift()) {
      this.held = this.take(message);
      const isCard = message.kind === 'card' || message.kind === 'dealer';
      // A page that is a round behind does not wait.
      if (!isCard || this.still || this.queue.some(({ kind }) => kind === 'result' || kind === 'quit')) continue;
      this.step = setTimeout(() => {
        this.step = undefined;
        this.run();
      }, STEP);
      return;
    }
  }
}
