// The view of a room: the board, the panels beside it, and the connection.

import { GAMES } from '../games/index.js';
import { confirm } from '../lib/confirm.js';
import { announceLink, element, title, toggle, updateChildren } from '../lib/dom.js';
import { Faces } from '../lib/face.js';
import { CODES, LEFT, Link, socketAddress } from '../lib/link.js';
import { popup } from '../lib/popup.js';
import { ratedText } from '../lib/rating.js';
import { guardPage, navigate } from '../lib/route.js';
import { record } from '../lib/series.js';
import { isFirst, isStoragePersistent, notePlayed, roomStorage, tabStorage } from '../lib/settings.js';
import { isOn, offerSound, setSound } from '../lib/sound.js';
import { say, translate } from '../lib/text.js';
import { credentials, fetchRoom } from './access.js';
import { AfterMatch } from './after-match.js';
import { classOf, homeOf, nameIn } from './classes.js';
import { ConnectionLoss } from './connection-loss.js';
import { helpDialog } from './help.js';
import { Intro } from './intro.js';
import { endReason, isAlone, roomFacts, roomTitle } from './labels.js';
import { awaitRematch, passLink, takeLink } from './link-transfer.js';
import { key as ownKey, provenKey } from './name-key.js';
import { showRoomNotFound } from './not-found.js';
import { OwnerDialog } from './owner.js';
import { Reactions } from './reactions.js';
import { Rematch } from './rematch.js';
import { Result } from './result.js';
import { Seats } from './seats.js';
import { Share } from './share.js';
import { WaitingRoom } from './waiting.js';

/**
 * @typedef {import('../games/types.js').Room} Room
 * @typedef {import('../games/types.js').Row} Row
 */

/** Close codes after which the player cannot enter again. @type {number[]} */
const BARRED = [CODES.removed, CODES.banned, CODES.locked, CODES.private];
/** A spectator moves to the next match if the connection has lasted this long, in milliseconds. */
const MIN_CONNECTION = 2000;

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} game
 * @param {import('../games/types.js').Loaded} loaded
 * @param {{ watching: boolean, next: boolean }} how
 */
