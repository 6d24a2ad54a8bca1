// Making elements. Text is always set as text, so names from peers cannot become markup.

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | boolean | ((event: Event) => void)>} [attributes] Functions become listeners.
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (typeof value === 'boolean') made.toggleAttribute(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/**
 * Sets the title of the page and of its tab.
 * @param {string} text
 */
export function title(text) {
  document.title = text ? `${text} · Arcade` : 'Arcade';
}

/**
 * Says how the connection is, where it is always in sight.
 * @param {string} text Empty if all is well.
 * @param {'lost' | 'open' | ''} [state]
 */
export function announceLink(text, state = '') {
  const place = document.getElementById('link');
  if (!place) return;
  if (place.textContent !== text) place.textContent = text;
  place.dataset.state = state;
}

/**
 * Says how the connection of a page is that only looks on.
 * @param {import('./link.js').LinkState} state
 */
export function announceLive({ kind }) {
  if (kind === 'waiting') announceLink('The connection is lost. Trying again.', 'lost');
  else if (kind === 'open') announceLink('Connected', 'open');
}

/**
 * A button that is on or off.
 * @param {string} text
 * @param {(on: boolean) => void} changed
 * @param {boolean} [on]
 * @param {string} [label] What it is called where the text is only a sign.
 */
export function toggle(text, changed, on = false, label = text) {
  const button = element('button', { type: 'button', 'aria-pressed': String(on), 'aria-label': label }, text);
  button.addEventListener('click', () => {
    const now = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(now));
    changed(now);
  });
  return button;
}

/**
 * Listens to the keyboard, but not to shortcuts of the browser and not while somebody types into a field.
 * @param {(event: KeyboardEvent) => boolean} pressed Whether the key had a meaning.
 * @returns {() => void} Stops listening.
 */
export function listenToKeys(pressed) {
  const listener = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
    if (document.querySelector('dialog[open]')) return;
    if (pressed(event)) event.preventDefault();
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}

/**
 * A button that copies a text and says that it did.
 * @param {() => string} text
 * @param {string} [label]
 */
export function copyButton(text, label = 'Copy') {
  const button = element('button', { type: 'button', class: 'small' }, label);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
    } catch {
      // Pages without TLS may not write to the clipboard: the text is shown to be copied by hand.
      prompt('Copy this:', text());
    }
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  });
  return button;
}

/** @param {string} iso A time as RFC 3339. */
export function ago(iso) {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(iso)) / 60_000));
  if (Number.isNaN(minutes)) return '';
  if (minutes < 1) return 'just now';
  if (minutes < 60) return minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return hours === 1 ? 'an hour ago' : `${hours} hours ago`;
  return new Date(iso).toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
}

/**
 * A number with its noun.
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
