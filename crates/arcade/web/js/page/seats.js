// The players of a room: letter, colour, name and score, and the free seats.

import { GAMES } from '../games/index.js';
import { ask, errorText } from '../lib/api.js';
import { element, renew } from '../lib/dom.js';
import { person, shortSeat } from '../lib/person.js';
import { word } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { isAlone } from './words.js';

/** @typedef {import('../games/types.js').Room} Room */
/** @typedef {import('../games/types.js').Seat} Seat */

export const LEVELS = /** @type {const} */ (['easy', 'normal', 'hard']);

/** The list of players of a room. */
export class Seats {
  /**
   * @param {string} id Of the room.
   * @param {(seat: string) => Seat} describe
   * @param {() => string[]} leaders The seats with the best score.
   * @param {{ bubble: (seat: string, name: string) => string | null }} talk The current phrases.
   */
  constructor(id, describe, leaders, talk) {
    this.id = id;
    this.describe = describe;
    this.leaders = leaders;
    this.talk = talk;
    this.list = element('ol', { class: 'players' });
    this.free = element('p', { class: 'soft' });
    this.problem = element('p', { class: 'error', role: 'alert' });
    const level = element('select', { id: 'bot-level', 'aria-label': say('seats.level') }, ...LEVELS.map((one) => element('option', { value: one }, say(`seats.level.${one}`))));
    level.value = 'normal';
    const add = element('button', { type: 'button' }, say('seats.bot'));
    add.addEventListener('click', async () => {
      this.problem.textContent = '';
      add.disabled = true;
      try {
        await ask(`/api/rooms/${id}/bots`, { level: level.value, ...word(id) });
      } catch (error) {
        this.problem.textContent = errorText(error);
      }
      add.disabled = false;
    });
    this.bots = element('div', { class: 'row bots' }, add, level);
    this.panel = element('section', { 'aria-label': say('page.players') }, element('h2', {}, say('page.players')), this.list, this.free, this.bots, this.problem);
  }

  /**
   * @param {Room} room
   * @param {string | null} own
   */
  show(room, own) {
    const leaders = new Set(this.leaders());
    renew(
      this.list,
      ...room.players.map((player) => {
        const { colour, value } = this.describe(player.seat);
        const mark = element('span', { class: 'mark' }, shortSeat(player.seat));
        mark.style.setProperty('--mark', colour ?? 'var(--line)');
        const you = player.seat === own ? [element('span', { class: 'you' }, say('seats.you'))] : [];
        const leads = leaders.has(player.seat) ? [element('span', { class: 'tag' }, say('seats.leads'))] : [];
        const owns = player.owner ? [element('span', { class: 'tag' }, say('seats.owner'))] : [];
        const said = this.talk.bubble(player.seat, player.name);
        const bubble = said === null ? [] : [element('span', { class: 'bubble' }, said)];
        return element('li', { class: player.seat === own ? 'own' : '' }, mark, person(player), ...you, ...leads, ...owns, ...bubble, element('span', { class: 'value' }, value));
      }),
    );
    const free = Math.max(0, room.seats - room.taken);
    this.free.hidden = isAlone(room);
    this.free.textContent = free === 0 ? say('seats.taken') : say('seats.free', { count: free });
    this.bots.hidden = free === 0 || !GAMES[room.game].bots || (room.owned === true && !word(this.id).owner);
  }
}
