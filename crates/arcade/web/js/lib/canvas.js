// A canvas that fills its parent, is sharp at any pixel density, and is redrawn only after changes.

/**
 * Draws in CSS pixels. `now` is the time of the frame in milliseconds. Returns whether an animation needs another frame.
 * @typedef {(context: CanvasRenderingContext2D, width: number, height: number, now: number) => boolean | void} Draw
 */

export class Surface {
  /**
   * @param {HTMLElement} parent
   * @param {string} label The accessible name.
   * @param {Draw} draw
   */
  constructor(parent, label, draw) {
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', label);
    parent.append(this.canvas);
    this.draw = draw;
    this.isScheduled = false;
    /** `show` has drawn since the last frame. */
    this.shown = false;
    this.resized = new ResizeObserver(() => this.change());
    this.resized.observe(parent);
    this.rescaled = () => this.change();
    addEventListener('resize', this.rescaled);
  }

  /** Schedules drawing for the next frame. */
  change() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame((now) => {
      this.isScheduled = false;
      this.shown = false;
      this.refresh(now);
    });
  }

  /** Draws immediately, at most once per frame, and again at the next frame. For responses to keys. */
  show() {
    this.change();
    if (this.shown || document.hidden) return;
    this.shown = true;
    this.refresh(performance.now());
  }

  /** @param {number} now */
  refresh(now) {
    const { clientWidth: width = 0, clientHeight: height = 0 } = this.canvas.parentElement ?? {};
    if (width > 0 && height > 0 && this.paint(width, height, now)) this.change();
  }

  /**
   * @param {number} width
   * @param {number} height
   * @param {number} now
   */
  paint(width, height, now) {
    const ratio = devicePixelRatio || 1;
    const context = this.canvas.getContext('2d', { alpha: false });
    if (!context) return false;
    const [pixels, lines] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== pixels || this.canvas.height !== lines) {
      this.canvas.width = pixels;
      this.canvas.height = lines;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return this.draw(context, width, height, now);
  }

  stop() {
    this.resized.disconnect();
    removeEventListener('resize', this.rescaled);
    this.canvas.remove();
  }
}

/** Readable on the dark background of boards. */
export const COLOURS = [
  '#ffb000', '#2f9bff', '#ff5d5d', '#35c26a', '#b072ff', '#ff8ad1', '#6ff0d0', '#ffe9a8', '#c8d0ff', '#d8c08a',
];

/** Duration of a step in milliseconds. */
export const SLIDE = 80;

/** @typedef {{ fromX: number, fromY: number, toX: number, toY: number, since: number }} Glide */

/**
 * The current position of a glide, and whether it still moves.
 * @param {Glide} glide
 * @param {number} now
 * @param {number} [length]
 */
export function glideAt({ fromX, fromY, toX, toY, since }, now, length = SLIDE) {
  // The first frame shows a part of the step already: the response to a key is immediate.
  const part = Math.min(1, Math.max(0.3, (now - since) / length));
  return { x: fromX + (toX - fromX) * part, y: fromY + (toY - fromY) * part, moves: part < 1 };
}
