// The lobby: play at once, rooms as they are now, recent matches and who leads.

import { GAMES, isGame } from '../games/index.js';
import { ask, errorText } from '../lib/api.js';
import { standingText } from '../lib/counts.js';
import { copyButton, count, element, renew, title } from '../lib/dom.js';
import { Live } from '../lib/live.js';
import { person } from '../lib/person.js';
import { go } from '../lib/route.js';
import { Filter } from './filter.js';
import { askName } from './identity.js';
import { isFirst } from './intro.js';
import { matchLine } from './matches.js';
import { newRoom } from './new-room.js';
import { terminalLines } from './terminal.js';
import { Thumbnails } from './thumbnails.js';
import { command, isAlone, phaseInWords } from './words.js';

/**
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {import('../games/types.js').Leader} Leader
 * @typedef {import('../games/types.js').Lobby} Lobby
 */

/**
 * Shows the lobby until the returned function is called.
 * @param {HTMLElement} main
 * @param {Lobby} first
 * @param {URLSearchParams} query Which rooms are looked at.
 */
export function showLobby(main, first, query) {
  title('');
  const problem = element('p', { class: 'error', role: 'alert' });
  const rooms = element('ul', { class: 'rooms' });
  const recent = element('ul', { class: 'matches' });
  const leaders = element('div', { class: 'leaders' });
  const thumbnails = new Thumbnails((ids) => live.picture(ids));
  const filter = new Filter(query, (look) => live.look(look));
  /** @type {Partial<Lobby>} */
  let shown = {};
  main.dataset.page = 'lobby';
  main.replaceChildren(
    element(
      'section',
      { class: 'hero', 'aria-labelledby': 'play' },
      element('h1', { id: 'play' }, 'Play now'),
      element('p', { class: 'note' }, 'One click and you sit in a game. Friends join from this page or from a terminal.'),
      problem,
      element('ul', { class: 'tiles' }, ...Object.keys(GAMES).map((game) => tile(game, problem))),
    ),
    element('section', { 'aria-labelledby': 'rooms' }, element('h2', { id: 'rooms' }, 'Rooms'), filter.find, rooms, filter.pages, newRoom()),
    element(
      'div',
      { class: 'columns' },
      element('section', { class: 'panel', 'aria-labelledby': 'leads' }, element('h2', { id: 'leads' }, 'Who leads'), leaders),
      element('section', { class: 'panel', 'aria-labelledby': 'recent' }, element('h2', { id: 'recent' }, 'Recent matches'), recent),
      invitation(),
    ),
  );
  /** Cards by room, so that what has the focus or shows a picture stays. @type {Map<string, Card>} */
  const cards = new Map();
  /** @param {Lobby} lobby */
  const show = (lobby) => {
    const here = new Set(lobby.rooms.map(({ id }) => id));
    for (const [id, card] of cards) {
      if (here.has(id)) continue;
      thumbnails.drop(id);
      card.item.remove();
      cards.delete(id);
    }
    // A card that is there already stays where it is.
    for (const [index, room] of lobby.rooms.entries()) {
      let card = cards.get(room.id);
      if (!card) {
        card = new Card(room);
        cards.set(room.id, card);
        rooms.insertBefore(card.item, rooms.children[index] ?? null);
        thumbnails.add(room, card.picture);
      }
      card.update(room);
      thumbnails.update(room);
    }
    filter.show(lobby.total ?? lobby.rooms.length, lobby.rooms.length);
    if (lobby.recent !== shown.recent) {
      renew(recent, ...(lobby.recent?.length ? lobby.recent.map(matchLine) : [nothing('No match has ended here yet.')]));
    }
    if (lobby.leaders !== shown.leaders) renew(leaders, ...leaderLists(lobby.leaders ?? {}));
    shown = lobby;
  };
  const live = new Live(filter.look, { lobby: show, picture: (id, parts) => thumbnails.show(id, parts) });
  if (filter.isOpen()) show(first);
  return () => {
    live.close();
    thumbnails.stop();
  };
}

/**
 * A game that can be played at once.
 * @param {string} game
 * @param {HTMLElement} problem Where errors are told.
 */
