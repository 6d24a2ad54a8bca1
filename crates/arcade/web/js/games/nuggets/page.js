import { Surface, glideAt } from '../../lib/canvas.js';
import { element, listenToKeys, toggle, updateChildren } from '../../lib/dom.js';
import { hud } from '../../lib/hud.js';
import { highest, rankOf } from '../../lib/leaders.js';
import { burst } from '../../lib/motion.js';
import { prefersReducedMotion, recall, remember } from '../../lib/settings.js';
import { sound } from '../../lib/sound.js';
import { ordinal, say, sentence, translate } from '../../lib/text.js';
import { Ground, above, cellAt, draw, isLow, layout } from './board.js';
import { fold, initialState, pathTo, ranking, status, stepToGold } from './fold.js';
import { MOVES, decode, key, play as playMessage } from './protocol.js';
import { touch } from './touch.js';

export { rules } from './rules.js';
export { story } from './story.js';

/** Moves that are not letters. */
const KEYS = /** @type {Record<string, string>} */ ({
  ArrowLeft: 'h',
  ArrowRight: 'l',
  ArrowUp: 'k',
  ArrowDown: 'j',
  Home: 'y',
  PageUp: 'u',
  End: 'b',
  PageDown: 'n',
});
/** Moves by keys of the number pad with Num Lock on. */
const PAD = /** @type {Record<string, string>} */ ({
  Numpad1: 'b', Numpad2: 'j', Numpad3: 'n', Numpad4: 'h', Numpad6: 'l', Numpad7: 'y', Numpad8: 'k', Numpad9: 'u',
});
/** The time between two keys of a walk, and the time without progress until it stops, in milliseconds. */
const WALK = 60;
const STUCK = 2000;
const ZOOMS = [1, 1.35, 1.8, 2.4];
/** Scores younger than this, in milliseconds, count as current. */
const CURRENT = 3000;

/** @type {import('../types.js').Help} */
const HELP = [
  ['← ↑ ↓ → h j k l', say('nuggets.help.step')],
  ['y u b n', say('nuggets.help.aslant')],
  ['Shift + key', say('nuggets.help.run')],
  ['swipe', say('nuggets.help.swipe')],
  ['tap', say('nuggets.help.tap')],
  ['m', say('nuggets.help.map')],
  ['+ −', say('nuggets.help.zoom')],
  ['?', say('help.these')],
];

/**
 * @param {import('../types.js').Stage} stage
 * @returns {import('../types.js').Play}
 */
