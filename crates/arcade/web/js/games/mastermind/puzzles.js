// Mastermind outside of a room: today's puzzle first, then free games and races.

import { ask, errorText } from '../../lib/api.js';
import { copyButton, element, title } from '../../lib/dom.js';
import { Live } from '../../lib/live.js';
import { person } from '../../lib/person.js';
import { go } from '../../lib/route.js';
import { recall } from '../../lib/settings.js';

/** @typedef {import('../types.js').Room} Room */

const LENGTHS = [4, 5, 6, 7, 8];

/**
 * Shows the page until the returned function is called.
 * @param {HTMLElement} main
 * @param {{ rooms: Room[] }} first
 */
export function showPage(main, first) {
  title('Mastermind');
  main.dataset.page = 'puzzles';
  main.dataset.game = 'mastermind';
  const today = element('section', { class: 'panel today', 'aria-labelledby': 'today' });
  const free = element('section', { class: 'panel', 'aria-labelledby': 'free' });
  const race = element('section', { class: 'panel', 'aria-labelledby': 'race' });
  const open = element('section', { class: 'panel', 'aria-labelledby': 'open' });
  const problem = element('p', { class: 'error', role: 'alert' });
  main.replaceChildren(
    element('h1', {}, 'Mastermind'),
    element('p', { class: 'soft' }, 'The machine hides a code of colours. Find it in ten rows: each answer says how many pegs are right and in place (red), and how many are right elsewhere (white).'),
    problem,
    element('div', { class: 'cards-of-games' }, today, free, race, open),
  );
  let left = false;
  const show = (/** @type {Room[]} */ rooms) => {
    const all = rooms.filter(({ game }) => game === 'mastermind');
    const mode = (/** @type {Room} */ room) => room.options?.['mode'];
    const daily = all.find((room) => mode(room) === 'daily');
    const date = new Date().toISOString().slice(0, 10);
    const result = recall(`mastermind result ${date}`);
    today.replaceChildren(
      element('h2', { id: 'today' }, "Today's puzzle"),
      element('p', {}, `The same code for everybody on ${day(date)}, until midnight in Greenwich.`),
      ...(result ? [element('pre', { class: 'share', tabindex: '0', 'aria-label': 'Your result' }, result)] : []),
      element(
        'div',
        { class: 'row' },
        ...(daily ? [element('a', { class: 'button primary large', href: `/rooms/${daily.id}` }, result ? 'Play it again' : 'Play')] : [element('p', {}, 'There is no puzzle in this arcade.')]),
        ...(result ? [copyButton(() => result, 'Copy the result')] : []),
      ),
    );
    const others = all.filter((room) => room.players.length > 0 && mode(room) !== 'daily');
    open.hidden = others.length === 0;
    open.replaceChildren(
      element('h2', { id: 'open' }, 'Being played'),
      element(
        'ul',
        {},
        ...others.map((room) =>
          element(
            'li',
            { class: 'row' },
            element('span', {}, room.title),
            ...room.players.map((player) => person(player)),
            element('a', { class: 'button', href: `/rooms/${room.id}?watch` }, 'Watch'),
            ...(mode(room) === 'race' && room.taken < room.seats ? [element('a', { class: 'button primary', href: `/rooms/${room.id}` }, 'Join')] : []),
          ),
        ),
      ),
    );
  };
  /** @param {Record<string, unknown>} options */
  const make = async (options) => {
    problem.textContent = '';
    try {
      const room = await ask('/api/rooms', { game: 'mastermind', ...options });
      if (!left) go(`/rooms/${room.id}`);
    } catch (error) {
      problem.textContent = errorText(error);
    }
  };
  free.replaceChildren(element('h2', { id: 'free' }, 'A free game'), element('p', {}, 'As many as you like, with the length that you like.'), form('solo', [], (options) => make({ mode: 'solo', ...options })));
  const players = select('Players', [2, 3, 4, 6, 8].map((number) => [String(number), `${number} players`]), '2');
  race.replaceChildren(
    element('h2', { id: 'race' }, 'A race'),
    element('p', {}, 'All look for the same code at the same time. Fewest rows win.'),
    form('race', [players], (options) => make({ mode: 'race', players: Number(players.value), ...options })),
  );
  show(first.rooms);
  const live = new Live({ game: 'mastermind' }, { lobby: ({ rooms }) => show(rooms) });
  return () => {
    left = true;
    live.close();
    delete main.dataset.game;
  };
}

/** @param {string} date As in 2026-11-22. */
const day = (date) => new Date(date).toLocaleDateString('en', { day: 'numeric', month: 'long', timeZone: 'UTC' });

/**
 * @param {string} label
 * @param {[string, string][]} choices
 * @param {string} chosen
 */
function select(label, choices, chosen) {
  const made = element('select', { 'aria-label': label }, ...choices.map(([value, text]) => element('option', { value }, text)));
  made.value = chosen;
  return made;
}

/**
 * @param {string} name
 * @param {HTMLElement[]} more
 * @param {(options: { length: number, repeats: boolean }) => void} submit
 */
function form(name, more, submit) {
  const length = select('Pegs', LENGTHS.map((pegs) => [String(pegs), `${pegs} pegs`]), '4');
  const repeats = select('Repeats', [['yes', 'with repeats'], ['no', 'no repeats']], 'yes');
  return element(
    'form',
    {
      class: 'row',
      name,
      submit: (event) => {
        event.preventDefault();
        submit({ length: Number(length.value), repeats: repeats.value === 'yes' });
      },
    },
    length,
    repeats,
    ...more,
    element('button', { class: 'primary' }, 'Begin'),
  );
}
