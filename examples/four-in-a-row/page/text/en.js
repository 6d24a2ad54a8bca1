// Texts of four in a row in English.

export const texts = /** @type {const} */ ({
  'game.four-in-a-row': 'Four in a row',
  'game.four-in-a-row.line': 'Drop discs. Four in a row wins.',
  'score.four-in-a-row': { one: '{count} point', other: '{count} points' },
  'four-in-a-row.column': 'Column {number}: {discs}',
  'four-in-a-row.empty': 'empty',
  'four-in-a-row.yellow': 'yellow',
  'four-in-a-row.red': 'red',
  'four-in-a-row.help.column': 'drop a disc here',
});
