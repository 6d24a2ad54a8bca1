import { GAMES } from '../games/index.js';
import { errorText, request } from '../lib/api.js';
import { confirm } from '../lib/confirm.js';
import { element, updateChildren } from '../lib/dom.js';
import { MAX_ROOM_NAME } from '../lib/names.js';
import { named, shortSeat } from '../lib/person.js';
import { opener, popup } from '../lib/popup.js';
import { roomStorage } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { levelChoice } from './seats.js';

/** @typedef {import('../games/types.js').Room} Room */

/** The dialog with the commands, and its button, hidden from other players. */
export class OwnerDialog {
  /** @param {string} id Of the room. */
  constructor(id) {
    this.id = id;
    /** @type {Room | null} */
    this.room = null;
    this.own = /** @type {string | null} */ (null);
    this.problem = element('p', { class: 'error', role: 'alert' });
    /** Confirms commands. Stays visible when the room has got another owner. */
    this.notice = element('p', { class: 'soft', role: 'status' });
    this.name = element('input', { id: 'owner-name', maxlength: String(MAX_ROOM_NAME), autocomplete: 'off' });
    const rename = (/** @type {Event} */ event) => {
      event.preventDefault();
      void this.command({ do: 'rename', name: this.name.value.trim() }, say('owner.rename.done'));
    };
    this.level = levelChoice('owner-level');
    this.number = element('select', { id: 'owner-bots' });
    const bots = () => void this.command({ do: 'bots', number: Number(this.number.value), level: this.level.value }, say('owner.bots.done'));
    this.bots = element(
      'div',
      {},
      element('div', { class: 'row' }, field(say('owner.bots'), this.number), field(say('owner.level'), this.level), element('button', { type: 'button', click: bots }, say('owner.bots.set'))),
    );
    this.lock = element('button', { type: 'button', click: () => void this.command({ do: this.room?.locked ? 'unlock' : 'lock' }) });
    this.players = element('ul', { class: 'owner-players' });
    const { dialog, open } = popup(
      say('owner.title'),
      element('div', { class: 'row' }, this.lock, element('button', { type: 'button', click: () => void this.close() }, say('owner.close'))),
      element('form', { class: 'row', submit: rename }, field(say('owner.name'), this.name), element('button', {}, say('owner.rename'))),
      this.bots,
      this.players,
      this.problem,
    );
    dialog.classList.add('owner');
    this.dialog = dialog;
    this.button = opener('⚙', say('owner.title'), open);
    this.button.classList.add('settings');
    this.button.hidden = true;
  }

  /** @param {Room} room @param {string | null} own */
  show(room, own) {
    const before = this.room;
    [this.room, this.own] = [room, own];
    this.button.hidden = roomStorage.recall(`owner ${this.id}`) === null;
    if (this.button.hidden) return;
    // An unchanged name does not overwrite what the owner is typing.
    if ((before?.name ?? null) !== (room.name ?? null) || !before) this.name.value = room.name ?? '';
    this.lock.textContent = say(room.locked ? 'owner.unlock' : 'owner.lock');
    this.bots.hidden = !GAMES[room.game].bots;
    const seated = room.players.filter(({ bot }) => bot).length;
    // One seat is reserved for a person.
    const most = Math.max(0, room.seats - 1);
    if (this.number.options.length !== most + 1) {
      this.number.replaceChildren(...Array.from({ length: most + 1 }, (_, count) => element('option', { value: String(count) }, String(count))));
      this.number.value = String(Math.min(seated, most));
    }
    const others = room.players.filter((player) => !player.bot && player.seat && player.seat !== own && !player.owner);
    updateChildren(this.players, ...others.map((player) => this.line(player)));
  }

  /** @param {import('../games/types.js').Player} player */
  line({ name, seat }) {
    const key = `${seat} ${name}`;
    const remove = () => void this.command({ do: 'remove', seat }, say('owner.remove.done', { name }));
    const block = () => void this.command({ do: 'block', seat, number: 0 }, say('owner.block.done', { name }));
    const handOn = async () => {
      if (await this.command({ do: 'hand-on', seat })) this.revoke(say('owner.hand-on.done', { name }));
    };
    return element(
      'li',
      { 'data-key': key },
      element('span', { class: 'mark' }, shortSeat(seat)),
      element('span', { class: 'person' }, named(name)),
      element('button', { type: 'button', class: 'small', 'data-key': `remove ${key}`, 'aria-label': say('owner.remove.label', { name }), click: remove }, say('owner.remove')),
      element('button', { type: 'button', class: 'small', 'data-key': `block ${key}`, 'aria-label': say('owner.block.label', { name }), click: block }, say('owner.block')),
      // The teachers of a class own its rooms.
      ...(this.room?.visibility === 'class' ? [] : [element('button', { type: 'button', class: 'small', 'data-key': `hand-on ${key}`, 'aria-label': say('owner.hand-on.label', { name }), click: () => void handOn() }, say('owner.hand-on'))]),
    );
  }

  /** @param {string} text The notice for the player. */
  revoke(text) {
    roomStorage.remember(`owner ${this.id}`, null);
    this.button.hidden = true;
    this.dialog.close();
    this.notice.textContent = text;
  }

  /** @param {string} token */
  grant(token) {
    roomStorage.remember(`owner ${this.id}`, token);
    this.notice.textContent = say('owner.now');
    if (this.room) this.show(this.room, this.own);
  }

  async close() {
    if (await confirm(say('owner.close.sure'), say('owner.close.lost'), say('owner.close'), say('owner.close.stay'))) await this.command({ do: 'close' });
    this.dialog.close();
  }

  /**
   * Returns whether the hub has executed it.
   * @param {Record<string, string | number>} what
   * @param {string} [done] The confirmation.
   * @returns {Promise<boolean>}
   */
  async command(what, done = '') {
    this.problem.textContent = this.notice.textContent = '';
    try {
      // The room in the response may be older than the last one that the socket has sent.
      await request(`/api/rooms/${this.id}/owner`, { token: roomStorage.recall(`owner ${this.id}`) ?? '', ...what });
      this.notice.textContent = done;
      return true;
    } catch (error) {
      // Another page owns the room, or it is closed: for a room with a link the hub does not distinguish these.
      const { status, code, count = 0 } = /** @type {{ status?: number, code?: string, count?: number }} */ (error);
      if (code === 'blocks_others') {
        const sure = await confirm(say('owner.block.sure'), say('owner.block.others', { count }), say('owner.block'), say('page.cancel'));
        return sure && this.command({ ...what, number: count }, done);
      }
      if (status === 403 || status === 404) this.revoke(errorText(error));
      else this.problem.textContent = errorText(error);
      return false;
    }
  }
}

/**
 * @param {string} text
 * @param {HTMLInputElement | HTMLSelectElement} input
 */
const field = (text, input) => element('div', { class: 'field' }, element('label', { for: input.id }, text), input);
