// A new game needs a folder beside this file and one line here.

/** @typedef {import('./types.js').Game} Game */

/**
 * @template Texts
 * @param {() => Promise<{ game: Game }>} game
 * @param {() => Promise<{ texts: Texts }>} en
 * @param {() => Promise<{ texts: import('../lib/text-types.js').Translated<Texts> }>} pl
 */
const folder = (game, en, pl) => ({ game, texts: { en, pl } });

/** By name, in display order. */
export const FOLDERS = {
  nuggets: folder(() => import('./nuggets/index.js'), () => import('./nuggets/text/en.js'), () => import('./nuggets/text/pl.js')),
  robots: folder(() => import('./robots/index.js'), () => import('./robots/text/en.js'), () => import('./robots/text/pl.js')),
  blackjack: folder(() => import('./blackjack/index.js'), () => import('./blackjack/text/en.js'), () => import('./blackjack/text/pl.js')),
  mastermind: folder(() => import('./mastermind/index.js'), () => import('./mastermind/text/en.js'), () => import('./mastermind/text/pl.js')),
};

/** The example games of the hub, which writes their names into the page. */
const examples = typeof document === 'undefined' ? [] : (document.documentElement.dataset.examples ?? '').split(' ').filter(Boolean);

/** The folders of all games, with the examples. @type {ReturnType<typeof folder<Record<string, unknown>>>[]} */
export const gameFolders = [
  ...Object.values(FOLDERS),
  ...examples.map((name) => folder(() => import(`./${name}/index.js`), () => import(`./${name}/text/en.js`), () => import(`./${name}/text/pl.js`))),
];
