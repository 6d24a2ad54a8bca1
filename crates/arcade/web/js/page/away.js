// While the connection is lost, the last state stays on the screen, dimmed, with the time of the loss.

import { announceLink, element } from '../lib/dom.js';
import { date, say } from '../lib/text.js';

export class Away {
  /**
   * @param {HTMLElement} main
   * @param {boolean} watching
   */
  constructor(main, watching) {
    this.main = main;
    this.watching = watching;
    this.panel = element('p', { class: 'away', hidden: true });
    /** How long the hub reserves a seat, in seconds. */
    this.kept = 0;
    /** By `Date.now()`. */
    this.since = 0;
  }

  /**
   * @param {boolean} lost Whether the socket is closed and the page reconnects; otherwise the hub is only silent.
   * @param {boolean} seated Whether the player has a seat to return to.
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

  /** The hub is back, or the room is left. */
  end() {
    this.panel.hidden = true;
    delete this.main.dataset.away;
  }
}
