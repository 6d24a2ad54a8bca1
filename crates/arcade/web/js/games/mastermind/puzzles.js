// Today's puzzle, free games and races.

import { errorText, request } from '../../lib/api.js';
import { dailyBars, dailyRecord } from '../../lib/daily.js';
import { copyButton, element, sheet, title } from '../../lib/dom.js';
import { LobbyFeed } from '../../lib/live.js';
import { person } from '../../lib/person.js';
import { navigate } from '../../lib/route.js';
import { rulePictures } from '../../lib/rules.js';
import { recall } from '../../lib/settings.js';
import { date as written, say, translate } from '../../lib/text.js';
import { pictureButton } from './daily-picture.js';
import { peg } from './rows.js';
import { rules } from './rules.js';

await sheet('board.css', import.meta.url);

/** @typedef {import('../types.js').Room} Room */

const LENGTHS = [4, 5, 6, 7, 8];
/** A picture of a code; stars are unknown pegs. */
const EXAMPLE = '35*6';

/**
 * Shows the page until the returned function is called.
 * @param {HTMLElement} main
 * @param {{ rooms: Room[] }} first
 */
export function showPage(main, first) {
  title(say('game.mastermind'));
  main.dataset.page = 'puzzles';
  main.dataset.game = 'mastermind';
  const today = element('section', { class: 'panel today', 'aria-labelledby': 'today' });
  const free = element('section', { class: 'panel', 'aria-labelledby': 'free' });
  const race = element('section', { class: 'panel', 'aria-labelledby': 'race' });
  const open = element('section', { class: 'panel', 'aria-labelledby': 'open' });
  const problem = element('p', { class: 'error', role: 'alert' });
  main.replaceChildren(
    element('h1', {}, say('game.mastermind')),
    problem,
    element('div', { class: 'cards-of-games' }, today, free, race, open, element('section', { class: 'panel', 'aria-label': say('puzzles.rules') }, rulePictures(rules))),
  );
  const failed = (/** @type {unknown} */ error) => {
    problem.textContent = errorText(error);
  };
  let left = false;
  const show = (/** @type {Room[]} */ rooms) => {
    const all = rooms.filter(({ game }) => game === 'mastermind');
    const mode = (/** @type {Room} */ room) => room.options?.['mode'];
    const daily = all.find((room) => mode(room) === 'daily');
    const date = new Date().toISOString().slice(0, 10);
    const result = recall(`mastermind result ${date}`);
    const { streak, turns } = dailyRecord((one) => recall(`mastermind ${one}`), new Date());
    today.replaceChildren(
      element('h2', { id: 'today' }, say('puzzles.today')),
      element('p', {}, say('puzzles.today.text', { date: day(date) })),
      ...(streak > 0 ? [element('p', { class: 'soft' }, say('lobby.daily.streak', { count: streak }))] : []),
      ...dailyBars(turns),
      ...(result ? [element('pre', { class: 'share', role: 'group', tabindex: '0', 'aria-label': say('puzzles.today.result') }, result)] : [element('span', { class: 'holes', 'aria-hidden': 'true' }, ...[...EXAMPLE].map(peg))]),
      element(
        'div',
        { class: 'row' },
        ...(daily ? [element('a', { class: 'button primary large', href: `/rooms/${daily.id}` }, say(result ? 'puzzles.today.again' : 'page.play'))] : [element('p', {}, say('puzzles.today.none'))]),
        ...(result ? [copyButton(() => result, say('mastermind.end.copy')), pictureButton(date, result, failed)] : []),
      ),
    );
    const others = all.filter((room) => room.players.length > 0 && mode(room) !== 'daily');
    open.hidden = others.length === 0;
    open.replaceChildren(
      element('h2', { id: 'open' }, say('puzzles.open')),
      element(
        'ul',
        {},
        ...others.map((room) =>
          element(
            'li',
            { class: 'row' },
            element('span', {}, translate(room.title)),
            ...room.players.map((player) => person(player)),
            element('a', { class: 'button', href: `/rooms/${room.id}?watch` }, say('page.watch')),
            ...(mode(room) === 'race' && room.taken < room.seats ? [element('a', { class: 'button', href: `/rooms/${room.id}` }, say('puzzles.open.join'))] : []),
          ),
        ),
      ),
    );
  };
  /** @param {Record<string, unknown>} options */
  const make = async (options) => {
    problem.textContent = '';
    try {
      const room = await request('/api/rooms', { game: 'mastermind', ...options });
      if (!left) navigate(`/rooms/${room.id}`);
    } catch (error) {
      failed(error);
    }
  };
  free.replaceChildren(element('h2', { id: 'free' }, say('puzzles.free')), element('p', {}, say('puzzles.free.text')), form('solo', [], (options) => make({ mode: 'solo', ...options })));
  const players = select(say('puzzles.race.players'), [2, 3, 4, 6, 8].map((number) => [String(number), say('match.players', { count: number })]), '2');
  race.replaceChildren(
    element('h2', { id: 'race' }, say('puzzles.race')),
    element('p', {}, say('puzzles.race.text')),
    form('race', [players], (options) => make({ mode: 'race', players: Number(players.value), ...options })),
  );
  show(first.rooms);
  const live = new LobbyFeed({ game: 'mastermind' }, { lobby: ({ rooms }) => show(rooms) });
  return () => {
    left = true;
    live.close();
    delete main.dataset.game;
  };
}

/** @param {string} date As in 2026-11-22. */
const day = (date) => written(new Date(date), { day: 'numeric', month: 'long', timeZone: 'UTC' });

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
  const length = select(say('puzzles.pegs'), LENGTHS.map((pegs) => [String(pegs), say('mastermind.length', { count: pegs })]), '4');
  const repeats = select(say('puzzles.repeats'), [['yes', say('mastermind.repeats.yes')], ['no', say('mastermind.repeats.no')]], 'yes');
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
    element('button', {}, say('puzzles.begin')),
  );
}
