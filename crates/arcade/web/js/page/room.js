// The page of a room: the board of its game, who is who, and the state of the link.

import { GAMES, isGame } from '../games/index.js';
import { ask, errorText, load } from '../lib/api.js';
import { confirm } from '../lib/confirm.js';
import { countsText } from '../lib/counts.js';
import { announceLink, copyButton, element, title, toggle } from '../lib/dom.js';
import { CODES, LEFT, Link, socketAddress } from '../lib/link.js';
import { go } from '../lib/route.js';
import { keeps, visit } from '../lib/settings.js';
import { isOn, switchSound } from '../lib/sound.js';
import { say, sayOr, sentence, told } from '../lib/text.js';
import { Away } from './away.js';
import { helpPanel } from './help.js';
import { askName, name as ownName, proveName, provenKey } from './identity.js';
import { Intro, isFirst, notePlayed } from './intro.js';
import { Result } from './result.js';
import { Seats } from './seats.js';
import { AfterMatch } from './story.js';
import { terminalLines } from './terminal.js';
import { Waiting, askLate } from './waiting.js';
import { command, offersTerminal, phaseInWords } from './words.js';

/**
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {import('../games/types.js').Start} Start
 */

/** How long a watcher has to be let in, in milliseconds, to be carried to the next match. */
const CARRY = 2000;

/**
 * Shows a room until the returned function is called.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {{ watching: boolean, next: boolean }} how `next` plays the next match, and watches until then.
 */
export function showRoom(main, id, { watching, next }) {
  const [game] = id.split('-');
  main.dataset.page = 'room';
  if (!isGame(game)) {
    noSuchRoom(main);
    return () => {};
  }
  main.dataset.game = game;
  let left = false;
  /** @type {() => void} */
  let leave = () => {};
  const begin = async () => {
    if (!watching) {
      main.replaceChildren(element('h1', {}, GAMES[game].title), element('p', {}, say('room.entering')));
      if (!(await askName())) return left ? undefined : go(`/rooms/${id}?watch`);
      await proveName();
      // Whoever has a seat comes back to it.
      const now = visit.recall(`seat ${id} play`) === null ? await ask(`/api/rooms/${id}`).catch(() => null) : null;
      if (now?.phase === 'playing' && now.late && !left) {
        if ((await askLate(main, GAMES[game].title)) === 'next') return left ? undefined : go(`/rooms/${id}?watch&next`);
      }
    }
    const loaded = await loading;
    if (!left) leave = enter(main, id, game, loaded, { watching, next });
  };
  // While the name is asked for.
  const loading = load(GAMES[game].load);
  begin().catch((error) => {
    if (!left) main.replaceChildren(element('h1', {}, GAMES[game].title), element('p', { class: 'error', role: 'alert' }, errorText(error)));
  });
  return () => {
    left = true;
    leave();
    delete main.dataset.game;
  };
}

/** @param {HTMLElement} main */
export function noSuchRoom(main) {
  title(say('room.missing'));
  main.replaceChildren(
    element('h1', {}, say('room.missing.heading')),
    element('p', {}, say('room.missing.text')),
    element('p', {}, element('a', { class: 'button primary', href: '/' }, say('room.missing.back'))),
  );
}

/**
 * Why the hub has ended a connection, in a sentence.
 * @param {{ code: number, reason: string }} end
 */
function ending({ code, reason }) {
  const [name] = Object.entries(CODES).find(([, known]) => known === code) ?? [];
  return sentence(sayOr(`room.end.${name}`, told(reason)));
}

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} game
 * @param {{ play: Start, story?: import('../games/types.js').Story }} loaded
 * @param {{ watching: boolean, next: boolean }} how
 */
