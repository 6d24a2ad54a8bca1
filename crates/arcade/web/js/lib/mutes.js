// All players, or some names.

import { recall, remember } from './settings.js';

/** The oldest names are dropped. */
export const MAX_MUTED = 100;

/** @typedef {{ all: boolean, names: string[] }} Mutes */

/**
 * An invalid value mutes no player.
 * @param {string | null} stored
 * @returns {Mutes}
 */
export function parseMutes(stored) {
  try {
    const { all, names } = JSON.parse(stored ?? '');
    return { all: all === true, names: Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(-MAX_MUTED) : [] };
  } catch {
    return { all: false, names: [] };
  }
}

/** @param {Mutes} muted @param {string} name */
export const isMuted = ({ all, names }, name) => all || names.includes(name);

/**
 * @param {Mutes} muted
 * @param {string} name
 * @param {boolean} on
 * @returns {Mutes}
 */
export const mute = ({ all, names }, name, on) => ({ all, names: [...names.filter((other) => other !== name), ...(on ? [name] : [])].slice(-MAX_MUTED) });

export const loadMutes = () => parseMutes(recall('muted'));
/** @param {Mutes} now */
export const storeMutes = (now) => remember('muted', JSON.stringify(now));
