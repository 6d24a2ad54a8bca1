// A class: its join form, and its page for pupils and teachers.

import { GAMES } from '../games/index.js';
import { errorText, load } from '../lib/api.js';
import { element, sheet, title, updateChildren } from '../lib/dom.js';
import { MAX_NAME, isolated, tidy } from '../lib/names.js';
import { named } from '../lib/person.js';
import { isStoragePersistent } from '../lib/settings.js';
import { list, say } from '../lib/text.js';
import { fetchClass, requestClass, storeTeacher, teacherToken } from './classes.js';
import { isAlone, phaseInWords, roomTitle } from './labels.js';
import { key } from './name-key.js';
import { TeacherTools } from './teacher.js';
import { Cup } from './tournament.js';

/** @typedef {import('./classes.js').Class} Class */

await sheet('class.css', import.meta.url);

/** Between two updates, in milliseconds. */
const PAUSE = 3000;

/**
 * The code is in the fragment of the address, and for teachers a token, which is stored and removed.
 * @param {HTMLElement} main
 * @param {{ projector: boolean }} how
 */
export function showClass(main, { projector }) {
  title(say('class.title'));
  main.dataset.page = 'class';
  const [, code, token] = /^#([a-z]{8})(?:\.([\w-]{22}))?$/.exec(location.hash) ?? [];
  let left = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {View | null} */
  let view = null;
  let leave = () => {};
  const problem = element('p', { class: 'error', role: 'alert' });
  const fail = (/** @type {unknown} */ error) => {
    main.replaceChildren(element('h1', {}, say('class.title')), element('p', { class: 'error', role: 'alert' }, errorText(error)));
  };
  const update = async () => {
    clearTimeout(timer);
    try {
      const now = await fetchClass(code);
      if (left) return;
      view ??= new View(main, now, () => void update(), problem);
      problem.textContent = '';
      view.show(now);
    } catch (error) {
      const { status } = /** @type {{ status?: number }} */ (error);
      if (left) return;
      if (status === 404 || view === null) return fail(error);
      // A teacher has removed the pupil.
      if (status === 403) return begin();
      problem.textContent = errorText(error);
    }
    timer = setTimeout(() => void update(), PAUSE);
  };
  const begin = () => {
    view = null;
    showJoinForm(main, code, () => left).then((entered) => (entered && !left ? show() : undefined), (error) => left || fail(error));
  };
  const show = async () => {
    if (!projector) return update();
    const { showProjector } = await load(() => import('./projector.js'));
    if (!left) leave = showProjector(main, code);
    return undefined;
  };
  if (code === undefined) {
    main.replaceChildren(element('h1', {}, say('class.title')), element('p', {}, say('class.link')));
  } else {
    if (token !== undefined) {
      storeTeacher(code, token);
      // A projector shows the address.
      if (isStoragePersistent()) history.replaceState(null, '', `${location.pathname}#${code}`);
    }
    if (teacherToken(code) === null) begin();
    else show().catch(fail);
  }
  const again = () => void showAgain();
  const showAgain = () => location.reload();
  addEventListener('hashchange', again);
  return () => {
    left = true;
    clearTimeout(timer);
    leave();
    removeEventListener('hashchange', again);
  };
}

/**
 * Shows the form for the name, unless the browser is a member. Returns whether it is one now.
 * @param {HTMLElement} main
 * @param {string} code
 * @param {() => boolean} left
 * @returns {Promise<boolean>}
 */
async function showJoinForm(main, code, left) {
  /** @typedef {{ class: string, name: string | null, names: string[], listed: boolean }} Entry */
  const first = /** @type {Entry} */ (await requestClass(code, '/join', { key: key() }));
  if (first.name !== null) return true;
  if (left()) return false;
  return new Promise((resolve) => {
    const error = element('p', { class: 'error', role: 'alert' });
    const place = element('div');
    /** @type {HTMLInputElement | HTMLSelectElement} */
    let input;
    const offer = (/** @type {Entry} */ { names, listed }) => {
      input = listed
        ? element('select', { id: 'pupil', required: true }, element('option', { value: '' }, say('class.name.choose')), ...names.map((name) => element('option', { value: name }, isolated(name))))
        : element('input', { id: 'pupil', dir: 'auto', required: true, maxlength: String(MAX_NAME * 4), autocomplete: 'nickname', spellcheck: 'false' });
      place.replaceChildren(element('label', { for: 'pupil' }, say(listed ? 'class.name.list' : 'class.name')), input);
    };
    offer(first);
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      error.textContent = '';
      const name = tidy(input.value);
      if (!name) return input.focus();
      try {
        await requestClass(code, '/join', { key: key(), name });
        resolve(true);
      } catch (why) {
        error.textContent = errorText(why);
        // Another pupil may have taken the name.
        if (first.listed) await requestClass(code, '/join', { key: key() }).then(offer, () => {});
      }
      return undefined;
    };
    main.replaceChildren(
      element('h1', {}, isolated(first.class)),
      element('form', { class: 'panel entry', submit }, place, element('p', { class: 'note' }, say('class.name.note')), error, element('button', { class: 'primary' }, say('class.join'))),
    );
  });
}

