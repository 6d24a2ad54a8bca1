// Navigation without a reload.

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
    if (anchor.origin !== location.origin || anchor.hasAttribute('download') || anchor.pathname.startsWith('/api/')) return;
    if (anchor.getAttribute('href')?.startsWith('#')) return;
    event.preventDefault();
    go(anchor.href);
  });
  addEventListener('popstate', show);
  show();
}

/** @param {string} address */
export function go(address) {
  history.pushState(null, '', address);
  show();
  scrollTo(0, 0);
  document.getElementById('content')?.focus({ preventScroll: true });
}
