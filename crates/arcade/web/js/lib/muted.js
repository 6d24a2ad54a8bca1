// All players, or some names.

import { recall, remember } from './settings.js';

/** The oldest names are dropped. */
export const MOST = 100;

/** @typedef {{ all: boolean, names: string[] }} Muted */

/**
 * An invalid value mutes no player.
 * @param {string | null} kept
 * @returns {Muted}
 */
export function read(kept) {
  try {
    const { all, names } = JSON.parse(kept ?? '');
    return { all: all === true, names: Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(-MOST) : [] };
  } catch {
    return { all: false, names: [] };
  }
}

/** @param {Muted} muted @param {string} name */
export const isMuted = ({ all, names }, name) => all || names.includes(name);

/**
 * @param {Muted} muted
 * @param {string} name
 * @param {boolean} on
 * @returns {Muted}
 */
export const mute = ({ all, names }, name, on) => ({ all, names: [...names.filter((other) => other !== name), ...(on ? [name] : [])].slice(-MOST) });

export const muted = () => read(recall('muted'));
/** @param {Muted} now */
export const keep = (now) => remember('muted', JSON.stringify(now));
