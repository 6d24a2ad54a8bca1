// The parts of the page of a class that only its teachers have.

import { GAMES, isGame } from '../games/index.js';
import { errorText, request } from '../lib/api.js';
import { confirm } from '../lib/confirm.js';
import { copyButton, copyable, element, updateChildren } from '../lib/dom.js';
import { MAX_ROOM_NAME, isolated, spaced } from '../lib/names.js';
import { named } from '../lib/person.js';
import { fetchPublicAddress, publicAddress } from '../lib/public.js';
import { absolutePath, navigate } from '../lib/route.js';
import { say } from '../lib/text.js';
import { requestClass, teacherToken } from './classes.js';
import { field, values } from './new-room.js';

/** @typedef {import('./classes.js').Class} Class */

/** Rooms that are opened in one step. */
const MAX_AT_ONCE = 16;

export class TeacherTools {
  /**
   * @param {Class} first
   * @param {() => void} changed Called after a command.
   */
  constructor(first, changed) {
    this.code = first.code;
    this.name = first.name;
    this.changed = changed;
    this.problem = element('p', { class: 'error', role: 'alert' });
    this.news = element('p', { class: 'soft', role: 'status' });
    this.address = copyable(say('class.address'));
    this.picture = element('div', { class: 'qr' });
    this.invitation = element(
      'section',
      { class: 'panel invitation', 'aria-labelledby': 'class-join' },
      this.picture,
      element(
        'div',
        {},
        element('h2', { id: 'class-join' }, say('class.invite')),
        element('p', { class: 'code', role: 'group', 'aria-label': say('class.code') }, spaced(first.code.toUpperCase()).replaceAll('-', ' ')),
        element('div', { class: 'row' }, this.address, copyButton(() => publicAddress(`/j/${this.code}`))),
      ),
    );
    this.open = this.openRoom();
    this.text = element('textarea', { id: 'class-names', rows: '6', dir: 'auto', spellcheck: 'false', 'aria-describedby': 'class-names-note' });
    /** Whether matches of the round are open. */
    this.isOpen = false;
    /** The last round that was drawn. */
    this.round = 0;
    /** Whether a tournament is not over. */
    this.isRunning = false;
    /** The list that the hub has. */
    this.listed = '';
    this.count = element('span', { class: 'soft' });
    this.pupils = element('ul', { class: 'pupils' });
    this.members = element('section', { class: 'panel', 'aria-labelledby': 'class-pupils' }, element('h2', { id: 'class-pupils' }, say('class.pupils')), this.count, this.pupils, this.names());
    this.results = element('p', {}, element('button', { type: 'button', click: () => void this.download() }, say('class.csv')));
    this.second = element('div');
    this.cup = this.tournament();
    this.manage = element(
      'section',
      { class: 'panel', 'aria-labelledby': 'class-manage' },
      element('h2', { id: 'class-manage' }, say('class.manage')),
      element('p', {}, element('a', { class: 'button', href: `/class?projector#${first.code}` }, say('class.projector'))),
      element('p', {}, element('button', { type: 'button', click: () => void this.invite() }, say('class.second'))),
      this.second,
      element('p', {}, element('button', { type: 'button', click: () => void this.end() }, say('class.end'))),
      element('p', { class: 'note' }, say('class.end.note')),
      this.problem,
      this.news,
    );
    void this.draw();
  }

  /** @param {Class} now */
  show(now) {
    this.count.textContent = say('class.pupils.count', { count: now.members.length, most: now.players });
    const { tournament } = now;
    this.isOpen = tournament?.running === true;
    this.round = tournament?.round ?? 0;
    this.isRunning = tournament ? !tournament.over : false;
    if (this.next) this.next.hidden = !this.isRunning || (tournament?.round === tournament?.rounds && !this.isOpen);
    updateChildren(this.pupils, ...now.members.map((name) => this.pupil(name)));
    const listed = now.list?.join('\n') ?? '';
    if (document.activeElement === this.text || this.listed === listed) return;
    this.listed = listed;
    this.text.value = listed;
  }

  /** @param {string} name */
  pupil(name) {
    const remove = async () => {
      if (await confirm(say('class.remove.sure', { name }), say('class.remove.lost'), say('owner.remove'), say('page.cancel'))) await this.command({ do: 'remove', name });
    };
    return element('li', { 'data-key': name }, named(name), element('button', { type: 'button', class: 'small', 'data-key': `remove ${name}`, 'aria-label': say('owner.remove.label', { name }), click: () => void remove() }, say('owner.remove')));
  }

