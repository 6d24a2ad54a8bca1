// Chooses the page by the address.

import { showLobby } from './page/lobby.js';
import { showRoom } from './page/room.js';

const main = /** @type {HTMLElement} */ (document.getElementById('content'));
const lobby = JSON.parse(document.getElementById('lobby')?.textContent ?? '{"rooms":[]}');

/** @type {() => void} */
let leave = () => {};

function show() {
  leave();
  const room = /^\/rooms\/([\w-]+)$/.exec(location.pathname);
  leave = room ? showRoom(main, room[1], new URLSearchParams(location.search).has('watch')) : showLobby(main, lobby);
}

document.addEventListener('click', (event) => {
  const anchor = event.target instanceof Element ? event.target.closest('a') : null;
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || anchor.origin !== location.origin) return;
  if (anchor.getAttribute('href')?.startsWith('#')) return;
  event.preventDefault();
  history.pushState(null, '', anchor.href);
  show();
  main.focus();
});
addEventListener('popstate', show);
show();
