// Canned responses of a hub with many matches.

const DAY = 86_400_000;
const MAP = [
  '  +---------+          +-------+  ',
  '  |.........|          |.......|  ',
  '  |.........+##########+.......|  ',
  '  |.........|          |.......|  ',
  '  +----+----+          +---+---+  ',
  '       #                   #      ',
  '       #####################      ',
];
const MATCH = {
  id: 'nuggets-1.1',
  game: 'nuggets',
  title: 'map small',
  room: 'nuggets-1',
  started: new Date(Date.now() - 3 * 3_600_000).toISOString(),
  seconds: 40,
  players: [
    { rank: 1, name: 'Ann', seat: 'A', score: 182, proven: true, bot: false },
    { rank: 2, name: '<b>Eve', seat: 'B', score: 68, proven: false, bot: false },
  ],
};

/** @param {number} second */
function display(second) {
  const rows = MAP.map((row) => [...row]);
  rows[1][24 + (second % 6)] = 'B';
  if (second < 20) rows[3][28] = '*';
  rows[2][3 + (second % 30)] = 'A';
  return `DISPLAY\n${rows.map((row) => row.join('')).join('\n')}\n`;
}

/**
 * @param {number} from
 * @param {number} to
 */
function frames(from, to) {
  /** @type {[number, string][]} */
  const all = [[from, `GRID ${MAP.length} ${MAP[0].length}`], [from, 'GOLD 0 0 250'], [from, display(Math.floor(from / 1000))]];
  for (let second = Math.floor(from / 1000) + 1; second * 1000 <= to; second += 1) all.push([second * 1000, display(second)]);
  return { frames: all, until: to };
}

/** @param {string} game */
const leaders = (game) =>
  game === 'mastermind'
    ? []
    : ['Ann', 'Bob the long-winded', '<b>Eve', 'Bot Ada', 'Zoë'].map((name, index) => ({
        rank: index + 1,
        name,
        rating: 1720 - index * 61,
        uncertainty: 80 + index * 10,
        mean: null,
        provisional: false,
        matches: 42 - index * 7,
        wins: 20 - index * 4,
        proven: index === 0,
        bot: name.startsWith('Bot'),
      }));

const history = Array.from({ length: 42 }, (_, index) => [
  new Date(Date.now() - (42 - index) * DAY).toISOString(),
  1500 + index * 5 + 40 * Math.sin(index / 3),
]);
const matches = Array.from({ length: 6 }, (_, index) => ({
  ...MATCH,
  id: `nuggets-1.${index + 1}`,
  started: new Date(Date.now() - index * index * 7_000_000).toISOString(),
}));

/** The responses by path. @type {[RegExp, (parts: string[], query: URLSearchParams) => unknown][]} */
const ANSWERS = [
  [/^\/api\/matches\/[^/]+$/, () => ({ ...MATCH, replay: true })],
  [
    /^\/api\/matches\/[^/]+\/timeline$/,
    () => ({
      length: 40_000,
      seats: MATCH.players.map(({ seat, name }) => ({ seat, name })),
      marks: [
        { at: 8000, kind: 'gold', text: 'Ann finds 12 nuggets' },
        { at: 20_000, kind: 'gold', text: '<b>Eve finds 68 nuggets' },
        { at: 31_000, kind: 'swap', text: 'Ann and <b>Eve change places' },
      ],
    }),
  ],
  [/^\/api\/matches\/[^/]+\/frames$/, (_, query) => frames(Number(query.get('from')), Number(query.get('to')))],
  [
    /^\/api\/leaders$/,
    () => ({
      season: '',
      now: '2026-4',
      seasons: ['2026-4'],
      boards: ['nuggets', 'robots', 'blackjack'].map((game) => ({ game, class: 'standard', players: leaders(game), provisional: [] })),
    }),
  ],
  [
    /^\/api\/players\/([^/]+)$/,
    ([name]) => ({
      name: decodeURIComponent(name),
      proven: true,
      games: {
        nuggets: [{ class: 'standard', rating: 1720, uncertainty: 80, mean: null, provisional: false, matches: 42, wins: 20, history }],
        robots: [{ class: 'standard', rating: 1490, uncertainty: 240, mean: null, provisional: true, matches: 9, wins: 3, history: history.slice(0, 9) }],
      },
      matches,
    }),
  ],
  [/^\/api\/ladder$/, () => ({ games: [{ game: 'robots' }] })],
  [
    /^\/api\/ladder\/robots$/,
    () => ({
      game: 'robots',
      port: 2021,
      players: leaders('robots'),
      provisional: [{ ...leaders('robots')[4], rank: 0, name: 'Cleo', provisional: true, matches: 3 }],
      waiting: [{ name: 'Cleo', since: new Date().toISOString() }],
      playing: [{ players: ['Ann', 'Zoë'], since: new Date().toISOString(), room: 'robots-1' }],
      recent: [{ id: 'robots-1.1', ended: new Date().toISOString(), players: [{ rank: 1, name: 'Ann', score: 2, bot: false }, { rank: 2, name: '<b>Eve', score: 5, bot: false, lost: true }] }],
      played: 12,
    }),
  ],
  [
    /^\/api\/players\/[^/]+\/against\/[^/]+$/,
    () => ({ games: { nuggets: { wins: 12, losses: 7, ties: 1 }, robots: { wins: 2, losses: 2, ties: 0 } }, matches }),
  ],
];

/**
 * Intercepts the API requests of a page.
 * @param {import('playwright-core').Page} page
 */
export const answer = (page) =>
  page.route('**/api/**', (route) => {
    const { pathname, searchParams } = new URL(route.request().url());
    for (const [address, make] of ANSWERS) {
      const parts = address.exec(pathname);
      if (parts) return route.fulfill({ json: make(parts.slice(1), searchParams) });
    }
    return route.fallback();
  });
