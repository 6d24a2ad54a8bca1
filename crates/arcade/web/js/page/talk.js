// Quick chat: players of a room send each other fixed phrases. Each player can be muted, and so can all.

import { element, renew, toggle } from '../lib/dom.js';
import { isMuted, keep, mute, muted } from '../lib/muted.js';
import { named } from '../lib/person.js';
import { say } from '../lib/text.js';

/** The phrases, in the order of the hub; see room/talk.rs. */
const PHRASES = /** @type {const} */ (['hello', 'luck', 'well', 'thanks', 'sorry', 'again', 'thumb']);
/** How long a phrase is shown beside a name, in milliseconds. */
const STAYS = 6000;
/** Recent speakers with a button to mute them. */
const SPEAKERS = 8;
/** Windows in which the panel is open at first. */
const WIDE = '(min-width: 60rem)';

/** @param {number} phrase */
export const phraseInWords = (phrase) => (Object.hasOwn(PHRASES, phrase) ? say(`talk.${PHRASES[phrase]}`) : null);

/** The panel with the phrases. */
export class Talk {
  /**
   * @param {(phrase: number) => void} speak
   * @param {() => void} changed Called when a phrase appears or disappears.
   */
  constructor(speak, changed) {
    this.changed = changed;
    /** The current phrases by seat. @type {Map<string, { name: string, text: string, timer: ReturnType<typeof setTimeout> }>} */
    this.bubbles = new Map();
    /** @type {string[]} */
    this.speakers = [];
    /** Phrases of players that are not in the list of seats, as after a match. */
    this.heard = element('ul', { class: 'heard' });
    this.live = element('p', { class: 'hidden', 'aria-live': 'polite' });
    this.buttons = element(
      'div',
      { class: 'row phrases' },
      ...PHRASES.map((phrase, number) =>
        element('button', { type: 'button', class: 'small', 'aria-label': say('talk.say', { phrase: say(`talk.${phrase}`) }), click: () => speak(number) }, phrase === 'thumb' ? '👍' : say(`talk.${phrase}`)),
      ),
    );
    const all = toggle(say('talk.mute.all'), (on) => this.mute({ ...muted(), all: on }), muted().all);
    all.classList.add('small');
    this.mutes = element('div', { class: 'row mutes' });
    this.panel = element('details', { class: 'talk', open: matchMedia(WIDE).matches }, element('summary', {}, say('talk.title')), this.buttons, element('div', { class: 'row' }, all), this.mutes);
  }

  /** @param {boolean} may Whether the player has joined and can send phrases. */
  allow(may) {
    this.buttons.hidden = !may;
  }

  /** @param {{ seat: string, name: string, phrase: number }} said */
  hear({ seat, name, phrase }) {
    const text = phraseInWords(phrase);
    if (text === null) return;
    this.speakers = [name, ...this.speakers.filter((other) => other !== name)].slice(0, SPEAKERS);
    this.list();
    if (isMuted(muted(), name)) return;
    this.end(seat);
    const timer = setTimeout(() => {
      this.end(seat);
      this.changed();
    }, STAYS);
    this.bubbles.set(seat, { name, text: phrase === PHRASES.indexOf('thumb') ? '👍' : text, timer });
    this.live.textContent = say('talk.said', { name, phrase: text });
    this.changed();
  }

  /** Shows the phrases of all but these players. @param {{ seat: string, name: string }[]} players */
  show(players) {
    const others = [...this.bubbles].filter(([seat, said]) => !players.some((player) => player.seat === seat && player.name === said.name));
    renew(this.heard, ...others.map(([, { name, text }]) => element('li', {}, element('span', { class: 'person' }, named(name)), ' ', element('span', { class: 'bubble' }, text))));
  }

  /** The current phrase of a player. @param {string} seat @param {string} name */
  bubble(seat, name) {
    const said = this.bubbles.get(seat);
    return said && said.name === name ? said.text : null;
  }

  /** @param {string} seat */
  end(seat) {
    clearTimeout(this.bubbles.get(seat)?.timer);
    this.bubbles.delete(seat);
  }

  /** @param {import('../lib/muted.js').Muted} now */
  mute(now) {
    keep(now);
    for (const [seat, { name }] of this.bubbles) if (isMuted(now, name)) this.end(seat);
    this.list();
    this.changed();
  }

  /** Lists recent speakers. */
  list() {
    renew(
      this.mutes,
      ...this.speakers.map((name) => {
        const on = muted().names.includes(name);
        const turn = () => this.mute(mute(muted(), name, !muted().names.includes(name)));
        return element('button', { type: 'button', class: 'small', 'data-key': `mute ${name}`, 'aria-pressed': String(on), click: turn }, say('talk.mute', { name }));
      }),
    );
  }

  stop() {
    for (const seat of [...this.bubbles.keys()]) this.end(seat);
  }
}