function tile(game, problem) {
  const { title: name, line } = GAMES[game];
  const button = element('button', { type: 'button', class: 'primary', 'aria-label': `Play now: ${name}` }, 'Play now');
  button.addEventListener('click', async () => {
    problem.textContent = '';
    if (!(await askName())) return;
    button.disabled = true;
    try {
      const room = await ask(`/api/play/${game}?fill=true${isFirst(game) ? '&level=easy' : ''}`, {});
      go(`/rooms/${room.id}`);
    } catch (error) {
      problem.textContent = errorText(error);
      button.disabled = false;
    }
  });
  const mark = element('span', { class: 'face', 'aria-hidden': 'true' });
  return element('li', { class: 'tile', 'data-game': game }, mark, element('h2', {}, name), element('p', {}, line), button);
}

/** A room in the lobby. */
class Card {
  /** @param {Room} room */
  constructor(room) {
    const { title: name } = GAMES[room.game];
    this.shown = '';
    this.picture = element('div', { class: 'picture' });
    this.text = element('div', { class: 'facts' });
    const join = command(room);
    this.item = element(
      'li',
      { class: 'room', 'data-game': room.game, 'data-room': room.id },
      this.picture,
      element('h3', {}, name, ' ', element('span', { class: 'soft' }, room.title)),
      this.text,
      element(
        'div',
        { class: 'row' },
        element('a', { class: 'button primary', href: `/rooms/${room.id}`, 'aria-label': `Play in ${room.id}` }, 'Play'),
        element('a', { class: 'button', href: `/rooms/${room.id}?watch`, 'aria-label': `Watch ${room.id}` }, 'Watch'),
      ),
      element(
        'details',
        {},
        element('summary', {}, 'Join from a terminal'),
        ...terminalLines(join, `Command for ${room.id}`),
      ),
    );
  }

  /** @param {Room} room */
  update(room) {
    const facts = JSON.stringify([room.phase, room.taken, room.players, room.count]);
    if (facts === this.shown) return;
    this.shown = facts;
    const names = element('p', { class: 'soft names' }, ...room.players.map((player) => person(player)));
    const more = (room.count ?? room.players.length) - room.players.length;
    if (more > 0) names.append(`and ${more} more`);
    this.item.dataset.phase = room.phase;
    renew(
      this.text,
      element('p', { class: 'state' }, phaseInWords(room)),
      ...(isAlone(room) ? [] : [element('p', { class: 'soft' }, `${room.taken} of ${count(room.seats, 'seat')} taken`)]),
      ...(room.players.length > 0 ? [names] : []),
    );
  }
}

/** @param {string} text */
const nothing = (text) => element('li', { class: 'soft' }, text);

/** @param {Record<string, Leader[]>} leaders */
function leaderLists(leaders) {
  const lists = Object.entries(leaders)
    .filter(([game, rows]) => isGame(game) && rows.length > 0)
    .map(([game, rows]) =>
      element(
        'div',
        { class: 'leader', 'data-game': game },
        element('h3', {}, GAMES[game].title),
        element(
          'ol',
          {},
          ...rows.map((row) => element('li', {}, person(row, { link: true }), element('b', {}, standingText(row)))),
        ),
      ),
    );
  if (lists.length === 0) return [element('p', { class: 'soft' }, 'Nobody leads yet. Play a match with somebody and it may be you.')];
  return [...lists, element('p', {}, element('a', { href: '/players' }, 'All players'))];
}

/** How friends come here. */
function invitation() {
  const code = element('div', { class: 'qr' });
  const details = element(
    'details',
    {
      toggle: () => {
        if (details.open && !code.firstChild) {
          code.append(element('img', { src: '/qr.svg', alt: 'The address of this page as a QR code', width: '200', height: '200' }));
        }
      },
    },
    element('summary', {}, 'Show as a QR code'),
    code,
  );
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'invite' },
    element('h2', { id: 'invite' }, 'Bring your friends'),
    element('p', {}, 'This page is at '),
    element('code', { class: 'command', tabindex: '0', 'aria-label': 'The address of this page' }, `${location.origin}/`),
    copyButton(() => `${location.origin}/`),
    details,
  );
}
