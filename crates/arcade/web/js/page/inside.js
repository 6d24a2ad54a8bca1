// The inside of a room: the board, the panels beside it, and the connection.

import { GAMES } from '../games/index.js';
import { countsText } from '../lib/counts.js';
import { confirm } from '../lib/confirm.js';
import { announceLink, element, title, toggle } from '../lib/dom.js';
import { CODES, LEFT, Link, socketAddress } from '../lib/link.js';
import { popup } from '../lib/popup.js';
import { go } from '../lib/route.js';
import { keeps, rooms, visit } from '../lib/settings.js';
import { isOn, switchSound } from '../lib/sound.js';
import { say, told } from '../lib/text.js';
import { Away } from './away.js';
import { look, proof } from './door.js';
import { handOver, handed, linger } from './handed.js';
import { helpDialog } from './help.js';
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
import { ending, isAlone, roomFacts, roomTitle } from './words.js';

/**
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {import('../games/types.js').Row} Row
 */

/** Close codes after which the player cannot enter again. @type {number[]} */
const SHUT = [CODES.removed, CODES.banned, CODES.locked, CODES.private];
/** A spectator moves to the next match if the connection has lasted this long, in milliseconds. */
const CARRY = 2000;

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} game
 * @param {import('../games/types.js').Loaded} loaded
 * @param {{ watching: boolean, next: boolean }} how
 */
