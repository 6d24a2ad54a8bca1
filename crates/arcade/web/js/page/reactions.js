// Reactions: fixed phrases, shown as signs at the faces of players. Each player can be muted, and so can all.

import { element, toggle, updateChildren } from '../lib/dom.js';
import { isMuted, loadMutes, mute, storeMutes } from '../lib/mutes.js';
import { opener, popup } from '../lib/popup.js';
import { say } from '../lib/text.js';

/** The phrases, in the order of the hub; see room/roster.rs. */
const PHRASES = /** @type {const} */ ([['hello', '👋'], ['luck', '🍀'], ['well', '👏'], ['thanks', '🙏'], ['sorry', '😅'], ['again', '🔁'], ['thumb', '👍']]);
/** How long a phrase is shown, in milliseconds. */
const STAYS = 6000;
/** Space for a phrase above its player, in CSS pixels. */
const HEIGHT = 44;
/** Recent speakers with a button to mute them. */
const SPEAKERS = 8;

/** @param {number} phrase */
export const phraseInWords = (phrase) => (Object.hasOwn(PHRASES, phrase) ? say(`talk.${PHRASES[phrase][0]}`) : null);

export class Reactions {
  /**
   * @param {(phrase: number) => void} speak
   * @param {() => void} changed Called when a phrase appears or disappears.
   */
  constructor(speak, changed) {
    this.changed = changed;
    /** The current phrases by seat. @type {Map<string, { name: string, phrase: number, timer: ReturnType<typeof setTimeout> }>} */
    this.bubbles = new Map();
    /** @type {string[]} */
    this.speakers = [];
    /** Phrases at the players on the board. */
    this.onBoard = element('div', { class: 'bubbles', 'aria-hidden': 'true' });
    this.live = element('p', { class: 'hidden', 'aria-live': 'polite' });
    this.buttons = element(
      'div',
      { class: 'reactions', role: 'group', 'aria-label': say('talk.title') },
      ...PHRASES.map(([phrase, sign], number) =>
        element('button', { type: 'button', class: 'icon', title: say(`talk.${phrase}`), 'aria-label': say('talk.say', { phrase: say(`talk.${phrase}`) }), click: () => (speak(number), this.unfold(false)) }, sign),
      ),
    );
    const all = toggle(say('talk.mute.all'), (on) => this.mute({ ...loadMutes(), all: on }), loadMutes().all);
    this.mutes = element('div', { class: 'row mutes' });
    this.own = '';
    const { dialog, open } = popup(say('talk.mute.title'), element('div', { class: 'row' }, all), this.mutes);
    this.dialog = dialog;
    this.opener = opener('⋯', say('talk.mute.title'), open);
    const more = element('button', { type: 'button', class: 'icon more-reactions', 'aria-label': say('talk.title'), 'aria-expanded': 'false', click: () => this.unfold(!this.panel.hasAttribute('data-open')) }, '☺');
    this.panel = element('div', { class: 'talk' }, more, this.buttons);
    this.more = more;
  }

  /** Shows the phrases on small screens, where a button opens them. @param {boolean} on */
  unfold(on) {
    this.panel.toggleAttribute('data-open', on);
    this.more.setAttribute('aria-expanded', String(on));
  }

  /**
   * @param {boolean} may Whether the player has joined and can send phrases.
   * @param {string} own The name of the player.
   */
  allow(may, own) {
    this.buttons.hidden = this.more.hidden = !may;
    this.own = own;
  }

  /** @param {{ seat: string, name: string, phrase: number }} said */
  receive({ seat, name, phrase }) {
    const text = phraseInWords(phrase);
    if (text === null) return;
    if (name !== this.own) this.speakers = [name, ...this.speakers.filter((other) => other !== name)].slice(0, SPEAKERS);
    this.listSpeakers();
    if (isMuted(loadMutes(), name)) return;
    this.end(seat);
    const timer = setTimeout(() => {
      this.end(seat);
      this.changed();
    }, STAYS);
    this.bubbles.set(seat, { name, phrase, timer });
    this.live.textContent = say('talk.said', { name, phrase: text });
    this.changed();
  }

  /**
   * Places the phrases of players that are in sight on the board.
   * @param {(seat: string) => { x: number, y: number } | null} at The place of a player on the board.
   */
  place(at) {
    updateChildren(
      this.onBoard,
      ...[...this.bubbles].flatMap(([seat, { phrase }]) => {
        const spot = at(seat);
        if (!spot) return [];
        const bubble = element('span', { class: 'bubble' }, PHRASES[phrase][1]);
        bubble.style.setProperty('left', `${Math.round(spot.x)}px`);
        // Inside the board.
        bubble.style.setProperty('top', `${Math.round(Math.max(HEIGHT, spot.y))}px`);
        return [bubble];
      }),
    );
  }

  /** @param {string} seat @param {string} name */
  bubble(seat, name) {
    const phrase = this.bubbles.get(seat);
    return phrase && phrase.name === name ? element('span', { class: 'bubble', role: 'img', 'aria-label': phraseInWords(phrase.phrase) ?? '' }, PHRASES[phrase.phrase][1]) : null;
  }

  /** @param {string} seat */
  end(seat) {
    clearTimeout(this.bubbles.get(seat)?.timer);
    this.bubbles.delete(seat);
  }

  /** @param {import('../lib/mutes.js').Mutes} now */
  mute(now) {
    storeMutes(now);
    for (const [seat, { name }] of this.bubbles) if (isMuted(now, name)) this.end(seat);
    this.listSpeakers();
    this.changed();
  }

  listSpeakers() {
    updateChildren(
      this.mutes,
      ...this.speakers.map((name) => {
        const on = loadMutes().names.includes(name);
        const turn = () => this.mute(mute(loadMutes(), name, !loadMutes().names.includes(name)));
        return element('button', { type: 'button', class: 'small', 'data-key': `mute ${name}`, 'aria-pressed': String(on), click: turn }, say('talk.mute', { name }));
      }),
    );
  }

  stop() {
    for (const seat of [...this.bubbles.keys()]) this.end(seat);
  }
}