export function play({ board, below, more, live, playable, first, name, realName, face, send, seatChanged, changed }) {
  let state = initialState();
  /** From the start for spectators, if the map is legible. */
  let whole = !playable && matchMedia('(min-width: 60rem)').matches;
  let zoom = Math.min(ZOOMS.length - 1, Math.max(0, Number(recall('zoom') ?? 0) || 0));
  /** By letter, as the hub sends them. In a rated match they are old, all by the same time. @type {Record<string, number>} */
  let scores = {};
  /** When the player's purse got each of its values. @type {[number, number][]} */
  const purses = [];
  /** The age of the scores in milliseconds: 0 if they are current, null if it is unknown. @type {number | null} */
  let age = 0;
  let begun = true;
  let spoken = { gold: 0, note: 0 };
  /** The display that the text alternative shows. @type {string[] | null} */
  let written = null;
  /** @type {{ goal: { row: number, column: number }, from: string, since: number, timer: ReturnType<typeof setInterval> } | null} */
  let walk = null;
  /** @type {Map<string, import('../../lib/canvas.js').Glide>} */
  const glides = new Map();
  const ground = new Ground();
  const found = element('span', { class: 'found', 'aria-hidden': 'true' });
  const text = element('pre', { class: 'hidden', 'aria-label': say('nuggets.map.text'), role: 'group' });
  /** Follows a player, for spectators. */
  const camera = element('select', { 'aria-label': say('nuggets.camera'), change: () => surface.change() });
  let place = layout(state, 0, 0, { whole, zoom: 1, focus: null, ratio: 1 });
  const surface = new Surface(board, say('nuggets.map'), (context, width, height, now) => {
    const own = glides.get('@');
    const focus = state.place && own ? glided(own, now) : (state.place ?? state.players.get(camera.value) ?? null);
    const ratio = context.getTransform().a;
    place = layout(state, width, height, { whole, zoom: ZOOMS[zoom], focus, ratio, covered: figures.panel.offsetHeight });
    board.classList.toggle('low', state.place !== null && isLow(place, state.place.row));
    return draw(context, state, place, { ground, glides, now, face, goal: walk?.goal ?? null, way: first && playable ? toGold() : null });
  });
  const figures = hud(board);
  figures.left.append(found);
  below.append(text);

  /** The first step to the nearest gold in sight, for new players. */
  const toGold = () => {
    if (pointed.display !== state.displays) pointed = { display: state.displays, step: state.over ? null : stepToGold(state) };
    return pointed.step;
  };
  let pointed = { display: -1, step: /** @type {string | null} */ (null) };

  const stand = () => {
    if (walk) clearInterval(walk.timer);
    walk = null;
  };
  /** @param {string} pressed */
  const press = (pressed) => {
    stand();
    send(key(pressed));
  };
  const mapToggle = toggle(say('nuggets.map.whole'), (on) => {
    whole = on;
    surface.change();
  }, whole);
  /** @param {number} by */
  const nearer = (by) => {
    zoom = Math.min(ZOOMS.length - 1, Math.max(0, zoom + by));
    remember('zoom', String(zoom));
    surface.change();
  };
  const stopKeys = listenToKeys((event) => {
    if (event.key === 'm') mapToggle.click();
    else if (event.key === '+' || event.key === '=') nearer(1);
    else if (event.key === '-') nearer(-1);
    else {
      const letter = event.key.length === 1 && MOVES.includes(event.key.toLowerCase()) ? event.key : null;
      const moved = KEYS[event.key] ?? PAD[event.code] ?? letter;
      if (moved === null || !playable) return false;
      press(event.shiftKey ? moved.toUpperCase() : moved);
    }
    return true;
  });

  /** The next key of a walk, once the last one has moved the player. */
  const stride = () => {
    if (!walk || !state.place) return;
    const here = `${state.place.row},${state.place.column}`;
    if (here === walk.from) {
      if (performance.now() - walk.since > STUCK) stand();
      return;
    }
    const [next] = pathTo(state, walk.goal);
    if (next === undefined) {
      stand();
      surface.change();
      return;
    }
    walk.from = here;
    walk.since = performance.now();
    send(key(next));
  };
  if (playable) {
    touch(surface.canvas, {
      step: press,
      run: (direction) => press(direction.toUpperCase()),
      tap: (x, y) => {
        stand();
        const goal = cellAt(place, x, y);
        if (!pathTo(state, goal)) return;
        walk = { goal, from: '', since: 0, timer: setInterval(stride, WALK) };
        stride();
        surface.change();
      },
    });
  }
  if (!playable) more.append(camera);
  more.append(
    mapToggle,
    element('button', { type: 'button', 'aria-label': say('nuggets.farther'), click: () => nearer(-1) }, '−'),
    element('button', { type: 'button', 'aria-label': say('nuggets.closer'), click: () => nearer(1) }, '+'),
  );

  const speak = () => {
    if (state.gold.serial !== spoken.gold) {
      live.textContent = say('score.nuggets', { count: state.gold.collected });
      found.textContent = `+${state.gold.collected}`;
      // Restarts the animation.
      found.classList.remove('ticks');
      void found.offsetWidth;
      found.classList.add('ticks');
      if (playable && state.place) burst(board, above(place, state.place));
      sound('gold');
    } else if (state.note.serial !== spoken.note) {
      live.textContent = translate(state.note.text);
    }
    spoken = { gold: state.gold.serial, note: state.note.serial };
  };

  /**
   * Starts the animations of steps, and announces a swap with the player.
   * @param {Map<string, import('./fold.js').Place>} before
   */
  const move = (before) => {
    const now = performance.now();
    const after = places(state);
    const [was, is] = [before.get('@'), after.get('@')];
    glides.clear();
    for (const [who, to] of prefersReducedMotion() ? [] : after) {
      const from = before.get(who);
      const far = from ? Math.max(Math.abs(from.row - to.row), Math.abs(from.column - to.column)) : 0;
      // Up to two cells, since displays may be skipped during a run.
      if (from && far > 0 && far <= 2) {
        glides.set(who, { fromX: from.column, fromY: from.row, toX: to.column, toY: to.row, since: now });
      }
    }
    if (!was || !is || (was.row === is.row && was.column === is.column)) return;
    for (const [who, to] of after) {
      const from = before.get(who);
      if (who !== '@' && from?.row === is.row && from.column === is.column && to.row === was.row && to.column === was.column) {
        live.textContent = say('nuggets.swapped', { letter: who });
        sound('swap');
      }
    }
  };

  const showCamera = () => {
    const letters = [...state.players.keys()].sort();
    updateChildren(camera, ...['', ...letters].map((letter) => element('option', { value: letter }, letter ? say('nuggets.camera.one', { letter }) : say('nuggets.camera.nobody'))));
  };

  const isOld = () => age === null || age > CURRENT;
  const standings = () => ranking(state.table ?? []).map((row) => ({ ...row, name: realName(row.seat, row.name) }));
  const show = () => {
    if (!playable) showCamera();
    // Before the start, the server sends the remaining time as a sentence.
    const waits = begun ? '' : sentence(translate(state.note.text));
    const ending = state.over ? say('room.end.over') : waits;
    const { letter, purse, remaining } = state;
    const rank = letter === null || isOld() ? null : rankOf(scores, letter);
    figures.show(
      ending || status(state),
      letter === null || remaining === null ? null : [[purse ?? 0, rank === null ? say('seats.you') : say('hud.rank', { rank: ordinal(rank) })]],
      remaining === null ? null : [[remaining, say('nuggets.left')]],
      ending === '' && remaining !== null,
    );
    // The response to a key comes first.
    surface.show();
    if (written !== state.display) text.textContent = state.display.join('\n');
    written = state.display;
  };
  show();

  return {
    help: HELP,
    open: () => {
      if (playable) send(playMessage(name));
    },
    message: (data) => {
      const message = typeof data === 'string' ? decode(data) : null;
      if (!message) return;
      if (message.kind === 'grid' || (message.kind === 'ok' && message.letter !== state.letter)) {
        const { letter } = state;
        state = Object.assign(initialState(), { letter });
        ground.serial = -1;
        ground.columns = 0;
        glides.clear();
        spoken = { gold: 0, note: 0 };
      }
      const before = message.kind === 'display' ? places(state) : null;
      fold(state, message);
      if (before) move(before);
      if (message.kind === 'ok') seatChanged(message.letter);
      if (message.kind === 'gold' && purses[0]?.[1] !== message.purse) purses.unshift([performance.now(), message.purse]);
      if (message.kind === 'gold' || message.kind === 'quit') changed();
      if (message.kind === 'quit') {
        stand();
        const [winner] = standings();
        live.textContent = winner ? say('nuggets.over', { name: winner.name, score: say('score.nuggets', { count: winner.score }) }) : state.farewell;
        sound(winner?.seat === state.letter ? 'win' : 'loss');
      }
      speak();
      show();
      if (walk) stride();
    },
    room: (now) => {
      const own = now.scores?.[state.letter ?? ''];
      if (!now.rated || now.phase !== 'playing') age = 0;
      else if (own === undefined || own === 0 || own === scores[state.letter ?? '']) age ||= null;
      else age = performance.now() - (purses.find(([, purse]) => purse === own)?.[0] ?? performance.now());
      scores = now.scores ?? {};
      begun = now.phase !== 'lobby';
      show();
    },
    seat: (letter) => {
      // The own purse arrives before the hub's scores.
      const own = letter === state.letter;
      const purse = own ? state.purse : scores[letter];
      const note = own || purse === undefined || !isOld() ? '' : age === null ? say('seats.delayed') : say('seats.ago', { seconds: Math.round(age / 1000) });
      return { value: purse === null || purse === undefined ? '' : String(purse), note };
    },
    anchor: (letter) => {
      const spot = letter === state.letter ? state.place : state.players.get(letter);
      return spot ? above(place, spot) : null;
    },
    // A player's own purse is current: beside old scores, a leader would be wrong.
    leaders: () => (state.letter !== null && isOld() ? [] : highest(Object.entries(scores))),
    result: () => (state.table ? standings() : null),
    leave: () => send(key('Q')),
    stop: () => {
      stand();
      stopKeys();
      surface.stop();
    },
  };
}

/**
 * @param {import('./fold.js').NuggetsState} state
 * @returns {Map<string, import('./fold.js').Place>} The places of all players; the own one is `@`.
 */
function places(state) {
  const all = new Map(state.players);
  if (state.place) all.set('@', state.place);
  return all;
}

/**
 * What the view follows during a step.
 * @param {import('../../lib/canvas.js').Glide} glide
 * @param {number} now
 */
function glided(glide, now) {
  const { x, y } = glideAt(glide, now);
  return { row: y, column: x };
}