export function enter(main, id, game, { play: startGame, rules, story }, { watching, next }) {
  const [key, tab] = [`seat ${id}`, `tab ${id}`];
  /** The token of the seat of this page. */
  let token = watching ? null : rooms.recall(key);
  /** A new tab leaves the seat to one that is connected. */
  let yields = token !== null && visit.recall(tab) === null;
  const board = element('div', { class: 'board' });
  const below = element('div', { class: 'below' });
  const controls = element('div', { class: 'controls' });
  const more = element('div', { class: 'controls more' });
  const live = element('p', { class: 'hidden', 'aria-live': 'polite' });
  const what = element('span', { class: 'what' });
  const watchers = element('span', { class: 'chip', hidden: true });
  const facts = element('span', { class: 'facts' });
  const rematch = new Rematch({ answer: (ready) => aside({ rematch: ready }), begin: () => again(), leave: () => void leaveRoom(), changed: () => list() });
  const result = new Result(game, rematch.panel);
  const after = new AfterMatch(game, story);
  result.story.append(after.panel);
  const away = new Away(main, watching);
  const share = new Share(id);
  const invitation = popup(say('share.title'));
  const owner = new Owner(id);
  const talk = new Talk((phrase) => aside({ say: phrase }), () => {
    list();
    followBubbles();
  });
  const start = async (/** @type {string} */ level) => {
    if (!(await owner.command({ do: 'start', level }))) waits.text.textContent = owner.problem.textContent;
  };
  /** @type {Room | null} */
  let shown = null;
  /** @type {string | null} */
  let own = null;
  let over = false;
  /** Whether the room is closed to the player. */
  let shut = false;
  /** The request to join does not count as a move. */
  let opening = false;
  /** Whether the player has joined the next game, which hides the result. */
  let joined = false;
  /** @type {string | null | undefined} */
  let match;
  /** The last match that this page has seen running: only its result is shown. @type {string | null | undefined} */
  let latest;
  /** A game may drop the seat before the result is left. @type {string | null} */
  let seatOfMatch = null;
  /** The first message of the hub on the socket that waits for a rematch, after the match has ended with its connection. */
  const waiting = { hello: '', over: false };
  const seats = new Seats(id, (seat) => play.seat?.(seat) ?? { colour: null, value: '' }, () => (shown?.phase === 'playing' ? (play.leaders?.() ?? []) : []), talk);
  const waits = new Waiting(id, rules, { level: () => seats.level.value, start: (level) => void start(level) });
  const side = element('div');
  const table = element('div', { class: 'table' });

  const again = () => {
    if (!over && play.again?.()) {
      joined = true;
      return list();
    }
    // A page that waits for a rematch has a seat already.
    waiting.over = waiting.hello !== '';
    if (waiting.over) handOver(id, link, waiting.hello);
    forget();
    return go(`/rooms/${id}${watching ? '?watch' : ''}`);
  };
  /** Another tab may have another seat meanwhile. */
  const forget = () => {
    if (token !== null && rooms.recall(key) === token) rooms.remember(key, null);
    token = null;
    visit.remember(tab, null);
  };
  /** Takes the seat from another tab. */
  const takeOver = () => {
    visit.remember(tab, 'here');
    go(`/rooms/${id}`);
  };
  /** The result of the match that this page has seen; null while it runs, and for matches before. */
  const rowsOfMatch = () => {
    // A match that was cut off has no winner.
    if (!shown || play.ownResult || shown.closing) return null;
    const isOurs = shown.match === (over ? (latest ?? visit.recall(`match ${id}`)) : latest);
    const last = isOurs && (over || shown.phase !== 'playing') ? shown.result : null;
    return play.result?.() ?? last ?? null;
  };
  const list = () => {
    if (!shown) return;
    // In a later match the same seat belongs to another player.
    const mine = over && shown.match !== match ? null : own;
    owner.show(shown, mine);
    talk.allow(!watching && own !== null && !link.ended, ownName());
    if (shown.phase === 'playing' && own !== null) seatOfMatch = own;
    const rows = mine === own ? rowsOfMatch() : null;
    if (!rows) joined = false;
    const known = rows && !joined ? rows.map(identify) : null;
    if (known) showResult(known);
    else if (mine === own) result.hide();
    const isWaiting = shown.phase === 'lobby' && !shown.closing && !isAlone(shown) && result.panel.hidden;
    arrange(isWaiting);
    waits.show(shown, !watching && !over);
    // Beside a result the players are those of its match.
    seats.show(known ? { ...shown, players: known } : shown, known ? seatOfMatch : mine, isWaiting);
  };
  /** Whether the player is a bot or has a verified name. @param {Row} row @returns {Row} */
  const identify = (row) => {
    const isIt = (/** @type {{ seat: string, name: string }} */ { seat, name }) => seat === row.seat && name === row.name;
    return { ...shown?.players.find(isIt), ...shown?.result?.find(isIt), ...row };
  };
  /** @param {Row[]} rows */
  const showResult = (rows) => {
    if (!shown) return;
    if (!watching && rows.some(({ seat }) => seat === seatOfMatch)) notePlayed(game);
    result.show(rows, {
      own: seatOfMatch,
      colour: (seat) => play.seat?.(seat).colour ?? null,
      match: shown.match ?? null,
      counts: countsText(shown),
      again: watching || shut || !rematch.panel.hidden ? null : again,
    });
    void after.show(shown.match ?? null, rows, seatOfMatch, () => play.tell?.() ?? Promise.resolve([]));
  };
  /**
   * Moves the players, the invitation and the reactions between the room before a match and the panel beside the board.
   * @param {boolean} isWaiting
   */
  const arrange = (isWaiting) => {
    if (table.dataset.waiting === String(isWaiting)) return;
    table.dataset.waiting = String(isWaiting);
    waits.panel.hidden = !isWaiting;
    (isWaiting ? waits.seats : side).append(seats.panel);
    (isWaiting ? waits.share : invitation.dialog).append(share.panel);
    (isWaiting ? waits.seats : panel).append(talk.panel);
    if (isWaiting) invitation.dialog.close();
    void share.draw();
  };
  let following = false;
  /** Keeps the phrases at their players. */
  const followBubbles = () => {
    if (following) return;
    const step = () => {
      talk.place((seat) => (table.dataset.waiting === 'true' || !result.panel.hidden ? null : (play.at?.(seat) ?? null)));
      following = talk.bubbles.size > 0 && !left;
      if (following) requestAnimationFrame(step);
    };
    step();
  };
  /** Names that were found, since players leave. @type {Map<string, string>} */
  const found = new Map();
  /** @param {string} seat @param {string} wire */
  const real = (seat, wire) => {
    const isIt = (/** @type {import('../games/types.js').Player} */ player) => player.seat === seat && (player.wire ?? player.name) === wire;
    const name = (shown?.players.find(isIt) ?? shown?.result?.find(isIt))?.name;
    if (name !== undefined) found.set(`${seat} ${wire}`, name);
    return name ?? found.get(`${seat} ${wire}`) ?? wire;
  };
  // Without a seat, the stored past belongs to an earlier one.
  if (!watching && token === null) rooms.remember(`past ${id}`, null);
  const play = startGame({
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
    real,
    past: watching ? null : rooms.recall(`past ${id}`),
    keep: (past) => watching || rooms.remember(`past ${id}`, past),
    send: (data) => {
      if (!opening) intro.moved();
      link.send(data);
    },
    seated: (seat) => {
      own = seat;
      if (!watching) rooms.remember(`own ${id}`, seat);
      list();
    },
    changed: () => list(),
  });
  const help = helpDialog(play.help ?? []);
  const intro = new Intro(game, play.help ?? []);
  if (!watching) board.append(intro.panel);
  if (play.ownResult) below.prepend(rematch.panel);
  /** The loss of a player who leaves now, in a sentence. */
  const stake = () => {
    if (over) return null;
    return play.stake?.() ?? (shown?.phase === 'playing' && shown.rated && own !== null && !watching ? say('room.leave.rated') : null);
  };
  const leaveRoom = async () => {
    const lost = stake();
    if (lost !== null && !(await confirm(say('room.leave.sure'), lost, say('room.leave')))) return;
    play.leave?.();
    link.close(LEFT);
    forget();
    go('/');
  };
  const { title: gameName } = GAMES[game];
  title(watching ? say('room.watching', { game: gameName }) : gameName);
  const invite = element('button', { type: 'button', class: 'invite', 'aria-haspopup': 'dialog', click: () => (invitation.open(), void share.draw()) }, say('share.title'));
  const panel = element('aside', { class: 'side' }, side, ...(watching || keeps() ? [] : [element('p', { class: 'note' }, say('room.forgets'))]), element('span', { class: 'grow' }), element('div', { class: 'invitations' }, invite, talk.opener), talk.panel);
  table.append(
    element(
      'div',
      { class: 'play' },
      element('div', { class: 'stage' }, board, talk.onBoard, waits.panel, result.panel),
      element('div', { class: 'banners' }, away.panel, owner.news, ...(next ? [element('p', { role: 'status' }, say('waits.next'))] : [])),
      controls,
      more,
      below,
    ),
    panel,
  );
  main.replaceChildren(
    element(
      'div',
      { class: 'headline' },
      element('h1', {}, gameName, ' ', what),
      element('div', { class: 'chips' }, facts, watchers),
      element(
        'div',
        { class: 'row tools' },
        owner.button,
        toggle('♪', switchSound, isOn(), say('room.sound')),
        help.button,
        watching
          ? element('a', { class: 'button primary', href: `/rooms/${id}`, click: () => visit.remember(tab, 'here') }, say(rooms.recall(key) === null ? 'page.play' : 'room.here'))
          : element('button', { type: 'button', click: leaveRoom }, say('room.leave')),
      ),
    ),
    table,
    live,
    talk.live,
  );

  /** Sends a message to the hub that is not part of the game. @param {object} words */
  const aside = (words) => link.send(JSON.stringify(words));

  /** @param {Room} told */
  const update = (told) => {
    // The hub does not send the port to clients outside the room.
    const room = told.port === 0 && shown ? { ...told, port: shown.port } : told;
    if (room.code) rooms.remember(`code ${id}`, room.code);
    void share.show(room);
    shown = room;
    if (!over) ({ match } = room);
    if (room.phase === 'playing' && !over) {
      if (latest !== room.match) seatOfMatch = null;
      latest = room.match;
      visit.remember(`match ${id}`, room.match ?? null);
    }
    if (next && room.phase === 'lobby') return go(`/rooms/${id}`);
    what.textContent = roomTitle(room);
    facts.replaceChildren(...roomFacts(room).map((fact) => element('span', { class: 'chip', title: fact }, fact)));
    // A player who waits for the next game is no spectator on their own page.
    const mine = !watching && !room.players.some(({ seat }) => seat === own) ? 1 : 0;
    const others = Math.max(0, (room.watchers ?? 0) - mine);
    watchers.hidden = others === 0;
    watchers.textContent = say('room.watchers', { count: others });
    play.room(room);
    return list();
  };

  /**
   * @param {string} text
   * @param {{ stays?: boolean, closed?: boolean, elsewhere?: boolean }} [how] Whether to show the text beside a result too, whether the room is
   *   closed to the player, and whether another tab has the seat.
   */
  const end = (text, { stays = false, closed = false, elsewhere = false } = {}) => {
    over = true;
    shut = closed || elsewhere;
    if (elsewhere) token = null;
    forget();
    list();
    const label = elsewhere ? 'room.here' : watching ? 'room.again.watch' : 'room.again';
    const enterAgain = () => element('button', { type: 'button', class: 'primary again', click: elsewhere ? takeOver : again }, say(label));
    result.end(text, stays, closed ? [] : [enterAgain()]);
    arrange(false);
  };

  /** Used after a result or a refused socket. Returns whether the room still exists. */
  const inquire = async () => {
    try {
      update(await look(id));
      return true;
    } catch (error) {
      if (/** @type {{ status?: number }} */ (error).status === 404) return false;
      throw error;
    }
  };

  const seated = () => token !== null;
  const back = () => {
    announceLink(say('link.open'), 'open');
    away.end();
  };
  // Any hub can relay a room to a spectator who does not own it, but has to know this before the first message.
  const looksOn = () => watching && !rooms.recall(`owner ${id}`);
  const address = () => socketAddress(`/rooms/${id}/socket`, { enter: 'true', ...(looksOn() ? { watch: 'true' } : {}) });
  /** The first message of a socket. @param {string | null} seat The token of the seat to return to. */
  const entry = (seat) => {
    // A locked room and a rematch recognize returning players by it.
    const past = seat === null ? rooms.recall(`was ${id}`) : null;
    return JSON.stringify({ seat, key: watching ? null : provenKey(), watch: watching, past, ...(yields && seat !== null && { yields }), ...proof(id) });
  };
  /** Handles the fields that do not belong to the room. @param {any} told */
  const hear = (told) => {
    if (told.seat) rooms.remember(`was ${id}`, told.seat);
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
        returning = token !== null;
        greeted = false;
        return entry(token);
      },
      message: (data) => {
        // JSON objects; no message of a game starts with a brace.
        if (typeof data !== 'string' || !data.startsWith('{')) {
          heardOf = shown?.phase === 'playing' ? shown.match : null;
          return play.message(data);
        }
        const said = JSON.parse(data);
        const { seat, kept, room, own: mine } = said;
        if (said.waiting) return announceLink(say('link.queue'));
        if (seat) {
          token = seat;
          yields = false;
          rooms.remember(key, seat);
          visit.remember(tab, 'here');
        }
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
              // The room may have moved to this hub.
              const isThere = await inquire().catch(() => false);
              if (left) return undefined;
              if (isThere) link = connect();
              else if (entered) end(say('room.end.closed'), { stays: true, closed: true });
              else noSuchRoom(main);
              return undefined;
            }
            if (state.code === CODES.used) return go(`/rooms/${id}?watch`, { replace: true });
            if (state.code !== CODES.closed && state.code !== CODES.expired) {
              return end(ending(state), { stays: true, closed: SHUT.includes(state.code), elsewhere: state.code === CODES.replaced });
            }
            // The hub drops seats with which no player has joined. A new tab has not seen the match.
            if (state.code === CODES.expired && (yields || rooms.recall(`own ${id}`) === null)) return again();
            // The hub sends the reason before it closes a room.
            if (shown?.closing) return end(say('room.end.closing', { why: told(shown.closing) }), { stays: true, closed: true });
            // A match of nuggets ends with its connections. Spectators move to the next match.
            if ((await inquire().catch(() => watching)) && watching && state.code === CODES.closed) {
              if (left) return undefined;
              // Otherwise the page would reconnect in a loop to a room that disconnects spectators.
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
              // The user may have left the page.
              if (link.ended) return undefined;
              link.close();
              announceLink('');
              away.end();
              if (entered) end(say('room.end.closed'), { closed: true });
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
    for (const { dialog } of [invitation, owner, talk]) dialog.close();
    play.stop();
    away.end();
  };
}