function enter(main, id, game, { play: start, story }, { watching, next }) {
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
  const terminal = element('div');
  const result = new Result(game);
  const after = new AfterMatch(game, story);
  result.story.append(after.panel);
  const away = new Away(main, watching);
  const waits = new Waiting(id, next);
  /** @type {Room | null} */
  let shown = null;
  /** @type {string | null} */
  let own = null;
  let over = false;
  /** Whether the page is joining, which is no move. */
  let opening = false;
  /** Whether the result is put away until the next one, since one has joined the next game. */
  let joined = false;
  const seats = new Seats(id, (seat) => play.seat?.(seat) ?? { colour: null, value: '' }, () => (shown?.phase === 'playing' ? (play.leaders?.() ?? []) : []));

  const again = () => {
    if (!over && play.again?.()) {
      joined = true;
      return result.hide();
    }
    visit.remember(key, null);
    return go(`/rooms/${id}${watching ? '?watch' : ''}`);
  };
  const list = () => {
    if (!shown) return;
    seats.show(shown, own);
    const last = over || shown.phase !== 'playing' ? shown.result : null;
    const rows = play.ownResult ? null : (play.result?.() ?? last);
    if (!rows) joined = false;
    if (!rows || joined) return result.hide();
    if (!watching && rows.some(({ seat }) => seat === own)) notePlayed(game);
    // The hub may know which of the players are bots, or proven.
    const known = rows.map((row) => ({ ...shown?.result?.find(({ seat, name }) => seat === row.seat && name === row.name), ...row }));
    result.show(known, {
      own,
      colour: (seat) => play.seat?.(seat).colour ?? null,
      match: shown.match ?? null,
      counts: countsText(shown),
      again: watching ? null : again,
    });
    void after.show(shown?.match ?? null, rows.find(({ seat }) => seat === own) ?? null, () => play.tell?.() ?? Promise.resolve([]));
  };
  // Of an earlier seat.
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
    kept: visit.recall(key) === null ? null : visit.recall(`own ${id}`),
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
      { class: 'headline' },
      element('h1', {}, gameName, ' ', what),
      phase,
      watchers,
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
      element('div', { class: 'play' }, result.panel, ended, away.panel, waits.panel, board, below, controls, more, help.panel),
      element(
        'aside',
        { class: 'side' },
        seats.panel,
        ...(watching || keeps() ? [] : [element('p', { class: 'note' }, say('room.forgets'))]),
        ...(offersTerminal() ? [element('details', {}, element('summary', {}, say('room.terminal')), terminal)] : []),
        element('div', { class: 'row' }, copyButton(() => `${location.origin}/rooms/${id}`, say('room.link'))),
      ),
    ),
    live,
  );

  /** @param {Room} room */
  const update = (room) => {
    if (room.match !== shown?.match || room.port !== shown?.port) {
      const join = command(room);
      terminal.replaceChildren(...terminalLines(join, say('room.terminal.command')));
    }
    shown = room;
    if (next && room.phase === 'lobby') return go(`/rooms/${id}`);
    waits.show(room);
    what.textContent = [told(room.title), countsText(room)].filter(Boolean).join(' · ');
    phase.textContent = phaseInWords(room);
    // A player who waits for the next game is not counted as a watcher on their own page.
    const mine = !watching && !room.players.some(({ seat }) => seat === own) ? 1 : 0;
    const others = Math.max(0, (room.watchers ?? 0) - mine);
    watchers.hidden = others === 0;
    watchers.textContent = say('room.watchers', { count: others });
    play.room(room);
    return list();
  };

  /** @param {string} text @param {boolean} always Whether it is said beside a result too. */
  const end = (text, always = false) => {
    over = true;
    visit.remember(key, null);
    ended.replaceChildren(
      element('p', { role: 'status' }, text),
      element(
        'div',
        { class: 'row' },
        element('button', { type: 'button', class: 'primary', click: again }, say(watching ? 'room.again.watch' : 'room.again')),
        element('a', { class: 'button', href: '/' }, say('page.lobby')),
      ),
    );
    // The result says it better, if there is one.
    list();
    ended.hidden = !always && !result.panel.hidden;
  };

  /** Fetches the room again, after a result or when its socket is refused. Returns whether it still exists. */
  const inquire = async () => {
    try {
      update(await ask(`/api/rooms/${id}`));
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
  let returning = false;
  let everOpen = false;
  /** @type {string | null | undefined} The match that was played when the last message of the game came; none before a game begins. */
  let heardOf;
  /** Whether the hub has let this connection in. */
  let greeted = false;
  let left = false;
  let connected = 0;
  /** @returns {Link} */
  const connect = () => {
    connected = performance.now();
    return new Link(
      () => socketAddress(`/rooms/${id}/socket`, { enter: 'true' }),
      {
        first: () => {
          const seat = watching ? null : visit.recall(key);
          returning = seat !== null;
          greeted = false;
          return JSON.stringify({ seat, key: watching ? null : provenKey(), watch: watching, owner: visit.recall(`owner ${id}`) });
        },
        message: (data) => {
          // Messages of the hub are JSON, which no message of a game begins like.
          if (typeof data !== 'string' || !data.startsWith('{')) {
            heardOf = shown?.phase === 'playing' ? shown.match : null;
            return play.message(data);
          }
          const { seat, kept, room, own: mine, waiting, owner } = JSON.parse(data);
          if (waiting) return announceLink(say('link.queue'));
          if (seat) visit.remember(key, seat);
          if (kept) away.kept = kept;
          if (owner) visit.remember(`owner ${id}`, owner);
          if (!greeted) {
            greeted = true;
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
              if (state.code !== CODES.closed && state.code !== CODES.expired) {
                return end(ending(state), true);
              }
              // A seat that nobody has joined with is not kept, and nothing is lost with it.
              if (state.code === CODES.expired && visit.recall(`own ${id}`) === null) return again();
              // What the hub has said last of a room that it closes.
              if (shown?.closing) return end(say('room.end.closing', { why: told(shown.closing) }), true);
              // A match of nuggets ends with the connections of it. Whoever looks on is carried to the next one.
              if ((await inquire().catch(() => watching)) && watching && state.code === CODES.closed) {
                if (left) return undefined;
                // A room that lets nobody look on for long is not asked again and again.
                if (performance.now() - connected > CARRY) {
                  link = connect();
                  return undefined;
                }
              }
              if (state.code === CODES.closed) return end(say('room.end.over'));
              if (!heardOf) return end(say('room.end.either'));
              if (shown?.match !== heardOf || shown?.phase === 'over') return end(say('room.end.missed'));
              return end(say('room.end.lost'));
            case 'waiting':
              away.lose(true, seated());
              if (state.refused && !(await inquire().catch(() => true))) {
                // The page may have been left during the request.
                if (link.ended) return undefined;
                link.close();
                announceLink('');
                away.end();
                if (everOpen) end(say('room.end.closed'));
                else noSuchRoom(main);
              }
              return undefined;
            case 'quiet':
              return away.lose(false, seated());
            case 'heard':
              return back();
            case 'open':
              everOpen = true;
              return undefined;
            default:
              return undefined;
          }
        },
      },
    );
  };
  let link = connect();
  return () => {
    left = true;
    link.close();
    waits.stop();
    help.stop();
    play.stop();
    away.end();
  };
}
