// The class that a room belongs to, and the name and the tokens of this browser in classes.

import { request } from '../lib/api.js';
import { roomStorage } from '../lib/settings.js';
import { key, name } from './name-key.js';

/** @typedef {import('../games/types.js').Room} Room */

/**
 * Points are in halves.
 * @typedef {{ one: string, other: string | null, room: string | null, points: [number, number] | null }} Pairing
 * @typedef {object} Tournament
 * @property {string} game
 * @property {string} system
 * @property {number} rounds
 * @property {number} round The last one that was drawn.
 * @property {boolean} over
 * @property {boolean} running Whether matches of the round are open.
 * @property {Pairing[]} pairings Of the last round.
 * @property {{ name: string, points: number, opponents: number }[]} table
 */

/**
 * @typedef {object} Class
 * @property {string} code
 * @property {string} name
 * @property {number} players The maximum number of members.
 * @property {string[]} members
 * @property {(Room & { owner_token?: string })[]} rooms
 * @property {{ name: string, matches: number, wins: number }[]} scores
 * @property {Tournament | null} [tournament]
 * @property {string | null} [follow] The room that a projector shows.
 * @property {string[]} [list] For teachers: the names that pupils choose from.
 * @property {string} [you] For pupils: the name.
 */

/** The code of the class of a room; null for other rooms. @param {string} id */
export const classOf = (id) => roomStorage.recall(`class ${id}`);

/** The token of a teacher. @param {string} code */
export const teacherToken = (code) => roomStorage.recall(`teacher ${code}`);

/** @param {string} code @param {string} token */
export const storeTeacher = (code, token) => roomStorage.remember(`teacher ${code}`, token);

/**
 * @param {string} code
 * @param {string} [path] Below the address of the class.
 * @param {unknown} [body]
 */
export const requestClass = (code, path = '', body = undefined) => request(`/api/class${path}`, body, teacherToken(code) ?? key(), { 'class-code': code });

/**
 * Fetches the class, and stores which rooms it has.
 * @param {string} code
 * @param {string | null} [follow] The room that a projector shows.
 * @returns {Promise<Class>}
 */
export async function fetchClass(code, follow = null) {
  /** @type {Class} */
  const now = await requestClass(code, follow === null ? '' : `?follow=${follow}`);
  for (const room of now.rooms) {
    roomStorage.remember(`class ${room.id}`, code);
    if (room.owner_token) roomStorage.remember(`owner ${room.id}`, room.owner_token);
  }
  if (now.you) roomStorage.remember(`pupil ${code}`, now.you);
  return now;
}

/** The name of the player in a room. @param {string} id */
export function nameIn(id) {
  const code = classOf(id);
  return (code === null ? null : roomStorage.recall(`pupil ${code}`)) ?? name();
}

/** Where a player goes after a room. @param {string} id */
export function homeOf(id) {
  const code = classOf(id);
  return code === null ? '/' : `/class#${code}`;
}
