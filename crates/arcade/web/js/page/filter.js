// Filters the rooms of the lobby by game and by text, and divides them into pages.

import { GAMES, isGame } from '../games/index.js';
import { element } from '../lib/dom.js';
import { absolutePath } from '../lib/route.js';
import { say } from '../lib/text.js';

/** @typedef {{ game: string | null, text: string, from: number, count: number }} Look */

/** Rooms per page; see MAX_COUNT in views.rs. */
const COUNT = 60;
/** Up to this number of rooms the filter is hidden. */
const FEW = 12;
/** See MAX_TEXT in views.rs. */
const MAX_TEXT = '40';
/** Pause after the last keystroke before a search, in milliseconds. */
const TYPING = 300;

export class Filter {
  /**
   * @param {URLSearchParams} query
   * @param {(look: Look) => void} changed
   */
  constructor(query, changed) {
    const game = query.get('game') ?? '';
    /** @type {Look} */
    this.look = { game: isGame(game) ? game : null, text: query.get('text') ?? '', from: Math.max(0, Math.floor(Number(query.get('from'))) || 0), count: COUNT };
    this.changed = changed;
    const choice = element(
      'select',
      { 'aria-label': say('filter.games'), change: () => this.set({ game: choice.value || null, from: 0 }) },
      element('option', { value: '' }, say('filter.all')),
      ...Object.values(GAMES).map(({ name, title }) => element('option', { value: name }, title)),
    );
    choice.value = this.look.game ?? '';
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let typing;
    const find = () => {
      clearTimeout(typing);
      const text = input.value.trim();
      if (text !== this.look.text) this.set({ text, from: 0 });
    };
    const input = element('input', {
      type: 'search',
      autocomplete: 'off',
      maxlength: MAX_TEXT,
      placeholder: say('filter.text'),
      'aria-label': say('filter.find'),
      input: () => {
        clearTimeout(typing);
        typing = setTimeout(find, TYPING);
      },
    });
    input.value = this.look.text;
    this.input = input;
    this.find = element(
      'form',
      {
        class: 'row filter',
        role: 'search',
        'aria-label': say('lobby.rooms'),
        submit: (event) => {
          event.preventDefault();
          find();
        },
      },
      choice,
      input,
    );
    this.before = element('button', { type: 'button', click: () => this.turn(-1) }, say('filter.before'));
    this.after = element('button', { type: 'button', click: () => this.turn(1) }, say('filter.after'));
    this.words = element('span', { class: 'soft', role: 'status' });
    this.pages = element('div', { class: 'row pages' }, this.before, this.words, this.after);
  }

  /** @param {-1 | 1} by */
  turn(by) {
    this.set({ from: Math.max(0, this.look.from + by * COUNT) });
  }

  /** @param {Partial<Look>} look */
  set(look) {
    Object.assign(this.look, look);
    const { game, text, from } = this.look;
    const query = new URLSearchParams({ ...(game ? { game } : {}), ...(text ? { text } : {}), ...(from ? { from: String(from) } : {}) });
    history.replaceState(null, '', absolutePath(query.size > 0 ? `/?${query}` : '/'));
    this.changed(this.look);
  }

  /** The hub has rejected the search: it sends the first rooms of the game instead. */
  clear() {
    Object.assign(this.look, { text: '', from: 0 });
    this.input.value = '';
  }

  /** Whether all rooms pass the filter. */
  isOpen() {
    return this.look.game === null && this.look.text === '' && this.look.from === 0;
  }

  /**
   * @param {number} total Rooms that match.
   * @param {number} shown Rooms on this page.
   */
  show(total, shown) {
    const { from } = this.look;
    this.find.hidden = total <= FEW && this.isOpen();
    this.pages.hidden = total <= COUNT && from === 0 && shown > 0;
    this.before.disabled = from === 0;
    this.after.disabled = from + COUNT >= total;
    if (shown > 0) this.words.textContent = say('filter.shown', { first: from + 1, last: from + shown, count: total });
    else this.words.textContent = total === 0 ? say('filter.none') : say('filter.only', { count: total });
  }
}