  /** The form of a tournament. */
  tournament() {
    const system = element('select', { id: 'cup-system' }, element('option', { value: 'swiss' }, say('class.cup.swiss')), element('option', { value: 'round-robin' }, say('class.cup.robin')));
    const game = element('select', { id: 'cup-game' }, ...Object.entries(GAMES).map(([name, { title }]) => element('option', { value: name }, title)));
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      if (this.isRunning && !(await confirm(say('class.cup.again'), say('class.cup.again.lost'), say('class.cup.start'), say('page.cancel')))) return;
      await this.command({ do: 'tournament', system: system.value, game: game.value });
    };
    const next = async () => {
      if (this.isOpen && !(await confirm(say('class.cup.next.sure'), say('class.cup.next.lost'), say('class.cup.next'), say('page.cancel')))) return;
      await this.command({ do: 'next-round', round: this.round });
    };
    this.next = element('button', { type: 'button', hidden: true, click: () => void next() }, say('class.cup.next'));
    return element(
      'section',
      { class: 'panel', 'aria-labelledby': 'class-tournament' },
      element('h2', { id: 'class-tournament' }, say('class.cup.title')),
      this.next,
      element(
        'form',
        { submit },
        element('div', { class: 'fields' }, element('div', { class: 'field' }, element('label', { for: 'cup-system' }, say('class.cup.system')), system), element('div', { class: 'field' }, element('label', { for: 'cup-game' }, say('class.cup.game')), game)),
        element('button', {}, say('class.cup.start')),
      ),
      element('p', { class: 'note' }, say('class.cup.note')),
    );
  }

  /** The form for the list of names. */
  names() {
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      if (await this.command({ do: 'names', names: this.text.value.split('\n') })) this.news.textContent = say('class.names.done');
    };
    return element(
      'details',
      {},
      element('summary', {}, say('class.names')),
      element('form', { submit }, element('label', { for: 'class-names' }, say('class.names.label')), this.text, element('p', { class: 'note', id: 'class-names-note' }, say('class.names.note')), element('button', {}, say('class.names.save'))),
    );
  }

  openRoom() {
    const choice = element('select', { id: 'class-game' });
    const name = element('input', { id: 'class-room', maxlength: String(MAX_ROOM_NAME - 3), autocomplete: 'off' });
    const number = element('input', { id: 'class-number', type: 'number', inputmode: 'numeric', min: '1', max: String(MAX_AT_ONCE), value: '1', required: true });
    const fields = element('div', { class: 'fields' });
    const error = element('p', { class: 'error', role: 'alert' });
    /** @type {import('./new-room.js').Form[]} */
    let forms = [];
    const show = () => fields.replaceChildren(...(forms.find(({ game }) => game === choice.value)?.options ?? []).map((option) => field(choice.value, option)));
    choice.addEventListener('change', show);
    request('/api/games').then(
      (/** @type {{ games: import('./new-room.js').Form[] }} */ { games }) => {
        forms = games.filter(({ game }) => isGame(game));
        choice.replaceChildren(...forms.map(({ game }) => element('option', { value: game }, GAMES[game].title)));
        show();
      },
      (problem) => (error.textContent = errorText(problem)),
    );
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      error.textContent = '';
      const count = Math.min(Number(number.value), MAX_AT_ONCE);
      const options = { game: choice.value, ...values(fields) };
      try {
        for (let one = 1; one <= count; one += 1) {
          const called = [name.value.trim(), count > 1 ? String(one) : ''].filter(Boolean).join(' ');
          await requestClass(this.code, '/command', { do: 'open', options, ...(called && { name: called }) });
        }
      } catch (problem) {
        error.textContent = errorText(problem);
      }
      this.changed();
    };
    const input = (/** @type {string} */ text, /** @type {HTMLElement} */ control) => element('div', { class: 'field' }, element('label', { for: control.id }, text), control);
    return element(
      'form',
      { class: 'panel open-rooms', submit },
      element('h3', {}, say('class.open')),
      element('div', { class: 'fields' }, input(say('new.game'), choice), input(say('class.number'), number), input(say('new.name'), name)),
      element('details', {}, element('summary', {}, say('class.options')), fields),
      error,
      element('button', { class: 'primary' }, say('class.open.submit')),
    );
  }

  /**
   * Returns whether the hub has executed it.
   * @param {Record<string, unknown>} command
   */
  async command(command) {
    this.problem.textContent = this.news.textContent = '';
    try {
      await requestClass(this.code, '/command', command);
      this.changed();
      return true;
    } catch (error) {
      this.problem.textContent = errorText(error);
      return false;
    }
  }

  async invite() {
    this.problem.textContent = '';
    try {
      const { token } = await requestClass(this.code, '/command', { do: 'invite' });
      await fetchPublicAddress();
      const link = publicAddress(`/class#${this.code}.${token}`);
      this.second.replaceChildren(element('div', { class: 'row' }, copyable(say('class.second.link'), link), copyButton(() => link)), element('p', { class: 'note' }, say('class.second.note')));
    } catch (error) {
      this.problem.textContent = errorText(error);
    }
  }

  async end() {
    if (!(await confirm(say('class.end.sure'), say('class.end.lost'), say('class.end'), say('page.cancel')))) return;
    if (await this.command({ do: 'end' })) navigate('/');
  }

  /** No link, since an address must not contain the code or the token. @param {string} path @returns {Promise<Response>} */
  fetch(path) {
    return fetch(absolutePath(`/api/class${path}`), { headers: { authorization: `Bearer ${teacherToken(this.code) ?? ''}`, 'class-code': this.code } });
  }

  async download() {
    this.problem.textContent = '';
    try {
      const answer = await this.fetch('/results.csv');
      if (!answer.ok) throw new Error(say('error.status', { status: String(answer.status) }));
      const url = URL.createObjectURL(await answer.blob());
      const link = element('a', { href: url, download: `${this.name}.csv` });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    } catch (error) {
      this.problem.textContent = errorText(error);
    }
  }

  async draw() {
    await fetchPublicAddress();
    this.address.textContent = publicAddress(`/j/${this.code}`).replace(/^https?:\/\//, '');
    const answer = await this.fetch('/qr').catch(() => null);
    if (!answer?.ok) return;
    const image = `data:image/svg+xml,${encodeURIComponent(await answer.text())}`;
    this.picture.replaceChildren(element('img', { src: image, alt: say('class.qr', { name: isolated(this.name) }), width: '200', height: '200' }));
  }
}
