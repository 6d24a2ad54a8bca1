// A map by lantern light: cells in sight are warm, remembered cells are cold, unknown cells are dark.

import { glideAt } from '../../lib/canvas.js';
import { faceOfSeat, trace } from '../../lib/face.js';
import { STEPS, isInSight } from './fold.js';

/** @typedef {import('./fold.js').NuggetsState} NuggetsState */

/** Cells of the view that follows the player, in CSS pixels. */
export const SMALLEST = 16;
export const LARGEST = 48;
/** Height of a cell divided by its width. */
const ASPECT = 1.25;
/** In the view that follows the player, the width of cells is a multiple of this, so that their height is a whole number. */
const GRAIN = 4;
/** Cells painted around the view, so that it can follow the player for a while on the same picture. */
const MARGIN = 8;
const DARK = '#0b0a08';

/**
 * The placement of cells on the canvas.
 * @typedef {{ cell: number, left: number, top: number, width: number, height: number }} Layout
 */

/**
 * Frames the explored part of the map: in the middle if it fits, otherwise around the place that the view follows.
 * @param {NuggetsState} state
 * @param {number} width
 * @param {number} height
 * @param {{ whole: boolean, zoom: number, focus: { row: number, column: number } | null, ratio: number, covered?: number }} view `whole`
 *   shows the whole map, however small. `zoom` enlarges cells. `focus` is the place that the view follows. `ratio` is device pixels per
 *   CSS pixel. `covered` is the height that figures cover at the top.
 * @returns {Layout}
 */
export function layout(state, width, height, { whole, zoom, focus, ratio, covered = 0 }) {
  const { rows, columns, bounds } = state;
  if (rows === 0) return { cell: SMALLEST, left: 0, top: 0, width, height };
  const part = whole || !bounds ? { top: 0, left: 0, bottom: rows, right: columns } : bounds;
  const edge = whole ? 0 : 1;
  const [wide, high] = [part.right - part.left + 2 * edge, part.bottom - part.top + 2 * edge];
  const fitting = Math.min(width / wide, (height - covered) / (high * ASPECT));
  const wanted = Math.min(Math.max(fitting, SMALLEST), LARGEST) * zoom;
  // The figures may cover all of a small board.
  const cell = whole ? Math.max(fitting, 1) : (Math.floor((wanted * ratio) / GRAIN) * GRAIN) / ratio;
  /**
   * @param {number} first
   * @param {number} last
   * @param {number} window
   * @param {number} centre
   */
  const corner = (first, last, window, centre) =>
    last - first <= window ? (first + last - window) / 2 : Math.min(Math.max(centre - window / 2, first), last - window);
  const tall = cell * ASPECT;
  return {
    cell,
    left: corner((part.left - edge) * cell, (part.right + edge) * cell, width, ((focus?.column ?? columns / 2) + 0.5) * cell),
    top: corner((part.top - edge) * tall - covered, (part.bottom + edge) * tall, height, ((focus?.row ?? rows / 2) + 0.5) * tall),
    width,
    height,
  };
}

/**
 * The cell at a point of the canvas.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 */
export function cellAt({ cell, left, top }, x, y) {
  return { row: Math.floor((y + top) / (cell * ASPECT)), column: Math.floor((x + left) / cell) };
}

/**
 * The middle of a cell's upper edge, on the canvas.
 * @param {Layout} layout
 * @param {{ row: number, column: number }} place
 */
export const above = ({ cell, left, top }, { row, column }) => ({ x: (column + 0.5) * cell - left, y: row * cell * ASPECT - top });

/**
 * Whether a row is in the lower half of the picture.
 * @param {Layout} layout
 * @param {number} row
 */
export const isLow = ({ cell, top, height }, row) => (row + 0.5) * cell * ASPECT - top > height / 2;

/** @param {string} letter */
const faceOfLetter = (letter) => faceOfSeat(letter.charCodeAt(0) - 64);

