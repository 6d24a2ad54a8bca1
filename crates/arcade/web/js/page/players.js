// Leaderboards, players, and comparisons.

import { GAMES, isGame } from '../games/index.js';
import { errorText, request } from '../lib/api.js';
import { avatar } from '../lib/avatar.js';
import { curve } from '../lib/curve.js';
import { element, sheet, title } from '../lib/dom.js';
import { faceOf } from '../lib/face.js';
import { characters, isolated } from '../lib/names.js';
import { named, person } from '../lib/person.js';
import { PLACEMENT, classText, placementText, standingText } from '../lib/rating.js';
import { navigate } from '../lib/route.js';
import { date, number, say, sayNodes } from '../lib/text.js';
import { matchLine } from './matches.js';
import { keepButton } from './name-dialog.js';
import { name as ownName } from './name-key.js';

await sheet('players.css', import.meta.url);

/**
 * @typedef {import('../games/types.js').Leader} Leader
 * @typedef {import('../games/types.js').Match} Match
 * @typedef {import('../games/types.js').Standing & { class: string, history?: [string, number][] }} Record
 * @typedef {{ game: string, class: string, players: Leader[], provisional: Leader[] }} Board
 */

/** @param {string} name */
const face = (name) => element('span', { 'aria-hidden': 'true' }, avatar(characters(name)[0] ?? '', faceOf(name)));

/**
 * Shows the heading at once, and the parts or an error after the fetch.
 * @param {HTMLElement} main
 * @param {string} heading
 * @param {() => Promise<Node[]>} make
 * @param {Node[]} faces Before the heading.
 */
function page(main, heading, make, ...faces) {
  let left = false;
  title(heading);
  main.dataset.page = 'players';
  const top = element('h1', {}, ...faces, heading);
  main.replaceChildren(top);
  make().then(
    (parts) => {
      if (!left) main.replaceChildren(top, ...parts);
    },
    (error) => {
      if (!left) main.append(element('p', { class: 'error', role: 'alert' }, errorText(error)));
    },
  );
  return () => {
    left = true;
  };
}

/**
 * The leaderboards of all games, of all time or of a season.
 * @param {HTMLElement} main
 */
export const showPlayers = (main) =>
  page(main, say('page.players'), async () => {
    const season = new URLSearchParams(location.search).get('season') ?? '';
    const { boards, seasons } = /** @type {{ boards: Board[], seasons: string[] }} */ (await request(`/api/leaders?season=${encodeURIComponent(season)}`));
    const times = ['', ...[...seasons].reverse()].map((name) =>
      element('a', { class: 'button', href: `/players${name ? `?season=${name}` : ''}`, ...(name === season && { 'aria-current': 'true' }) }, name ? seasonText(name) : say('players.all-time')),
    );
    const input = element('input', { id: 'find', type: 'search', autocomplete: 'off', maxlength: '64' });
    const find = element(
      'form',
      {
        class: 'row find',
        role: 'search',
        submit: (event) => {
          event.preventDefault();
          if (input.value.trim()) navigate(`/players/${encodeURIComponent(input.value.trim())}`);
        },
      },
      element('label', { for: 'find' }, say('players.find')),
      input,
      element('button', {}, say('players.find.submit')),
    );
    const tables = boards.filter(({ game }) => isGame(game)).map(leaderboard);
    const note = element('p', { class: 'note' }, say('players.note'));
    const ladder = boards.some(({ class: name }) => name === 'ladder') ? [element('p', {}, element('a', { href: '/ladder' }, say('page.ladder')))] : [];
    return [element('div', { class: 'bar' }, element('div', { class: 'row' }, ...times), find), note, ...ladder, ...(tables.length ? [element('div', { class: 'columns' }, ...tables)] : [element('p', {}, say('players.none'))])];
  });

/**
 * The months of a season, which is a quarter.
 * @param {string} season As in `2026-4`.
 */
function seasonText(season) {
  const [year, quarter] = season.split('-').map(Number);
  const month = (/** @type {number} */ index) => date(new Date(Date.UTC(year, index)), { month: 'short', timeZone: 'UTC' });
  return `${month(3 * quarter - 3)}–${month(3 * quarter - 1)} ${year}`;
}

/**
 * @param {string} game
 * @param {string} name Of its class.
 */
const boardTitle = (game, name) => [GAMES[game].title, classText(name)].filter(Boolean).join(': ');

/** @param {Board} board */
export function leaderboard({ game, class: name, players, provisional }) {
  const id = `board-${game}-${name}`;
  const what = say([...players, ...provisional][0]?.rating === null ? 'players.mean' : 'players.rating');
  return element(
    'section',
    { class: 'panel', 'data-game': game, 'aria-labelledby': id },
    element('h2', { id }, boardTitle(game, name)),
    players.length + provisional.length === 0
      ? element('p', { class: 'soft' }, say('players.none'))
      : element(
      'table',
      {},
      element('thead', {}, row('th', [['#', 'number'], [say('players.player'), ''], [what, 'number'], [say('players.matches'), 'number'], [say('players.won'), 'number']])),
      element(
        'tbody',
        {},
        ...[...players, ...provisional].map((player) =>
          row('td', [
            [player.provisional ? '–' : number(player.rank), 'number'],
            [element('span', { class: 'who' }, face(player.name), person(player, { link: true })), ''],
            [standingText(player), player.provisional ? 'placement' : 'number'],
            [number(player.matches), 'number'],
            [number(player.wins), 'number'],
          ]),
        ),
      ),
    ),
  );
}