class View {
  /**
   * @param {HTMLElement} main
   * @param {Class} first
   * @param {() => void} changed
   * @param {HTMLElement} problem
   */
  constructor(main, first, changed, problem) {
    this.tools = first.you === undefined ? new TeacherTools(first, changed) : null;
    this.you = element('p', { class: 'soft' });
    this.rooms = element('ul', { class: 'rooms' });
    this.none = element('p', { class: 'soft' }, say(this.tools ? 'class.rooms.none.teacher' : 'class.rooms.none'));
    this.scores = element('tbody');
    this.cup = new Cup();
    main.replaceChildren(
      element('h1', {}, isolated(first.name)),
      this.you,
      problem,
      ...(this.tools ? [this.tools.invitation] : []),
      this.cup.panel,
      element('section', { 'aria-labelledby': 'class-rooms' }, element('h2', { id: 'class-rooms' }, say('class.rooms')), this.none, this.rooms, ...(this.tools ? [this.tools.open] : [])),
      element(
        'div',
        { class: 'columns' },
        element(
          'section',
          { class: 'panel', 'aria-labelledby': 'class-scores' },
          element('h2', { id: 'class-scores' }, say('class.scores')),
          element('table', {}, element('thead', {}, element('tr', {}, element('th', {}, say('class.scores.name')), element('th', { class: 'number' }, say('class.scores.wins')), element('th', { class: 'number' }, say('class.scores.matches')))), this.scores),
          ...(this.tools ? [this.tools.results] : []),
        ),
        ...(this.tools ? [this.tools.members, this.tools.cup, this.tools.manage] : []),
      ),
    );
  }

  /** @param {Class} now */
  show(now) {
    this.you.textContent = now.you === undefined ? say('class.teacher') : say('class.you', { name: now.you });
    // The tournament lists its own rooms.
    const others = now.rooms.filter(({ id }) => !now.tournament?.pairings.some(({ room }) => room === id));
    this.none.hidden = others.length > 0;
    updateChildren(this.rooms, ...others.map(card));
    updateChildren(this.scores, ...now.scores.map(({ name, wins, matches }) => element('tr', {}, element('td', {}, named(name)), element('td', { class: 'number' }, String(wins)), element('td', { class: 'number' }, String(matches)))));
    this.cup.show(now);
    this.tools?.show(now);
  }
}

/** @param {import('../games/types.js').Room} room */
function card(room) {
  const { title: game } = GAMES[room.game];
  const names = room.players.map(({ name }) => name);
  const isFull = !isAlone(room) && (room.taken >= room.seats || room.late === true);
  const label = `${game} ${room.name ?? room.id}`;
  const watch = element('a', { class: 'button', href: `/rooms/${room.id}?watch`, 'aria-label': `${say('page.watch')}: ${label}` }, say('page.watch'));
  const play = element('a', { class: 'button primary', href: `/rooms/${room.id}`, 'aria-label': `${say('page.play')}: ${label}` }, say('page.play'));
  return element(
    'li',
    { class: 'room', 'data-game': room.game, 'data-phase': room.phase, 'data-key': room.id },
    element(
      'div',
      { class: 'about' },
      element('h3', {}, room.name ? `${game} · ${isolated(room.name)}` : game),
      element('p', { class: 'soft what' }, roomTitle({ ...room, name: null })),
      element('p', { class: 'state' }, phaseInWords(room)),
      element('p', { class: 'soft' }, list(names)),
    ),
    element('div', { class: 'actions' }, ...(isFull ? [] : [play]), watch),
  );
}
