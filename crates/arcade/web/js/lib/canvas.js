// A canvas that is sharp on any pixel density, and drawn only when something has changed.

/**
 * Draws in CSS pixels. `now` is the time of the frame in milliseconds. Returns whether it moves, so that it is drawn again.
 * @typedef {(context: CanvasRenderingContext2D, width: number, height: number, now: number) => boolean | void} Draw
 */

/** Draws when asked to. */
export class Surface {
  /**
   * @param {HTMLElement} parent
   * @param {string} label What it shows, for those who do not see it.
   * @param {Draw} draw
   */
  constructor(parent, label, draw) {
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', label);
    parent.append(this.canvas);
    this.draw = draw;
    this.due = false;
    /** Whether it was drawn since the last frame without waiting for the next one. */
    this.shown = false;
    this.height = 100;
    this.resized = new ResizeObserver(() => this.change());
    this.resized.observe(parent);
    this.rescaled = () => this.change();
    addEventListener('resize', this.rescaled);
  }

  /** @param {number} height In CSS pixels. */
  setHeight(height) {
    if (this.height === height && this.canvas.style.height) return;
    this.height = height;
    this.canvas.style.height = `${height}px`;
  }

  /** Draws at the next frame. */
  change() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame((now) => {
      this.due = false;
      this.shown = false;
      this.refresh(now);
    });
  }

  /** Draws at once and again at the next frame; at once only the first time between two frames. For what answers a key. */
  show() {
    this.change();
    if (this.shown || document.hidden) return;
    this.shown = true;
    this.refresh(performance.now());
  }

  /** @param {number} now */
  refresh(now) {
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    if (width === 0) return;
    const before = this.height;
    if (this.paint(width, now) || this.height !== before) this.change();
  }

  /**
   * @param {number} width
   * @param {number} now
   */
  paint(width, now) {
    const ratio = devicePixelRatio || 1;
    const context = this.canvas.getContext('2d', { alpha: false });
    if (!context) return false;
    const [pixels, lines] = [Math.round(width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== pixels || this.canvas.height !== lines) {
      this.canvas.width = pixels;
      this.canvas.height = lines;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return this.draw(context, width, this.height, now);
  }

  stop() {
    this.resized.disconnect();
    removeEventListener('resize', this.rescaled);
    this.canvas.remove();
  }
}

/** Colours of players, all readable on the dark ground of boards. */
export const COLOURS = [
  '#ffd166', '#7fd1ff', '#ff9f7f', '#a5e887', '#e3a6ff', '#ffe9a8', '#6ff0d0', '#ff9ecb', '#c8d0ff', '#d8c08a',
];

/** How long a step slides, in milliseconds. */
export const SLIDE = 80;

/**
 * A value that glides to where it was last sent.
 * @typedef {{ fromX: number, fromY: number, toX: number, toY: number, since: number }} Glide
 */

/**
 * Where a glide is now, and whether it still moves.
 * @param {Glide} glide
 * @param {number} now
 * @param {number} [length]
 */
export function glideAt({ fromX, fromY, toX, toY, since }, now, length = SLIDE) {
  // The first frame shows a part of the step already, so that a key is answered at once.
  const part = Math.min(1, Math.max(0.3, (now - since) / length));
  return { x: fromX + (toX - fromX) * part, y: fromY + (toY - fromY) * part, moves: part < 1 };
}