/** @param {HTMLCanvasElement} canvas */
const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));

/** @param {number} pixels */
const isWhole = (pixels) => Math.abs(pixels - Math.round(pixels)) < 1e-6;

/** The ground, cached as a picture so that a frame costs one copy. Only changed cells are painted again. */
export class Ground {
  constructor() {
    this.canvas = document.createElement('canvas');
    /** A second canvas for the next picture. */
    this.spare = document.createElement('canvas');
    this.context = contextOf(this.canvas);
    this.painted = new Uint8Array(0);
    this.cell = 0;
    this.ratio = 0;
    this.columns = 0;
    this.window = { row: 0, column: 0, rows: 0, columns: 0 };
    /** The number of the painted display. */
    this.serial = -1;
  }

  /**
   * Paints changed cells, then copies the visible part.
   * @param {CanvasRenderingContext2D} context
   * @param {NuggetsState} state
   * @param {Layout} layout
   */
  draw(context, state, layout) {
    const ratio = context.getTransform().a;
    const [wide, high] = [layout.cell, layout.cell * ASPECT];
    this.cover(state, layout, ratio);
    const { window, canvas } = this;
    const x = window.column * wide - layout.left;
    const y = window.row * high - layout.top;
    context.drawImage(canvas, x, y, canvas.width / ratio, canvas.height / ratio);
  }

  /**
   * Starts a new picture if this one does not cover the layout, and repaints changed cells.
   * @param {NuggetsState} state
   * @param {Layout} layout
   * @param {number} ratio
   */
  cover(state, layout, ratio) {
    const [wide, high] = [layout.cell, layout.cell * ASPECT];
    const first = { row: Math.max(0, Math.floor(layout.top / high)), column: Math.max(0, Math.floor(layout.left / wide)) };
    const last = {
      row: Math.min(state.rows, Math.ceil((layout.top + layout.height) / high)),
      column: Math.min(state.columns, Math.ceil((layout.left + layout.width) / wide)),
    };
    const { window } = this;
    const covers =
      this.cell === layout.cell && this.ratio === ratio && this.columns === state.columns &&
      first.row >= window.row && first.column >= window.column &&
      last.row <= window.row + window.rows && last.column <= window.column + window.columns;
    if (!covers) {
      const row = Math.max(0, first.row - MARGIN);
      const column = Math.max(0, first.column - MARGIN);
      this.move(state, layout.cell, ratio, {
        row,
        column,
        rows: Math.min(state.rows, last.row + MARGIN) - row,
        columns: Math.min(state.columns, last.column + MARGIN) - column,
      });
    }
    if (this.serial === state.displays) return;
    this.serial = state.displays;
    this.update(state);
  }

