// Invitations to a room: its link, the QR code of the link, and the command for a terminal.

import { errorText } from '../lib/api.js';
import { copyButton, element } from '../lib/dom.js';
import { word } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { terminalLines } from './terminal.js';
import { command, offersTerminal } from './words.js';

/** @typedef {import('../games/types.js').Room} Room */

/** The panel with the invitation. */
export class Share {
  /** @param {string} id Of the room. */
  constructor(id) {
    this.id = id;
    this.path = `/rooms/${id}`;
    /** @type {string | null} */
    this.code = null;
    /** The facts that are shown. */
    this.shown = '';
    this.address = element('code', { class: 'command', tabindex: '0', 'aria-label': say('share.address') });
    this.note = element('p', { class: 'note' });
    this.picture = element('div', { class: 'qr', 'aria-live': 'polite' });
    this.terminal = element('div');
    const copy = copyButton(() => location.origin + this.path, say('room.link'));
    this.panel = element(
      'details',
      { class: 'share-room', toggle: () => void this.draw() },
      element('summary', {}, say('share.title')),
      this.address,
      element('div', { class: 'row' }, copy),
      this.note,
      this.picture,
      this.terminal,
    );
  }

  /** @param {Room} room */
  show(room) {
    this.path = room.code ? `/j/${room.code}` : `/rooms/${this.id}`;
    const facts = [this.path, room.host, room.port, room.visibility].join();
    if (facts === this.shown) return;
    this.shown = facts;
    this.address.textContent = location.origin + this.path;
    this.note.textContent = say(`share.${room.visibility ?? 'public'}`);
    // The hub sends the port only to clients that may enter.
    this.terminal.replaceChildren(...(room.port === 0 || !offersTerminal() ? [] : [element('h3', {}, say('room.terminal')), ...terminalLines(command(room), say('room.terminal.command'))]));
    this.code = room.code ?? null;
    this.picture.replaceChildren();
    void this.draw();
  }

  /** Fetches the QR code if the panel is open. An `img` address cannot be used: the code of a link must not be in an address. */
  async draw() {
    if (!this.panel.open || !this.shown || this.picture.firstChild) return;
    const { owner, seat } = word(this.id);
    const bearer = this.code ?? owner ?? seat;
    const shown = element('p', { class: 'note' });
    this.picture.replaceChildren(shown);
    try {
      const answer = await fetch(`/api/rooms/${this.id}/qr`, bearer ? { headers: { authorization: `Bearer ${bearer}` } } : {});
      if (!answer.ok) throw new Error(say('share.no-picture'));
      const image = `data:image/svg+xml,${encodeURIComponent(await answer.text())}`;
      this.picture.replaceChildren(element('img', { src: image, alt: say('share.qr'), width: '200', height: '200' }));
    } catch (error) {
      shown.textContent = error instanceof TypeError ? say('error.unreachable') : errorText(error);
    }
  }
}
