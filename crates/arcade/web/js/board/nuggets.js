// A map of nuggets by lantern light: what is in sight is warm, what is remembered is cold, what is unknown is dark.

import { isInSight } from '../fold/nuggets.js';
import { COLOURS } from './canvas.js';

/** @typedef {import('../fold/nuggets.js').NuggetsState} NuggetsState */

/** The smallest cell that is still legible; below it the view follows the player. In CSS pixels. */
const SMALLEST = 13;
/** Cells are this much higher than wide. */
const ASPECT = 1.25;

/**
 * How cells lie on the canvas.
 * @typedef {{ cell: number, left: number, top: number, width: number, height: number }} Layout
 */

/**
 * @param {NuggetsState} state
 * @param {number} width
 * @param {boolean} whole Whether the whole map is wanted, however small.
 * @param {number} most The largest height.
 * @returns {Layout}
 */
export function layout(state, width, whole, most) {
  const { rows, columns, place } = state;
  if (rows === 0) return { cell: SMALLEST, left: 0, top: 0, width, height: 100 };
  const fitting = Math.min(width / columns, most / (rows * ASPECT));
  const cell = whole ? fitting : Math.max(Math.min(fitting, 28), SMALLEST);
  const [full, high] = [columns * cell, rows * cell * ASPECT];
  const height = Math.min(high, most);
  /**
   * @param {number} size
   * @param {number} window
   * @param {number} focus
   */
  const corner = (size, window, focus) =>
    size <= window ? (size - window) / 2 : Math.min(Math.max(focus - window / 2, 0), size - window);
  return {
    cell,
    left: corner(full, width, ((place?.column ?? columns / 2) + 0.5) * cell),
    top: corner(high, height, ((place?.row ?? rows / 2) + 0.5) * cell * ASPECT),
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

/** @param {string} letter */
export const colourOf = (letter) => COLOURS[(letter.charCodeAt(0) - 65) % COLOURS.length];

/**
 * @param {CanvasRenderingContext2D} context
 * @param {NuggetsState} state
 * @param {Layout} layout
 */
export function draw(context, state, { cell, left, top, width, height }) {
  context.fillStyle = '#0d0b08';
  context.fillRect(0, 0, width, height);
  const high = cell * ASPECT;
  context.font = `600 ${Math.round(cell * 1.05)}px ui-monospace, 'DejaVu Sans Mono', monospace`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const firstRow = Math.max(0, Math.floor(top / high));
  const lastRow = Math.min(state.display.length - 1, Math.ceil((top + height) / high));
  const firstColumn = Math.max(0, Math.floor(left / cell));
  const lastColumn = Math.min(state.columns - 1, Math.ceil((left + width) / cell));
  for (let row = firstRow; row <= lastRow; row += 1) {
    for (let column = firstColumn; column <= lastColumn; column += 1) {
      const shown = state.display[row][column];
      if (shown === ' ') continue;
      const x = column * cell - left;
      const y = row * high - top;
      const lit = isInSight(state, row, column);
      paintGround(context, state.terrain[row][column], lit, x, y, cell, high);
      if (shown === '*') paintGold(context, x + cell / 2, y + high / 2, cell);
      else if (shown === '@' || (shown >= 'A' && shown <= 'Z')) {
        const letter = shown === '@' ? (state.letter ?? '@') : shown;
        paintPlayer(context, letter, shown === '@', x, y, cell, high);
      }
    }
  }
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
  switch (ground) {
    case '.':
      context.fillStyle = lit ? '#4a3a1f' : '#1c2431';
      context.fillRect(x, y, cell + 0.5, high + 0.5);
      context.fillStyle = lit ? '#8a6f3c' : '#35435a';
      context.fillRect(x + cell / 2 - 1, y + high / 2 - 1, 2, 2);
      break;
    case '#':
      context.fillStyle = lit ? '#3a2d1a' : '#161d28';
      context.fillRect(x, y, cell + 0.5, high + 0.5);
      context.fillStyle = lit ? '#6d5733' : '#2a3648';
      context.fillRect(x + cell * 0.25, y + high * 0.25, cell * 0.5, high * 0.5);
      break;
    case '-':
    case '|':
    case '+':
      context.fillStyle = lit ? '#b98a45' : '#4b5d7a';
      if (ground !== '|') context.fillRect(x, y + high * 0.35, cell + 0.5, high * 0.3);
      if (ground !== '-') context.fillRect(x + cell * 0.35, y, cell * 0.3, high + 0.5);
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
  context.arc(x, y, cell * 0.36, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = '#7a5200';
  context.lineWidth = Math.max(1, cell * 0.08);
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} letter
 * @param {boolean} own
 * @param {number} x
 * @param {number} y
 * @param {number} cell
 * @param {number} high
 */
function paintPlayer(context, letter, own, x, y, cell, high) {
  context.fillStyle = letter === '@' ? '#ffffff' : colourOf(letter);
  context.beginPath();
  context.roundRect(x + 0.5, y + 0.5, cell - 1, high - 1, cell * 0.3);
  context.fill();
  if (own) {
    context.strokeStyle = '#ffffff';
    context.lineWidth = Math.max(1.5, cell * 0.14);
    context.stroke();
  }
  context.fillStyle = '#14110c';
  context.fillText(letter, x + cell / 2, y + high / 2 + cell * 0.05);
}
