import { glideAt } from '../../lib/canvas.js';
import { trace } from '../../lib/face.js';
import { positionKey } from './fold.js';

/** @typedef {import('./fold.js').Game} Game */
/** @typedef {import('./fold.js').Settings} Settings */
/** @typedef {import('./fold.js').Position} Position */
/** @typedef {import('./protocol.js').Direction} Direction */
/** @typedef {{ kind: 'move', direction: Direction } | { kind: 'bomb' } | { kind: 'block' }} Action */

/** Duration of the fading of a blast in milliseconds. */
const FADE = 400;

/**
 * The largest field with which the board fits, and the places of the fields.
 * @param {{ width: number, height: number }} settings
 * @param {{ width: number, height: number, covered: number }} view
 */
export function layout({ width: columns, height: rows }, { width, height, covered }) {
  const field = Math.max(3, Math.min(width / columns, (height - covered) / rows, 96));
  const [left, top] = [(width - field * columns) / 2, covered + Math.max(0, (height - covered - field * rows) / 2)];
  return { field, left, top, x: (/** @type {Position} */ at) => left + at.x * field, y: (/** @type {Position} */ at) => top + (rows - 1 - at.y) * field };
}

/**
 * What the board depends on besides the game.
 * @typedef {object} View
 * @property {number} width
 * @property {number} height
 * @property {number} covered The height that figures cover at the top.
 * @property {number | null} own The player's own robot.
 * @property {(id: number) => import('../../lib/face.js').Face} face
 * @property {Map<string, Position> | null} threatened Fields to mark as covered by future explosions.
 * @property {Map<number, import('../../lib/canvas.js').Glide>} glides
 * @property {number} now
 * @property {number} since When the turn arrived.
 * @property {boolean} still Whether to draw without motion.
 * @property {Position | null} returned Where the player's robot reappeared in this turn.
 * @property {Action | null} chosen The action of the player's robot in the next turn.
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Game | null} game Null before a game: the board is empty.
 * @param {Settings} settings
 * @param {View} view
 * @returns {boolean} Whether something moves.
 */
export function draw(context, game, settings, view) {
  const { width, height, own, threatened, now } = view;
  const { field, left, top, x, y } = layout(settings, view);
  context.fillStyle = '#0d0b08';
  context.fillRect(0, 0, width, height);
  for (let column = 0; column < settings.width; column += 1) {
    for (let row = 0; row < settings.height; row += 1) {
      context.fillStyle = (column + row) % 2 ? '#1c2126' : '#22282e';
      context.fillRect(left + column * field, top + row * field, field + 0.5, field + 0.5);
    }
  }
  if (!game) return false;
  const age = view.still ? 0 : now - view.since;
  const fade = view.still ? 1 : Math.max(0, 1 - age / FADE);
  if (fade > 0) for (const cell of game.blasts.values()) paintBlast(context, x(cell), y(cell), field, fade);
  for (const cell of game.blocks.values()) paintBlock(context, x(cell), y(cell), field);
  for (const cell of threatened?.values() ?? []) paintThreat(context, x(cell), y(cell), field);
  for (const { position, timer } of game.bombs.values()) {
    paintBomb(context, x(position) + field / 2, y(position) + field / 2, field, timer, settings.timer);
  }
  const moves = drawRobots(context, game, view, field, x, y);
  for (const { player, position } of game.destroyed) {
    context.strokeStyle = player === own ? '#ffffff' : view.face(player).colour;
    context.lineWidth = Math.max(2, field * 0.12);
    context.beginPath();
    context.moveTo(x(position) + field * 0.2, y(position) + field * 0.2);
    context.lineTo(x(position) + field * 0.8, y(position) + field * 0.8);
    context.moveTo(x(position) + field * 0.8, y(position) + field * 0.2);
    context.lineTo(x(position) + field * 0.2, y(position) + field * 0.8);
    context.stroke();
  }
  if (view.returned && fade > 0) paintReturn(context, x(view.returned) + field / 2, y(view.returned) + field / 2, field, fade);
  return moves || ((game.blasts.size > 0 || view.returned !== null) && !view.still && age < FADE);
}

