// What stands in the page before any module runs, in its language; and the choice of another one.

import { LANGUAGES, speak } from '../lib/language.js';
import { element } from '../lib/dom.js';
import { keeps } from '../lib/settings.js';
import { language, sayOr, say } from '../lib/text.js';

/** Says the texts that the page was sent with, by the keys that are written there. */
export function sayPage() {
  for (const place of document.querySelectorAll('[data-say]')) place.textContent = sayOr(place.getAttribute('data-say') ?? '', place.textContent ?? '');
  document.querySelector('header nav')?.setAttribute('aria-label', say('page.pages'));
}

/** The choice of a language below each page. A browser that keeps nothing would forget it, and its language is that of the page. */
export function languageChoice() {
  const place = document.querySelector('footer');
  if (!place || !keeps()) return;
  const choice = element(
    'select',
    { id: 'language', change: () => speak(choice.value) },
    ...Object.entries(LANGUAGES).map(([value, name]) => element('option', { value, lang: value }, name)),
  );
  choice.value = language;
  place.replaceChildren(element('label', { for: choice.id }, say('page.language')), choice);
}
