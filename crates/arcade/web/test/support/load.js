// Runs before each test file, as `js/start.js` does before the page. `polish.test.js` has users of Polish.

if (process.argv[1]?.endsWith('polish.test.js')) {
  Object.defineProperty(globalThis, 'document', { value: { documentElement: { lang: '', dataset: {} } } });
  Object.defineProperty(globalThis, 'navigator', { value: { languages: ['pl-PL', 'en'] }, configurable: true });
}

const { loaded } = await import('../../js/lib/language.js');
await loaded;
const { loadGames } = await import('../../js/games/index.js');
await loadGames();
