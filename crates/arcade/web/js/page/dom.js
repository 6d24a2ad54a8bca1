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

/** @param {string} text */
export function announceLink(text) {
  const place = document.getElementById('link');
  if (place) place.textContent = text;
}

/**
 * A button that is on or off.
 * @param {string} text
 * @param {(on: boolean) => void} changed
 */
export function toggle(text, changed) {
  const button = element('button', { type: 'button', 'aria-pressed': 'false' }, text);
  button.addEventListener('click', () => {
    const on = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(on));
    changed(on);
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
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
    if (pressed(event)) event.preventDefault();
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}
