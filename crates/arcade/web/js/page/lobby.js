import { GAMES, isGame } from '../games/index.js';
import { errorText, request } from '../lib/api.js';
import { copyButton, copyable, element, title, updateChildren } from '../lib/dom.js';
import { LobbyFeed } from '../lib/live.js';
import { person } from '../lib/person.js';
import { fetchPublicAddress, publicAddress } from '../lib/public.js';
import { standingText } from '../lib/rating.js';
import { navigate } from '../lib/route.js';
import { say } from '../lib/text.js';
import { storeExpectedWait } from './expected-wait.js';
import { Filter } from './filter.js';
import { isFirst } from './intro.js';
import { isAlone, joinCommand, offersTerminal, phaseInWords, roomFacts, roomTitle } from './labels.js';
import { matchLine } from './matches.js';
import { askName } from './name-dialog.js';
import { key } from './name-key.js';
import { newRoom } from './new-room.js';
import { terminalLines } from './terminal.js';
import { Thumbnails } from './thumbnails.js';

/**
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {import('../games/types.js').Leader} Leader
 * @typedef {import('../games/types.js').Lobby} Lobby
 */

/**
 * Shows the lobby until the returned function is called.
 * @param {HTMLElement} main
 * @param {Lobby} first
 * @param {URLSearchParams} query The filter of the rooms.
 */
export function showLobby(main, first, query) {
  title('');
  const problem = element('p', { class: 'error', role: 'alert' });
  const rooms = element('ul', { class: 'rooms' });
  const unsure = element('p', { class: 'note', role: 'status' });
  const recent = element('ul', { class: 'matches' });
  const leaders = element('div', { class: 'leaders' });
  const thumbnails = new Thumbnails((ids) => live.subscribe(ids));
  const filter = new Filter(query, (look) => live.select(look));
  /** @type {Partial<Lobby>} */
  let shown = {};
  main.dataset.page = 'lobby';
  main.replaceChildren(
    element(
      'section',
      { class: 'hero', 'aria-labelledby': 'play' },
      element('h1', { id: 'play' }, say('lobby.play')),
      element('p', { class: 'note' }, say('lobby.play.note')),
      problem,
      element('ul', { class: 'tiles' }, ...Object.keys(GAMES).map((game) => tile(game, problem))),
    ),
    element('section', { 'aria-labelledby': 'rooms' }, element('h2', { id: 'rooms' }, say('lobby.rooms')), unsure, filter.find, rooms, filter.pages, newRoom()),
    element(
      'div',
      { class: 'columns' },
      element('section', { class: 'panel', 'aria-labelledby': 'leads' }, element('h2', { id: 'leads' }, say('lobby.leads')), leaders),
      element('section', { class: 'panel', 'aria-labelledby': 'recent' }, element('h2', { id: 'recent' }, say('lobby.recent')), recent),
      invitation(),
    ),
  );
  /** Cards by room, reused so that focus and pictures stay. @type {Map<string, Card>} */
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
    // Existing cards are not moved.
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
    if (lobby.unsure !== shown.unsure) unsure.textContent = lobby.unsure ? say('lobby.unsure') : '';
    if (lobby.recent !== shown.recent) {
      updateChildren(recent, ...(lobby.recent?.length ? lobby.recent.map(matchLine) : [nothing(say('lobby.recent.none'))]));
    }
    if (lobby.leaders !== shown.leaders) updateChildren(leaders, ...leaderLists(lobby.leaders ?? {}));
    shown = lobby;
  };
  const rejected = (/** @type {string} */ why) => {
    problem.textContent = why;
    filter.clear();
  };
  const live = new LobbyFeed(filter.look, { lobby: show, picture: (id, parts) => thumbnails.show(id, parts), rejected });
  if (filter.isOpen()) show(first);
  return () => {
    live.close();
    thumbnails.stop();
  };
}

/**
 * @param {string} game
 * @param {HTMLElement} problem Shows errors.
 */
