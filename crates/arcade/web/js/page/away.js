// What a room shows while nothing is heard of the hub: the picture of then, dimmed, and since when.

import { announceLink, element } from '../lib/dom.js';
import { date, say } from '../lib/text.js';

/** The part of a room that says that the page is away. */
export class Away {
  /**
   * @param {HTMLElement} main
   * @param {boolean} watching
   */
  constructor(main, watching) {
    this.main = main;
    this.watching = watching;
    this.panel = element('p', { class: 'away', hidden: true });
    /** How long the hub keeps a seat, in seconds. */
    this.kept = 0;
    /** When something was last heard. */
    this.since = 0;
  }

  /**
   * Nothing is heard.
   * @param {boolean} lost Whether the connection is given up, and a new one is tried.
   * @param {boolean} seated Whether there is a seat to come back to.
   */
  lose(lost, seated) {
    if (this.panel.hidden) this.since = Date.now();
    const until = this.since + this.kept * 1000;
    const minutes = Math.round(this.kept / 60);
    const seat = this.watching || !seated
      ? ''
      : Date.now() > until
        ? ` ${say('away.gone')}`
        : ` ${minutes > 0 ? say('away.kept.minutes', { count: minutes }) : say('away.kept')}`;
    announceLink(say(lost ? 'link.lost' : 'link.quiet'), 'lost');
    this.panel.textContent = say('away.since', { time: date(new Date(this.since), { timeStyle: 'medium' }) }) + seat;
    this.panel.hidden = false;
    this.main.dataset.away = '';
  }

  /** The hub is back, or there is nothing to come back to. */
  end() {
    this.panel.hidden = true;
    delete this.main.dataset.away;
  }
}
