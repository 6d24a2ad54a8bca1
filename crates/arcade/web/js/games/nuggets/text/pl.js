// Texts of nuggets in Polish.

/** @type {import('../../../lib/text-types.js').Translated<typeof import('./en.js').texts>} */
export const texts = {
  // The games.
  'game.nuggets': 'Bryłki',
  'game.nuggets.line': 'Znajdź najwięcej złota w ciemnej jaskini.',
  'score.nuggets': { one: '{count} bryłka', few: '{count} bryłki', many: '{count} bryłek' },
  'option.nuggets.map': 'Mapa',
  'option.nuggets.map.note': 'Jaskinia do odkrycia.',
  'option.nuggets.countdown': 'Odliczanie',
  'option.nuggets.countdown.note': 'Sekundy od pierwszego gracza do startu.',
  'option.nuggets.seed': 'Ziarno',
  'option.nuggets.seed.note': 'Ta sama liczba daje ten sam mecz. Puste: losowo.',

  // Nuggets.
  'nuggets.help.step': 'ruch',
  'nuggets.help.aslant': 'ruch na skos',
  'nuggets.help.run': 'bieg',
  'nuggets.help.swipe': 'ruch; przytrzymaj, by biec',
  'nuggets.help.tap': 'idź w to miejsce',
  'nuggets.help.map': 'cała mapa lub widok z bliska',
  'nuggets.help.zoom': 'przybliżenie',
  'nuggets.map': 'Mapa',
  'nuggets.map.text': 'Mapa jako tekst',
  'nuggets.map.whole': 'Cała mapa',
  'nuggets.farther': 'Oddal',
  'nuggets.closer': 'Przybliż',
  'nuggets.camera': 'Kamera',
  'nuggets.camera.nobody': 'nie śledź nikogo',
  'nuggets.camera.one': 'śledź gracza {letter}',
  'nuggets.swapped': 'Zamiana miejsc z {letter}',
  'nuggets.status.waits': 'Łączenie…',
  'nuggets.status.watcher': 'zostało {remaining}',
  'nuggets.status.player': '{purse} · zostało {remaining}',
  'nuggets.over': 'Koniec gry. Pierwsze miejsce: {name}, {score}.',
  'nuggets.stake': { one: 'Masz {count} bryłkę i nie wrócisz już do tej gry.', few: 'Masz {count} bryłki i nie wrócisz już do tej gry.', many: 'Masz {count} bryłek i nie wrócisz już do tej gry.' },
  'nuggets.story.biggest': { one: 'Największe znalezisko: {name}, {count} bryłka.', few: 'Największe znalezisko: {name}, {count} bryłki.', many: 'Największe znalezisko: {name}, {count} bryłek.' },
  'nuggets.story.last': 'Ostatnią stertę zgarnia {name}.',
  'nuggets.story.swaps': 'Gracze zamienili się miejscami {count} razy.',
};
