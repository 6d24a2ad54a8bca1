// The inside of a room: the board of its game, the panels beside it, and the connection.

import { GAMES } from '../games/index.js';
import { countsText } from '../lib/counts.js';
import { confirm } from '../lib/confirm.js';
import { announceLink, element, title, toggle } from '../lib/dom.js';
import { CODES, LEFT, Link, socketAddress } from '../lib/link.js';
import { go } from '../lib/route.js';
import { keeps, visit } from '../lib/settings.js';
import { isOn, switchSound } from '../lib/sound.js';
import { say, told } from '../lib/text.js';
import { Away } from './away.js';
import { look, proof } from './door.js';
import { handOver, handed, linger } from './handed.js';
import { helpPanel } from './help.js';
import { Intro, isFirst, notePlayed } from './intro.js';
import { name as ownName, provenKey } from './key.js';
import { noSuchRoom } from './missing.js';
import { Owner } from './owner.js';
import { Rematch } from './rematch.js';
import { Result } from './result.js';
import { Seats } from './seats.js';
import { Share } from './share.js';
import { AfterMatch } from './story.js';
import { Talk } from './talk.js';
import { Waiting } from './waiting.js';
import { ending, phaseInWords, roomFacts, roomTitle } from './words.js';

/**
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {import('../games/types.js').Start} Start
 */

/** A spectator is moved to the next match if the connection has lasted for this time, in milliseconds. */
const CARRY = 2000;

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} game
 * @param {{ play: Start, story?: import('../games/types.js').Story }} loaded
 * @param {{ watching: boolean, next: boolean }} how
 */
