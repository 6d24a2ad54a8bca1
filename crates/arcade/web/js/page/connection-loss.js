// While the connection is lost, the last state stays on the screen, dimmed, with the time of the loss.

import { announceLink, announceLoss, element } from '../lib/dom.js';
import { date, say } from '../lib/text.js';

export class ConnectionLoss {
  /**
   * @param {HTMLElement} main
   * @param {boolean} watching
   */
  constructor(main, watching) {
    this.main = main;
    this.watching = watching;
    this.panel = element('p', { class: 'away', hidden: true });
    /** How long the hub reserves a seat, in seconds. */
    this.reservation = 0;
    /** By `Date.now()`. */
    this.lostAt = 0;
  }

  /**
   * @param {boolean} lost Whether the socket is closed and the page reconnects; otherwise the hub is only silent.
   * @param {boolean} seated Whether the player has a seat to return to.
   * @param {boolean} [blocked] Whether the network seems to block connections.
   */
  show(lost, seated, blocked = false) {
    if (this.panel.hidden) this.lostAt = Date.now();
    const until = this.lostAt + this.reservation * 1000;
    const minutes = Math.round(this.reservation / 60);
    const seat = this.watching || !seated
      ? ''
      : Date.now() > until
        ? ` ${say('away.gone')}`
        : ` ${minutes > 0 ? say('away.kept.minutes', { count: minutes }) : say('away.kept')}`;
    if (lost) announceLoss(blocked);
    else announceLink(say('link.quiet'), 'lost');
    this.panel.textContent = say('away.since', { time: date(new Date(this.lostAt), { timeStyle: 'medium' }) }) + seat;
    // The text in the header is long.
    this.panel.hidden = blocked;
    this.main.dataset.away = '';
  }

  /** The hub is back, or the room is left. */
  hide() {
    this.panel.hidden = true;
    delete this.main.dataset.away;
  }
}
