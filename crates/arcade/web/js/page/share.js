// The QR code and the text of the link of a room, its code, and the command for a terminal.

import { errorText } from '../lib/api.js';
import { copyButton, copyable, element } from '../lib/dom.js';
import { spaced } from '../lib/names.js';
import { fetchPublicAddress, publicAddress } from '../lib/public.js';
import { absolutePath } from '../lib/route.js';
import { roomProof } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { joinCommand, offersTerminal } from './labels.js';
import { terminalLines } from './terminal.js';

/** @typedef {import('../games/types.js').Room} Room */

export class Share {
  /** @param {string} id Of the room. */
  constructor(id) {
    this.id = id;
    this.path = `/rooms/${id}`;
    this.shown = '';
    this.address = copyable(say('share.address'));
    this.note = element('p', { class: 'note' });
    this.picture = element('div', { class: 'qr' });
    this.code = element('p', { class: 'code', role: 'group', 'aria-label': say('share.code') });
    this.terminal = element('div');
    this.panel = element(
      'section',
      { class: 'share-room', 'aria-label': say('share.title') },
      this.picture,
      this.code,
      element('div', { class: 'link' }, this.address, copyButton(() => publicAddress(this.path), say('room.link'))),
      this.note,
      this.terminal,
    );
  }

  /** @param {Room} room */
  async show(room) {
    this.path = room.code ? `/j/${room.code}` : `/rooms/${this.id}`;
    const facts = [this.path, room.host, room.port, room.visibility].join();
    if (facts === this.shown) return;
    this.shown = facts;
    this.code.textContent = room.code ? spaced(room.code.toUpperCase()).replaceAll('-', ' ') : '';
    // The page of a class invites to its rooms, and no other person plays in a challenge.
    if (room.visibility === 'class' || room.visibility === 'challenge') return;
    this.note.textContent = say(`share.${room.visibility ?? 'public'}`);
    // The hub sends the port only to clients that may enter.
    const lines = room.port === 0 || !offersTerminal() ? [] : [element('details', {}, element('summary', {}, say('room.terminal')), ...terminalLines(joinCommand(room), say('room.terminal.command')))];
    this.terminal.replaceChildren(...lines);
    this.picture.replaceChildren();
    this.bearer = room.code ?? null;
    await fetchPublicAddress();
    const [, host = '', path = ''] = /^https?:\/\/([^/]*)(.*)/.exec(publicAddress(this.path)) ?? [];
    // A long link breaks before its path rather than within a word.
    this.address.replaceChildren(host, element('wbr'), path);
    void this.draw();
  }

  /** Draws the QR code if the panel is visible. No `img` loads it: the code of a link must not be in an address. */
  async draw() {
    if (!this.panel.checkVisibility() || !this.shown || this.picture.firstChild) return;
    const { owner, seat } = roomProof(this.id);
    const bearer = this.bearer ?? owner ?? seat;
    const shown = element('p', { class: 'note' });
    this.picture.replaceChildren(shown);
    try {
      const answer = await fetch(absolutePath(`/api/rooms/${this.id}/qr`), bearer ? { headers: { authorization: `Bearer ${bearer}` } } : {});
      if (!answer.ok) throw new Error(say('share.no-picture'));
      const image = `data:image/svg+xml,${encodeURIComponent(await answer.text())}`;
      this.picture.replaceChildren(element('img', { src: image, alt: say('share.qr'), width: '232', height: '232' }));
    } catch (error) {
      shown.textContent = error instanceof TypeError ? say('error.unreachable') : errorText(error);
    }
  }
}
