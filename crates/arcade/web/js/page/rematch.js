import { element } from '../lib/dom.js';
import { say } from '../lib/text.js';

/** Update interval of the countdown in milliseconds. */
const TICK = 250;

/**
 * As the hub sends it.
 * @typedef {{ match: string | null, ready: number, of: number, seconds: number, you: boolean, begins: boolean }} RematchOffer
 */

/**
 * The state of the rematch in words.
 * @param {{ ready: number, of: number }} asked
 * @param {number} seconds
 */
export const rematchInWords = ({ ready, of }, seconds) => say('rematch.stands', { ready, of, seconds });

/** One mark per player, those who are ready first. @param {{ ready: number, of: number }} asked */
export const readyMarks = ({ ready, of }) => '✓'.repeat(ready) + '·'.repeat(Math.max(0, of - ready));

export class Rematch {
  /**
   * @param {{ answer: (ready: boolean) => void, begin: () => void, leave: () => void, changed: () => void }} actions `begin` joins the next
   *   match, `leave` goes to the lobby, and `changed` is called when the offer appears or ends.
   */
  constructor({ answer, begin, leave, changed }) {
    this.begin = begin;
    this.changed = changed;
    /** @type {RematchOffer | null} */
    this.offer = null;
    this.endsAt = 0;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticks = undefined;
    this.text = element('p', { class: 'status' });
    this.marks = element('span', { class: 'marks-ready', 'aria-hidden': 'true' });
    // Announces changes, but not each second.
    this.announcement = element('p', { class: 'hidden', 'aria-live': 'polite' });
    this.button = element('button', { type: 'button', class: 'primary large', 'aria-pressed': 'false', click: () => answer(!this.offer?.you) });
    this.panel = element('section', { class: 'rematch', 'aria-label': say('result.rematch'), hidden: true }, this.button, element('div', { class: 'row' }, this.text, this.marks), this.announcement);
    this.key = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape' || this.panel.hidden || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      leave();
    };
    document.addEventListener('keydown', this.key);
  }

  /** @param {RematchOffer | null} asked Null if the offer has ended. */
  update(asked) {
    if (asked?.begins) {
      this.hide();
      return this.begin();
    }
    if (!asked) return this.hide();
    const isNews = this.panel.hidden || this.offer?.ready !== asked.ready || this.offer.of !== asked.of;
    this.offer = asked;
    this.button.disabled = false;
    this.endsAt = performance.now() + asked.seconds * 1000;
    this.button.textContent = say(asked.you ? 'rematch.ready' : 'result.rematch');
    this.button.setAttribute('aria-pressed', String(asked.you));
    this.marks.textContent = readyMarks(asked);
    if (this.panel.hidden) {
      this.panel.hidden = false;
      this.changed();
    }
    if (isNews) this.announcement.textContent = rematchInWords(asked, asked.seconds);
    clearInterval(this.ticks);
    this.ticks = setInterval(() => this.tick(), TICK);
    return this.tick();
  }

  tick() {
    if (!this.offer) return;
    // The page has not reconnected in time.
    if (this.button.disabled && this.endsAt < performance.now()) return this.hide();
    this.text.textContent = rematchInWords(this.offer, Math.max(0, Math.ceil((this.endsAt - performance.now()) / 1000)));
  }

  /** Handles the end of the socket. @param {boolean} on Whether the page reconnects; the panel stays, disabled, until then. */
  suspend(on) {
    if (!on) return this.hide();
    this.button.disabled = true;
  }

  hide() {
    clearInterval(this.ticks);
    this.offer = null;
    if (this.panel.hidden) return;
    this.panel.hidden = true;
    this.changed();
  }

  stop() {
    this.hide();
    document.removeEventListener('keydown', this.key);
  }
}
