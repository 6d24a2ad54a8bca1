// Shows new players the goal and the controls on the board until their first move.

import { GAMES } from '../games/index.js';
import { element } from '../lib/dom.js';
import { recall, remember } from '../lib/settings.js';
import { keyName } from './help.js';

/** @typedef {import('../games/types.js').Help} Help */

/** Controls that are shown; the help has all. */
const SHOWN = 2;

export class Intro {
  /**
   * @param {string} game
   * @param {Help} help
   */
  constructor(game, help) {
    this.seen = `moved ${game}`;
    const byTouch = matchMedia('(hover: none) and (pointer: coarse)').matches;
    const isGesture = (/** @type {string} */ keys) => /^(tap|swipe|drag)$/.test(keys);
    const isKey = (/** @type {string} */ keys) => keys.split(' ').every((key) => key.length === 1 || /^(Space|Enter)$/.test(key));
    const ways = help.filter(([keys]) => (byTouch ? isGesture(keys) : isKey(keys) && keys !== '?')).slice(0, SHOWN);
    this.panel = element(
      'div',
      { class: 'intro' },
      element('p', {}, element('strong', {}, GAMES[game].line)),
      element(
        'ul',
        {},
        ...ways.map(([keys, meaning]) =>
          element('li', {}, ...(byTouch ? [element('b', {}, keyName(keys))] : keys.split(' ').map((key) => element('kbd', {}, keyName(key)))), ` ${meaning}`),
        ),
      ),
    );
    this.panel.hidden = recall(this.seen) !== null;
  }

  moved() {
    if (this.panel.hidden) return;
    this.panel.hidden = true;
    remember(this.seen, 'yes');
  }
}
