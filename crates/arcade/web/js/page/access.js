// Access to a room: by its address alone, by the code of its link, or by its password.

import { errorText, request } from '../lib/api.js';
import { element, title } from '../lib/dom.js';
import { MAX_WORD, codeOfRoom } from '../lib/names.js';
import { navigate } from '../lib/route.js';
import { isStoragePersistent, roomStorage } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { classOf, fetchClass } from './classes.js';
import { key } from './name-key.js';

/** @typedef {import('../games/types.js').Room} Room */

/**
 * The code is stored, and removed from the address unless a reload would lose it.
 * @param {string} id Of the room.
 */
export function storeCode(id) {
  const code = codeOfRoom(location.hash);
  if (code === null) return;
  roomStorage.remember(`code ${id}`, code);
  if (isStoragePersistent()) history.replaceState(null, '', location.pathname + location.search);
}

/**
 * Credentials for the first message of a socket.
 * @param {string} id
 */
export const credentials = (id) => ({
  owner: roomStorage.recall(`owner ${id}`),
  code: roomStorage.recall(`code ${id}`),
  word: roomStorage.recall(`word ${id}`),
});

/**
 * Without credentials the hub returns less, and "not found" for a room with a link.
 * @param {string} id
 * @returns {Promise<Room>}
 */
export async function fetchRoom(id) {
  const inClass = classOf(id);
  if (inClass !== null) {
    const found = (await fetchClass(inClass)).rooms.find((room) => room.id === id);
    if (!found) throw Object.assign(new Error(say('hub.no_room')), { status: 404 });
    return found;
  }
  const { code, word } = credentials(id);
  if (code !== null) {
    const room = await request('/api/join', { code });
    if (room.id === id) return room;
    // The code belongs to another room.
    roomStorage.remember(`code ${id}`, null);
  }
  const ofChallenge = roomStorage.recall(`challenge ${id}`) !== null;
  return word === null ? request(`/api/rooms/${id}`, undefined, ofChallenge ? key() : null) : request('/api/join', { room: id, word });
}

/**
 * Shows a form for the password if the room has one.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} heading The title of the game.
 * @param {() => boolean} left Whether the page has been left.
 * @returns {Promise<Room | null>} Null if the room cannot be fetched now; its socket reports the reason.
 * @throws {Error} If the hub rejects further codes and passwords for a while.
 */
export async function requestAccess(main, id, heading, left) {
  try {
    const room = await fetchRoom(id);
    if (left()) return null;
    const isInside = room.port !== 0 || credentials(id).owner !== null || roomStorage.recall(`was ${id}`) !== null;
    return room.visibility !== 'word' || isInside ? room : await requestPassword(main, id, heading);
  } catch (error) {
    const { status } = /** @type {{ status?: number }} */ (error);
    if (status === 429) throw error;
    if (status === 404) roomStorage.remember(`code ${id}`, null);
    if (status !== 403 || left()) return null;
    roomStorage.remember(`word ${id}`, null);
    return requestPassword(main, id, heading, errorText(error));
  }
}

/**
 * Shows a form for the password of a room until it is right.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} heading
 * @param {string} [problem]
 * @returns {Promise<Room>}
 */
const requestPassword = (main, id, heading, problem = '') =>
  new Promise((resolve) => {
    const error = element('p', { class: 'error', role: 'alert' }, problem);
    const input = element('input', { id: 'word', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', required: true, maxlength: String(MAX_WORD) });
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      error.textContent = '';
      try {
        const room = await request('/api/join', { room: id, word: input.value });
        roomStorage.remember(`word ${id}`, input.value);
        resolve(room);
      } catch (wrong) {
        error.textContent = errorText(wrong);
        input.select();
      }
    };
    main.replaceChildren(
      element('h1', {}, heading),
      element(
        'form',
        { class: 'panel word', submit },
        element('label', { for: input.id }, say('door.word')),
        input,
        element('p', { class: 'note' }, say('door.word.note')),
        error,
        element('div', { class: 'row' }, element('button', { class: 'primary' }, say('door.enter')), element('a', { class: 'button', href: '/' }, say('page.lobby'))),
      ),
    );
    input.focus();
  });

/**
 * The hub redirects by itself if the code is valid when the page is loaded.
 * @param {HTMLElement} main
 * @param {string} code
 */
export function showLinkPage(main, code) {
  title(say('door.link'));
  main.dataset.page = 'room';
  const line = element('p', { role: 'status' }, say('room.entering'));
  main.replaceChildren(element('h1', {}, say('door.link')), line, element('p', {}, element('a', { class: 'button', href: '/' }, say('room.missing.back'))));
  let left = false;
  request('/api/join', { code }).then(
    (/** @type {Room & { class?: string }} */ room) => {
      if (left) return;
      // A room has a class too, that of its board.
      if (!room.id) return navigate(`/class#${room.class}`, { replace: true });
      roomStorage.remember(`code ${room.id}`, code.toLowerCase());
      return navigate(`/rooms/${room.id}`);
    },
    (error) => line.replaceChildren(element('span', { class: 'error' }, errorText(error))),
  );
  return () => {
    left = true;
  };
}
