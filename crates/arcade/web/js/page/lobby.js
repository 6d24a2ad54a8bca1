import { GAMES, isGame } from '../games/index.js';
import { errorText, load, request } from '../lib/api.js';
import { avatar } from '../lib/avatar.js';
import { challengeScore, challengeStreak, dailyBars, dailyRecord, today } from '../lib/daily.js';
import { copyButton, copyable, element, title, updateChildren } from '../lib/dom.js';
import { faceOf } from '../lib/face.js';
import { LobbyFeed } from '../lib/live.js';
import { characters, isolated } from '../lib/names.js';
import { person } from '../lib/person.js';
import { fetchPublicAddress, publicAddress } from '../lib/public.js';
import { standingText } from '../lib/rating.js';
import { navigate } from '../lib/route.js';
import { isFirst, recall } from '../lib/settings.js';
import { say, translate } from '../lib/text.js';
import { storeExpectedWait } from './expected-wait.js';
import { Filter } from './filter.js';
import { isAlone, phaseInWords, roomFacts } from './labels.js';
import { matchLine } from './matches.js';
import { askName } from './name-dialog.js';
import { key } from './name-key.js';
import { Thumbnails } from './thumbnails.js';

/**
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {import('../games/types.js').Leader} Leader
 * @typedef {import('../games/types.js').Lobby} Lobby
 */

/** Faces on the card of a room. */
const FACES = 4;

/**
 * Shows the lobby until the returned function is called.
 * @param {HTMLElement} main
 * @param {Lobby} first
 * @param {URLSearchParams} query The filter of the rooms.
 */
export function showLobby(main, first, query) {
  title('');
  const problem = element('p', { class: 'error', role: 'alert' });
  const busy = element('ul', { class: 'rooms' });
  const quiet = element('p', { class: 'soft' }, say('lobby.now.none'));
  const unsure = element('p', { class: 'note', role: 'status' });
  const empty = element('ul', { class: 'rooms' });
  const summary = element('summary', {});
  const fold = element('details', { hidden: true }, summary, empty);
  const recent = element('ul', { class: 'matches' });
  const leaders = element('div', { class: 'leaders' });
  const thumbnails = new Thumbnails((ids) => live.subscribe(ids));
  const filter = new Filter(query, (look) => live.select(look));
  /** @type {ReturnType<typeof import('./new-room.js').newRoom> | undefined} */
  let form;
  const open = async () => {
    try {
      form ??= (await load(() => import('./new-room.js'))).newRoom();
      if (create.isConnected) await form.open();
    } catch (error) {
      problem.textContent = errorText(error);
    }
  };
  const create = element('button', { type: 'button', 'aria-haspopup': 'dialog', click: () => void open() }, say('new.open'));
  const tiles = Object.keys(GAMES).map((game) => new Tile(game, problem));
  const daily = element('section', { class: 'panel daily', 'data-game': 'mastermind', 'aria-labelledby': 'daily' });
  /** @type {Partial<Lobby>} */
  let shown = {};
  main.dataset.page = 'lobby';
  main.replaceChildren(
    element('section', { class: 'top', 'aria-labelledby': 'play' }, element('h1', { id: 'play' }, say('lobby.play')), joinForm(), create),
    problem,
    element('ul', { class: 'tiles', 'aria-labelledby': 'play' }, ...tiles.map(({ item }) => item)),
    element('section', { 'aria-labelledby': 'rooms' }, element('h2', { id: 'rooms' }, say('lobby.now')), unsure, filter.find, busy, quiet, fold, filter.pages),
    element(
      'section',
      { class: 'today', 'aria-labelledby': 'today' },
      element('h2', { id: 'today' }, say('lobby.today')),
      element('div', { class: 'columns' }, daily, ...challenges(), element('section', { class: 'panel all', 'aria-labelledby': 'leads' }, element('h3', { id: 'leads' }, say('lobby.leads')), leaders)),
    ),
    element(
      'div',
      { class: 'columns' },
      element('section', { class: 'panel wide', 'aria-labelledby': 'recent' }, element('h3', { id: 'recent' }, say('lobby.recent')), recent),
      invitation(),
    ),
  );
  for (const tile of tiles) thumbnails.add(tile.name, tile.name, tile.picture);
  /** Cards by room, reused so that focus and pictures stay. @type {Map<string, Card>} */
  const cards = new Map();
  /** A room moves between the lists, but not away from a pointer or the focus. @param {Card} card @param {Room} room */
  const place = (card, room) => {
    const list = room.taken > 0 ? busy : empty;
    const now = card.item.parentElement;
    if (now !== list && !now?.matches(':hover, :focus-within')) list.append(card.item);
  };
  /** @param {Lobby} lobby */
  const show = (lobby) => {
    const here = new Set(lobby.rooms.map(({ id }) => id));
    for (const [id, card] of cards) {
      if (here.has(id)) continue;
      thumbnails.drop(id);
      card.item.remove();
      cards.delete(id);
    }
    // Existing cards are not reordered.
    for (const room of lobby.rooms) {
      let card = cards.get(room.id);
      if (!card) {
        card = new Card(room);
        cards.set(room.id, card);
        thumbnails.add(room.id, room.game, card.picture);
      }
      card.update(room);
      place(card, room);
      thumbnails.update(room.id, room);
    }
    const isOpen = filter.isOpen();
    filter.show(lobby.total ?? lobby.rooms.length, lobby.rooms.length);
    quiet.hidden = busy.children.length > 0 || !isOpen;
    fold.hidden = empty.children.length === 0;
    summary.textContent = say('lobby.empty', { count: empty.children.length });
    // The tiles show all rooms.
    if (isOpen) for (const tile of tiles) thumbnails.update(tile.name, tile.update(lobby.rooms));
    else fold.open = true;
    const puzzle = lobby.rooms.find(({ options }) => options?.['mode'] === 'daily');
    daily.hidden = !puzzle && isOpen;
    if (puzzle) updateChildren(daily, ...dailyPuzzle(puzzle));
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
    form?.dialog.close();
    thumbnails.stop();
  };
}

