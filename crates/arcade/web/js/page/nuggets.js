// A nuggets room on the page.

import { cellAt, draw, layout } from '../board/nuggets.js';
import { Surface } from '../board/canvas.js';
import { begin, fold, status, way } from '../fold/nuggets.js';
import { MOVES, decode, key, play } from '../protocol/nuggets.js';
import { element, listenToKeys, toggle } from './dom.js';

/** Keys of the keyboard that are not letters. */
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
/** How far a finger moves for a step, in CSS pixels; and for how long it is held for a run, in milliseconds. */
const SWIPE = 24;
const HOLD = 350;
/** Milliseconds between two keys of a walk. */
const WALK = 90;

/**
 * @param {import('./room.js').Stage} stage
 * @returns {import('./room.js').Play}
 */
export function playNuggets({ board, controls, live, watching, name, send, seated }) {
  let state = begin();
  let whole = false;
  let spoken = { gold: 0, note: 0 };
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let walking;
  const line = element('p', { role: 'status' });
  const text = element('pre', { class: 'hidden', 'aria-label': 'The map as text' });
  let place = layout(state, 0, whole, 0);
  const surface = new Surface(board, 'The map', (context, width) => {
    place = layout(state, width, whole, Math.max(200, innerHeight * 0.7));
    surface.setHeight(place.height);
    draw(context, state, place);
  });
  board.after(line, text);
  board.tabIndex = 0;

  /** @param {string} pressed */
  const press = (pressed) => {
    clearInterval(walking);
    send(key(pressed));
  };
  const stopKeys = listenToKeys((event) => {
    const moved = KEYS[event.key] ?? (event.key.length === 1 && MOVES.includes(event.key.toLowerCase()) ? event.key : null);
    if (moved === null || watching) return false;
    press(event.shiftKey ? moved.toUpperCase() : moved);
    return true;
  });
  if (!watching) touch(surface.canvas, press, (x, y) => walk(cellAt(place, x, y)));

  /** @param {{ row: number, column: number }} goal */
  const walk = (goal) => {
    clearInterval(walking);
    const path = [...way(state, goal)];
    walking = setInterval(() => {
      const next = path.shift();
      if (next === undefined) clearInterval(walking);
      else send(key(next));
    }, WALK);
  };
  controls.append(
    toggle('Whole map', (on) => {
      whole = on;
      surface.change();
    }),
  );

  const speak = () => {
    if (state.gold.serial !== spoken.gold) live.textContent = `${state.gold.collected} nuggets`;
    else if (state.note.serial !== spoken.note) live.textContent = state.note.text;
    spoken = { gold: state.gold.serial, note: state.note.serial };
  };

  return {
    open: () => {
      if (!watching) send(play(name));
    },
    message: (data) => {
      const message = typeof data === 'string' ? decode(data) : null;
      if (!message) return;
      if (message.kind === 'grid' || (message.kind === 'ok' && message.letter !== state.letter)) {
        const { letter } = state;
        state = Object.assign(begin(), { letter });
      }
      fold(state, message);
      if (message.kind === 'ok') seated(null, message.letter);
      line.textContent = state.over ? (state.table ? 'The game is over.' : state.farewell) : status(state);
      text.textContent = state.display.join('\n');
      speak();
      surface.change();
    },
    room: () => {},
    stop: () => {
      clearInterval(walking);
      stopKeys();
      surface.stop();
    },
  };
}

/**
 * Steps by swiping, runs by swiping and holding, walks by tapping.
 * @param {HTMLElement} target
 * @param {(key: string) => void} press
 * @param {(x: number, y: number) => void} tap
 */
function touch(target, press, tap) {
  /** @type {{ x: number, y: number, moved: string, timer: ReturnType<typeof setTimeout> | undefined } | null} */
  let finger = null;
  target.addEventListener('pointerdown', ({ offsetX, offsetY }) => {
    finger = { x: offsetX, y: offsetY, moved: '', timer: undefined };
  });
  target.addEventListener('pointermove', ({ offsetX, offsetY, buttons }) => {
    if (!finger || buttons === 0 || finger.moved) return;
    const [x, y] = [offsetX - finger.x, offsetY - finger.y];
    if (Math.hypot(x, y) < SWIPE) return;
    const held = finger;
    held.moved = direction(x, y);
    press(held.moved);
    held.timer = setTimeout(() => press(held.moved.toUpperCase()), HOLD);
  });
  const end = (/** @type {PointerEvent} */ { type, offsetX, offsetY }) => {
    if (!finger) return;
    clearTimeout(finger.timer);
    if (!finger.moved && type === 'pointerup') tap(offsetX, offsetY);
    finger = null;
  };
  target.addEventListener('pointerup', end);
  target.addEventListener('pointercancel', end);
}

/**
 * The key for a direction on the screen.
 * @param {number} x To the right.
 * @param {number} y Down.
 */
export function direction(x, y) {
  // Eighths of a turn, from the right, clockwise.
  const eighth = Math.round(Math.atan2(y, x) / (Math.PI / 4)) & 7;
  return 'lnjbhyku'[eighth];
}
