// A canvas that is sharp on any pixel density and drawn at most once a frame, only when something has changed.

/** Draws when asked to, at the next frame. */
export class Surface {
  /**
   * @param {HTMLElement} parent
   * @param {string} label What it shows, for those who do not see it.
   * @param {(context: CanvasRenderingContext2D, width: number, height: number) => void} draw In CSS pixels.
   */
  constructor(parent, label, draw) {
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', label);
    parent.append(this.canvas);
    this.draw = draw;
    this.due = false;
    this.height = 100;
    this.resized = new ResizeObserver(() => this.change());
    this.resized.observe(parent);
  }

  /** @param {number} height In CSS pixels. */
  setHeight(height) {
    if (this.height === height) return;
    this.height = height;
    this.canvas.style.height = `${height}px`;
  }

  change() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      const width = this.canvas.parentElement?.clientWidth ?? 0;
      const ratio = devicePixelRatio || 1;
      const context = this.canvas.getContext('2d');
      if (!context || width === 0) return;
      const [pixels, lines] = [Math.round(width * ratio), Math.round(this.height * ratio)];
      if (this.canvas.width !== pixels || this.canvas.height !== lines) {
        this.canvas.width = pixels;
        this.canvas.height = lines;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.draw(context, width, this.height);
    });
  }

  stop() {
    this.resized.disconnect();
    this.canvas.remove();
  }
}

/** Colours of players, all readable on the dark ground of boards. */
export const COLOURS = [
  '#ffd166', '#7fd1ff', '#ff9f7f', '#a5e887', '#e3a6ff', '#ffe9a8', '#6ff0d0', '#ff9ecb', '#c8d0ff', '#d8c08a',
];