  /**
   * Keeps the common cells of the last picture.
   * @param {NuggetsState} state
   * @param {number} cell
   * @param {number} ratio
   * @param {{ row: number, column: number, rows: number, columns: number }} window The cells of the picture.
   */
  move(state, cell, ratio, window) {
    const before = { canvas: this.canvas, painted: this.painted, window: this.window };
    const [wide, high] = [cell * ratio, cell * ASPECT * ratio];
    const isKept = this.cell === cell && this.ratio === ratio && this.columns === state.columns && isWhole(wide) && isWhole(high);
    [this.canvas, this.spare] = [this.spare, this.canvas];
    this.context = contextOf(this.canvas);
    this.canvas.width = Math.max(1, Math.ceil(window.columns * wide));
    this.canvas.height = Math.max(1, Math.ceil(window.rows * high));
    this.context.fillStyle = DARK;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.painted = new Uint8Array(window.rows * window.columns);
    if (isKept) {
      const [down, right] = [before.window.row - window.row, before.window.column - window.column];
      this.context.drawImage(before.canvas, Math.round(right * wide), Math.round(down * high));
      const first = Math.max(0, right);
      const end = Math.min(window.columns, right + before.window.columns);
      for (let row = Math.max(0, down); row < Math.min(window.rows, down + before.window.rows) && first < end; row += 1) {
        const from = (row - down) * before.window.columns - right;
        this.painted.set(before.painted.subarray(from + first, from + end), row * window.columns + first);
      }
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    [this.window, this.cell, this.ratio, this.columns] = [window, cell, ratio, state.columns];
    this.serial = -1;
  }

  /** @param {NuggetsState} state */
  update(state) {
    const { window, painted, cell } = this;
    const high = cell * ASPECT;
    for (let row = 0; row < window.rows; row += 1) {
      const r = window.row + row;
      const terrain = state.terrain[r];
      const display = state.display[r];
      if (!display) return;
      for (let column = 0; column < window.columns; column += 1) {
        const c = window.column + column;
        const ground = terrain[c];
        const shown = display[c];
        // A cell's state: its kind, whether it is lit, and whether it has gold.
        const kind = shown === ' ' ? 0 : ' .#-|+'.indexOf(ground);
        const lit = kind > 0 && isInSight(state, r, c);
        const code = kind <= 0 ? 0 : kind * 4 + (lit ? 1 : 0) + (shown === '*' ? 2 : 0);
        const at = row * window.columns + column;
        if (painted[at] === code) continue;
        const [x, y] = [column * cell, row * high];
        // Unknown cells are dark already.
        if (painted[at] !== 0) {
          this.context.fillStyle = DARK;
          this.context.fillRect(x, y, cell, high);
        }
        painted[at] = code;
        if (code === 0) continue;
        paintGround(this.context, ground, lit, x, y, cell, high);
        if (shown === '*') paintGold(this.context, x + cell / 2, y + high / 2, cell);
      }
    }
  }
}

/**
 * Draws the map and the players.
 * @param {CanvasRenderingContext2D} context
 * @param {NuggetsState} state
 * @param {Layout} layout
 * @param {{ ground: Ground, glides: Map<string, import('../../lib/canvas.js').Glide>, now: number, face?: (letter: string) => import('../../lib/face.js').Face, goal?: { row: number, column: number } | null, way?: string | null }} view
 *   `face` is by letter; `way` is the key of the step that an arrow shows.
 * @returns {boolean} Whether a player moves.
 */
export function draw(context, state, layout, { ground, glides, now, face = faceOfLetter, goal, way }) {
  const { cell, left, top, width, height } = layout;
  const high = cell * ASPECT;
  context.fillStyle = DARK;
  context.fillRect(0, 0, width, height);
  if (state.rows === 0) return false;
  ground.draw(context, state, layout);
  if (goal) {
    context.strokeStyle = '#ffffff';
    context.lineWidth = 2;
    context.strokeRect(goal.column * cell - left + 2, goal.row * high - top + 2, cell - 4, high - 4);
  }
  context.font = `700 ${Math.round(cell * 1.05)}px ui-monospace, 'DejaVu Sans Mono', monospace`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  let moves = false;
  /**
   * @param {string} key
   * @param {string} letter
   * @param {{ row: number, column: number }} place
   * @param {boolean} own
   */
  const paint = (key, letter, place, own) => {
    const glide = glides.get(key);
    const at = glide ? glideAt(glide, now) : { x: place.column, y: place.row, moves: false };
    moves ||= at.moves;
    const [x, y] = [at.x * cell - left, at.y * high - top];
    if (own) paintGlow(context, x + cell / 2, y + high / 2, cell);
    paintPlayer(context, letter, face(letter), own, x, y, cell, high);
  };
  for (const [letter, place] of state.players) paint(letter, letter, place, false);
  if (state.place) paint('@', state.letter ?? '@', state.place, true);
  const step = STEPS.find(([key]) => key === way);
  if (state.place && step) paintArrow(context, (state.place.column + 0.5) * cell - left, (state.place.row + 0.5) * high - top, step, cell);
  return moves;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} ground
 * @param {boolean} lit
 * @param {number} x
 * @param {number} y
 * @param {number} cell
 * @param {number} high
 */
function paintGround(context, ground, lit, x, y, cell, high) {
  // Half a pixel more avoids gaps between cells.
  const [wide, tall] = [cell + 0.5, high + 0.5];
  switch (ground) {
    case '.':
      context.fillStyle = lit ? '#4b3a1e' : '#1b2330';
      context.fillRect(x, y, wide, tall);
      if (cell < 6) break;
      context.fillStyle = lit ? '#8d713d' : '#37465e';
      context.fillRect(x + cell / 2 - 1, y + high / 2 - 1, 2, 2);
      break;
    case '#':
      context.fillStyle = lit ? '#3a2c18' : '#151c27';
      context.fillRect(x, y, wide, tall);
      context.fillStyle = lit ? '#715a34' : '#2b384b';
      context.fillRect(x + cell * 0.22, y + high * 0.22, cell * 0.56, high * 0.56);
      break;
    case '-':
    case '|':
    case '+':
      context.fillStyle = lit ? '#c2934c' : '#4e6180';
      if (ground !== '|') context.fillRect(x, y + high * 0.35, wide, high * 0.3);
      if (ground !== '-') context.fillRect(x + cell * 0.35, y, cell * 0.3, tall);
      break;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} cell
 */
function paintGold(context, x, y, cell) {
  context.fillStyle = '#ffcf4d';
  context.beginPath();
  context.arc(x, y, Math.max(1.5, cell * 0.36), 0, 2 * Math.PI);
  context.fill();
  if (cell < 8) return;
  context.strokeStyle = '#7a5200';
  context.lineWidth = Math.max(1, cell * 0.08);
  context.stroke();
  context.fillStyle = '#fff3c4';
  context.fillRect(x - cell * 0.14, y - cell * 0.16, cell * 0.12, cell * 0.12);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x Centre of the player's cell.
 * @param {number} y
 * @param {readonly [string, number, number]} step
 * @param {number} cell
 */
function paintArrow(context, x, y, [, down, right], cell) {
  const size = Math.max(cell, 8);
  context.save();
  context.translate(x + right * size * 1.25, y + down * size * 1.25 * ASPECT);
  context.rotate(Math.atan2(down, right));
  context.fillStyle = '#ffcf4d';
  context.strokeStyle = '#14110c';
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(size * 0.5, 0);
  context.lineTo(-size * 0.35, -size * 0.4);
  context.lineTo(-size * 0.35, size * 0.4);
  context.closePath();
  context.fill();
  context.stroke();
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} cell
 */
function paintGlow(context, x, y, cell) {
  const light = context.createRadialGradient(x, y, cell * 0.4, x, y, cell * 3.2);
  light.addColorStop(0, 'rgb(255 214 130 / 0.34)');
  light.addColorStop(1, 'rgb(255 214 130 / 0)');
  context.fillStyle = light;
  context.fillRect(x - cell * 3.2, y - cell * 3.2, cell * 6.4, cell * 6.4);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} letter
 * @param {import('../../lib/face.js').Face} face
 * @param {boolean} own
 * @param {number} x
 * @param {number} y
 * @param {number} cell
 * @param {number} high
 */
function paintPlayer(context, letter, face, own, x, y, cell, high) {
  context.fillStyle = letter === '@' ? '#ffffff' : face.colour;
  // On a small map a player is larger than its cell, to stay visible.
  const [wide, tall] = [Math.max(cell, 5), Math.max(high, 5)];
  trace(context, face, x + (cell - wide) / 2, y + (high - tall) / 2, wide, tall);
  context.fill();
  if (own) {
    context.strokeStyle = '#ffffff';
    context.lineWidth = Math.max(1.5, cell * 0.14);
    context.stroke();
  }
  if (cell < 8) return;
  context.fillStyle = '#14110c';
  context.fillText(letter, x + cell / 2, y + high / 2 + cell * 0.05);
}
