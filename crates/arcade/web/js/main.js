import { GAMES } from './games/index.js';
import { errorText, load } from './lib/api.js';
import { announceLink, element } from './lib/dom.js';
import { codeOfName } from './lib/names.js';
import { absolutePath, currentPath, route } from './lib/route.js';
import { languageChoice, translatePage } from './page/language.js';
import { showLobby } from './page/lobby.js';
import { askName, nameButton } from './page/name-dialog.js';
import { showNotFound } from './page/not-found.js';

/** @typedef {import('./games/types.js').Leave} Leave */
/**
 * Shows a page: immediately, or by the returned function once its module is loaded.
 * @typedef {(parts: string[], query: URLSearchParams) => Leave | Promise<() => Leave>} Show
 */

const main = /** @type {HTMLElement} */ (document.getElementById('content'));
/** The lobby when the hub sent the page. */
const first = JSON.parse(document.getElementById('lobby')?.textContent ?? '{"rooms":[]}');

/**
 * Loaded on demand.
 * @template T
 * @param {() => Promise<T>} module
 * @param {(module: T, parts: string[], query: URLSearchParams) => Leave} show
 * @returns {Show}
 */
const later = (module, show) => async (parts, query) => {
  const loaded = await load(module);
  return () => show(loaded, parts, query);
};

const room = () => import('./page/room.js');
const door = () => import('./page/access.js');
const classPage = () => import('./page/class.js');
const replay = () => import('./page/replay.js');
const players = () => import('./page/players.js');
const ladder = () => import('./page/ladder.js');
const daily = () => import('./page/daily.js');

/** Pages by their addresses. @type {[RegExp, Show][]} */
const PAGES = [
  [/^\/$/, (_, query) => showLobby(main, first, query)],
  [/^\/rooms\/([\w-]+)$/, later(room, ({ showRoom }, [id], query) => showRoom(main, id, { watching: query.has('watch'), next: query.has('next') }))],
  [/^\/j\/([^/]+)\/?$/, later(door, ({ showLinkPage }, [code]) => showLinkPage(main, code))],
  [/^\/class$/, later(classPage, ({ showClass }, _, query) => showClass(main, { projector: query.has('projector') }))],
  [/^\/matches\/([^/]+)$/, later(replay, ({ showReplay }, [id], query) => showReplay(main, id, query))],
  [/^\/ladder$/, later(ladder, ({ showLadder }) => showLadder(main))],
  [/^\/daily\/([\w-]+)$/, later(daily, ({ showDaily }, [game]) => showDaily(main, game))],
  [/^\/players$/, later(players, ({ showPlayers }) => showPlayers(main))],
  [/^\/players\/([^/]+)$/, later(players, ({ showPlayer }, [name], query) => showPlayer(main, name, query.get('kind')))],
  [/^\/players\/([^/]+)\/against\/([^/]+)$/, later(players, ({ showAgainst }, [one, other]) => showAgainst(main, one, other))],
  ...Object.values(GAMES).flatMap(({ pages }) =>
    pages.map(([address, module]) => /** @type {[RegExp, Show]} */ ([address, later(module, ({ showPage }) => showPage(main, first))])),
  ),
];

/** @type {Leave} */
let leave = () => {};
/** Counts navigations: a module that arrives after the next one is dropped. */
let turn = 0;

translatePage();
route(async () => {
  leave();
  leave = () => {};
  turn += 1;
  const now = turn;
  announceLink('');
  for (const anchor of document.querySelectorAll('header nav a')) {
    const here = anchor.getAttribute('href') === absolutePath(`/${currentPath().split('/')[1]}`);
    if (here) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
  for (const [address, show] of PAGES) {
    const parts = address.exec(currentPath())?.slice(1).map(decoded);
    if (!parts?.every((part) => part !== null)) continue;
    const shown = show(parts, new URLSearchParams(location.search));
    if (!(shown instanceof Promise)) {
      leave = shown;
      return;
    }
    try {
      const begin = await shown;
      if (now === turn) leave = begin();
    } catch (error) {
      if (now === turn) main.replaceChildren(element('p', { class: 'error', role: 'alert' }, errorText(error)));
    }
    return;
  }
  leave = showNotFound(main);
});
nameButton();
languageChoice();
takeName();
addEventListener('hashchange', takeName);

/** Takes the name of another device by the code in the address, which is removed. */
function takeName() {
  const code = codeOfName(location.hash);
  if (code === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  void askName(true, code);
}


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