/**
 * @param {'th' | 'td'} tag
 * @param {[string | Node, string][]} cells Content and class.
 */
const row = (tag, cells) => element('tr', {}, ...cells.map(([content, kind]) => element(tag, kind ? { class: kind } : {}, content)));

/**
 * @param {HTMLElement} main
 * @param {string} name
 * @param {string | null} kind `proven`, `unproven` or `bot`, since these may share a name; null lets the hub choose.
 */
export const showPlayer = (main, name, kind) =>
  page(main, isolated(name), async () => {
    const player = /** @type {{ name: string, proven?: boolean, bot?: boolean, games: { [game: string]: Record[] }, matches: Match[] }} */ (
      await request(`/api/players/${encodeURIComponent(name)}${kind ? `?kind=${encodeURIComponent(kind)}` : ''}`)
    );
    const games = Object.entries(player.games).filter(([game]) => isGame(game));
    const isOwn = !player.bot && !player.proven && name === ownName();
    return [
      element('p', { class: 'row' }, element('span', { class: 'chip' }, say(player.bot ? 'players.bot' : player.proven ? 'players.proven' : 'players.unproven')), ...(isOwn ? keepButton() : [])),
      profile(games.flatMap(([game, records]) => records.map((record) => standing(game, record))), player.matches, against(name)),
    ];
  }, face(name));

/**
 * The games beside the matches.
 * @param {Node[]} games
 * @param {Match[]} list
 * @param {...Node} more Above the matches.
 */
const profile = (games, list, ...more) =>
  element(
    'div',
    { class: 'profile' },
    element('div', { class: 'games' }, ...games),
    element(
      'section',
      { class: 'panel', 'aria-labelledby': 'matches' },
      ...more,
      element('h2', { id: 'matches' }, say('players.matches')),
      list.length ? element('ul', { class: 'matches' }, ...list.map(matchLine)) : element('p', { class: 'soft' }, say('players.matches.none')),
    ),
  );

/**
 * @param {string} game
 * @param {Record} record
 */
function standing(game, record) {
  const { class: name, matches: played, wins, history, provisional } = record;
  /** @type {Element[]} */
  const parts = [
    element('h2', {}, boardTitle(game, name)),
    element('p', { class: 'figure' }, element('b', {}, standingText(record))),
    element('p', { class: 'soft' }, say('players.standing', { count: played, wins })),
  ];
  if (provisional) parts.push(element('progress', { max: String(PLACEMENT), value: String(played), 'aria-label': placementText(played) }));
  if (history && history.length > 1 && !provisional) parts.push(curve(history.map(([, value]) => value), say('players.curve', { game: GAMES[game].title })));
  return element('section', { class: 'panel', 'data-game': game }, ...parts);
}

/** @param {string} name */
function against(name) {
  const input = element('input', { id: 'other', autocomplete: 'off', maxlength: '64', required: true });
  return element(
    'form',
    {
      class: 'row find',
      submit: (event) => {
        event.preventDefault();
        navigate(`/players/${encodeURIComponent(name)}/against/${encodeURIComponent(input.value.trim())}`);
      },
    },
    element('label', { for: 'other' }, say('players.compare')),
    input,
    element('button', {}, say('players.compare.submit')),
  );
}

/**
 * @param {HTMLElement} main
 * @param {string} one
 * @param {string} other
 */
export const showAgainst = (main, one, other) =>
  page(main, say('players.against', { one, other }), async () => {
    const answer = /** @type {{ games: { [game: string]: { wins: number, losses: number, ties: number } }, matches: Match[] }} */ (
      await request(`/api/players/${encodeURIComponent(one)}/against/${encodeURIComponent(other)}`)
    );
    const games = Object.entries(answer.games).filter(([game]) => isGame(game));
    const names = element(
      'p',
      {},
      ...sayNodes('players.both', {
        one: element('a', { href: `/players/${encodeURIComponent(one)}` }, named(one)),
        other: element('a', { href: `/players/${encodeURIComponent(other)}` }, named(other)),
      }),
    );
    if (games.length === 0) return [names, element('p', {}, say('players.strangers'))];
    return [names, profile(games.map(([game, score]) => versus(game, one, other, score)), answer.matches)];
  }, face(one), face(other));

/**
 * @param {string} game
 * @param {string} one
 * @param {string} other
 * @param {{ wins: number, losses: number, ties: number }} score
 */
function versus(game, one, other, { wins, losses, ties }) {
  const share = element('meter', { min: '0', max: String(Math.max(1, wins + losses)), value: String(wins), 'aria-label': say('players.won-by', { name: one }) });
  return element(
    'section',
    { class: 'panel', 'data-game': game },
    element('h2', {}, GAMES[game].title),
    element('p', { class: 'figure' }, element('b', {}, `${wins} : ${losses}`), ties ? `, ${say('players.draws', { count: ties })}` : ''),
    share,
    element('p', { class: 'note' }, say('players.versus', { one, wins, other, losses })),
  );
}