export function showRoomView(main, id, game, { play: startGame, rules, story }, { watching, next }) {
  const [key, tab] = [`seat ${id}`, `tab ${id}`];
  const isOfClass = classOf(id) !== null;
  const isChallenge = roomStorage.recall(`challenge ${id}`) !== null;
  /** The token of the seat of this page. */
  let token = watching ? null : roomStorage.recall(key);
  /** A new tab leaves the seat to one that is connected. */
  let yieldsSeat = token !== null && tabStorage.recall(tab) === null;
  const board = element('div', { class: 'board' });
  const below = element('div', { class: 'below' });
  const controls = element('div', { class: 'controls' });
  const more = element('div', { class: 'controls more' });
  const live = element('p', { class: 'hidden', 'aria-live': 'polite' });
  const what = element('span', { class: 'what' });
  const watchers = element('span', { class: 'chip', hidden: true });
  const facts = element('span', { class: 'facts' });
  const rematch = new Rematch({ answer: (ready) => sendToHub({ rematch: ready }), begin: () => playAgain(), leave: () => void leaveRoom(), changed: () => showPlayers() });
  const classLink = (/** @type {boolean} */ isPrimary) => element('a', { class: isPrimary ? 'button primary' : 'button quiet', href: homeOf(id) }, say('class.back'));
  const challengeLink = (/** @type {boolean} */ isPrimary) => element('a', { class: isPrimary ? 'button primary' : 'button quiet', href: `/daily/${game}` }, say('challenge.result'));
  const result = new Result(game, rematch.panel, ...(isOfClass ? [classLink] : isChallenge ? [challengeLink] : []));
  const after = new AfterMatch(game, story, () => showPlayers());
  result.story.append(after.panel);
  const loss = new ConnectionLoss(main, watching);
  const share = new Share(id);
  const invitation = popup(say('share.title'));
  const owner = new OwnerDialog(id);
  const reactions = new Reactions((phrase) => sendToHub({ say: phrase }), () => {
    showPlayers();
    followBubbles();
  });
  const start = async (/** @type {string} */ level) => {
    if (!(await owner.command({ do: 'start', level }))) waitingRoom.text.textContent = owner.problem.textContent;
  };
  /** @type {Room | null} */
  let room = null;
  /** @type {string | null} */
  let own = null;
  /** The seat according to the hub, which the game may report later. @type {string | null} */
  let hubSeat = null;
  let hasEnded = false;
  /** Whether the room is closed to the player. */
  let isBarred = false;
  /** The request to join does not count as a move. */
  let isJoining = false;
  /** The match whose result is hidden, since the player has joined the next game. @type {string | null | undefined} */
  let dismissed;
  /** @type {string | null | undefined} */
  let match;
  /** The last match that this page has seen running: only its result is shown. @type {string | null | undefined} */
  let latest;
  /** A game may drop the seat before the result is left. @type {string | null} */
  let seatOfMatch = null;
  /** The first message of the hub on the socket that waits for a rematch, after the match has ended with its connection. */
  const rematchLink = { hello: '', over: false };
  const seats = new Seats(id, (seat) => play.seat?.(seat) ?? { value: '' }, (name) => faces.of(name), () => (room?.phase === 'playing' ? (play.leaders?.() ?? []) : []), reactions);
  const waitingRoom = new WaitingRoom(id, rules, { level: () => seats.level.value, start: (level) => void start(level) });
  const faces = new Faces();
  const side = element('div');
  const offers = element('div');
  const table = element('div', { class: 'table' });

  const playAgain = () => {
    if (!hasEnded && play.playAgain?.()) {
      dismissed = room?.match ?? null;
      return showPlayers();
    }
    // A page that waits for a rematch has a seat already.
    rematchLink.over = rematchLink.hello !== '';
    if (rematchLink.over) passLink(id, link, rematchLink.hello);
    forgetSeat();
    return navigate(`/rooms/${id}${watching ? '?watch' : ''}`);
  };
  /** Another tab may have another seat meanwhile. */
  const forgetSeat = () => {
    if (token !== null && roomStorage.recall(key) === token) roomStorage.remember(key, null);
    token = null;
    tabStorage.remember(tab, null);
  };
  /** Takes the seat from another tab. */
  const takeOver = () => {
    tabStorage.remember(tab, 'here');
    navigate(`/rooms/${id}`);
  };
  /** The result of the match that this page has seen; null while it runs, and for matches before. */
  const rowsOfMatch = () => {
    // A match that was cut off has no winner.
    if (!room || play.ownResult || room.closing) return null;
    const isOurs = room.match === (hasEnded ? (latest ?? tabStorage.recall(`match ${id}`)) : latest);
    const last = isOurs && (hasEnded || room.phase !== 'playing') ? room.result : null;
    return play.result?.() ?? last ?? null;
  };
  /** Whether the game still shows the end of its match, so that the result waits. */
  const isStillEnding = () => !isBarred && !room?.closing && (play.isEnding?.() ?? false);
  /** Why the match is casual although the room is rated; null if the page knows no reason. */
  const casual = () => {
    if (!room) return null;
    if (after.match === room.match && after.casual !== null) return after.casual;
    const why = play.casual?.() ?? null;
    if (why !== null) return why;
    return !watching && room.class === 'daily' && provenKey() === null ? 'unproven' : null;
  };
  /** The room with what the page knows about the match. @param {Room} shown */
  const withReason = (shown) => {
    const why = shown.rated ? (shown.casual ?? casual()) : null;
    return why === null ? shown : { ...shown, rated: false, casual: why };
  };
  const showPlayers = () => {
    if (!room) return;
    const counted = withReason(room);
    updateChildren(facts, ...roomFacts(counted).map((fact) => element('span', { class: fact === ratedText(counted) ? 'chip rated' : 'chip', title: fact }, fact)));
    // In a later match the same seat belongs to another player.
    const mine = hasEnded && room.match !== match ? null : own;
    owner.show(room, mine);
    reactions.allow(!watching && own !== null && !link.ended, nameIn(id));
    if (room.phase === 'playing' && own !== null) seatOfMatch = own;
    const isEnding = isStillEnding();
    const rows = mine === own && !isEnding ? rowsOfMatch() : null;
    if (!rows) dismissed = undefined;
    // The hub may report the next match before the game starts it.
    const isDismissed = dismissed !== undefined && (dismissed === (room.match ?? null) || room.phase === 'playing');
    const players = rows && !isDismissed ? rows.map(identify) : null;
    if (players) showResult(players);
    else if (mine === own) result.hide();
    if (isEnding) result.panel.hidden = true;
    const isWaiting = room.phase === 'lobby' && !room.closing && !isAlone(room) && !isEnding && result.panel.hidden;
    arrange(isWaiting);
    waitingRoom.show(room, !watching && !hasEnded);
    // Beside a result the players are those of its match.
    seats.show(players ? { ...room, players: players } : room, players ? seatOfMatch : mine, isWaiting);
  };
  /** Whether the player is a bot or has a verified name. @param {Row} row @returns {Row} */
  const identify = (row) => {
    const isIt = (/** @type {{ seat: string, name: string }} */ { seat, name }) => seat === row.seat && name === row.name;
    return { ...room?.players.find(isIt), ...room?.result?.find(isIt), ...row };
  };
  /** @param {Row[]} rows */
  const showResult = (rows) => {
    if (!room) return;
    if (!watching && rows.some(({ seat }) => seat === seatOfMatch)) notePlayed(game);
    result.show(rows, {
      own: seatOfMatch,
      face: (name) => faces.of(name),
      // Only the class stores its results, and the replay of a challenge is hidden until the day is over.
      match: isOfClass || isChallenge ? null : (room.match ?? null),
      counts: ratedText(withReason(room)),
      series: GAMES[game].series && room.match && rows.length > 1 ? record(id, room.match, rows) : [],
      again: watching || isBarred || isChallenge || !rematch.panel.hidden ? null : playAgain,
    });
    if (!isOfClass && !isChallenge) void after.show(room.match ?? null, rows, seatOfMatch, () => play.sentences?.() ?? Promise.resolve([]));
  };
  /**
   * Moves the players, the invitation and the reactions between the room before a match and the panel beside the board.
   * @param {boolean} isWaiting
   */
  const arrange = (isWaiting) => {
    if (table.dataset.waiting === String(isWaiting)) return;
    table.dataset.waiting = String(isWaiting);
    waitingRoom.panel.hidden = !isWaiting;
    (isWaiting ? waitingRoom.seats : side).append(seats.panel);
    (isWaiting ? waitingRoom.share : invitation.dialog).append(share.panel);
    (isWaiting ? waitingRoom.seats : panel).append(reactions.panel);
    if (isWaiting) invitation.dialog.close();
    void share.draw();
  };
  let following = false;
  /** Keeps the phrases at their players. */
  const followBubbles = () => {
    if (following) return;
    const step = () => {
      reactions.place((seat) => (table.dataset.waiting === 'true' || !result.panel.hidden ? null : (play.anchor?.(seat) ?? null)));
      following = reactions.bubbles.size > 0 && !left;
      if (following) requestAnimationFrame(step);
    };
    step();
  };
  /** Names that were found, since players leave. @type {Map<string, string>} */
  const found = new Map();
  /** @param {string} seat @param {string} wire */
  const realName = (seat, wire) => {
    const isIt = (/** @type {import('../games/types.js').Player} */ player) => player.seat === seat && (player.wire ?? player.name) === wire;
    const name = (room?.players.find(isIt) ?? room?.result?.find(isIt))?.name;
    if (name !== undefined) found.set(`${seat} ${wire}`, name);
    return name ?? found.get(`${seat} ${wire}`) ?? wire;
  };
  // Without a seat, the stored past belongs to an earlier one.
  if (!watching && token === null) roomStorage.remember(`past ${id}`, null);
  const play = startGame({
    board,
    below,
    controls,
    more,
    live,
    watching,
    playable: !watching,
    isReplay: false,
    first: !watching && isFirst(game),
    name: nameIn(id),
    realName,
    face: (seat, name) => faces.of(name ?? [...(room?.players ?? []), ...(room?.result ?? [])].find((player) => player.seat === seat)?.name ?? seat),
    saved: watching ? null : roomStorage.recall(`past ${id}`),
    save: (value) => watching || roomStorage.remember(`past ${id}`, value),
    send: (data) => {
      if (!isJoining) intro.moved();
      link.send(data);
    },
    seatChanged: (seat) => {
      own = seat;
      if (!watching) roomStorage.remember(`own ${id}`, seat);
      showPlayers();
    },
    changed: () => showPlayers(),
  });
  const help = helpDialog(play.help ?? []);
  const intro = new Intro(game, play.help ?? []);
  if (!watching) board.append(intro.panel);
  /** The loss of a player who leaves now, in a sentence. */
  const stake = () => {
    if (hasEnded || watching || !(own ?? hubSeat)) return null;
    if (isChallenge) return rowsOfMatch() ? null : say('room.leave.challenge');
    const isPlaying = play.isPlaying?.() ?? room?.phase === 'playing';
    return isPlaying && room && withReason(room).rated ? say('room.leave.rated') : null;
  };
  const releaseSeat = () => {
    play.leave?.();
    link.close(LEFT);
    forgetSeat();
  };
  const askToLeave = () => {
    const lost = stake();
    if (lost === null) return null;
    return confirm(say('room.leave.sure'), lost, say('room.leave')).then((isSure) => {
      if (isSure) releaseSeat();
      return isSure;
    });
  };
  const leaveRoom = async () => {
    const answer = askToLeave();
    if (answer === null) releaseSeat();
    else if (!(await answer)) return;
    navigate(isChallenge ? `/daily/${game}` : homeOf(id));
  };
  guardPage(askToLeave);
  const soundButton = toggle('♪', setSound, isOn(), say('room.sound'));
  soundButton.dataset.sound = '';
  const { title: gameName } = GAMES[game];
  // The name of the header is not that in the class.
  main.toggleAttribute('data-class', isOfClass);
  title(watching ? say('room.watching', { game: gameName }) : gameName);
  const invite = element('button', { type: 'button', class: 'invite', 'aria-haspopup': 'dialog', click: () => (invitation.open(), void share.draw()) }, say('share.title'));
  const playLink = element('a', { class: 'button primary', href: `/rooms/${id}`, click: () => tabStorage.remember(tab, 'here') }, say(roomStorage.recall(key) === null ? 'page.play' : 'room.here'));
  const panel = element('aside', { class: 'side' }, side, ...(watching || isStoragePersistent() ? [] : [element('p', { class: 'note' }, say('room.forgets'))]), element('span', { class: 'grow' }), offers, element('div', { class: 'invitations' }, ...(isOfClass ? [classLink(false)] : isChallenge ? [] : [invite]), reactions.opener), reactions.panel);
  const stage = element('div', { class: 'stage' }, board, reactions.onBoard, waitingRoom.panel, result.panel);
  const endOffer = offerSound(offers);
  table.append(
    element(
      'div',
      { class: 'play' },
      stage,
      element('div', { class: 'banners' }, loss.panel, owner.notice, ...(next ? [element('p', { role: 'status' }, say('waits.next'))] : [])),
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
        soundButton,
        help.button,
        watching
          ? playLink
          : element('button', { type: 'button', click: leaveRoom }, say('room.leave')),
      ),
    ),
    table,
    live,
    reactions.live,
  );

  /** Sends a message that is not part of the game. @param {object} message */
  const sendToHub = (message) => link.send(JSON.stringify(message));

  /** @param {Room} received */
  const update = (received) => {
    // The hub does not send the port to clients outside the room.
    room = received.port === 0 && room ? { ...received, port: room.port } : received;
    if (room.code) roomStorage.remember(`code ${id}`, room.code);
    void share.show(room);
    faces.set(room.players);
    if (!hasEnded) ({ match } = room);
    if (room.phase === 'playing' && !hasEnded) {
      if (latest !== room.match) seatOfMatch = null;
      latest = room.match;
      tabStorage.remember(`match ${id}`, room.match ?? null);
    }
    if (next && room.phase === 'lobby') return navigate(`/rooms/${id}`);
    what.textContent = roomTitle(room);
    // A player who waits for the next game is no spectator on their own page.
    const mine = !watching && !room.players.some(({ seat }) => seat === own) ? 1 : 0;
    const others = Math.max(0, (room.watchers ?? 0) - mine);
    watchers.hidden = others === 0;
    watchers.textContent = say('room.watchers', { count: others });
    play.room(room);
    return showPlayers();
  };

  /**
   * @param {string} text
   * @param {{ stays?: boolean, closed?: boolean, elsewhere?: boolean }} [how] Whether to show the text beside a result too, whether the room is
   *   closed to the player, and whether another tab has the seat.
   */
  const end = (text, { stays = false, closed = false, elsewhere = false } = {}) => {
    hasEnded = true;
    isBarred = closed || elsewhere;
    if (elsewhere) token = null;
    forgetSeat();
    showPlayers();
    const label = elsewhere ? 'room.here' : watching ? 'room.again.watch' : 'room.again';
    const enterAgain = () => element('button', { type: 'button', class: 'primary again', click: elsewhere ? takeOver : playAgain }, say(label));
    result.end(text, stays, closed || (isChallenge && !elsewhere) ? [] : [enterAgain()]);
    if (isStillEnding()) result.panel.hidden = true;
    arrange(false);
    if (closed) removeTools();
  };
  /** Removes what a closed room does not offer. */
  const removeTools = () => {
    for (const { dialog } of [invitation, owner, reactions]) dialog.close();
    for (const part of [invite, owner.button, reactions.opener, playLink]) part.remove();
  };

  /** Used after a result or a refused socket. Returns whether the room still exists. */
  const refetch = async () => {
    try {
      update(await fetchRoom(id));
      return true;
    } catch (error) {
      if (/** @type {{ status?: number }} */ (error).status === 404) return false;
      throw error;
    }
  };

  const seated = () => token !== null;
  const back = () => {
    announceLink(say('link.open'), 'open');
    loss.hide();
  };
  // Any hub can relay a room to a spectator who does not own it, but has to know this before the first message.
  const isVisitor = () => watching && !roomStorage.recall(`owner ${id}`);
  const address = () => socketAddress(`/rooms/${id}/socket`, { enter: 'true', ...(isVisitor() ? { watch: 'true' } : {}) });
  /** The first message of a socket. @param {string | null} seat The token of the seat to return to. */
  const entry = (seat) => {
    // A locked room and a rematch recognize returning players by it.
    const past = seat === null ? roomStorage.recall(`was ${id}`) : null;
    return JSON.stringify({ seat, key: isOfClass || isChallenge ? ownKey() : watching ? null : provenKey(), watch: watching, past, ...(yieldsSeat && seat !== null && { yields: yieldsSeat }), ...credentials(id) });
  };
  /** Handles the fields that do not belong to the room. @param {any} message */
  const receive = (message) => {
    if (message.seat) roomStorage.remember(`was ${id}`, message.seat);
    if (message.owner) owner.grant(message.owner);
    if (message.said) reactions.receive(message.said);
    if (message.rematch !== undefined) rematch.update(message.rematch);
  };
  /** Waits for a rematch of a match that has ended with its connection. */
  const waitForRematch = () => {
    link = awaitRematch(address, () => entry(null), (message, data) => {
      if (!message) rematch.hide();
      if (!message || message.seat) rematchLink.hello = data;
      if (!message) return;
      receive(message);
      if (message.room) update(message.room);
    });
  };
  let returning = false;
  /** Whether the hub has accepted a connection. */
  let wasAccepted = false;
  /** @type {string | null | undefined} The match that was running at the last message of the game; null before a game starts. */
  let runningMatch;
  /** Whether the hub has accepted the current connection. */
  let isAccepted = false;
  let left = false;
  let connected = 0;
  /** @returns {Link} */
  const connect = () => {
    connected = performance.now();
    /** @type {import('../lib/link.js').Handlers} */
    const handlers = {
      first: () => {
        returning = token !== null;
        isAccepted = false;
        return entry(token);
      },
      message: (data) => {
        // JSON objects; no message of a game starts with a brace.
        if (typeof data !== 'string' || !data.startsWith('{')) {
          runningMatch = room?.phase === 'playing' ? room.match : null;
          return play.message(data);
        }
        const message = JSON.parse(data);
        const { seat, kept, own: seatOfPlayer } = message;
        if (message.waiting) return announceLink(say('link.queue'));
        if (seat) {
          token = seat;
          yieldsSeat = false;
          roomStorage.remember(key, seat);
          tabStorage.remember(tab, 'here');
        }
        if (kept) loss.reservation = kept;
        receive(message);
        // Broadcasts may arrive before the first message to this page.
        if (!isAccepted && message.room) {
          wasAccepted = isAccepted = true;
          back();
          isJoining = true;
          if (!returning) play.open();
          isJoining = false;
        }
        if (message.room) update(message.room);
        if (seatOfPlayer !== undefined) {
          hubSeat = seatOfPlayer;
          play.setSeat?.(seatOfPlayer);
        }
        return undefined;
      },
      state: async (state) => {
        switch (state.kind) {
          case 'ended':
            announceLink('');
            loss.hide();
            rematch.suspend(state.code === CODES.closed && !watching && !room?.closing);
            if (state.code === CODES.missing) {
              // The room may have moved to this hub.
              const isThere = await refetch().catch(() => false);
              if (left) return undefined;
              if (isThere) link = connect();
              else if (wasAccepted) end(say('room.end.closed'), { stays: true, closed: true });
              else showRoomNotFound(main);
              return undefined;
            }
            if (state.code === CODES.used) return navigate(`/rooms/${id}?watch`, { replace: true });
            if (state.code !== CODES.closed && state.code !== CODES.expired) {
              return end(endReason(state), { stays: true, closed: BARRED.includes(state.code), elsewhere: state.code === CODES.replaced });
            }
            // The hub drops seats with which no player has joined. A new tab has not seen the match.
            if (state.code === CODES.expired && (yieldsSeat || roomStorage.recall(`own ${id}`) === null)) return playAgain();
            // The hub sends the reason before it closes a room.
            if (room?.closing) return end(say('room.end.closing', { why: translate(room.closing) }), { stays: true, closed: true });
            // A match of nuggets ends with its connections. Spectators move to the next match.
            if ((await refetch().catch(() => watching)) && watching && state.code === CODES.closed) {
              if (left) return undefined;
              // Otherwise the page would reconnect in a loop to a room that disconnects spectators.
              if (performance.now() - connected > MIN_CONNECTION) {
                link = connect();
                return undefined;
              }
            }
            if (state.code === CODES.closed) {
              if (!watching && own !== null && (room?.result?.length ?? 0) > 1 && !left) waitForRematch();
              return end(say('room.end.over'));
            }
            if (!runningMatch) return end(say('room.end.either'));
            if (room?.match !== runningMatch || room?.phase === 'over') return end(say('room.end.missed'));
            return end(say('room.end.lost'));
          case 'waiting':
            loss.show(true, seated(), state.blocked);
            if (state.refused && !(await refetch().catch(() => true))) {
              // The user may have left the page.
              if (link.ended) return undefined;
              link.close();
              announceLink('');
              loss.hide();
              if (wasAccepted) end(say('room.end.closed'), { closed: true });
              else showRoomNotFound(main);
            }
            return undefined;
          case 'quiet':
            return loss.show(false, seated());
          case 'active':
            return back();
          default:
            return undefined;
        }
      },
    };
    const given = watching ? null : takeLink(id);
    if (!given) return new Link(address, handlers);
    wasAccepted = true;
    given.link.handlers = handlers;
    // Deferred until `link` is assigned, since the handlers send.
    queueMicrotask(() => given.messages.forEach(handlers.message));
    return given.link;
  };
  let link = connect();
  return () => {
    left = true;
    guardPage(null);
    if (!rematchLink.over) link.close();
    rematch.stop();
    reactions.stop();
    endOffer();
    waitingRoom.stop();
    help.stop();
    for (const { dialog } of [invitation, owner, reactions]) dialog.close();
    play.stop();
    loss.hide();
    main.removeAttribute('data-class');
  };
}
