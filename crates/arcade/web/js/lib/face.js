// The shape and colour of a player, from the name: the same on boards, in lists, results, replays and profiles. In a match
// all shapes and colours differ, so that players are distinct without colours too.

import { COLOURS } from './canvas.js';

/** @typedef {{ shape: number, colour: string }} Face */

/**
 * Points on a line around the centre of a unit square.
 * @param {number} count
 * @param {(angle: number, index: number) => number} radius
 * @param {number} [from] The first angle; 0 points up.
 */
const around = (count, radius, from = 0) =>
  Array.from({ length: count }, (_, index) => {
    const angle = from + (2 * Math.PI * index) / count;
    const length = radius(angle, index);
    return /** @type {[number, number]} */ ([0.5 + length * Math.sin(angle), 0.5 - length * Math.cos(angle)]);
  });

/** Outlines in a unit square, each with space for a letter in the middle. @type {[number, number][][]} */
const SHAPES = [
  around(36, () => 0.5),
  [[0.05, 0.05], [0.95, 0.05], [0.95, 0.95], [0.05, 0.95]],
  around(4, () => 0.54).map(([x, y]) => [Math.min(1, Math.max(0, x)), Math.min(1, Math.max(0, y))]),
  around(6, () => 0.5),
  [[0.04, 0.02], [0.96, 0.02], [0.96, 0.6], [0.5, 1], [0.04, 0.6]],
  around(16, (_, index) => (index % 2 ? 0.37 : 0.5)),
  [[0.22, 0], [0.78, 0], [0.78, 0.22], [1, 0.22], [1, 0.78], [0.78, 0.78], [0.78, 1], [0.22, 1], [0.22, 0.78], [0, 0.78], [0, 0.22], [0.22, 0.22]],
  [[0.24, 0.03], [0.76, 0.03], [1, 0.97], [0, 0.97]],
];

/** FNV-1a with a final mix. @param {string} name */
function hash(name) {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) value = Math.imul(value ^ byte, 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  return (value ^ (value >>> 16)) >>> 0;
}

/** @param {number} number */
const numbered = (number) => ({ shape: number % SHAPES.length, colour: COLOURS[number % COLOURS.length] });

/** The face of a player without a name, by the number of the seat. @type {(seat: number) => Face} */
export const faceOfSeat = numbered;

/** @param {string} name @returns {Face} */
export const faceOf = (name) => ({ shape: numbered(hash(name)).shape, colour: numbered(hash(name) >>> 8).colour });

/** Seats are letters, numbers, or texts such as `table 1, seat 2`. */
const seatOrder = new Intl.Collator('en', { numeric: true });

/** Players of a match. A player keeps the face when others join or leave, and after leaving. */
export class Faces {
  constructor() {
    /** By name. @type {Map<string, Face>} */
    this.known = new Map();
    /** Names of the present players. @type {Set<string>} */
    this.present = new Set();
  }

  /**
   * New players get faces in the order of their seats. Shapes and colours that are taken are replaced by the next free ones.
   * @param {{ name: string, seat: string }[]} players All present players.
   */
  set(players) {
    const sorted = [...players].sort((one, other) => seatOrder.compare(one.seat, other.seat) || (one.name < other.name ? -1 : 1));
    const names = new Set(sorted.map(({ name }) => name));
    const kept = [...names].filter((name) => this.present.has(name));
    const taken = new Set(kept.flatMap((name) => Object.values(this.of(name))));
    for (const name of names) {
      if (this.present.has(name)) continue;
      const own = this.of(name);
      const { shape } = next(SHAPES.length, own.shape, (face) => !taken.has(face.shape));
      const { colour } = next(COLOURS.length, COLOURS.indexOf(own.colour), (face) => !taken.has(face.colour));
      taken.add(shape).add(colour);
      this.known.set(name, { shape, colour });
    }
    this.present = names;
  }

  /** @param {string} name */
  of(name) {
    return this.known.get(name) ?? faceOf(name);
  }
}

/**
 * The first face that is free, or the given one.
 * @param {number} count
 * @param {number} from
 * @param {(face: Face) => boolean} isFree
 */
function next(count, from, isFree) {
  const all = Array.from({ length: count }, (_, step) => numbered((from + step) % count));
  return all.find(isFree) ?? all[0];
}

/** @param {Face} face A value of `clip-path`. */
export const outline = ({ shape }) => `polygon(${SHAPES[shape].map((point) => point.map((part) => `${Math.round(part * 1000) / 10}%`).join(' ')).join(', ')})`;

/**
 * Adds the outline to the path of a canvas.
 * @param {CanvasRenderingContext2D} context
 * @param {Face} face
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
export function trace(context, { shape }, left, top, width, height) {
  context.beginPath();
  for (const [x, y] of SHAPES[shape]) context.lineTo(left + x * width, top + y * height);
  context.closePath();
}
