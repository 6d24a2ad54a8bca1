// Static texts, and the choice of a language.

import { LANGUAGES, speak } from '../lib/language.js';
import { element } from '../lib/dom.js';
import { keeps } from '../lib/settings.js';
import { language, sayOr, say } from '../lib/text.js';

/** Elements of index.html that have a key. */
export function sayPage() {
  for (const place of document.querySelectorAll('[data-say]')) place.textContent = sayOr(place.getAttribute('data-say') ?? '', place.textContent ?? '');
  document.querySelector('header nav')?.setAttribute('aria-label', say('page.pages'));
}

/** Adds the choice of a language to the footer. */
export const languageChoice = () => document.querySelector('footer')?.replaceChildren(...languageField('language'));

/**
 * Empty if the browser cannot store the choice.
 * @param {string} id
 */
export function languageField(id) {
  if (!keeps()) return [];
  const choice = element(
    'select',
    { id, change: () => speak(choice.value) },
    ...Object.entries(LANGUAGES).map(([value, name]) => element('option', { value, lang: value }, name)),
  );
  choice.value = language;
  return [element('label', { for: id }, say('page.language')), choice];
}
