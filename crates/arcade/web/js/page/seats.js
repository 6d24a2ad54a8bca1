// The seats of a room with face, name and score. Before a match also the free seats, to which bots can be added.

import { GAMES } from '../games/index.js';
import { errorText, request } from '../lib/api.js';
import { avatar } from '../lib/avatar.js';
import { element, updateChildren } from '../lib/dom.js';
import { characters } from '../lib/names.js';
import { person } from '../lib/person.js';
import { roomProof } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { isAlone } from './labels.js';

/** @typedef {import('../games/types.js').Room} Room */
/** @typedef {import('../games/types.js').Seat} Seat */

export const LEVELS = /** @type {const} */ (['easy', 'normal', 'hard']);
/** Free seats that are shown one by one. */
const MOST_FREE = 4;

/** @param {string} id */
export function levelChoice(id) {
  const level = element('select', { id }, ...LEVELS.map((one) => element('option', { value: one }, say(`seats.level.${one}`))));
  level.value = 'normal';
  return level;
}

export class Seats {
  /**
   * @param {string} id Of the room.
   * @param {(seat: string) => Seat} describe
   * @param {(name: string) => import('../lib/face.js').Face} face
   * @param {() => string[]} leaders The seats with the best score.
   * @param {{ bubble: (seat: string, name: string) => HTMLElement | null }} talk The current phrases.
   */
  constructor(id, describe, face, leaders, talk) {
    this.id = id;
    this.describe = describe;
    this.face = face;
    this.leaders = leaders;
    this.talk = talk;
    this.list = element('ol', { class: 'players', tabindex: '0', 'aria-label': say('page.players') });
    this.problem = element('p', { class: 'error', role: 'alert' });
    this.level = levelChoice('bot-level');
    this.choice = element('div', { class: 'level' }, element('label', { for: this.level.id }, say('seats.level')), this.level);
    this.panel = element('section', { class: 'seats', 'aria-label': say('page.players') }, this.list, this.choice, this.problem);
  }

  /**
   * @param {Room} room
   * @param {string | null} own
   * @param {boolean} waiting Whether the room waits for players.
   */
  show(room, own, waiting) {
    const leaders = new Set(this.leaders());
    const free = Math.max(0, room.seats - room.taken);
    const mayAdd = waiting && room.visibility !== 'challenge' && free > 0 && GAMES[room.game].bots && (room.owned !== true || roomProof(this.id).owner !== undefined);
    const shownFree = waiting && !isAlone(room) && room.visibility !== 'challenge' ? Math.min(free, MOST_FREE) : 0;
    updateChildren(
      this.list,
      ...room.players.map((player) => {
        const { value, unit = '', note = '' } = this.describe(player.seat);
        const isOwn = player.seat === own;
        const tags = [
          ...(isOwn ? [element('span', { class: 'you' }, say('seats.you'))] : []),
          ...(note ? [element('span', { class: 'soft' }, note)] : []),
          ...(leaders.has(player.seat) ? [element('span', { class: 'tag' }, say('seats.leads'))] : []),
          ...(player.owner ? [element('span', { class: 'tag' }, say('seats.owner'))] : []),
        ];
        const bubble = this.talk.bubble(player.seat, player.name);
        return element('li', { class: isOwn ? 'own' : '' }, avatar(player.seat || characters(player.name)[0], this.face(player.name), isOwn), element('span', { class: 'meta' }, person(player), ...tags), ...(bubble ? [bubble] : []), element('span', { class: 'value' }, ...('score' in player ? [] : [value, ...(unit ? [' ', element('span', { class: 'unit' }, unit)] : [])])));
      }),
      ...Array.from({ length: shownFree }, (_, index) => {
        const rest = index === MOST_FREE - 1 ? free - index : 1;
        const add = mayAdd ? [element('button', { type: 'button', class: 'small', 'data-key': `bot ${index}`, click: () => void this.add() }, say('seats.bot'))] : [];
        return element('li', { class: 'empty' }, element('span', { class: 'mark', 'aria-hidden': 'true' }, rest > 1 ? `+${rest}` : '+'), ...(add.length > 0 ? add : [element('span', { class: 'soft' }, say('seats.free', { count: rest }))]));
      }),
    );
    this.choice.hidden = !mayAdd;
  }

  async add() {
    this.problem.textContent = '';
    try {
      await request(`/api/rooms/${this.id}/bots`, { level: this.level.value, ...roomProof(this.id) });
    } catch (error) {
      this.problem.textContent = errorText(error);
    }
  }
}
