// The name that this browser stores, and the key that proves its ownership.

import { request } from '../lib/api.js';
import { isStoragePersistent, recall, remember } from '../lib/settings.js';

/** Bytes of the key. */
const KEY = 32;

/** Names of guests; a number is appended. */
const GUESTS = ['Badger', 'Beaver', 'Falcon', 'Ferret', 'Gecko', 'Heron', 'Jackal', 'Lemur', 'Marten', 'Newt', 'Otter', 'Panda', 'Raven', 'Robin', 'Stoat', 'Walrus'];

/** The name until the player chooses one. It is stored, but not registered. */
function guestName() {
  const stored = recall('guest');
  if (stored) return stored;
  const [animal, number] = crypto.getRandomValues(new Uint32Array(2));
  const generated = `${GUESTS[animal % GUESTS.length]}${100 + (number % 900)}`;
  remember('guest', generated);
  return generated;
}

export const name = () => recall('name') ?? guestName();
/** The key, if it is registered at the hub for the name. */
export const provenKey = () => (recall('proven') === name() ? recall('key') : null);

function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The key of this browser, whether a name is registered with it or not. */
export function key() {
  const stored = recall('key');
  if (stored) return stored;
  const made = randomKey();
  remember('key', made);
  return made;
}

/** @type {Set<() => void>} */
const listeners = new Set();
/** @param {() => void} listener */
export const onNameChange = (listener) => listeners.add(listener);
export const notifyNameChange = () => listeners.forEach((listener) => listener());

/**
 * @param {string} wanted
 * @throws {Error} If another browser owns it; the message is for the player.
 */
export async function registerName(wanted) {
  try {
    // This browser would lose the name on reload.
    if (!isStoragePersistent()) throw new Error();
    await request('/api/names', { name: wanted, key: key() });
    remember('proven', wanted);
  } catch (error) {
    const status = /** @type {{ status?: number }} */ (error).status;
    if (status === 409 || status === 422 || status === 400) throw error;
    // The player keeps the name as a guest.
    remember('proven', null);
  }
  remember('name', wanted);
}

/** Registers the name of an earlier visit, if it is not registered yet. */
export async function registerStoredName() {
  const known = recall('name');
  if (known && provenKey() === null) await registerName(known).catch(() => {});
}

/**
 * Takes the name of another device by its code.
 * @param {string} code
 * @returns {Promise<string>} The name.
 */
export async function redeemCode(code) {
  const { name: taken } = await request('/api/names/redeem', { code, key: key() });
  remember('proven', taken);
  remember('name', taken);
  notifyNameChange();
  return taken;
}

/**
 * Valid for `seconds`; `url` is a link with the code, and `qr` the same as an SVG.
 * @returns {Promise<{ code: string, seconds: number, url: string | null, qr: string | null }>}
 */
export const codeForName = () => request('/api/names/link', { name: name(), key: key() });

/** Invalidates all other keys. */
export async function renewKey() {
  const made = randomKey();
  await request('/api/names/key', { name: name(), key: key(), new: made });
  remember('key', made);
}

export async function releaseName() {
  await request('/api/names/release', { name: name(), key: key() });
  remember('proven', null);
  remember('name', null);
  notifyNameChange();
}
