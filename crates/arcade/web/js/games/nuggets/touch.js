// A swipe is a step, a held swipe is a run, and a tap selects a place.

/** The shortest swipe in CSS pixels, and the time in milliseconds until a held swipe is a run. */
const SWIPE = 24;
const HOLD = 350;

/**
 * @typedef {object} Gestures
 * @property {(direction: string) => void} step The direction is a key of nuggets.
 * @property {(direction: string) => void} run
 * @property {(x: number, y: number) => void} tap
 */

/**
 * @param {HTMLElement} target
 * @param {Gestures} gestures
 */
export function touch(target, { step, run, tap }) {
  /** @type {{ x: number, y: number, moved: string, timer: ReturnType<typeof setTimeout> | undefined } | null} */
  let finger = null;
  target.addEventListener('pointerdown', ({ offsetX, offsetY, button, isPrimary }) => {
    if (button !== 0 || !isPrimary) return;
    clearTimeout(finger?.timer);
    finger = { x: offsetX, y: offsetY, moved: '', timer: undefined };
  });
  target.addEventListener('pointermove', ({ offsetX, offsetY, buttons }) => {
    if (!finger || buttons === 0 || finger.moved) return;
    const [x, y] = [offsetX - finger.x, offsetY - finger.y];
    if (Math.hypot(x, y) < SWIPE) return;
    const touched = finger;
    touched.moved = direction(x, y);
    step(touched.moved);
    touched.timer = setTimeout(() => run(touched.moved), HOLD);
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
 * @param {number} x To the right.
 * @param {number} y Down.
 */
export function direction(x, y) {
  // Eighths of a turn, from the right, clockwise.
  const eighth = Math.round(Math.atan2(y, x) / (Math.PI / 4)) & 7;
  return 'lnjbhyku'[eighth];
}
