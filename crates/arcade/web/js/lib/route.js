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
    navigate(anchor.href);
  });
  addEventListener('popstate', show);
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
