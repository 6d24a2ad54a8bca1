// The vectors that the Rust tests of a game write.

import { readFileSync } from 'node:fs';

/** @param {string} game */
export const vectors = (game) => JSON.parse(readFileSync(new URL(`../vectors/${game}.json`, import.meta.url), 'utf8'));

/** @param {string} hex */
export const bytes = (hex) => Uint8Array.from(hex === '' ? [] : hex.split(' '), (pair) => parseInt(pair, 16));

/** @param {Uint8Array} data */
export const hex = (data) => [...data].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
