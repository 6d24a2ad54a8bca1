// A board of robots: blocks, bombs that burn down, and blasts.

import { COLOURS } from './canvas.js';
import { place } from '../fold/robots.js';

/** @typedef {import('../fold/robots.js').Game} Game */
/** @typedef {import('../fold/robots.js').Settings} Settings */
/** @typedef {import('../fold/robots.js').Position} Position */

/** @param {number} id */
export const colourOf = (id) => COLOURS[id % COLOURS.length];

/**
 * The side of a field so that the board fits.
 * @param {Settings} settings
 * @param {number} width
 * @param {number} most The largest height.
 */
export const fieldSize = ({ width: columns, height: rows }, width, most) =>
  Math.max(4, Math.min(width / columns, most / rows, 64));

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Game} game
 * @param {Settings} settings
 * @param {{ width: number, height: number, own: number | null, threatened: Map<string, Position> | null }} view `threatened` are
 *   fields that are shown as covered by the explosions of the coming turn.
 */
export function draw(context, game, settings, { width, height, own, threatened }) {
  const field = fieldSize(settings, width, height);
  const left = (width - field * settings.width) / 2;
  const x = (/** @type {Position} */ position) => left + position.x * field;
  const y = (/** @type {Position} */ position) => (settings.height - 1 - position.y) * field;
  context.fillStyle = '#0d0b08';
  context.fillRect(0, 0, width, height);
  for (let column = 0; column < settings.width; column += 1) {
    for (let row = 0; row < settings.height; row += 1) {
      context.fillStyle = (column + row) % 2 ? '#1d1a15' : '#24201a';
      context.fillRect(left + column * field, row * field, field + 0.5, field + 0.5);
    }
  }
  for (const cell of threatened?.values() ?? []) {
    context.strokeStyle = '#ffb0a3';
    context.lineWidth = Math.max(1, field * 0.06);
    context.setLineDash([field * 0.15, field * 0.1]);
    context.strokeRect(x(cell) + field * 0.12, y(cell) + field * 0.12, field * 0.76, field * 0.76);
    context.setLineDash([]);
  }
  for (const cell of game.blasts.values()) {
    context.fillStyle = '#ff8a3d';
    context.fillRect(x(cell), y(cell), field, field);
    context.fillStyle = '#ffe08a';
    context.fillRect(x(cell) + field * 0.25, y(cell) + field * 0.25, field * 0.5, field * 0.5);
  }
  for (const cell of game.blocks.values()) {
    context.fillStyle = '#8b8377';
    context.fillRect(x(cell) + field * 0.04, y(cell) + field * 0.04, field * 0.92, field * 0.92);
    context.fillStyle = '#a89f91';
    context.fillRect(x(cell) + field * 0.04, y(cell) + field * 0.04, field * 0.92, field * 0.2);
  }
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const { position, timer } of game.bombs.values()) {
    const [centreX, centreY] = [x(position) + field / 2, y(position) + field / 2];
    context.fillStyle = timer <= 1 ? '#c43325' : '#3d3a48';
    context.beginPath();
    context.arc(centreX, centreY, field * 0.38, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = '#ff8a3d';
    context.lineWidth = Math.max(1, field * 0.08);
    context.beginPath();
    context.arc(centreX, centreY, field * 0.38, -Math.PI / 2, -Math.PI / 2 + (2 * Math.PI * timer) / Math.max(1, settings.timer));
    context.stroke();
    context.fillStyle = '#ffffff';
    context.font = `700 ${Math.round(field * 0.4)}px system-ui, sans-serif`;
    context.fillText(String(timer), centreX, centreY);
  }
  drawRobots(context, game, own, field, x, y);
  for (const { position } of game.destroyed) {
    context.strokeStyle = '#ffffff';
    context.lineWidth = Math.max(2, field * 0.1);
    context.beginPath();
    context.moveTo(x(position) + field * 0.2, y(position) + field * 0.2);
    context.lineTo(x(position) + field * 0.8, y(position) + field * 0.8);
    context.moveTo(x(position) + field * 0.8, y(position) + field * 0.2);
    context.lineTo(x(position) + field * 0.2, y(position) + field * 0.8);
    context.stroke();
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Game} game
 * @param {number | null} own
 * @param {number} field
 * @param {(position: Position) => number} x
 * @param {(position: Position) => number} y
 */
function drawRobots(context, game, own, field, x, y) {
  /** @type {Map<string, number[]>} */
  const crowds = new Map();
  for (const [id, position] of game.positions) crowds.set(place(position), [...(crowds.get(place(position)) ?? []), id]);
  for (const ids of crowds.values()) {
    // Oneself is drawn on top and large, the others beside each other.
    const shown = ids.includes(own ?? -1) ? [/** @type {number} */ (own)] : ids.slice(0, 4);
    const size = shown.length === 1 ? field : field / 2;
    shown.forEach((id, index) => {
      const position = /** @type {Position} */ (game.positions.get(id));
      const [left, top] = [x(position) + (index % 2) * size, y(position) + Math.floor(index / 2) * size];
      const inset = id === own ? 0 : size * 0.12;
      context.fillStyle = colourOf(id);
      context.beginPath();
      context.roundRect(left + inset, top + inset, size - 2 * inset, size - 2 * inset, size * 0.2);
      context.fill();
      if (id === own) {
        context.strokeStyle = '#ffffff';
        context.lineWidth = Math.max(2, size * 0.1);
        context.stroke();
      }
      context.fillStyle = '#14110c';
      context.font = `700 ${Math.round(size * 0.5)}px system-ui, sans-serif`;
      context.fillText(String(id), left + size / 2, top + size / 2);
    });
    if (ids.length > shown.length) {
      const position = /** @type {Position} */ (game.positions.get(ids[0]));
      context.fillStyle = '#ffffff';
      context.font = `700 ${Math.round(field * 0.25)}px system-ui, sans-serif`;
      context.fillText(`+${ids.length - shown.length}`, x(position) + field * 0.8, y(position) + field * 0.15);
    }
  }
}
