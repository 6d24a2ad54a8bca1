// The current guess: pegs by tap, by drag and by keys.

import { element } from '../../lib/dom.js';
import { say } from '../../lib/text.js';
import { peg } from './rows.js';

/** Distance after which a press is a drag, in CSS pixels. */
const SLOP = 8;

export class Draft {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.length = 4;
    this.game = 0;
    /** @type {(string | null)[]} */
    this.pegs = [null, null, null, null];
    this.cursor = 0;
    /** @type {AbortController} */
    this.listening = new AbortController();
  }

  /**
   * A new game starts with an empty guess.
   * @param {number} length
   * @param {number} game
   */
  resize(length, game) {
    if (length === this.length && game === this.game) return;
    this.length = length;
    this.game = game;
    this.clear();
  }

  clear() {
    this.pegs = Array.from({ length: this.length }, () => null);
    this.cursor = 0;
  }

  /** The guess; null if it is incomplete. */
  code() {
    return this.pegs.every((one) => one !== null) ? this.pegs.join('') : null;
  }

  isEmpty() {
    return this.pegs.every((one) => one === null);
  }

  /** Places a peg at the cursor, which moves to the next hole. @param {string} digit */
  set(digit) {
    this.pegs[this.cursor] = digit;
    this.cursor = Math.min(this.cursor + 1, this.length - 1);
    this.changed();
  }

  /**
   * @param {string} digit
   * @param {number} place
   */
  put(digit, place) {
    this.pegs[place] = digit;
    this.cursor = place;
    this.changed();
  }

  /** @param {string} code */
  fill(code) {
    this.pegs = [...code].slice(0, this.length);
    this.cursor = this.length - 1;
    this.changed();
  }

  /** Removes the peg at the cursor, or the one before it. */
  back() {
    if (this.pegs[this.cursor] === null) this.cursor = Math.max(0, this.cursor - 1);
    this.pegs[this.cursor] = null;
    this.changed();
  }

  /** @param {number} by */
  move(by) {
    this.cursor = (this.cursor + by + this.length) % this.length;
    this.changed();
  }

  /** @param {number} by To the next or the previous colour. */
  turn(by) {
    const now = Number(this.pegs[this.cursor] ?? (by > 0 ? 0 : 9));
    this.pegs[this.cursor] = String(((now - 1 + by + 8) % 8) + 1);
    this.changed();
  }

  element() {
    const hole = (/** @type {string | null} */ digit, /** @type {number} */ place) =>
      element(
        'button',
        {
          type: 'button',
          class: place === this.cursor ? 'hole cursor' : 'hole',
          'data-place': String(place),
          'data-key': String(place),
          // Enter submits the guess, also from here.
          'data-keys': 'Enter',
          'aria-label': digit === null ? say('mastermind.place.empty', { place: place + 1 }) : say('mastermind.place', { place: place + 1, digit }),
          ...(place === this.cursor ? { 'aria-current': 'true' } : {}),
          click: () => {
            this.cursor = place;
            this.changed();
          },
        },
        ...(digit === null ? [] : [peg(digit)]),
      );
    return element('span', { class: 'holes', role: 'group', 'aria-label': say('mastermind.guess.label') }, ...this.pegs.map(hole));
  }

  /**
   * A tap places a peg at the cursor, a drag in any hole.
   * @param {HTMLElement} source
   * @param {string} digit
   */
  pick(source, digit) {
    let dragged = false;
    const { signal } = this.listening;
    source.addEventListener('click', () => {
      if (!dragged) this.set(digit);
      dragged = false;
    });
    source.addEventListener('pointerdown', (down) => {
      if (down.button !== 0 || !down.isPrimary) return;
      dragged = false;
      const drag = new AbortController();
      const options = { signal: AbortSignal.any([drag.signal, signal]) };
      /** @type {HTMLElement | null} */
      let ghost = null;
      const over = (/** @type {PointerEvent} */ event) =>
        document.elementFromPoint(event.clientX, event.clientY)?.closest('[data-place]') ?? null;
      document.addEventListener(
        'pointermove',
        (event) => {
          if (!ghost && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < SLOP) return;
          ghost ??= document.body.appendChild(element('span', { class: 'ghost' }, peg(digit)));
          dragged = true;
          ghost.style.left = `${event.clientX}px`;
          ghost.style.top = `${event.clientY}px`;
        },
        options,
      );
      const end = (/** @type {PointerEvent} */ event) => {
        drag.abort();
        ghost?.remove();
        const hole = dragged && event.type === 'pointerup' ? over(event) : null;
        if (hole instanceof HTMLElement) this.put(digit, Number(hole.dataset.place));
      };
      document.addEventListener('pointerup', end, options);
      document.addEventListener('pointercancel', end, options);
    });
  }

  stop() {
    this.listening.abort();
  }
}
