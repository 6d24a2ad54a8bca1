// Making elements. Text is always set as text, so names from peers cannot become markup.

import { date, say } from './text.js';

/** Elements that listen by themselves. @type {WeakSet<Node>} */
const listening = new WeakSet();

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | boolean | ((event: Event) => void)>} [attributes] Functions become listeners. For `renew`, `data-key` says
 *   what a listener is about: elements of the same key have listeners that do the same.
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
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/**
 * Loads a style sheet that only some pages need, and waits until it applies.
 * @param {string} name
 * @param {string} module The address of the module that it lies beside: `import.meta.url`.
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
 * Gives an element these children. What is there already and is alike stays, so that neither a finger nor the focus loses it.
 * @param {Element} place
 * @param {...(Node | string)} children
 */
export function renew(place, ...children) {
  for (const [index, child] of children.entries()) {
    const before = place.childNodes[index];
    const after = typeof child === 'string' ? document.createTextNode(child) : child;
    if (!before) place.append(after);
    else if (!become(before, after)) before.replaceWith(after);
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
 * Makes a node like another one. Gives false if it has to be replaced.
 * @param {Node} node
 * @param {Node} other
 */
function become(node, other) {
  if (!(node instanceof Element && other instanceof Element)) return node.isEqualNode(other);
  const key = other.getAttribute('data-key');
  if (node.tagName !== other.tagName || node.getAttribute('data-key') !== key) return false;
  if (key === null && (listening.has(node) || listening.has(other))) return false;
  for (const { name } of [...node.attributes]) if (!other.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of other.attributes) {
    if (node.getAttribute(name) === value) continue;
    // Styles are not set as text, which the policy of the hub forbids.
    if (name === 'style' && node instanceof HTMLElement && other instanceof HTMLElement) copyStyle(node.style, other.style);
    else node.setAttribute(name, value);
  }
  renew(node, ...other.childNodes);
  return true;
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
  if (kind === 'waiting') announceLink(say('link.lost'), 'lost');
  else if (kind === 'quiet') announceLink(say('link.quiet'), 'lost');
  else if (kind === 'open' || kind === 'heard') announceLink(say('link.open'), 'open');
}

/**
 * A button that is on or off.
 * @param {string} text
 * @param {(on: boolean) => void} changed
 * @param {boolean} [on]
 * @param {string} [label] What it is called where the text is only a sign.
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

/** Whether what has the focus got it by a finger or the mouse. */
let pointed = false;
globalThis.addEventListener?.('pointerdown', () => (pointed = true), true);
globalThis.addEventListener?.('keydown', ({ key }) => (pointed &&= key !== 'Tab'), true);

/** Keys that buttons and links have a use for, and those of lists and sliders. */
const PRESSES = [' ', 'Enter'];
const CHOICES = [...PRESSES, 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown'];

/**
 * Whether a key is for the element that has the focus. One that was clicked does not need it any more; one that was reached by the
 * keyboard keeps its keys, but for those in its `data-keys`.
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
 * Listens to the keyboard, but not to shortcuts of the browser nor to keys for what has the focus.
 * @param {(event: KeyboardEvent) => boolean} pressed Whether the key had a meaning.
 * @returns {() => void} Stops listening.
 */
export function listenToKeys(pressed) {
  const listener = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (!(target instanceof HTMLElement) || isForFocus(target, event.key) || document.querySelector('dialog[open]')) return;
    if (!pressed(event)) return;
    event.preventDefault();
    // Else a button would take the key when it is released.
    if (pointed && target !== document.body) target.blur();
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}

/**
 * A button that copies a text and says that it did.
 * @param {() => string} text
 * @param {string} [label]
 */
export function copyButton(text, label = say('page.copy')) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = say('page.copied');
    } catch {
      // Pages without TLS may not write to the clipboard: the text is shown to be copied by hand.
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