/**
 * A ring that closes around the robot that has reappeared.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x Of the centre.
 * @param {number} y
 * @param {number} field
 * @param {number} fade From 1 to 0.
 */
function paintReturn(context, x, y, field, fade) {
  context.strokeStyle = '#ffffff';
  context.lineWidth = Math.max(2, field * 0.12);
  context.beginPath();
  context.arc(x, y, field * (0.7 + 1.6 * fade), 0, 2 * Math.PI);
  context.stroke();
}

/**
 * A blast cools down from white over orange to red, and shrinks.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} field
 * @param {number} fade From 1 to 0.
 */
function paintBlast(context, x, y, field, fade) {
  const [middleX, middleY] = [x + field / 2, y + field / 2];
  const heat = context.createRadialGradient(middleX, middleY, 0, middleX, middleY, field * (0.45 + 0.35 * fade));
  heat.addColorStop(0, `rgb(255 ${Math.round(150 + 100 * fade)} ${Math.round(40 + 190 * fade)})`);
  heat.addColorStop(0.45, `rgb(255 ${Math.round(80 + 90 * fade)} 40)`);
  heat.addColorStop(1, 'rgb(170 35 20 / 0.55)');
  context.globalAlpha = 0.2 + 0.8 * fade;
  context.fillStyle = heat;
  context.fillRect(x, y, field + 0.5, field + 0.5);
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} field
 */
function paintBlock(context, x, y, field) {
  const inset = field * 0.05;
  context.fillStyle = '#6f6a63';
  context.fillRect(x + inset, y + inset, field - 2 * inset, field - 2 * inset);
  context.fillStyle = '#a09a90';
  context.fillRect(x + inset, y + inset, field - 2 * inset, field * 0.18);
  context.fillStyle = '#8a847b';
  context.fillRect(x + inset, y + field * 0.23, field - 2 * inset, field * 0.55);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} field
 */
function paintThreat(context, x, y, field) {
  context.fillStyle = 'rgb(255 90 70 / 0.22)';
  context.fillRect(x, y, field, field);
  context.strokeStyle = '#ffb0a3';
  context.lineWidth = Math.max(1, field * 0.05);
  context.setLineDash([field * 0.15, field * 0.1]);
  context.strokeRect(x + field * 0.1, y + field * 0.1, field * 0.8, field * 0.8);
  context.setLineDash([]);
}

/**
 * A bomb with a burning fuse and the number of remaining turns.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x Of the centre.
 * @param {number} y
 * @param {number} field
 * @param {number} timer
 * @param {number} longest
 */
function paintBomb(context, x, y, field, timer, longest) {
  const radius = field * 0.36;
  context.fillStyle = timer <= 1 ? '#b3261a' : '#0f0f14';
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = '#4d4a58';
  context.lineWidth = Math.max(1, field * 0.08);
  context.stroke();
  const burnt = -Math.PI / 2 + (2 * Math.PI * timer) / Math.max(1, longest);
  context.strokeStyle = '#ffa040';
  context.beginPath();
  context.arc(x, y, radius, -Math.PI / 2, burnt);
  context.stroke();
  context.fillStyle = '#fff1b8';
  context.beginPath();
  context.arc(x + radius * Math.cos(burnt), y + radius * Math.sin(burnt), field * 0.09, 0, 2 * Math.PI);
  context.fill();
  if (field < 12) return;
  context.fillStyle = '#ffffff';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = `700 ${Math.round(field * 0.38)}px 'Fredoka Variable', system-ui, sans-serif`;
  context.fillText(String(timer), x, y);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Game} game
 * @param {View} view
 * @param {number} field
 * @param {(position: Position) => number} x
 * @param {(position: Position) => number} y
 */
