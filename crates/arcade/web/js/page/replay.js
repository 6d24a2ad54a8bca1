// Uses the same folds and boards as a live match.

import { GAMES, isGame } from '../games/index.js';
import { errorText, load, request } from '../lib/api.js';
import { avatar } from '../lib/avatar.js';
import { ago, copyButton, element, listenToKeys, sheet, title } from '../lib/dom.js';
import { Faces } from '../lib/face.js';
import { isolated } from '../lib/names.js';
import { person, shortSeat } from '../lib/person.js';
import { MAX_WINDOW, Playback, SPEEDS, clock, frame } from '../lib/playback.js';
import { fetchPublicAddress, publicAddress } from '../lib/public.js';
import { absolutePath as onHost } from '../lib/route.js';
import { say, translate } from '../lib/text.js';
import { winnersText } from './labels.js';
import { reportButton } from './report.js';

/**
 * @typedef {import('../games/types.js').Match & { replay?: boolean }} Match
 * @typedef {{ length: number, seats: { seat: string, name: string, wire?: string }[], marks: { at: number, kind: string, text: string }[] }} Timeline
 */

await sheet('room.css', import.meta.url);

/** Distance of a jump by the arrow keys, in milliseconds of the match. */
const LEAP = 5_000;

/**
 * Shows the replay until the returned function is called.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {URLSearchParams} query
 */
export function showReplay(main, id, query) {
  title(say('page.replay'));
  void fetchPublicAddress();
  main.dataset.page = 'replay';
  let left = false;
  /** @type {() => void} */
  let stop = () => {};
  const path = `/api/matches/${encodeURIComponent(id)}`;
  const seat = query.get('seat');
  main.replaceChildren(element('h1', {}, say('page.replay')), element('p', { class: 'soft' }, say('replay.loading')));
  const fetch = async () => {
    const [match, timeline] = /** @type {[Match, Timeline]} */ (await Promise.all([request(path), request(`${path}/timeline`)]));
    const loaded = isGame(match.game) && match.replay !== false ? await load(GAMES[match.game].load) : null;
    return { match, timeline, loaded };
  };
  fetch().then(
    ({ match, timeline, loaded }) => {
      if (left) return;
      if (loaded) stop = play(main, match, timeline, loaded, seat, Number(query.get('at')) || 0);
      else lost(main, match);
    },
    (error) => {
      if (left) return;
      main.replaceChildren(
        element('h1', {}, say('replay.impossible')),
        element('p', {}, errorText(error)),
        element('p', {}, element('a', { class: 'button primary', href: '/' }, say('page.to-lobby'))),
      );
    },
  );
  return () => {
    left = true;
    stop();
    delete main.dataset.game;
  };
}

/**
 * @param {HTMLElement} main
 * @param {Match} match
 * @param {Timeline} timeline
 * @param {import('../games/types.js').Loaded} loaded
 * @param {string | null} seat The seat whose view is shown; null for a spectator.
 * @param {number} at
 * @returns {() => void}
 */