export function enter(main, id, game, { play: start, story }, { watching, next }) {
  const key = `seat ${id} ${watching ? 'watch' : 'play'}`;
  const board = element('div', { class: 'board' });
  const below = element('div', { class: 'below' });
  const controls = element('div', { class: 'controls' });
  const more = element('div', { class: 'controls more' });
  const live = element('p', { class: 'hidden', 'aria-live': 'polite' });
  const what = element('span', { class: 'soft' });
  const phase = element('span', { class: 'chip' });
  const watchers = element('span', { class: 'chip', hidden: true });
  const ended = element('div', { class: 'ended', hidden: true });
  const facts = element('span', { class: 'facts' });
  const result = new Result(game);
  const after = new AfterMatch(game, story);
  result.story.append(after.panel);
  const away = new Away(main, watching);
  const waits = new Waiting(id, next);
  const share = new Share(id);
  const owner = new Owner(id, (room) => update(room));
  const talk = new Talk((phrase) => aside({ say: phrase }), () => list());
  const rematch = new Rematch({ answer: (ready) => aside({ rematch: ready }), begin: () => again(), leave: () => void leaveRoom() });
  /** @type {Room | null} */
  let shown = null;
  /** @type {string | null} */
  let own = null;
  let over = false;
  /** Whether the page is sending the request to join, which does not count as a move. */
  let opening = false;
  /** Whether the player has joined the next game, which hides the result. */
  let joined = false;
  /** The match of this page. @type {string | null | undefined} */
  let match;
  /** The first message of the hub on the socket that waits for a rematch after the match has ended with its connection. */
  const waiting = { hello: '', over: false };
  const seats = new Seats(id, (seat) => play.seat?.(seat) ?? { colour: null, value: '' }, () => (shown?.phase === 'playing' ? (play.leaders?.() ?? []) : []), talk);

  const again = () => {
    if (!over && play.again?.()) {
      joined = true;
      return result.hide();
    }
    // A page that waits for a rematch has a seat already.
    waiting.over = waiting.hello !== '';
    if (waiting.over) handOver(id, link, waiting.hello);
    visit.remember(key, null);
    return go(`/rooms/${id}${watching ? '?watch' : ''}`);
  };
  const list = () => {
    if (!shown) return;
    // In a later match the same seat belongs to another player.
    const mine = over && shown.match !== match ? null : own;
    seats.show(shown, mine);
    talk.show(shown.players);
    owner.show(shown, mine);
    talk.allow(!watching && own !== null && !link.ended);
    // The result is that of the match of this page.
    if (mine !== own) return;
    const last = over || shown.phase !== 'playing' ? shown.result : null;
    const rows = play.ownResult ? null : (play.result?.() ?? last);
    if (!rows) joined = false;
    if (!rows || joined) return result.hide();
    if (!watching && rows.some(({ seat }) => seat === own)) notePlayed(game);
    // The rows of the hub add which players are bots or have a verified name.
    const { result: before, players } = shown;
    const known = rows.map((row) => {
      const isIt = (/** @type {{ seat: string, name: string }} */ { seat, name }) => seat === row.seat && name === row.name;
      return { ...players.find(isIt), ...before?.find(isIt), ...row };
    });
    result.show(known, {
      own,
      colour: (seat) => play.seat?.(seat).colour ?? null,
      match: shown.match ?? null,
      counts: countsText(shown),
      again: watching ? null : again,
    });
    void after.show(shown?.match ?? null, rows.find(({ seat }) => seat === own) ?? null, () => play.tell?.() ?? Promise.resolve([]));
  };
  // Without a seat, the stored past belongs to an earlier one.
  if (visit.recall(key) === null) visit.remember(`past ${id}`, null);
  const play = start({
    board,
    below,
    controls,
    more,
    live,
    watching,
    playable: !watching,
    film: false,
    first: !watching && isFirst(game),
    name: ownName(),
    past: visit.recall(`past ${id}`),
    keep: (past) => visit.remember(`past ${id}`, past),
    send: (data) => {
      if (!opening) intro.moved();
      link.send(data);
    },
    seated: (seat) => {
      own = seat;
      if (seat === null) visit.remember(`own ${id}`, null);
      else visit.remember(`own ${id}`, seat);
      list();
    },
    changed: () => list(),
  });
  const help = helpPanel(play.help ?? []);
  const intro = new Intro(game, play.help ?? []);
  if (!watching) board.prepend(intro.panel);
  const leaveRoom = async () => {
    const stake = over ? null : (play.stake?.() ?? null);
    if (stake !== null && !(await confirm(say('room.leave.sure'), stake, say('room.leave')))) return;
    play.leave?.();
    link.close(LEFT);
    visit.remember(key, null);
    go('/');
  };
  const { title: gameName } = GAMES[game];
  title(watching ? say('room.watching', { game: gameName }) : gameName);
  main.replaceChildren(
    element(
      'div',
      { class: 'headline steady' },
      element('h1', {}, gameName, ' ', what),
      element('div', { class: 'chips' }, phase, facts, watchers),
      element(
        'div',
        { class: 'row tools' },
        ...(play.help && !watching ? [help.button] : []),
        toggle('♪', switchSound, isOn(), say('room.sound')),
        watching
          ? element('a', { class: 'button', href: `/rooms/${id}` }, say('page.play'))
          : element('button', { type: 'button', click: leaveRoom }, say('room.leave')),
      ),
    ),
    element(
      'div',
      { class: 'table' },
      element('div', { class: 'play' }, rematch.panel, result.panel, ended, away.panel, waits.panel, board, below, controls, more, help.panel),
      element(
        'aside',
        { class: 'side' },
        seats.panel,
        talk.heard,
        ...(watching || keeps() ? [] : [element('p', { class: 'note' }, say('room.forgets'))]),
        talk.panel,
        owner.news,
        owner.panel,
        share.panel,
      ),
    ),
    live,
    talk.live,
  );

  /** Sends a message to the hub that is not part of the game. @param {object} words */
  const aside = (words) => link.send(JSON.stringify(words));

  /** @param {Room} told */
  const update = (told) => {
    // The hub does not send the port to clients outside the room.
    const room = told.port === 0 && shown ? { ...told, port: shown.port } : told;
    if (room.code) visit.remember(`code ${id}`, room.code);
    share.show(room);
    shown = room;
    if (!over) ({ match } = room);
    if (next && room.phase === 'lobby') return go(`/rooms/${id}`);
    waits.show(room);
    what.textContent = roomTitle(room);
    facts.replaceChildren(...roomFacts(room).map((fact) => element('span', { class: 'chip', title: fact }, fact)));
    phase.textContent = phaseInWords(room);
    // A player who waits for the next game is not counted as a spectator on their own page.
    const mine = !watching && !room.players.some(({ seat }) => seat === own) ? 1 : 0;
    const others = Math.max(0, (room.watchers ?? 0) - mine);
    watchers.hidden = others === 0;
    watchers.textContent = say('room.watchers', { count: others });
    play.room(room);
    return list();
  };

  /** @param {string} text @param {boolean} always Whether to show the text beside a result too. */
  const end = (text, always = false) => {
    over = true;
    visit.remember(key, null);
    ended.replaceChildren(
      element('p', { role: 'status' }, text),
      element(
        'div',
        { class: 'row' },
        element('button', { type: 'button', class: 'primary again', click: again }, say(watching ? 'room.again.watch' : 'room.again')),
        element('a', { class: 'button', href: '/' }, say('page.lobby')),
      ),
    );
    // A result replaces the text.
    list();
    ended.hidden = !always && !result.panel.hidden;
  };

  /** Fetches the room again, after a result or when its socket is refused. Returns whether it still exists. */
  const inquire = async () => {
    try {
      update(await look(id));
      return true;
    } catch (error) {
      if (/** @type {{ status?: number }} */ (error).status === 404) return false;
      throw error;
    }
  };

  const seated = () => visit.recall(key) !== null;
  const back = () => {
    announceLink(say('link.open'), 'open');
    away.end();
  };
  // Any hub can relay a room to a spectator who does not own it, but has to know this before the first message.
  const looksOn = () => watching && !visit.recall(`owner ${id}`);
  const address = () => socketAddress(`/rooms/${id}/socket`, { enter: 'true', ...(looksOn() ? { watch: 'true' } : {}) });
  /** The first message of a socket. @param {string | null} seat The token of the seat to return to. */
  const entry = (seat) => {
    // A locked room and a rematch recognize returning players by it.
    const past = seat === null ? visit.recall(`was ${id}`) : null;
    return JSON.stringify({ seat, key: watching ? null : provenKey(), watch: watching, past, ...proof(id) });
  };
  /** Handles the fields that do not belong to the room. @param {any} told */
  const hear = (told) => {
    if (told.seat) visit.remember(`was ${id}`, told.seat);
    if (told.owner) owner.take(told.owner);
    if (told.said) talk.hear(told.said);
    if (told.rematch !== undefined) rematch.hear(told.rematch);
  };
  /** Waits for a rematch of a match that has ended with its connection. */
  const wait = () => {
    link = linger(address, () => entry(null), (told, data) => {
      if (!told) rematch.hide();
      if (!told || told.seat) waiting.hello = data;
      if (!told) return;
      hear(told);
      if (told.room) update(told.room);
    });
  };
  let returning = false;
  /** Whether the hub has accepted a connection. */
  let entered = false;
  /** @type {string | null | undefined} The match that was running at the last message of the game; null before a game starts. */
  let heardOf;
  /** Whether the hub has accepted the current connection. */
  let greeted = false;
  let left = false;
  let connected = 0;
  /** @returns {Link} */
  const connect = () => {
    connected = performance.now();
    /** @type {import('../lib/link.js').Handlers} */
    const handlers = {
      first: () => {
        const seat = watching ? null : visit.recall(key);
        returning = seat !== null;
        greeted = false;
        return entry(seat);
      },
      message: (data) => {
        // Messages of the hub are JSON objects; no message of a game starts with a brace.
        if (typeof data !== 'string' || !data.startsWith('{')) {
          heardOf = shown?.phase === 'playing' ? shown.match : null;
          return play.message(data);
        }
        const said = JSON.parse(data);
        const { seat, kept, room, own: mine } = said;
        if (said.waiting) return announceLink(say('link.queue'));
        if (seat) visit.remember(key, seat);
        if (kept) away.kept = kept;
        hear(said);
        // Broadcasts may arrive before the first message to this page.
        if (!greeted && room) {
          entered = greeted = true;
          back();
          opening = true;
          if (!returning) play.open();
          opening = false;
        }
        if (room) update(room);
        if (mine !== undefined) play.own?.(mine);
        return undefined;
      },
      state: async (state) => {
        switch (state.kind) {
          case 'ended':
            announceLink('');
            away.end();
            rematch.hold(state.code === CODES.closed && !watching && !shown?.closing);
            if (state.code === CODES.missing) {
              // The room may have moved to this hub in the meantime.
              const isThere = await inquire().catch(() => false);
              if (left) return undefined;
              if (isThere) link = connect();
              else if (entered) end(say('room.end.closed'), true);
              else noSuchRoom(main);
              return undefined;
            }
            if (state.code !== CODES.closed && state.code !== CODES.expired) {
              return end(ending(state), true);
            }
            // The hub drops seats with which no player has joined, so the page starts again.
            if (state.code === CODES.expired && visit.recall(`own ${id}`) === null) return again();
            // The hub sends the reason before it closes a room.
            if (shown?.closing) return end(say('room.end.closing', { why: told(shown.closing) }), true);
            // A match of nuggets ends with its connections. Spectators are moved to the next match.
            if ((await inquire().catch(() => watching)) && watching && state.code === CODES.closed) {
              if (left) return undefined;
              // Without this limit the page would reconnect in a loop to a room that disconnects spectators.
              if (performance.now() - connected > CARRY) {
                link = connect();
                return undefined;
              }
            }
            if (state.code === CODES.closed) {
              if (!watching && own !== null && (shown?.result?.length ?? 0) > 1 && !left) wait();
              return end(say('room.end.over'));
            }
            if (!heardOf) return end(say('room.end.either'));
            if (shown?.match !== heardOf || shown?.phase === 'over') return end(say('room.end.missed'));
            return end(say('room.end.lost'));
          case 'waiting':
            away.lose(true, seated());
            if (state.refused && !(await inquire().catch(() => true))) {
              // The user may have left the page during the request.
              if (link.ended) return undefined;
              link.close();
              announceLink('');
              away.end();
              if (entered) end(say('room.end.closed'));
              else noSuchRoom(main);
            }
            return undefined;
          case 'quiet':
            return away.lose(false, seated());
          case 'heard':
            return back();
          default:
            return undefined;
        }
      },
    };
    const given = watching ? null : handed(id);
    if (!given) return new Link(address, handlers);
    entered = true;
    given.link.handlers = handlers;
    // Deferred until `link` is assigned, since the handlers send.
    queueMicrotask(() => given.messages.forEach(handlers.message));
    return given.link;
  };
  let link = connect();
  return () => {
    left = true;
    if (!waiting.over) link.close();
    rematch.stop();
    talk.stop();
    waits.stop();
    help.stop();
    play.stop();
    away.end();
  };
}