function drawRobots(context, game, { own, face, glides, now, chosen }, field, x, y) {
  let moves = false;
  /** @type {Map<string, number[]>} */
  const crowds = new Map();
  for (const [id, position] of game.positions) crowds.set(positionKey(position), [...(crowds.get(positionKey(position)) ?? []), id]);
  for (const ids of crowds.values()) {
    // The player's robot is large and on top, others are side by side.
    const shown = ids.includes(own ?? -1) ? [/** @type {number} */ (own)] : ids.slice(0, 4);
    const size = shown.length === 1 ? field : field / 2;
    shown.forEach((id, index) => {
      const position = /** @type {Position} */ (game.positions.get(id));
      const glide = glides.get(id);
      const at = glide ? glideAt(glide, now) : { x: position.x, y: position.y, moves: false };
      moves ||= at.moves;
      const left = x({ x: at.x, y: at.y }) + (index % 2) * size;
      const top = y({ x: at.x, y: at.y }) + Math.floor(index / 2) * size;
      paintRobot(context, id, face(id), id === own, left, top, size);
      if (id === own && chosen) paintChoice(context, chosen, left + field / 2, top + field / 2, field);
    });
    if (ids.length > shown.length && field >= 12) {
      const position = /** @type {Position} */ (game.positions.get(ids[0]));
      context.fillStyle = '#ffffff';
      context.font = `700 ${Math.round(field * 0.25)}px 'Fredoka Variable', system-ui, sans-serif`;
      context.fillText(`+${ids.length - shown.length}`, x(position) + field * 0.8, y(position) + field * 0.15);
    }
  }
  return moves;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} id
 * @param {import('../../lib/face.js').Face} face
 * @param {boolean} own
 * @param {number} left
 * @param {number} top
 * @param {number} size
 */
function paintRobot(context, id, face, own, left, top, size) {
  const inset = size * 0.04;
  context.fillStyle = face.colour;
  trace(context, face, left + inset, top + inset, size - 2 * inset, size - 2 * inset);
  context.fill();
  if (own) {
    context.strokeStyle = '#ffffff';
    context.lineWidth = Math.max(2, size * 0.09);
    context.stroke();
  }
  if (size < 10) return;
  // The number is below the eyes.
  context.fillStyle = '#14110c';
  for (const side of [0.34, 0.66]) {
    context.beginPath();
    context.arc(left + size * side, top + size * 0.32, size * 0.075, 0, 2 * Math.PI);
    context.fill();
  }
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = `700 ${Math.round(size * 0.42)}px 'Fredoka Variable', system-ui, sans-serif`;
  context.fillText(String(id), left + size / 2, top + size * 0.66);
}

/**
 * The action in the next turn.
 * @param {CanvasRenderingContext2D} context
 * @param {Action} chosen
 * @param {number} x Of the centre of its field.
 * @param {number} y
 * @param {number} field
 */
function paintChoice(context, chosen, x, y, field) {
  context.strokeStyle = '#ffffff';
  context.fillStyle = '#ffffff';
  context.lineWidth = Math.max(2, field * 0.08);
  if (chosen.kind === 'move') {
    const [dx, dy] = { up: [0, -1], right: [1, 0], down: [0, 1], left: [-1, 0] }[chosen.direction];
    context.beginPath();
    const [tipX, tipY] = [x + dx * field * 0.85, y + dy * field * 0.85];
    context.moveTo(tipX, tipY);
    context.lineTo(tipX - dx * field * 0.25 + dy * field * 0.2, tipY - dy * field * 0.25 + dx * field * 0.2);
    context.lineTo(tipX - dx * field * 0.25 - dy * field * 0.2, tipY - dy * field * 0.25 - dx * field * 0.2);
    context.fill();
    return;
  }
  context.setLineDash([field * 0.12, field * 0.08]);
  context.beginPath();
  if (chosen.kind === 'bomb') context.arc(x, y, field * 0.55, 0, 2 * Math.PI);
  else context.rect(x - field * 0.52, y - field * 0.52, field * 1.04, field * 1.04);
  context.stroke();
  context.setLineDash([]);
}
