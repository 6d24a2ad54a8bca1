// Chooses the page by the address.

import { nameButton } from './page/identity.js';
import { showLobby } from './page/lobby.js';
import { showMissing } from './page/missing.js';
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
];

/** @type {Leave} */
let leave = () => {};

route(() => {
  leave();
  for (const anchor of document.querySelectorAll('header nav a')) {
    const here = anchor.getAttribute('href') === `/${location.pathname.split('/')[1]}`;
    if (here) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
  for (const [address, show] of PAGES) {
    const parts = address.exec(location.pathname);
    if (!parts) continue;
    leave = show(parts.slice(1).map(decodeURIComponent), new URLSearchParams(location.search));
    return;
  }
  leave = showMissing(main);
});
nameButton();
