// Text is always set as text, so that names from peers cannot become markup.

import { absolutePath } from './route.js';
import { date, say } from './text.js';

/** @type {WeakSet<Node>} */
const listening = new WeakSet();

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | boolean | ((event: Event) => void)>} [attributes] Functions become listeners. For `renew`, elements
 *   with the same `data-key` have equivalent listeners. An address that begins with `/` is a path of the hub.
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      made.addEventListener(name, value);
      listening.add(made);
    } else if (typeof value === 'boolean') made.toggleAttribute(name, value);
    else made.setAttribute(name, (name === 'href' || name === 'src') && value.startsWith('/') ? absolutePath(value) : value);
  }
  made.append(...children);
  return made;
}

/**
 * Resolves when the style sheet applies.
 * @param {string} name
 * @param {string} module `import.meta.url` of a module in the same folder.
 * @returns {Promise<void>}
 */
export const sheet = (name, module) =>
  new Promise((resolve) => {
    const href = new URL(name, module).href;
    if (typeof document === 'undefined' || document.head.querySelector(`link[href="${href}"]`)) return resolve();
    const done = () => resolve();
    return document.head.append(element('link', { rel: 'stylesheet', href, load: done, error: done }));
  });

/**
 * Similar nodes are updated in place, so that focus and pointer stay on them.
 * @param {Element} place
 * @param {...(Node | string)} children
 */
export function updateChildren(place, ...children) {
  for (const [index, child] of children.entries()) {
    const before = place.childNodes[index];
    const after = typeof child === 'string' ? document.createTextNode(child) : child;
    if (!before) place.append(after);
    else if (!updateNode(before, after)) before.replaceWith(after);
  }
  while (place.childNodes.length > children.length) place.lastChild?.remove();
}

/**
 * @param {CSSStyleDeclaration} to
 * @param {CSSStyleDeclaration} from
 */
function copyStyle(to, from) {
  for (const name of [...to]) if (!from.getPropertyValue(name)) to.removeProperty(name);
  for (const name of from) to.setProperty(name, from.getPropertyValue(name));
}

/**
 * Returns false if the node has to be replaced.
 * @param {Node} node
 * @param {Node} other
 */
function updateNode(node, other) {
  if (!(node instanceof Element && other instanceof Element)) return node.isEqualNode(other);
  const key = other.getAttribute('data-key');
  if (node.tagName !== other.tagName || node.getAttribute('data-key') !== key) return false;
  if (key === null && (listening.has(node) || listening.has(other))) return false;
  for (const { name } of [...node.attributes]) if (!other.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of other.attributes) {
    if (node.getAttribute(name) === value) continue;
    // The content security policy forbids styles that are set as text.
    if (name === 'style' && node instanceof HTMLElement && other instanceof HTMLElement) copyStyle(node.style, other.style);
    else node.setAttribute(name, value);
  }
  updateChildren(node, ...other.childNodes);
  return true;
}

/**
 * @param {string} text
 */
export function title(text) {
  document.title = text ? `${text} · Arcade` : 'Arcade';
}

/**
 * Shows the state of the connection in the header.
 * @param {string} text Empty hides it.
 * @param {'lost' | 'open' | ''} [state]
 */
export function announceLink(text, state = '') {
  const place = document.getElementById('link');
  if (!place) return;
  if (place.textContent !== text) place.textContent = text;
  place.dataset.state = state;
}

/**
 * A text to copy, scrollable by keyboard if it is wide.
 * @param {string} label The accessible name; without the role, an element for code may not have one.
 * @param {string[]} content
 */
export const copyable = (label, ...content) => element('code', { class: 'command', role: 'group', tabindex: '0', 'aria-label': label }, ...content);

/**
 * Shows that the page reconnects.
 * @param {boolean} blocked Whether the network seems to block connections.
 */
export const announceLoss = (blocked) => announceLink(blocked ? say('link.blocked', { host: location.host }) : say('link.lost'), 'lost');

/**
 * Shows the state of a connection that has no seat.
 * @param {import('./link.js').LinkState} state
 */
export function announceLive(state) {
  const { kind } = state;
  if (kind === 'waiting') announceLoss(state.blocked);
  else if (kind === 'quiet') announceLink(say('link.quiet'), 'lost');
  else if (kind === 'open' || kind === 'active') announceLink(say('link.open'), 'open');
}

/**
 * @param {string} text
 * @param {(on: boolean) => void} changed
 * @param {boolean} [on]
 * @param {string} [label] The accessible name, if the text is only a sign.
 */
export function toggle(text, changed, on = false, label = text) {
  const turn = () => {
    const now = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(now));
    changed(now);
  };
  const button = element('button', { type: 'button', 'aria-pressed': String(on), 'aria-label': label, click: turn }, text);
  return button;
}

/** Whether the focus was set by a finger or the mouse. */
let pointed = false;
globalThis.addEventListener?.('pointerdown', () => (pointed = true), true);
globalThis.addEventListener?.('keydown', ({ key }) => (pointed &&= key !== 'Tab'), true);

/** Keys that buttons and links handle, and those of lists and sliders. */
const PRESSES = [' ', 'Enter'];
const CHOICES = [...PRESSES, 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown'];

/**
 * An element that was clicked handles no keys; one that was reached by the keyboard does, except those in its
 * `data-keys`.
 * @param {Element} target
 * @param {string} key
 */
function isForFocus(target, key) {
  const control = target.closest('button, a, summary, select, input, textarea');
  if (!control) return false;
  const slides = control.matches('[type=range]');
  if (control.matches('input, textarea') && !slides) return true;
  if (pointed || control.getAttribute('data-keys')?.split(' ').includes(key)) return false;
  return (slides || control.matches('select') ? CHOICES : PRESSES).includes(key);
}

/**
 * Skips shortcuts of the browser and keys of the focused element.
 * @param {(event: KeyboardEvent) => boolean} pressed Returns whether it has handled the key.
 * @returns {() => void} Stops listening.
 */
export function listenToKeys(pressed) {
  const listener = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (!(target instanceof HTMLElement) || isForFocus(target, event.key) || document.querySelector('dialog[open]')) return;
    if (!pressed(event)) return;
    event.preventDefault();
    // Otherwise a button would handle the release of the key.
    if (pointed && target !== document.body) target.blur();
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}

/**
 * Confirms the copy.
 * @param {() => string} text
 * @param {string} [label]
 */
export function copyButton(text, label = say('page.copy')) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = say('page.copied');
    } catch {
      // Pages without TLS may not write to the clipboard.
      prompt(say('page.copy-this'), text());
    }
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  };
  const button = element('button', { type: 'button', class: 'small', click: copy }, label);
  return button;
}

/** @param {string} iso A time as RFC 3339. */
export function ago(iso) {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(iso)) / 60_000));
  if (Number.isNaN(minutes)) return '';
  if (minutes < 1) return say('time.now');
  if (minutes < 60) return say('time.minutes', { count: minutes });
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return say('time.hours', { count: hours });
  return date(new Date(iso), { year: 'numeric', month: 'short', day: 'numeric' });
}
