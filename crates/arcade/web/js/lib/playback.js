// Plays a match from its frames, at any speed and from any moment.

/**
 * A message to the page and when it was sent, in milliseconds from the start of the match.
 * @typedef {{ at: number, data: string | ArrayBuffer }} Frame
 *
 * @typedef {object} Source
 * @property {number} length Of the match, in milliseconds.
 * @property {(from: number, to: number) => Promise<{ frames: Frame[], to: number }>} load A snapshot at `from`, as frames with that
 *   time, then the frames until `to`, which may be earlier than requested.
 *
 * @typedef {object} Screen
 * @property {() => void} reset Resets the screen to the state of a new page.
 * @property {(data: string | ArrayBuffer) => void} show
 * @property {() => void} changed The time, the speed, or whether it plays has changed.
 * @property {(error: unknown) => void} failed
 */

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
/** Length of a chunk, in milliseconds of the match; longer at higher speeds. */
const WINDOW = 60_000;
/** See MAX_STRETCH in replays.rs. */
export const MAX_WINDOW = 300_000;
/** The next chunk is loaded when the frames last for less than this, in milliseconds on the screen. */
const AHEAD = 4_000;
/** A step back if no recent frame was shown, in milliseconds. */
const BACK = 1_000;

/** A match is loaded from here to show its end, in milliseconds. */
const BEFORE_END = 1_000;

export class Playback {
  /**
   * @param {Source} source
   * @param {Screen} screen
   */
  constructor(source, screen) {
    this.source = source;
    this.screen = screen;
    this.at = 0;
    this.speed = 1;
    this.playing = false;
    /** Frames that are loaded and not shown yet. @type {Frame[]} */
    this.queue = [];
    /** Times of the frames shown since the last seek, for steps back. @type {number[]} */
    this.shown = [];
    this.loadedTo = 0;
    /** Counts seeks: responses from before the last one are dropped. */
    this.turn = 0;
    this.loading = false;
  }

  get length() {
    return this.source.length;
  }

  /** @param {number} at */
  async seek(at) {
    this.at = Math.min(Math.max(0, at), this.length);
    this.turn += 1;
    this.queue = [];
    // A snapshot after the end is empty.
    this.loadedTo = this.at < this.length ? this.at : Math.max(0, this.length - BEFORE_END);
    this.screen.changed();
    const { turn } = this;
    await this.load(true);
    if (turn !== this.turn) return;
    this.show();
    this.screen.changed();
  }

  /** @param {boolean} fresh Whether to reset the screen and replace the queue. */
  async load(fresh) {
    if ((this.loading && !fresh) || (!fresh && this.loadedTo >= this.length)) return;
    const { turn } = this;
    const from = this.loadedTo;
    this.loading = true;
    try {
      const most = Math.min(MAX_WINDOW, Math.max(WINDOW, this.speed * AHEAD * 2));
      const answer = await this.source.load(from, Math.min(this.length, from + most));
      if (turn !== this.turn) return;
      if (fresh) {
        this.screen.reset();
        this.shown = [];
        this.queue = answer.frames;
      } else {
        // The screen is up to date.
        this.queue.push(...answer.frames.filter(({ at }) => at > from));
      }
      this.loadedTo = Math.max(answer.to, from + 1);
    } catch (error) {
      if (turn !== this.turn) return;
      this.playing = false;
      this.screen.failed(error);
    } finally {
      if (turn === this.turn) this.loading = false;
    }
  }

  /** Shows the queued frames up to the current time. */
  show() {
    let count = 0;
    while (count < this.queue.length && this.queue[count].at <= this.at) {
      const { at, data } = this.queue[count];
      this.screen.show(data);
      if (this.shown[this.shown.length - 1] !== at) this.shown.push(at);
      count += 1;
    }
    this.queue.splice(0, count);
  }

  /** @param {number} elapsed Real time, in milliseconds. */
  tick(elapsed) {
    if (!this.playing) return;
    const wanted = Math.min(this.at + elapsed * this.speed, this.length);
    // Waits for frames that are not loaded yet.
    this.at = Math.min(wanted, Math.max(this.loadedTo, this.at));
    this.show();
    if (this.loadedTo - this.at < this.speed * AHEAD) this.load(false);
    if (this.at >= this.length) this.playing = false;
    this.screen.changed();
  }

  /** @param {boolean} on */
  async play(on) {
    this.playing = on;
    // At the end, playback restarts from the beginning.
    if (on && this.at >= this.length) await this.seek(0);
    this.screen.changed();
  }

  /** @param {number} speed One of {@link SPEEDS}. */
  setSpeed(speed) {
    this.speed = speed;
    this.screen.changed();
  }

  /** @param {1 | -1} by */
  faster(by) {
    const next = SPEEDS[SPEEDS.indexOf(this.speed) + by];
    if (next !== undefined) this.setSpeed(next);
  }

  /** @returns {Promise<void>} */
  async forward() {
    this.playing = false;
    const next = this.queue.find(({ at }) => at > this.at);
    if (next) {
      this.at = next.at;
      this.show();
      this.screen.changed();
    } else if (this.loadedTo < this.length) {
      await this.load(false);
      if (this.queue.length > 0) return this.forward();
    } else {
      await this.seek(this.length);
    }
    return undefined;
  }

  async back() {
    this.playing = false;
    const before = this.shown.filter((at) => at < this.at);
    await this.seek(before.length > 1 ? before[before.length - 1] : this.at - BACK);
  }
}

/**
 * As the hub sends it.
 * @param {[number, string | { b: string }]} frame
 * @returns {Frame}
 */
export function frame([at, data]) {
  if (typeof data === 'string') return { at, data };
  const text = atob(data.b);
  return { at, data: Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer };
}

/**
 * The time as in `1:02:03`.
 * @param {number} milliseconds
 */
export function clock(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (/** @type {number} */ number) => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest.replace(/^0/, '');
}
