// Chooses the page by the address.

import { announceLink } from './page/dom.js';
import { nameButton } from './page/identity.js';
import { showLearn } from './page/learn.js';
import { showLobby } from './page/lobby.js';
import { showMissing } from './page/missing.js';
import { showAgainst, showPlayer, showPlayers } from './page/players.js';
import { showPuzzles } from './page/puzzles.js';
import { showReplay } from './page/replay.js';
import { showRoom } from './page/room.js';
import { route } from './page/route.js';

const main = /** @type {HTMLElement} */ (document.getElementById('content'));
/** What the hub knew when it sent the page. */
const first = JSON.parse(document.getElementById('lobby')?.textContent ?? '{"rooms":[]}');

/** Shows a page until the returned function is called. @typedef {() => void} Leave */

/** Pages by their addresses. @type {[RegExp, (parts: string[], query: URLSearchParams) => Leave][]} */
const PAGES = [
  [/^\/$/, () => showLobby(main, first)],
  [/^\/rooms\/([\w-]+)$/, ([id], query) => showRoom(main, id, query.has('watch'))],
  [/^\/matches\/([^/]+)$/, ([id], query) => showReplay(main, id, query)],
  [/^\/mastermind$/, () => showPuzzles(main, first)],
  [/^\/learn$/, () => showLearn(main)],
  [/^\/players$/, () => showPlayers(main)],
  [/^\/players\/([^/]+)$/, ([name], query) => showPlayer(main, name, query.get('kind'))],
  [/^\/players\/([^/]+)\/against\/([^/]+)$/, ([one, other]) => showAgainst(main, one, other)],
];

/** @type {Leave} */
let leave = () => {};

route(() => {
  leave();
  announceLink('');
  for (const anchor of document.querySelectorAll('header nav a')) {
    const here = anchor.getAttribute('href') === `/${location.pathname.split('/')[1]}`;
    if (here) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
  for (const [address, show] of PAGES) {
    const parts = address.exec(location.pathname)?.slice(1).map(decoded);
    if (!parts?.every((part) => part !== null)) continue;
    leave = show(parts, new URLSearchParams(location.search));
    return;
  }
  leave = showMissing(main);
});
nameButton();

/**
 * A part of an address as text; null if it is malformed.
 * @param {string} part
 */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
