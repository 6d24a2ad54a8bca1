// Texts of four in a row in Polish.

export const texts = {
  'game.four-in-a-row': 'Cztery w rzędzie',
  'game.four-in-a-row.line': 'Wrzucaj krążki. Wygrywają cztery w rzędzie.',
  'score.four-in-a-row': { one: '{count} punkt', few: '{count} punkty', many: '{count} punktów' },
  'four-in-a-row.column': 'Kolumna {number}: {discs}',
  'four-in-a-row.empty': 'pusta',
  'four-in-a-row.yellow': 'żółty',
  'four-in-a-row.red': 'czerwony',
  'four-in-a-row.help.column': 'wrzuć krążek tutaj',
};