/** Enters a room by its code or its link. */
function joinForm() {
  const input = element('input', { maxlength: '200', autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', placeholder: say('lobby.code.short'), 'aria-label': say('lobby.code') });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const code = input.value.trim().replace(/^.*\/j\//, '').replace(/[^a-z]/gi, '').toLowerCase();
    if (code) navigate(`/j/${code}`);
    else input.focus();
  };
  return element('form', { class: 'row code-form', submit }, input, element('button', {}, say('door.enter')));
}

/** A game with the picture of its busiest room. */
class Tile {
  /**
   * @param {string} name
   * @param {HTMLElement} problem Shows errors.
   */
  constructor(name, problem) {
    this.name = name;
    const { title: heading, line, daily } = GAMES[name];
    this.picture = element('div', { class: 'picture' });
    this.playing = element('span', { class: 'playing', hidden: true });
    const button = element('button', { type: 'button', 'aria-label': say('lobby.play.label', { game: heading }) }, say('page.play'));
    button.addEventListener('click', async () => {
      problem.textContent = '';
      if (!(await askName())) return;
      button.disabled = true;
      try {
        const room = await request(`/api/play/${name}?fill=true${isFirst(name) ? '&level=easy' : ''}`, { key: key() });
        storeExpectedWait(room);
        navigate(`/rooms/${room.id}`);
      } catch (error) {
        problem.textContent = errorText(error);
        button.disabled = false;
      }
    });
    this.item = element('li', { class: 'tile', 'data-game': name }, this.picture, this.playing, ...(daily ? [element('a', { class: 'day', href: daily, 'aria-label': say('challenge.open', { game: heading }) }, say('challenge.daily'))] : []), element('h2', {}, heading), element('p', {}, line), button);
    /** @type {string | undefined} */
    this.room = undefined;
  }

  /**
   * Returns the room of the picture, which changes only when that room is empty.
   * @param {Room[]} rooms
   */
  update(rooms) {
    const busy = rooms.filter(({ game, taken }) => game === this.name && taken > 0);
    const count = busy.reduce((sum, { taken }) => sum + taken, 0);
    this.playing.hidden = count === 0;
    this.playing.textContent = say('room.alone', { count });
    const [fullest] = busy.sort((one, other) => other.taken - one.taken);
    const room = busy.find(({ id }) => id === this.room) ?? fullest;
    this.room = room?.id;
    return room;
  }
}

class Card {
  /** @param {Room} room */
  constructor(room) {
    this.shown = '';
    this.picture = element('div', { class: 'picture' });
    this.text = element('div', { class: 'facts' });
    this.name = element('h3', {});
    this.what = element('p', { class: 'soft what' });
    this.actions = element('div', { class: 'actions' });
    this.item = element(
      'li',
      { class: 'room', 'data-game': room.game, 'data-room': room.id },
      this.picture,
      element('div', { class: 'about' }, this.name, this.what, this.text),
      this.actions,
    );
  }

  /** @param {Room} room */
  update(room) {
    const special = roomFacts(room);
    const facts = JSON.stringify([room.phase, room.taken, room.players, room.count, room.name, room.locked, special]);
    if (facts === this.shown) return;
    this.shown = facts;
    const names = room.players.map(({ name }) => isolated(name)).join(', ');
    const more = (room.count ?? room.players.length) - room.players.length;
    const faces = room.players.slice(0, FACES).map(({ name }) => avatar(characters(name)[0] ?? '', faceOf(name)));
    this.item.dataset.phase = room.phase;
    this.name.textContent = [GAMES[room.game].title, ...(room.name ? [isolated(room.name)] : [])].join(' · ');
    this.what.textContent = translate(room.title);
    updateChildren(
      this.text,
      element('p', { class: 'state' }, [phaseInWords(room), ...special].join(' · ')),
      ...(room.players.length > 0
        ? [
            element('div', { class: 'faces' }, ...faces, element('p', { class: 'soft names' }, more > 0 ? `${names} ${say('lobby.room.more', { count: more })}` : names)),
          ]
        : []),
    );
    const isFull = !isAlone(room) && room.taken >= room.seats;
    const link = (/** @type {string} */ to, /** @type {string} */ label, /** @type {string} */ text) => element('a', { class: 'button', 'data-key': to, href: to, 'aria-label': label }, text);
    updateChildren(
      this.actions,
      ...(isFull ? [] : [link(`/rooms/${room.id}`, say('lobby.room.play', { room: room.id }), say('door.enter'))]),
      ...(room.taken > 0 ? [link(`/rooms/${room.id}?watch`, say('lobby.room.watch', { room: room.id }), say('page.watch'))] : []),
    );
  }
}

/**
 * The puzzle of the day: the player's streak, and how many guesses the last codes took.
 * @param {Room} room
 */
function dailyPuzzle(room) {
  const { streak, turns, isSolved } = dailyRecord((date) => recall(`mastermind ${date}`), new Date());
  return [
    element(
      'div',
      {},
      element('h3', { id: 'daily' }, say('puzzles.today')),
      element('p', { class: 'soft' }, say(streak > 0 ? 'lobby.daily.streak' : 'lobby.daily.text', { count: streak })),
      ...dailyBars(turns),
    ),
    element('a', { class: 'button primary', href: `/rooms/${room.id}` }, say(isSolved ? 'puzzles.today.again' : 'lobby.daily.solve')),
  ];
}

/** The daily challenges, with the player's score of today. */
const challenges = () =>
  Object.values(GAMES).flatMap(({ name, title: game, challenge }) => {
    if (!challenge) return [];
    const [score, streak] = [challengeScore(name, today()), challengeStreak(name)];
    const facts = [...(score === null ? [] : [challenge.score(score)]), ...(streak > 0 ? [say('lobby.daily.streak', { count: streak })] : [])];
    const [heading, action] = [say('challenge.title', { game }), say(score === null ? 'page.play' : 'page.result')];
    return [
      element(
        'section',
        { class: 'panel daily', 'data-game': name, 'aria-labelledby': `daily-${name}` },
        element('div', {}, element('h3', { id: `daily-${name}` }, heading), element('p', { class: 'soft' }, facts.length > 0 ? facts.join(' · ') : say('challenge.line'))),
        element('a', { class: 'button primary', href: `/daily/${name}`, 'aria-label': `${action}: ${heading}` }, action),
      ),
    ];
  });

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
        element('h4', {}, GAMES[game].title),
        element(
          'ol',
          {},
          ...rows.map((row) => element('li', {}, avatar(characters(row.name)[0] ?? '', faceOf(row.name)), person(row, { link: true }), element('b', {}, standingText(row)))),
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
    element('h3', { id: 'invite' }, say('lobby.invite')),
    element('p', {}, `${say('lobby.invite.here')} `),
    address,
    copyButton(() => publicAddress('/')),
    details,
  );
}