function tile(game, problem) {
  const { title: name, line } = GAMES[game];
  const button = element('button', { type: 'button', class: 'primary', 'aria-label': say('lobby.play.label', { game: name }) }, say('lobby.play'));
  button.addEventListener('click', async () => {
    problem.textContent = '';
    if (!(await askName())) return;
    button.disabled = true;
    try {
      const room = await request(`/api/play/${game}?fill=true${isFirst(game) ? '&level=easy' : ''}`, { key: key() });
      storeExpectedWait(room);
      navigate(`/rooms/${room.id}`);
    } catch (error) {
      problem.textContent = errorText(error);
      button.disabled = false;
    }
  });
  const mark = element('span', { class: 'face', 'aria-hidden': 'true' });
  return element('li', { class: 'tile', 'data-game': game }, mark, element('h2', {}, name), element('p', {}, line), button);
}

class Card {
  /** @param {Room} room */
  constructor(room) {
    const { title: name } = GAMES[room.game];
    this.shown = '';
    this.picture = element('div', { class: 'picture' });
    this.text = element('div', { class: 'facts' });
    this.name = element('span', { class: 'soft' });
    this.item = element(
      'li',
      { class: 'room', 'data-game': room.game, 'data-room': room.id },
      this.picture,
      element('h3', {}, name, ' ', this.name),
      this.text,
      element(
        'div',
        { class: 'row' },
        element('a', { class: 'button primary', href: `/rooms/${room.id}`, 'aria-label': say('lobby.room.play', { room: room.id }) }, say('page.play')),
        element('a', { class: 'button', href: `/rooms/${room.id}?watch`, 'aria-label': say('lobby.room.watch', { room: room.id }) }, say('page.watch')),
      ),
      // The hub sends the port of a non-public room only to its members.
      ...(room.port === 0 || !offersTerminal()
        ? []
        : [element('details', {}, element('summary', {}, say('room.terminal')), ...terminalLines(joinCommand(room), say('lobby.room.command', { room: room.id })))]),
    );
  }

  /** @param {Room} room */
  update(room) {
    const special = roomFacts(room);
    const facts = JSON.stringify([room.phase, room.taken, room.players, room.count, room.name, special]);
    if (facts === this.shown) return;
    this.shown = facts;
    const names = element('p', { class: 'soft names' }, ...room.players.map((player) => person(player)));
    const more = (room.count ?? room.players.length) - room.players.length;
    if (more > 0) names.append(say('lobby.room.more', { count: more }));
    this.item.dataset.phase = room.phase;
    this.name.textContent = roomTitle(room);
    updateChildren(
      this.text,
      element('p', { class: 'state' }, phaseInWords(room)),
      ...(isAlone(room) ? [] : [element('p', { class: 'soft' }, say('lobby.room.seats', { taken: room.taken, count: room.seats }))]),
      ...(room.players.length > 0 ? [names] : []),
      ...(special.length > 0 ? [element('p', { class: 'row' }, ...special.map((fact) => element('span', { class: 'tag' }, fact)))] : []),
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
  if (lists.length === 0) return [element('p', { class: 'soft' }, say('lobby.leads.nobody'))];
  return [...lists, element('p', {}, element('a', { href: '/players' }, say('lobby.leads.all')))];
}

/** The address of the arcade and its QR code. */
function invitation() {
  const code = element('div', { class: 'qr' });
  const details = element(
    'details',
    {
      toggle: () => {
        if (details.open && !code.firstChild) {
          code.append(element('img', { src: '/qr.svg', alt: say('lobby.invite.code'), width: '200', height: '200' }));
        }
      },
    },
    element('summary', {}, say('lobby.invite.show')),
    code,
  );
  const address = copyable(say('lobby.invite.address'), publicAddress('/'));
  void fetchPublicAddress().then(() => (address.textContent = publicAddress('/')));
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'invite' },
    element('h2', { id: 'invite' }, say('lobby.invite')),
    element('p', {}, `${say('lobby.invite.here')} `),
    address,
    copyButton(() => publicAddress('/')),
    details,
  );
}
