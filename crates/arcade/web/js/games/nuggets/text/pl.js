// Texts of nuggets in Polish.

/** @type {import('../../../lib/text-types.js').Translated<typeof import('./en.js').texts>} */
export const texts = {
  // The games.
  'game.nuggets': 'Bryłki',
  'game.nuggets.line': 'Znajdź złoto w ciemnej jaskini, zanim zrobią to inni.',
  'score.nuggets': { one: '{count} bryłka', few: '{count} bryłki', many: '{count} bryłek' },
  'option.nuggets.map': 'Mapa',
  'option.nuggets.map.note': 'Mapa, którą się odkrywa.',
  'option.nuggets.countdown': 'Odliczanie',
  'option.nuggets.countdown.note': 'Ile sekund mija od pierwszego gracza do początku meczu.',
  'option.nuggets.seed': 'Ziarno',
  'option.nuggets.seed.note': 'Ta sama liczba daje ten sam mecz; bez niej jest losowana.',

  // Nuggets.
  'nuggets.help.step': 'krok',
  'nuggets.help.aslant': 'krok na skos',
  'nuggets.help.run': 'bieg, aż coś stanie na drodze',
  'nuggets.help.swipe': 'krok; przytrzymaj, by biec',
  'nuggets.help.tap': 'idź do miejsca, które już widać',
  'nuggets.help.map': 'cała mapa i z powrotem',
  'nuggets.help.zoom': 'bliżej, dalej',
  'nuggets.map': 'Mapa, rysunek',
  'nuggets.map.text': 'Mapa jako tekst',
  'nuggets.map.whole': 'Cała mapa (m)',
  'nuggets.farther': 'Dalej',
  'nuggets.closer': 'Bliżej',
  'nuggets.camera': 'Kamera',
  'nuggets.camera.nobody': 'za nikim',
  'nuggets.camera.one': 'za graczem {letter}',
  'nuggets.swapped': 'Zamiana miejsc z {letter}',
  'nuggets.status.waits': 'Czekam na serwer.',
  'nuggets.status.watcher': 'Widz: bryłki do wzięcia: {remaining}.',
  'nuggets.status.player': 'Gracz {letter}: w sakiewce {purse}, do wzięcia {remaining}.',
  'nuggets.over': 'Koniec gry. Pierwsze miejsce: {name}, {score}.',
  'nuggets.stake': { one: 'Masz {count} bryłkę, a do tej gry nie da się wrócić.', few: 'Masz {count} bryłki, a do tej gry nie da się wrócić.', many: 'Masz {count} bryłek, a do tej gry nie da się wrócić.' },
  'nuggets.story.biggest': { one: 'Największe znalezisko: {name} zgarnia naraz {count} bryłkę.', few: 'Największe znalezisko: {name} zgarnia naraz {count} bryłki.', many: 'Największe znalezisko: {name} zgarnia naraz {count} bryłek.' },
  'nuggets.story.last': 'Ostatnią stertę zgarnia {name}.',
  'nuggets.story.swaps': 'Gracze zamienili się miejscami {count} razy.',
};
