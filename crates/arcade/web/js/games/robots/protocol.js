// Binary, one message a frame. See docs/protocols/robots.md.

import { DecodeError, Reader, Writer } from '../../lib/bytes.js';
import { shownName } from '../../lib/names.js';

/**
 * @typedef {{ x: number, y: number }} Position (0, 0) is the lower left corner.
 * @typedef {{ name: string, address: string }} Player
 * @typedef {{ kind: 'bombPlaced', id: number, position: Position }
 *   | { kind: 'bombExploded', id: number, robots: number[], blocks: Position[] }
 *   | { kind: 'playerMoved', id: number, position: Position }
 *   | { kind: 'blockPlaced', position: Position }} RobotsEvent
 * @typedef {{ name: string, players: number, width: number, height: number, length: number, radius: number, timer: number }} Settings
 *   Fields, turns and players of each game.
 * @typedef {{ kind: 'hello', settings: Settings }
 *   | { kind: 'accepted', id: number, player: Player }
 *   | { kind: 'started', players: Map<number, Player> }
 *   | { kind: 'turn', turn: number, events: RobotsEvent[] }
 *   | { kind: 'ended', scores: Map<number, number> }} RobotsMessage A message from the server.
 */

/** By the number on the wire. */
export const DIRECTIONS = /** @type {const} */ (['up', 'right', 'down', 'left']);
/** @typedef {(typeof DIRECTIONS)[number]} Direction */

/** @param {string} name */
export const join = (name) => new Writer().u8(0).string(name).finish();
export const placeBomb = () => new Writer().u8(1).finish();
export const placeBlock = () => new Writer().u8(2).finish();
/** @param {Direction} direction */
export const move = (direction) => new Writer().u8(3).u8(DIRECTIONS.indexOf(direction)).finish();

/**
 * @param {Uint8Array} bytes One whole message.
 * @returns {RobotsMessage | null} Null if it is malformed.
 */
export function decode(bytes) {
  try {
    const reader = new Reader(bytes);
    const message = read(reader);
    reader.end();
    return message;
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  }
}

/**
 * @param {Reader} reader
 * @returns {RobotsMessage}
 */
function read(reader) {
  const tag = reader.u8();
  switch (tag) {
    case 0:
      return {
        kind: 'hello',
        settings: {
          name: reader.string(),
          players: reader.u8(),
          width: reader.u16(),
          height: reader.u16(),
          length: reader.u16(),
          radius: reader.u16(),
          timer: reader.u16(),
        },
      };
    case 1:
      return { kind: 'accepted', id: reader.u8(), player: player(reader) };
    case 2:
      return { kind: 'started', players: new Map(reader.list(3, () => [reader.u8(), player(reader)])) };
    case 3:
      return { kind: 'turn', turn: reader.u16(), events: reader.list(5, () => event(reader)) };
    case 4:
      return { kind: 'ended', scores: new Map(reader.list(5, () => [reader.u8(), reader.u32()])) };
    default:
      throw new DecodeError(`no message has tag ${tag}`);
  }
}

/**
 * @param {Reader} reader
 * @returns {Player}
 */
function player(reader) {
  return { name: shownName(reader.string()), address: reader.string() };
}

/**
 * @param {Reader} reader
 * @returns {Position}
 */
function position(reader) {
  return { x: reader.u16(), y: reader.u16() };
}

/**
 * @param {Reader} reader
 * @returns {RobotsEvent}
 */
function event(reader) {
  const tag = reader.u8();
  switch (tag) {
    case 0:
      return { kind: 'bombPlaced', id: reader.u32(), position: position(reader) };
    case 1:
      return {
        kind: 'bombExploded',
        id: reader.u32(),
        robots: reader.list(1, () => reader.u8()),
        blocks: reader.list(4, () => position(reader)),
      };
    case 2:
      return { kind: 'playerMoved', id: reader.u8(), position: position(reader) };
    case 3:
      return { kind: 'blockPlaced', position: position(reader) };
    default:
      throw new DecodeError(`no event has tag ${tag}`);
  }
}
