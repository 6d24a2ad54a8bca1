// Static texts, and the choice of a language.

import { element } from '../lib/dom.js';
import { LANGUAGES, setLanguage } from '../lib/language.js';
import { isStoragePersistent } from '../lib/settings.js';
import { language, say, sayIfKnown } from '../lib/text.js';

/** Elements of index.html that have a key. */
export function translatePage() {
  for (const place of document.querySelectorAll('[data-say]')) place.textContent = sayIfKnown(place.getAttribute('data-say') ?? '', place.textContent ?? '');
  document.querySelector('header nav')?.setAttribute('aria-label', say('page.pages'));
}

/** Adds the choice of a language to the footer. */
export const languageChoice = () => document.querySelector('footer')?.replaceChildren(...languageField('language'));

/**
 * Empty if the browser cannot store the choice.
 * @param {string} id
 */
export function languageField(id) {
  if (!isStoragePersistent()) return [];
  const choice = element(
    'select',
    { id, change: () => setLanguage(choice.value) },
    ...Object.entries(LANGUAGES).map(([value, name]) => element('option', { value, lang: value }, name)),
  );
  choice.value = language;
  return [element('label', { for: id }, say('page.language')), choice];
}
