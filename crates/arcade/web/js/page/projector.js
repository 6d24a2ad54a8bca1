// A class on a projector: the most interesting running match, how to join, and the leaders.

import { GAMES } from '../games/index.js';
import { errorText, load } from '../lib/api.js';
import { element, sheet, title, updateChildren } from '../lib/dom.js';
import { isolated, spaced } from '../lib/names.js';
import { named } from '../lib/person.js';
import { fetchPublicAddress, publicAddress } from '../lib/public.js';
import { say } from '../lib/text.js';
import { fetchClass } from './classes.js';
import { showRoomView } from './room-view.js';
import { places, roundText } from './tournament.js';

/** Between two updates, in milliseconds. */
const PAUSE = 2000;
/** Places of the table. */
const LEADERS = 5;

/**
 * @param {HTMLElement} main
 * @param {string} code
 */
export function showProjector(main, code) {
  let left = false;
  /** @type {string | null} */
  let room = null;
  let leave = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const name = element('h2', {});
  const address = element('p', { class: 'address' });
  const leaders = element('div');
  const problem = element('p', { class: 'error', role: 'alert' });
  const bar = element(
    'aside',
    { class: 'projector', 'aria-label': say('class.title') },
    element('div', {}, name, element('p', { class: 'code', role: 'group', 'aria-label': say('class.code') }, spaced(code.toUpperCase()).replaceAll('-', ' ')), address, problem),
    leaders,
  );
  document.body.dataset.projector = '';
  main.before(bar);
  const idle = () => {
    title(say('class.title'));
    main.dataset.page = 'class';
    main.replaceChildren(element('h1', { class: 'idle' }, say('class.projector.none')));
  };
  /** @param {string} id */
  const follow = async (id) => {
    const game = id.replace(/-\d+$/, '');
    await sheet('room.css', import.meta.url);
    const loaded = await load(GAMES[game].load);
    if (left || room !== id) return;
    main.dataset.page = 'room';
    main.dataset.game = game;
    leave = showRoomView(main, id, game, loaded, { watching: true, next: false });
  };
  const update = async () => {
    try {
      const now = await fetchClass(code, room);
      if (left) return;
      problem.textContent = '';
      name.textContent = isolated(now.name);
      const { tournament } = now;
      const top = now.scores.filter(({ wins }) => wins > 0).slice(0, LEADERS);
      updateChildren(
        leaders,
        ...(tournament
          ? [element('p', { class: 'soft' }, roundText(tournament)), places(tournament, LEADERS)]
          : top.length
            ? [element('ol', {}, ...top.map(({ name: who, wins }) => element('li', {}, named(who), ' ', say('class.wins', { count: wins }))))]
            : []),
      );
      const next = now.follow ?? null;
      // The result of the last match stays until the next one begins.
      if (next !== room && (next !== null || room === null || !now.rooms.some(({ id }) => id === room))) {
        leave();
        leave = () => {};
        room = next;
        if (next === null) idle();
        else await follow(next);
      }
    } catch (error) {
      problem.textContent = errorText(error);
    }
    if (!left) timer = setTimeout(() => void update(), PAUSE);
  };
  idle();
  void fetchPublicAddress().then(() => (address.textContent = publicAddress(`/j/${code}`).replace(/^https?:\/\//, '')));
  void update();
  return () => {
    left = true;
    clearTimeout(timer);
    leave();
    bar.remove();
    delete document.body.dataset.projector;
    delete main.dataset.game;
  };
}