function play(main, match, timeline, { play: start, frameMarks }, seat, at) {
  const { game } = match;
  main.dataset.game = game;
  const { title: gameName } = GAMES[game];
  title(`${gameName}: ${winnersText(match.players)}`);
  const board = element('div', { class: 'board' });
  const below = element('div', { class: 'below' });
  const controls = element('div', { class: 'controls' });
  const more = element('div', { class: 'controls more' });
  const live = element('p', { class: 'hidden', 'aria-live': 'polite' });
  const problem = element('p', { class: 'error', role: 'alert' });
  const faces = facesOf(match.players);
  /** @param {string} at @param {string} wire */
  const realName = (at, wire) => timeline.seats.find((known) => known.seat === at && known.wire === wire)?.name ?? wire;
  const viewer = seat === null ? null : timeline.seats.find((one) => one.seat === seat);

  /** @type {import('../games/types.js').Play | null} */
  let shown = null;
  const begin = () => {
    shown?.stop();
    for (const part of [board, below, controls, more]) part.replaceChildren();
    shown = start({
      board,
      below,
      controls,
      more,
      // Only seeks are announced, not the events of the match.
      live: element('p', {}),
      watching: seat === null,
      playable: false,
      isReplay: true,
      first: false,
      name: viewer?.name ?? '',
      realName,
      face: (one, name) => faces.of(name ?? match.players.find((player) => player.seat === one)?.name ?? one),
      saved: null,
      save: () => {},
      send: () => {},
      seatChanged: () => {},
      changed: () => {},
    });
    if (seat !== null) shown.setSeat?.(seat);
  };

  const path = `/api/matches/${encodeURIComponent(match.id)}/frames`;
  const playback = new Playback(
    {
      length: timeline.length,
      load: async (from, to) => {
        // The hub accepts whole milliseconds only.
        const [first, last] = [Math.floor(from), Math.floor(to)];
        const answer = await request(`${path}?${new URLSearchParams({ ...(seat ? { seat } : {}), from: String(first), to: String(last) })}`);
        problem.textContent = '';
        return { frames: answer.frames.map(frame), to: answer.until };
      },
    },
    {
      reset: begin,
      show: (data) => shown?.message(data),
      changed: () => update(),
      failed: (error) => {
        problem.textContent = errorText(error);
      },
    },
  );

  const address = () => {
    const parts = new URLSearchParams({ at: String(Math.round(playback.at)), ...(seat ? { seat } : {}) });
    return `/matches/${encodeURIComponent(match.id)}?${parts}`;
  };
  /** A drag of the bar replaces it until the running seek has finished. @type {number | null} */
  let target = null;
  let seeking = false;
  /** Seeks, and updates the address. @param {number} to */
  const seek = async (to) => {
    target = to;
    if (seeking) return;
    seeking = true;
    while (target !== null) {
      const next = target;
      target = null;
      await playback.seek(next);
    }
    seeking = false;
    if (!main.contains(bar)) return;
    history.replaceState(null, '', onHost(address()));
    live.textContent = clock(playback.at);
  };
  const button = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {() => unknown} */ click) =>
    element('button', { type: 'button', 'aria-label': label, click }, sign);
  const toggle = () => {
    playback.play(!playback.playing);
    if (!playback.playing) history.replaceState(null, '', onHost(address()));
  };
  const playButton = button(say('page.play'), '▶', toggle);
  playButton.classList.add('primary');
  const bar = element('input', {
    type: 'range',
    min: '0',
    max: String(timeline.length),
    step: 'any',
    'aria-label': say('replay.bar'),
    input: () => void seek(Math.round(Number(bar.value))),
  });
  const time = element('span', { class: 'time' });
  const speed = element('select', { 'aria-label': say('page.speed') }, ...SPEEDS.map((one) => element('option', { value: String(one) }, `${one}x`)));
  speed.addEventListener('change', () => playback.setSpeed(Number(speed.value)));
  const view = element(
    'select',
    { id: 'view' },
    element('option', { value: '' }, say('replay.watcher')),
    ...timeline.seats.map((one) => element('option', { value: one.seat }, `${shortSeat(one.seat)} ${isolated(one.name)}`)),
  );
  view.value = seat ?? '';
  view.addEventListener('change', () => {
    const parts = new URLSearchParams({ at: String(Math.round(playback.at)), ...(view.value ? { seat: view.value } : {}) });
    history.replaceState(null, '', onHost(`/matches/${encodeURIComponent(match.id)}?${parts}`));
    dispatchEvent(new PopStateEvent('popstate'));
  });

  const update = () => {
    if (document.activeElement !== bar || Math.abs(Number(bar.value) - playback.at) > 100) bar.value = String(playback.at);
    bar.setAttribute('aria-valuetext', say('replay.moment', { at: clock(playback.at), length: clock(playback.length) }));
    time.textContent = `${clock(playback.at)} / ${clock(playback.length)}`;
    speed.value = String(playback.speed);
    playButton.textContent = playback.playing ? '❚❚' : '▶';
    playButton.setAttribute('aria-label', say(playback.playing ? 'replay.pause' : 'page.play'));
    if (playback.playing) tick();
  };
  let frameRequested = false;
  let last = 0;
  const tick = () => {
    if (frameRequested) return;
    frameRequested = true;
    requestAnimationFrame((now) => {
      frameRequested = false;
      const elapsed = last > 0 ? Math.min(now - last, 250) : 0;
      last = playback.playing ? now : 0;
      playback.tick(elapsed);
    });
  };

  const stopKeys = listenToKeys((event) => {
    if (event.key === ' ') toggle();
    else if (event.key === 'ArrowRight') void seek(playback.at + LEAP);
    else if (event.key === 'ArrowLeft') void seek(playback.at - LEAP);
    else if (event.key === '.') void playback.forward();
    else if (event.key === ',') void playback.back();
    else if (event.key === 'Home') void seek(0);
    else if (event.key === 'End') void seek(playback.length);
    else if (event.key === '>' || event.key === ']') playback.faster(1);
    else if (event.key === '<' || event.key === '[') playback.faster(-1);
    else return false;
    return true;
  });

  const ticks = element('div', { class: 'ticks', 'aria-hidden': 'true' });
  for (const { at: when, kind } of timeline.marks) {
    const mark = element('span', { 'data-kind': kind });
    mark.style.left = `${(100 * when) / Math.max(1, timeline.length)}%`;
    ticks.append(mark);
  }
  const marks = element('ol', { class: 'marks', tabindex: '0', 'aria-labelledby': 'marks' });
  /** @param {string} text */
  const isolateNames = (text) => timeline.seats.reduce((made, { name }) => made.replaceAll(name, isolated(name)), text);
  const showMarks = (/** @type {Timeline['marks']} */ all) =>
    marks.replaceChildren(
      ...all.map(({ at: when, kind, text }) =>
        element('li', { 'data-kind': kind }, element('button', { type: 'button', click: () => void seek(when) }, element('span', { class: 'time' }, clock(when)), ` ${isolateNames(translate(text))}`)),
      ),
    );
  showMarks(timeline.marks);
  // Frames contain more than marks. A short match is sent in one piece.
  if (frameMarks && timeline.length <= MAX_WINDOW) {
    request(`${path}?from=0&to=${Math.floor(timeline.length)}`).then(
      ({ frames }) => showMarks(frameMarks(frames.map(frame), realName)),
      () => {},
    );
  }
  begin();
  main.replaceChildren(
    element(
      'div',
      { class: 'headline' },
      element('h1', {}, `${say('replay.title', { game: gameName })} `, element('span', { class: 'what' }, translate(match.title))),
      element('div', { class: 'chips' }, element('span', { class: 'chip' }, element('time', { datetime: match.started }, ago(match.started)))),
    ),
    element(
      'div',
      { class: 'table' },
      element(
        'div',
        { class: 'play' },
        element('div', { class: 'stage' }, board),
        element('div', { class: 'scrub' }, ticks, bar),
        element(
          'div',
          { class: 'controls' },
          playButton,
          button(say('replay.back'), '‹', () => void playback.back()),
          button(say('replay.forward'), '›', () => void playback.forward()),
          time,
          speed,
          element('label', { for: 'view', class: 'soft' }, say('replay.view')),
          view,
          copyButton(() => publicAddress(address()), say('replay.link')),
          // A puzzle that may still be played has no seats here, and no download.
          ...(timeline.seats.length ? [element('a', { class: 'button', href: `/api/matches/${encodeURIComponent(match.id)}/lines`, download: '' }, say('replay.download'))] : []),
        ),
        problem,
        below,
        controls,
        more,
        element('p', { class: 'note keys' }, say('replay.keys')),
      ),
      element(
        'aside',
        { class: 'side' },
        standings(match),
        ...(timeline.marks.length ? [element('section', { 'aria-labelledby': 'marks' }, element('h2', { id: 'marks' }, say('replay.marks')), marks)] : []),
      ),
    ),
    live,
  );
  void playback.seek(at);
  return () => {
    playback.playing = false;
    playback.turn += 1;
    stopKeys();
    shown?.stop();
  };
}

/** @param {{ name: string, seat: string }[]} players */
function facesOf(players) {
  const faces = new Faces();
  faces.set(players);
  return faces;
}

/**
 * @param {HTMLElement} main
 * @param {Match} match
 */
function lost(main, match) {
  main.replaceChildren(
    element('h1', {}, say('replay.gone')),
    element('p', {}, say('replay.gone.text')),
    standings(match),
    element('p', {}, element('a', { class: 'button primary', href: '/' }, say('page.to-lobby'))),
  );
}

/**
 * @param {Match} match
 */
function standings({ id, game, players }) {
  const faces = facesOf(players);
  const rows = players.map((row) =>
    element(
      'li',
      {},
      element('span', { class: 'rank' }, `${row.rank}.`),
      avatar(row.seat, faces.of(row.name)),
      person(row, { link: true }),
      element('span', { class: 'value' }, isGame(game) ? GAMES[game].score(row.score) : String(row.score)),
    ),
  );
  return element('section', { 'aria-label': say('page.result') }, element('h2', {}, winnersText(players)), element('ol', { class: 'standings' }, ...rows), ...reportButton(id, players, null));
}
