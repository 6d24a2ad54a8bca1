// Addresses of the hub, and navigation without a reload. A path is relative to the hub, which may share its host with other sites.

const given = globalThis.document?.documentElement?.dataset?.public;
/** The address for other people, if the operator gave one. */
export const PUBLIC = given ? new URL(given) : null;

/** As in `/games`, or empty. */
const BASE = PUBLIC?.pathname.replace(/\/$/, '') ?? '';

/**
 * The path in addresses of this host.
 * @param {string} path
 */
export const absolutePath = (path) => BASE + path;

/** The path of the shown page. */
export const currentPath = () => (`${location.pathname}/`.startsWith(absolutePath('/')) ? location.pathname.slice(BASE.length) || '/' : location.pathname);

/** @type {() => void} */
let show = () => {};

/** Asks the user; null if there is no question. @typedef {() => Promise<boolean> | null} Guard */
/** @type {{ ask: Guard, address: string } | null} */
let guard = null;
/** The open question. @type {Promise<boolean> | null} */
let question = null;

/** @param {string} address */
const withoutFragment = (address) => address.replace(/#.*/, '');

/**
 * Asks before a link or the history of the browser leaves the present page.
 * @param {Guard | null} ask
 */
export function guardPage(ask) {
  guard = ask && { ask, address: withoutFragment(location.href) };
}

function askToLeave() {
  question ??= guard?.ask() ?? null;
  return question?.then((isLeft) => {
    question = null;
    if (isLeft) guard = null;
    return isLeft;
  });
}

/**
 * Shows the page of the current address.
 * @param {() => void} showPage
 */
export function route(showPage) {
  show = showPage;
  document.addEventListener('click', (event) => {
    const anchor = event.target instanceof Element ? event.target.closest('a') : null;
    if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    if (anchor.origin !== location.origin || anchor.hasAttribute('download')) return;
    if (!anchor.pathname.startsWith(absolutePath('/')) || anchor.pathname.startsWith(absolutePath('/api/'))) return;
    if (anchor.getAttribute('href')?.startsWith('#')) return;
    event.preventDefault();
    const answer = askToLeave();
    if (answer) void answer.then((isLeft) => isLeft && navigate(anchor.href));
    else navigate(anchor.href);
  });
  addEventListener('popstate', async () => {
    const address = guard?.address;
    if (address === withoutFragment(location.href)) return undefined;
    const isAsked = question !== null;
    const answer = askToLeave();
    if (!answer) return show();
    // The browser has changed the address already.
    history.pushState(null, '', address);
    return !isAsked && (await answer) ? history.back() : undefined;
  });
  show();
}

/**
 * @param {string} address A path, or a whole address.
 * @param {{ replace?: boolean }} [how] `replace` leaves no way back to the present page.
 */
export function navigate(address, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', address.startsWith('/') ? absolutePath(address) : address);
  show();
  scrollTo(0, 0);
  document.getElementById('content')?.focus({ preventScroll: true });
}
